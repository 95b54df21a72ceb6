/* SPDX-License-Identifier: MIT */
#ifndef CMD_REPLAY_PACK_H
#define CMD_REPLAY_PACK_H

#include "base/err.h"
#include "cmd/replay_opts.h"

/* `pack`: its exit code, or -errno with words. */
int replay_pack(const struct replay_opts *o, struct err *err);

#endif
