/* SPDX-License-Identifier: MIT */
/* The threads of a live view: where each is, and where its time goes. */
#include "out/now_cell.h"

#include <inttypes.h>

NOW_FIGURE(thread, tid, r->tid, now_put_id, now_rising)
NOW_FIGURE(thread, tgid, r->tgid, now_put_id, now_rising)
NOW_NAME(thread, comm, r->comm)
NOW_COUNT(thread, cpu, r->cpu_ns, now_put_share)
NOW_COUNT(thread, runnable, r->runnable_ns, now_put_share)
NOW_COUNT(thread, blocked, r->blocked_ns, now_put_share)
NOW_COUNT(thread, lock, r->lock_ns, now_put_share)
NOW_COUNT(thread, switches, r->switches, now_put_rate)
NOW_COUNT(thread, calls, r->calls, now_put_rate)
NOW_FIGURE(thread, age, r->age_ns, now_put_ns, now_falling)
NOW_FIGURE(thread, state_ns, r->state_ns, now_put_ns, now_falling)
NOW_HISTORY(thread)

static void thread_put_state(struct buf *b, const struct now_view *v, const void *row)
{
	(void)v;
	buf_adds(b, now_state_name(((const struct now_thread *)row)->state));
}

static int thread_by_state(const struct now_view *v, const void *a, const void *b)
{
	(void)v;
	return now_rising(((const struct now_thread *)a)->state,
			  ((const struct now_thread *)b)->state);
}

static const char *wait_of(const struct now_thread *t)
{
	return t->state == NOW_BLOCKED ? t->wait : NULL;
}

static bool waits_for(const struct now_thread *t, const struct now_lock *l)
{
	return l->addr == t->lock_addr && l->space == t->space;
}

/* Mostly it is where the watch found it. */
static const struct now_lock *lock_of(const struct now *n, const struct now_thread *t)
{
	size_t i;

	if (t->lock_at < n->nlock && waits_for(t, &n->lock[t->lock_at]))
		return &n->lock[t->lock_at];
	for (i = 0; i < n->nlock; i++)
		if (waits_for(t, &n->lock[i]))
			return &n->lock[i];
	return NULL;
}

/* "read", "futex queue_lock", "futex 0x55d1a40c4080". */
static void thread_put_wait(struct buf *b, const struct now_view *v, const void *row)
{
	const struct now_thread *t = row;
	const struct now_lock *l;

	if (!wait_of(t))
		return;
	l = t->lock_addr ? lock_of(v->now, t) : NULL;
	if (l && l->kind == SUM_LOCK_JOIN && t->lock_val) {
		buf_addf(b, "join %u", t->lock_val);
		return;
	}
	now_put_name(b, v, t->wait);
	if (!t->lock_addr)
		return;
	buf_addc(b, ' ');
	if (!l || !now_put_lock(b, v, l))
		buf_addf(b, "0x%" PRIx64, t->lock_addr);
}

/* Those at one lock together, the longest wait first. */
static int thread_by_wait(const struct now_view *v, const void *a, const void *b)
{
	const struct now_thread *s = a, *t = b;
	int r = now_by_name(wait_of(s), wait_of(t));

	r = r || !wait_of(s) ? r : now_rising(s->lock_addr, t->lock_addr);
	r = r || !wait_of(s) ? r : now_rising(s->space, t->space);
	return r ? r : thread_by_state_ns(v, a, b);
}

const struct now_col now_thread_cols[NOW_COLS_THREADS] = {
	{ .head = "TID", .help = "thread id", .width = NOW_WIDTH_ID, NOW_BY(thread, tid) },
	{ .head = "PID", .help = "process id", .width = NOW_WIDTH_ID, .rank = 8,
	  NOW_BY(thread, tgid) },
	{ .head = "COMMAND", .help = "name of the thread", .width = NOW_WIDTH_COMM, .left = true,
	  NOW_BY(thread, comm) },
	[NOW_SORT_THREADS] =
	{ .head = "CPU%", .head_totals = "CPU", .help = "time on a CPU",
	  .width = NOW_WIDTH_SHARE, .width_totals = NOW_WIDTH_NS, NOW_BY(thread, cpu) },
	{ .head = "RUNQ%", .head_totals = "RUNQ", .help = "time in which it waited for a CPU",
	  .width = NOW_WIDTH_SHARE, .width_totals = NOW_WIDTH_NS, .rank = 2,
	  NOW_BY(thread, runnable) },
	{ .head = "LOCK%", .head_totals = "LOCK", .help = "time in which it waited for locks",
	  .width = NOW_WIDTH_SHARE, .width_totals = NOW_WIDTH_NS, .rank = 1,
	  NOW_BY(thread, lock) },
	{ .head = "BLOCK%", .head_totals = "BLOCK",
	  .help = "time in which it waited for anything but a CPU, locks included",
	  .width = NOW_WIDTH_SHARE + 1, .width_totals = NOW_WIDTH_NS, .rank = 7,
	  NOW_BY(thread, blocked) },
	{ .head = "SWITCH/s", .head_totals = "SWITCHES", .help = "how often it left a CPU",
	  .width = 8, .rank = 6, NOW_BY(thread, switches) },
	{ .head = "CALLS/s", .head_totals = "CALLS", .help = "system calls", .width = 7,
	  .width_totals = NOW_WIDTH_COUNT, .rank = 4, .exact = true, NOW_BY(thread, calls) },
	{ .head = "AGE", .help = "since it began, or was found", .width = NOW_WIDTH_NS,
	  .rank = 9, NOW_BY(thread, age) },
	{ .head = "PAST", .help = "CPU time of the last intervals, newest right",
	  .width = NOW_WIDTH_PAST, .rank = 5, .left = true, NOW_BY(thread, past) },
	{ .head = "STATE", .help = "run: on a CPU; queue: waits for one; wait: for anything else",
	  .width = 5, .left = true, NOW_BY(thread, state) },
	{ .head = "FOR", .help = "how long it has been in that state", .width = NOW_WIDTH_NS,
	  .rank = 3, NOW_BY(thread, state_ns) },
	{ .head = "WAIT", .help = "the system call, and the lock, that it waits in", .width = 15,
	  .rank = 1, .left = true, NOW_BY(thread, wait) },
};

void now_thread_text(struct buf *b, const void *row)
{
	const struct now_thread *t = row;

	buf_addf(b, "%s %d %d", t->comm, (int)t->tid, (int)t->tgid);
	if (wait_of(t))
		buf_addf(b, " %s", t->wait);
	if (t->lock_addr)
		buf_addf(b, " 0x%" PRIx64, t->lock_addr);
}
