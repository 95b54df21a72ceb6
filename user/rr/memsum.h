/* SPDX-License-Identifier: MIT */
#ifndef RR_MEMSUM_H
#define RR_MEMSUM_H

/* Sums of all that a process could write to: made as it is recorded, compared as it is replayed. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "shared/rr.h"

/*
 * Whole events of type RR_EV_SUMS of thread @tid's process, which does not run, behind what is
 * in @b. -errno with words; -ESRCH, -ENOENT without any: it has gone.
 */
int memsum_make(struct buf *b, pid_t tid, struct err *err);

struct memsum_diff {
	uint64_t page;		/* the first whose contents differ */
	char name[200];		/* of its mapping, as it was recorded */
};

/* 0; 1: the memory of process @pid is another, and *d says where; -EBADMSG: @h is damaged. */
int memsum_compare(const struct rr_head *h, pid_t pid, struct memsum_diff *d);

/* The next sums of @h behind *at, which begins as 0: 1; 0 at the end; -EBADMSG. */
int memsum_next(const struct rr_head *h, size_t *at, const struct rr_sums **sums,
		const char **name, const uint32_t **sum);

#endif
