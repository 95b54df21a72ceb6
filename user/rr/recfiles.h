/* SPDX-License-Identifier: MIT */
#ifndef RR_RECFILES_H
#define RR_RECFILES_H

/* The files that a recording's mappings are of. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/err.h"
#include "shared/rr.h"

/* What a file was when it was mapped. */
struct recfiles_id {
	uint64_t dev, ino, size, mtime_ns;	/* by which it is found */
	uint64_t ctime_ns;
};

struct recfiles_file {
	struct recfiles_id id;
	uint32_t copy;		/* the recording's own of it; 0: none */
	bool library;		/* code of it ran that was not the program's */
	char *path;
};

struct recfiles {
	struct recfiles_file *at;
	size_t n;
};

/* Each once, in the order in which they were mapped. -errno with words; release in any case. */
int recfiles_read(struct recfiles *f, const char *dir, struct err *err);
void recfiles_release(struct recfiles *f);

struct recfiles_id recfiles_id_of(const struct rr_ev_map *m);
bool recfiles_same(const struct recfiles_id *a, const struct recfiles_id *b);
/*
 * Whether @st is of a file that nobody has touched since; its device's number may be another. The
 * time of its last change is the kernel's, which nobody can put back as that of its contents.
 */
bool recfiles_unchanged(const struct recfiles_id *id, const struct stat *st);

#endif
