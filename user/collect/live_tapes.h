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
/* What those that were seen told last, most chunks first; 0 or -ENOMEM, -errno. */
int live_fill_tapes(struct live *l, struct summary *s);

#endif
