/* SPDX-License-Identifier: MIT */
/* The locks of a live view: who waits for which, and how long. */
#include "out/now_cell.h"

#include <inttypes.h>
#include <string.h>

NOW_FIGURE(lock, tgid, r->tgid, now_put_id, now_rising)
NOW_NAME(lock, comm, r->comm)
NOW_FIGURE(lock, waiting, r->waiting, now_put_number, now_falling)
NOW_COUNT(lock, wait, r->wait_ns, now_put_share)
NOW_COUNT(lock, waits, r->waits, now_put_rate)
NOW_FIGURE(lock, p50, r->p50_ns, now_put_known_ns, now_falling)
NOW_FIGURE(lock, p99, r->p99_ns, now_put_known_ns, now_falling)
NOW_FIGURE(lock, max, r->max_ns, now_put_known_ns, now_falling)
NOW_COUNT(lock, wakes, r->wakes, now_put_rate)
NOW_COUNT(lock, timeouts, r->timeouts, now_put_rate)
NOW_NAME(lock, kind, sum_lock_kind_name(r->kind))
NOW_HISTORY(lock)

static const char *base_of(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash && slash[1] ? slash + 1 : path;
}

NOW_NAME(lock, module, base_of(r->module))

bool now_put_lock(struct buf *b, const struct now_view *v, const struct now_lock *l)
{
	if (l->symbol) {
		now_put_name(b, v, l->symbol);
	} else if (l->module && l->module_offset) {
		now_put_name(b, v, base_of(l->module));
		buf_addf(b, "+0x%" PRIx64, l->module_offset);
	} else {
		return false;
	}
	return true;
}

static void lock_put_symbol(struct buf *b, const struct now_view *v, const void *row)
{
	const struct now_lock *l = row;

	if (!now_put_lock(b, v, l))
		buf_addf(b, "%s0x%" PRIx64, l->kind == SUM_LOCK_JOIN ? "join " : "", l->addr);
}

/* Who waits for a thread's end waits for no other's sake: behind the locks. */
static int lock_by_contention(const struct now_view *v, const void *a, const void *b)
{
	const struct now_lock *l = a, *m = b;
	int r = (l->kind == SUM_LOCK_JOIN) - (m->kind == SUM_LOCK_JOIN);

	return r ? r : lock_by_wait(v, a, b);
}

/* Those without a name behind the others, by address. */
static int lock_by_symbol(const struct now_view *v, const void *a, const void *b)
{
	const struct now_lock *l = a, *m = b;
	int r = now_by_name(l->symbol, m->symbol);

	(void)v;
	return r ? r : now_rising(l->addr, m->addr);
}

/* One that a lock had none of has no share; it stands behind one of which none was wasted. */
static uint64_t wasted_of(const struct now_view *v, const struct now_lock *l)
{
	const uint64_t wakes = now_part(v, l->wakes), wasted = now_part(v, l->wasted_wakes);

	return wakes ? (uint64_t)((unsigned __int128)wasted * 1000000 / wakes) + 1 : 0;
}

static void lock_put_wasted(struct buf *b, const struct now_view *v, const void *row)
{
	const struct now_lock *l = row;

	now_put_percent(b, now_part(v, l->wasted_wakes), now_part(v, l->wakes));
}

static int lock_by_wasted(const struct now_view *v, const void *a, const void *b)
{
	return now_falling(wasted_of(v, a), wasted_of(v, b));
}

const struct now_col now_lock_cols[NOW_COLS_LOCKS] = {
	{ .head = "LOCK", .help = "name of the lock, or its address", .width = 18, .left = true,
	  NOW_BY(lock, symbol) },
	{ .head = "PID", .help = "a process that uses it", .width = NOW_WIDTH_ID, .rank = 7,
	  NOW_BY(lock, tgid) },
	{ .head = "COMMAND", .help = "name of that process", .width = NOW_WIDTH_COMM, .rank = 3,
	  .left = true, NOW_BY(lock, comm) },
	{ .head = "WAITING", .help = "threads that wait for it now", .width = 7,
	  NOW_BY(lock, waiting) },
	[NOW_SORT_LOCKS] =
	{ .head = "WAIT%", .head_totals = "WAITED",
	  .help = "time that threads waited for it; 200 are two threads, all the time",
	  .width = NOW_WIDTH_SHARE, .width_totals = NOW_WIDTH_NS, .put = lock_put_wait,
	  .order = lock_by_contention },
	{ .head = "WAITS/s", .head_totals = "WAITS", .help = "waits", .width = 7,
	  .width_totals = NOW_WIDTH_COUNT, .rank = 1, NOW_BY(lock, waits) },
	{ .head = "P50", .head_totals = "", .help = "half of the interval's waits were shorter",
	  .width = NOW_WIDTH_NS, .rank = 5, NOW_BY(lock, p50) },
	{ .head = "P99", .head_totals = "",
	  .help = "99 of 100 of the interval's waits were shorter",
	  .width = NOW_WIDTH_NS, .rank = 2, NOW_BY(lock, p99) },
	{ .head = "MAX", .help = "the longest wait since tracing began", .width = NOW_WIDTH_NS,
	  .rank = 6, NOW_BY(lock, max) },
	{ .head = "WAKES/s", .head_totals = "WAKES", .help = "calls that wake", .width = 7,
	  .width_totals = NOW_WIDTH_COUNT, .rank = 9, .exact = true, NOW_BY(lock, wakes) },
	{ .head = "WASTED%", .help = "of these, calls that woke nobody", .width = 7, .rank = 8,
	  .exact = true, NOW_BY(lock, wasted) },
	{ .head = "TIMEOUT/s", .head_totals = "TIMEOUTS", .help = "waits that a timeout ended",
	  .width = 9, .width_totals = 8, .rank = 10, .exact = true, NOW_BY(lock, timeouts) },
	{ .head = "KIND", .help = "private, shared between processes, pi, or join: a thread's end",
	  .width = 7, .rank = 11, .left = true, NOW_BY(lock, kind) },
	{ .head = "PAST", .help = "threads that waited in the last intervals, newest right",
	  .width = NOW_WIDTH_PAST, .rank = 4, .left = true, NOW_BY(lock, past) },
	{ .head = "MODULE", .help = "file that holds the lock", .width = 10, .rank = 12,
	  .left = true, NOW_BY(lock, module) },
};

void now_lock_text(struct buf *b, const void *row)
{
	const struct now_lock *l = row;

	buf_addf(b, "%s %s %s %d 0x%" PRIx64 " %s", l->symbol ? l->symbol : "",
		 l->module ? l->module : "", l->comm, (int)l->tgid, l->addr,
		 sum_lock_kind_name(l->kind));
}
