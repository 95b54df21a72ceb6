/* SPDX-License-Identifier: MIT */
#ifndef COLLECT_LIVE_ROUTINE_H
#define COLLECT_LIVE_ROUTINE_H

/*
 * --start-routine: puts the probe into the C libraries that traced processes
 * use, and names what their threads began with. All but the first do nothing
 * when the option was not given (l->routines is NULL).
 */
#include "base/err.h"
#include "out/summary.h"
#include "shared/live.h"

struct live;
struct bpf_program;

#define LIVE_ROUTINES 4096	/* most different routines that are named */

/*
 * Probes the tracer's own C library, which is the command's as well, and the
 * call that tells what a hit costs. -errno when the kernel takes no uprobes.
 */
int live_routine_open(struct live *l, struct bpf_program *prog, struct err *err);
/* Takes all probes away; what was seen stays. */
void live_routine_detach(struct live *l);
void live_routine_free(struct live *l);

/* Probes what process @pid maps, as far as it is new. */
void live_routine_look(struct live *l, pid_t pid);
/* The same before it exists, of the program that execvp(@command) would start. */
void live_routine_command(struct live *l, const char *command);

/* EV_BIRTH and EV_EXEC: a process may have a C library that is not probed. EV_ROUTINE. */
void live_routine_event(struct live *l, const struct live_head *head);
/* What the thread of @e began with, as a number for live_fill_routines; 0: not known. */
uint32_t live_routine_of(struct live *l, const struct live_thread *e);

/* Names the routines, and turns the rows' numbers into indices. Before times become relative. */
int live_fill_routines(struct live *l, struct summary *s);

#endif
