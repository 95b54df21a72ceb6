/* SPDX-License-Identifier: MIT */
/* The figures of a report for people: three digits or so, and what is no number. */
#include <math.h>
#include <string.h>
#include <time.h>

#include "out/human.h"
#include "report/render_words.h"
#include "stats/units.h"

/* Up to here a count has all its digits. */
#define FIGURE_EXACT 1e7
/* Above this a double is no uint64_t. */
#define FIGURE_MOST 1.8e19
/* From this on a change is told as a factor. */
#define FIGURE_FACTOR 11

void words_blanks(const struct words *w, struct buf *b, size_t start)
{
	struct buf text = BUF_INIT;
	size_t i;

	if (b->len <= start || !memchr(b->data + start, ' ', b->len - start))
		return;
	buf_add(&text, b->data + start, b->len - start);
	b->len = start;
	for (i = 0; i < text.len; i++) {
		if (text.data[i] == ' ')
			buf_adds(b, w->blank);
		else
			buf_addc(b, text.data[i]);
	}
	b->failed |= text.failed;
	buf_release(&text);
}

void words_name(const struct words *w, struct buf *b, const char *s)
{
	if (s)
		w->name(b, s, strlen(s));
}

void words_things(const struct words *w, struct buf *b, uint64_t n, const char *one,
		  const char *many)
{
	const size_t start = b->len;

	buf_addf(b, "%s %s", units_count(n).s, n == 1 ? one : many);
	words_blanks(w, b, start);
}

/* "3,000", "12.5", "0.25", "45.6M"; @v is not negative. */
static void add_number(struct buf *b, double v)
{
	const double whole = floor(v + 0.5);
	char tmp[HUMAN_BYTES];

	if (v > FIGURE_MOST)
		buf_addf(b, "%.3g", v);
	else if (v >= FIGURE_EXACT)
		buf_adds(b, human_count(tmp, (uint64_t)whole));
	else if (v >= 1000 || v == whole)
		buf_adds(b, units_count((uint64_t)whole).s);
	else if (v < 1)
		buf_addf(b, "%.3g", v);
	else
		buf_addf(b, "%.*f", v < 99.95 ? 2 : 1, v);
}

void words_value(const struct words *w, struct buf *b, double v, const char *unit)
{
	const size_t start = b->len;
	char tmp[HUMAN_BYTES];

	if (isnan(v)) {
		buf_adds(b, w->unknown);
		return;
	}
	if (v < 0)
		buf_addc(b, '-');
	v = fabs(v);
	unit = unit ? unit : "";
	if (isinf(v)) {
		buf_adds(b, w->infinity);
	} else if (v <= FIGURE_MOST && !strcmp(unit, "ns")) {
		buf_adds(b, human_ns(tmp, (uint64_t)(v + 0.5), w->ascii));
	} else if (v <= FIGURE_MOST && !strcmp(unit, "B")) {
		buf_adds(b, human_bytes(tmp, (uint64_t)(v + 0.5)));
	} else {
		add_number(b, v);
		if (*unit) {
			buf_adds(b, w->blank);
			words_name(w, b, unit);
		}
		return;
	}
	words_blanks(w, b, start);
}

/* "+33 %" without its sign of percent. */
static void add_percent(struct buf *b, double part)
{
	struct units_text t = units_percent(fabs(part));

	t.s[strcspn(t.s, " ")] = '\0';
	buf_addf(b, "%s%s", part < 0 ? "-" : part > 0 ? "+" : "", t.s);
}

void words_ratio(const struct words *w, struct buf *b, double ratio)
{
	const size_t start = b->len;

	if (isnan(ratio)) {
		buf_adds(b, w->unknown);
	} else if (isinf(ratio)) {
		buf_adds(b, "from 0");
	} else if (ratio >= FIGURE_FACTOR) {
		buf_adds(b, w->times);
		add_number(b, ratio);
	} else if (ratio != 1 && fabs(ratio - 1) < 5e-5) {
		buf_addf(b, "%s0.01 %%", w->less);
	} else {
		add_percent(b, ratio - 1);
		buf_adds(b, " %");
	}
	words_blanks(w, b, start);
}

void words_interval(const struct words *w, struct buf *b, const struct metric_result *r)
{
	const size_t start = b->len;

	if (r->notes & COMPARE_CONSTANT) {
		buf_adds(b, "exact");
	} else if (isnan(r->ci[0]) || isnan(r->ci[1]) || isinf(r->ci[0])) {
		buf_adds(b, w->unknown);
	} else if (r->ci[0] >= FIGURE_FACTOR) {
		buf_adds(b, w->times);
		add_number(b, r->ci[0]);
		buf_adds(b, w->to);
		if (isinf(r->ci[1]))
			buf_adds(b, w->infinity);
		else
			add_number(b, r->ci[1]);
	} else {
		add_percent(b, r->ci[0] - 1);
		buf_adds(b, w->to);
		if (isinf(r->ci[1]))
			buf_adds(b, w->infinity);
		else
			add_percent(b, r->ci[1] - 1);
		buf_adds(b, " %");
	}
	words_blanks(w, b, start);
}

void words_p(const struct words *w, struct buf *b, double p)
{
	if (isnan(p))
		buf_adds(b, w->unknown);
	else if (p < 0.001)
		buf_addf(b, "%s0.001", w->less);
	else
		buf_addf(b, "%.*f", p >= 0.9995 ? 0 : p < 0.0995 ? 3 : 2, p);
}

void words_when(const struct words *w, struct buf *b, uint64_t when_ns)
{
	const time_t seconds = (time_t)(when_ns / 1000000000);
	const size_t start = b->len;
	char text[64];
	struct tm tm;

	if (!when_ns || !(w->local ? localtime_r(&seconds, &tm) : gmtime_r(&seconds, &tm)) ||
	    !strftime(text, sizeof(text), w->local ? "%F %H:%M" : "%F %H:%M UTC", &tm))
		return;
	buf_adds(b, text);
	words_blanks(w, b, start);
}
