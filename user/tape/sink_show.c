/* SPDX-License-Identifier: MIT */
/* Holes between two marks, without a command. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/codepoint.h"
#include "tape/sink.h"
#include "tape/split.h"

#define PART_BYTES 4096	/* of a record, for which room is made at a time */
#define SHORT_BYTES 16	/* shorter text is copied as so much: no call, no loop */

struct show {
	const char *before, *after;
	size_t nbefore, nafter;
	char short_before[SHORT_BYTES], short_after[SHORT_BYTES];
	bool brief;		/* the marks are short */
	uint64_t word;		/* both marks, a hole of one byte between them; little-endian */
	bool words;		/* they fit */
};

static int show_begin(struct tape_runner *run)
{
	struct show *w = calloc(1, sizeof(*w));
	char word[8] = "";

	run->state = w;
	if (!w)
		return err_sys(run->err, ENOMEM, "cannot begin");
	w->before = run->job->mark_before;
	w->after = run->job->mark_after;
	w->nbefore = strlen(w->before);
	w->nafter = strlen(w->after);
	w->brief = w->nbefore <= SHORT_BYTES && w->nafter <= SHORT_BYTES;
	if (w->brief) {
		memcpy(w->short_before, w->before, w->nbefore);
		memcpy(w->short_after, w->after, w->nafter);
	}
	w->words = w->nbefore + w->nafter < sizeof(word);
	if (w->words) {
		memcpy(word, w->before, w->nbefore);
		memcpy(word + w->nbefore + 1, w->after, w->nafter);
		memcpy(&w->word, word, sizeof(word));
	}
	return 0;
}

/* Copies up to SHORT_BYTES; the window and the output may be overrun by as many (tapeio.h). */
static inline char *copy_short(char *o, const char *p, size_t n)
{
	memcpy(o, p, SHORT_BYTES);
	return o + n;
}

static int add_hole(struct tape_runner *run, const char *p, size_t n, enum tape_kind kind)
{
	const struct show *w = run->state;
	const size_t all = w->nbefore + n + w->nafter;
	char *o = run->out.data + run->out.len;

	(void)kind;
	if (n <= SHORT_BYTES && w->brief && !run->out.slice_bytes &&
	    run->out.cap - run->out.len >= all) {
		o = copy_short(o, w->short_before, w->nbefore);
		o = copy_short(o, p, n);
		copy_short(o, w->short_after, w->nafter);
		run->out.len += all;
		return 0;
	}
	return tape_out_add(&run->out, w->before, w->nbefore) ||
	       tape_out_add(&run->out, p, n) ||
	       tape_out_add(&run->out, w->after, w->nafter) ? run->out.failed : 0;
}

/* Short text is copied, or the marks around it would make slices of it. */
static int add_kept(struct tape_runner *run, const char *p, size_t n)
{
	if (n <= SHORT_BYTES && !run->out.slice_bytes && run->out.cap - run->out.len >= n) {
		copy_short(run->out.data + run->out.len, p, n);
		run->out.len += n;
		return 0;
	}
	if (n < PART_BYTES && !run->out.slice_bytes)
		return tape_out_add(&run->out, p, n);
	return tape_out_slice(&run->out, p, n);
}

/*
 * A class, each of whose characters is a hole: eight bytes are written, of which as many
 * count as there are. A character that is not ASCII goes the long way.
 */
static int show_class(struct tape_runner *run, const char *rec, size_t len)
{
	const struct show *w = run->state;
	struct rx *rx = run->splitter->rx;
	const unsigned int at = (unsigned int)w->nbefore * 8;
	const size_t all = w->nbefore + 1 + w->nafter;
	struct tape_stats *st = &run->result->stats;

	for (size_t i = 0; i < len;) {
		const size_t part = len - i < PART_BYTES ? len : i + PART_BYTES;
		char *start = tape_out_room(&run->out, (part - i) * all + 16), *o = start;

		if (!start)
			return run->out.failed;
		for (; i < part && (unsigned char)rec[i] < 0x80; i++) {
			const unsigned char c = (unsigned char)rec[i];

			if (rx->ascii[c]) {
				const uint64_t word = w->word | (uint64_t)c << at;

				memcpy(o, &word, sizeof(word));
				o += all;
				st->chunks++;
			} else {
				*o++ = (char)c;
			}
		}
		run->out.len += (size_t)(o - start);
		if (i < part) {
			uint32_t cp;
			const unsigned int n = utf8_decode(rec + i, len - i, &cp);
			const bool member = n && rx_member(rx, cp);
			const size_t bytes = n ? n : 1;
			int r = member ? add_hole(run, rec + i, bytes, TAPE_PLAIN) :
				tape_out_add(&run->out, rec + i, bytes);

			if (r)
				return r;
			st->chunks += member;
			st->chunk_bytes += member ? bytes - 1 : 0;
			i += bytes;
		}
	}
	return 0;
}

static bool is_class(const struct tape_runner *run)
{
	const struct tape_splitter *s = run->splitter;
	const struct show *w = run->state;

	return s->sel.by == TAPE_MATCHES && s->rx->classed && s->rx->shape == RX_ONE && w->words &&
	       !s->sel.invert && s->line > s->sel.header &&
	       __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
}

static int show_record(struct tape_runner *run, const char *rec, size_t bytes)
{
	struct tape_stats *st = &run->result->stats;
	size_t at = 0;
	int r;

	if (is_class(run)) {
		const uint64_t chunks = st->chunks;

		at = run->splitter->len;
		r = show_class(run, rec, at);
		st->chunk_bytes += st->chunks - chunks;
		return r ? r : tape_out_add(&run->out, rec + at, bytes - at);
	}
	r = sink_walk(run, rec, &at, add_kept, add_hole);
	if (r)
		return r;
	if (!at)
		return tape_out_slice(&run->out, rec, bytes);
	return add_kept(run, rec + at, bytes - at);
}

static bool show_ready(struct tape_runner *run)
{
	(void)run;
	return true;
}

static int show_end(struct tape_runner *run)
{
	(void)run;
	return 0;
}

static bool show_done(const struct tape_runner *run)
{
	(void)run;
	return true;
}

static void show_release(struct tape_runner *run)
{
	free(run->state);
}

const struct sink sink_show = {
	.begin = show_begin, .record = show_record, .ready = show_ready, .end = show_end,
	.done = show_done, .release = show_release,
};
