/* SPDX-License-Identifier: MIT */
#ifndef SHARED_LIVE_H
#define SHARED_LIVE_H

/*
 * What the BPF programs of run, attach and top share with userspace: their
 * configuration, the values of their maps, and the events of their ring. Both
 * compilers read this file. Times are CLOCK_MONOTONIC nanoseconds; thread ids
 * are those of the tracer's pid namespace.
 */
#ifndef __bpf__
#include <stdint.h>
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;
#endif

#include "shared/hist.h"
#include "shared/tape.h"

#define LIVE_COMM	16
#define LIVE_NR_CALLS	512	/* x86_64's numbers end below 480 (6.18) */
#define LIVE_NR_CALIB	(LIVE_NR_CALLS - 1)	/* slot of the tracer's own measuring */
#define LIVE_NR_OTHER	(LIVE_NR_CALLS - 2)	/* past the table; waits outside a call */
#define LIVE_NR_STOPPED	(LIVE_NR_CALLS - 3)	/* no wait: stopped by a signal or a debugger */
#define LIVE_STACK_BYTES 4096
#define LIVE_KERNEL_FRAMES 32	/* of a sample, at most */
#define LIVE_TAPES	1024	/* processes that run `tape`, of which figures are kept */
#define LIVE_PATHS	4	/* -P PATH, at most */
#define LIVE_PATH_BYTES	128

/* Collectors, the bits of cfg.collect. */
enum {
	LIVE_SYSCALLS	= 1 << 0,
	LIVE_THREADS	= 1 << 1,
	LIVE_FUTEX	= 1 << 2,
	LIVE_PIPES	= 1 << 3,
	LIVE_SCHED	= 1 << 4,
};

/* What a system call is to the collectors: a row of cfg's table for each. */
enum live_class {
	CALL_PLAIN,
	CALL_FUTEX,	/* futex(uaddr, op, …) */
	CALL_FUTEX2,	/* futex_waitv, futex_wait, futex_wake, futex_requeue */
	CALL_READ,	/* reads from its first argument */
	CALL_WRITE,	/* writes to its first argument */
	CALL_READ_MANY,	/* recvmmsg: fills in how long each message is */
	CALL_WRITE_MANY,	/* sendmmsg: the same */
	CALL_SPLICE,	/* from its first to its third: splice */
	CALL_TEE,	/* from its first to its second: tee */
	CALL_SENDFILE,	/* from its second to its first: sendfile */
	CALL_EVENTFD,	/* eventfd, eventfd2: one is made */
	CALL_CLONE,	/* clone, clone3, fork, vfork */
	CALL_STACK,	/* mmap, mprotect, munmap, madvise: a thread's stack */
	CALL_MASK,	/* rt_sigprocmask: both sides of a clone */
	CALL_SETUP,	/* rseq, set_robust_list: a thread before its routine */
	CALL_EXIT,	/* exit */
	CALL_RESTART,	/* restart_syscall: the rest of a wait that a signal broke off */
	CALL_CLASSES
};
#define CALL_OFF	0x80	/* not asked for: -e */
#define CALL_ON_WAY	0x40	/* kept account of in the calls on a thread's way */

/* Futex operations after the 14 of futex(2), for the table by operation. */
enum {
	LIVE_FUTEX_WAITV = 14,
	LIVE_FUTEX2_WAIT,
	LIVE_FUTEX2_WAKE,
	LIVE_FUTEX2_REQUEUE,
	LIVE_FUTEX_OPS
};

struct live_config {
	u32 collect;
	u8 exact;		/* system call tracepoints are attached */
	u8 timeline;		/* slices go to the ring */
	u8 stacks;		/* futex waits are sampled with their stacks */
	u8 filter;		/* there is a filter to match new processes against */
	u8 comm_filter, cgroup_filter, path_filter, uid_filter;
	u8 switch_has_state;	/* sched_switch's fourth argument: Linux 5.18 */
	u8 targets_only;	/* the filter narrows the targets; else it chooses alone */
	u8 routines;		/* start routines are timed */
	u8 user_filter;		/* only processes of .user */
	u32 uid, gid;		/* the tracer's own, for .uid_filter */
	u64 own_caps;		/* what the user has without the tracer's file, a bit each */
	u32 user;
	u32 watch_rows;		/* of map "seen" */
	u8 watch;		/* for a live view */
	u8 kernel_frames;	/* samples have the kernel's part of their stacks too */
	u8 pad[6];
	u64 cgroup_id;
	u32 cgroup_level;
	u32 npaths;
	u64 slice_min_ns;	/* shorter calls make no slice */
	u64 path_ino[LIVE_PATHS];	/* 0: the path names nothing */
	u32 path_dev[LIVE_PATHS];
	char path[LIVE_PATHS][LIVE_PATH_BYTES];
};

/* The tracer itself, as the kernel knows it: no file shows it inside a namespace. */
struct live_self {
	u32 tgid;		/* in the first pid namespace; never traced, nor what it begins */
	u32 ns_level, ns_inum;	/* of the tracer's pid namespace */
	u32 pipe_fd, event_fd, pad;	/* a pipe and an eventfd of the tracer's, to learn from: */
	u64 pipe_sb;		/* where pipes are; a FIFO is elsewhere */
	u64 event_fops;		/* what an eventfd is known by */
	u64 user_ns;		/* the tracer's user namespace */
	u64 since_ns;		/* when that was learnt */
};

/* Counted by BPF in .bss; the loss ledger's sources among them. */
struct live_counts {
	u64 threads_created, threads_exited;
	u64 procs_created, procs_exited;
	u64 live, live_peak;
	u64 ring_full, map_full, unpaired, stacks, compat;
	u64 last_space;		/* address spaces numbered so far */
	u64 hidden;		/* programs that were left out for having others' rights */
	u64 moved;		/* processes between cgroups: all their threads may match now */
	u64 mmap_bytes;		/* anonymous memory that was mapped; exact mode */
	u64 closing;		/* the trace is ending: who is born now is not part of it */
};

/* Map "targets": a value for the tracer's own child before its exec. */
#define LIVE_TARGET_OWN	1

/* Map "calls": per CPU, by number. */
struct live_call {
	u64 calls, errors;
	u64 total_ns, max_ns, off_ns;	/* off: the part not on a CPU */
	u64 blocked, blocked_ns;	/* times it gave up the CPU to wait */
	u64 way, way_ns;		/* of .calls, those on a thread's way */
	u32 hist[HIST_BUCKETS];
};

/* Map "errnos": per CPU. */
struct live_errno_key { u16 nr, err; };

/* Map "futexes". A shared futex is merged by (dev, ino, off) in userspace. */
struct live_futex_key { u64 addr; u32 space, pad; };

#define FUTEX_IS_SHARED	1
#define FUTEX_IS_PI	2
#define FUTEX_IS_JOIN	4

struct live_futex {
	u64 waits, blocked, timeouts, eagain;
	u64 wakes, woken, wasted, requeued;
	u64 wait_ns, wait_max, samples;
	u64 ino, off;		/* of a shared mapping; ino 0: unknown or private */
	u32 dev, flags;
	u32 tgid;
	u32 open;		/* one side of an edge, the other not known yet; OPEN_WAKER */
	u32 hist[HIST_BUCKETS];
};
#define OPEN_WAKER 0x80000000u	/* it is the waker's: thread ids are below 2^22 */

/* Map "edges": who woke whom at which futex. */
struct live_edge_key { u64 addr; u32 space, waker, waiter, pad; };

/* Map "futex_ops": per CPU, by operation. */
struct live_futex_op { u64 calls, errors; };

/* Map "ends": one thread's side of one pipe; written by that thread alone. */
#define END_READ	0
#define END_WRITE	1
#define END_CALIB	2
#define END_AHEAD	4	/* to a socket not accepted yet: .sb is the writing socket's */
enum { END_PIPE = 1, END_SOCKET, END_EVENTFD };

struct live_end_key {
	/*
	 * An inode number, the receiving sock, the eventfd's context; the last two
	 * are addresses, which the kernel gives away again after a close.
	 */
	u64 id;
	u32 sb;			/* which file system, hashed; the socket's inode; which eventfd */
	u32 tid;
	u8 kind, dir, pad[6];
};

struct live_end {
	u64 chunks, bytes, chunk_max, blocked_ns, blocked, eagain, futex_calls;
	u64 inode;		/* sockets: of the one that writes; 0: not known */
	u64 since_ns;		/* live view: its thread waits there since then; 0 */
	u32 tgid;
	u8 fifo, pad[3];
	u32 hist[HIST_BUCKETS];
};

/* Map "sched": per CPU, one row. */
struct live_sched {
	u64 migrations;
	u64 runq_ns, runq_max;
	u32 hist[HIST_BUCKETS];	/* runnable to on a CPU */
};

enum live_stage {
	STAGE_STACK, STAGE_CLONE, STAGE_WAKEUP, STAGE_START, STAGE_SETUP, STAGE_ROUTINE,
	STAGE_EXIT, STAGE_JOIN,
	LIVE_STAGES
};

/* ---- the ring ---- */
enum live_event {
	EV_NONE,
	EV_THREAD,	/* a thread ended, or is alive at the end of the trace */
	EV_EXEC,	/* a process has a new image */
	EV_JOIN,	/* a join came back */
	EV_STACK,	/* a futex wait with its stack */
	EV_SLICE,	/* timeline: a call, a wait, a stay on a CPU */
	EV_BIRTH,	/* timeline, start routines: a thread began */
	EV_ROUTINE,	/* a thread's start routine begins */
	EV_TYPES
};

struct live_head {
	u16 type, len;	/* len: of the whole event */
	u32 tid;
	u64 ts;
};

#define THREAD_PROCESS	1	/* made by fork, not a thread of its creator's process */
#define THREAD_CREATED	2	/* began while traced */
#define THREAD_ENDED	4
#define THREAD_CALIB	8	/* never counted: before run's exec, or filtered */
#define THREAD_IN_CALL	16

struct live_thread {
	struct live_head head;
	u32 tgid, parent, space, flags;
	char comm[LIVE_COMM];
	u64 start_ns, end_ns;	/* end 0: alive */
	u64 stage_ns[LIVE_STAGES];
	u64 calls, futex_calls, futex_wait_ns;
	u64 oncpu_ns, runnable_ns, blocked_ns;
	u64 voluntary, involuntary;
	u64 call_enter_ns, call_addr;	/* IN_CALL: since when, futex address */
	u32 call_nr, pad;
};

struct live_regs { u64 ax, bx, cx, dx, si, di, bp, sp, r8, r9, r10, r11, r12, r13, r14, r15, ip; };

/* What the iterator says of a thread at the trace's end; not in the ring. */
struct live_alive {
	struct live_thread thread;
	struct live_regs regs;	/* of a futex wait: THREAD_IN_CALL with an address */
	u32 nkernel, pad;	/* not 0: LIVE_KERNEL_FRAMES words follow, so many are addresses */
};

/*
 * Map "seen": a thread's row in the memory that a live view reads, as of its last
 * switch. Row 0 is nobody's.
 */
enum { SEEN_PROCESS = 1, SEEN_CREATED = 2 };
enum { SEEN_RUNNING, SEEN_RUNNABLE, SEEN_BLOCKED, SEEN_BORN };

struct live_seen {
	u32 tid;		/* 0: nobody, or a filter leaves it out */
	u16 flags;
	u16 state;
	u64 since_ns;		/* in .state, CLOCK_MONOTONIC */
	u64 woken_ns;		/* BLOCKED and woken then: runnable; 0 */
	u64 start_ns;
	u64 oncpu_ns, runnable_ns, blocked_ns;	/* until .since_ns */
	u64 lock_ns, calls, switches;
	u64 lock_addr;		/* BLOCKED in a futex wait */
	u32 tgid, space;
	u32 block_nr;		/* BLOCKED: the call */
	u32 lock_val;		/* BLOCKED in a futex wait: what its word was to be */
	char comm[LIVE_COMM];
};

/* Map "ended": by process, what its threads that have ended came to. */
struct live_ended {
	u64 oncpu_ns, runnable_ns, blocked_ns, lock_ns, calls, switches;
	u64 ended, created;	/* threads; of them, those that began while traced */
	char comm[LIVE_COMM];	/* of the last of them */
};

struct live_exec {
	struct live_head head;
	u32 tgid, space;
	char comm[LIVE_COMM];
};

struct live_join {
	struct live_head head;	/* tid: the joiner */
	u32 dead, space;	/* the thread that was joined */
	u64 addr, latency_ns;
};

struct live_stack {
	struct live_head head;
	u32 tgid, space;
	u64 addr, wait_ns;
	struct live_regs regs;
	u32 bytes, woke;	/* woke: taken at a wake, not at a wait */
	u32 nkernel, pad;
	u64 kernel[LIVE_KERNEL_FRAMES];	/* where in the kernel it waits, innermost first */
	u8 stack[LIVE_STACK_BYTES];
};

enum { SLICE_CALL = 1, SLICE_BLOCKED, SLICE_ONCPU };

struct live_slice {
	struct live_head head;	/* ts: its end */
	u64 dur_ns;
	u64 arg;		/* futex address, pipe inode, first argument */
	s64 ret;
	u32 tgid, nr, kind, waker;
};

struct live_birth {
	struct live_head head;
	u32 tgid, parent, flags, space;
	char comm[LIVE_COMM];
};

struct live_routine {
	struct live_head head;
	u32 tgid, space, flags, pad;
	u64 addr;		/* of the routine; THREAD_CALIB: the time before the call */
};

#define LIVE_LAYOUT(type, bytes) \
	_Static_assert(sizeof(struct type) == (bytes), #type " is shared: its size is fixed")
LIVE_LAYOUT(live_head, 16);
LIVE_LAYOUT(live_thread, 216);
LIVE_LAYOUT(live_alive, sizeof(struct live_thread) + sizeof(struct live_regs) + 8);
LIVE_LAYOUT(live_seen, 120);
LIVE_LAYOUT(live_ended, 80);
LIVE_LAYOUT(live_exec, 40);
LIVE_LAYOUT(live_join, 40);
LIVE_LAYOUT(live_stack, 4544);
LIVE_LAYOUT(live_slice, 56);
LIVE_LAYOUT(live_birth, 48);
LIVE_LAYOUT(live_routine, 40);
LIVE_LAYOUT(live_futex, 744);
LIVE_LAYOUT(live_end, 704);
LIVE_LAYOUT(live_end_key, 24);
LIVE_LAYOUT(live_call, 696);

/* The value of map "tapes", by process: what it told at its last batch. */
struct live_tape {
	struct tape_stats stats;
	char comm[LIVE_COMM];
};
_Static_assert(sizeof(struct live_tape) == sizeof(struct tape_stats) + LIVE_COMM, "no holes");

#endif
