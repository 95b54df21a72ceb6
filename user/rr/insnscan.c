/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: their bytes are also in the midst of other instructions, once in 64 KB. Which they are
 * is known by decoding from where the function begins: the table that unwinding has of these is in
 * nearly all files. Without it, from each of some bytes before: wherever that begins, it comes to
 * the beginnings of instructions after a few.
 */
#include "rr/insnscan.h"

#include <Zydis/Zydis.h>
#include <emmintrin.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rr/codemap.h"
#include "rr/insn.h"

#define PART_BYTES ((size_t)1 << 18)
#define FUNCTION_MOST ((uint64_t)1 << 17)	/* bytes that are decoded from its beginning */
#define BEFORE 64	/* bytes that are decoded from each, */
#define NEAREST 16	/* but for those that are so near; */
#define FEW 8		/* as many tell that it is none */
#define BLOCK 16

struct scan {
	int fd;
	uint64_t offset, end;
	struct insn_places *to;
	struct codemap map;
	ZydisDecoder decoder;
	uint8_t code[FUNCTION_MOST + INSN_MOST];
};

static int add(struct insn_places *p, uint64_t at)
{
	uint64_t *more;

	if (p->n == p->cap) {
		const size_t cap = p->cap ? 2 * p->cap : 16;

		more = realloc(p->at, cap * sizeof(*more));
		if (!more)
			return -ENOMEM;
		p->at = more;
		p->cap = cap;
	}
	p->at[p->n++] = at;
	return 0;
}

void insn_places_release(struct insn_places *p)
{
	free(p->at);
	*p = (struct insn_places){ .at = NULL };
}

/* Whether decoding from @from on comes to an instruction at @to: 1 or 0; -1: it is no code. */
static int leads_to(const struct scan *s, size_t from, size_t to, size_t n)
{
	ZydisDecodedInstruction in;

	while (from < to) {
		if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(&s->decoder, NULL, s->code + from,
							      n - from, &in)))
			return -1;
		from += in.length;
	}
	return from == to;
}

/*
 * From which of the bytes before @at, @near to it at the nearest, decoding comes to it: how many of
 * *all where it comes to an end.
 */
static size_t leading(struct scan *s, uint64_t at, size_t near, size_t *all)
{
	const uint64_t first = at - s->offset > BEFORE ? at - BEFORE : s->offset;
	const size_t to = at - first;
	const ssize_t n = pread(s->fd, s->code, to + INSN_MOST, (off_t)first);
	size_t yes = 0;

	*all = 0;
	for (size_t from = 0; n > (ssize_t)to && from + near < to; from++) {
		const int r = leads_to(s, from, to, (size_t)n);

		yes += r > 0;
		*all += r >= 0;
	}
	return yes;
}

/* Nobody says where the function begins: nearly all of the bytes before have to agree. */
static bool is_agreed(struct scan *s, uint64_t at)
{
	size_t all;
	const size_t yes = codemap_is_code(&s->map, at) ? leading(s, at, NEAREST, &all) : 0;

	return yes && yes * 8 >= all * 7;
}

static bool is_insn(struct scan *s, uint64_t at)
{
	uint64_t start;
	size_t all;
	ssize_t n;

	/* Most are none, which is known at once. */
	if (!leading(s, at, BEFORE - FEW, &all) && all)
		return false;
	if (!s->map.nstarts)
		return is_agreed(s, at);
	start = codemap_function(&s->map, at);
	if (!start || start < s->offset || at - start > FUNCTION_MOST)
		return false;
	n = pread(s->fd, s->code, at - start + INSN_MOST, (off_t)start);
	return n > (ssize_t)(at - start) && leads_to(s, 0, at - start, (size_t)n) > 0;
}

/* The prefixes of one are in front of the two bytes that were found. */
static int look_at(struct scan *s, const uint8_t *part, size_t n, size_t i, uint64_t offset)
{
	for (size_t before = 0; before <= 2 && before <= i; before++) {
		const struct insn in = insn_at(part + i - before, n - i + before, false);

		if (in.kind == INSN_NONE || in.prefixes != before)
			continue;
		if (is_insn(s, offset + i - before))
			return add(s->to, offset + i - before);
	}
	return 0;
}

/* The bits of those of 16 bytes at which 0f stands, and one of the opcodes behind it. */
static unsigned int candidates(const uint8_t *at)
{
	const __m128i first = _mm_loadu_si128((const __m128i *)(const void *)at);
	const __m128i second = _mm_loadu_si128((const __m128i *)(const void *)(at + 1));
	const __m128i any = _mm_or_si128(_mm_or_si128(
		_mm_cmpeq_epi8(second, _mm_set1_epi8(0x31)),
		_mm_cmpeq_epi8(second, _mm_set1_epi8(0x01))),
		_mm_cmpeq_epi8(second, _mm_set1_epi8((char)0xc7)));

	return (unsigned int)_mm_movemask_epi8(_mm_and_si128(any,
		_mm_cmpeq_epi8(first, _mm_set1_epi8(0x0f))));
}

/* Opcodes that begin in [@low, @high) of a part of @n bytes, which is at @offset. */
static int scan_part(struct scan *s, const uint8_t *part, size_t n, size_t low, size_t high,
		     uint64_t offset)
{
	int r = 0;

	for (size_t i = low; !r && i < high; i += BLOCK) {
		unsigned int found = candidates(part + i);

		for (; !r && found; found &= found - 1) {
			const size_t at = i + (size_t)__builtin_ctz(found);

			if (at < high)
				r = look_at(s, part, n, at, offset);
		}
	}
	return r;
}

/* Parts overlap: there are prefixes in front of an opcode, and a byte behind it. */
static int scan_all(struct scan *s)
{
	uint8_t *part = malloc(PART_BYTES + 2 * BLOCK);
	size_t low = 0, high;
	uint64_t at = s->offset;
	int r = part ? 0 : -ENOMEM;
	ssize_t n;

	while (!r && at < s->end) {
		const uint64_t left = s->end - at;

		n = pread(s->fd, part, left < PART_BYTES ? left : PART_BYTES, (off_t)at);
		if (n <= 0) {
			r = n < 0 ? -errno : 0;
			break;
		}
		memset(part + n, 0, 2 * BLOCK);
		high = (size_t)n < PART_BYTES ? (size_t)n : PART_BYTES - INSN_MOST;
		r = scan_part(s, part, (size_t)n, low, high, at);
		if ((size_t)n < PART_BYTES)
			break;
		at += high - INSN_MOST;
		low = INSN_MOST;
	}
	free(part);
	return r;
}

int insnscan(struct insn_places *to, int fd, uint64_t offset, uint64_t bytes)
{
	struct scan *s = calloc(1, sizeof(*s));
	int r;

	*to = (struct insn_places){ .at = NULL };
	if (!s)
		return -ENOMEM;
	s->fd = fd;
	s->offset = offset;
	s->end = offset + bytes;
	s->to = to;
	ZydisDecoderInit(&s->decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	ZydisDecoderEnableMode(&s->decoder, ZYDIS_DECODER_MODE_MINIMAL, ZYAN_TRUE);
	codemap_read(&s->map, fd);
	r = scan_all(s);
	codemap_release(&s->map);
	free(s);
	return r;
}
