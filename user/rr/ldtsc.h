/* SPDX-License-Identifier: MIT */
#ifndef RR_LDTSC_H
#define RR_LDTSC_H

/*
 * The dynamic linker reads the time stamp counter for LD_DEBUG=statistics and keeps what it
 * read, so that memory would differ from run to run: in @pid, which has just been given its
 * image @maps, these instructions become ones that do nothing. They go into @f, behind the maps.
 */
#include <sys/types.h>

#include "base/err.h"
#include "rr/procmaps.h"
#include "rr/recfile.h"

/* -errno with words. */
int ldtsc_silence(pid_t pid, const struct procmaps *maps, struct recfile *f, struct err *err);

#endif
