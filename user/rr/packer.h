/* SPDX-License-Identifier: MIT */
#ifndef RR_PACKER_H
#define RR_PACKER_H

/* Copies into a recording what it knows by name and time alone. */
#include <stdint.h>

#include "base/err.h"

struct packer_opts {
	const char *dir;
	/* Before each file, and how much was copied by then; may be NULL. */
	void (*progress)(void *ctx, uint64_t done, uint64_t of, uint64_t bytes);
	/* A file that cannot be had, or is damaged: the others are packed. */
	void (*warn)(void *ctx, const struct err *why);
	void *ctx;
};

struct packer_result {
	uint64_t files, bytes;	/* in the recording now, of those that were not */
	uint64_t fresh;		/* of them, packed by this call */
	uint64_t failed;	/* files that .warn was told of */
};

/*
 * 0; -EBUSY: it is being recorded; -ENOSPC, ... with words: nothing has changed. Waits where
 * another packs the same. What is interrupted or killed leaves the recording as it was.
 */
int packer_run(const struct packer_opts *opts, struct packer_result *result, struct err *err);

#endif
