/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. Two sorted arrays, of functions and of objects, from all symbols
 * that libdwfl finds for the file. Of several names for one address the best
 * has a type and a size, is not local, and has the fewest underscores in
 * front: people know pthread_mutex_lock, not ___pthread_mutex_lock. A symbol
 * covers its size and no more, so that in a stripped file nothing is named
 * after the next exported function before it. max_end, the running maximum
 * of the ends, stops the search for an enclosing symbol.
 */
#include "sym/symd.h"

#include <stdlib.h>
#include <string.h>

#define SYMBOLS_MAX (16 << 20)
#define WALK_MAX 4096

struct list {
	struct symd_sym *sym;
	uint64_t *max_end;
	size_t n, cap;
};

struct symd_table {
	struct list code, data;
};

static void list_add(struct list *l, const struct symd_sym *s)
{
	if (l->n == l->cap) {
		size_t cap = l->cap ? l->cap * 2 : 512;
		struct symd_sym *sym = realloc(l->sym, cap * sizeof(*sym));

		if (!sym)
			return;
		l->sym = sym;
		l->cap = cap;
	}
	l->sym[l->n++] = *s;
}

static uint32_t rank(const char *name, const GElf_Sym *s)
{
	unsigned int type = GELF_ST_TYPE(s->st_info), bind = GELF_ST_BIND(s->st_info);
	uint32_t under = (uint32_t)strspn(name, "_");

	/* Mangled names start with one of their own. */
	if (under == 1 && (name[1] == 'Z' || name[1] == 'R'))
		under = 0;
	/* glibc's internal second name for nearly everything. */
	if (!strncmp(name, "__GI_", 5))
		under += 8;
	return (type == STT_NOTYPE ? 1u << 20 : 0) | (!s->st_size ? 1u << 19 : 0) |
	       (bind == STB_LOCAL ? 1u << 18 : 0) | (under < 255 ? under : 255) << 2 |
	       (bind == STB_WEAK ? 1 : 0);
}

/* How far a symbol without a size may reach: to the end of its section. */
static uint64_t reach(Elf *elf, GElf_Word shndx, const GElf_Sym *s)
{
	Elf_Scn *scn = elf && shndx < SHN_LORESERVE ? elf_getscn(elf, shndx) : NULL;
	GElf_Shdr sh;

	if (!scn || !gelf_getshdr(scn, &sh) || s->st_value < sh.sh_addr ||
	    s->st_value - sh.sh_addr >= sh.sh_size)
		return 1;
	return sh.sh_size - (s->st_value - sh.sh_addr);
}

static void add_symbol(struct symd_file *f, struct symd_table *t, int i)
{
	GElf_Word shndx = SHN_UNDEF;
	GElf_Addr addr = 0;
	Elf *elf = NULL;
	GElf_Sym s;
	const char *name = dwfl_module_getsym_info(f->mod, i, &s, &addr, &shndx, &elf, NULL);
	const struct symd_seg *seg;
	struct symd_sym out;

	if (!name || !*name || shndx == SHN_UNDEF || shndx == SHN_ABS || shndx == (GElf_Word)-1)
		return;
	seg = symd_file_seg(f, addr);
	if (!seg)
		return;
	out = (struct symd_sym){ .addr = addr, .size = s.st_size, .name = name,
				 .rank = rank(name, &s), .sized = s.st_size != 0 };
	switch (GELF_ST_TYPE(s.st_info)) {
	case STT_OBJECT:
	case STT_COMMON:
		if (out.sized)
			list_add(&t->data, &out);
		break;
	case STT_NOTYPE:
		if (!(seg->flags & PF_X)) {
			if (out.sized)
				list_add(&t->data, &out);
			break;
		}
		__attribute__((fallthrough));
	case STT_FUNC:
	case STT_GNU_IFUNC:
		if (!out.sized)
			out.size = reach(elf, shndx, &s);
		list_add(&t->code, &out);
		break;
	}
}

static int compare(const void *a, const void *b)
{
	const struct symd_sym *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	/* The best last: the search comes from above. */
	if (x->rank != y->rank)
		return x->rank > y->rank ? -1 : 1;
	return -strcmp(x->name, y->name);
}

static void list_finish(struct list *l)
{
	uint64_t end = 0, next = UINT64_MAX, here = UINT64_MAX;

	if (!l->n)
		return;
	qsort(l->sym, l->n, sizeof(*l->sym), compare);
	l->max_end = malloc(l->n * sizeof(*l->max_end));
	if (!l->max_end) {
		l->n = 0;
		return;
	}
	for (size_t i = l->n; i-- > 0;) {
		struct symd_sym *s = &l->sym[i];

		if (s->addr != here) {
			next = here;
			here = s->addr;
		}
		if (!s->sized && s->size > next - s->addr)
			s->size = next - s->addr;
	}
	for (size_t i = 0; i < l->n; i++) {
		uint64_t e;

		if (__builtin_add_overflow(l->sym[i].addr, l->sym[i].size, &e))
			e = UINT64_MAX;
		if (e > end)
			end = e;
		l->max_end[i] = end;
	}
}

static struct symd_table *build(struct symd_file *f)
{
	struct symd_table *t = calloc(1, sizeof(*t));
	int n = t ? dwfl_module_getsymtab(f->mod) : 0;

	if (n > SYMBOLS_MAX)
		n = SYMBOLS_MAX;
	for (int i = 0; i < n; i++)
		add_symbol(f, t, i);
	if (t) {
		list_finish(&t->code);
		list_finish(&t->data);
	}
	return t;
}

void symd_table_free(struct symd_table *t)
{
	if (!t)
		return;
	free(t->code.sym);
	free(t->code.max_end);
	free(t->data.sym);
	free(t->data.max_end);
	free(t);
}

static const struct symd_sym *list_find(const struct list *l, uint64_t addr)
{
	const struct symd_sym *loose = NULL;
	size_t lo = 0, hi = l->n, floor;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (l->sym[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	floor = lo > WALK_MAX ? lo - WALK_MAX : 0;
	for (size_t i = lo; i-- > floor && l->max_end[i] > addr;) {
		const struct symd_sym *s = &l->sym[i];

		if (addr - s->addr >= s->size)
			continue;
		if (s->sized)
			return s;
		if (!loose)
			loose = s;
	}
	return loose;
}

const struct symd_sym *symd_table_find(struct symd_file *f, uint64_t vaddr, bool data)
{
	if (f->perf)
		return data ? NULL : symd_perf_find(f, vaddr);
	if (!symd_file_open(f))
		return NULL;
	if (!f->table)
		f->table = build(f);
	if (!f->table)
		return NULL;
	return list_find(data ? &f->table->data : &f->table->code, vaddr);
}
