/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: what waits for answers is one stream of bytes, not a list of pieces: each piece
 * is a number (7 bits a byte, low first) of how much text is kept and what follows it, then
 * the text. A hole without text before it is one byte, so that millions of them wait in
 * little, and text that waits is copied once. With no hole open, text is not held at all.
 * Answers are taken as far as they came: a hole is filled while its line still grows.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "tape/csvquote.h"
#include "tape/spill.h"
#include "tracer/tape.h"

/* What follows the text of a piece: no hole, or one by its kind. */
#define AFTER_BITS 2
#define AFTER_NONE 0u
#define BATCH_BYTES 4096
#define GATHER_BYTES 8192

struct tape_joiner {
	tape_write_fn *write;
	void *arg;
	char end;
	bool ended;		/* no more answers come */
	struct spill waiting, answers;
	uint64_t open;
	/* The piece that is at the front of .waiting. */
	bool known;		/* its number was read */
	unsigned int shift;
	uint64_t number, text_left;
	bool filling;		/* its hole has some of its answer */
	struct buf bare;	/* an answer of TAPE_BARE, which is held until it is whole */
	/* Pieces that were not put into .waiting as yet. */
	unsigned int nbatch;
	char batch[BATCH_BYTES];
};

struct tape_joiner *tape_joiner_new(tape_write_fn *write, void *arg, char end, size_t memory_bytes)
{
	struct tape_joiner *j = calloc(1, sizeof(*j));

	if (!j)
		return NULL;
	j->write = write;
	j->arg = arg;
	j->end = end;
	spill_init(&j->waiting, memory_bytes);
	spill_init(&j->answers, memory_bytes);
	return j;
}

void tape_joiner_free(struct tape_joiner *j)
{
	if (!j)
		return;
	spill_release(&j->waiting);
	spill_release(&j->answers);
	buf_release(&j->bare);
	free(j);
}

uint64_t tape_joiner_open(const struct tape_joiner *j)
{
	return j->open;
}

uint64_t tape_joiner_surplus_bytes(const struct tape_joiner *j)
{
	return spill_bytes(&j->answers);
}

static int flush_batch(struct tape_joiner *j)
{
	int r = j->nbatch ? spill_add(&j->waiting, j->batch, j->nbatch) : 0;

	j->nbatch = 0;
	return r;
}

static int add_number(struct tape_joiner *j, uint64_t text, unsigned int after)
{
	uint64_t v = text << AFTER_BITS | after;
	int r;

	if (BATCH_BYTES - j->nbatch < 10) {
		r = flush_batch(j);
		if (r)
			return r;
	}
	for (; v >= 0x80; v >>= 7)
		j->batch[j->nbatch++] = (char)(v | 0x80);
	j->batch[j->nbatch++] = (char)v;
	return 0;
}

static int add_text(struct tape_joiner *j, const char *data, size_t n)
{
	int r;

	if (n <= BATCH_BYTES - j->nbatch) {
		memcpy(j->batch + j->nbatch, data, n);
		j->nbatch += (unsigned int)n;
		return 0;
	}
	r = flush_batch(j);
	return r ? r : spill_add(&j->waiting, data, n);
}

static bool nothing_waits(const struct tape_joiner *j)
{
	return !j->open && !j->known && !j->nbatch && !spill_bytes(&j->waiting);
}

int tape_joiner_keep(struct tape_joiner *j, const char *data, size_t n)
{
	int r;

	if (!n)
		return 0;
	if (nothing_waits(j))
		return j->write(j->arg, data, n);
	r = add_number(j, n, AFTER_NONE);
	return r ? r : add_text(j, data, n);
}

static int write_answer(struct tape_joiner *j, enum tape_kind kind, const char *data, size_t n)
{
	switch (kind) {
	case TAPE_PLAIN:
		return n ? j->write(j->arg, data, n) : 0;
	case TAPE_QUOTED:
		return csvquote_inside(j->write, j->arg, data, n);
	case TAPE_BARE:
		return buf_add(&j->bare, data, n);
	}
	return 0;
}

static int hole_filled(struct tape_joiner *j, enum tape_kind kind)
{
	int r = 0;

	if (kind == TAPE_BARE)
		r = csvquote_field(j->write, j->arg, j->bare.data, j->bare.len);
	buf_reset(&j->bare);
	j->filling = j->known = false;
	j->open--;
	return r;
}

/* 1: the front hole is filled; 0: its answer is not all here. */
static int fill_hole(struct tape_joiner *j, enum tape_kind kind)
{
	for (;;) {
		const char *data, *end;
		ptrdiff_t have = spill_peek(&j->answers, &data);
		size_t n;
		int r;

		if (have < 0)
			return (int)have;
		if (!have) {
			/* A last line without its end is an answer too. */
			if (!j->ended || !j->filling)
				return 0;
			r = hole_filled(j, kind);
			return r ? r : 1;
		}
		end = memchr(data, j->end, (size_t)have);
		n = end ? (size_t)(end - data) : (size_t)have;
		r = write_answer(j, kind, data, n);
		spill_take(&j->answers, n + (end != NULL));
		if (r)
			return r;
		j->filling = true;
		if (end) {
			r = hole_filled(j, kind);
			return r ? r : 1;
		}
	}
}

/* 1: a piece is at the front; 0: there is none. */
static int next_piece(struct tape_joiner *j)
{
	while (!j->known) {
		const char *data;
		ptrdiff_t n = spill_peek(&j->waiting, &data), i;

		if (n <= 0)
			return (int)n;
		for (i = 0; i < n && !j->known; i++) {
			j->number |= (uint64_t)(data[i] & 0x7f) << j->shift;
			j->shift += 7;
			j->known = !(data[i] & 0x80);
		}
		spill_take(&j->waiting, (size_t)i);
	}
	if (j->shift) {
		j->text_left = j->number >> AFTER_BITS;
		j->shift = 0;
	}
	return 1;
}

static int write_text(struct tape_joiner *j)
{
	while (j->text_left) {
		const char *data;
		ptrdiff_t have = spill_peek(&j->waiting, &data);
		size_t n;
		int r;

		if (have <= 0)
			return have ? (int)have : -EIO;
		n = (uint64_t)have < j->text_left ? (size_t)have : (size_t)j->text_left;
		r = j->write(j->arg, data, n);
		if (r)
			return r;
		spill_take(&j->waiting, n);
		j->text_left -= n;
	}
	return 0;
}

/* Output on its way, of pieces that are whole in memory. */
struct gather {
	struct tape_joiner *j;
	size_t n;
	char data[GATHER_BYTES];
};

static int gather_flush(struct gather *g)
{
	const size_t n = g->n;

	g->n = 0;
	return n ? g->j->write(g->j->arg, g->data, n) : 0;
}

static inline int gather_add(struct gather *g, const char *p, size_t n)
{
	int r;

	if (n > GATHER_BYTES - g->n) {
		r = gather_flush(g);
		if (r)
			return r;
		if (n > GATHER_BYTES / 2)
			return g->j->write(g->j->arg, p, n);
	}
	/* Most are a few bytes. */
	if (n <= 8) {
		for (size_t i = 0; i < n; i++)
			g->data[g->n + i] = p[i];
	} else {
		memcpy(g->data + g->n, p, n);
	}
	g->n += n;
	return 0;
}

static inline const char *line_end(const char *p, const char *end, char c)
{
	for (int i = 0; i < 4; i++, p++) {
		if (p == end)
			return NULL;
		if (*p == c)
			return p;
	}
	return memchr(p, c, (size_t)(end - p));
}

/*
 * The same as next_piece(), write_text() and fill_hole() for pieces and answers that lie
 * in memory whole, as most do: without a call for each. Stops at the first other one.
 */
static int advance_fast(struct tape_joiner *j)
{
	struct gather g = { .j = j };
	const char *p, *q, *pend, *qend, *line;
	ptrdiff_t np = spill_peek(&j->waiting, &p), nq = spill_peek(&j->answers, &q);
	uint64_t filled = 0;
	int r = 0;

	if (np <= 0 || nq <= 0 || j->known || j->shift || j->filling)
		return 0;
	for (pend = p + np, qend = q + nq; !r && p < pend; ) {
		const char *text = p;
		uint64_t number = 0, n;
		unsigned int shift = 0, after;

		while (text < pend && *text & 0x80 && shift < 56) {
			number |= (uint64_t)(*text++ & 0x7f) << shift;
			shift += 7;
		}
		if (text == pend)
			break;
		number |= (uint64_t)(*text++ & 0x7f) << shift;
		n = number >> AFTER_BITS;
		after = number & ((1u << AFTER_BITS) - 1);
		if (shift >= 56 || n > (uint64_t)(pend - text) || after > TAPE_PLAIN + 1)
			break;
		line = after ? line_end(q, qend, j->end) : NULL;
		if (after && !line)
			break;
		r = n ? gather_add(&g, text, n) : 0;
		p = text + n;
		if (after && !r) {
			r = gather_add(&g, q, (size_t)(line - q));
			q = line + 1;
			filled++;
		}
	}
	j->waiting.head_at = j->waiting.head_end - (size_t)(pend - p);
	j->answers.head_at = j->answers.head_end - (size_t)(qend - q);
	j->open -= filled;
	return r ? r : gather_flush(&g);
}

/* Pieces as far as there are answers for them. */
static int advance(struct tape_joiner *j)
{
	int r = flush_batch(j);

	if (r)
		return r;
	for (;;) {
		unsigned int after;

		r = advance_fast(j);
		r = r ? r : next_piece(j);
		if (r <= 0)
			break;
		r = write_text(j);
		if (r)
			return r;
		after = j->number & ((1u << AFTER_BITS) - 1);
		if (after == AFTER_NONE) {
			j->known = false;
		} else {
			r = fill_hole(j, (enum tape_kind)(after - 1));
			if (r <= 0)
				return r;
		}
		j->number = 0;
	}
	return r;
}

int tape_joiner_hole(struct tape_joiner *j, enum tape_kind kind)
{
	j->open++;
	return add_number(j, 0, (unsigned int)kind + 1);
}

int tape_joiner_settle(struct tape_joiner *j)
{
	return j->open && spill_bytes(&j->answers) ? advance(j) : 0;
}

int tape_joiner_answer(struct tape_joiner *j, const char *data, size_t n)
{
	int r = n ? spill_add(&j->answers, data, n) : 0;

	if (r)
		return r;
	j->ended |= !n;
	return advance(j);
}

uint64_t tape_joiner_drop(struct tape_joiner *j)
{
	uint64_t lines = 0;
	const char *data;
	ptrdiff_t n;

	while (!j->open && (n = spill_peek(&j->answers, &data)) > 0) {
		for (const char *p = data; (p = memchr(p, j->end, (size_t)(data + n - p))); p++)
			lines++;
		spill_take(&j->answers, (size_t)n);
	}
	return lines;
}

uint64_t tape_joiner_waiting_bytes(const struct tape_joiner *j)
{
	return spill_bytes(&j->waiting) + j->nbatch;
}

uint64_t tape_joiner_spilled_bytes(const struct tape_joiner *j)
{
	return j->waiting.most_bytes + j->answers.most_bytes;
}
