/* SPDX-License-Identifier: MIT */
/* The processes of a live view: their threads, added up. */
#include "out/now_cell.h"

NOW_FIGURE(process, tgid, r->tgid, now_put_id, now_rising)
NOW_NAME(process, comm, r->comm)
NOW_FIGURE(process, threads, r->threads, now_put_number, now_falling)
NOW_FIGURE(process, running, r->running, now_put_number, now_falling)
NOW_FIGURE(process, runnable, r->runnable, now_put_number, now_falling)
NOW_FIGURE(process, waiting, r->blocked, now_put_number, now_falling)
NOW_COUNT(process, cpu, r->cpu_ns, now_put_share)
NOW_COUNT(process, runq, r->runnable_ns, now_put_share)
NOW_COUNT(process, lock, r->lock_ns, now_put_share)
NOW_COUNT(process, blocked, r->blocked_ns, now_put_share)
NOW_COUNT(process, born, r->born, now_put_rate)
NOW_COUNT(process, ended, r->ended, now_put_rate)
NOW_COUNT(process, switches, r->switches, now_put_rate)
NOW_COUNT(process, calls, r->calls, now_put_rate)
NOW_FIGURE(process, age, r->age_ns, now_put_ns, now_falling)
NOW_HISTORY(process)

const struct now_col now_process_cols[NOW_COLS_PROCESSES] = {
	{ .head = "PID", .help = "process id", .width = NOW_WIDTH_ID, NOW_BY(process, tgid) },
	{ .head = "COMMAND", .help = "name of its first thread", .width = NOW_WIDTH_COMM,
	  .left = true, NOW_BY(process, comm) },
	{ .head = "THREADS", .help = "its threads that are traced", .width = 7, .rank = 1,
	  NOW_BY(process, threads) },
	{ .head = "RUN", .help = "of these, on a CPU now", .width = 4, .rank = 3,
	  NOW_BY(process, running) },
	{ .head = "QUEUE", .help = "of these, waiting for a CPU now", .width = NOW_WIDTH_COUNT,
	  .rank = 3, NOW_BY(process, runnable) },
	{ .head = "WAIT", .help = "of these, waiting for something else now",
	  .width = NOW_WIDTH_COUNT, .rank = 3, NOW_BY(process, waiting) },
	[NOW_SORT_PROCESSES] =
	{ .head = "CPU%", .head_totals = "CPU", .help = "time on CPUs; 200 are two CPUs",
	  .width = NOW_WIDTH_SHARE, .width_totals = NOW_WIDTH_NS, NOW_BY(process, cpu) },
	{ .head = "RUNQ%", .head_totals = "RUNQ",
	  .help = "time in which its threads waited for a CPU", .width = NOW_WIDTH_SHARE,
	  .width_totals = NOW_WIDTH_NS, .rank = 2, NOW_BY(process, runq) },
	{ .head = "LOCK%", .head_totals = "LOCK",
	  .help = "time in which its threads waited for locks", .width = NOW_WIDTH_SHARE,
	  .width_totals = NOW_WIDTH_NS, .rank = 1, NOW_BY(process, lock) },
	{ .head = "BLOCK%", .head_totals = "BLOCK",
	  .help = "time in which its threads waited for anything but a CPU, locks included",
	  .width = 6, .width_totals = NOW_WIDTH_NS, .rank = 9, NOW_BY(process, blocked) },
	{ .head = "BORN/s", .head_totals = "BORN", .help = "threads that began", .width = 6,
	  .width_totals = NOW_WIDTH_COUNT, .rank = 5, NOW_BY(process, born) },
	{ .head = "ENDED/s", .head_totals = "ENDED", .help = "threads that ended", .width = 7,
	  .width_totals = NOW_WIDTH_COUNT, .rank = 8, NOW_BY(process, ended) },
	{ .head = "SWITCH/s", .head_totals = "SWITCHES", .help = "how often they left a CPU",
	  .width = 8, .rank = 6, NOW_BY(process, switches) },
	{ .head = "CALLS/s", .head_totals = "CALLS", .help = "system calls", .width = 7,
	  .width_totals = NOW_WIDTH_COUNT, .rank = 7, .exact = true, NOW_BY(process, calls) },
	{ .head = "AGE", .help = "of its oldest thread, since it began, or was found",
	  .width = NOW_WIDTH_NS, .rank = 10, NOW_BY(process, age) },
	{ .head = "PAST", .help = "CPU time of the last intervals, newest right",
	  .width = NOW_WIDTH_PAST, .rank = 4, .left = true, NOW_BY(process, past) },
};

void now_process_text(struct buf *b, const void *row)
{
	const struct now_process *p = row;

	buf_addf(b, "%s %d", p->comm, (int)p->tgid);
}
