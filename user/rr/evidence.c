/* SPDX-License-Identifier: MIT */
#include "rr/evidence.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RANGES_MOST (RR_BLOCKS + 1)
#define WORDS_MOST ((RR_STACK_BYTES + RR_BLOCKS * RR_BLOCK) / 8)

static void add_piece(struct evidence *e, const struct rr_piece *piece, const char *data)
{
	const size_t n = piece->bytes / 8;

	if (!n || e->nrange == RANGES_MOST || n > WORDS_MOST - e->n)
		return;
	e->range[e->nrange++] = (struct iovec){ (void *)(uintptr_t)piece->addr, n * 8 };
	for (size_t i = 0; i < n; i++) {
		struct evidence_word *w = &e->word[e->n++];

		*w = (struct evidence_word){ .addr = piece->addr + 8 * i };
		memcpy(&w->want, data + 8 * i, sizeof(w->want));
	}
}

int evidence_new(struct evidence *e, const struct place *p, struct err *err)
{
	*e = (struct evidence){
		.word = calloc(WORDS_MOST, sizeof(*e->word)),
		.room = calloc(WORDS_MOST, sizeof(*e->room)),
		.range = calloc(RANGES_MOST, sizeof(*e->range)),
	};
	if (!e->word || !e->room || !e->range) {
		evidence_release(e);
		return err_sys(err, ENOMEM, "cannot replay");
	}
	for (size_t at = 0; at + sizeof(struct rr_piece) <= p->bytes;) {
		const struct rr_piece *piece = (const void *)(p->pieces + at);

		at += sizeof(*piece);
		if (piece->bytes > p->bytes - at)
			break;
		add_piece(e, piece, p->pieces + at);
		at += (piece->bytes + 7) & ~7u;
	}
	return 0;
}

void evidence_release(struct evidence *e)
{
	free(e->word);
	free(e->room);
	free(e->range);
	*e = (struct evidence){ 0 };
}

/* As many words as could be read, up to the first range that could not. */
static size_t read_all(struct evidence *e, const struct tracee *t)
{
	struct iovec local = { e->room, e->n * sizeof(*e->room) };
	const ssize_t n = process_vm_readv(t->pid, &local, 1, e->range, e->nrange, 0);
	uint64_t *at = e->room;

	for (size_t i = 0; i < e->nrange; at += e->range[i++].iov_len / 8)
		sites_hide(&t->sites, at, (uint64_t)(uintptr_t)e->range[i].iov_base,
			   e->range[i].iov_len);
	return n < 0 ? 0 : (size_t)n / sizeof(*e->room);
}

size_t evidence_look(struct evidence *e, const struct tracee *t)
{
	const size_t n = read_all(e, t);
	size_t equal = 0;

	e->learnt = false;
	for (size_t i = 0; i < n; i++) {
		struct evidence_word *w = &e->word[i];

		if (w->seen && w->now != e->room[i] && !w->changes)
			w->changes = e->learnt = true;
		w->now = e->room[i];
		w->seen = true;
		if (w->now != w->want)
			continue;
		w->equal++;
		equal++;
	}
	e->looks++;
	return equal;
}
