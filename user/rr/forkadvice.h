/* SPDX-License-Identifier: MIT */
#ifndef RR_FORKADVICE_H
#define RR_FORKADVICE_H

/* Memory that a fork leaves out or empties, as its process has asked for: madvise(2). */
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct forkadvice_range {
	uint64_t start, end;
	int advice, undo;	/* MADV_* */
};

struct forkadvice {
	struct forkadvice_range *at;
	size_t n;
};

/* Of process @pid, which stands still; forkadvice_release() after success. -errno with words. */
int forkadvice_read(struct forkadvice *f, pid_t pid, struct err *err);
void forkadvice_release(struct forkadvice *f);

#endif
