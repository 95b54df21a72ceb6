/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: invalid UTF-8 is matched by nothing and passed on as it is
 * (PCRE2_MATCH_INVALID_UTF), which costs: 60 ns for a match of a few bytes, where code for
 * UTF-8 that is known to be valid takes 40 and code for single bytes 20. So the pattern is
 * compiled up to three times, when the first subject of a kind comes, and a subject is looked
 * at once for what it is. ASCII means the same in all three.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <errno.h>
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/codepoint.h"
#include "tape/rx.h"

/*
 * No pattern is to run for minutes. PCRE2 counts groups, from each place that a match may begin
 * at: less than a second for each. It does not count places, which are tried in pieces with a
 * look at the clock in between, nor repetitions of one character, behind which code for long
 * subjects has callouts when there are several: each multiplies the ways by the line's length.
 */
#define MATCH_LIMIT 50000000u
#define STEP_FIRST_BYTES ((size_t)1 << 10)
#define STEP_MOST_BYTES ((size_t)64 << 10)
#define BYTES_PER_LOOK ((size_t)1 << 30)	/* callouts times the subject's length */
#define SEARCH_LIMIT_NS 4000000000u
#define SEARCH_NS_PER_BYTE 50u
#define HEAP_LIMIT_KIB (64u << 10)
#define STACK_FIRST_BYTES ((size_t)32 << 10)
#define STACK_MAX_BYTES ((size_t)8 << 20)

#define COMPILE_FLAGS (PCRE2_MULTILINE | PCRE2_ALT_CIRCUMFLEX | \
		       PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C)

/* What a subject is; compiled for with these flags, and matched with those. */
enum kind { KIND_INVALID, KIND_UTF8, KIND_ASCII, KINDS };

static const uint32_t kind_compile[KINDS] = {
	[KIND_INVALID] = PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF,
	[KIND_UTF8] = PCRE2_UTF | PCRE2_UCP,
};
static const uint32_t kind_match[KINDS] = { [KIND_UTF8] = PCRE2_NO_UTF_CHECK };

struct rx_code {
	pcre2_code *code;
	bool jit;
	bool tried;
};

struct rx_pcre {
	struct rx_code code[2][KINDS];	/* the second are guarded */
	enum kind kind;		/* of the subject at hand */
	bool guarded;		/* it is long enough for that */
	size_t long_bytes;	/* from which length on subjects are */
	size_t callouts;	/* since the last look at the clock */
	uint64_t until_ns;	/* for the search at hand; 0: no look at the clock yet */
	size_t subject_bytes;	/* more than 0 where there are callouts */
	pcre2_match_data *data;
	/*
	 * In .data, for ever. Volatile: the two are stored one by one just before, and a load
	 * of both at once waits for that (a fifth of a short match's time).
	 */
	const volatile PCRE2_SIZE *found;
	pcre2_match_context *context;
	pcre2_compile_context *compile;
	pcre2_jit_stack *stack;
	struct buf text[2], ascii_text[2];
};

/* How long a subject may be without a guard, by the number of long repetitions. */
static const size_t unguarded_bytes[] = { STEP_FIRST_BYTES, STEP_FIRST_BYTES, 1024, 256, 128, 64 };
#define REPEATS_MOST (sizeof(unguarded_bytes) / sizeof(unguarded_bytes[0]) - 1)

static void pcre_release(struct rx *rx)
{
	struct rx_pcre *p = rx->state;

	if (!p)
		return;
	for (size_t i = 0; i < 2; i++) {
		for (size_t k = 0; k < KINDS; k++)
			pcre2_code_free(p->code[i][k].code);
		buf_release(&p->text[i]);
		buf_release(&p->ascii_text[i]);
	}
	pcre2_match_data_free(p->data);
	pcre2_match_context_free(p->context);
	pcre2_compile_context_free(p->compile);
	pcre2_jit_stack_free(p->stack);
	free(p);
}

static int refused(int code, const char *text, size_t len, struct err *err)
{
	PCRE2_UCHAR words[200] = "";

	pcre2_get_error_message(code, words, sizeof(words));
	return err_set(err, EINVAL, "regex parse error:\n    %.*s\nerror: %s",
		       len < 200 ? (int)len : 200, text, (const char *)words);
}

static int build_kind(struct rx_pcre *p, bool guarded, enum kind kind)
{
	const struct buf *text = kind == KIND_ASCII ? &p->ascii_text[guarded] : &p->text[guarded];
	struct rx_code *c = &p->code[guarded][kind];
	size_t at;
	int code = 0;

	c->tried = true;
	c->code = pcre2_compile((PCRE2_SPTR)(text->data ? text->data : ""), text->len,
				COMPILE_FLAGS | kind_compile[kind] |
				(guarded ? PCRE2_USE_OFFSET_LIMIT : 0), &code, &at, p->compile);
	if (!c->code)
		return code;
	c->jit = !pcre2_jit_compile(c->code, PCRE2_JIT_COMPLETE);
	return 0;
}

static bool too_long(struct rx_pcre *p)
{
	const uint64_t now = clock_mono_ns();

	if (!p->until_ns)
		p->until_ns = now + SEARCH_LIMIT_NS + SEARCH_NS_PER_BYTE * p->subject_bytes;
	return now > p->until_ns;
}

static int on_callout(pcre2_callout_block *block, void *arg)
{
	struct rx_pcre *p = arg;

	(void)block;
	/* A repetition may run through the whole subject before it comes here. */
	if (++p->callouts < BYTES_PER_LOOK / p->subject_bytes)
		return 0;
	p->callouts = 0;
	return too_long(p) ? PCRE2_ERROR_MATCHLIMIT : 0;
}

static int pcre_build(struct rx_pcre *p, const char *pattern, size_t len, struct err *err)
{
	int code;

	p->compile = pcre2_compile_context_create(NULL);
	p->context = pcre2_match_context_create(NULL);
	p->data = pcre2_match_data_create(1, NULL);
	if (!p->compile || !p->context || !p->data)
		return err_sys(err, ENOMEM, "cannot compile the pattern");
	p->found = pcre2_get_ovector_pointer(p->data);
	pcre2_set_newline(p->compile, PCRE2_NEWLINE_LF);
	pcre2_set_match_limit(p->context, MATCH_LIMIT);
	pcre2_set_heap_limit(p->context, HEAP_LIMIT_KIB);
	pcre2_set_callout(p->context, on_callout, p);
	code = build_kind(p, false, KIND_INVALID);
	return code ? refused(code, pattern, len, err) : 0;
}

static int pcre_compile(struct rx *rx, const char *pattern, size_t len, struct err *err)
{
	struct rx_pcre *p = calloc(1, sizeof(*p));
	unsigned int repeats = 0;
	int r = 0;

	rx->state = p;
	if (!p)
		return err_sys(err, ENOMEM, "cannot compile the pattern");
	for (unsigned int how = 0; !r && how < 2 * RX_GUARDED; how++)
		r = rxsyntax_translate(how & RX_ASCII ? &p->ascii_text[how / RX_GUARDED] :
				       &p->text[how / RX_GUARDED], pattern, len, how, &rx->shape,
				       &repeats, err);
	p->long_bytes = unguarded_bytes[repeats < REPEATS_MOST ? repeats : REPEATS_MOST];
	return r ? r : pcre_build(p, pattern, len, err);
}

typedef uint64_t two_words __attribute__((vector_size(16)));

static two_words load(const char *s)
{
	two_words w;

	memcpy(&w, s, sizeof(w));
	return w;
}

static bool is_ascii(const char *s, size_t n)
{
	two_words any = { 0 };
	size_t i = 0;

	if (n < sizeof(any)) {
		char c = 0;

		while (i < n)
			c |= s[i++];
		return !(c & 0x80);
	}
	for (; n - i >= sizeof(any); i += sizeof(any))
		any |= load(s + i);
	any |= load(s + n - sizeof(any));
	return !((any[0] | any[1]) & 0x8080808080808080u);
}

static bool is_utf8(const char *s, size_t n)
{
	uint32_t cp;
	unsigned int len;

	for (size_t i = 0; i < n; i += len) {
		len = utf8_decode(s + i, n - i, &cp);
		if (!len)
			return false;
	}
	return true;
}

/* The code for the subject, which is new when the search begins at its start. */
static const struct rx_code *choose(struct rx_pcre *p, const char *s, size_t n, size_t from)
{
	struct rx_code *c;

	if (!from) {
		p->kind = is_ascii(s, n) ? KIND_ASCII : is_utf8(s, n) ? KIND_UTF8 : KIND_INVALID;
		p->guarded = n > p->long_bytes;
		p->subject_bytes = n;
		/* A pattern with characters past U+00FF has no code for bytes. */
		c = p->code[p->guarded];
		if (!c[p->kind].tried)
			build_kind(p, p->guarded, p->kind);
		if (!c[p->kind].code) {
			p->kind = KIND_INVALID;
			if (!c[p->kind].tried)
				build_kind(p, p->guarded, p->kind);
		}
		p->guarded &= c[p->kind].code != NULL;
	}
	return &p->code[p->guarded][p->kind];
}

/* The machine's stack was too small: once more on one of our own. */
static int grow_stack(struct rx_pcre *p)
{
	if (p->stack)
		return -E2BIG;
	p->stack = pcre2_jit_stack_create(STACK_FIRST_BYTES, STACK_MAX_BYTES, NULL);
	if (!p->stack)
		return -ENOMEM;
	pcre2_jit_stack_assign(p->context, NULL, p->stack);
	return 0;
}

static int failed(struct rx *rx, int code)
{
	PCRE2_UCHAR words[200] = "";

	switch (code) {
	case PCRE2_ERROR_MATCHLIMIT:
	case PCRE2_ERROR_DEPTHLIMIT:
	case PCRE2_ERROR_HEAPLIMIT:
	case PCRE2_ERROR_JIT_STACKLIMIT:
		return err_set(&rx->err, E2BIG, "the pattern takes too many steps");
	case PCRE2_ERROR_NOMEMORY:
		return err_sys(&rx->err, ENOMEM, "the pattern cannot be matched");
	}
	pcre2_get_error_message(code, words, sizeof(words));
	return err_set(&rx->err, EILSEQ, "the pattern cannot be matched: %s", (const char *)words);
}

/* The character that begins at most at @at, which is behind @from; and the next one. */
static size_t char_before(const char *s, size_t n, size_t at, size_t *next)
{
	uint32_t cp;
	unsigned int len;

	for (int i = 0; i < 3 && at && ((unsigned char)s[at] & 0xc0) == 0x80; i++)
		at--;
	len = utf8_decode(s + at, n - at, &cp);
	*next = at + (len ? len : 1);
	return at;
}

static inline int match(struct rx_pcre *p, const struct rx_code *c, const char *s, size_t n,
			size_t from)
{
	return c->jit ? pcre2_jit_match(c->code, (PCRE2_SPTR)s, n, from, 0, p->data, p->context) :
	       pcre2_match(c->code, (PCRE2_SPTR)s, n, from, kind_match[p->kind], p->data,
			   p->context);
}

/* The same with guarded code, in steps. */
static int match_guarded(struct rx_pcre *p, const struct rx_code *c, const char *s, size_t n,
			 size_t from)
{
	size_t step = STEP_FIRST_BYTES;
	int code;

	p->until_ns = 0;
	p->callouts = 0;
	if (n - from <= step)
		return match(p, c, s, n, from);

	for (;;) {
		size_t next = n;

		pcre2_set_offset_limit(p->context, n - from <= step ? PCRE2_UNSET :
				       char_before(s, n, from + step, &next));
		code = match(p, c, s, n, from);
		if (code != PCRE2_ERROR_NOMATCH || n - from <= step)
			break;
		if (too_long(p)) {
			code = PCRE2_ERROR_MATCHLIMIT;
			break;
		}
		from = next;
		step = step < STEP_MOST_BYTES ? step * 2 : step;
	}
	pcre2_set_offset_limit(p->context, PCRE2_UNSET);
	return code;
}

static ptrdiff_t pcre_matches(struct rx *rx, const char *s, size_t n, struct rx_walk *w,
			      struct tape_span *hole, size_t cap)
{
	struct rx_pcre *p = rx->state;
	const struct rx_code *c = choose(p, s, n, w->from);
	size_t k = 0;

	while (k < cap && w->from <= n) {
		const int code = p->guarded ? match_guarded(p, c, s, n, w->from) :
				 match(p, c, s, n, w->from);

		if (code >= 0)
			k += rx_take(w, s, n, p->found[0], p->found[1], &hole[k]);
		else if (code == PCRE2_ERROR_NOMATCH)
			w->from = n + 1;
		else if (code != PCRE2_ERROR_JIT_STACKLIMIT || grow_stack(p))
			return failed(rx, code);
	}
	return (ptrdiff_t)k;
}

const struct rx_engine rx_pcre = {
	.name = "PCRE2", .compile = pcre_compile, .matches = pcre_matches, .release = pcre_release,
};
