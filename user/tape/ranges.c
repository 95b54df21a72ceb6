/* SPDX-License-Identifier: MIT */
#include "tape/ranges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int invalid(const char *item, size_t len, const char *why, struct err *err)
{
	return err_set(err, EINVAL, "range '%.*s' was invalid: %s", len > 200 ? 200 : (int)len,
		       item, why);
}

/* Digits, with a plus that is let pass; false: no number of 64 bits. */
static bool number(const char *s, size_t len, uint64_t *out)
{
	uint64_t v = 0;
	size_t i = len && s[0] == '+';

	if (i == len)
		return false;
	for (; i < len; i++) {
		if (s[i] < '0' || s[i] > '9' ||
		    __builtin_mul_overflow(v, (uint64_t)10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(s[i] - '0'), &v))
			return false;
	}
	*out = v;
	return true;
}

static int parse_item(struct range *r, const char *s, size_t len, struct err *err)
{
	const char *dash = memchr(s, '-', len);
	const size_t before = dash ? (size_t)(dash - s) : len;
	const size_t after = dash ? len - before - 1 : 0;

	r->low = 1;
	r->high = UINT64_MAX;
	if ((before && !number(s, before, &r->low)) || (after && !number(dash + 1, after, &r->high))
	    || (!before && !after))
		return invalid(s, len, "failed to parse range", err);
	if (!dash)
		r->high = r->low;
	if (!r->low || !r->high)
		return invalid(s, len, "fields and positions are numbered from 1", err);
	if (r->high < r->low)
		return invalid(s, len, "high end of range less than low end", err);
	return 0;
}

static int by_low(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return x->high < y->high ? -1 : x->high > y->high;
}

static void merge(struct ranges *r)
{
	size_t n = 0;

	qsort(r->at, r->n, sizeof(*r->at), by_low);
	for (size_t i = 1; i < r->n; i++) {
		if (r->at[i].low > r->at[n].high)
			r->at[++n] = r->at[i];
		else if (r->at[i].high > r->at[n].high)
			r->at[n].high = r->at[i].high;
	}
	r->n = n + 1;
}

int ranges_parse(struct ranges *r, const char *list, struct err *err)
{
	size_t cap = 1;
	int e = 0;

	for (const char *p = list; *p; p++)
		cap += *p == ',';
	*r = (struct ranges){ .at = calloc(cap, sizeof(*r->at)) };
	if (!r->at)
		return err_sys(err, ENOMEM, "cannot keep the list");
	for (const char *p = list; !e; p++) {
		size_t len = strcspn(p, ",");

		e = parse_item(&r->at[r->n++], p, len, err);
		p += len;
		if (!*p)
			break;
	}
	if (e)
		ranges_release(r);
	else
		merge(r);
	return e;
}

int ranges_invert(struct ranges *r)
{
	struct range *out = calloc(r->n + 1, sizeof(*out));
	uint64_t next = 1;
	size_t n = 0;

	if (!out)
		return -ENOMEM;
	for (size_t i = 0; i < r->n && next; i++) {
		if (r->at[i].low > next)
			out[n++] = (struct range){ next, r->at[i].low - 1 };
		/* 0 behind the last number there is. */
		next = r->at[i].high + 1;
	}
	if (next)
		out[n++] = (struct range){ next, UINT64_MAX };
	free(r->at);
	r->at = out;
	r->n = n;
	return 0;
}

void ranges_release(struct ranges *r)
{
	free(r->at);
	*r = (struct ranges){ 0 };
}

const struct range *ranges_find(const struct ranges *r, size_t *at, uint64_t n)
{
	while (*at < r->n && r->at[*at].high < n)
		(*at)++;
	return *at < r->n && r->at[*at].low <= n ? &r->at[*at] : NULL;
}
