/* SPDX-License-Identifier: MIT */
#ifndef COLLECT_STARTPROBE_H
#define COLLECT_STARTPROBE_H

/*
 * Puts the uprobe of --start-routine into the C libraries that traced processes
 * use. What cannot be opened or is no glibc is left alone: its threads are
 * counted as not timed.
 */
#include <sys/types.h>

#include "base/err.h"

struct startprobe;
struct bpf_program;

/*
 * Probes with @prog the tracer's own C library, which is the command's as well,
 * and the call by which the probe's cost is measured (collect/cost.h). NULL
 * with @err: the kernel takes no uprobes, or not from us; ENOMEM.
 */
struct startprobe *startprobe_new(struct bpf_program *prog, struct err *err);
void startprobe_free(struct startprobe *p);
/* Takes all probes away. */
void startprobe_detach(struct startprobe *p);

/* Probes the program and the C library of process @pid, as far as they are new. */
void startprobe_look(struct startprobe *p, pid_t pid);
/* The same of the program that execvp(@command) would start. */
void startprobe_command(struct startprobe *p, const char *command);

#endif
