/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. On a thread's own track stand its life and, within it, its calls (or,
 * in wait mode, its waits): they nest. Its stays on a CPU do not nest with
 * calls, so they stand in a group of their own, a track a thread. An arrow goes
 * from the thread that ended a futex wait to the one that waited, which may be
 * of another process: whose a thread is comes from its own events, since a wait
 * knows only its waker's id.
 */
#include "collect/live_timeline.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "collect/proc.h"
#include "out/out.h"
#include "out/perfetto.h"

/* Above every real process id (2^22 at most). */
#define ONCPU_GROUP (1 << 23)

static uint64_t since(const struct live *l, uint64_t ns)
{
	return ns > l->started_ns ? ns - l->started_ns : 0;
}

/* Without memory arrows are missing, and nothing else. */
static void has_track(struct live *l, pid_t tgid, pid_t tid)
{
	pid_t *of;

	if (!l->tracks)
		l->tracks = map_new(sizeof(pid_t), sizeof(pid_t));
	of = l->tracks ? map_put(l->tracks, &tid) : NULL;
	if (of)
		*of = tgid;
}

static void name_thread(struct live *l, pid_t tgid, pid_t tid, const char comm[LIVE_COMM])
{
	char name[LIVE_COMM + 1];

	memcpy(name, comm, LIVE_COMM);
	name[LIVE_COMM] = '\0';
	has_track(l, tgid, tid);
	if (tgid == tid)
		trace_process(l->timeline, tgid, name);
	trace_thread(l->timeline, tgid, tid, name);
	if (!l->named_oncpu) {
		trace_process(l->timeline, ONCPU_GROUP, "on a CPU");
		l->named_oncpu = true;
	}
	trace_thread(l->timeline, ONCPU_GROUP, tid, name);
}

static void draw_life(struct live *l, const struct live_thread *e)
{
	uint64_t start = since(l, e->start_ns);
	uint64_t end = since(l, e->end_ns ? e->end_ns : e->head.ts);
	struct trace_arg args[] = {
		{ .key = "calls", .kind = TRACE_U64, .u64 = e->calls },
		{ .key = "on CPU ns", .kind = TRACE_U64, .u64 = e->oncpu_ns },
		{ .key = "blocked ns", .kind = TRACE_U64, .u64 = e->blocked_ns },
	};

	if (e->flags & THREAD_CALIB)
		return;
	name_thread(l, (pid_t)e->tgid, (pid_t)e->head.tid, e->comm);
	trace_slice(l->timeline, (pid_t)e->tgid, (pid_t)e->head.tid, "thread",
		    e->flags & THREAD_PROCESS ? "process" : "thread", start,
		    end > start ? end - start : 0, args, sizeof(args) / sizeof(args[0]));
}

/* A waker that was there before the trace may not have been heard of yet. */
static bool meet_waker(struct live *l, pid_t tgid, pid_t waker)
{
	char path[48], comm[PROC_COMM] = "", name[LIVE_COMM] = "";

	snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)tgid, (int)waker);
	if (access(path, F_OK) || proc_comm(waker, comm))
		return false;
	memcpy(name, comm, sizeof(name) - 1);
	name_thread(l, tgid, waker, name);
	return true;
}

/* The process of @waker, who woke a thread of @tgid; 0: it has no track. */
static pid_t waker_tgid(struct live *l, pid_t tgid, pid_t waker)
{
	const pid_t *of = l->tracks ? map_get(l->tracks, &waker) : NULL;

	if (of)
		return *of;
	return meet_waker(l, tgid, waker) ? tgid : 0;
}

static void draw_wake(struct live *l, const struct live_slice *e)
{
	struct trace_point from = { .tid = (pid_t)e->waker, .ts_ns = since(l, e->head.ts) };
	struct trace_point to = { (pid_t)e->tgid, (pid_t)e->head.tid, since(l, e->head.ts) };

	from.pid = waker_tgid(l, to.pid, from.tid);
	if (from.pid)
		trace_flow(l->timeline, ++l->flows, "futex", "wakes", from, to);
}

static void draw_slice(struct live *l, const struct live_slice *e)
{
	uint64_t end = since(l, e->head.ts), start = since(l, e->head.ts - e->dur_ns);
	char error[24];
	struct trace_arg args[3] = {
		{ .key = "arg", .kind = TRACE_HEX, .u64 = e->arg },
		{ .key = "returned", .kind = TRACE_HEX, .u64 = (uint64_t)e->ret },
		{ .key = "woken by", .kind = TRACE_U64, .u64 = e->waker },
	};

	has_track(l, (pid_t)e->tgid, (pid_t)e->head.tid);
	if (e->kind == SLICE_ONCPU) {
		trace_slice(l->timeline, ONCPU_GROUP, (pid_t)e->head.tid, "sched", "running",
			    start, end - start, NULL, 0);
		return;
	}
	if (e->ret < 0 && e->ret >= -4095) {
		args[1].kind = TRACE_STR;
		args[1].str = out_errno_name((int)-e->ret, error);
	}
	trace_slice(l->timeline, (pid_t)e->tgid, (pid_t)e->head.tid,
		    e->kind == SLICE_CALL ? "syscall" : "blocked",
		    live_block_name(e->nr), start, end - start, args, e->waker ? 3 : 2);
	if (e->waker)
		draw_wake(l, e);
}

void live_timeline(struct live *l, const struct live_head *head)
{
	const struct live_birth *birth = (const void *)head;
	const struct live_exec *exec = (const void *)head;

	switch (head->type) {
	case EV_THREAD:
		draw_life(l, (const void *)head);
		break;
	case EV_SLICE:
		draw_slice(l, (const void *)head);
		break;
	case EV_BIRTH:
		name_thread(l, (pid_t)birth->tgid, (pid_t)head->tid, birth->comm);
		break;
	case EV_EXEC:
		name_thread(l, (pid_t)exec->tgid, (pid_t)head->tid, exec->comm);
		break;
	}
}
