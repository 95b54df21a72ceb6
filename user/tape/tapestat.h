/* SPDX-License-Identifier: MIT */
#ifndef TAPE_TAPESTAT_H
#define TAPE_TAPESTAT_H

/*
 * What one run of the engine came to: docs/formats/tape.md has it as --stats prints it. A
 * USDT probe, tracer_tape:batch, hands out its address at each batch; fields are only added
 * at the end, and the kernel's side (bpf/tape.bpf.c) reads the first of them.
 */
#include "shared/tape.h"

#ifdef TAPE_HAVE_SDT
#include <sys/sdt.h>
#define TAPE_PROBE_BATCH(stats) DTRACE_PROBE1(tracer_tape, batch, stats)
#else
#define TAPE_PROBE_BATCH(stats) ((void)(stats))
#endif

#endif
