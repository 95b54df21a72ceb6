/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. The functions of a compilation unit are put in a sorted table when the
 * unit is first asked for; what is inlined at an address is then found by walking
 * down that one function. libdw's own search for scopes goes through the whole
 * unit each time, and past functions in namespaces. Files are of others' choice:
 * a unit has so many entries, and a request and a file so much time, and past
 * that there are no inlined frames, which is all that is lost.
 */
#include "sym/symd.h"

#include <dwarf.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/map.h"

#define ENTRIES_MAX (4u << 20)	/* looked at in a unit */
#define FUNCTIONS_MAX (1u << 20)	/* of a unit */
#define UNITS_KEPT 4096u
#define DEPTH_MAX 64
#define CHECK_EVERY 1024	/* entries, for the time */
#define FILE_NS 2000000000u
#define REQUEST_NS 500000000u

struct function {
	uint64_t start, end;
	uint64_t max_end;	/* of this and all before */
	Dwarf_Off die;
};

struct unit {
	struct function *fn;	/* ascending by .start; of equal ones the inner last */
	size_t n, cap;
};

struct symd_inlines {
	struct map *units;	/* Dwarf_Off → struct unit */
	uint64_t spent_ns;	/* CPU time, for this file */
};

static uint64_t request_spent_ns;	/* by this process's request, over all files */

void symd_inline_request(void)
{
	request_spent_ns = 0;
}

static void forget_units(struct symd_inlines *in)
{
	size_t it = 0;
	const void *key;
	void *value;

	while (map_next(in->units, &it, &key, &value))
		free(((struct unit *)value)->fn);
	map_clear(in->units);
}

void symd_inlines_free(struct symd_inlines *in)
{
	if (!in)
		return;
	forget_units(in);
	map_free(in->units);
	free(in);
}

static void add_function(struct unit *u, Dwarf_Die *die)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while (u->n < FUNCTIONS_MAX && (at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		if (start >= end)
			continue;
		if (u->n == u->cap) {
			size_t cap = u->cap ? u->cap * 2 : 64;
			struct function *fn = realloc(u->fn, cap * sizeof(*fn));

			if (!fn)
				return;
			u->fn = fn;
			u->cap = cap;
		}
		u->fn[u->n++] = (struct function){ .start = start, .end = end,
						   .die = dwarf_dieoffset(die) };
	}
}

/* What may hold functions: also other functions, by their local classes. */
static bool holds_functions(Dwarf_Die *die)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_subprogram:
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_lexical_block:
		return true;
	}
	return false;
}

/* The next entry in the order of the file, not going down where @down is false. */
static bool next_entry(Dwarf_Die *stack, int *depth, bool down)
{
	Dwarf_Die child;

	if (down && *depth + 1 < DEPTH_MAX && !dwarf_child(&stack[*depth], &child)) {
		stack[++*depth] = child;
		return true;
	}
	for (; *depth > 0; --*depth) {
		Dwarf_Die *at = &stack[*depth];

		if (!dwarf_siblingof(at, at))
			return true;
	}
	return false;
}

static int compare(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->end > y->end ? -1 : x->end < y->end;
}

static void build(struct unit *u, Dwarf_Die *cu, uint64_t deadline_ns)
{
	Dwarf_Die stack[DEPTH_MAX];
	uint64_t end = 0;
	bool down = true;
	int depth = 0;

	stack[0] = *cu;
	for (unsigned int i = 1; i < ENTRIES_MAX && next_entry(stack, &depth, down); i++) {
		Dwarf_Die *die = &stack[depth];

		if (!(i % CHECK_EVERY) && clock_process_cpu_ns() > deadline_ns)
			break;
		down = holds_functions(die);
		if (down && dwarf_tag(die) == DW_TAG_subprogram)
			add_function(u, die);
	}
	if (u->n)
		qsort(u->fn, u->n, sizeof(*u->fn), compare);
	for (size_t i = 0; i < u->n; i++) {
		if (u->fn[i].end > end)
			end = u->fn[i].end;
		u->fn[i].max_end = end;
	}
}

static bool find_function(const struct unit *u, Dwarf *dw, uint64_t addr, Dwarf_Die *out)
{
	size_t lo = 0, hi = u->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (u->fn[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	while (lo-- > 0 && u->fn[lo].max_end > addr) {
		if (addr < u->fn[lo].end)
			return dwarf_offdie(dw, u->fn[lo].die, out) != NULL;
	}
	return false;
}

static const char *string_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute a;

	return dwarf_formstring(dwarf_attr_integrate(die, name, &a));
}

static void describe(Dwarf_Die *cu, Dwarf_Die *die, struct symd_inline *out)
{
	Dwarf_Attribute a;
	Dwarf_Files *files;
	Dwarf_Word file, line;
	size_t n;

	*out = (struct symd_inline){ .name = string_of(die, DW_AT_linkage_name) };
	if (!out->name)
		out->name = string_of(die, DW_AT_MIPS_linkage_name);
	if (!out->name)
		out->name = string_of(die, DW_AT_name);
	if (!dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &a), &file) &&
	    !dwarf_getsrcfiles(cu, &files, &n) && file < n)
		out->source = dwarf_filesrc(files, file, NULL, NULL);
	if (out->source && !dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &a), &line) &&
	    line <= INT32_MAX)
		out->line = (uint32_t)line;
}

/* The entry below @die that holds @addr and is or may hold an inlined function. */
static bool step_down(Dwarf_Die *die, uint64_t addr, uint64_t deadline_ns)
{
	Dwarf_Die child;
	unsigned int n = 0;

	if (dwarf_child(die, &child))
		return false;
	do {
		switch (dwarf_tag(&child)) {
		case DW_TAG_inlined_subroutine:
		case DW_TAG_lexical_block:
		case DW_TAG_try_block:
		case DW_TAG_catch_block:
			if (dwarf_haspc(&child, addr) == 1) {
				*die = child;
				return true;
			}
		}
		if (!(++n % CHECK_EVERY) && clock_process_cpu_ns() > deadline_ns)
			return false;
	} while (!dwarf_siblingof(&child, &child));
	return false;
}

static uint32_t find(struct symd_inlines *in, Dwarf *dw, Dwarf_Die *cu, uint64_t addr,
		     uint64_t deadline_ns, struct symd_inline *out, uint32_t max)
{
	Dwarf_Off off = dwarf_dieoffset(cu);
	struct unit *u = map_get(in->units, &off);
	struct symd_inline swap;
	uint32_t n = 0;
	Dwarf_Die die;

	if (!u) {
		if (map_count(in->units) >= UNITS_KEPT)
			forget_units(in);
		u = map_put(in->units, &off);
		if (!u)
			return 0;
		build(u, cu, deadline_ns);
	}
	if (!find_function(u, dw, addr, &die))
		return 0;
	for (int depth = 0; depth < DEPTH_MAX && step_down(&die, addr, deadline_ns); depth++) {
		if (dwarf_tag(&die) != DW_TAG_inlined_subroutine)
			continue;
		/* Too many: the outer ones are left out, as their callers are not. */
		if (n == max)
			break;
		describe(cu, &die, &out[n++]);
	}
	for (uint32_t i = 0; i < n / 2; i++) {
		swap = out[i];
		out[i] = out[n - 1 - i];
		out[n - 1 - i] = swap;
	}
	return n;
}

uint32_t symd_inline(struct symd_file *f, uint64_t vaddr, struct symd_inline *out, uint32_t max)
{
	struct symd_inlines *in = f->inlines;
	uint64_t begin_ns = clock_process_cpu_ns(), left_ns, ns;
	Dwarf_Addr addr;
	Dwarf_Die cu;
	uint32_t n;
	Dwarf *dw = symd_line_unit(f, vaddr, &cu, &addr);

	if (!dw)
		return 0;
	if (!in) {
		in = f->inlines = calloc(1, sizeof(*in));
		if (in)
			in->units = map_new(sizeof(Dwarf_Off), sizeof(struct unit));
	}
	if (!in || !in->units || in->spent_ns >= FILE_NS || request_spent_ns >= REQUEST_NS)
		return 0;
	left_ns = FILE_NS - in->spent_ns;
	if (left_ns > REQUEST_NS - request_spent_ns)
		left_ns = REQUEST_NS - request_spent_ns;
	n = find(in, dw, &cu, addr, begin_ns + left_ns, out, max);
	ns = clock_process_cpu_ns() - begin_ns;
	in->spent_ns += ns;
	request_spent_ns += ns;
	return n;
}
