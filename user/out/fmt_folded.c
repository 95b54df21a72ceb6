/* SPDX-License-Identifier: MIT */
/*
 * Stacks as flame graph tools take them: docs/formats/folded.md. A line for
 * each place that waits for a lock, outermost frame first, and the microseconds
 * waited there: the lock's whole wait, shared out by samples. Or its waits, or the
 * samples themselves.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "out/escape.h"
#include "out/out.h"

/* A frame ends at the next semicolon: one in a name becomes a colon. */
static void add_name(struct buf *b, const char *name)
{
	size_t from = b->len;

	escape_term(b, name, strlen(name), false);
	for (; from < b->len; from++)
		if (b->data[from] == ';')
			b->data[from] = ':';
}

static void add_frame(struct buf *b, const struct sum_frame *f)
{
	const char *slash = f->module ? strrchr(f->module, '/') : NULL;

	buf_addc(b, ';');
	if (f->symbol) {
		add_name(b, f->symbol);
		/* As flamegraph.pl knows them, and colours them with --color=java. */
		buf_adds(b, f->kernel ? "_[k]" : f->inlined ? "_[i]" : "");
		return;
	}
	if (f->kernel) {
		add_name(b, f->module);
		buf_adds(b, "_[k]");
		return;
	}
	buf_addc(b, '[');
	add_name(b, slash && slash[1] ? slash + 1 : f->module ? f->module : "unknown");
	if (f->module && f->module_offset)
		buf_addf(b, "+0x%" PRIx64, f->module_offset);
	buf_addc(b, ']');
}

static void add_lock_name(struct buf *b, const struct sum_lock *l)
{
	struct buf name = BUF_INIT;

	out_lock_name(&name, l);
	add_name(b, name.data ? name.data : "");
	b->failed |= name.failed;
	buf_release(&name);
}

void out_folded_stack(struct buf *b, const struct sum_lock *l, const struct sum_site *site)
{
	size_t i;

	add_name(b, l->comm[0] ? l->comm : "unknown");
	for (i = site ? site->nframe : 0; i-- > 0;)
		add_frame(b, &site->frame[i]);
	for (i = site ? site->nkernel : 0; i-- > 0;)
		add_frame(b, &site->kernel[i]);
	if (!site || !site->nframe)
		buf_adds(b, ";[no stack]");
	buf_adds(b, ";lock ");
	add_lock_name(b, l);
}

static uint64_t figure_of(enum out_weight weight, const struct sum_site *site, uint64_t waits,
			  uint64_t wait_ns)
{
	switch (weight) {
	case OUT_WEIGHT_WAITS:
		return waits;
	case OUT_WEIGHT_SAMPLES:
		return site ? site->samples : 0;
	default:
		return wait_ns / 1000;
	}
}

static void add_site(struct out_stream *o, const struct sum_lock *l, const struct sum_site *site,
		     uint64_t figure, struct buf *b)
{
	if (!figure)
		return;
	out_folded_stack(b, l, site);
	buf_addf(b, " %" PRIu64 "\n", figure);
	out_buf(o, b);
}

static void add_lock(struct out_stream *o, const struct sum_lock *l, enum out_weight weight,
		     struct buf *b)
{
	struct sum_shares shares = sum_lock_shares(l);
	uint64_t waits, wait_ns;
	size_t i;

	for (i = 0; i < l->nsite && shares.all; i++) {
		sum_lock_share(&shares, &l->site[i], &waits, &wait_ns);
		add_site(o, l, &l->site[i], figure_of(weight, &l->site[i], waits, wait_ns), b);
	}
	if (!shares.all)
		add_site(o, l, NULL, figure_of(weight, NULL, l->waits, l->wait.sum), b);
}

static int folded_summary(const struct summary *s, const struct out_opts *opts,
			  struct out_stream *o, struct err *err)
{
	struct buf b = BUF_INIT;
	size_t i;

	for (i = 0; i < s->nlock; i++)
		add_lock(o, &s->lock[i], opts->weight, &b);
	buf_release(&b);
	return o->error == ENOMEM ? err_sys(err, ENOMEM, "cannot print the stacks") : 0;
}

const struct out_format out_format_folded = { "folded", folded_summary };
