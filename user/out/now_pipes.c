/* SPDX-License-Identifier: MIT */
/* The pipes of a live view, edge by edge: what flows, and which end waits. */
#include "out/now_cell.h"

#include <inttypes.h>

NOW_NAME(pipe, kind, sum_pipe_kind_name(r->kind))
NOW_COUNT(pipe, writer, r->writer_blocked_ns, now_put_share)
NOW_COUNT(pipe, reader, r->reader_blocked_ns, now_put_share)

/* What was written; of an edge whose writers are not traced, what was read. */
static struct now_count bytes_of(const struct now_pipe *p)
{
	return p->chunks_written.total ? p->bytes : p->bytes_read;
}

static struct now_count chunks_of(const struct now_pipe *p)
{
	return p->chunks_written.total ? p->chunks_written : p->chunks_read;
}

NOW_COUNT(pipe, chunks, chunks_of(r), now_put_rate)

static uint64_t both_wait(const struct now_view *v, const struct now_pipe *p)
{
	return now_part(v, p->writer_blocked_ns) + now_part(v, p->reader_blocked_ns);
}

static void pipe_put_bytes(struct buf *b, const struct now_view *v, const void *row)
{
	now_put_bytes_rate(b, v, bytes_of(row));
}

/* Where none moved, and in wait mode, which knows of none, the longer waits first. */
static int pipe_by_bytes(const struct now_view *v, const void *a, const void *b)
{
	int r = 0;

	if (v->now->mode == SUM_EXACT)
		r = now_falling(now_part(v, bytes_of(a)), now_part(v, bytes_of(b)));
	return r ? r : now_falling(both_wait(v, a), both_wait(v, b));
}

static uint64_t mean_of(const struct now_view *v, const struct now_pipe *p)
{
	const uint64_t chunks = now_part(v, chunks_of(p));

	return chunks ? now_part(v, bytes_of(p)) / chunks : 0;
}

static void pipe_put_mean(struct buf *b, const struct now_view *v, const void *row)
{
	if (now_part(v, chunks_of(row)))
		now_put_bytes(b, v, mean_of(v, row));
}

static int pipe_by_mean(const struct now_view *v, const void *a, const void *b)
{
	return now_falling(mean_of(v, a), mean_of(v, b));
}

/* Bytes have no measure of their own: the most is a full cell. */
static void pipe_put_past(struct buf *b, const struct now_view *v, const void *row)
{
	const struct now_pipe *p = row;

	if (v->now->mode == SUM_EXACT)
		now_spark(b, v, p->past, NOW_WIDTH_PAST, 0);
	else
		now_put_past(b, v, p->past);
}

static int pipe_by_past(const struct now_view *v, const void *a, const void *b)
{
	(void)v;
	return now_by_past(((const struct now_pipe *)a)->past, ((const struct now_pipe *)b)->past);
}

/* Nobody: an end of somebody who is not traced, or, in wait mode, who never had to wait. */
static void put_end(struct buf *b, const struct now_view *v, const struct now_pipe_end *end,
		    size_t n)
{
	if (!n) {
		buf_addc(b, '?');
		return;
	}
	now_put_thread(b, v, end[0].tid, end[0].comm);
	if (n > 1)
		buf_addf(b, " +%zu", n - 1);
}

static void pipe_put_edge(struct buf *b, const struct now_view *v, const void *row)
{
	const struct now_pipe *p = row;

	put_end(b, v, p->writer, p->nwriter);
	buf_adds(b, v->ascii ? " -> " : " → ");
	put_end(b, v, p->reader, p->nreader);
}

static const char *first_name(const struct now_pipe_end *end, size_t n)
{
	return n ? end[0].comm : NULL;
}

static int pipe_by_edge(const struct now_view *v, const void *a, const void *b)
{
	const struct now_pipe *p = a, *q = b;
	int r = now_by_name(first_name(p->writer, p->nwriter), first_name(q->writer, q->nwriter));

	(void)v;
	return r ? r : now_by_name(first_name(p->reader, p->nreader),
				   first_name(q->reader, q->nreader));
}

const struct now_col now_pipe_cols[NOW_COLS_PIPES] = {
	{ .head = "EDGE", .help = "who writes and who reads, and how many others do; ?: nobody "
	  "seen", .width = 34, .left = true, NOW_BY(pipe, edge) },
	[NOW_SORT_PIPES] =
	{ .head = "BYTES/s", .head_totals = "BYTES", .help = "what goes through",
	  .width = NOW_WIDTH_BYTES, .exact = true, NOW_BY(pipe, bytes) },
	{ .head = "CHUNKS/s", .head_totals = "CHUNKS", .help = "writes, of which each is a chunk",
	  .width = 8, .width_totals = 6, .rank = 2, .exact = true, NOW_BY(pipe, chunks) },
	{ .head = "CHUNK", .help = "size of a chunk, on the average", .width = NOW_WIDTH_BYTES,
	  .rank = 3, .exact = true, NOW_BY(pipe, mean) },
	{ .head = "W-WAIT%", .head_totals = "W-WAIT",
	  .help = "time its writers waited, it being full", .width = 7, .rank = 1,
	  NOW_BY(pipe, writer) },
	{ .head = "R-WAIT%", .head_totals = "R-WAIT",
	  .help = "time its readers waited, it being empty", .width = 7, .rank = 1,
	  NOW_BY(pipe, reader) },
	{ .head = "KIND", .help = "pipe, fifo, socketpair or eventfd", .width = 10, .rank = 5,
	  .left = true, NOW_BY(pipe, kind) },
	{ .head = "PAST", .help = "bytes of the last intervals (wait mode: ends that waited), "
	  "newest right", .width = NOW_WIDTH_PAST, .rank = 4, .left = true, NOW_BY(pipe, past) },
};

static void add_ends(struct buf *b, const struct now_pipe_end *end, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		buf_addf(b, " %s %d %d", end[i].comm, (int)end[i].tid, (int)end[i].tgid);
}

void now_pipe_text(struct buf *b, const void *row)
{
	const struct now_pipe *p = row;

	buf_addf(b, "%s %" PRIu64, sum_pipe_kind_name(p->kind), p->inode);
	add_ends(b, p->writer, p->nwriter);
	add_ends(b, p->reader, p->nreader);
}
