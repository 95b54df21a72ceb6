/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. Rust's v0 mangling (RFC 2603) read by recursive descent, printing on
 * the way. Disambiguators, hashes and the instantiating crate are left out.
 * Depth, output and steps (backrefs can blow up) are bounded; what is over
 * the bounds or not in the grammar is no v0 name, and is shown as it stands.
 */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "sym/symname.h"

#define DEPTH_MAX 100
#define STEPS_MAX 4096

struct rust {
	const char *s;		/* behind _R */
	size_t n, at;
	char *out;
	size_t len, cap;
	int depth, steps;
	bool bad, quiet;	/* quiet: parse, print nothing */
};

static void path(struct rust *r, bool in_value);
static void type(struct rust *r);

static char peek(const struct rust *r)
{
	return r->at < r->n ? r->s[r->at] : 0;
}

static char next(struct rust *r)
{
	if (r->at >= r->n) {
		r->bad = true;
		return 0;
	}
	return r->s[r->at++];
}

static bool eat(struct rust *r, char c)
{
	if (peek(r) != c)
		return false;
	r->at++;
	return true;
}

static void put_bytes(struct rust *r, const char *s, size_t n)
{
	if (r->quiet || r->bad)
		return;
	if (n >= r->cap - r->len) {
		r->bad = true;
		return;
	}
	memcpy(r->out + r->len, s, n);
	r->len += n;
	r->out[r->len] = 0;
}

static void put(struct rust *r, const char *s)
{
	put_bytes(r, s, strlen(s));
}

static bool enter(struct rust *r)
{
	if (++r->depth > DEPTH_MAX || ++r->steps > STEPS_MAX)
		r->bad = true;
	return !r->bad;
}

/* "_" is 0, "0_" is 1. */
static uint64_t base62(struct rust *r)
{
	uint64_t v = 0;

	if (eat(r, '_'))
		return 0;
	while (!eat(r, '_')) {
		char c = next(r);
		unsigned int d;

		if (isdigit((unsigned char)c))
			d = (unsigned int)(c - '0');
		else if (c >= 'a' && c <= 'z')
			d = (unsigned int)(c - 'a') + 10;
		else if (c >= 'A' && c <= 'Z')
			d = (unsigned int)(c - 'A') + 36;
		else
			r->bad = true, d = 0;
		if (r->bad || v > UINT64_MAX / 62 - 1) {
			r->bad = true;
			return 0;
		}
		v = v * 62 + d;
	}
	return v + 1;
}

static uint64_t disambiguator(struct rust *r)
{
	return eat(r, 's') ? base62(r) + 1 : 0;
}

/* The bytes of an identifier, still in the input. */
static const char *identifier(struct rust *r, size_t *n)
{
	size_t len = 0;
	const char *s;

	eat(r, 'u');
	if (!isdigit((unsigned char)peek(r)))
		r->bad = true;
	if (!eat(r, '0')) {
		while (isdigit((unsigned char)peek(r)) && len < r->n)
			len = len * 10 + (size_t)(next(r) - '0');
	}
	eat(r, '_');
	if (r->bad || len > r->n - r->at) {
		r->bad = true;
		*n = 0;
		return r->s;
	}
	s = r->s + r->at;
	r->at += len;
	*n = len;
	return s;
}

/* Parses by @what at an earlier place. */
static void backref(struct rust *r, size_t start, void (*what)(struct rust *, bool), bool arg)
{
	uint64_t to = base62(r);
	size_t back = r->at;

	if (r->bad || to >= start) {
		r->bad = true;
		return;
	}
	/* What it refers to was printed or checked already. */
	if (r->quiet)
		return;
	r->at = (size_t)to;
	what(r, arg);
	r->at = back;
}

static void type_arg(struct rust *r, bool unused)
{
	(void)unused;
	type(r);
}

static void lifetime(struct rust *r)
{
	put(r, base62(r) ? "'a" : "'_");
}

static void constant(struct rust *r, bool unused)
{
	size_t start = r->at;
	char kind = next(r);

	(void)unused;
	if (kind == 'B') {
		backref(r, start, constant, false);
	} else if (kind == 'p') {
		put(r, "_");
	} else if (strchr("asilxnhtmjyobc", kind) && kind) {
		size_t from;
		uint64_t v = 0;
		char text[32];

		if (eat(r, 'n'))
			put(r, "-");
		for (from = r->at; isxdigit((unsigned char)peek(r)); r->at++) {
			char c = peek(r);

			v = v << 4 | (uint64_t)(isdigit((unsigned char)c) ? c - '0' : c - 'a' + 10);
		}
		if (r->at - from > 16)
			put(r, "_");
		else if (kind == 'b')
			put(r, v ? "true" : "false");
		else {
			snprintf(text, sizeof(text), "%llu", (unsigned long long)v);
			put(r, text);
		}
		if (!eat(r, '_'))
			r->bad = true;
	} else {
		r->bad = true;
	}
}

static void generic_args(struct rust *r)
{
	bool first = true;

	put(r, "<");
	while (!r->bad && !eat(r, 'E')) {
		if (!first)
			put(r, ", ");
		first = false;
		if (eat(r, 'L'))
			lifetime(r);
		else if (eat(r, 'K'))
			constant(r, false);
		else
			type(r);
	}
	put(r, ">");
}

/* The path of the impl itself says where it stands; who reads wants the type. */
static void skip_impl_path(struct rust *r)
{
	bool quiet = r->quiet;

	disambiguator(r);
	r->quiet = true;
	path(r, false);
	r->quiet = quiet;
}

static void nested(struct rust *r, bool in_value)
{
	char space = next(r), text[32];
	uint64_t dis;
	const char *id;
	size_t n;

	path(r, in_value);
	dis = disambiguator(r);
	id = identifier(r, &n);
	if (islower((unsigned char)space)) {
		if (n) {
			put(r, "::");
			put_bytes(r, id, n);
		}
		return;
	}
	put(r, "::{");
	put(r, space == 'C' ? "closure" : space == 'S' ? "shim" : "?");
	if (n) {
		put(r, ":");
		put_bytes(r, id, n);
	}
	snprintf(text, sizeof(text), "#%llu}", (unsigned long long)dis);
	put(r, text);
}

static void path(struct rust *r, bool in_value)
{
	size_t start = r->at, n;
	char kind = next(r);
	const char *id;

	if (!enter(r))
		return;
	switch (kind) {
	case 'C':
		disambiguator(r);
		id = identifier(r, &n);
		put_bytes(r, id, n);
		break;
	case 'M':
	case 'X':
		skip_impl_path(r);
		__attribute__((fallthrough));
	case 'Y':
		put(r, "<");
		type(r);
		if (kind != 'M') {
			put(r, " as ");
			path(r, false);
		}
		put(r, ">");
		break;
	case 'N':
		nested(r, in_value);
		break;
	case 'I':
		path(r, in_value);
		if (in_value)
			put(r, "::");
		generic_args(r);
		break;
	case 'B':
		backref(r, start, path, in_value);
		break;
	default:
		r->bad = true;
	}
	r->depth--;
}

static const char *basic_type(char c)
{
	static const char *const name[26] = {
		['a' - 'a'] = "i8", ['b' - 'a'] = "bool", ['c' - 'a'] = "char",
		['d' - 'a'] = "f64", ['e' - 'a'] = "str", ['f' - 'a'] = "f32",
		['h' - 'a'] = "u8", ['i' - 'a'] = "isize", ['j' - 'a'] = "usize",
		['l' - 'a'] = "i32", ['m' - 'a'] = "u32", ['n' - 'a'] = "i128",
		['o' - 'a'] = "u128", ['p' - 'a'] = "_", ['s' - 'a'] = "i16",
		['t' - 'a'] = "u16", ['u' - 'a'] = "()", ['v' - 'a'] = "...",
		['x' - 'a'] = "i64", ['y' - 'a'] = "u64", ['z' - 'a'] = "!",
	};

	return c >= 'a' && c <= 'z' ? name[c - 'a'] : NULL;
}

static void binder(struct rust *r)
{
	if (eat(r, 'G'))
		base62(r);
}

static void function_type(struct rust *r)
{
	bool first = true;
	size_t n;

	binder(r);
	if (eat(r, 'U'))
		put(r, "unsafe ");
	if (eat(r, 'K')) {
		put(r, "extern ");
		if (!eat(r, 'C'))
			identifier(r, &n);
	}
	put(r, "fn(");
	while (!r->bad && !eat(r, 'E')) {
		if (!first)
			put(r, ", ");
		first = false;
		type(r);
	}
	put(r, ")");
	if (!eat(r, 'u')) {
		put(r, " -> ");
		type(r);
	}
}

static void dyn_type(struct rust *r)
{
	bool first = true;

	put(r, "dyn ");
	binder(r);
	while (!r->bad && !eat(r, 'E')) {
		if (!first)
			put(r, " + ");
		first = false;
		path(r, false);
		while (!r->bad && eat(r, 'p')) {
			const char *id;
			size_t n;

			put(r, "<");
			id = identifier(r, &n);
			put_bytes(r, id, n);
			put(r, " = ");
			type(r);
			put(r, ">");
		}
	}
	if (!eat(r, 'L'))
		r->bad = true;
	else
		base62(r);
}

static void tuple_type(struct rust *r)
{
	int n = 0;

	put(r, "(");
	while (!r->bad && !eat(r, 'E')) {
		if (n++)
			put(r, ", ");
		type(r);
	}
	put(r, n == 1 ? ",)" : ")");
}

static void array_type(struct rust *r, bool sized)
{
	put(r, "[");
	type(r);
	if (sized) {
		put(r, "; ");
		constant(r, false);
	}
	put(r, "]");
}

static void pointer_type(struct rust *r, char kind)
{
	put(r, kind == 'P' ? "*const " : kind == 'O' ? "*mut " : "&");
	if ((kind == 'R' || kind == 'Q') && eat(r, 'L'))
		base62(r);
	if (kind == 'Q')
		put(r, "mut ");
	type(r);
}

static void type(struct rust *r)
{
	size_t start = r->at;
	char kind = next(r);
	const char *basic = basic_type(kind);

	if (!enter(r))
		return;
	if (basic) {
		put(r, basic);
		r->depth--;
		return;
	}
	switch (kind) {
	case 'A':
	case 'S':
		array_type(r, kind == 'A');
		break;
	case 'T':
		tuple_type(r);
		break;
	case 'R':
	case 'Q':
	case 'P':
	case 'O':
		pointer_type(r, kind);
		break;
	case 'F':
		function_type(r);
		break;
	case 'D':
		dyn_type(r);
		break;
	case 'B':
		backref(r, start, type_arg, false);
		break;
	default:
		r->at = start;
		path(r, false);
	}
	r->depth--;
}

int symname_rust_v0(const char *name, char *out, size_t bytes)
{
	struct rust r = { .out = out, .cap = bytes };

	if (strncmp(name, "_R", 2) || !isupper((unsigned char)name[2]) || !bytes)
		return -EINVAL;
	r.s = name + 2;
	r.n = strlen(r.s);
	out[0] = 0;
	path(&r, true);
	return r.bad || !r.len ? -EINVAL : (int)r.len;
}
