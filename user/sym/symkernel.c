/* SPDX-License-Identifier: MIT */
#include "sym/symkernel.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAMES_MAX ((size_t)256 << 20)	/* bytes */
#define SYMBOLS_MAX ((size_t)4 << 20)
#define REACH_MAX ((uint64_t)1 << 20)	/* no function is longer: what lies behind is unknown */
#define VISIBLE_LINES 16

struct entry {
	uint64_t addr;
	uint32_t name, module;	/* offsets in .names; module 0: none */
};

struct symkernel {
	char *names;		/* NUL-terminated each; the first is empty */
	size_t bytes, cap_bytes;
	struct entry *entry;	/* by address; of equal ones the first of the file last */
	size_t n, cap;
	uint32_t module;	/* the latest: a module's symbols stand together */
};

struct line {
	uint64_t addr;
	const char *name, *module;	/* module NULL: none */
	size_t name_bytes, module_bytes;
	char type;
};

/* "ffffffff81000000 T _stext" or "… t name<TAB>[module]", up to @end. */
static bool read_line(const char *p, const char *end, struct line *out)
{
	const char *tab;
	int digits = 0;

	for (out->addr = 0; p < end && *p != ' '; p++, digits++) {
		int d = *p >= '0' && *p <= '9' ? *p - '0' : (*p | 32) - 'a' + 10;

		if (d < 0 || d > 15 || digits == 16)
			return false;
		out->addr = out->addr << 4 | (uint64_t)d;
	}
	if (!digits || end - p < 4 || p[2] != ' ')
		return false;
	out->type = p[1];
	out->name = p + 3;
	tab = memchr(out->name, '\t', (size_t)(end - out->name));
	out->module = tab ? tab + 1 : NULL;
	out->module_bytes = tab ? (size_t)(end - tab - 1) : 0;
	out->name_bytes = (size_t)((tab ? tab : end) - out->name);
	return out->name_bytes && (!tab || (out->module_bytes > 2 && *out->module == '['));
}

static bool is_code(char type)
{
	return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

/* The offset of a kept copy; 0: no memory. */
static uint32_t keep(struct symkernel *k, const char *s, size_t n)
{
	uint32_t at;

	if (k->bytes + n + 2 > k->cap_bytes) {
		size_t cap = k->cap_bytes ? k->cap_bytes + k->cap_bytes / 2 : 1 << 20;
		char *names = cap > NAMES_MAX || n + 2 > cap - k->bytes ? NULL :
			realloc(k->names, cap);

		if (!names)
			return 0;
		k->names = names;
		k->cap_bytes = cap;
	}
	if (!k->bytes)
		k->names[k->bytes++] = 0;
	at = (uint32_t)k->bytes;
	memcpy(k->names + at, s, n);
	k->names[at + n] = 0;
	k->bytes += n + 1;
	return at;
}

static bool same_module(const struct symkernel *k, const struct line *l)
{
	const char *m = k->module ? k->names + k->module : NULL;

	return m && !strncmp(m, l->module, l->module_bytes) && !m[l->module_bytes];
}

static bool add(struct symkernel *k, const struct line *l)
{
	struct entry e = { .addr = l->addr };

	if (k->n == SYMBOLS_MAX)
		return false;
	if (k->n == k->cap) {
		size_t cap = k->cap ? k->cap + k->cap / 2 : 1 << 16;
		struct entry *grown = realloc(k->entry, cap * sizeof(*grown));

		if (!grown)
			return false;
		k->entry = grown;
		k->cap = cap;
	}
	if (l->module && !same_module(k, l)) {
		k->module = keep(k, l->module, l->module_bytes);
		if (!k->module)
			return false;
	}
	e.module = l->module ? k->module : 0;
	e.name = keep(k, l->name, l->name_bytes);
	if (!e.name)
		return false;
	k->entry[k->n++] = e;
	return true;
}

/* Takes the whole lines of the text; the bytes that they are, or -1: no memory. */
static ssize_t feed(struct symkernel *k, const char *text, size_t bytes)
{
	const char *p = text, *end = text + bytes, *eol;
	struct line l;

	while (p < end && (eol = memchr(p, '\n', (size_t)(end - p)))) {
		if (read_line(p, eol, &l) && l.addr && is_code(l.type) && !add(k, &l))
			return -1;
		p = eol + 1;
	}
	return p - text;
}

static int compare(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->name > y->name ? -1 : x->name < y->name;
}

/* What was fed becomes the table; NULL when that was nothing. */
static struct symkernel *finish(struct symkernel *k)
{
	if (!k->n) {
		symkernel_free(k);
		return NULL;
	}
	qsort(k->entry, k->n, sizeof(*k->entry), compare);
	return k;
}

struct symkernel *symkernel_parse(const char *text, size_t bytes)
{
	struct symkernel *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	(void)feed(k, text, bytes);
	return finish(k);
}

void symkernel_free(struct symkernel *k)
{
	if (!k)
		return;
	free(k->entry);
	free(k->names);
	free(k);
}

bool symkernel_visible(void)
{
	int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC), lines = 0;
	char text[1024], *p = text, *end = text, *eol;
	struct line l;
	bool seen = false;
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text));
	close(fd);
	if (n > 0)
		end += n;
	/* Symbols of per-CPU data begin at 0 even where all is shown. */
	while (!seen && lines++ < VISIBLE_LINES && (eol = memchr(p, '\n', (size_t)(end - p)))) {
		seen = read_line(p, eol, &l) && l.addr;
		p = eol + 1;
	}
	return seen;
}

struct symkernel *symkernel_read(void)
{
	struct symkernel *k = symkernel_visible() ? calloc(1, sizeof(*k)) : NULL;
	char text[65536];
	size_t have = 0;
	ssize_t n, used;
	int fd;

	if (!k)
		return NULL;
	fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && have < sizeof(text) &&
	       (n = read(fd, text + have, sizeof(text) - have)) > 0) {
		have += (size_t)n;
		used = feed(k, text, have);
		if (used < 0)
			break;
		memmove(text, text + used, have - (size_t)used);
		have -= (size_t)used;
	}
	if (fd >= 0)
		close(fd);
	return finish(k);
}

bool symkernel_find(const struct symkernel *k, uint64_t ip, struct symkernel_name *out)
{
	size_t lo = 0, hi = k->n;
	const struct entry *e;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (k->entry[mid].addr < ip)	/* not the call that would return to its start */
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || ip - k->entry[lo - 1].addr > REACH_MAX)
		return false;
	e = &k->entry[lo - 1];
	*out = (struct symkernel_name){
		.symbol = k->names + e->name, .offset = ip - e->addr,
		.module = e->module ? k->names + e->module : "[kernel]",
	};
	return true;
}
