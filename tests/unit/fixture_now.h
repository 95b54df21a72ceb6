/* SPDX-License-Identifier: MIT */
#ifndef FIXTURE_NOW_H
#define FIXTURE_NOW_H

/*
 * A made-up moment of a live view: an order service whose workers wait for a
 * queue's lock and write to a pipe. The interval is of two seconds, so that
 * what forgets to divide by it is seen.
 */
#include <math.h>

#include "fixture_summary.h"
#include "out/now_cols.h"

#define MS 1000000ULL
#define SEC 1000000000ULL

struct fixture_now {
	struct now now;
	struct now_thread thread[6];
	struct now_process process[2];
	struct now_lock lock[3];
	struct now_pipe pipe[3];
	struct now_pipe_end end[6];
	struct now_call call[3];
};

/* Most recent last: the interval of the tick is the last but none. */
__attribute__((unused)) static void fixture_past(float past[NOW_PAST], uint64_t tick, float now,
						 float before, float long_ago)
{
	size_t i;

	for (i = 0; i < NOW_PAST; i++)
		past[i] = long_ago;
	past[tick % NOW_PAST] = now;
	past[(tick - 1) % NOW_PAST] = before;
}

__attribute__((unused)) static void fixture_now_threads(struct fixture_now *f)
{
	const uint64_t tick = f->now.tick;

	f->thread[0] = (struct now_thread){
		.tid = 4211, .tgid = 4210, .comm = "worker-1", .state = NOW_RUNNING,
		.state_ns = 3 * MS + 210000, .age_ns = 754 * SEC,
		.cpu_ns = { 92 * SEC, 1850 * MS }, .runnable_ns = { 3 * SEC, 50 * MS },
		.blocked_ns = { 40 * SEC, 100 * MS }, .lock_ns = { 38 * SEC, 96 * MS },
		.switches = { 123456, 2401 }, .calls = { 1234567, 61000 },
	};
	f->thread[1] = (struct now_thread){
		.tid = 4212, .tgid = 4210, .comm = "worker-2", .state = NOW_BLOCKED,
		.wait = "futex", .lock_addr = 0x55d1a40c4080, .space = 1, .state_ns = 812,
		.age_ns = 754 * SEC, .cpu_ns = { 20 * SEC, 310 * MS },
		.runnable_ns = { 1 * SEC, 20 * MS }, .blocked_ns = { 100 * SEC, 1670 * MS },
		.lock_ns = { 99 * SEC, 1600 * MS }, .switches = { 99000, 1999 },
		.calls = { 99, 1 },
	};
	f->thread[2] = (struct now_thread){
		.tid = 4213, .tgid = 4210, .comm = "worker-3", .state = NOW_RUNNABLE,
		.state_ns = 41 * MS, .age_ns = 2 * SEC, .cpu_ns = { 310 * MS, 310 * MS },
		.runnable_ns = { 900 * MS, 900 * MS }, .switches = { 1, 1 },
	};
	f->thread[3] = (struct now_thread){
		.tid = 4300, .tgid = 4300, .comm = "pack", .state = NOW_BLOCKED, .wait = "read",
		.state_ns = 3 * SEC, .age_ns = 90061 * SEC, .cpu_ns = { 5 * MS, 100000 },
		.blocked_ns = { 700 * SEC, 2 * SEC }, .switches = { 12, 0 },
	};
	f->thread[4] = (struct now_thread){
		.tid = 4214, .tgid = 4210, .comm = "idle", .state = NOW_BLOCKED,
		.state_ns = 754 * SEC, .age_ns = 754 * SEC,
	};
	f->thread[5] = (struct now_thread){
		.tid = 4215, .tgid = 4210, .comm = "stat", .state = NOW_BLOCKED, .wait = "futex",
		.lock_addr = 0x7f3a6c000ba0, .space = 1, .state_ns = 61 * SEC, .age_ns = 754 * SEC,
		.blocked_ns = { 700 * SEC, 2 * SEC }, .lock_ns = { 700 * SEC, 2 * SEC },
	};
	fixture_past(f->thread[0].past, tick, 0.925f, 0.5f, 0.1f);
	fixture_past(f->thread[1].past, tick, 0.155f, 0, 0);
	fixture_past(f->thread[2].past, tick, 0.155f, 1, 0);
}

__attribute__((unused)) static void fixture_now_locks(struct fixture_now *f)
{
	static char symbol[] = "queue_lock", module[] = "/opt/orders/bin/orders";
	const uint64_t tick = f->now.tick;

	f->lock[0] = (struct now_lock){
		.addr = 0x55d1a40c4080, .space = 1, .tgid = 4210, .comm = "orders",
		.symbol = symbol, .module = module, .kind = SUM_LOCK_PRIVATE, .waiting = 1,
		.waits = { 40100, 4001 }, .timeouts = { 31, 1 }, .wakes = { 40300, 4000 },
		.wasted_wakes = { 1204, 250 }, .wait_ns = { 1390 * MS, 3200 * MS },
		.p50_ns = 31200, .p99_ns = 49100, .max_ns = 418000,
	};
	f->lock[1] = (struct now_lock){
		.addr = 0x7f3a6c000ba0, .space = 1, .tgid = 4210, .comm = "orders",
		.kind = SUM_LOCK_SHARED, .waiting = 1, .waits = { 1, 0 },
	};
	/* Of another process: the same address is another lock. */
	f->lock[2] = (struct now_lock){
		.addr = 0x55d1a40c4080, .space = 2, .tgid = 4300, .comm = "pack",
		.kind = SUM_LOCK_JOIN, .waits = { 9, 2 }, .wait_ns = { 900 * MS, 10 * MS },
		.p50_ns = 5 * MS, .p99_ns = 5 * MS, .max_ns = 300 * MS,
	};
	fixture_past(f->lock[0].past, tick, 1.6f, 1.2f, 0.8f);
}

__attribute__((unused)) static void fixture_now_pipes(struct fixture_now *f)
{
	const uint64_t tick = f->now.tick;

	f->end[0] = (struct now_pipe_end){ .tid = 4211, .tgid = 4210, .comm = "worker-1",
					   .chunks = { 19000, 200 },
					   .bytes = { 1200ULL << 20, 12ULL << 20 },
					   .blocked = { 18231, 190 },
					   .blocked_ns = { 1210 * MS, 900 * MS } };
	f->end[1] = (struct now_pipe_end){ .tid = 4212, .tgid = 4210, .comm = "worker-2" };
	f->end[2] = (struct now_pipe_end){ .tid = 4300, .tgid = 4300, .comm = "pack",
					   .chunks = { 19000, 200 },
					   .bytes = { 1200ULL << 20, 12ULL << 20 },
					   .blocked_ns = { 12 * MS, 0 } };
	f->end[3] = (struct now_pipe_end){ .tid = 4301, .tgid = 4301 };
	f->end[4] = f->end[2];
	f->pipe[0] = (struct now_pipe){
		.number = 1, .id = 0xffff888100aa0000, .sb = 13, .kind = SUM_PIPE, .inode = 70001,
		.writer = &f->end[0], .nwriter = 2, .reader = &f->end[2], .nreader = 1,
		.chunks_written = { 19000, 200 }, .chunks_read = { 19000, 200 },
		.bytes = { 1200ULL << 20, 12ULL << 20 },
		.bytes_read = { 1200ULL << 20, 12ULL << 20 },
		.writer_blocked_ns = { 1210 * MS, 900 * MS }, .reader_blocked_ns = { 12 * MS, 0 },
	};
	/* Its writer is not traced. */
	f->pipe[1] = (struct now_pipe){
		.number = 2, .id = 0xffff888100bb0000, .sb = 13, .kind = SUM_FIFO, .inode = 70002,
		.reader = &f->end[3], .nreader = 1, .chunks_read = { 3, 1 },
		.bytes_read = { 3, 1 }, .reader_blocked_ns = { 700 * SEC, 2 * SEC },
	};
	f->pipe[2] = (struct now_pipe){
		.number = 3, .id = 0xffff888100cc0000, .sb = 8, .kind = SUM_EVENTFD, .inode = 12,
		.writer = &f->end[4], .nwriter = 1,
	};
	fixture_past(f->pipe[0].past, tick, 6291456, 3145728, 0);
}

__attribute__((unused)) static void fixture_now_calls(struct fixture_now *f)
{
	const uint64_t tick = f->now.tick;

	f->call[0] = (struct now_call){
		.name = "futex", .nr = 202, .calls = { 81322, 8001 }, .errors = { 242, 3 },
		.wall_ns = { 1406 * MS, 5600 * MS }, .blocked = { 50322, 4003 }, .inside = 2,
		.blocked_ns = { 1390 * MS, 5200 * MS }, .p50_ns = 15500, .p99_ns = 166000,
		.max_ns = 208000,
	};
	f->call[1] = (struct now_call){
		.name = "clock_nanosleep", .nr = 230, .calls = { 3, 1 },
		.wall_ns = { 3 * SEC, SEC },
		.blocked = { 3, 1 }, .blocked_ns = { 3 * SEC, SEC }, .p50_ns = SEC, .p99_ns = SEC,
		.max_ns = SEC,
	};
	f->call[2] = (struct now_call){ .name = "page fault/other", .nr = -1, .blocked = { 7, 0 } };
	fixture_past(f->call[0].past, tick, 2.8f, 1.4f, 0);
}

__attribute__((unused)) static void fixture_now_processes(struct fixture_now *f)
{
	f->process[0] = (struct now_process){
		.tgid = 4210, .comm = "orders", .threads = 5, .running = 1, .runnable = 1,
		.blocked = 2, .born = { 12, 1 }, .ended = { 7, 0 },
		.cpu_ns = { 112 * SEC, 2470 * MS }, .runnable_ns = { 5 * SEC, 970 * MS },
		.blocked_ns = { 840 * SEC, 3770 * MS }, .lock_ns = { 837 * SEC, 3696 * MS },
		.switches = { 222457, 4401 }, .calls = { 1234666, 61001 }, .age_ns = 754 * SEC,
	};
	f->process[1] = (struct now_process){
		.tgid = 4300, .comm = "pack", .threads = 1, .blocked = 1,
		.cpu_ns = { 5 * MS, 100000 },
		.blocked_ns = { 700 * SEC, 2 * SEC }, .switches = { 12, 0 }, .age_ns = 90061 * SEC,
	};
	fixture_past(f->process[0].past, f->now.tick, 1.235f, 2.47f, 0);
}

__attribute__((unused)) static void fixture_now(struct fixture_now *f, enum sum_mode mode)
{
	memset(f, 0, sizeof(*f));
	f->now = (struct now){
		.tick = 377, .since_ns = 754 * SEC, .interval_ns = 2 * SEC,
		.realtime_ns = 1796018888ULL * SEC, .mode = mode, .collected = 0x1f, .cpus = 4,
		.thread = f->thread, .nthread = 6, .process = f->process, .nprocess = 2,
		.lock = f->lock, .nlock = 3, .pipe = f->pipe, .npipe = 3, .call = f->call,
		.ncall = 3, .switches = { 222469, 4401 }, .migrations = { 1200, 12 },
		.born = { 12, 1 }, .ended = { 7, 0 }, .cpu_ns = { 113 * SEC, 2470 * MS },
		.runnable_ns = { 5 * SEC, 970 * MS },
		.overhead = { .measured = true, .bare_call_ns = 111, .ns_per_syscall = 112,
			      .ns_per_futex = 90, .ns_per_pipe_chunk = -3,
			      .consumer_cpu_ns = 900 * MS },
		.own_cpu_ns = { 1230 * MS, 8600000 }, .refresh_cpu_ns = 1200000,
	};
	fixture_now_threads(f);
	fixture_now_locks(f);
	fixture_now_pipes(f);
	fixture_now_calls(f);
	fixture_now_processes(f);
}

/* Every name that another process may choose, made hostile. */
__attribute__((unused)) static void fixture_now_hostile(struct fixture_now *f, enum sum_mode mode)
{
	static const char comm[] = FIXTURE_TITLE "<b>\xff";
	size_t i;

	fixture_now(f, mode);
	for (i = 0; i < f->now.nthread; i++)
		snprintf(f->thread[i].comm, SUM_COMM + 1, "%s", comm);
	for (i = 0; i < f->now.nprocess; i++)
		snprintf(f->process[i].comm, SUM_COMM + 1, "%s", comm);
	for (i = 0; i < f->now.nlock; i++) {
		snprintf(f->lock[i].comm, SUM_COMM + 1, "%s", comm);
		f->lock[i].symbol = FIXTURE_EVIL;
		f->lock[i].module = "/tmp/" FIXTURE_EVIL;
	}
	for (i = 0; i < 6; i++)
		snprintf(f->end[i].comm, SUM_COMM + 1, "%s", comm);
}

/* Figures that no machine has. */
__attribute__((unused)) static void fixture_now_absurd(struct fixture_now *f, enum sum_mode mode)
{
	const struct now_count most = { UINT64_MAX, UINT64_MAX };
	size_t i;

	fixture_now(f, mode);
	f->now.interval_ns = 1;
	f->now.realtime_ns = f->now.since_ns = f->now.forgotten = UINT64_MAX;
	f->now.switches = f->now.migrations = f->now.born = f->now.ended = most;
	f->now.cpu_ns = f->now.runnable_ns = f->now.own_cpu_ns = most;
	for (i = 0; i < 6; i++) {
		struct now_thread *t = &f->thread[i];

		t->cpu_ns = t->runnable_ns = t->blocked_ns = t->lock_ns = most;
		t->switches = t->calls = most;
		t->state_ns = t->age_ns = UINT64_MAX;
		fixture_past(t->past, 0, (float)NAN, (float)INFINITY, -1);
	}
	for (i = 0; i < 3; i++) {
		struct now_lock *l = &f->lock[i];

		l->waits = l->timeouts = l->wakes = l->wasted_wakes = l->wait_ns = most;
		l->p50_ns = l->p99_ns = l->max_ns = UINT64_MAX;
		fixture_past(l->past, 0, (float)NAN, (float)INFINITY, -1);
		f->pipe[i].bytes = f->pipe[i].bytes_read = most;
		f->pipe[i].chunks_read = (struct now_count){ 1, 1 };
		f->pipe[i].writer_blocked_ns = f->pipe[i].reader_blocked_ns = most;
		fixture_past(f->pipe[i].past, 0, (float)NAN, (float)INFINITY, -1);
		f->call[i].calls = f->call[i].wall_ns = f->call[i].errors = most;
		fixture_past(f->call[i].past, 0, (float)NAN, (float)INFINITY, -1);
	}
}

#endif
