/* SPDX-License-Identifier: MIT */
#ifndef COLLECT_COMMRE_NFA_H
#define COLLECT_COMMRE_NFA_H

/*
 * The pattern of commre as a non-deterministic automaton: what is made a table of for the
 * kernel, and what texts of any length are searched by.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define NFA_NODES_MAX	1024
#define NFA_MATCH_NODE	0	/* the one NFA_MATCH */
#define NFA_SETS_MAX	257	/* one for each byte of a pattern, and "." */

enum nfa_kind {
	NFA_SET,	/* takes a byte of .set to .out */
	NFA_SPLIT,	/* to .out and .out2 without a byte; they may be the same */
	NFA_BOL,	/* to .out at the beginning of the name only */
	NFA_EOL,	/* to .out at its end only */
	NFA_MATCH,
};

struct nfa_node {
	uint8_t kind;
	uint16_t set, out, out2;
};

struct byteset {
	uint64_t bits[4];
};

struct nfa {
	struct nfa_node node[NFA_NODES_MAX];
	unsigned int nnodes;
	struct byteset set[NFA_SETS_MAX];
	unsigned int nsets;
	unsigned int entry;
};

static inline int byteset_has(const struct byteset *s, unsigned int c)
{
	return (int)(s->bits[c / 64] >> (c % 64) & 1);
}

/* Fills *nfa from @pattern, in messages a pattern of @what; errors as commre_compile(). */
int commre_parse(struct nfa *nfa, const char *what, const char *pattern, struct err *err);
/* Whether it matches anywhere in @text. Takes its length times the nodes, whatever the pattern. */
bool commre_search(const struct nfa *nfa, const char *text);

#endif
