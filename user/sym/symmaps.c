/* SPDX-License-Identifier: MIT */
#include "sym/symmaps.h"

#include <string.h>

static bool hex_field(const char **p, const char *end, char stop, uint64_t *out)
{
	const char *s = *p;
	uint64_t v = 0;
	int digits = 0;

	for (; s < end && *s != stop; s++) {
		unsigned int d;

		if (*s >= '0' && *s <= '9')
			d = (unsigned int)(*s - '0');
		else if (*s >= 'a' && *s <= 'f')
			d = (unsigned int)(*s - 'a') + 10;
		else
			return false;
		if (++digits > 16)
			return false;
		v = v << 4 | d;
	}
	if (s == end || !digits)
		return false;
	*p = s + 1;
	*out = v;
	return true;
}

/* The inode is the last field of an anonymous line, so the end may stop it. */
static bool dec_field(const char **p, const char *end, uint64_t *out)
{
	const char *s = *p;
	uint64_t v = 0;

	for (; s < end && *s != ' '; s++) {
		if (*s < '0' || *s > '9' ||
		    __builtin_mul_overflow(v, 10u, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*s - '0'), &v))
			return false;
	}
	if (s == *p)
		return false;
	*p = s;
	*out = v;
	return true;
}

static bool prot_field(const char **p, const char *end, unsigned int *out)
{
	const char *s = *p;

	if (end - s < 5 || s[4] != ' ')
		return false;
	*out = (s[0] == 'r' ? SYMMAPS_R : 0u) | (s[1] == 'w' ? SYMMAPS_W : 0u) |
	       (s[2] == 'x' ? SYMMAPS_X : 0u);
	*p = s + 5;
	return true;
}

static void path_field(const char *p, const char *end, struct symmaps_line *l)
{
	static const char gone[] = " (deleted)";
	const size_t n = sizeof(gone) - 1;

	while (p < end && *p == ' ')
		p++;
	if (p == end)
		return;
	l->path = p;
	l->path_bytes = (size_t)(end - p);
	if (l->path_bytes > n && !memcmp(end - n, gone, n)) {
		l->path_bytes -= n;
		l->deleted = true;
	}
}

int symmaps_next(const char **text, const char *end, struct symmaps_line *out)
{
	struct symmaps_line l = { 0 };
	const char *p = *text, *eol;
	uint64_t major, minor;

	if (p >= end)
		return -1;
	eol = memchr(p, '\n', (size_t)(end - p));
	*text = eol ? eol + 1 : end;
	if (!eol)
		eol = end;
	if (!hex_field(&p, eol, '-', &l.start) || !hex_field(&p, eol, ' ', &l.end) ||
	    l.start >= l.end || !prot_field(&p, eol, &l.prot) ||
	    !hex_field(&p, eol, ' ', &l.offset) || !hex_field(&p, eol, ':', &major) ||
	    !hex_field(&p, eol, ' ', &minor) || major > UINT32_MAX || minor > UINT32_MAX ||
	    !dec_field(&p, eol, &l.ino))
		return 0;
	l.major = (uint32_t)major;
	l.minor = (uint32_t)minor;
	path_field(p, eol, &l);
	*out = l;
	return 1;
}

size_t symmaps_path(const char *path, size_t bytes, char *out)
{
	size_t i = 0, n = 0;

	while (i < bytes) {
		if (bytes - i >= 4 && !memcmp(path + i, "\\012", 4)) {
			out[n++] = '\n';
			i += 4;
		} else {
			out[n++] = path[i++];
		}
	}
	out[n] = 0;
	return n;
}
