/* SPDX-License-Identifier: MIT */
#ifndef RR_SPIN_H
#define RR_SPIN_H

/*
 * Threads that wait in a loop, without a call, for what another one is to do: on the one CPU that
 * all have, that would take until the end of their quantum. Looked for now and then, they lose
 * the CPU at once.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/rr.h"

#define SPIN_LOOKS 6	/* in a row, before it is taken for work */

struct spin {
	uint64_t due_ns;	/* the next look; 0: none was begun */
	unsigned int ms;	/* that lie between looks which find nothing */
	uint32_t tid;		/* who had run alone at the last one, or 0 */
	uint32_t gave;		/* who was made to give way then, or 0 */
	uint64_t runs;		/* of struct rr_counts, then */
	uint64_t place[SPIN_LOOKS];	/* sums of where it was and of what it had */
	size_t nplaces, looks;	/* since it runs alone */
	const unsigned char *point;	/* the event of who lost the CPU last */
	size_t point_bytes;
};

/* @points is the map of places, with keys up to POINTS. -errno. */
int spin_init(struct spin *s, int points, size_t value_bytes);
void spin_release(struct spin *s);
/* How long to wait for the next look, -1 where there is none to come. */
int spin_wait_ms(struct spin *s, const struct rr_counts *c, uint64_t now_ns);
/*
 * Takes a look where it is due, at who has just lost the CPU to us. A thread whose registers and
 * memory are as at an earlier look, and that nothing else happened to, goes behind the others that
 * want to run.
 */
void spin_look(struct spin *s, const struct rr_counts *c, uint64_t now_ns);

#endif
