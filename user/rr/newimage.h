/* SPDX-License-Identifier: MIT */
#ifndef RR_NEWIMAGE_H
#define RR_NEWIMAGE_H

/* A process that has just been given a new image by execve, and has not run of it. */
#include <sys/types.h>

#include "base/err.h"
#include "rr/filestore.h"
#include "rr/procmaps.h"
#include "rr/recfile.h"
#include "rr/replaced.h"

/*
 * @pid is in its stop of PTRACE_EVENT_EXEC. Hides the kernel's vdso from it, whose answers
 * nobody could record, and adds to @f all that there is: registers, mappings, memory. Replaces what
 * is to be in its code.
 */
int newimage_record(pid_t pid, struct recfile *f, struct filestore *files,
		    struct replaced *replaced, struct err *err);
/* Adds the mapping @m as thread @tid's. */
int newimage_add_map(uint32_t tid, const struct procmap *m, struct recfile *f,
		     struct filestore *files, struct err *err);

#endif
