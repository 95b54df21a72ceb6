/* SPDX-License-Identifier: MIT */
#include "rr/codemap.h"

#include <elf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SEGMENTS_MOST 64
#define SECTIONS_MOST 4096
#define ROWS_MOST ((size_t)8 << 20)
#define UNWINDING_MOST ((uint64_t)64 << 20)

/* Of its encodings: counted in 4 bytes, and signed from the table's own beginning. */
#define PE_UDATA4 0x03
#define PE_DATAREL_SDATA4 0x3b
#define PE_PCREL_SDATA4 0x1b

struct header {
	uint8_t version, eh_frame, count, table;
	int32_t eh_frame_at;
	uint32_t rows;
};

struct row {
	int32_t function, unwinding;
};

/* What describes a function, up to how long it is. */
struct unwinding {
	uint32_t bytes, cie;
	int32_t function;
	uint32_t function_bytes;
};

struct file {
	int fd;
	Elf64_Ehdr eh;
	Elf64_Phdr ph[SEGMENTS_MOST];
};

static bool read_at(int fd, void *to, size_t n, uint64_t at)
{
	return pread(fd, to, n, (off_t)at) == (ssize_t)n;
}

static bool read_headers(struct file *f)
{
	return read_at(f->fd, &f->eh, sizeof(f->eh), 0) &&
	       !memcmp(f->eh.e_ident, ELFMAG, SELFMAG) &&
	       f->eh.e_ident[EI_CLASS] == ELFCLASS64 &&
	       f->eh.e_phentsize == sizeof(f->ph[0]) && f->eh.e_phnum <= SEGMENTS_MOST &&
	       read_at(f->fd, f->ph, f->eh.e_phnum * sizeof(f->ph[0]), f->eh.e_phoff);
}

/* Where in the file is what is loaded at @addr; 0: nowhere. */
static uint64_t in_file(const struct file *f, uint64_t addr)
{
	for (uint16_t i = 0; i < f->eh.e_phnum; i++) {
		const Elf64_Phdr *p = &f->ph[i];

		if (p->p_type == PT_LOAD && addr - p->p_vaddr < p->p_filesz)
			return addr - p->p_vaddr + p->p_offset;
	}
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct codemap_row *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

/* The rows are sorted by addresses; in the file they may lie otherwise. */
static void take_rows(struct codemap *c, const struct file *f, const struct row *row, size_t n,
		      uint64_t base)
{
	bool sorted = true;

	c->start = malloc(n * sizeof(*c->start));
	for (size_t i = 0; c->start && i < n; i++) {
		struct codemap_row *to = &c->start[c->nstarts];

		to->at = in_file(f, base + (uint64_t)(int64_t)row[i].function);
		to->unwinding = in_file(f, base + (uint64_t)(int64_t)row[i].unwinding);
		if (!to->at || !to->unwinding)
			continue;
		sorted &= !c->nstarts || to[-1].at <= to->at;
		c->nstarts++;
	}
	if (!sorted)
		qsort(c->start, c->nstarts, sizeof(*c->start), compare);
}

static void read_functions(struct codemap *c, const struct file *f)
{
	const Elf64_Phdr *eh = NULL;
	struct header h;
	struct row *row;

	for (uint16_t i = 0; i < f->eh.e_phnum; i++)
		if (f->ph[i].p_type == PT_GNU_EH_FRAME)
			eh = &f->ph[i];
	if (!eh || !read_at(f->fd, &h, sizeof(h), eh->p_offset) || h.version != 1 ||
	    h.eh_frame != PE_PCREL_SDATA4 || h.count != PE_UDATA4 ||
	    h.table != PE_DATAREL_SDATA4 || !h.rows || h.rows > ROWS_MOST)
		return;
	row = malloc(h.rows * sizeof(*row));
	if (row && read_at(f->fd, row, h.rows * sizeof(*row), eh->p_offset + sizeof(h)))
		take_rows(c, f, row, h.rows, eh->p_vaddr);
	free(row);
}

static bool is_named(const struct file *f, const Elf64_Shdr *sh, const Elf64_Shdr *names,
		     const char *name)
{
	char is[16] = "";

	return strlen(name) < sizeof(is) && sh->sh_name < names->sh_size &&
	       pread(f->fd, is, sizeof(is) - 1, (off_t)(names->sh_offset + sh->sh_name)) > 0 &&
	       !strcmp(is, name);
}

/*
 * All of a section's descriptions, where nobody made the table of them: a length, a distance to
 * what they have in common or 0, and how far it is to the function.
 */
static void walk(struct codemap *c, const struct file *f, const uint8_t *data,
		 const Elf64_Shdr *sh)
{
	struct unwinding u;
	uint64_t function;

	c->start = malloc(sh->sh_size / sizeof(u) * sizeof(*c->start) + sizeof(*c->start));
	for (size_t at = 0; c->start && at + sizeof(u) <= sh->sh_size; at += 4 + u.bytes) {
		memcpy(&u, data + at, sizeof(u));
		if (u.bytes < sizeof(u) - 4 || u.bytes > sh->sh_size - at - 4)
			break;
		function = in_file(f, sh->sh_addr + at + offsetof(struct unwinding, function) +
				   (uint64_t)(int64_t)u.function);
		if (u.cie && function)
			c->start[c->nstarts++] = (struct codemap_row){ function,
								       sh->sh_offset + at };
	}
	if (c->nstarts)
		qsort(c->start, c->nstarts, sizeof(*c->start), compare);
}

static void read_unwinding(struct codemap *c, const struct file *f, const Elf64_Shdr *sh)
{
	uint8_t *data = sh->sh_size <= UNWINDING_MOST ? malloc(sh->sh_size) : NULL;

	if (data && read_at(f->fd, data, sh->sh_size, sh->sh_offset))
		walk(c, f, data, sh);
	free(data);
}

static void read_sections(struct codemap *c, const struct file *f)
{
	const size_t n = f->eh.e_shnum;
	Elf64_Shdr *sh = n && n <= SECTIONS_MOST && f->eh.e_shentsize == sizeof(*sh) &&
			 f->eh.e_shstrndx < n ? malloc(n * sizeof(*sh)) : NULL;

	if (sh && read_at(f->fd, sh, n * sizeof(*sh), f->eh.e_shoff))
		c->section = malloc(n * sizeof(*c->section));
	for (size_t i = 0; c->section && i < n; i++) {
		if (sh[i].sh_type == SHT_PROGBITS && sh[i].sh_flags & SHF_EXECINSTR)
			c->section[c->nsections++] = (struct codemap_section){
				sh[i].sh_offset, sh[i].sh_offset + sh[i].sh_size };
		else if (!c->start && sh[i].sh_type != SHT_NOBITS &&
			 is_named(f, &sh[i], &sh[f->eh.e_shstrndx], ".eh_frame"))
			read_unwinding(c, f, &sh[i]);
	}
	free(sh);
}

void codemap_read(struct codemap *c, int fd)
{
	struct file f = { .fd = fd };

	*c = (struct codemap){ .fd = fd };
	if (!read_headers(&f))
		return;
	read_functions(c, &f);
	if (!c->nstarts)
		read_sections(c, &f);
}

void codemap_release(struct codemap *c)
{
	free(c->start);
	free(c->section);
	*c = (struct codemap){ .fd = -1 };
}

uint64_t codemap_function(const struct codemap *c, uint64_t at)
{
	size_t low = 0, high = c->nstarts;
	const struct codemap_row *row;
	struct unwinding u;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;

		if (c->start[mid].at <= at)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return 0;
	/* Behind its end are others without unwinding, or no code. */
	row = &c->start[low - 1];
	return read_at(c->fd, &u, sizeof(u), row->unwinding) &&
	       at - row->at < u.function_bytes ? row->at : 0;
}

bool codemap_is_code(const struct codemap *c, uint64_t at)
{
	for (size_t i = 0; i < c->nsections; i++)
		if (at >= c->section[i].at && at < c->section[i].end)
			return true;
	return false;
}
