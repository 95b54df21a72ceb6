/* SPDX-License-Identifier: MIT */
#ifndef RR_GDBCONN_H
#define RR_GDBCONN_H

/* A connection to GDB: its packets, and the word that it wants a run to stop. */
#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

struct gdbconn {
	int fd;
	struct buf in, packet, out;
	bool no_ack;		/* GDB does not want packets to be acknowledged */
	bool interrupt;		/* GDB has said so */
};

/* Takes the descriptor of a connected socket over. */
int gdbconn_init(struct gdbconn *c, int fd, struct err *err);
void gdbconn_release(struct gdbconn *c);
/* Waits for a packet: 1, it is in .packet as a string; 0: GDB has gone; -errno with words. */
int gdbconn_read(struct gdbconn *c, struct err *err);
int gdbconn_write(struct gdbconn *c, const char *data, size_t n, struct err *err);

/*
 * While a process runs, what comes from GDB stops it by SIGSTOP. The second of the two says
 * whether that was sent. Between them and otherwise: whether GDB wants a stop, or has gone.
 */
void gdbconn_begin_run(pid_t pid);
bool gdbconn_end_run(void);
bool gdbconn_wants_stop(struct gdbconn *c);

#endif
