/* SPDX-License-Identifier: MIT */
#ifndef SHARED_COMMRE_H
#define SHARED_COMMRE_H

/*
 * A regular expression for thread names, compiled by userspace to an automaton
 * (user/collect/commre.c) and run by BPF, one table step a byte. Seen by both
 * compilers: types are the compilers' own.
 */
#define COMMRE_STATES_MAX	64	/* a power of two: BPF masks with it */
#define COMMRE_NAME_BYTES	16	/* TASK_COMM_LEN: 15 bytes and the NUL */

struct commre {
	unsigned char next[COMMRE_STATES_MAX][256];
	unsigned long long accept;	/* bit s: a name that ends in state s matches */
	unsigned char start;
	unsigned char nstates;
	unsigned char pad[6];
};
_Static_assert(sizeof(struct commre) == COMMRE_STATES_MAX * 256 + 16,
	       "struct commre is shared: its size is fixed");

/*
 * 1 when @name, COMMRE_NAME_BYTES long or ended by a NUL before that, matches.
 * The state is masked for the verifier, which cannot know what the table holds;
 * @re may be a map's value and @name on the stack.
 */
static inline __attribute__((always_inline)) int commre_match(const struct commre *re,
							       const char *name)
{
	unsigned int state = re->start, i;

	for (i = 0; i < COMMRE_NAME_BYTES; i++) {
		unsigned char c = (unsigned char)name[i];

		if (!c)
			break;
		state = re->next[state & (COMMRE_STATES_MAX - 1)][c];
	}
	return (int)(re->accept >> (state & (COMMRE_STATES_MAX - 1)) & 1);
}

#endif
