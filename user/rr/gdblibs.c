/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: GDB knows a library by the name that the program found it by, which may be a link's, and
 * on another machine leads elsewhere or nowhere. So names are looked up in the replayed memory, as
 * the dynamic linker left them there, and the file is the one that is mapped where the library is.
 */
#include "rr/gdblibs.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rr/filestore.h"
#include "rr/gdb_state.h"
#include "rr/procmaps.h"
#include "rr/recfiles.h"

#define NAME_BYTES 4096
#define ROWS_MAX 1024	/* of any table in the program's memory */
#define AUX_MAX 64

static bool get(struct gdb *g, uint64_t addr, void *to, size_t n)
{
	return gdb_read(g, addr, to, n) == (long)n;
}

/* Whether the string at @addr is @name. */
static bool is_name(struct gdb *g, uint64_t addr, const char *name)
{
	const size_t n = strlen(name) + 1;
	char is[NAME_BYTES];

	return addr && n <= sizeof(is) && get(g, addr, is, n) && !memcmp(is, name, n);
}

/* What a program's header in memory says. */
struct program {
	uint64_t linker;	/* where the dynamic linker is; 0: there is none */
	uint64_t interp, dynamic;	/* the linker's name, and the table of that name */
};

static void see_aux(const Elf64_auxv_t *a, uint64_t value[AUX_MAX])
{
	if (a->a_type < AUX_MAX)
		value[a->a_type] = a->a_un.a_val;
}

static bool read_program(struct gdb *g, struct program *p)
{
	uint64_t aux[AUX_MAX] = { 0 }, shift = 0;
	struct buf b = BUF_INIT;
	Elf64_auxv_t a;
	Elf64_Phdr h;

	if (!gdb_add_auxv(g, &b))
		for (size_t i = 0; i + sizeof(a) <= b.len; i += sizeof(a)) {
			memcpy(&a, b.data + i, sizeof(a));
			see_aux(&a, aux);
		}
	buf_release(&b);
	*p = (struct program){ .linker = aux[AT_BASE] };
	for (uint64_t i = 0; i < aux[AT_PHNUM] && i < ROWS_MAX; i++) {
		if (!get(g, aux[AT_PHDR] + i * sizeof(h), &h, sizeof(h)))
			return false;
		/* The first of them, where there is one. */
		if (h.p_type == PT_PHDR)
			shift = aux[AT_PHDR] - h.p_vaddr;
		else if (h.p_type == PT_INTERP)
			p->interp = h.p_vaddr + shift;
		else if (h.p_type == PT_DYNAMIC)
			p->dynamic = h.p_vaddr + shift;
	}
	return p->linker != 0;
}

/* The dynamic linker's list, once it has made one; else 0. */
static uint64_t first_library(struct gdb *g, const struct program *p)
{
	struct r_debug debug;
	Elf64_Dyn d;

	for (uint64_t i = 0; p->dynamic && i < ROWS_MAX; i++) {
		if (!get(g, p->dynamic + i * sizeof(d), &d, sizeof(d)) || d.d_tag == DT_NULL)
			break;
		if (d.d_tag == DT_DEBUG && d.d_un.d_ptr &&
		    get(g, d.d_un.d_ptr, &debug, sizeof(debug)))
			return (uint64_t)(uintptr_t)debug.r_map;
	}
	return 0;
}

/* An address in the library that the program knows as @name; 0: there is none. */
static uint64_t address_of(struct gdb *g, const char *name)
{
	struct link_map m;
	struct program p;
	uint64_t at;

	if (!read_program(g, &p))
		return 0;
	if (is_name(g, p.interp, name))
		return p.linker;
	at = first_library(g, &p);
	for (int i = 0; at && i < ROWS_MAX && get(g, at, &m, sizeof(m)); i++) {
		if (is_name(g, (uint64_t)(uintptr_t)m.l_name, name))
			return (uint64_t)(uintptr_t)m.l_ld;
		at = (uint64_t)(uintptr_t)m.l_next;
	}
	return 0;
}

void gdb_library(struct gdb *g, char *path, size_t n)
{
	const struct rthread *t = gdb_thread_find(g, 0);
	const uint64_t at = t ? address_of(g, path) : 0;
	struct err none = { 0 };
	struct procmap m;

	if (!at || procmaps_at(&m, t->space->t.pid, at, &none))
		return;
	if (m.ino && m.path[0] == '/' && strlen(m.path) < n)
		strcpy(path, m.path);
	free(m.path);
}

/* ---- before the replay ---------------------------------------------------------- */

/* Code that programs make themselves is in files, too, which GDB never asks for. */
static bool is_elf(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char magic[SELFMAG] = "";
	bool is;

	if (fd < 0)
		return false;
	is = read(fd, magic, sizeof(magic)) == SELFMAG && !memcmp(magic, ELFMAG, SELFMAG);
	close(fd);
	return is;
}

static bool has_moved(const struct recfiles_file *f, struct sysfiles *system, const char *dir)
{
	const int fd = f->library ? open(f->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	const bool there = fd >= 0 && sysfiles_same(system, dir, &f->id, fd);
	char copy[NAME_BYTES];

	if (fd >= 0)
		close(fd);
	if (!f->library || there)
		return false;
	filestore_path(copy, sizeof(copy), dir, f->copy);
	return !f->copy || is_elf(copy);
}

bool gdblibs_moved(const char *dir)
{
	struct err none = { 0 };
	struct sysfiles system = { 0 };
	struct recfiles files;
	bool moved = false;

	/* What is damaged is told by the replay. */
	(void)recfiles_read(&files, dir, &none);
	for (size_t i = 0; !moved && i < files.n; i++)
		moved = has_moved(&files.at[i], &system, dir);
	recfiles_release(&files);
	sysfiles_release(&system);
	return moved;
}
