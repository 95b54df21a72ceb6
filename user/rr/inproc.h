/* SPDX-License-Identifier: MIT */
#ifndef RR_INPROC_H
#define RR_INPROC_H

/*
 * System calls that a replayed process does by itself: an area that all processes of a replay
 * share holds the next events of the running thread, and code that compares a call with the
 * next of them and does what it did. A stop is made behind the last of them, or where a call
 * is another one.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "shared/rr.h"

/* Between the mappings that the kernel chooses from above and the stack, in a gap it leaves. */
#define INPROC_AT	((uint64_t)0x7ffffa000000)
#define INPROC_BYTES	((uint64_t)1 << 20)

/* Of a patched call; the processes read it. */
struct inproc_site {
	uint64_t ip;		/* behind the call */
	uint64_t go_on;		/* where the instructions behind it have been moved to */
	uint64_t call;		/* a call that is really made, then .go_on */
};

struct inproc {
	int fd;			/* of the area */
	unsigned char *area;	/* here */
	size_t used;		/* of its room for events */
	size_t n;
};

int inproc_new(struct inproc *p, struct err *err);
void inproc_release(struct inproc *p);

/* Forgets the events of before. */
void inproc_begin(struct inproc *p);
/* False: there is no room for it. */
bool inproc_add(struct inproc *p, const struct rr_head *ev);
/* Lets calls be done by them from now on, with a stop behind the last or not; or no more. */
void inproc_start(struct inproc *p, bool stop);
void inproc_end(struct inproc *p);
/* How many of them were done. */
size_t inproc_done(const struct inproc *p);

/* Where code of a site jumps to, with rax kept at inproc_rax() and a struct inproc_site in it. */
uint64_t inproc_entry(void);
uint64_t inproc_rax(void);
/* Where a stop has ended that comes behind the last event, and the site of that. */
uint64_t inproc_stop(void);
uint64_t inproc_last_site(const struct inproc *p);

#endif
