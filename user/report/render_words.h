/* SPDX-License-Identifier: MIT */
#ifndef REPORT_RENDER_WORDS_H
#define REPORT_RENDER_WORDS_H

/*
 * The figures and sentences that the formats of a report share. All append to a
 * buffer, which keeps a failure (.failed), in the characters of a struct words: text
 * that comes from elsewhere goes through its functions alone. Inside user/report only.
 */
#include "base/buf.h"
#include "report/regress.h"

struct words {
	/* Escape @n bytes of others: what names something, and sentences. */
	void (*name)(struct buf *b, const char *s, size_t n);
	void (*sentence)(struct buf *b, const char *s, size_t n);
	const char *blank;	/* between a figure and its unit */
	const char *sep;	/* between items of a line */
	const char *arrow, *times, *to;	/* "→", "×", between the ends of an interval */
	const char *less, *infinity, *unknown;	/* "<" as the format must have it */
	bool ascii;		/* "us", not "µs" */
	bool local;		/* dates in the time zone of who reads, not in UTC */
};

/* @s NULL: nothing. */
void words_name(const struct words *w, struct buf *b, const char *s);
/* A part of @b from @start on, its blanks made @w's: our own figures and words. */
void words_blanks(const struct words *w, struct buf *b, size_t start);

/* "1.02 s", "64 KiB", "3,000", "2.5 MB/s" (@unit escaped); what is no number: "–", "∞". */
void words_value(const struct words *w, struct buf *b, double v, const char *unit);
/* Of new / base: "+33 %", "-0.2 %", "×12.5", "from 0", "0 %". */
void words_ratio(const struct words *w, struct buf *b, double ratio);
/* The ratio's interval: "+28…+39 %", "×19…26", "exact" where each side is a constant. */
void words_interval(const struct words *w, struct buf *b, const struct metric_result *r);
/* A probability: "<0.001", "0.012", "0.34", "1". */
void words_p(const struct words *w, struct buf *b, double p);
/* "2026-11-30 05:48", in UTC with these letters behind it; nothing for 0. */
void words_when(const struct words *w, struct buf *b, uint64_t when_ns);
/* "1 run", "12 runs". */
void words_things(const struct words *w, struct buf *b, uint64_t n, const char *one,
		  const char *many);

/* Behind the verdict: "3 of 41 metrics; the largest: futex.wait 3,000 → 4,000 (+33 %)". */
void words_headline(const struct words *w, struct buf *b, const struct regress *r);
/* "3 worse · 1 inconclusive · 35 the same"; nothing without metrics. */
void words_counts(const struct words *w, struct buf *b, const struct regress *r);
/* "main · 1f2e3d4c5b6a with changes · 10 runs · 2026-11-30 05:48 · ./app -x". */
void words_side(const struct words *w, struct buf *b, const struct regress_side *s);
/* "12-core Xeon · 64 GiB · Linux 6.1.0 · performance"; nothing where nothing is known. */
void words_machine(const struct words *w, struct buf *b, const struct store_machine *m);
/* "futex.wait 3,000 → 4,000 (+33 %)". */
void words_metric(const struct words *w, struct buf *b, const struct regress_metric *m);
/* What a reader should know of @m: runs needed, outliers, drift; nothing to say: nothing. */
void words_notes(const struct words *w, struct buf *b, const struct regress_metric *m);

/* The frames of a folded stack, innermost first. */
struct words_stack { const char *folded; size_t left; bool done; const char *frame; size_t n; };
struct words_stack words_stack(const char *folded);
/* To the next one, .frame (.n bytes); false behind the last. */
bool words_stack_next(struct words_stack *s);

/* A note as it stands in JSON, and in words; NULL: the figures say it already. */
struct words_note { unsigned int note; const char *token, *words; };
extern const struct words_note words_note_rows[];
extern const size_t words_note_nrows;

/* How many metrics of @r have the verdict @v. */
size_t words_count(const struct regress *r, enum compare_verdict v);
/* What a commit is shown as: its first 12 characters. */
#define WORDS_COMMIT 12

#endif
