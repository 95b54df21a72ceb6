/* SPDX-License-Identifier: MIT */
#ifndef RR_REPLACED_H
#define RR_REPLACED_H

/*
 * Instructions of insn.h in a recorded process: replaced as its files are mapped, and done in its
 * place where it comes to one.
 */
#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "rr/insnscan.h"
#include "rr/procmaps.h"
#include "rr/recfile.h"

/* What is known of files; zeros at first, or from codecache.h. */
struct replaced {
	struct replaced_file {
		uint64_t dev, ino, size, mtime_ns, ctime_ns, offset, bytes;
		bool young;	/* it may be changed once more without other times */
		struct insn_places places;
	} *file;
	size_t n, loaded;	/* these were known before */
};

void replaced_release(struct replaced *x);
/*
 * Replaces those in the mapping @m of thread @tid's process, which stands behind the call that
 * made it, or before its first instruction; what it wrote goes into @f. -errno with words.
 */
int replaced_map(struct replaced *x, pid_t tid, const struct procmap *m, struct recfile *f,
		 struct err *err);

/* The thread is about to take the signal of one: from now on it stops there. 0 or -errno. */
int replaced_hold(pid_t tid);
/*
 * The attached thread has stopped, with or without the signal of one. 1: it was at one, which is
 * done in its place and added to @f; 0: it was not; -EAGAIN: it is, and its signal comes next;
 * other -errno with words.
 */
int replaced_meet(pid_t tid, bool with_signal, struct recfile *f, struct err *err);

#endif
