/* SPDX-License-Identifier: MIT */
/* Locks, futexes and pipes of a summary that is read: see summary_read.c. */
#include <stdlib.h>
#include <string.h>

#include "out/sumread.h"

#define AT SUMREAD_AT
#define ROWS SUMREAD_ROWS
#define END SUMREAD_END

/* --- locks ----------------------------------------------------------------- */

static const char *lock_kind_word(int i)
{
	return i <= SUM_LOCK_JOIN ? sum_lock_kind_name((enum sum_lock_kind)i) : NULL;
}

static const struct sumread_member frame_members[] = {
	{ "ip", M_HEX, AT(sum_frame, ip) }, { "symbol", M_STR, AT(sum_frame, symbol) },
	{ "offset", M_U64, AT(sum_frame, offset) }, { "inlined", M_BOOL, AT(sum_frame, inlined) },
	{ "kernel", M_BOOL, AT(sum_frame, kernel) },
	{ "module", M_STR, AT(sum_frame, module) },
	{ "module_offset", M_HEX, AT(sum_frame, module_offset) },
	{ "file", M_STR, AT(sum_frame, file) }, { "line", M_U32, AT(sum_frame, line) },
	END
};

static const struct sumread_member site_members[] = {
	{ "samples", M_U64, AT(sum_site, samples) }, { "waits", M_U64, AT(sum_site, waits) },
	{ "wait_ns", M_U64, AT(sum_site, wait_ns) },
	{ "frames", ROWS(sum_site, frame, nframe, sum_frame, frame_members) },
	END
};

/* The kernel's frames stand before the others; a site has them by themselves. */
static int site_done(struct sumread *r, void *row)
{
	struct sum_site *site = row;
	size_t i, n = 0, bytes;
	int e;

	for (i = 0; i < site->nframe; i++)
		if (site->frame[i].kernel && !site->frame[i].module)
			return jread_fail(&r->j, "a frame of the kernel has no 'module'");
	while (n < site->nframe && site->frame[n].kernel)
		n++;
	if (!n)
		return 0;
	bytes = n * sizeof(*site->frame);
	e = sumread_take(r, bytes);
	if (e)
		return e;
	site->kernel = malloc(bytes);
	if (!site->kernel)
		return sumread_no_memory(r);
	memcpy(site->kernel, site->frame, bytes);
	site->nkernel = n;
	site->nframe -= n;
	memmove(site->frame, site->frame + n, site->nframe * sizeof(*site->frame));
	return 0;
}

static const struct sumread_member edge_members[] = {
	{ "waker", M_INT, AT(sum_edge, waker) }, { "waiter", M_INT, AT(sum_edge, waiter) },
	{ "count", M_U64, AT(sum_edge, count) },
	{ "waker_comm", M_COMM, AT(sum_edge, waker_comm) },
	{ "waiter_comm", M_COMM, AT(sum_edge, waiter_comm) },
	END
};

const struct sumread_member sumread_lock[] = {
	{ "addr", M_HEX, true, AT(sum_lock, addr) }, { "symbol", M_STR, AT(sum_lock, symbol) },
	{ "module", M_STR, AT(sum_lock, module) },
	{ "module_offset", M_HEX, AT(sum_lock, module_offset) },
	{ "kind", M_WORD, true, AT(sum_lock, kind), .word = lock_kind_word },
	{ "tgid", M_INT, AT(sum_lock, tgid) }, { "comm", M_COMM, AT(sum_lock, comm) },
	{ "waits", M_U64, AT(sum_lock, waits) }, { "blocked", M_U64, AT(sum_lock, blocked) },
	{ "pending", M_U64, AT(sum_lock, pending) },
	{ "pending_ns", M_U64, AT(sum_lock, pending_ns) },
	{ "timeouts", M_U64, AT(sum_lock, timeouts) }, { "eagain", M_U64, AT(sum_lock, eagain) },
	{ "wakes", M_U64, AT(sum_lock, wakes) }, { "woken", M_U64, AT(sum_lock, woken) },
	{ "wasted_wakes", M_U64, AT(sum_lock, wasted_wakes) },
	{ "requeued", M_U64, AT(sum_lock, requeued) }, { "holder", M_INT, AT(sum_lock, holder) },
	{ "wait_ns", M_DIST, AT(sum_lock, wait) },
	{ "edges", ROWS(sum_lock, edge, nedge, sum_edge, edge_members) },
	{ "samples", M_U64, AT(sum_lock, samples) },
	{ "sites", ROWS(sum_lock, site, nsite, sum_site, site_members), .done = site_done },
	END
};

static const struct sumread_member op_members[] = {
	{ "name", M_NAME, true, AT(sum_futex_op, name) },
	{ "calls", M_U64, AT(sum_futex_op, calls) }, { "errors", M_U64, AT(sum_futex_op, errors) },
	END
};

const struct sumread_member sumread_futex[] = {
	{ "calls", M_U64, AT(summary, futex.calls) }, { "waits", M_U64, AT(summary, futex.waits) },
	{ "wakes", M_U64, AT(summary, futex.wakes) },
	{ "wasted_wakes", M_U64, AT(summary, futex.wasted_wakes) },
	{ "eagain", M_U64, AT(summary, futex.eagain) },
	{ "timeouts", M_U64, AT(summary, futex.timeouts) },
	{ "requeued", M_U64, AT(summary, futex.requeued) },
	{ "addresses", M_U64, AT(summary, futex.addresses) },
	{ "ops", ROWS(summary, futex.op, futex.nop, sum_futex_op, op_members) },
	END
};

/* --- pipes ----------------------------------------------------------------- */

static const char *pipe_kind_word(int i)
{
	return i <= SUM_EVENTFD ? sum_pipe_kind_name((enum sum_pipe_kind)i) : NULL;
}

static const char *bottleneck_word(int i)
{
	return i <= SUM_READER ? sum_bottleneck_name((enum sum_bottleneck)i) : NULL;
}

static const struct sumread_member end_members[] = {
	{ "tid", M_INT, true, AT(sum_pipe_end, tid) }, { "tgid", M_INT, AT(sum_pipe_end, tgid) },
	{ "comm", M_COMM, AT(sum_pipe_end, comm) }, { "chunks", M_U64, AT(sum_pipe_end, chunks) },
	{ "bytes", M_U64, AT(sum_pipe_end, bytes) },
	{ "blocked_ns", M_U64, AT(sum_pipe_end, blocked_ns) },
	{ "blocked", M_U64, AT(sum_pipe_end, blocked) },
	{ "eagain", M_U64, AT(sum_pipe_end, eagain) },
	{ "futex_calls", M_U64, AT(sum_pipe_end, futex_calls) },
	{ "chunk_bytes", M_DIST, AT(sum_pipe_end, chunk_bytes) },
	END
};

const struct sumread_member sumread_pipe[] = {
	{ "kind", M_WORD, true, AT(sum_pipe, kind), .word = pipe_kind_word },
	{ "inode", M_U64, true, AT(sum_pipe, inode) },
	{ "chunks_written", M_U64, AT(sum_pipe, chunks_written) },
	{ "chunks_read", M_U64, AT(sum_pipe, chunks_read) },
	{ "bytes", M_U64, AT(sum_pipe, bytes) }, { "bytes_read", M_U64, AT(sum_pipe, bytes_read) },
	{ "chunk_bytes", M_DIST, AT(sum_pipe, chunk_bytes) },
	{ "writer_blocked_ns", M_U64, AT(sum_pipe, writer_blocked_ns) },
	{ "reader_blocked_ns", M_U64, AT(sum_pipe, reader_blocked_ns) },
	{ "futex_calls", M_U64, AT(sum_pipe, futex_calls) },
	{ "futex_per_chunk", M_REAL, AT(sum_pipe, futex_per_chunk) },
	{ "bottleneck", M_WORD, AT(sum_pipe, bottleneck), .word = bottleneck_word },
	{ "writer_ends", ROWS(sum_pipe, writer, nwriter, sum_pipe_end, end_members) },
	{ "reader_ends", ROWS(sum_pipe, reader, nreader, sum_pipe_end, end_members) },
	END
};
