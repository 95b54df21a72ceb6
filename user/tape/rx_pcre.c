/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: invalid UTF-8 is matched by nothing and passed on as it is
 * (PCRE2_MATCH_INVALID_UTF). Most text is valid, or even ASCII, where PCRE2 need not look:
 * the caller's subject is looked at once, eight bytes at a time, and the pattern is compiled
 * for both, the second time when the first subject needs it.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <errno.h>
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "tape/rx.h"

#define MATCH_LIMIT 50000000u	/* steps in one match: some seconds */
#define HEAP_LIMIT_KIB (64u << 10)
#define STACK_FIRST_BYTES ((size_t)32 << 10)
#define STACK_MAX_BYTES ((size_t)8 << 20)

#define COMPILE_FLAGS (PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_ALT_CIRCUMFLEX | \
		       PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C | PCRE2_MATCH_INVALID_UTF)

struct rx_pcre {
	pcre2_code *code;
	pcre2_match_data *data;
	pcre2_match_context *context;
	pcre2_compile_context *compile;
	pcre2_jit_stack *stack;
	bool jit;
};

static void pcre_release(struct rx *rx)
{
	struct rx_pcre *p = rx->state;

	if (!p)
		return;
	pcre2_code_free(p->code);
	pcre2_match_data_free(p->data);
	pcre2_match_context_free(p->context);
	pcre2_compile_context_free(p->compile);
	pcre2_jit_stack_free(p->stack);
	free(p);
}

static int refused(int code, size_t at, const char *text, struct err *err)
{
	PCRE2_UCHAR words[200] = "";

	(void)at;
	pcre2_get_error_message(code, words, sizeof(words));
	return err_set(err, EINVAL, "regex parse error:\n    %.200s\nerror: %s", text,
		       (const char *)words);
}

static int pcre_build(struct rx_pcre *p, const struct buf *text, const char *pattern,
		      struct err *err)
{
	size_t at;
	int code;

	p->compile = pcre2_compile_context_create(NULL);
	p->context = pcre2_match_context_create(NULL);
	if (!p->compile || !p->context)
		return err_sys(err, ENOMEM, "cannot compile the pattern");
	pcre2_set_newline(p->compile, PCRE2_NEWLINE_LF);
	p->code = pcre2_compile((PCRE2_SPTR)(text->data ? text->data : ""), text->len,
				COMPILE_FLAGS, &code, &at, p->compile);
	if (!p->code)
		return refused(code, at, pattern, err);
	p->data = pcre2_match_data_create(1, NULL);
	if (!p->data)
		return err_sys(err, ENOMEM, "cannot compile the pattern");
	pcre2_set_match_limit(p->context, MATCH_LIMIT);
	pcre2_set_heap_limit(p->context, HEAP_LIMIT_KIB);
	p->jit = !pcre2_jit_compile(p->code, PCRE2_JIT_COMPLETE);
	return 0;
}

static int pcre_compile(struct rx *rx, const char *pattern, size_t len, struct err *err)
{
	struct buf text = BUF_INIT;
	struct rx_pcre *p;
	int r = rxsyntax_translate(&text, pattern, len, &rx->shape, err);

	if (!r) {
		rx->state = p = calloc(1, sizeof(*p));
		r = p ? pcre_build(p, &text, pattern, err) :
		    err_sys(err, ENOMEM, "cannot compile the pattern");
	}
	buf_release(&text);
	return r;
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

static int pcre_find(struct rx *rx, const char *s, size_t n, size_t from, size_t *start,
		     size_t *end)
{
	struct rx_pcre *p = rx->state;
	const PCRE2_SIZE *at;
	int code, r;

	for (;;) {
		code = p->jit ? pcre2_jit_match(p->code, (PCRE2_SPTR)s, n, from, 0, p->data,
						p->context) :
		       pcre2_match(p->code, (PCRE2_SPTR)s, n, from, 0, p->data, p->context);
		if (code != PCRE2_ERROR_JIT_STACKLIMIT)
			break;
		r = grow_stack(p);
		if (r)
			break;
	}
	if (code == PCRE2_ERROR_NOMATCH)
		return 0;
	if (code < 0)
		return failed(rx, code);
	at = pcre2_get_ovector_pointer(p->data);
	*start = at[0];
	*end = at[1];
	return 1;
}

const struct rx_engine rx_pcre = {
	.name = "PCRE2", .compile = pcre_compile, .find = pcre_find, .release = pcre_release,
};
