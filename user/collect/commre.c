/* SPDX-License-Identifier: MIT */
#include "collect/commre.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collect/commre_nfa.h"

/*
 * DESIGN: subsets of the non-deterministic automaton's nodes become states,
 * breadth first. A subset that holds the match has no need to go on and is one
 * sink. Bytes that no set of the pattern tells apart are stepped once.
 *
 * A name has at most LIMIT bytes, which is used twice: no state deeper than
 * that is made, and states are told apart by names of at most LIMIT bytes
 * (Moore's refinement, stopped after LIMIT rounds). Any member may stand for
 * its class then: after i bytes it agrees with the true state on all names of
 * LIMIT - i more.
 */
#define LIMIT		(COMMRE_NAME_BYTES - 1)
#define RAW_MAX		1024	/* states before they are merged */
#define WORDS		(NFA_NODES_MAX / 64)
#define SLOTS		(2 * RAW_MAX)

struct subset {
	uint64_t bits[WORDS];
};

struct builder {
	struct nfa nfa;
	unsigned char class_of[256];
	unsigned char sample[256];	/* a byte of each class */
	unsigned int nclasses;
	struct subset set[RAW_MAX];
	uint16_t next[RAW_MAX][256];	/* by byte class */
	uint8_t depth[RAW_MAX];
	bool sink[RAW_MAX], accept[RAW_MAX];
	unsigned int nstates;
	uint16_t slot[SLOTS];		/* state + 1 by its subset, or by its row; 0 empty */
	uint16_t group[RAW_MAX], regroup[RAW_MAX], leader[RAW_MAX];
	struct subset again;		/* where a match may begin past the first byte */
};

static bool has(const struct subset *s, unsigned int node)
{
	return s->bits[node / 64] >> (node % 64) & 1;
}

/*
 * Adds @node and all that it leads to without a byte: through ^ when @bol,
 * through $ when @eol.
 */
static void close_over(const struct nfa *nfa, struct subset *s, unsigned int node, bool bol,
		       bool eol)
{
	uint16_t stack[NFA_NODES_MAX + 1];
	unsigned int depth = 0, i;

	if (has(s, node))
		return;
	s->bits[node / 64] |= 1ULL << (node % 64);
	stack[depth++] = (uint16_t)node;
	while (depth) {
		const struct nfa_node *n = &nfa->node[stack[--depth]];
		uint16_t out[2] = { n->out, n->out2 };

		if (!(n->kind == NFA_SPLIT || (n->kind == NFA_BOL && bol) ||
		      (n->kind == NFA_EOL && eol)))
			continue;
		for (i = 0; i < 2; i++) {
			if (has(s, out[i]))
				continue;
			/* Each node is pushed once, when it enters the subset. */
			s->bits[out[i] / 64] |= 1ULL << (out[i] % 64);
			stack[depth++] = out[i];
		}
	}
}

/* Whether a name that ends in subset @s matches. */
static bool accepts(const struct nfa *nfa, const struct subset *s, bool bol)
{
	struct subset all = { { 0 } };
	unsigned int i;

	for (i = 0; i < nfa->nnodes; i++)
		if (has(s, i))
			close_over(nfa, &all, i, bol, true);
	return has(&all, NFA_MATCH_NODE);
}

/* The subset after byte @c from @from; a match may begin behind it as in @again. */
static void step(const struct nfa *nfa, const struct subset *again, const struct subset *from,
		 unsigned int c, struct subset *to)
{
	unsigned int w;

	*to = *again;
	for (w = 0; w < WORDS; w++) {
		uint64_t bits = from->bits[w];

		for (; bits; bits &= bits - 1) {
			const struct nfa_node *n =
				&nfa->node[w * 64 + (unsigned int)__builtin_ctzll(bits)];

			if (n->kind == NFA_SET && byteset_has(&nfa->set[n->set], c))
				close_over(nfa, to, n->out, false, false);
		}
	}
}

bool commre_search(const struct nfa *nfa, const char *text)
{
	struct subset again = { { 0 } }, now = { { 0 } }, next;
	const char *p;

	close_over(nfa, &again, nfa->entry, false, false);
	close_over(nfa, &now, nfa->entry, true, false);
	for (p = text; *p && !has(&now, NFA_MATCH_NODE); p++) {
		step(nfa, &again, &now, (unsigned char)*p, &next);
		now = next;
	}
	return has(&now, NFA_MATCH_NODE) || accepts(nfa, &now, p == text);
}

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ULL;
	return h ^ h >> 29;
}

/* The state of subset @s, made at @depth when it is new; -E2BIG when there is no room. */
static int state_of(struct builder *b, const struct subset *s, unsigned int depth)
{
	uint64_t h = 0;
	unsigned int i, at;

	for (i = 0; i < WORDS; i++)
		h = mix(h, s->bits[i]);
	for (at = h % SLOTS; b->slot[at]; at = (at + 1) % SLOTS)
		if (!memcmp(&b->set[b->slot[at] - 1], s, sizeof(*s)))
			return b->slot[at] - 1;
	if (b->nstates == RAW_MAX)
		return -E2BIG;
	i = b->nstates++;
	b->slot[at] = (uint16_t)(i + 1);
	b->set[i] = *s;
	b->depth[i] = (uint8_t)depth;
	return (int)i;
}

/* Cuts the bytes into classes that no set of the pattern tells apart. */
static void classify(struct builder *b)
{
	unsigned int s, c;

	b->nclasses = 1;
	for (s = 0; s < b->nfa.nsets; s++) {
		short number[256][2];

		memset(number, 0xff, sizeof(number));
		b->nclasses = 0;
		for (c = 0; c < 256; c++) {
			short *n = &number[b->class_of[c]][byteset_has(&b->nfa.set[s], c)];

			if (*n < 0)
				*n = (short)b->nclasses++;
			b->class_of[c] = (unsigned char)*n;
		}
	}
	for (c = 0; c < 256; c++)
		b->sample[b->class_of[c]] = (unsigned char)c;
}

static int determinise(struct builder *b)
{
	struct subset s = { { 0 } };
	unsigned int i, k;
	int to;

	close_over(&b->nfa, &b->again, b->nfa.entry, false, false);
	close_over(&b->nfa, &s, b->nfa.entry, true, false);
	/* State 0 is the beginning and is never come back to: ^ holds there alone. */
	b->set[0] = s;
	b->nstates = 1;
	for (i = 0; i < b->nstates; i++) {
		b->sink[i] = has(&b->set[i], NFA_MATCH_NODE);
		b->accept[i] = accepts(&b->nfa, &b->set[i], i == 0);
		for (k = 0; k < b->nclasses; k++) {
			to = (int)i;
			if (!b->sink[i] && b->depth[i] < LIMIT) {
				step(&b->nfa, &b->again, &b->set[i], b->sample[k], &s);
				if (has(&s, NFA_MATCH_NODE)) {
					/* One subset for all that have matched. */
					memset(&s, 0, sizeof(s));
					close_over(&b->nfa, &s, NFA_MATCH_NODE, false, false);
				}
				to = state_of(b, &s, b->depth[i] + 1u);
				if (to < 0)
					return to;
			}
			b->next[i][k] = (uint16_t)to;
		}
	}
	return 0;
}

static bool same_row(const struct builder *b, unsigned int x, unsigned int y)
{
	unsigned int k;

	if (b->group[x] != b->group[y])
		return false;
	for (k = 0; k < b->nclasses; k++)
		if (b->group[b->next[x][k]] != b->group[b->next[y][k]])
			return false;
	return true;
}

/* Groups states by group and their successors' groups; the number of groups. */
static unsigned int refine(struct builder *b)
{
	unsigned int i, k, at, ngroups = 0;

	memset(b->slot, 0, sizeof(b->slot));
	for (i = 0; i < b->nstates; i++) {
		uint64_t h = b->group[i];

		for (k = 0; k < b->nclasses; k++)
			h = mix(h, b->group[b->next[i][k]]);
		for (at = h % SLOTS; b->slot[at]; at = (at + 1) % SLOTS)
			if (same_row(b, b->slot[at] - 1u, i))
				break;
		if (b->slot[at]) {
			b->regroup[i] = b->regroup[b->slot[at] - 1];
			continue;
		}
		b->slot[at] = (uint16_t)(i + 1);
		b->leader[ngroups] = (uint16_t)i;
		b->regroup[i] = (uint16_t)ngroups++;
	}
	memcpy(b->group, b->regroup, sizeof(b->group));
	return ngroups;
}

static unsigned int minimise(struct builder *b)
{
	unsigned int i, round, n = 0, before = 0;

	for (i = 0; i < b->nstates; i++)
		b->group[i] = b->accept[i];
	for (round = 0; round < LIMIT; round++) {
		n = refine(b);
		if (n == before)
			break;
		before = n;
	}
	return n;
}

static void fill(struct commre *re, const struct builder *b, unsigned int n)
{
	unsigned int i, c;

	memset(re, 0, sizeof(*re));
	re->start = (unsigned char)b->group[0];
	re->nstates = (unsigned char)n;
	for (i = 0; i < n; i++) {
		unsigned int s = b->leader[i];

		re->accept |= (unsigned long long)b->accept[s] << i;
		for (c = 0; c < 256; c++)
			re->next[i][c] = (unsigned char)b->group[b->next[s][b->class_of[c]]];
	}
}

int commre_compile(struct commre *re, const char *pattern, struct err *err)
{
	struct builder *b = calloc(1, sizeof(*b));
	unsigned int n = 0;
	int rc;

	if (!b)
		return err_sys(err, ENOMEM, "thread name pattern '%.256s'", pattern);
	rc = commre_parse(&b->nfa, "thread name", pattern, err);
	if (rc)
		goto out;
	classify(b);
	rc = determinise(b);
	if (!rc)
		n = minimise(b);
	if (rc || n > COMMRE_STATES_MAX) {
		rc = err_set(err, E2BIG,
			     "thread name pattern '%s' needs more than the %d states there are",
			     pattern, COMMRE_STATES_MAX);
		err_hint(err, "begin it with ^, or use fewer or shorter repeats of . and []");
		goto out;
	}
	fill(re, b, n);
out:
	free(b);
	return rc;
}
