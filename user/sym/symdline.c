/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. libdw finds the unit of an address by .debug_aranges, which not all
 * compilers write. Where that fails, the ranges of all units are put in a
 * sorted table of our own, once for the file.
 */
#include "sym/symd.h"

#include <stdlib.h>

#define UNITS_MAX (1u << 20)
#define RANGES_MAX (4u << 20)

struct range {
	uint64_t start, end;
	Dwarf_Off die;
};

struct symd_lines {
	Dwarf *dw;
	Dwarf_Addr bias;
	struct range *range;
	size_t n, cap;
	bool ranged;
};

static int compare(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static void add_ranges(struct symd_lines *l, Dwarf_Die *unit)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while (l->n < RANGES_MAX && (at = dwarf_ranges(unit, at, &base, &start, &end)) > 0) {
		if (l->n == l->cap) {
			size_t cap = l->cap ? l->cap * 2 : 256;
			struct range *r = realloc(l->range, cap * sizeof(*r));

			if (!r)
				return;
			l->range = r;
			l->cap = cap;
		}
		l->range[l->n++] = (struct range){ start, end, dwarf_dieoffset(unit) };
	}
}

static void build_ranges(struct symd_lines *l)
{
	Dwarf_Off off = 0, next;
	size_t head;

	l->ranged = true;
	for (unsigned int i = 0; i < UNITS_MAX; i++) {
		Dwarf_Die unit;

		if (dwarf_nextcu(l->dw, off, &next, &head, NULL, NULL, NULL))
			break;
		if (dwarf_offdie(l->dw, off + head, &unit))
			add_ranges(l, &unit);
		off = next;
	}
	if (l->n)
		qsort(l->range, l->n, sizeof(*l->range), compare);
}

static bool find_unit(struct symd_lines *l, uint64_t addr, Dwarf_Die *unit)
{
	size_t lo = 0, hi;

	if (dwarf_addrdie(l->dw, addr, unit))
		return true;
	if (!l->ranged)
		build_ranges(l);
	hi = l->n;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (l->range[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && addr < l->range[lo - 1].end && dwarf_offdie(l->dw, l->range[lo - 1].die, unit);
}

Dwarf *symd_line_unit(struct symd_file *f, uint64_t vaddr, Dwarf_Die *unit, Dwarf_Addr *addr)
{
	struct symd_lines *l = f->lines;

	if (!symd_file_open(f))
		return NULL;
	if (!l) {
		l = f->lines = calloc(1, sizeof(*l));
		if (!l)
			return NULL;
		l->dw = dwfl_module_getdwarf(f->mod, &l->bias);
	}
	if (!l->dw)
		return NULL;
	*addr = vaddr - l->bias;
	return find_unit(l, *addr, unit) ? l->dw : NULL;
}

bool symd_line(struct symd_file *f, uint64_t vaddr, const char **source, uint32_t *line)
{
	Dwarf_Addr addr;
	Dwarf_Line *at;
	Dwarf_Die unit;
	const char *name;
	int n;

	if (!symd_line_unit(f, vaddr, &unit, &addr))
		return false;
	at = dwarf_getsrc_die(&unit, addr);
	name = at ? dwarf_linesrc(at, NULL, NULL) : NULL;
	if (!name || dwarf_lineno(at, &n) || n <= 0)
		return false;
	*source = name;
	*line = (uint32_t)n;
	return true;
}

void symd_lines_free(struct symd_lines *l)
{
	if (l)
		free(l->range);
	free(l);
}
