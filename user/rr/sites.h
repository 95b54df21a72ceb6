/* SPDX-License-Identifier: MIT */
#ifndef RR_SITES_H
#define RR_SITES_H

/*
 * Places of a process where it makes system calls. Those that it comes to often are patched,
 * so that inproc.h does what is to be done there.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rr/inproc.h"
#include "rr/jump.h"
#include "rr/machcode.h"

#define SITE_CODE_BYTES 32	/* that are looked at, from the call on */

struct site {
	uint64_t ip;		/* behind the call */
	unsigned int passes;
	bool patched, never;	/* it cannot be */
	uint64_t page;		/* of ours, and the next: for this one alone */
	uint64_t go_on;		/* in it, where what is behind the call has been moved to */
	uint8_t was[SITE_CODE_BYTES];
	struct moved moved;	/* what is behind the call */
};

struct sites {
	struct site *at;
	size_t n;
	uint64_t version;	/* of what is patched; others have others; 0: nothing is */
};

/* NULL: there is none, or no memory. */
struct site *sites_find(const struct sites *s, uint64_t ip);
struct site *sites_add(struct sites *s, uint64_t ip);
int sites_copy(struct sites *to, const struct sites *from);	/* -ENOMEM */
void sites_release(struct sites *s);

/* Whether one is patched. */
bool sites_any(const struct sites *s);
/* What is patched has changed. */
void sites_changed(struct sites *s);
/* The patched one of which @ip is in our page. NULL. */
const struct site *sites_of_page(const struct sites *s, uint64_t ip);
/* Whether a patch, or a page of ours for one, is in [start, end). */
bool site_in(const struct site *s, uint64_t start, uint64_t end);
bool sites_in(const struct sites *s, uint64_t start, uint64_t end);
/* A trap that ended at @ip, at an instruction that a patch lies over: where it is now, or 0. */
uint64_t sites_moved(const struct sites *s, uint64_t ip);
/* In what was read from @addr, what was there before the patches. */
void sites_hide(const struct sites *s, void *data, uint64_t addr, size_t n);

#endif
