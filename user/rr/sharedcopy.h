/* SPDX-License-Identifier: MIT */
#ifndef RR_SHAREDCOPY_H
#define RR_SHAREDCOPY_H

/*
 * What the shared mappings of one process of a replay hold, while a fork of it, which has the same
 * ones, is tried: within an event none but these two run.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct tracee;

struct sharedcopy_part {
	uint64_t start;
	size_t bytes;
	unsigned char *data;
};

struct sharedcopy {
	struct sharedcopy_part *at;
	size_t n, bytes;
};

/*
 * Keeps what is mapped shared and can be written; nothing of what is more than 256 MiB, and nothing
 * where nothing is shared. sharedcopy_release() after success; -errno with words.
 */
int sharedcopy_take(struct sharedcopy *c, const struct tracee *t, struct err *err);
/* Puts it back, into the same process or a fork of it; -errno with words. */
int sharedcopy_put(const struct sharedcopy *c, const struct tracee *t, struct err *err);
void sharedcopy_release(struct sharedcopy *c);

#endif
