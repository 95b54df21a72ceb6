/* SPDX-License-Identifier: MIT */
#ifndef SHARED_TAPE_H
#define SHARED_TAPE_H

/* The figures of a tape, as its process keeps them and as BPF reads them from it. */
#ifndef __bpf__
#include <stdint.h>
#define TAPE_U64 uint64_t
#else
#define TAPE_U64 u64
#endif

struct tape_stats {
	TAPE_U64 version;		/* TAPE_STATS_VERSION */
	TAPE_U64 bytes_in, bytes_out;	/* of the stream */
	TAPE_U64 records;		/* lines, or what ended at NUL */
	TAPE_U64 chunks, chunk_bytes;	/* holes, and what was in them */
	TAPE_U64 batches;		/* hand-overs: to a command, or without one to the output */
	TAPE_U64 reads, writes;		/* system calls on the stream's two ends */
	TAPE_U64 blocked_in_ns;		/* waited for input alone */
	TAPE_U64 blocked_command_ns;	/* waited for a command, or for it and input */
	TAPE_U64 blocked_out_ns;	/* in writes of output */
	TAPE_U64 commands;		/* that were started */
	TAPE_U64 spilled_bytes;		/* the most that was in files at a time */
};

#define TAPE_STATS_VERSION 1

_Static_assert(sizeof(struct tape_stats) == 14 * 8, "as docs/formats/tape.md says");

#endif
