/* SPDX-License-Identifier: MIT */
#ifndef COLLECT_WATCH_H
#define COLLECT_WATCH_H

/*
 * A live trace looked at again and again while it runs: each refresh reads the
 * kernel's maps and threads once, and makes rows with what changed since the one
 * before. Memory is bounded by who is alive and by the caps below, however many
 * threads, locks and pipes have come and gone.
 */
#include "collect/live.h"
#include "out/now.h"

/*
 * Past so many rows of a kind those that were idle longest are dropped, here and
 * in the kernel, whose maps would otherwise fill up; they count anew when used.
 */
#define WATCH_LOCKS 24576
#define WATCH_PIPES 8192

struct watch;

/*
 * Watches @l, which was set up with .watch and is started; borrowed, and to be
 * freed after the watch. NULL: no memory.
 */
struct watch *watch_new(struct live *l);
void watch_free(struct watch *w);

/*
 * Takes in all events and reads everything anew. *@now belongs to the watch and
 * is valid until the next refresh. 0, or -errno with @err.
 */
int watch_refresh(struct watch *w, const struct now **now, struct err *err);

/*
 * Between refreshes, as often as there is time: where thousands of processes have ended
 * since the last one, what they left in the kernel's maps is let go unread, and counted
 * as .forgotten. What *@now points at stays as it is. 0, or -errno.
 */
int watch_tidy(struct watch *w);

/* An event of the ring: live_batch hands those of a watched trace on. */
struct live_head;
void watch_event(struct watch *w, const struct live_head *e);

/* Fills a lock's .symbol and .module where they can be known; asks again only after a while. */
void watch_name(struct watch *w, struct now_lock *lock);
/* The lock's waiters, edges and stacks; 0, -ENOENT: it is not there any more, -ENOMEM. */
int watch_lock(struct watch *w, const struct now_lock *lock, struct now_lock_detail *out);

#endif
