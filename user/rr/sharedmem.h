/* SPDX-License-Identifier: MIT */
#ifndef RR_SHAREDMEM_H
#define RR_SHAREDMEM_H

/* What a replay's shared mappings hold, kept to be put back: a fork does not copy them. */
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct replayer;

struct sharedmem_part {
	int fd;			/* of a file that was mapped, or -1 */
	uint64_t ino, offset, bytes;
	uint64_t start;		/* without a file: in the process of thread .tid */
	uint32_t tid;
	unsigned char *data;
};

struct sharedmem {
	struct sharedmem_part *at;
	size_t n, bytes;
};

/* -EOPNOTSUPP with words: too much, or what could not be put back. */
int sharedmem_keep(struct sharedmem *m, const struct replayer *p, struct err *err);
int sharedmem_put_back(const struct sharedmem *m, const struct replayer *p, struct err *err);
void sharedmem_release(struct sharedmem *m);

#endif
