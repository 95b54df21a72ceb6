/* SPDX-License-Identifier: MIT */
#ifndef RR_GDBPACKET_H
#define RR_GDBPACKET_H

/*
 * The text of GDB's remote serial protocol (its manual, appendix E): packets, and what is in
 * them. Nothing here believes what came: all of it is read within its bounds.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define GDB_PACKET_MAX ((size_t)0x20000)	/* bytes of one, as it is told to GDB */

enum gdb_item {
	GDB_NOTHING,		/* there is no whole one as yet */
	GDB_PACKET,
	GDB_BROKEN,		/* a packet whose checksum is wrong, or that is too long */
	GDB_INTERRUPT,		/* a byte 3 between packets */
	GDB_OTHER,		/* an acknowledgement, or noise */
};

/* The first of the @n bytes that came; *used of them are done with. A packet into @out. */
enum gdb_item gdbpacket_next(const char *in, size_t n, size_t *used, struct buf *out);
/* @n bytes as a packet, behind what is in @out. 0 or -ENOMEM. */
int gdbpacket_add(struct buf *out, const char *data, size_t n);

/* ---- what is in a packet ---------------------------------------------------- */

/* Hexadecimal digits of up to 64 bits, at *s, which moves on; false: there are none. */
bool gdb_number(const char **s, uint64_t *v);
void gdb_add_hex(struct buf *out, const void *data, size_t n);
/* Pairs of digits into @to, @cap bytes at most: how many bytes, or -1. */
long gdb_from_hex(void *to, size_t cap, const char *s);

/* "pPID.TID", "TID"; -1 is all, 0 any. */
struct gdb_thread {
	int64_t pid, tid;
};

bool gdb_thread_id(const char **s, struct gdb_thread *t);

/* One of vCont's, or a packet of one letter. */
struct gdb_action {
	char kind;		/* c, s or r; a signal is left out: it is recorded */
	uint64_t low, high;	/* of r: the range that is stepped through */
	struct gdb_thread thread;
};

/* Of "vCont;..." behind the name: the first that steps, else the first. */
bool gdb_vcont(const char *s, struct gdb_action *a);

/* "TYPE,ADDR,KIND" of Z and z. */
struct gdb_point_id {
	char type;
	uint64_t addr, bytes;
};

bool gdb_point_id(const char *s, struct gdb_point_id *id);

/* "OFFSET,LENGTH" of qXfer. */
bool gdb_range(const char *s, uint64_t *offset, uint64_t *bytes);
/* As qXfer answers: a part of @data, with whether there is more. */
void gdb_add_part(struct buf *out, const char *data, size_t n, uint64_t offset, uint64_t bytes);

/* GDB's number of a signal of Linux, <gdb/signals.def>. */
unsigned int gdb_signal(int sig);
int gdb_signal_of(unsigned int gdb);	/* 0: we have none */

#endif
