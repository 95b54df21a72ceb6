/* SPDX-License-Identifier: MIT */
#ifndef RR_SYSFILES_H
#define RR_SYSFILES_H

/*
 * Files of the system, which a recording knows by name: what they were is told by number, size
 * and times, the last of which is the kernel's own and cannot be put back; and where these are
 * others, by a sum of all that was in them, of DIR/sums.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/caller.h"
#include "base/err.h"
#include "rr/packed.h"
#include "rr/recqueue.h"

/* ---- while it is recorded ----------------------------------------------------------------- */

struct syssums {
	struct syssum **at;	/* each file once */
	size_t n;
};

/* The file @id at @path is mapped: its sum is made by and by, by @queue. -errno with words. */
int syssums_note(struct syssums *s, const struct recfiles_id *id, const char *path,
		 struct recqueue *queue, struct err *err);
/* DIR/sums, of the files that were still as mapped; once the queue has nothing left. */
int syssums_write(const struct syssums *s, const char *dir, const struct caller *who,
		  struct err *err);
void syssums_release(struct syssums *s);

/* ---- afterwards --------------------------------------------------------------------------- */

struct sysfiles {
	struct packed sums;
	bool read;
};

/* Whether what @fd is open to, at whatever name, is as the file @id of the recording @dir was. */
bool sysfiles_same(struct sysfiles *s, const char *dir, const struct recfiles_id *id, int fd);
void sysfiles_release(struct sysfiles *s);

#endif
