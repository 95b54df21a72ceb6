/* SPDX-License-Identifier: MIT */
#ifndef OUT_NOW_H
#define OUT_NOW_H

/*
 * One moment of a live view, as `top` shows it: who is there, and what was
 * counted since tracing began and in the last interval. Filled by
 * user/collect/watch.h, shown by user/tui and written by now_text and now_json.
 * Times are nanoseconds, sizes bytes, thread ids those of the tracer's own pid
 * namespace. Strings are hostile (they come from other processes); NULL is not
 * known. Rows come in no particular order, are found again by their keys, and
 * belong to the watch: they are valid until its next refresh.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "out/summary.h"

#define NOW_SCHEMA "tracer.top/1"

/* .step: of the last interval. */
struct now_count { uint64_t total, step; };

/*
 * What the sparkline of a row is drawn from: a figure for each of the last
 * intervals. That of .tick is at [tick % NOW_PAST]; a new row's are 0.
 */
#define NOW_PAST 16

enum now_state {
	NOW_RUNNING,	/* on a CPU */
	NOW_RUNNABLE,	/* waits for a CPU */
	NOW_BLOCKED,	/* waits for something else: .wait */
	NOW_STATES
};
/* "run", "queue", "wait" */
const char *now_state_name(enum now_state s);

struct now_thread {
	pid_t tid, tgid;		/* key: tid */
	char comm[SUM_COMM + 1];
	enum now_state state;
	const char *wait;		/* BLOCKED: system call, or SUM_BLOCK_* */
	uint64_t lock_addr;		/* BLOCKED in a futex: its address; 0 */
	uint32_t space;			/* address space, with .lock_addr a lock's key */
	uint64_t since_ns, began_ns;	/* CLOCK_MONOTONIC: in .state; its birth, or when found */
	uint64_t state_ns;		/* how long in .state */
	uint64_t age_ns;		/* since .began_ns */
	struct now_count cpu_ns, runnable_ns, blocked_ns;	/* these three add up to the time */
	struct now_count lock_ns;	/* in futex waits */
	struct now_count switches;
	struct now_count calls;		/* exact mode */
	float past[NOW_PAST];		/* share of a CPU, 0..1 */
	/* the watch's own */
	uint64_t looked_ns;
	uint32_t slot, lock_at, lock_val;
	bool created, new_row;		/* began while traced; was not there the last time */
	bool ahead;			/* some of its time is the next interval's */
};

struct now_process {
	pid_t tgid;			/* key */
	char comm[SUM_COMM + 1];	/* of its first thread */
	uint32_t threads;		/* traced and alive */
	uint32_t running, runnable, blocked;	/* of them, by state */
	struct now_count born, ended;	/* its threads, while traced */
	struct now_count cpu_ns, runnable_ns, blocked_ns, lock_ns, switches, calls;
	uint64_t age_ns;		/* of its oldest traced thread */
	float past[NOW_PAST];		/* CPUs */
};

struct now_lock {
	uint64_t addr;			/* key: .addr and .space */
	uint32_t space;
	pid_t tgid;
	char comm[SUM_COMM + 1];
	const char *symbol, *module;	/* as of struct sum_lock; asked for by watch_name */
	uint64_t module_offset;		/* the same */
	enum sum_lock_kind kind;
	uint32_t waiting;		/* threads that wait for it now */
	struct now_count waits, timeouts, wakes, wasted_wakes;
	struct now_count wait_ns;	/* of waits that last too */
	uint64_t p50_ns, p99_ns;	/* of the last interval's waits; none came back: 0 */
	uint64_t max_ns;		/* since tracing began */
	float past[NOW_PAST];		/* threads that waited, on the average */
};

struct now_pipe_end {
	pid_t tid, tgid;
	char comm[SUM_COMM + 1];
	struct now_count chunks, bytes, blocked, blocked_ns;
};

struct now_pipe {
	uint64_t id;			/* key: .id and .sb; perhaps the kernel's addresses */
	uint32_t sb;
	uint64_t number;		/* a key for others: of the pipes of this watch, from 1 */
	enum sum_pipe_kind kind;
	uint64_t inode;			/* as of struct sum_pipe */
	struct now_pipe_end *writer, *reader;	/* most bytes, then blocked_ns, first */
	size_t nwriter, nreader;
	/* exact mode; .blocked_ns in both */
	struct now_count chunks_written, chunks_read, bytes, bytes_read;
	struct now_count writer_blocked_ns, reader_blocked_ns;
	float past[NOW_PAST];		/* exact: bytes a second; wait: ends that waited */
};

struct now_call {
	const char *name;		/* key */
	int nr;
	struct now_count calls;		/* wait mode: those that blocked */
	struct now_count errors;	/* exact mode */
	struct now_count wall_ns;	/* wait mode: blocked */
	struct now_count blocked;
	struct now_count blocked_ns;	/* of those that wait in it now too */
	uint32_t inside;		/* threads that wait in it now */
	uint64_t p50_ns, p99_ns;	/* of the last interval's; none: 0 */
	uint64_t max_ns;		/* since tracing began */
	float past[NOW_PAST];		/* threads that were in it, on the average */
};

struct now {
	uint64_t tick;			/* refreshes so far, the first is 0 */
	uint64_t since_ns;		/* how long traced */
	uint64_t interval_ns;		/* since the refresh before, or the start */
	uint64_t realtime_ns;		/* wall clock, since 1970 */
	enum sum_mode mode;
	unsigned int collected;		/* SUM_SYSCALLS … bits */
	uint32_t cpus;
	struct now_thread *thread;
	size_t nthread;
	struct now_process *process;
	size_t nprocess;
	struct now_lock *lock;
	size_t nlock;
	struct now_pipe *pipe;
	size_t npipe;
	struct now_call *call;
	size_t ncall;
	struct now_count switches, migrations;
	struct now_count born, ended;	/* threads and processes */
	struct now_count cpu_ns, runnable_ns;	/* over all threads, ended ones too */
	struct sum_loss loss;		/* since tracing began */
	struct sum_overhead overhead;	/* .consumer_cpu_ns: since tracing began */
	struct now_count own_cpu_ns;	/* of tracer itself, refreshes and screen included */
	uint64_t refresh_cpu_ns;	/* of that, what this refresh took */
	uint64_t forgotten;		/* rows dropped as there were too many of them */
};

/* What a drill-down into a lock shows. Release with now_lock_detail_release. */
struct now_waiter { pid_t tid; char comm[SUM_COMM + 1]; uint64_t ns; };	/* waits now */
struct now_lock_detail {
	struct now_waiter *waiter;	/* longest first */
	size_t nwaiter;
	struct sum_edge *edge;		/* since tracing began, most frequent first */
	size_t nedge;
	struct sum_site *site;		/* most samples first */
	size_t nsite;
	uint64_t samples;		/* stacks sampled, unwound or not */
	enum sum_lock_use use;
};
void now_lock_detail_release(struct now_lock_detail *d);

#endif
