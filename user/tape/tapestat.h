/* SPDX-License-Identifier: MIT */
#ifndef TAPE_TAPESTAT_H
#define TAPE_TAPESTAT_H

/* What one run of the engine came to: docs/formats/tape-json.md has it as --stats prints it. */
#include "shared/tape.h"

/*
 * Called at each batch, and at the end. The USDT probe tracer_tape:batch, whose argument is
 * @stats too, is in it where sys/sdt.h was there to build with; `tracer run` looks for the
 * function (bpf/tape.bpf.c). Nobody looking, it costs a call.
 */
__attribute__((noinline, used)) void tape_batch_probe(const struct tape_stats *stats);

#endif
