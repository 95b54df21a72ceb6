/* SPDX-License-Identifier: MIT */
#include "sym/symname.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* A suffix and whether a number follows it, in any case or never. */
static const struct {
	const char *text;
	bool number;
} clones[] = {
	{ ".lto_priv", true },
	{ ".constprop", true },
	{ ".isra", true },
	{ ".part", true },
	{ ".cold", true },
	{ ".clone", true },
	{ ".llvm", true },
	{ ".localalias", true },
	{ ".hot", true },
	{ ".unlikely", true },
	{ ".warm", false },
	{ ".exit", false },
	{ "", true },
};

/* Cuts one suffix off name[0..n): the new length, or @n. */
static size_t cut_one(const char *name, size_t n)
{
	size_t bare = n;

	while (bare > 1 && isdigit((unsigned char)name[bare - 1]))
		bare--;
	if (bare < n && bare > 1 && name[bare - 1] == '.')
		bare--;
	else
		bare = n;
	for (size_t i = 0; i < sizeof(clones) / sizeof(clones[0]); i++) {
		size_t len = strlen(clones[i].text);
		size_t end = clones[i].number ? bare : n;

		if (!len)
			return end;
		if (end > len && !memcmp(name + end - len, clones[i].text, len))
			return end - len;
	}
	return n;
}

size_t symname_base_length(const char *name)
{
	const char *at = *name ? strchr(name + 1, '@') : NULL;
	size_t n = at ? (size_t)(at - name) : strlen(name);

	for (;;) {
		size_t m = cut_one(name, n);

		if (m == n || !m)
			return n;
		n = m;
	}
}

/* The escapes of rustc's legacy mangling, which are no C++. */
static const struct {
	const char *text;
	char c;
} escapes[] = {
	{ "$SP$", '@' }, { "$BP$", '*' }, { "$RF$", '&' }, { "$LT$", '<' },
	{ "$GT$", '>' }, { "$LP$", '(' }, { "$RP$", ')' }, { "$C$", ',' },
	{ "$u20$", ' ' }, { "$u22$", '"' }, { "$u27$", '\'' }, { "$u2b$", '+' },
	{ "$u3b$", ';' }, { "$u5b$", '[' }, { "$u5d$", ']' }, { "$u7b$", '{' },
	{ "$u7d$", '}' }, { "$u7e$", '~' },
};

static size_t unescape(const char *s, char *c)
{
	for (size_t i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++) {
		size_t n = strlen(escapes[i].text);

		if (!strncmp(s, escapes[i].text, n)) {
			*c = escapes[i].c;
			return n;
		}
	}
	return 0;
}

int symname_rust_legacy(const char *demangled, char *out, size_t bytes)
{
	const size_t hash = 3 + 16;	/* ::h and the digits */
	size_t n = strlen(demangled), o = 0;

	if (n <= hash || strncmp(demangled + n - hash, "::h", 3))
		return -EINVAL;
	for (size_t i = n - 16; i < n; i++) {
		if (!isxdigit((unsigned char)demangled[i]) ||
		    isupper((unsigned char)demangled[i]))
			return -EINVAL;
	}
	n -= hash;
	for (size_t i = 0; i < n;) {
		char c = demangled[i];
		size_t step = 1;

		if (o + 3 > bytes)
			return -EINVAL;
		if (c == '_' && demangled[i + 1] == '$' && (!i || demangled[i - 1] == ':')) {
			i++;	/* put before a leading escape to make it an identifier */
			continue;
		}
		if (c == '$') {
			step = unescape(demangled + i, &c);
			if (!step)
				step = 1;
		} else if (c == '.' && demangled[i + 1] == '.') {
			out[o++] = ':';
			c = ':';
			step = 2;
		}
		out[o++] = c;
		i += step;
	}
	out[o] = 0;
	return (int)o;
}
