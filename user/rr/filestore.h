/* SPDX-License-Identifier: MIT */
#ifndef RR_FILESTORE_H
#define RR_FILESTORE_H

/*
 * Files that a recorded program maps. Those of the system are known by name, times and sum
 * (sysfiles.h); others may be gone or changed by the replay, so they are copied into the recording
 * once.
 */
#include <stdint.h>
#include <sys/types.h>

#include "base/caller.h"
#include "base/err.h"
#include "rr/procmaps.h"
#include "rr/sysfiles.h"

struct filestore {
	const char *dir;	/* the recording's */
	const struct caller *who;
	struct { uint64_t dev, ino, size, mtime_ns; } *kept;	/* number n is kept[n - 1] */
	uint32_t n;
	struct file_id { uint64_t dev, ino; } *met;	/* those that were mapped shared */
	size_t nmet;
	struct recqueue *queue;	/* makes sums */
	struct syssums sums;	/* of the system's files */
};

void filestore_release(struct filestore *s);
/*
 * The number of the copy of what @m of @pid maps, made when there is none as yet, or 0 where
 * none is needed. -errno with words.
 */
int filestore_keep(struct filestore *s, pid_t pid, const struct procmap *m, uint32_t *number,
		   struct err *err);
/*
 * Opens what @m of @pid maps, to be read: by the mapping, or by name where that has gone or is not
 * known; the file must be the one. A descriptor or -errno.
 */
int filestore_open(pid_t pid, const struct procmap *m);
/* Takes note of a file that is mapped shared: whether it is the first time. */
bool filestore_meets(struct filestore *s, const struct procmap *m);
/* "DIR/files/NUMBER" into @path. */
void filestore_path(char *path, size_t n, const char *dir, uint32_t number);

#endif
