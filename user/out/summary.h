/* SPDX-License-Identifier: MIT */
#ifndef OUT_SUMMARY_H
#define OUT_SUMMARY_H

/*
 * What one traced run came to: filled by user/collect, judged by
 * user/report/diagnose, written by every format in user/out. All times are
 * nanoseconds, all sizes bytes, all thread ids those of the tracer's own pid
 * namespace. Strings are hostile (they come from other processes) and are
 * escaped by each format. Arrays belong to the summary; summary_release frees.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "stats/hist.h"
#include "shared/tape.h"

#define SUMMARY_SCHEMA "tracer.summary/1"
#define SUM_COMM 16

enum sum_mode { SUM_WAIT, SUM_EXACT };

/* Bits of .collected: which collectors ran. */
enum {
	SUM_SYSCALLS = 1 << 0,
	SUM_THREADS  = 1 << 1,
	SUM_FUTEX    = 1 << 2,
	SUM_PIPES    = 1 << 3,
	SUM_SCHED    = 1 << 4,
};

/* A thread's creation and end, in the order in which they happen. */
enum sum_stage {
	SUM_STAGE_STACK,	/* creator: mmap, mprotect, munmap of the new stack */
	SUM_STAGE_CLONE,	/* creator: clone enter to the child made runnable */
	SUM_STAGE_WAKEUP,	/* child: runnable to first on a CPU */
	SUM_STAGE_START,	/* child: first on a CPU to first return to user */
	/* child: its calls before the start routine (rseq, set_robust_list, rt_sigprocmask) */
	SUM_STAGE_SETUP,
	SUM_STAGE_ROUTINE,	/* child: from there to its start routine; with --start-routine */
	SUM_STAGE_EXIT,		/* child: exit enter to dead */
	/* joiner: woken by the exit to running again; 0 when nobody slept in a join */
	SUM_STAGE_JOIN,
	SUM_STAGES
};
/* "stack", "clone", "wakeup", "start", "setup", "routine", "exit", "join" */
const char *sum_stage_name(enum sum_stage s);

struct sum_frame {
	uint64_t ip;
	char *symbol;		/* NULL: unknown; demangled, symbol version cut off */
	char *module;		/* NULL: unknown; path of the mapped file */
	char *file;		/* NULL: unknown */
	uint32_t line;		/* 0: unknown */
	uint64_t offset;	/* of ip in symbol; 0 in an inlined function */
	uint64_t module_offset;	/* of ip, as the file's program headers count; 0: unknown */
	bool inlined;		/* into the next frame, which has the same ip */
	bool kernel;		/* of the kernel, whose addresses are not told: ip is 0 */
};

struct sum_thread {
	pid_t tid, tgid, parent;	/* parent: tid of the creating thread, 0 unknown */
	char comm[SUM_COMM + 1];
	bool is_process;	/* made by fork/vfork, not a thread of its creator's process */
	bool exited;		/* ended while traced */
	bool created;		/* began while traced */
	uint64_t start_ns;	/* since the trace's start; 0 when it was there before */
	uint64_t lifetime_ns;
	uint64_t cost_ns;	/* sum of .stage_ns; 0 when not created while traced */
	uint64_t stage_ns[SUM_STAGES];	/* .._ROUTINE 0: its start was not seen */
	uint32_t routine;	/* 1 + index in .routine of struct sum_threads; 0: not known */
	uint64_t calls;		/* system calls, as counted in exact mode */
	uint64_t futex_calls;
	uint64_t futex_wait_ns;	/* time in futex waits */
	uint64_t oncpu_ns, runnable_ns, blocked_ns;
	uint64_t voluntary, involuntary;	/* context switches */
};

/* What was given to pthread_create, as a function's name. */
struct sum_routine {
	char *symbol;		/* NULL: unknown */
	char *module;		/* file that holds it; NULL: unknown */
	uint64_t addr;		/* in one of the processes */
	uint64_t threads;	/* that began with it */
};

struct sum_threads {
	uint64_t created, exited;	/* threads (same process as creator) while traced */
	uint64_t processes_created, processes_exited;	/* by fork or vfork */
	uint64_t live_peak;		/* most traced threads alive at once */
	struct hist cost, lifetime;	/* of created threads; lifetime of those that also exited */
	struct hist stage[SUM_STAGES];
	/* Calls spent by and for created threads between clone and the start
	 * routine and at the exit are in .calls_on_the_way: per name, total. */
	struct sum_way { const char *name; uint64_t calls, total_ns; } *way;
	size_t nway;
	/* Asked for, then .stage[SUM_STAGE_ROUTINE].count of .created are timed. */
	bool routines_asked;
	struct sum_routine *routine;	/* most threads first */
	size_t nroutine;
	struct sum_thread *by_thread;	/* sorted by cost_ns, then lifetime_ns, largest first */
	size_t nby_thread;
	uint64_t by_thread_cap;		/* most rows kept */
	uint64_t by_thread_cut;		/* rows beyond the cap */
};

struct sum_edge {
	pid_t waker, waiter;	/* tids; waker 0: not seen (timeout, signal, interrupt) */
	char waker_comm[SUM_COMM + 1], waiter_comm[SUM_COMM + 1];
	uint64_t count;
};

/* Where a lock was waited for: sampled user stacks. */
struct sum_site {
	struct sum_frame *frame;	/* innermost first */
	size_t nframe;
	struct sum_frame *kernel;	/* inside that, where it waits; may be none */
	size_t nkernel;
	uint64_t samples;	/* of this site */
	uint64_t waits;		/* estimated: this site's share, by samples, of the lock's waits */
	uint64_t wait_ns;	/* of the samples themselves */
};

void sum_site_release(struct sum_site *site);

enum sum_lock_kind { SUM_LOCK_PRIVATE, SUM_LOCK_SHARED, SUM_LOCK_PI, SUM_LOCK_JOIN };
const char *sum_lock_kind_name(enum sum_lock_kind k);	/* "private", "shared", "pi", "join" */

struct sum_lock {
	uint64_t addr;
	pid_t tgid;		/* a process that used it */
	char comm[SUM_COMM + 1];
	char *symbol;		/* NAME or NAME+0xOFF of a global; NULL: not known */
	char *module;		/* file that holds the word; NULL */
	uint64_t module_offset;	/* of the word, as the file's program headers count; 0: unknown */
	enum sum_lock_kind kind;
	/* wait operations that queued (they returned 0, ETIMEDOUT or EINTR, or still wait) */
	uint64_t waits;
	uint64_t blocked;	/* of those, waits that gave up the CPU */
	uint64_t timeouts;	/* ETIMEDOUT */
	uint64_t eagain;
	uint64_t wakes;		/* wake operations */
	uint64_t woken;		/* threads that they woke */
	uint64_t wasted_wakes;	/* wake operations that woke nobody */
	uint64_t requeued;
	uint64_t pending;	/* of .waits, those that had not come back at the end */
	uint64_t pending_ns;	/* how long these lasted, together */
	struct hist wait;	/* wall time of each wait; .sum is wait_ns.total */
	struct sum_edge *edge;	/* most frequent first */
	size_t nedge;
	struct sum_site *site;	/* most samples first */
	size_t nsite;
	uint64_t samples;	/* stacks sampled for this lock, resolved or not */
	pid_t holder;		/* most frequent waker, the likely holder; 0 unknown */
};

/* What it is used for, judged by the functions that wait for it. */
enum sum_lock_use {
	SUM_USE_UNKNOWN, SUM_USE_MUTEX, SUM_USE_RWLOCK, SUM_USE_CONDVAR, SUM_USE_SEMAPHORE,
	SUM_USE_BARRIER, SUM_USE_JOIN,
	SUM_USES
};
enum sum_lock_use sum_lock_use(const struct sum_lock *l);
/* "mutex", "rwlock", "condvar", "semaphore", "barrier", "join"; "" for unknown */
const char *sum_lock_use_name(enum sum_lock_use use);
/*
 * A wait that is not for one another: a thread's end, threads that each waited
 * once (idle workers; not at a mutex or rwlock, where that is a long hold), or
 * one that nobody ever ended but a timeout. Tables put these behind the others.
 */
bool sum_lock_parked(const struct sum_lock *l);

/*
 * A lock's waits and their time shared out to its sites by their samples, so that
 * the parts add up to the whole: sum_lock_share for each of the sites, in order.
 * .all 0: there is nothing to go by.
 */
struct sum_shares {
	const struct sum_lock *lock;
	uint64_t all, before;	/* samples: of all sites, of those that were seen */
};
struct sum_shares sum_lock_shares(const struct sum_lock *l);
void sum_lock_share(struct sum_shares *shares, const struct sum_site *site, uint64_t *waits,
		    uint64_t *wait_ns);

struct sum_futex {
	uint64_t calls;		/* futex, futex_waitv, futex_wait, futex_wake, futex_requeue */
	uint64_t waits, wakes, wasted_wakes, eagain, timeouts, requeued;
	uint64_t addresses;	/* distinct locks seen */
	/* by operation: "wait", "wake", "wait_bitset", … */
	struct sum_futex_op { const char *name; uint64_t calls, errors; } *op;
	size_t nop;
};

enum sum_pipe_kind { SUM_PIPE, SUM_FIFO, SUM_SOCKETPAIR, SUM_EVENTFD };
/* "pipe", "fifo", "socketpair", "eventfd" */
const char *sum_pipe_kind_name(enum sum_pipe_kind k);

struct sum_pipe_end {
	pid_t tid, tgid;
	char comm[SUM_COMM + 1];
	uint64_t chunks, bytes;
	uint64_t blocked_ns;	/* off the CPU in read or write of this pipe */
	uint64_t blocked;	/* calls that blocked */
	uint64_t eagain;	/* calls that failed with EAGAIN */
	uint64_t futex_calls;	/* futex calls of this thread between its chunks */
	struct hist chunk_bytes;
};

/* One edge: what is written by .writer arrives at .reader. */
/* A process that ran `tape`: what it did inside, as it told at its last batch. */
struct sum_tape {
	pid_t pid;
	char comm[SUM_COMM + 1];
	struct tape_stats stats;
};

struct sum_pipe {
	enum sum_pipe_kind kind;
	uint64_t inode;		/* of the pipe or receiving socket; eventfd: its id */
	uint64_t id;		/* the kernel's, with .sb: tells edges of one inode apart */
	uint32_t sb;
	struct sum_pipe_end *writer, *reader;	/* most bytes first */
	size_t nwriter, nreader;
	uint64_t chunks_written, chunks_read, bytes, bytes_read;
	uint64_t writer_blocked_ns, reader_blocked_ns;
	uint64_t futex_calls;	/* by its ends between chunks */
	double futex_per_chunk;
	/* of written chunks; of read ones when none was written by a traced thread */
	struct hist chunk_bytes;
	/* Which side holds the other up: the reader's when writers block, and the reverse. */
	enum sum_bottleneck { SUM_NEITHER, SUM_WRITER, SUM_READER } bottleneck;
};

const char *sum_bottleneck_name(enum sum_bottleneck b);	/* "neither", "writer", "reader" */

struct sum_errno { int err; uint64_t count; };

struct sum_syscall {
	const char *name;	/* as strace prints it */
	int nr;
	uint64_t calls;		/* also those that never return */
	uint64_t errors;
	struct sum_errno *by_errno;	/* most frequent first */
	size_t nby_errno;
	struct hist wall;	/* .sum is total_ns, .max max_ns */
	uint64_t cpu_ns;	/* wall less the time off the CPU */
};

/* What a thread is blocked in outside of system calls. */
#define SUM_BLOCK_OTHER		"page fault/other"
#define SUM_BLOCK_STOPPED	"stopped"	/* by a signal or a debugger */

struct sum_sched {
	uint32_t cpus;		/* of the machine, online; 0: not known */
	uint64_t oncpu_ns, runnable_ns, blocked_ns;	/* over all traced threads */
	uint64_t switches, voluntary, involuntary, migrations;
	struct hist runq;	/* runnable to on a CPU */
	/* Blocked time by what it waited in: system call name, or one of SUM_BLOCK_*. */
	struct sum_block { const char *name; uint64_t count, total_ns; } *block;
	size_t nblock;
};

struct sum_overhead {
	bool measured;
	int64_t bare_call_ns;		/* getppid without tracing; no cost is below 0 */
	int64_t ns_per_syscall;		/* added to a traced getppid */
	int64_t ns_per_futex;		/* added to a futex wake */
	int64_t ns_per_pipe_chunk;	/* added to a write or a read of a pipe */
	int64_t ns_per_start_routine;	/* added to a thread's start; with --start-routine */
	uint64_t ns_in_routine_stage;	/* of that, what falls into SUM_STAGE_ROUTINE */
	uint64_t consumer_cpu_ns;	/* CPU time of the tracer itself while tracing */
};

/* The loss ledger: all that could not be counted, always in JSON, shown when not 0. */
struct sum_loss {
	uint64_t ring_full;	/* events dropped, the ring being full */
	uint64_t map_full;	/* keys not entered, a map being full */
	uint64_t recursion;	/* program runs the kernel skipped */
	uint64_t unpaired;	/* returns without an enter */
	uint64_t stacks;	/* stacks not read, or not unwound */
	uint64_t unknown;	/* events of unknown type or length */
	uint64_t total;
};

struct sum_finding {
	const char *id;		/* "tiny-chunks", "wasted-wakes", … */
	char *text;		/* one sentence with its figures */
	char *advice;		/* what to do about it */
	double severity;	/* seconds or share it costs; sorts, largest first */
	struct sum_evidence { const char *name; double value; } *evidence;
	size_t nevidence;
};

/* How many of the rules could be judged by what was collected. */
struct sum_judged {
	unsigned int rules, judged;
	unsigned int by_mode;		/* of those that were not: for exact mode alone */
	unsigned int by_collect;	/* for a collector that did not run */
};

struct sum_collector { const char *name, *way; };	/* "syscalls", "tp_btf" */

struct summary {
	const char *tracer_version;
	char **command;		/* NULL-terminated; NULL for attach */
	pid_t *pids;		/* attached to; NULL for run */
	size_t npids;
	const char *comm;	/* --comm, --cgroup; NULL: not asked for */
	const char *cgroup;
	const char *calls;	/* -e: .syscall holds only these; NULL: not asked for */
	const char *const *paths;	/* -P: and only calls on these files */
	size_t npaths;
	bool has_exit;		/* run: the command ended */
	int exit_code, exit_signal;	/* signal 0: it exited */
	enum sum_mode mode;
	unsigned int collected;
	uint64_t duration_ns;
	uint64_t started_realtime_ns;	/* wall clock at the start, since 1970 */
	uint64_t still_running;	/* traced threads alive when the trace ended */
	uint64_t hidden;	/* programs left out for having rights that the user has not */
	uint64_t mmap_bytes;	/* anonymous memory that was mapped; exact mode, else 0 */
	uint64_t compat_calls;	/* 32-bit system calls, counted but not named */
	struct sum_finding *finding;	/* most severe first */
	size_t nfinding;
	struct sum_judged judged;	/* all 0: nobody judged */
	struct sum_threads threads;
	struct sum_lock *lock;	/* wait.sum, largest first */
	size_t nlock;
	struct sum_futex futex;
	struct sum_pipe *pipe;	/* bytes, largest first */
	size_t npipe;
	struct sum_tape *tape;	/* chunks, largest first */
	size_t ntape;
	struct sum_syscall *syscall;	/* wall.sum, largest first */
	size_t nsyscall;
	struct sum_sched sched;
	struct sum_overhead overhead;
	struct sum_loss loss;
	struct sum_collector *collector;
	size_t ncollector;
};

void summary_init(struct summary *s);
/* No thread was traced: none matched, or all were left out. */
bool summary_is_empty(const struct summary *s);
void summary_release(struct summary *s);

#endif
