/* SPDX-License-Identifier: MIT */
#ifndef SHARED_RR_CALL_H
#define SHARED_RR_CALL_H

/*
 * What a system call does to its caller's memory, and what a replay does in its place: the
 * recorder's BPF programs and the replayer read the same rows, rr_calls.def and rr_commands.def.
 * Arguments are counted from 1, as manuals do.
 */
#ifndef __bpf__
#include <stdint.h>
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t s64;
#endif

#define RR_NR_CALLS	480
#define RR_OUTS		4

enum rr_action {
	RR_REFUSE,	/* not understood: one that succeeds ends the recording */
	RR_EMULATE,	/* not made: result and outputs are the recorded ones */
	RR_MEMORY,	/* changes what is mapped, or the CPU's state: made for real */
	RR_PROCESS,	/* makes, replaces or ends a thread or process, or its registers */
	RR_ABSENT,	/* the recorded program is told that the kernel does not have it */
};

enum rr_kind {
	RR_KIND_NONE,
	RR_KIND_BYTES,		/* .unit bytes */
	RR_KIND_UPTO,		/* as many as the result, at most argument .by, and .more */
	RR_KIND_TIMES,		/* .unit for each of argument .by */
	RR_KIND_BITS,		/* words of 64 bits for a bit each of argument .by */
	RR_KIND_PAGES,		/* a byte for each page of argument .by bytes */
	RR_KIND_RETS,		/* .unit for each of the result */
	RR_KIND_LENGTH,		/* what the u32 at argument .by says */
	RR_KIND_POINTED,	/* .unit bytes where the pointer at .more behind it points */
	RR_KIND_IOV,		/* the result over the argument .by iovecs */
	RR_KIND_IOV_WHOLE,	/* all of them whole: more than the result may be written */
	RR_KIND_MSGHDR,		/* a struct msghdr and all that it points to */
	RR_KIND_MSGHDRS,	/* as many mmsghdr as the result, each with its own length */
	RR_KIND_IFCONF,		/* what a struct ifconf points to */
	RR_KIND_FIEMAP,		/* a struct fiemap with its extents */
	RR_KIND_COMMAND,	/* by a command in this argument: a row of rr_commands.def */
};

/* When it is written. */
enum rr_when {
	RR_WHEN_OK,		/* the call succeeds */
	RR_WHEN_EVER,
	RR_WHEN_EINTR,
	RR_WHEN_MAYBE,		/* or not at all: memory that may only be read is left */
};

struct rr_out {
	u8 kind, arg, by, when;
	u16 unit, more;
};

struct rr_call {
	u8 action;
	struct rr_out out[RR_OUTS];
};

struct rr_command {
	u16 nr;
	u32 command;
	struct rr_out out[2];
};

#define RR_NOTHING		{ .kind = RR_KIND_NONE }
#define RR_BYTES(a, n)		{ .kind = RR_KIND_BYTES, .arg = a, .unit = n }
#define RR_BYTES_EVER(a, n)	{ RR_KIND_BYTES, .arg = a, .unit = n, .when = RR_WHEN_EVER }
#define RR_BYTES_MAYBE(a, n)	{ RR_KIND_BYTES, .arg = a, .unit = n, .when = RR_WHEN_MAYBE }
#define RR_IF_EINTR(a, n)	{ RR_KIND_BYTES, .arg = a, .unit = n, .when = RR_WHEN_EINTR }
#define RR_UPTO(a, b)		{ .kind = RR_KIND_UPTO, .arg = a, .by = b }
#define RR_UPTO_MORE(a, b, n)	{ .kind = RR_KIND_UPTO, .arg = a, .by = b, .more = n }
#define RR_TIMES(a, n, b)	{ .kind = RR_KIND_TIMES, .arg = a, .unit = n, .by = b }
#define RR_TIMES_EVER(a, n, b)	{ RR_KIND_TIMES, .arg = a, .unit = n, \
	.by = b, .when = RR_WHEN_EVER }
#define RR_BITS(a, b)		{ .kind = RR_KIND_BITS, .arg = a, .by = b }
#define RR_PAGES(a, b)		{ .kind = RR_KIND_PAGES, .arg = a, .by = b }
#define RR_RETS(a, n)		{ .kind = RR_KIND_RETS, .arg = a, .unit = n }
#define RR_LENGTH(a, b)		{ .kind = RR_KIND_LENGTH, .arg = a, .by = b }
#define RR_POINTED(a, at, n)	{ .kind = RR_KIND_POINTED, .arg = a, .more = at, .unit = n }
#define RR_POINTED_EVER(a, at, n)	{ RR_KIND_POINTED, .arg = a, .more = at, \
	.unit = n, .when = RR_WHEN_EVER }
#define RR_IOV(a, b)		{ .kind = RR_KIND_IOV, .arg = a, .by = b }
#define RR_IOV_MAYBE(a, b)	{ RR_KIND_IOV, .arg = a, .by = b, .when = RR_WHEN_MAYBE }
#define RR_IOV_WHOLE(a, b)	{ RR_KIND_IOV_WHOLE, .arg = a, .by = b, .when = RR_WHEN_MAYBE }
#define RR_MSGHDR(a)		{ .kind = RR_KIND_MSGHDR, .arg = a }
#define RR_MSGHDRS(a)		{ .kind = RR_KIND_MSGHDRS, .arg = a }
#define RR_IFCONF(a)		{ .kind = RR_KIND_IFCONF, .arg = a }
#define RR_FIEMAP(a)		{ RR_KIND_FIEMAP, .arg = a, .when = RR_WHEN_EVER }
#define RR_COMMAND(a)		{ .kind = RR_KIND_COMMAND, .by = a }

/* More than is written does no harm: what is recorded is what the memory then holds. */

#endif
