/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. Each file is a Dwfl of its own with its one module at bias 0, so
 * that everything about it is found once for all spaces that map it, and only
 * when first asked for. libdwfl adds the symbols and DWARF of a separate debug
 * file and of .gnu_debugdata. The debug file is looked for by build id alone:
 * a debug link names a path that the file's author chose.
 */
#include "sym/symd.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUILD_ID_MAX 64

static int find_elf(Dwfl_Module *mod, void **userdata, const char *name, Dwarf_Addr base,
		    char **path, Elf **elf)
{
	(void)mod, (void)userdata, (void)name, (void)base, (void)path, (void)elf;
	return -1;
}

static int open_debug(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static int find_debuginfo(Dwfl_Module *mod, void **userdata, const char *name, Dwarf_Addr base,
			  const char *file, const char *link, GElf_Word crc, char **path)
{
	char p[sizeof("/usr/lib/debug/.build-id/") + 2 * BUILD_ID_MAX + 8];
	const unsigned char *id;
	GElf_Addr at;
	int n, o, fd;

	(void)userdata, (void)name, (void)base, (void)file, (void)link, (void)crc;
	n = dwfl_module_build_id(mod, &id, &at);
	if (n < 3 || n > BUILD_ID_MAX)
		return -1;
	o = snprintf(p, sizeof(p), "/usr/lib/debug/.build-id/%02x/", id[0]);
	for (int i = 1; i < n; i++)
		o += snprintf(p + o, sizeof(p) - (size_t)o, "%02x", id[i]);
	snprintf(p + o, sizeof(p) - (size_t)o, ".debug");
	fd = open_debug(p);
	if (fd >= 0)
		*path = strdup(p);
	return fd;
}

static char *no_path;
static const Dwfl_Callbacks callbacks = {
	.find_elf = find_elf,
	.find_debuginfo = find_debuginfo,
	.section_address = dwfl_offline_section_address,
	.debuginfo_path = &no_path,
};

struct symd_file *symd_file_new(int fd)
{
	struct symd_file *f = calloc(1, sizeof(*f));

	if (f)
		f->fd = fd;
	else if (fd >= 0)
		close(fd);
	return f;
}

void symd_file_free(struct symd_file *f)
{
	if (!f)
		return;
	symd_cfi_free(f->cfi);
	symd_lines_free(f->lines);
	symd_table_free(f->table);
	symd_perf_free(f->text);
	if (f->dwfl)
		dwfl_end(f->dwfl);
	if (f->fd >= 0)
		close(f->fd);
	free(f);
}

static void read_segments(struct symd_file *f, Elf *elf)
{
	size_t n;

	if (elf_getphdrnum(elf, &n))
		return;
	for (size_t i = 0; i < n && f->nseg < SYMD_SEGS; i++) {
		GElf_Phdr p;

		if (!gelf_getphdr(elf, (int)i, &p) || p.p_type != PT_LOAD)
			continue;
		f->seg[f->nseg++] = (struct symd_seg){
			.offset = p.p_offset, .file_bytes = p.p_filesz, .vaddr = p.p_vaddr,
			.mem_bytes = p.p_memsz, .flags = p.p_flags,
		};
	}
}

bool symd_file_open(struct symd_file *f)
{
	GElf_Addr bias = 0;
	GElf_Ehdr eh;
	Elf *elf;

	if (f->opened || f->perf)
		return f->good;
	f->opened = true;
	if (f->fd < 0)
		return false;
	f->dwfl = dwfl_begin(&callbacks);
	if (!f->dwfl)
		return false;
	dwfl_report_begin(f->dwfl);
	f->mod = dwfl_report_elf(f->dwfl, "file", "file", f->fd, 0, true);
	dwfl_report_end(f->dwfl, NULL, NULL);
	if (!f->mod)
		return false;
	f->fd = -1;	/* libdwfl's now */
	elf = dwfl_module_getelf(f->mod, &bias);
	if (!elf || !gelf_getehdr(elf, &eh) || bias)
		return false;
	if (eh.e_type != ET_EXEC && eh.e_type != ET_DYN)
		return false;
	f->x86_64 = eh.e_machine == EM_X86_64 && eh.e_ident[EI_CLASS] == ELFCLASS64;
	read_segments(f, elf);
	f->good = f->nseg > 0;
	return f->good;
}

const struct symd_seg *symd_file_seg(const struct symd_file *f, uint64_t vaddr)
{
	for (unsigned int i = 0; i < f->nseg; i++) {
		if (vaddr >= f->seg[i].vaddr && vaddr - f->seg[i].vaddr < f->seg[i].mem_bytes)
			return &f->seg[i];
	}
	return NULL;
}
