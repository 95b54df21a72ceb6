/* SPDX-License-Identifier: MIT */
/* Pipes, edge by edge: what flows, in which pieces, and who holds whom up. */
#include "out/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define PIPE_INDENT 6
/* Fewer chunks say nothing of futex calls each: these are then the C library's start-up. */
#define PIPE_FUTEX_CHUNKS 100

static uint64_t pipe_bytes(const struct view *v, const void *row)
{
	const struct sum_pipe *p = row;

	(void)v;
	return p->bytes ? p->bytes : p->bytes_read;
}

static uint64_t pipe_chunks(const struct view *v, const void *row)
{
	const struct sum_pipe *p = row;

	(void)v;
	return p->chunks_written ? p->chunks_written : p->chunks_read;
}

/* The only bucket that holds anything; HIST_BUCKETS: there are several, or none. */
static unsigned int only_bucket(const struct hist *h)
{
	unsigned int i, found = HIST_BUCKETS;

	for (i = 0; i < HIST_BUCKETS; i++) {
		if (!h->bucket[i])
			continue;
		if (found != HIST_BUCKETS)
			return HIST_BUCKETS;
		found = i;
	}
	return found;
}

/* Chunks that share a bucket are mostly alike, and their mean is then nearer than its middle. */
static uint64_t pipe_p50(const struct view *v, const void *row)
{
	const struct hist *h = &((const struct sum_pipe *)row)->chunk_bytes;
	uint64_t chunks = pipe_chunks(v, row);

	if (only_bucket(h) != HIST_BUCKETS && chunks)
		return pipe_bytes(v, row) / chunks;
	return hist_quantile(h, 0.5);
}

static uint64_t pipe_writer_ns(const struct view *v, const void *row)
{
	(void)v;
	return ((const struct sum_pipe *)row)->writer_blocked_ns;
}

static uint64_t pipe_reader_ns(const struct view *v, const void *row)
{
	(void)v;
	return ((const struct sum_pipe *)row)->reader_blocked_ns;
}

/* Two decimals without printf's locale; a wild value is cut. */
static void pipe_futex(const struct view *v, const void *row, struct buf *b)
{
	double x = ((const struct sum_pipe *)row)->futex_per_chunk;
	uint64_t hundredths;

	if (!(x > 0) || pipe_chunks(v, row) < PIPE_FUTEX_CHUNKS)
		return;
	hundredths = x > 1e9 ? (uint64_t)1e11 : (uint64_t)(x * 100 + 0.5);
	buf_addf(b, "%" PRIu64 ".%02u", hundredths / 100, (unsigned int)(hundredths % 100));
}

static void pipe_kind(const struct view *v, const void *row, struct buf *b)
{
	(void)v;
	buf_adds(b, sum_pipe_kind_name(((const struct sum_pipe *)row)->kind));
}

/*
 * An end without threads is somebody's who is not traced, or was never used; in
 * wait mode it may as well be one that never had to wait.
 */
static void add_end(const struct view *v, struct buf *b, const struct sum_pipe_end *end, size_t n,
		    bool moved)
{
	if (!n && v->s->mode == SUM_WAIT) {
		buf_adds(b, "somebody" VIEW_GLUE "who" VIEW_GLUE "never" VIEW_GLUE "waited");
		return;
	}
	if (!n) {
		buf_adds(b, moved ? "not" VIEW_GLUE "traced" : "nobody" VIEW_GLUE "seen");
		return;
	}
	view_thread(v, b, end[0].tid, end[0].comm);
	if (n > 1)
		buf_addf(b, VIEW_GLUE "+%zu", n - 1);
}

static void pipe_edge(const struct view *v, const void *row, struct buf *b)
{
	const struct sum_pipe *p = row;

	bool moved = p->chunks_written || p->chunks_read;

	add_end(v, b, p->writer, p->nwriter, moved);
	buf_addf(b, " %s ", v->g->arrow);
	add_end(v, b, p->reader, p->nreader, moved);
}

enum { PIPE_COL_FUTEX = 5, PIPE_COL_KIND = 6 };

static const struct table_col pipe_cols[] = {
	{ .head = "bytes", .unit = TABLE_BYTES, .num = pipe_bytes },
	{ .head = "chunks", .unit = TABLE_COUNT, .num = pipe_chunks },
	{ .head = "p50", .unit = TABLE_BYTES, .num = pipe_p50, .drop = 3 },
	{ .head = "w wait", .unit = TABLE_NS, .num = pipe_writer_ns, .blank_zero = true },
	{ .head = "r wait", .unit = TABLE_NS, .num = pipe_reader_ns, .blank_zero = true },
	[PIPE_COL_FUTEX] = { .head = "futex/chunk", .text = pipe_futex, .drop = 2 },
	[PIPE_COL_KIND] = { .head = "kind", .align = TABLE_LEFT, .text = pipe_kind, .drop = 4 },
	{ .head = "writer to reader", .align = TABLE_LEFT, .text = pipe_edge, .style = VIEW_BOLD,
	  .min = 36 },
};

/* Of wait mode, which sees only who waited. */
static const struct table_col pipe_wait_cols[] = {
	{ .head = "w wait", .unit = TABLE_NS, .num = pipe_writer_ns, .blank_zero = true },
	{ .head = "r wait", .unit = TABLE_NS, .num = pipe_reader_ns, .blank_zero = true },
	{ .head = "kind", .align = TABLE_LEFT, .text = pipe_kind },
	{ .head = "writer to reader", .align = TABLE_LEFT, .text = pipe_edge, .style = VIEW_BOLD,
	  .min = 36 },
};

/* Chunks by power of two, each a column as high as its share of the fullest. */
static void add_histogram(const struct view *v, struct buf *b, const struct hist *h)
{
	uint64_t power[HIST_MAX_LOG2 + 2] = { 0 }, most = 0;
	unsigned int i, p, first = HIST_MAX_LOG2 + 1, last = 0;

	for (i = 0; i < HIST_BUCKETS; i++) {
		uint64_t low = hist_lower(i);

		if (!h->bucket[i])
			continue;
		p = low ? 64 - (unsigned int)__builtin_clzll(low) : 0;
		power[p] += h->bucket[i];
		most = power[p] > most ? power[p] : most;
		first = p < first ? p : first;
		last = p > last ? p : last;
	}
	if (last <= first)
		return;
	view_bytes(v, b, first ? 1ULL << (first - 1) : 0);
	buf_adds(b, VIEW_GLUE);
	for (p = first; p <= last; p++) {
		unsigned __int128 eighths = (unsigned __int128)power[p] * 8;

		if (power[p])
			buf_adds(b, v->g->bar[(unsigned int)((eighths - 1) / most)]);
		else
			buf_addc(b, VIEW_GLUE[0]);
	}
	buf_adds(b, VIEW_GLUE);
	view_bytes(v, b, h->max ? h->max : 1ULL << last);
}

static void print_chunks(struct view *v, const struct sum_pipe *p, unsigned int shown,
			 struct buf *b)
{
	const struct hist *h = &p->chunk_bytes;
	unsigned int only = only_bucket(h);

	if (h->count && only != HIST_BUCKETS) {
		buf_adds(b, h->count == 1 ? "one of " :
			 hist_upper(only) - hist_lower(only) == 1 ? "all of " : "all about ");
		view_bytes(v, b, pipe_p50(v, p));
	} else if (h->count) {
		add_histogram(v, b, h);
		buf_adds(b, b->len ? ", p50" VIEW_GLUE : "p50" VIEW_GLUE);
		view_bytes(v, b, hist_quantile(h, 0.5));
		buf_adds(b, ", p99" VIEW_GLUE);
		view_bytes(v, b, hist_quantile(h, 0.99));
	}
	if (p->chunks_written && p->chunks_read && p->chunks_read != p->chunks_written) {
		char tmp[HUMAN_BYTES];

		view_sep(v, b);
		buf_addf(b, "read" VIEW_GLUE "in" VIEW_GLUE "%s", human_count(tmp, p->chunks_read));
	}
	if (!(shown & 1u << PIPE_COL_FUTEX) && p->futex_per_chunk > 0 &&
	    pipe_chunks(v, p) >= PIPE_FUTEX_CHUNKS) {
		view_sep(v, b);
		pipe_futex(v, p, b);
		buf_adds(b, VIEW_GLUE "futex" VIEW_GLUE "calls" VIEW_GLUE "each");
	}
	if (!(shown & 1u << PIPE_COL_KIND)) {
		view_sep(v, b);
		buf_adds(b, sum_pipe_kind_name(p->kind));
	}
	if (!b->len)
		return;
	view_wrap(v, PIPE_INDENT + 8, "      chunks  ", VIEW_DIM, b);
}

static uint64_t blocked_calls(const struct sum_pipe_end *end, size_t n)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < n; i++)
		sum += end[i].blocked;
	return sum;
}

/* "the reader gzip (4212) is the bottleneck: the writer blocked in 40 of 1,200 calls". */
static void print_bottleneck(struct view *v, const struct sum_pipe *p, struct buf *b)
{
	bool reader = p->bottleneck == SUM_READER;
	const struct sum_pipe_end *slow = reader ? p->reader : p->writer;
	size_t nslow = reader ? p->nreader : p->nwriter;

	if (p->bottleneck == SUM_NEITHER)
		return;
	if (nslow)
		add_end(v, b, slow, nslow, pipe_chunks(v, p) > 0);
	else
		buf_adds(b, reader ? "the reader" : "the writer");
	buf_adds(b, " is the slower side: ");
	if (reader) {
		view_things(b, blocked_calls(p->writer, p->nwriter), "write blocked",
			    "writes blocked");
		buf_adds(b, " on a full pipe for ");
		view_ns(v, b, p->writer_blocked_ns);
	} else {
		view_things(b, blocked_calls(p->reader, p->nreader), "read blocked",
			    "reads blocked");
		buf_adds(b, " on an empty pipe for ");
		view_ns(v, b, p->reader_blocked_ns);
	}
	view_wrap(v, PIPE_INDENT + 8, "      waits   ", VIEW_DIM, b);
}

static void pipe_detail(struct view *v, const void *row, unsigned int shown)
{
	struct buf b = BUF_INIT;

	/* Wait mode knows nothing of chunks. */
	if (v->s->mode == SUM_EXACT)
		print_chunks(v, row, shown, &b);
	print_bottleneck(v, row, &b);
	buf_release(&b);
}

static void add_totals(const struct view *v, struct buf *b)
{
	uint64_t bytes = 0, chunks = 0;
	size_t i;

	if (!v->s->npipe) {
		buf_adds(b, v->s->mode == SUM_EXACT ? "nothing went through a pipe" :
						      "nothing waited for a pipe");
		return;
	}
	view_things(b, v->s->npipe, "edge", "edges");
	if (v->s->mode == SUM_WAIT) {
		buf_adds(b, "; only waits are seen (--mode" VIEW_GLUE "exact counts what goes "
			 "through)");
		return;
	}
	for (i = 0; i < v->s->npipe; i++) {
		bytes += pipe_bytes(v, &v->s->pipe[i]);
		chunks += pipe_chunks(v, &v->s->pipe[i]);
	}
	view_sep(v, b);
	view_bytes(v, b, bytes);
	buf_adds(b, " in ");
	view_things(b, chunks, "chunk", "chunks");
}

/* What tapes did inside, where no call shows it: a line each. */
static void view_tapes(struct view *v)
{
	const size_t rows = v->opts->rows && v->opts->rows < v->s->ntape ? v->opts->rows :
			    v->s->ntape;

	for (size_t i = 0; i < rows; i++) {
		const struct sum_tape *t = &v->s->tape[i];
		const struct tape_stats *st = &t->stats;
		struct buf b = BUF_INIT;

		view_thread(v, &b, t->pid, t->comm);
		buf_adds(&b, ": ");
		view_things(&b, st->chunks, "chunk", "chunks");
		buf_adds(&b, " of ");
		view_bytes(v, &b, st->chunks ? st->chunk_bytes / st->chunks : 0);
		buf_adds(&b, " in ");
		view_things(&b, st->batches, "batch", "batches");
		view_sep(v, &b);
		buf_adds(&b, "blocked" VIEW_GLUE "on" VIEW_GLUE "input" VIEW_GLUE);
		view_ns(v, &b, st->blocked_in_ns);
		buf_adds(&b, ", command" VIEW_GLUE);
		view_ns(v, &b, st->blocked_command_ns);
		buf_adds(&b, ", output" VIEW_GLUE);
		view_ns(v, &b, st->blocked_out_ns);
		view_wrap(v, 2, "  ", VIEW_PLAIN, &b);
		buf_release(&b);
	}
}

void view_pipes(struct view *v)
{
	const bool exact = v->s->mode == SUM_EXACT;
	struct buf b = BUF_INIT;
	const void **rows;

	if (!(v->s->collected & SUM_PIPES))
		return;
	add_totals(v, &b);
	view_heading(v, "PIPES", &b);
	buf_release(&b);
	view_tapes(v);
	if (!v->s->npipe)
		return;
	rows = table_rows(v, v->s->pipe, v->s->npipe, sizeof(*v->s->pipe));
	if (!rows)
		return;
	table_print(v, &(struct table){
		.col = exact ? pipe_cols : pipe_wait_cols,
		.ncol = exact ? sizeof(pipe_cols) / sizeof(*pipe_cols) :
				sizeof(pipe_wait_cols) / sizeof(*pipe_wait_cols),
		.row = rows, .nrow = v->s->npipe, .detail = pipe_detail,
		.ndetail = v->opts->rows ? VIEW_DETAILS : 0,
	});
	free(rows);
}
