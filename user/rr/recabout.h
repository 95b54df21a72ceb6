/* SPDX-License-Identifier: MIT */
#ifndef RR_RECABOUT_H
#define RR_RECABOUT_H

/*
 * What a recording knows of itself: DIR/about, JSON for people and `tracer ls`. No replay needs
 * it. Written when the recording begins, and anew when it ends; one that was cut has no end.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/caller.h"
#include "base/err.h"
#include "rr/cpuid.h"

struct recabout {
	struct buf command;	/* as a shell takes it */
	uint64_t began_ns;	/* since 1970 */
	bool ended;		/* what follows is known */
	int status;		/* as wait(2) tells it */
	uint64_t events, ended_ns;
	struct buf error;	/* why it ended before the program did; "" */
	struct buf warnings;	/* what may make a replay differ, joined by "; "; "" */
	struct buf processor;	/* its name; "" */
	uint32_t cpuid[CPUID_WORDS];	/* where .ncpuid are as many */
	size_t ncpuid;
};

struct recabout_opts {
	const char *dir;
	const struct caller *who;	/* whose it is */
	char **argv;
	uint64_t began_ns;
	/* At the end; NULL: it begins. */
	const struct recabout *end;
};

/* 0 or -errno with words. */
int recabout_write(const struct recabout_opts *o, struct err *err);
/* -ENOENT, -EINVAL (it is none), ...; recabout_release() in any case. */
int recabout_read(struct recabout *a, const char *dir);
void recabout_release(struct recabout *a);
/* Whether this machine's processor is as that of the recording, where that is known. */
bool recabout_fits(const struct recabout *a, struct err *why);

#endif
