/* SPDX-License-Identifier: MIT */
#ifndef RR_MAPPED_H
#define RR_MAPPED_H

/*
 * Which file a call mapped. BPF tells it with the call; what is not a system's file is looked
 * up in /proc besides, while it is still there.
 */
#include "base/buf.h"
#include "base/err.h"
#include "rr/filestore.h"
#include "rr/recfile.h"
#include "rr/replaced.h"
#include "shared/rr.h"

/* What BPF told of a mapping whose call is the thread's next event; zeros at first. */
struct mapped {
	struct buf told;	/* struct rr_ev_mapped */
};

void mapped_release(struct mapped *m);
int mapped_note(struct mapped *m, const struct rr_head *h, struct err *err);
/* What @e mapped, in @to, whose path is to be freed. -errno with words. */
int mapped_find(struct mapped *m, const struct rr_ev_call *e, struct procmap *to, struct err *err);
/*
 * Adds the mapping that @e made to the recording, and replaces what is to be in its code. @warn
 * hears of the file that others can change. -errno with words.
 */
int mapped_add(struct mapped *m, const struct rr_ev_call *e, struct recfile *f,
	       struct filestore *files, struct replaced *replaced,
	       void (*warn)(void *ctx, const char *text), void *ctx, struct err *err);

#endif
