/* SPDX-License-Identifier: MIT */
/*
 * alter FROM TO SEED: copies the events of a recording, FROM and TO being such files, with one to
 * three of them altered by chance: bytes behind their heads, their kind or thread, one that is
 * missing, comes twice or ends early. All checksums are right: what is in them is believed.
 *
 * alter FROM TO EVENT WORD VALUE: with this value in that word of eight bytes behind its head.
 *
 * alter FROM TO: nothing is altered, but each event is in a chunk of its own.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rr/recfile.h"

#define MOST 3
#define EVENT_MAX (1u << 26)

enum how { BYTES, WORD, KIND, THREAD, MISSING, TWICE, CUT, HOWS };

static uint64_t state;

/* xorshift64* */
static uint32_t chance(uint32_t below)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (uint32_t)((state * 2685821657736338717ull) >> 33) % below;
}

static void alter_word(struct rr_head *h)
{
	static const uint64_t values[] = {
		0, 1, UINT64_MAX, 1ull << 31, 1ull << 63, 4096, 0x7ffffa000000, 0x7ffffffff000,
	};
	const uint32_t words = (h->bytes - (uint32_t)sizeof(*h)) / 8;
	uint64_t v = values[chance(sizeof(values) / sizeof(values[0]))];

	if (words)
		memcpy((char *)(h + 1) + 8 * (size_t)chance(words), &v, sizeof(v));
}

static void alter_bytes(struct rr_head *h)
{
	const uint32_t n = h->bytes - (uint32_t)sizeof(*h);

	for (uint32_t i = 0; n && i < 4; i++)
		((unsigned char *)(h + 1))[chance(n)] ^= (unsigned char)(1 + chance(255));
}

/* How often it is to be written. */
static int alter(struct rr_head *h)
{
	switch (chance(HOWS)) {
	case BYTES: alter_bytes(h); break;
	case WORD: alter_word(h); break;
	case KIND: h->type = (uint16_t)(1 + chance(RR_EV_TYPES)); break;
	case THREAD: h->tid += chance(3) - 1; break;
	case MISSING: return 0;
	case TWICE: return 2;
	case CUT:
		h->bytes = (uint32_t)sizeof(*h) + (chance(h->bytes) & ~7u) % h->bytes;
		break;
	}
	return 1;
}

/* What is to be written, and where; .event 0: by chance. */
static struct { uint64_t event, word, value; } fixed;
static bool apart;	/* events are, in chunks */

static int alter_fixed(struct rr_head *h)
{
	if (fixed.word < (h->bytes - sizeof(*h)) / 8)
		memcpy((char *)(h + 1) + 8 * fixed.word, &fixed.value, sizeof(fixed.value));
	return 1;
}

static int copy(struct recread *in, struct recfile *out, const uint64_t at[MOST],
		struct err *err)
{
	struct rr_head *room = malloc(EVENT_MAX);
	const struct rr_head *h;
	int r, times;

	if (!room)
		return err_sys(err, 12, "cannot alter");
	while ((r = recread_next(in, &h, err)) > 0) {
		memcpy(room, h, h->bytes);
		times = 1;
		for (int i = 0; i < MOST; i++)
			if (recread_number(in) == at[i])
				times = fixed.event ? alter_fixed(room) : alter(room);
		while (r >= 0 && times--)
			r = recfile_add(out, room, err);
		if (r >= 0 && apart)
			r = recfile_push(out, err);
		if (r < 0)
			break;
	}
	free(room);
	return r < 0 ? r : recfile_flush(out, err);
}

int main(int argc, char **argv)
{
	uint64_t at[MOST] = { 0 }, n;
	struct err err = { 0 };
	struct recread *in = NULL;
	struct recfile *out = NULL;
	int r;

	if (argc != 3 && argc != 4 && argc != 6) {
		fputs("usage: alter FROM TO [SEED], alter FROM TO EVENT WORD VALUE\n", stderr);
		return 2;
	}
	apart = argc == 3;
	if (argc == 6) {
		fixed.event = at[0] = strtoull(argv[3], NULL, 0);
		fixed.word = strtoull(argv[4], NULL, 0);
		fixed.value = strtoull(argv[5], NULL, 0);
	}
	state = (apart ? 0 : strtoull(argv[3], NULL, 10)) * 0x9e3779b97f4a7c15ull + 1;
	n = apart || fixed.event ? 0 : recfile_count(argv[1]);
	for (uint32_t i = 0; n && i <= chance(MOST); i++)
		at[i % MOST] = 1 + chance((uint32_t)n);
	r = recread_open(&in, argv[1], &err);
	r = r ? r : recfile_create(&out, argv[2], NULL, &err);
	r = r ? r : copy(in, out, at, &err);
	if (r)
		fprintf(stderr, "alter: %s\n", err.msg);
	else
		printf("%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", at[0], at[1], at[2]);
	recfile_close(out);
	recread_close(in);
	return r ? 1 : 0;
}
