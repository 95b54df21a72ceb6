/* SPDX-License-Identifier: MIT */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

/* CLOCK_MONOTONIC in nanoseconds: the clock of bpf_ktime_get_ns(). */
uint64_t clock_mono_ns(void);
/* Nanoseconds since 1970, UTC. */
uint64_t clock_real_ns(void);
/* CPU time of the calling process, user and system, in nanoseconds. */
uint64_t clock_process_cpu_ns(void);

#endif
