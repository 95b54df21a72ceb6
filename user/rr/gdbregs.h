/* SPDX-License-Identifier: MIT */
#ifndef RR_GDBREGS_H
#define RR_GDBREGS_H

/* Registers as GDB numbers, describes and sends them. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

#include "base/buf.h"

/* A thread's: general ones, and an XSAVE area. */
struct gdb_regs {
	struct user_regs_struct general;
	unsigned char xstate[16384] __attribute__((aligned(64)));
	size_t xstate_bytes;
};

#define GDB_REGS_BYTES 1024	/* more than all of them take */

/* How many there are; with AVX or without, as this machine has it. */
size_t gdbregs_count(void);
/* The target description: XML. */
void gdbregs_describe(struct buf *out);
/* The value of register @n into @to, 16 bytes at most: how many; 0: there is no such. */
size_t gdbregs_get(const struct gdb_regs *r, size_t n, void *to);
/* What there are of @bytes bytes into it; false: it cannot be set. */
bool gdbregs_set(struct gdb_regs *r, size_t n, const void *from, size_t bytes);

#endif
