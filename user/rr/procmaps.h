/* SPDX-License-Identifier: MIT */
#ifndef RR_PROCMAPS_H
#define RR_PROCMAPS_H

/* /proc/PID/maps, and the files that are mapped. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/err.h"

struct procmap {
	uint64_t start, end, offset;
	uint64_t vma_start, vma_end;	/* of the kernel's mapping that this is of */
	int prot;		/* PROT_* */
	bool shared;
	uint64_t ino;		/* 0: no file */
	uint64_t dev, size, mtime_ns, ctime_ns;	/* of the file, where it could be asked */
	uint64_t device;	/* 0: it is none */
	char *path;		/* or a name as "[stack]"; "" */
};

struct procmaps {
	struct procmap *at;
	size_t n;
};

uint64_t procmaps_ns(const struct timespec *t);
/* All of @pid's; procmaps_release() after success. -errno with words. */
int procmaps_read(struct procmaps *m, pid_t pid, struct err *err);
/* The one that holds @addr alone, whose path is to be freed; -ENOENT without words: none does. */
int procmaps_at(struct procmap *m, pid_t pid, uint64_t addr, struct err *err);
void procmaps_release(struct procmaps *m);
/* The one that holds @addr, or NULL. */
const struct procmap *procmaps_find(const struct procmaps *m, uint64_t addr);
const struct procmap *procmaps_named(const struct procmaps *m, const char *name);

#endif
