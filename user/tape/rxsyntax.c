/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: one pass with a stack of open groups. What is written has no capturing group and
 * no flag but i: the other flags change what is written for an atom. Where the last atom
 * begins is kept, for a repetition of a repetition, which PCRE2 would take as possessive.
 */
#include "tape/rxsyntax.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/codepoint.h"
#include "tape/rxparse.h"

#define NO_ATOM ((size_t)-1)
#define REPEAT_MAX 65535	/* PCRE2's */
#define LONG_SPREAD 16		/* fewer ways to repeat are not long */
#define TEXT_MAX ((size_t)4 << 20)

struct open_group {
	const char *at;		/* its parenthesis */
	size_t atom;		/* where it begins in the output */
	struct rx_flags flags;	/* of what is around it */
};

struct translation {
	struct rx_parse r;
	struct buf *out;
	struct open_group open[RX_DEPTH_MAX];
	unsigned int nopen;
	size_t atom;		/* where the last one begins; NO_ATOM: nothing to repeat */
	bool repeated;		/* it has a repetition already */
	unsigned int atoms, repeats;	/* for the shape */
	unsigned int long_repeats;
	bool guarded;		/* each of those has a callout behind it */
	bool plus, other;	/* a repetition is "+"; something is more than an atom */
};

static void begin_atom(struct translation *t)
{
	t->atom = t->out->len;
	t->repeated = false;
	t->atoms++;
}

/* Without Unicode, case is that of ASCII: k is not the sign for Kelvin. */
static bool ascii_alone(const struct translation *t)
{
	return t->r.flags.ignore_case && !t->r.flags.unicode && !t->r.ascii;
}

static void begin_character(struct translation *t)
{
	begin_atom(t);
	if (ascii_alone(t))
		buf_adds(t->out, "(?:(?-i:(?=[\\x{0}-\\x{7f}]))");
}

static int end_character(struct translation *t)
{
	if (ascii_alone(t))
		buf_addc(t->out, ')');
	return 0;
}

static int add_literal(struct translation *t, uint32_t cp)
{
	begin_character(t);
	rx_add_char(t->out, cp);
	return end_character(t);
}

static void add_flag_change(struct translation *t, const struct rx_flags *f)
{
	if (f->ignore_case != t->r.flags.ignore_case)
		buf_adds(t->out, f->ignore_case ? "(?i)" : "(?-i)");
	t->r.flags = *f;
}

static int add_dot(struct translation *t)
{
	if (!t->r.flags.unicode)
		return rx_refuse(&t->r, t->r.p - 1, "pattern can match invalid UTF-8");
	begin_atom(t);
	buf_adds(t->out, t->r.flags.dot_all ? "(?s:.)" : "\\N");
	return 0;
}

static int add_assert(struct translation *t, const char *text)
{
	begin_atom(t);
	t->other = true;
	/* PCRE2 repeats no assertion: it is to be wrapped, as what is repeated already. */
	t->repeated = true;
	buf_adds(t->out, text);
	return 0;
}

static int add_escape(struct translation *t)
{
	struct rx_escaped e;
	int rc = rx_read_escape(&t->r, &e);

	if (rc)
		return rc;
	if (e.kind == RX_ESC_CHAR)
		return add_literal(t, e.cp);
	if (e.kind == RX_ESC_ASSERT)
		return add_assert(t, e.text);
	begin_character(t);
	buf_addf(t->out, "[%s%s]", e.negated ? "^" : "", e.text);
	return end_character(t);
}

/* What stands behind "(?" up to ":" or ")". */
static int read_flags(struct translation *t, struct rx_flags *f)
{
	const char *at = t->r.p;
	bool on = true, any = false;

	for (; t->r.p < t->r.end; t->r.p++) {
		switch (*t->r.p) {
		case 'i': f->ignore_case = on; break;
		case 'm': f->multi_line = on; break;
		case 's': f->dot_all = on; break;
		case 'U': f->swap_greed = on; break;
		case 'u': f->unicode = on; break;
		case 'x': f->extended = on; break;
		case '-':
			if (!on)
				return rx_refuse(&t->r, t->r.p, "flag negation operator repeated");
			on = false;
			any = false;
			continue;
		case ')':
		case ':':
			if (!any && !(on && *t->r.p == ':'))
				return rx_refuse(&t->r, at - 1, on ? "repetition operator missing "
						 "expression" : "dangling flag negation operator");
			return 0;
		default:
			return rx_refuse(&t->r, t->r.p, "unrecognized flag");
		}
		any = true;
	}
	return rx_refuse(&t->r, at - 2, "unclosed group");
}

static int push_group(struct translation *t, const char *at, size_t atom,
		      const struct rx_flags *inside)
{
	if (t->nopen == RX_DEPTH_MAX)
		return rx_refuse(&t->r, at, "exceed the maximum number of nested "
				 "parentheses/brackets");
	t->open[t->nopen++] = (struct open_group){ at, atom, t->r.flags };
	buf_adds(t->out, "(?:");
	add_flag_change(t, inside);
	t->atom = NO_ATOM;
	return 0;
}

static int open_group(struct translation *t)
{
	static const char *const looks[] = { "?=", "?!", "?<=", "?<!" };
	const char *at = t->r.p - 1;
	struct rx_flags inside = t->r.flags;
	const size_t atom = t->out->len;
	int rc = 0;

	t->other = true;
	for (size_t i = 0; i < sizeof(looks) / sizeof(looks[0]); i++) {
		if (rx_at_text(&t->r, looks[i]))
			return rx_refuse(&t->r, at, "look-around, including look-ahead and "
					 "look-behind, is not supported");
	}
	if (rx_at_text(&t->r, "?P<") || rx_at_text(&t->r, "?<")) {
		t->r.p += rx_at_text(&t->r, "?<") ? 2 : 3;
		rc = rx_skip_name(&t->r, at);
	} else if (rx_at_text(&t->r, "?")) {
		t->r.p++;
		rc = read_flags(t, &inside);
		if (!rc && *t->r.p++ == ')') {
			add_flag_change(t, &inside);
			t->atom = NO_ATOM;
			return 0;
		}
	}
	return rc ? rc : push_group(t, at, atom, &inside);
}

static int close_group(struct translation *t)
{
	struct open_group *g;

	if (!t->nopen)
		return rx_refuse(&t->r, t->r.p - 1, "unopened group");
	g = &t->open[--t->nopen];
	buf_addc(t->out, ')');
	/* PCRE2 ends flags with the group too. */
	t->r.flags = g->flags;
	t->atom = g->atom;
	t->repeated = false;
	return 0;
}

static int read_count(struct translation *t, uint64_t *n)
{
	const char *at = t->r.p;

	*n = 0;
	for (; t->r.p < t->r.end && *t->r.p >= '0' && *t->r.p <= '9'; t->r.p++) {
		*n = *n * 10 + (uint64_t)(*t->r.p - '0');
		if (*n > REPEAT_MAX)
			return rx_refuse(&t->r, at, "repetition is larger than 65535");
	}
	if (t->r.p == at)
		return rx_refuse(&t->r, at, "repetition quantifier expects a valid decimal");
	return 0;
}

/* "{N}", "{N,}", "{N,M}" from behind the brace, written to @text; *spread: M - N. */
static int read_braces(struct translation *t, struct buf *text, uint64_t *spread)
{
	const char *open = t->r.p - 1;
	uint64_t low, high;
	int rc = read_count(t, &low);

	if (rc)
		return rc;
	buf_addf(text, "{%llu", (unsigned long long)low);
	*spread = 0;
	if (rx_at_text(&t->r, ",")) {
		t->r.p++;
		buf_addc(text, ',');
		*spread = REPEAT_MAX;
		if (!rx_at_text(&t->r, "}") && t->r.p < t->r.end) {
			rc = read_count(t, &high);
			if (!rc && high < low)
				rc = rx_refuse(&t->r, open, "invalid repetition count range, the "
					       "start must be <= the end");
			buf_addf(text, "%llu", (unsigned long long)high);
			*spread = high - low;
		}
	}
	if (!rc && !rx_at_text(&t->r, "}"))
		rc = rx_refuse(&t->r, open, "unclosed counted repetition");
	t->r.p++;
	buf_addc(text, '}');
	return rc;
}

/* Puts "(?:" and ")" around the last atom with its repetition. */
static void wrap_atom(struct translation *t)
{
	struct buf tail = BUF_INIT;

	buf_add(&tail, t->out->data + t->atom, t->out->len - t->atom);
	t->out->len = t->atom;
	buf_addf(t->out, "(?:%s)", tail.data ? tail.data : "");
	t->out->failed |= tail.failed;
	buf_release(&tail);
}

static int add_repeat(struct translation *t, char c)
{
	struct buf text = BUF_INIT;
	uint64_t spread = c == '?' ? 1 : REPEAT_MAX;
	bool lazy;
	int rc = 0;

	if (t->atom == NO_ATOM)
		return rx_refuse(&t->r, t->r.p - 1, "repetition operator missing expression");
	if (t->repeated)
		wrap_atom(t);
	if (c == '{')
		rc = read_braces(t, &text, &spread);
	else
		buf_addc(&text, c);
	if (!rc) {
		lazy = rx_at_text(&t->r, "?");
		t->r.p += lazy;
		buf_adds(t->out, text.data);
		if (lazy != t->r.flags.swap_greed)
			buf_addc(t->out, '?');
		t->long_repeats += spread >= LONG_SPREAD;
		if (t->guarded && spread >= LONG_SPREAD)
			buf_adds(t->out, "(?C)");
		t->plus = c == '+' && !lazy && !t->r.flags.swap_greed;
		t->repeated = true;
		t->repeats++;
	}
	t->out->failed |= text.failed;
	buf_release(&text);
	return rc;
}

static int add_class(struct translation *t)
{
	int rc;

	begin_character(t);
	rc = rx_read_class(&t->r, t->out);
	return rc ? rc : end_character(t);
}

static int add_next(struct translation *t)
{
	uint32_t cp = 0;
	unsigned int n;

	switch (*t->r.p++) {
	case '(':
		return open_group(t);
	case ')':
		return close_group(t);
	case '|':
		t->other = true;
		t->atom = NO_ATOM;
		return buf_addc(t->out, '|');
	case '*':
	case '+':
	case '?':
	case '{':
		return add_repeat(t, t->r.p[-1]);
	case '[':
		return add_class(t);
	case '.':
		return add_dot(t);
	case '\\':
		return add_escape(t);
	case '^':
		return add_assert(t, t->r.flags.multi_line ? "^" : "\\A");
	case '$':
		return add_assert(t, t->r.flags.multi_line ? "$" : "\\z");
	}
	t->r.p--;
	n = rx_peek(&t->r, &cp);
	if (!t->r.flags.unicode && cp >= 0x80)
		return rx_refuse(&t->r, t->r.p, "Unicode not allowed here");
	t->r.p += n;
	return add_literal(t, cp);
}

static enum rx_shape shape_of(const struct translation *t)
{
	if (t->other || t->atoms != 1 || t->repeats > 1)
		return RX_GENERAL;
	if (!t->repeats)
		return RX_ONE;
	return t->plus ? RX_RUN : RX_GENERAL;
}

static int check_utf8(struct translation *t)
{
	uint32_t cp;

	for (size_t i = 0, n; t->r.start + i < t->r.end; i += n) {
		n = utf8_decode(t->r.start + i, (size_t)(t->r.end - t->r.start) - i, &cp);
		if (!n)
			return err_set(t->r.err, EINVAL, "the pattern is not UTF-8 at byte %zu",
				       i + 1);
	}
	return 0;
}

int rxsyntax_translate(struct buf *out, const char *pattern, size_t len, unsigned int how,
		       enum rx_shape *shape, unsigned int *long_repeats, struct err *err)
{
	struct translation *t = calloc(1, sizeof(*t));
	int rc;

	if (!t)
		return err_sys(err, ENOMEM, "cannot read the pattern");
	t->r = (struct rx_parse){ .start = pattern, .p = pattern, .end = pattern + len, .err = err,
				  .ascii = how & RX_ASCII,
				  .flags = { .multi_line = true, .unicode = true } };
	t->out = out;
	t->guarded = how & RX_GUARDED;
	t->atom = NO_ATOM;
	rc = check_utf8(t);
	while (!rc && t->r.p < t->r.end) {
		if (t->r.flags.extended && rx_skip_blank(&t->r))
			continue;
		rc = add_next(t);
		if (!rc && out->len > TEXT_MAX)
			rc = rx_refuse(&t->r, t->r.p, "compiled regex exceeds size limit");
	}
	if (!rc && t->nopen)
		rc = rx_refuse(&t->r, t->open[t->nopen - 1].at, "unclosed group");
	if (rc == -ENOMEM || (!rc && out->failed))
		rc = err_sys(err, ENOMEM, "cannot read the pattern");
	*shape = shape_of(t);
	*long_repeats = t->long_repeats;
	free(t);
	return rc;
}
