/* SPDX-License-Identifier: MIT */
#include "sym/symd.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"

#define TEXT_MAX ((off_t)256 << 20)
#define SYMBOLS_MAX ((size_t)2 << 20)
/* A map that takes longer than this is read anew for a tenth of the time at most. */
#define CHEAP_NS 2000000
#define READ_PART 10
#define WALK_MAX 64

struct symd_perf {
	struct symd_sym *sym;	/* by address, then by age */
	size_t n, cap;
	char *text;	/* NULL: the caller's */
	off_t bytes;
	uint64_t read_ns, cost_ns;	/* CLOCK_MONOTONIC when it was read, and how long */
};

static bool hex(char **p, char *end, uint64_t *out)
{
	char *s = *p;
	int digits = 0;

	if (end - s > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X'))
		s += 2;
	for (*out = 0; s < end && *s != ' '; s++, digits++) {
		int d = *s >= '0' && *s <= '9' ? *s - '0' : (*s | 32) - 'a' + 10;

		if (d < 0 || d > 15 || digits == 16)
			return false;
		*out = *out << 4 | (uint64_t)d;
	}
	if (!digits || s == end)
		return false;
	*p = s + 1;
	return true;
}

static void add_line(struct symd_perf *p, char *line, char *end)
{
	struct symd_sym s = { .sized = true, .rank = (uint32_t)p->n };

	if (p->n == SYMBOLS_MAX)
		return;
	if (!hex(&line, end, &s.addr) || !hex(&line, end, &s.size) || !s.size || line == end)
		return;
	if (p->n == p->cap) {
		size_t cap = p->cap ? p->cap * 2 : 1024;
		struct symd_sym *sym = realloc(p->sym, cap * sizeof(*sym));

		if (!sym)
			return;
		p->sym = sym;
		p->cap = cap;
	}
	s.name = line;
	p->sym[p->n++] = s;
}

static int compare(const void *a, const void *b)
{
	const struct symd_sym *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

struct symd_perf *symd_perf_parse(char *text, size_t bytes)
{
	struct symd_perf *p = calloc(1, sizeof(*p));
	char *end = text + bytes;

	/* A last line without its end is still being written. */
	while (p && text < end) {
		char *eol = memchr(text, '\n', (size_t)(end - text));

		if (!eol)
			break;
		*eol = 0;
		add_line(p, text, eol);
		text = eol + 1;
	}
	if (p && p->n)
		qsort(p->sym, p->n, sizeof(*p->sym), compare);
	return p;
}

const struct symd_sym *symd_perf_lookup(const struct symd_perf *p, uint64_t addr)
{
	const struct symd_sym *best = NULL;
	size_t lo = 0, hi = p->n, floor;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (p->sym[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	/* Code is thrown away and its place used again: the newest counts. */
	floor = lo > WALK_MAX ? lo - WALK_MAX : 0;
	for (size_t i = lo; i-- > floor;) {
		const struct symd_sym *s = &p->sym[i];

		if (addr - s->addr < s->size && (!best || s->rank > best->rank))
			best = s;
	}
	return best;
}

void symd_perf_free(struct symd_perf *p)
{
	if (!p)
		return;
	free(p->sym);
	free(p->text);
	free(p);
}

static void read_again(struct symd_file *f, off_t bytes)
{
	uint64_t begin_ns = clock_mono_ns();
	char *text = malloc((size_t)bytes);
	off_t got = 0;
	ssize_t n = 1;

	while (text && got < bytes && n > 0) {
		n = pread(f->fd, text + got, (size_t)(bytes - got), got);
		if (n > 0)
			got += n;
	}
	symd_perf_free(f->text);
	f->text = text ? symd_perf_parse(text, (size_t)got) : NULL;
	if (!f->text) {
		free(text);
		return;
	}
	f->text->text = text;
	f->text->bytes = bytes;
	f->text->read_ns = clock_mono_ns();
	f->text->cost_ns = f->text->read_ns - begin_ns;
}

static bool too_early(const struct symd_perf *p)
{
	return p->cost_ns > CHEAP_NS && clock_mono_ns() - p->read_ns < p->cost_ns * READ_PART;
}

const struct symd_sym *symd_perf_find(struct symd_file *f, uint64_t addr)
{
	const struct symd_sym *s = f->text ? symd_perf_lookup(f->text, addr) : NULL;
	struct stat st;

	if (s || f->fd < 0 || fstat(f->fd, &st) || st.st_size <= 0 || st.st_size > TEXT_MAX)
		return s;
	if (f->text && (f->text->bytes == st.st_size || too_early(f->text)))
		return NULL;
	read_again(f, st.st_size);
	return f->text ? symd_perf_lookup(f->text, addr) : NULL;
}
