/* SPDX-License-Identifier: MIT */
#ifndef RR_BULK_H
#define RR_BULK_H

/*
 * What a call wrote that is too much for the ring: BPF says where it is, and the recorder reads
 * it while the program stands behind the call.
 */
#include "base/buf.h"
#include "base/err.h"
#include "rr/recfile.h"
#include "shared/rr.h"

/* Kept from one to the next; zeros at first. */
struct bulk {
	struct buf part;	/* the call's event, with a piece of it */
	struct buf rest;	/* the same, with the pieces that came */
};

void bulk_release(struct bulk *b);
/*
 * Adds @h, RR_EV_CALL or RR_EV_PIECES with RR_FLAG_BULK, with the memory that it only names:
 * events of pieces before it. @counts tells whether the thread stands still; -ESTALE: it does
 * not. -errno with words.
 */
int bulk_add(struct bulk *b, const struct rr_head *h, const volatile struct rr_counts *counts,
	     struct recfile *f, struct err *err);

#endif
