/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: Oniguruma is loaded when -G asks for it, so that others do not pay for its start.
 * It takes subjects to be valid UTF-8; of one that is not, it sees a copy in which each
 * byte that belongs to no character is SUB (U+001A).
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/codepoint.h"
#include "tape/rx.h"

#ifdef TAPE_HAVE_ONIG
#include <oniguruma.h>

#define RETRY_LIMIT 50000000ul		/* from one place that a match may begin at */
#define RETRY_LIMIT_PER_BYTE 16ul	/* of a line, besides, from all of them */
#define SUBSTITUTE 0x1a

struct onig_calls {
	int (*initialize)(OnigEncoding *encodings, int n);
	int (*create)(OnigRegex *reg, const OnigUChar *pattern, const OnigUChar *end,
		      OnigOptionType option, OnigEncoding enc, OnigSyntaxType *syntax,
		      OnigErrorInfo *einfo);
	int (*search)(OnigRegex reg, const OnigUChar *str, const OnigUChar *end,
		      const OnigUChar *start, const OnigUChar *range, OnigRegion *region,
		      OnigOptionType option);
	void (*destroy)(OnigRegex reg);
	int (*words)(OnigUChar *s, int code, ...);
	OnigRegion *(*region_new)(void);
	void (*region_free)(OnigRegion *region, int self);
	int (*set_retry_limit)(unsigned long n);
	int (*set_search_limit)(unsigned long n);	/* NULL before 6.9.5 */
	OnigEncodingType *utf8;
	OnigSyntaxType *syntax;
};

static const struct { const char *name; size_t offset; } symbols[] = {
	{ "onig_initialize", offsetof(struct onig_calls, initialize) },
	{ "onig_new", offsetof(struct onig_calls, create) },
	{ "onig_search", offsetof(struct onig_calls, search) },
	{ "onig_free", offsetof(struct onig_calls, destroy) },
	{ "onig_error_code_to_str", offsetof(struct onig_calls, words) },
	{ "onig_region_new", offsetof(struct onig_calls, region_new) },
	{ "onig_region_free", offsetof(struct onig_calls, region_free) },
	{ "onig_set_retry_limit_in_match", offsetof(struct onig_calls, set_retry_limit) },
	{ "onig_set_retry_limit_in_search", offsetof(struct onig_calls, set_search_limit) },
	{ "OnigEncodingUTF8", offsetof(struct onig_calls, utf8) },
	{ "OnigSyntaxOniguruma", offsetof(struct onig_calls, syntax) },
};

struct rx_onig {
	struct onig_calls call;
	OnigRegex reg;
	OnigRegion *region;
	/* The subject at hand as Oniguruma sees it. */
	const char *subject;
	size_t n;
	char *copy;
	size_t copy_cap;
	bool copied;
};

static int load(struct rx_onig *o, struct err *err)
{
	void *library = dlopen("libonig.so.5", RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return err_set(err, ENOSYS, "Oniguruma is not installed: libonig.so.5 is missing");
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		void *p = dlsym(library, symbols[i].name);

		if (!p && symbols[i].offset != offsetof(struct onig_calls, set_search_limit))
			return err_set(err, ENOSYS, "Oniguruma here has no %s", symbols[i].name);
		memcpy((char *)&o->call + symbols[i].offset, &p, sizeof(p));
	}
	return 0;
}

static int onig_compile(struct rx *rx, const char *pattern, size_t len, struct err *err)
{
	struct rx_onig *o = rx->state = calloc(1, sizeof(*o));
	OnigUChar words[ONIG_MAX_ERROR_MESSAGE_LEN];
	const OnigUChar *p = (const OnigUChar *)(pattern ? pattern : "");
	OnigEncoding utf8;
	OnigErrorInfo info;
	int r;

	if (!o)
		return err_sys(err, ENOMEM, "cannot compile the pattern");
	r = load(o, err);
	if (r)
		return r;
	utf8 = o->call.utf8;
	o->call.initialize(&utf8, 1);
	o->call.set_retry_limit(RETRY_LIMIT);
	r = o->call.create(&o->reg, p, p + len, ONIG_OPTION_NONE, utf8, o->call.syntax, &info);
	if (r != ONIG_NORMAL) {
		o->call.words(words, r, &info);
		return err_set(err, EINVAL, "Oniguruma error: %s", (const char *)words);
	}
	o->region = o->call.region_new();
	return o->region ? 0 : err_sys(err, ENOMEM, "cannot compile the pattern");
}

/* Sets o->subject; looks at a subject once, however often it is searched. */
static int set_subject(struct rx_onig *o, const char *s, size_t n, size_t from)
{
	uint32_t cp;
	unsigned int len;
	char *copy;

	if (from) {
		/* The walk over one subject goes on. */
		o->subject = o->copied ? o->copy : s;
		return 0;
	}
	if (o->call.set_search_limit)
		o->call.set_search_limit(RETRY_LIMIT + RETRY_LIMIT_PER_BYTE * n);
	o->copied = false;
	o->subject = s;
	for (size_t i = 0; i < n; i += len) {
		len = utf8_decode(s + i, n - i, &cp);
		if (len)
			continue;
		len = 1;
		if (!o->copied) {
			if (o->copy_cap < n) {
				copy = realloc(o->copy, n);
				if (!copy)
					return -ENOMEM;
				o->copy = copy;
				o->copy_cap = n;
			}
			memcpy(o->copy, s, n);
			o->subject = o->copy;
			o->copied = true;
		}
		o->copy[i] = SUBSTITUTE;
	}
	return 0;
}

static ptrdiff_t onig_matches(struct rx *rx, const char *s, size_t n, struct rx_walk *w,
			      struct tape_span *hole, size_t cap)
{
	struct rx_onig *o = rx->state;
	OnigUChar words[ONIG_MAX_ERROR_MESSAGE_LEN];
	const OnigUChar *p;
	size_t k = 0;

	if (set_subject(o, s, n, w->from))
		return err_sys(&rx->err, ENOMEM, "the pattern cannot be matched");
	p = (const OnigUChar *)o->subject;
	while (k < cap && w->from <= n) {
		const int r = o->call.search(o->reg, p, p + n, p + w->from, p + n, o->region,
					     ONIG_OPTION_NONE);

		if (r == ONIG_MISMATCH) {
			w->from = n + 1;
		} else if (r >= 0) {
			k += rx_take(w, s, n, (size_t)o->region->beg[0],
				     (size_t)o->region->end[0], &hole[k]);
		} else {
			o->call.words(words, r);
			return err_set(&rx->err, E2BIG, "the pattern takes too many steps: %s",
				       (const char *)words);
		}
	}
	return (ptrdiff_t)k;
}

static void onig_release(struct rx *rx)
{
	struct rx_onig *o = rx->state;

	if (!o)
		return;
	if (o->region)
		o->call.region_free(o->region, 1);
	if (o->reg)
		o->call.destroy(o->reg);
	/* The library stays: it keeps tables of its own for the next pattern. */
	free(o->copy);
	free(o);
}
#else
static int onig_compile(struct rx *rx, const char *pattern, size_t len, struct err *err)
{
	(void)rx;
	(void)pattern;
	(void)len;
	return err_set(err, ENOSYS, "Oniguruma is not built in: -G cannot be used");
}

static ptrdiff_t onig_matches(struct rx *rx, const char *s, size_t n, struct rx_walk *w,
			      struct tape_span *hole, size_t cap)
{
	(void)rx;
	(void)s;
	(void)n;
	(void)w;
	(void)hole;
	(void)cap;
	return -ENOSYS;
}

static void onig_release(struct rx *rx)
{
	(void)rx;
}
#endif

const struct rx_engine rx_onig = {
	.name = "Oniguruma", .compile = onig_compile, .matches = onig_matches,
	.release = onig_release,
};
