/* SPDX-License-Identifier: MIT */
#ifndef RR_REPLAYER_H
#define RR_REPLAYER_H

/* A recording is run again, to its end. */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "base/err.h"

struct replay_debug;

struct replayer_opts {
	const char *dir;
	bool output;		/* the recorded output goes to ours */
	struct replay_debug *debug;	/* NULL: nobody looks on, <rr/replay_state.h> */
	/* It diverges, and process @pid stands there, with these registers; may be NULL. */
	void (*diverged)(void *ctx, pid_t pid, const struct user_regs_struct *regs);
	void *ctx;
};

struct replayer_result {
	int status;		/* of the first process, as wait(2) told it */
	uint64_t events;
};

/* 0; -EILSEQ: it diverged, and words say where; other -errno with words. */
int replayer_run(const struct replayer_opts *opts, struct replayer_result *result,
		 struct err *err);

#endif
