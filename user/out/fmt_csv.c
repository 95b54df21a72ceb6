/* SPDX-License-Identifier: MIT */
/*
 * Tables as CSV: docs/formats/summary-csv.md. Each table is an array of columns;
 * one row per call, lock, edge and so on, with keys to join them by.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out/escape.h"
#include "out/out.h"

/* A row of any table: what it stands for, and what that belongs to. */
struct csv_row {
	const struct summary *s;
	const void *item, *parent;
};

struct csv_col {
	const char *name;
	bool exact;		/* wait mode does not see it: an empty field */
	bool stage;		/* nor is it known of a thread that was there before */
	uint64_t (*num)(const struct csv_row *r);
	int64_t (*sig)(const struct csv_row *r);
	const char *(*str)(const struct csv_row *r, char tmp[24]);
};

struct csv_writer {
	const struct csv_col *col;
	struct out_stream *out;
	struct buf line;
};

struct csv_table {
	const char *name;
	const struct csv_col *col;	/* ends with a NULL name */
	int (*rows)(const struct summary *s, const struct out_opts *opts, struct csv_writer *w);
};

static void csv_row(struct csv_writer *w, const struct summary *s, const void *item,
		    const void *parent)
{
	const struct csv_row r = { s, item, parent };
	const struct csv_col *c;
	char tmp[24];

	for (c = w->col; c->name; c++) {
		if (c != w->col)
			buf_addc(&w->line, ',');
		if ((c->exact && s->mode == SUM_WAIT) ||
		    (c->stage && !((const struct sum_thread *)item)->cost_ns))
			continue;
		if (c->num) {
			buf_addf(&w->line, "%" PRIu64, c->num(&r));
		} else if (c->sig) {
			buf_addf(&w->line, "%" PRId64, c->sig(&r));
		} else {
			const char *text = c->str(&r, tmp);

			if (text)
				escape_csv(&w->line, text, strlen(text));
		}
	}
	buf_addc(&w->line, '\n');
	out_buf(w->out, &w->line);
}

#define NUM(fn, type, value)						\
static uint64_t fn(const struct csv_row *r)				\
{									\
	const struct type *p = r->item;					\
									\
	return value;							\
}
#define SIG(fn, type, value)						\
static int64_t fn(const struct csv_row *r)				\
{									\
	const struct type *p = r->item;					\
									\
	return value;							\
}
#define STR(fn, type, value)						\
static const char *fn(const struct csv_row *r, char tmp[24])		\
{									\
	const struct type *p = r->item;					\
									\
	(void)tmp;							\
	return value;							\
}

/* --- syscalls, errors --- */

STR(call_name, sum_syscall, p->name)
SIG(call_nr, sum_syscall, p->nr)
NUM(call_calls, sum_syscall, p->calls)
NUM(call_errors, sum_syscall, p->errors)
NUM(call_total, sum_syscall, p->wall.sum)
NUM(call_cpu, sum_syscall, p->cpu_ns)
NUM(call_mean, sum_syscall, hist_mean(&p->wall))
NUM(call_p50, sum_syscall, hist_quantile(&p->wall, 0.5))
NUM(call_p99, sum_syscall, hist_quantile(&p->wall, 0.99))
NUM(call_max, sum_syscall, p->wall.max)

static const struct csv_col call_cols[] = {
	{ "name", .str = call_name }, { "nr", .sig = call_nr }, { "calls", .num = call_calls },
	{ "errors", .exact = true, .num = call_errors }, { "total_ns", .num = call_total },
	{ "cpu_ns", .exact = true, .num = call_cpu }, { "mean_ns", .num = call_mean },
	{ "p50_ns", .num = call_p50 }, { "p99_ns", .num = call_p99 }, { "max_ns", .num = call_max },
	{ .name = NULL },
};

/* The calls in the order of -S; NULL: no memory. */
static const struct sum_syscall **sorted_calls(const struct summary *s, enum out_sort sort)
{
	const struct sum_syscall **row = calloc(s->nsyscall + 1, sizeof(*row));
	out_sort_fn order = out_sort_calls(sort);
	size_t i;

	for (i = 0; row && i < s->nsyscall; i++)
		row[i] = &s->syscall[i];
	if (row && order)
		qsort(row, s->nsyscall, sizeof(*row), order);
	return row;
}

static int call_rows(const struct summary *s, const struct out_opts *opts, struct csv_writer *w)
{
	const struct sum_syscall **row = sorted_calls(s, opts->sort);
	size_t i;

	if (!row)
		return -ENOMEM;
	for (i = 0; i < s->nsyscall; i++)
		csv_row(w, s, row[i], NULL);
	free(row);
	return 0;
}

static const char *errno_call(const struct csv_row *r, char tmp[24])
{
	(void)tmp;
	return ((const struct sum_syscall *)r->parent)->name;
}

STR(errno_name, sum_errno, out_errno_name(p->err, tmp))
NUM(errno_count, sum_errno, p->count)

static const struct csv_col errno_cols[] = {
	{ "syscall", .str = errno_call }, { "errno", .str = errno_name },
	{ "count", .num = errno_count }, { .name = NULL },
};

static int errno_rows(const struct summary *s, const struct out_opts *opts, struct csv_writer *w)
{
	const struct sum_syscall **row = sorted_calls(s, opts->sort);
	size_t i, k;

	if (!row)
		return -ENOMEM;
	for (i = 0; i < s->nsyscall; i++)
		for (k = 0; k < row[i]->nby_errno; k++)
			csv_row(w, s, &row[i]->by_errno[k], row[i]);
	free(row);
	return 0;
}

/* --- locks, edges --- */

/* Addresses are only unique within a process; tgid goes with them. */
static const char *hex(uint64_t v, char tmp[24])
{
	snprintf(tmp, 24, "0x%" PRIx64, v);
	return tmp;
}

STR(lock_addr, sum_lock, hex(p->addr, tmp))
SIG(lock_tgid, sum_lock, p->tgid)
STR(lock_comm, sum_lock, p->comm)
STR(lock_symbol, sum_lock, p->symbol)
STR(lock_module, sum_lock, p->module)
STR(lock_kind, sum_lock, sum_lock_kind_name(p->kind))
STR(lock_use, sum_lock, sum_lock_use_name(sum_lock_use(p)))
NUM(lock_waits, sum_lock, p->waits)
NUM(lock_blocked, sum_lock, p->blocked)
NUM(lock_wait, sum_lock, p->wait.sum)
NUM(lock_p50, sum_lock, hist_quantile(&p->wait, 0.5))
NUM(lock_p99, sum_lock, hist_quantile(&p->wait, 0.99))
NUM(lock_max, sum_lock, p->wait.max)
NUM(lock_wakes, sum_lock, p->wakes)
NUM(lock_woken, sum_lock, p->woken)
NUM(lock_wasted, sum_lock, p->wasted_wakes)
NUM(lock_eagain, sum_lock, p->eagain)
NUM(lock_timeouts, sum_lock, p->timeouts)
NUM(lock_requeued, sum_lock, p->requeued)
SIG(lock_holder, sum_lock, p->holder)

static const struct csv_col lock_cols[] = {
	{ "addr", .str = lock_addr }, { "tgid", .sig = lock_tgid }, { "comm", .str = lock_comm },
	{ "symbol", .str = lock_symbol }, { "module", .str = lock_module },
	{ "kind", .str = lock_kind }, { "waits", .num = lock_waits },
	{ "blocked", .num = lock_blocked }, { "wait_total_ns", .num = lock_wait },
	{ "wait_p50_ns", .num = lock_p50 }, { "wait_p99_ns", .num = lock_p99 },
	{ "wait_max_ns", .num = lock_max }, { "wakes", .exact = true, .num = lock_wakes },
	{ "woken", .exact = true, .num = lock_woken },
	{ "wasted_wakes", .exact = true, .num = lock_wasted },
	{ "eagain", .exact = true, .num = lock_eagain },
	{ "timeouts", .exact = true, .num = lock_timeouts },
	{ "requeued", .exact = true, .num = lock_requeued }, { "holder", .sig = lock_holder },
	{ "use", .str = lock_use }, { .name = NULL },
};

static int lock_rows(const struct summary *s, const struct out_opts *opts, struct csv_writer *w)
{
	size_t i;

	(void)opts;
	for (i = 0; i < s->nlock; i++)
		csv_row(w, s, &s->lock[i], NULL);
	return 0;
}

static const char *edge_addr(const struct csv_row *r, char tmp[24])
{
	return hex(((const struct sum_lock *)r->parent)->addr, tmp);
}

static int64_t edge_tgid(const struct csv_row *r)
{
	return ((const struct sum_lock *)r->parent)->tgid;
}

SIG(edge_waker, sum_edge, p->waker)
STR(edge_waker_comm, sum_edge, p->waker_comm)
SIG(edge_waiter, sum_edge, p->waiter)
STR(edge_waiter_comm, sum_edge, p->waiter_comm)
NUM(edge_count, sum_edge, p->count)

static const struct csv_col edge_cols[] = {
	{ "addr", .str = edge_addr }, { "tgid", .sig = edge_tgid }, { "waker", .sig = edge_waker },
	{ "waker_comm", .str = edge_waker_comm }, { "waiter", .sig = edge_waiter },
	{ "waiter_comm", .str = edge_waiter_comm }, { "count", .num = edge_count },
	{ .name = NULL },
};

static int edge_rows(const struct summary *s, const struct out_opts *opts, struct csv_writer *w)
{
	size_t i, k;

	(void)opts;
	for (i = 0; i < s->nlock; i++)
		for (k = 0; k < s->lock[i].nedge; k++)
			csv_row(w, s, &s->lock[i].edge[k], &s->lock[i]);
	return 0;
}

/* --- pipes and their ends --- */

STR(pipe_kind, sum_pipe, sum_pipe_kind_name(p->kind))
NUM(pipe_inode, sum_pipe, p->inode)
NUM(pipe_written, sum_pipe, p->chunks_written)
NUM(pipe_read, sum_pipe, p->chunks_read)
NUM(pipe_bytes, sum_pipe, p->bytes)
NUM(pipe_bytes_read, sum_pipe, p->bytes_read)
NUM(pipe_p50, sum_pipe, hist_quantile(&p->chunk_bytes, 0.5))
NUM(pipe_p99, sum_pipe, hist_quantile(&p->chunk_bytes, 0.99))
NUM(pipe_mean, sum_pipe, hist_mean(&p->chunk_bytes))
NUM(pipe_writer_ns, sum_pipe, p->writer_blocked_ns)
NUM(pipe_reader_ns, sum_pipe, p->reader_blocked_ns)
NUM(pipe_futex, sum_pipe, p->futex_calls)
STR(pipe_slow, sum_pipe, sum_bottleneck_name(p->bottleneck))

static const struct csv_col pipe_cols[] = {
	{ "inode", .num = pipe_inode }, { "kind", .str = pipe_kind },
	{ "chunks_written", .exact = true, .num = pipe_written },
	{ "chunks_read", .exact = true, .num = pipe_read },
	{ "bytes", .exact = true, .num = pipe_bytes },
	{ "bytes_read", .exact = true, .num = pipe_bytes_read },
	{ "chunk_p50_bytes", .exact = true, .num = pipe_p50 },
	{ "chunk_p99_bytes", .exact = true, .num = pipe_p99 },
	{ "chunk_mean_bytes", .exact = true, .num = pipe_mean },
	{ "writer_blocked_ns", .num = pipe_writer_ns },
	{ "reader_blocked_ns", .num = pipe_reader_ns },
	{ "futex_calls", .exact = true, .num = pipe_futex }, { "bottleneck", .str = pipe_slow },
	{ .name = NULL },
};

static int pipe_rows(const struct summary *s, const struct out_opts *opts, struct csv_writer *w)
{
	size_t i;

	(void)opts;
	for (i = 0; i < s->npipe; i++)
		csv_row(w, s, &s->pipe[i], NULL);
	return 0;
}

static uint64_t end_inode(const struct csv_row *r)
{
	return ((const struct sum_pipe *)r->parent)->inode;
}

static const char *end_side(const struct csv_row *r, char tmp[24])
{
	const struct sum_pipe *p = r->parent;
	const struct sum_pipe_end *e = r->item;

	(void)tmp;
	return p->nwriter && e >= p->writer && e < p->writer + p->nwriter ? "writer" : "reader";
}

SIG(end_tid, sum_pipe_end, p->tid)
SIG(end_tgid, sum_pipe_end, p->tgid)
STR(end_comm, sum_pipe_end, p->comm)
NUM(end_chunks, sum_pipe_end, p->chunks)
NUM(end_bytes, sum_pipe_end, p->bytes)
NUM(end_blocked, sum_pipe_end, p->blocked)
NUM(end_blocked_ns, sum_pipe_end, p->blocked_ns)
NUM(end_eagain, sum_pipe_end, p->eagain)
NUM(end_futex, sum_pipe_end, p->futex_calls)

static const struct csv_col end_cols[] = {
	{ "inode", .num = end_inode }, { "side", .str = end_side }, { "tid", .sig = end_tid },
	{ "tgid", .sig = end_tgid }, { "comm", .str = end_comm },
	{ "chunks", .exact = true, .num = end_chunks },
	{ "bytes", .exact = true, .num = end_bytes }, { "blocked", .num = end_blocked },
	{ "blocked_ns", .num = end_blocked_ns }, { "eagain", .exact = true, .num = end_eagain },
	{ "futex_calls", .exact = true, .num = end_futex }, { .name = NULL },
};

static int end_rows(const struct summary *s, const struct out_opts *opts, struct csv_writer *w)
{
	size_t i, k;

	(void)opts;
	for (i = 0; i < s->npipe; i++) {
		const struct sum_pipe *p = &s->pipe[i];

		for (k = 0; k < p->nwriter; k++)
			csv_row(w, s, &p->writer[k], p);
		for (k = 0; k < p->nreader; k++)
			csv_row(w, s, &p->reader[k], p);
	}
	return 0;
}

/* --- stages and threads --- */

struct stage_item {
	enum sum_stage stage;
	const struct hist *h;
};

STR(stage_name, stage_item, sum_stage_name(p->stage))
NUM(stage_count, stage_item, p->h->count)
NUM(stage_total, stage_item, p->h->sum)
NUM(stage_p50, stage_item, hist_quantile(p->h, 0.5))
NUM(stage_p99, stage_item, hist_quantile(p->h, 0.99))
NUM(stage_max, stage_item, p->h->max)

static const struct csv_col stage_cols[] = {
	{ "stage", .str = stage_name }, { "count", .num = stage_count },
	{ "total_ns", .num = stage_total }, { "p50_ns", .num = stage_p50 },
	{ "p99_ns", .num = stage_p99 }, { "max_ns", .num = stage_max }, { .name = NULL },
};

static int stage_rows(const struct summary *s, const struct out_opts *opts, struct csv_writer *w)
{
	int i;

	(void)opts;
	for (i = 0; i < SUM_STAGES; i++) {
		const struct stage_item item = { (enum sum_stage)i, &s->threads.stage[i] };

		if (i == SUM_STAGE_ROUTINE && !s->threads.routines_asked)
			continue;
		csv_row(w, s, &item, NULL);
	}
	return 0;
}

SIG(thread_tid, sum_thread, p->tid)
SIG(thread_tgid, sum_thread, p->tgid)
SIG(thread_parent, sum_thread, p->parent)
STR(thread_comm, sum_thread, p->comm)
NUM(thread_process, sum_thread, p->is_process)
NUM(thread_created, sum_thread, p->created)
NUM(thread_exited, sum_thread, p->exited)
NUM(thread_start, sum_thread, p->start_ns)
NUM(thread_lived, sum_thread, p->lifetime_ns)
NUM(thread_cost, sum_thread, p->cost_ns)
NUM(thread_stack, sum_thread, p->stage_ns[SUM_STAGE_STACK])
NUM(thread_clone, sum_thread, p->stage_ns[SUM_STAGE_CLONE])
NUM(thread_wakeup, sum_thread, p->stage_ns[SUM_STAGE_WAKEUP])
NUM(thread_first, sum_thread, p->stage_ns[SUM_STAGE_START])
NUM(thread_setup, sum_thread, p->stage_ns[SUM_STAGE_SETUP])
NUM(thread_routine, sum_thread, p->stage_ns[SUM_STAGE_ROUTINE])
NUM(thread_exit, sum_thread, p->stage_ns[SUM_STAGE_EXIT])
NUM(thread_join, sum_thread, p->stage_ns[SUM_STAGE_JOIN])
NUM(thread_calls, sum_thread, p->calls)
NUM(thread_futex, sum_thread, p->futex_calls)
NUM(thread_futex_ns, sum_thread, p->futex_wait_ns)
NUM(thread_oncpu, sum_thread, p->oncpu_ns)
NUM(thread_runnable, sum_thread, p->runnable_ns)
NUM(thread_blocked, sum_thread, p->blocked_ns)
NUM(thread_voluntary, sum_thread, p->voluntary)
NUM(thread_involuntary, sum_thread, p->involuntary)

static const char *thread_routine_name(const struct csv_row *r, char tmp[24])
{
	const struct sum_thread *t = r->item;
	const struct sum_threads *all = &r->s->threads;

	(void)tmp;
	if (!t->routine || t->routine > all->nroutine)
		return NULL;
	return all->routine[t->routine - 1].symbol;
}

static const struct csv_col thread_cols[] = {
	{ "tid", .sig = thread_tid }, { "tgid", .sig = thread_tgid },
	{ "parent", .sig = thread_parent }, { "comm", .str = thread_comm },
	{ "process", .num = thread_process }, { "created", .num = thread_created },
	{ "exited", .num = thread_exited }, { "start_ns", .num = thread_start },
	{ "lifetime_ns", .num = thread_lived }, { "cost_ns", .num = thread_cost },
	{ "stack_ns", .exact = true, .stage = true, .num = thread_stack },
	{ "clone_ns", .exact = true, .stage = true, .num = thread_clone },
	{ "wakeup_ns", .stage = true, .num = thread_wakeup },
	{ "start_stage_ns", .exact = true, .stage = true, .num = thread_first },
	{ "setup_ns", .exact = true, .stage = true, .num = thread_setup },
	{ "exit_ns", .exact = true, .stage = true, .num = thread_exit },
	{ "join_ns", .exact = true, .stage = true, .num = thread_join },
	{ "calls", .exact = true, .num = thread_calls },
	{ "futex_calls", .exact = true, .num = thread_futex },
	{ "futex_wait_ns", .num = thread_futex_ns }, { "oncpu_ns", .num = thread_oncpu },
	{ "runnable_ns", .num = thread_runnable }, { "blocked_ns", .num = thread_blocked },
	{ "voluntary", .num = thread_voluntary }, { "involuntary", .num = thread_involuntary },
	{ "routine_ns", .stage = true, .num = thread_routine },
	{ "routine", .str = thread_routine_name }, { .name = NULL },
};

static int thread_rows(const struct summary *s, const struct out_opts *opts, struct csv_writer *w)
{
	size_t i;

	(void)opts;
	for (i = 0; i < s->threads.nby_thread; i++)
		csv_row(w, s, &s->threads.by_thread[i], NULL);
	return 0;
}

/* --- scheduling, findings, losses --- */

STR(block_name, sum_block, p->name)
NUM(block_count, sum_block, p->count)
NUM(block_total, sum_block, p->total_ns)

static const struct csv_col block_cols[] = {
	{ "blocked_in", .str = block_name }, { "count", .num = block_count },
	{ "total_ns", .num = block_total }, { .name = NULL },
};

static int block_rows(const struct summary *s, const struct out_opts *opts, struct csv_writer *w)
{
	size_t i;

	(void)opts;
	for (i = 0; i < s->sched.nblock; i++)
		csv_row(w, s, &s->sched.block[i], NULL);
	return 0;
}

STR(finding_id, sum_finding, p->id)
STR(finding_text, sum_finding, p->text)
STR(finding_advice, sum_finding, p->advice)

static const struct csv_col finding_cols[] = {
	{ "id", .str = finding_id }, { "text", .str = finding_text },
	{ "advice", .str = finding_advice }, { .name = NULL },
};

static int finding_rows(const struct summary *s, const struct out_opts *opts, struct csv_writer *w)
{
	size_t i;

	(void)opts;
	for (i = 0; i < s->nfinding; i++)
		csv_row(w, s, &s->finding[i], NULL);
	return 0;
}

NUM(loss_ring, sum_loss, p->ring_full)
NUM(loss_map, sum_loss, p->map_full)
NUM(loss_recursion, sum_loss, p->recursion)
NUM(loss_unpaired, sum_loss, p->unpaired)
NUM(loss_stacks, sum_loss, p->stacks)
NUM(loss_unknown, sum_loss, p->unknown)
NUM(loss_total, sum_loss, p->total)

static const struct csv_col loss_cols[] = {
	{ "ring_full", .num = loss_ring }, { "map_full", .num = loss_map },
	{ "recursion", .num = loss_recursion }, { "unpaired", .num = loss_unpaired },
	{ "stacks", .num = loss_stacks }, { "unknown", .num = loss_unknown },
	{ "total", .num = loss_total }, { .name = NULL },
};

static int loss_rows(const struct summary *s, const struct out_opts *opts, struct csv_writer *w)
{
	(void)opts;
	csv_row(w, s, &s->loss, NULL);
	return 0;
}

static const struct csv_table tables[] = {
	{ "syscalls", call_cols, call_rows },
	{ "errors", errno_cols, errno_rows },
	{ "findings", finding_cols, finding_rows },
	{ "stages", stage_cols, stage_rows },
	{ "threads", thread_cols, thread_rows },
	{ "locks", lock_cols, lock_rows },
	{ "wakeups", edge_cols, edge_rows },
	{ "pipes", pipe_cols, pipe_rows },
	{ "pipe_ends", end_cols, end_rows },
	{ "blocked", block_cols, block_rows },
	{ "loss", loss_cols, loss_rows },
};

static int csv_table(const struct csv_table *t, const struct summary *s,
		     const struct out_opts *opts, struct out_stream *o)
{
	struct csv_writer w = { .col = t->col, .out = o, .line = BUF_INIT };
	const struct csv_col *c;
	int r;

	for (c = t->col; c->name; c++)
		out_printf(o, "%s%s", c == t->col ? "" : ",", c->name);
	out_putc(o, '\n');
	r = t->rows(s, opts, &w);
	buf_release(&w.line);
	return r;
}

static int csv_summary(const struct summary *s, const struct out_opts *opts,
		       struct out_stream *o, struct err *err)
{
	size_t i, n = sizeof(tables) / sizeof(*tables);
	int r = 0;

	for (i = 0; opts->csv_table && i < n; i++) {
		if (strcmp(tables[i].name, opts->csv_table) != 0)
			continue;
		r = csv_table(&tables[i], s, opts, o);
		break;
	}
	if (opts->csv_table && i == n) {
		err_set(err, EINVAL, "no CSV table is called '%s'", opts->csv_table);
		err_hint(err, "syscalls, errors, findings, stages, threads, locks, wakeups, pipes, "
			 "pipe_ends, blocked, loss");
		return -EINVAL;
	}
	for (i = 0; !opts->csv_table && i < n && !r; i++) {
		out_printf(o, "%s# table %s\n", i ? "\n" : "", tables[i].name);
		r = csv_table(&tables[i], s, opts, o);
	}
	return r ? err_sys(err, -r, "cannot print the summary") : 0;
}

const struct out_format out_format_csv = { "csv", csv_summary };
