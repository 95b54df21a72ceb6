/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: PCRE2 has neither classes in classes nor operators on them. A class is read into
 * two parts: what a PCRE2 class can hold, and expressions of one character for the rest.
 * A && B is then (?:(?=A)B), A -- B is (?:(?!B)A), and A ~~ B is both ways without the other.
 */
#include <errno.h>
#include <string.h>

#include "tape/rxparse.h"

#define UNCLOSED "unclosed character class"

/* A union while it is read. */
struct class_union {
	struct buf items;	/* of a PCRE2 class */
	struct buf others;	/* expressions of one character, parted by | */
	size_t nothers;
};

static const struct { const char *name, *ascii; } posix_classes[] = {
	{ "alnum", "0-9A-Za-z" }, { "alpha", "A-Za-z" }, { "ascii", "\\x{0}-\\x{7f}" },
	{ "blank", "\\x{9}\\x{20}" }, { "cntrl", "\\x{0}-\\x{1f}\\x{7f}" }, { "digit", "0-9" },
	{ "graph", "\\x{21}-\\x{7e}" }, { "lower", "a-z" }, { "print", "\\x{20}-\\x{7e}" },
	{ "punct", "\\x{21}-\\x{2f}\\x{3a}-\\x{40}\\x{5b}-\\x{60}\\x{7b}-\\x{7e}" },
	{ "space", "\\x{9}-\\x{d}\\x{20}" }, { "upper", "A-Z" }, { "word", "0-9A-Za-z_" },
	{ "xdigit", "0-9A-Fa-f" },
};

static void add_other(struct class_union *u, const struct buf *expr)
{
	buf_addf(&u->others, "%s%s", u->nothers ? "|" : "", expr->data ? expr->data : "");
	u->nothers++;
}

static void add_set(struct class_union *u, const char *text, bool negated)
{
	struct buf b = BUF_INIT;

	if (!negated) {
		buf_adds(&u->items, text);
		return;
	}
	buf_addf(&b, "[^%s]", text);
	add_other(u, &b);
	buf_release(&b);
}

/* The union as an expression; a class of nothing matches nothing. */
static void union_text(struct class_union *u, struct buf *out)
{
	if (!u->nothers && !u->items.len)
		buf_adds(out, "(?!)");
	else if (!u->nothers)
		buf_addf(out, "[%s]", u->items.data);
	else if (!u->items.len)
		buf_addf(out, "(?:%s)", u->others.data);
	else
		buf_addf(out, "(?:[%s]|%s)", u->items.data, u->others.data);
	out->failed |= u->items.failed || u->others.failed;
	buf_release(&u->items);
	buf_release(&u->others);
	*u = (struct class_union){ 0 };
}

/* "[:^name:]": true when it was one. */
static bool read_posix(struct rx_parse *r, struct class_union *u)
{
	const char *p = r->p + 2;
	const bool negated = p < r->end && *p == '^';

	if (!rx_at_text(r, "[:"))
		return false;
	p += negated;
	for (size_t i = 0; i < sizeof(posix_classes) / sizeof(posix_classes[0]); i++) {
		const size_t n = strlen(posix_classes[i].name);

		if ((size_t)(r->end - p) >= n + 2 && !memcmp(p, posix_classes[i].name, n) &&
		    p[n] == ':' && p[n + 1] == ']') {
			r->p = p + n + 2;
			add_set(u, posix_classes[i].ascii, negated);
			return true;
		}
	}
	return false;
}

static void skip_blanks(struct rx_parse *r)
{
	while (r->flags.extended && r->p < r->end && rx_skip_blank(r))
		;
}

/* One end of a range, or a class by an escape: *cp and 0, or 1 when it was added to @u. */
static int read_item(struct rx_parse *r, struct class_union *u, uint32_t *cp)
{
	struct rx_escaped e;
	const char *at = r->p;
	int rc;

	if (*r->p != '\\') {
		r->p += rx_peek(r, cp);
		if (!r->flags.unicode && *cp >= 0x80)
			return rx_refuse(r, at, "Unicode not allowed here");
		return 0;
	}
	r->p++;
	rc = rx_read_escape(r, &e);
	if (rc)
		return rc;
	if (e.kind == RX_ESC_ASSERT)
		return rx_refuse(r, at, "invalid escape sequence in character class");
	*cp = e.cp;
	if (e.kind == RX_ESC_CHAR)
		return 0;
	if (!u)
		return rx_refuse(r, at, "invalid range boundary, must be a literal");
	add_set(u, e.text, e.negated);
	return 1;
}

static int read_range(struct rx_parse *r, struct class_union *u)
{
	const char *at = r->p;
	uint32_t low, high;
	int rc = read_item(r, u, &low);

	if (rc)
		return rc < 0 ? rc : 0;
	skip_blanks(r);
	high = low;
	if (rx_at_text(r, "-") && !rx_at_text(r, "--") && r->p + 1 < r->end && r->p[1] != ']') {
		r->p++;
		skip_blanks(r);
		if (r->p == r->end)
			return rx_refuse(r, at, UNCLOSED);
		rc = read_item(r, NULL, &high);
		if (rc)
			return rc;
		if (high < low)
			return rx_refuse(r, at, "invalid character class range, the start must be "
					 "<= the end");
	}
	rx_add_char(&u->items, low);
	if (high != low) {
		buf_addc(&u->items, '-');
		rx_add_char(&u->items, high);
	}
	return 0;
}

/* Items up to an operator or the end; literals that may only stand first. */
static int read_union(struct rx_parse *r, struct class_union *u, const char *open, bool first)
{
	bool begun = !first;
	int rc = 0;

	while (!rc) {
		skip_blanks(r);
		if (r->p == r->end)
			return rx_refuse(r, open, UNCLOSED);
		if (!begun && (*r->p == ']' || *r->p == '-')) {
			begun = *r->p == ']';
			rx_add_char(&u->items, (unsigned char)*r->p++);
			continue;
		}
		begun = true;
		if (*r->p == ']' || rx_at_text(r, "&&") || rx_at_text(r, "--") ||
		    rx_at_text(r, "~~"))
			return 0;
		if (*r->p != '[') {
			rc = read_range(r, u);
		} else if (!read_posix(r, u)) {
			struct buf inner = BUF_INIT;

			r->p++;
			rc = rx_read_class(r, &inner);
			add_other(u, &inner);
			u->others.failed |= inner.failed;
			buf_release(&inner);
		}
	}
	return rc;
}

/* @left OP @right, into @left. */
static void combine(struct buf *left, char op, const struct buf *right)
{
	struct buf b = BUF_INIT;
	const char *l = left->data ? left->data : "", *r = right->data ? right->data : "";

	if (op == '&')
		buf_addf(&b, "(?:(?=%s)%s)", l, r);
	else if (op == '-')
		buf_addf(&b, "(?:(?!%s)%s)", r, l);
	else
		buf_addf(&b, "(?:(?!%s)%s|(?!%s)%s)", r, l, l, r);
	b.failed |= left->failed || right->failed;
	buf_release(left);
	*left = b;
}

static int read_operators(struct rx_parse *r, struct class_union *u, struct buf *set,
			  const char *open)
{
	int rc = 0;

	while (!rc && *r->p != ']') {
		struct buf right = BUF_INIT;
		const char op = *r->p;

		r->p += 2;
		rc = read_union(r, u, open, false);
		if (rc)
			break;
		union_text(u, &right);
		combine(set, op, &right);
		buf_release(&right);
		/* Each of them doubles the text or more, in each other too: an end to that. */
		if (!rc && set->len > 1 << 16)
			rc = rx_refuse(r, open, "compiled regex exceeds size limit");
	}
	return rc;
}

int rx_read_class(struct rx_parse *r, struct buf *out)
{
	const char *open = r->p - 1;
	struct class_union u = { 0 };
	struct buf set = BUF_INIT;
	bool negated;
	int rc;

	if (++r->depth > RX_DEPTH_MAX)
		return rx_refuse(r, open, "exceed the maximum number of nested "
				 "parentheses/brackets");
	skip_blanks(r);
	negated = rx_at_text(r, "^");
	r->p += negated;
	if (negated && !r->flags.unicode)
		return rx_refuse(r, open, "pattern can match invalid UTF-8");
	rc = read_union(r, &u, open, true);
	if (rc) {
		/* Nothing is written of what is refused. */
	} else if (*r->p == ']' && !u.nothers && u.items.len) {
		buf_addf(out, "[%s%s]", negated ? "^" : "", u.items.data);
		out->failed |= u.items.failed;
	} else {
		union_text(&u, &set);
		rc = read_operators(r, &u, &set, open);
		buf_addf(out, negated ? "(?:(?!%s)(?s:.))" : "%s", set.data ? set.data : "");
		out->failed |= set.failed;
	}
	buf_release(&set);
	buf_release(&u.items);
	buf_release(&u.others);
	if (!rc)
		r->p++;
	r->depth--;
	return rc;
}
