/* SPDX-License-Identifier: MIT */
#ifndef SHARED_RR_H
#define SHARED_RR_H

/*
 * The events of a recording: as the BPF programs put them into their ring, and as they lie in
 * a recording's chunks (docs/formats/recording.md). All of them are multiples of eight bytes,
 * begin with struct rr_head, and are in the order in which things happened: what is recorded
 * runs on one CPU.
 */
#include "shared/rr_call.h"

enum rr_type {
	RR_EV_CALL = 1,		/* a system call returned: struct rr_ev_call, pieces */
	RR_EV_PIECES,		/* the same call's first pieces, when they are many */
	RR_EV_SIGNAL,		/* a handler is about to run: struct rr_ev_signal */
	RR_EV_FORK,		/* a thread or process began: struct rr_ev_fork */
	RR_EV_SWITCH,		/* another thread runs: struct rr_ev_switch */
	RR_EV_EXIT,		/* a thread ended: struct rr_ev_exit */
	RR_EV_EXEC,		/* a new image: struct rr_ev_exec, then maps and pieces */
	RR_EV_MAP,		/* a mapping, of a new image or made by the call before */
	RR_EV_MEMORY,		/* of a new image: struct rr_head, pieces */
	RR_EV_SUMS,		/* of memory behind the call before: struct rr_head, rr_sums */
	RR_EV_FILE,		/* the call before changed a file that is mapped: rr_ev_file */
	RR_EV_INSN,		/* an instruction got a result that no other would: rr_ev_insn */
	RR_EV_TYPES
};

/* Of .flags. */
#define RR_FLAG_STDOUT	1	/* the call wrote to what was the program's output at its start */
#define RR_FLAG_STDERR	2
#define RR_FLAG_FILE	4	/* the call mapped a file: RR_EV_MAP follows */
#define RR_FLAG_WROTE	8	/* it changed a file that is mapped: RR_EV_FILE follows */
#define RR_FLAG_BULK	16	/* in the ring alone: some of its pieces are elsewhere */

struct rr_head {
	u32 bytes;	/* with this head */
	u16 type, flags;
	u32 tid;	/* as the recorder knows it */
	u32 zero;
};

/* .bytes of memory at .addr follow, then zeros up to a multiple of eight. */
struct rr_piece {
	u64 addr;
	u32 bytes;
	u32 elsewhere;	/* 0; in the ring alone: too much for it, and still to be read */
};

struct rr_ev_call {
	struct rr_head head;
	u32 nr;
	/*
	 * Of one that wrote to the output: the sum of that (rr_sum.h), 0 where it could not be
	 * read. Of mmap: other mappings by which what it mapped can be changed.
	 */
	u32 told;
	s64 ret;
	u64 ip;
	u64 arg[6];
};

/* struct user_regs_struct, <sys/user.h>. */
#define RR_NREGS 27

/*
 * A point between calls: the registers in the order of the kernel's pt_regs. Pieces follow the
 * event that holds it, of what the stack, and what the registers, the stack and the code there
 * point to, held then: by these the same instruction in two rounds of a loop is told apart.
 * There are none where the thread stands behind a call.
 */
struct rr_place {
	u64 r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, ip, flags, sp;
};
/* Their numbers. */
enum rr_place_reg {
	RR_PLACE_R15, RR_PLACE_R14, RR_PLACE_R13, RR_PLACE_R12, RR_PLACE_BP, RR_PLACE_BX,
	RR_PLACE_R11, RR_PLACE_R10, RR_PLACE_R9, RR_PLACE_R8, RR_PLACE_AX, RR_PLACE_CX,
	RR_PLACE_DX, RR_PLACE_SI, RR_PLACE_DI, RR_PLACE_IP, RR_PLACE_FLAGS, RR_PLACE_SP,
	RR_PLACE_REGS
};

#define RR_STACK_BYTES	1024	/* of the stack, from RR_STACK_BELOW below its pointer: */
#define RR_STACK_BELOW	128	/* the red zone */
#define RR_BLOCK	512	/* of what is pointed to, and aligned to it */
#define RR_BLOCKS	40

#define RR_SIGINFO_BYTES 48	/* of its 128, the rest is zeros */

/*
 * All that the frame is made of that the program's own registers and memory do not say. Pieces
 * follow.
 */
struct rr_ev_signal {
	struct rr_head head;
	u32 sig, alt_flags;
	struct rr_place at;	/* what is interrupted */
	u64 handler, sa_flags, restorer, sa_mask;
	u64 blocked;		/* signals, as the frame has them */
	u64 alt_sp, alt_size;
	u64 cr2, trap, error;	/* of the last fault */
	u8 info[RR_SIGINFO_BYTES];
};

/* By the thread of the head, which is in its call. */
struct rr_ev_fork {
	struct rr_head head;
	u32 child;
	u32 child_own, child_seen;	/* as it, as its parent knows it: pid namespaces */
	u32 zero;
};

/*
 * Where the thread of the head was when .next began to run in its place: .at, or in a call.
 * Pieces follow.
 */
struct rr_ev_switch {
	struct rr_head head;
	u32 next, in_call;
	struct rr_place at;	/* not there with .in_call */
};
#define RR_SWITCH_SHORT 24	/* without .at */

#define RR_EXIT_ALL 1	/* of .head.flags: the whole process ends, and .code is its own */

struct rr_ev_exit {
	struct rr_head head;
	u32 code;		/* as wait(2) tells it */
	u32 asked;		/* by a call of its own, not of another thread or a signal */
	u32 process, zero;	/* the id of the thread's process */
};

/* The registers at the first instruction, and where the kernel's own pages were. */
struct rr_ev_exec {
	struct rr_head head;
	u64 reg[RR_NREGS];
	u64 vdso;		/* a page that the program leaves alone */
	u64 stack_low, stack_high;	/* as far down as the stack may grow; 0: no limit */
	u32 former;		/* the id that the thread had before, if not that of the process */
	u32 cpu;		/* the processor it is recorded on */
};

/*
 * The instruction at .ip was one of rr_insn.h, and was replaced. Behind it registers were as in
 * .then; it changed those of .changed, in bits of their numbers there.
 */
struct rr_ev_insn {
	struct rr_head head;
	u64 ip;
	u32 changed, zero;
	struct rr_place then;
};

/*
 * .bytes from .offset on have been written to a file, which has .size bytes now: .data_bytes
 * follow, then zeros up to a multiple of eight; none where all are zeros.
 */
struct rr_ev_file {
	struct rr_head head;
	u64 dev, ino, size, offset;
	u32 bytes, data_bytes;
};

#define RR_MAP_SHARED	1

/* .path_bytes of the file's name follow, then zeros up to a multiple of eight. */
struct rr_ev_map {
	struct rr_head head;
	u64 start, end, offset;
	u32 prot, flags;
	u64 dev, ino, size, mtime_ns, ctime_ns;	/* of the file; 0: it has none */
	u32 path_bytes;
	u32 copy;		/* the recording's own copy of it; 0: none */
};

/*
 * The sums of .pages pages of memory from .start on: a u32 each, and zeros up to a multiple of
 * eight. Before them are .name_bytes of the mapping's name, padded too, where one begins.
 */
struct rr_sums {
	u64 start;
	u32 pages;
	u16 flags, name_bytes;
};
#define RR_SUMS_NAME	1	/* of .flags: a mapping begins, and this is its name */
#define RR_SUMS_ZEROS	2	/* all of it is zeros, which have no sums */
#define RR_SUM_NONE	0	/* of a page that cannot be read: behind the end of its file */

_Static_assert(sizeof(struct rr_sums) == 16, "as docs/formats/recording.md says");
_Static_assert(sizeof(struct rr_head) == 16, "as docs/formats/recording.md says");
_Static_assert(sizeof(struct rr_ev_call) == 88, "as docs/formats/recording.md says");
_Static_assert(sizeof(struct rr_ev_map) % 8 == 0, "events are multiples of eight bytes");
_Static_assert(sizeof(struct rr_ev_exec) % 8 == 0, "events are multiples of eight bytes");

/* ---- between the recorder and its BPF programs ------------------------------ */

#define RR_RING_BYTES (16u << 20)

struct rr_config {
	u64 out_ino[2];		/* of stdout and stderr; 0: others may open it and mean others */
	u32 out_dev[2];		/* as the kernel has it */
	u32 wake_each, zero;	/* the recorder looks at memory behind each call */
};

/*
 * A file that the call of the next event mapped, for the recorder alone. .name_bytes of names
 * follow, from the file's own up to the one below the root, each with a zero behind it.
 */
#define RR_EV_MAPPED 256
struct rr_ev_mapped {
	struct rr_head head;
	u64 ino, size, mtime_ns, ctime_ns;
	u32 dev;		/* as the kernel has it */
	u32 name_bytes;		/* 0: it has none, or none any more */
};
#define RR_MAPPED_SYSTEM 1	/* of .flags: it is a package's, and is not looked at */

/* The thread of the head is at an instruction that was replaced: struct rr_head, as above. */
#define RR_EV_REPLACED 257

#define RR_NAMES_MOST	40	/* directories in a path, and the file */
#define RR_NAME_BYTES	256	/* of each, with the zero */

/* Where packages put files, which they replace and do not change: below the root. */
#define RR_NSYSTEM 5
#define RR_SYSTEM_BYTES 8
static const char rr_system_dirs[RR_NSYSTEM][RR_SYSTEM_BYTES] = {
	"usr", "lib", "lib64", "bin", "sbin"
};

enum rr_refusal {
	RR_REFUSED_CALL,	/* what it did is not known */
	RR_REFUSED_COMPAT,	/* it was one of 32-bit code */
	RR_REFUSED_MEMORY,	/* it wrote into memory by way of /proc/PID/mem */
};

#define RR_NSIGNALS 32		/* the ordinary ones */

/*
 * Keys of the map of places, each of which begins with an event of RR_POINT_BYTES at most: where
 * the CPU was lost, where a signal came.
 */
enum { POINT_SWITCH, POINT_SIGNAL, POINTS };
#define RR_POINT_BYTES 32768u

struct rr_counts {
	u64 lost;		/* events that found the ring full: the recording ends there */
	u64 unread;		/* pages of outputs that could not be read */
	u64 refused_nr, refused_arg;	/* the call that ended it, and its second argument */
	u32 refused_tid;		/* 0: none did */
	u32 refused_why;	/* enum rr_refusal */
	u32 missed_tid;		/* at a replaced instruction, whose signal was not held back; 0 */
	u32 stands;		/* who lost the CPU last, at a call's end; 0: not there */
	u32 alive;		/* threads that are recorded */
	u32 level;		/* of pid namespaces, where the recorder is */
	u32 recorder;		/* its id, from outside of them */
	u32 first;		/* process to be recorded, as the recorder knows it; 0: none yet */
	u32 begun;		/* it has been seen */
	u64 out_file[2];	/* struct file of the first one's stdout and stderr */
	u64 mounts;		/* the mount namespace of the recorder */
	u64 runs;		/* how often one of the recorded got the CPU */
	u32 place_tid, place_bytes;	/* who lost it last, where; 0 bytes: in a call */
	u64 sent_ns[RR_NSIGNALS];	/* when others last sent it a signal; CLOCK_MONOTONIC */
};

/* A thread that is recorded, of those there are. */
struct rr_recorded {
	u32 tid, pid, stopped, zero;
	char comm[16];
};

#endif
