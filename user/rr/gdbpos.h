/* SPDX-License-Identifier: MIT */
#ifndef RR_GDBPOS_H
#define RR_GDBPOS_H

/*
 * A point of a replay: an event, and the way from where its thread begins to run for it, told
 * by things that can be counted without a counter of instructions. With no way it is before
 * the event.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/rr.h"

enum gdb_link_kind {
	GDB_STEPS,		/* .count instructions */
	GDB_BREAK,		/* the .count-th time that the one at .addr is next */
	GDB_WATCH,		/* the .count-th time that .bytes at .addr are written, or .type */
	GDB_PLACE,		/* the first time that all is as in .place */
	GDB_SIGNAL,		/* where the event's signal, or the end, met the thread */
	GDB_END,		/* behind the last instruction that is run for the event */
};

#define GDB_PLACE_STACK 256

struct gdb_link {
	enum gdb_link_kind kind;
	char type;		/* of a watchpoint, as in Z packets */
	uint64_t addr, bytes, count;
	struct rr_place place;
	size_t stack_bytes;	/* of .stack: 0, it could not be read */
	struct {
		struct rr_piece piece;
		unsigned char bytes[GDB_PLACE_STACK];
	} stack;
};

struct gdb_pos {
	uint64_t event;
	struct gdb_link *link;
	size_t n, cap;
};

void gdb_pos_release(struct gdb_pos *p);
/* These give 0 or -ENOMEM. */
int gdb_pos_copy(struct gdb_pos *to, const struct gdb_pos *from);
int gdb_pos_add(struct gdb_pos *p, const struct gdb_link *l);
/* As a link of steps, or more of those that are the last. */
int gdb_pos_add_steps(struct gdb_pos *p, uint64_t steps);

#endif
