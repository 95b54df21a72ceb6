/* SPDX-License-Identifier: MIT */
#ifndef COLLECT_LIVE_TAPES_H
#define COLLECT_LIVE_TAPES_H

/* Tapes (user/tape) among the traced processes. */
#include "out/summary.h"

struct bpf_link;
struct bpf_program;
struct live;

/* Where a tape of this installation tells its figures; -ENOENT: there is none. */
int live_tapes_attach(struct bpf_program *prog, struct bpf_link **link);
/*
 * @text is a word of the command, or the name of what was just executed: when a tape is in
 * it, the probe is put. Taking it away waits for the kernel some 20 ms at the end, more on a
 * busy machine, which who runs no tape is not to pay. One that cannot be put is let be: the
 * pipes are seen all the same. Tables without programs have none to put.
 */
void live_tapes_look(struct live *l, const char *text);
/* What those that were seen told last, most chunks first; 0 or -ENOMEM, -errno. */
int live_fill_tapes(struct live *l, struct summary *s);

#endif
