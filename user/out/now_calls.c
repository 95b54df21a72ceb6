/* SPDX-License-Identifier: MIT */
/* The system calls of a live view: how often, how long, and how much of it asleep. */
#include "out/now_cell.h"

NOW_NAME(call, name, r->name)
NOW_COUNT(call, calls, r->calls, now_put_rate)
NOW_COUNT(call, errors, r->errors, now_put_rate)
NOW_COUNT(call, time, r->wall_ns, now_put_share)
NOW_FIGURE(call, p50, r->p50_ns, now_put_known_ns, now_falling)
NOW_FIGURE(call, p99, r->p99_ns, now_put_known_ns, now_falling)
NOW_FIGURE(call, max, r->max_ns, now_put_known_ns, now_falling)
NOW_COUNT(call, blocked, r->blocked, now_put_rate)
NOW_FIGURE(call, waiting, r->inside, now_put_number, now_falling)
NOW_HISTORY(call)

static void call_put_blocked_ns(struct buf *b, const struct now_view *v, const void *row)
{
	now_put_share(b, v, ((const struct now_call *)row)->blocked_ns);
}

/* Calls that never block have a time all the same, in exact mode. */
static int call_by_blocked_ns(const struct now_view *v, const void *a, const void *b)
{
	const struct now_call *c = a, *d = b;
	int r = now_falling(now_part(v, c->blocked_ns), now_part(v, d->blocked_ns));

	return r ? r : call_by_time(v, a, b);
}

const struct now_col now_call_cols[NOW_COLS_CALLS] = {
	{ .head = "CALL", .help = "system call, as strace names it", .width = 16, .left = true,
	  NOW_BY(call, name) },
	{ .head = "CALLS/s", .head_totals = "CALLS", .help = "calls that came back", .width = 7,
	  .width_totals = NOW_WIDTH_COUNT, .rank = 1, .exact = true, NOW_BY(call, calls) },
	{ .head = "ERRORS/s", .head_totals = "ERRORS", .help = "calls that failed", .width = 8,
	  .width_totals = 6, .rank = 4, .exact = true, NOW_BY(call, errors) },
	{ .head = "WAITING", .help = "threads that wait in it now", .width = 7, .rank = 2,
	  NOW_BY(call, waiting) },
	[NOW_SORT_CALLS] =
	{ .head = "BLOCK%", .head_totals = "BLOCK",
	  .help = "time that threads waited in it; 200 are two threads, all the time",
	  .width = 6, .width_totals = NOW_WIDTH_NS, NOW_BY(call, blocked_ns) },
	{ .head = "TIME%", .head_totals = "TIME",
	  .help = "time in calls that came back, waits included", .width = NOW_WIDTH_SHARE,
	  .width_totals = NOW_WIDTH_NS, .rank = 1, .exact = true, NOW_BY(call, time) },
	{ .head = "P50", .head_totals = "", .help = "half of the interval's calls were shorter",
	  .width = NOW_WIDTH_NS, .rank = 3, NOW_BY(call, p50) },
	{ .head = "P99", .head_totals = "",
	  .help = "99 of 100 of the interval's calls were shorter",
	  .width = NOW_WIDTH_NS, .rank = 2, NOW_BY(call, p99) },
	{ .head = "MAX", .help = "the longest since tracing began", .width = NOW_WIDTH_NS,
	  .rank = 5, NOW_BY(call, max) },
	{ .head = "BLOCKED/s", .head_totals = "BLOCKED", .help = "how often a thread waited in it",
	  .width = 9, .width_totals = 7, .rank = 6, NOW_BY(call, blocked) },
	{ .head = "PAST", .help = "threads in it in the last intervals, newest right",
	  .width = NOW_WIDTH_PAST, .rank = 7, .left = true, NOW_BY(call, past) },
};

void now_call_text(struct buf *b, const void *row)
{
	buf_adds(b, ((const struct now_call *)row)->name);
}
