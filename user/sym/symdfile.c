/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. Each file is a Dwfl of its own with its one module at bias 0, so
 * that everything about it is found once for all spaces that map it, and only
 * when first asked for. libdwfl adds the symbols and DWARF of a separate debug
 * file and of .gnu_debugdata. Here the debug file is looked for by build id alone,
 * and below /usr/lib/debug, as there is nothing else that this process can open.
 * Where there is none, the parent is told build id and debug link; what it finds
 * by them is used when it is the right one.
 */
#include "sym/symd.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

static int open_by_id(const unsigned char *id, int n, char **path)
{
	char p[sizeof("/usr/lib/debug/.build-id/") + 2 * SYMP_BUILD_ID_MAX + 8];
	int o = snprintf(p, sizeof(p), "/usr/lib/debug/.build-id/%02x/", id[0]), fd;

	for (int i = 1; i < n; i++)
		o += snprintf(p + o, sizeof(p) - (size_t)o, "%02x", id[i]);
	snprintf(p + o, sizeof(p) - (size_t)o, ".debug");
	fd = open_debug(p);
	if (fd >= 0)
		*path = strdup(p);
	return fd;
}

/* The checksum of debug links: that of zlib and of gdb's manual. */
static bool crc_is(int fd, uint32_t want)
{
	unsigned char buf[65536];
	uint32_t table[256], crc = ~0u;
	off_t at = 0;
	ssize_t n;

	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (int bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320u : 0);
	}
	while ((n = pread(fd, buf, sizeof(buf), at)) > 0) {
		for (ssize_t i = 0; i < n; i++)
			crc = crc >> 8 ^ table[(crc ^ buf[i]) & 0xff];
		at += n;
	}
	return !n && ~crc == want;
}

/* Whether @fd is the debug file that the lack @l is about: by build id, else by checksum. */
static bool belongs(int fd, const struct symd_lack *l)
{
	const void *id = NULL;
	Elf *elf;
	ssize_t n;
	bool same;

	if (!l->id_bytes)
		return l->link[0] && crc_is(fd, l->crc);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!elf)
		return false;
	n = dwelf_elf_gnu_build_id(elf, &id);
	same = n == (ssize_t)l->id_bytes && !memcmp(id, l->id, l->id_bytes);
	elf_end(elf);
	return same;
}

/* Called for a file without a symbol table, or without DWARF when that is asked for. */
static int find_debuginfo(Dwfl_Module *mod, void **userdata, const char *name, Dwarf_Addr base,
			  const char *file, const char *link, GElf_Word crc, char **path)
{
	struct symd_file *f = *userdata;
	struct symd_lack *l = &f->lack;
	const unsigned char *id;
	GElf_Addr at;
	int n, fd = -1;

	(void)name, (void)base, (void)file;
	n = dwfl_module_build_id(mod, &id, &at);
	if (n < 3 || n > (int)SYMP_BUILD_ID_MAX)
		n = 0;
	if (n)
		fd = open_by_id(id, n, path);
	if (fd >= 0)
		return fd;
	l->id_bytes = (unsigned int)n;
	if (n)
		memcpy(l->id, id, (size_t)n);
	if (link && *link && strlen(link) < SYMP_LINK_MAX) {
		snprintf(l->link, sizeof(l->link), "%s", link);
		l->crc = crc;
	}
	l->wanted = l->id_bytes || l->link[0];
	if (f->debug_fd < 0 || !belongs(f->debug_fd, l))
		return -1;
	fd = fcntl(f->debug_fd, F_DUPFD_CLOEXEC, 0);
	if (fd >= 0)
		*path = strdup("debug");
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

	if (f) {
		f->fd = fd;
		f->debug_fd = -1;
	} else if (fd >= 0) {
		close(fd);
	}
	return f;
}

/* As it was before it was opened. */
static void forget_contents(struct symd_file *f)
{
	symd_cfi_free(f->cfi);
	symd_inlines_free(f->inlines);
	symd_lines_free(f->lines);
	symd_table_free(f->table);
	if (f->dwfl)
		dwfl_end(f->dwfl);
	f->cfi = NULL;
	f->inlines = NULL;
	f->lines = NULL;
	f->table = NULL;
	f->dwfl = NULL;
	f->mod = NULL;
	f->nseg = 0;
	f->opened = f->good = f->x86_64 = false;
}

void symd_file_free(struct symd_file *f)
{
	if (!f)
		return;
	forget_contents(f);
	symd_perf_free(f->text);
	if (f->debug_fd >= 0)
		close(f->debug_fd);
	if (f->fd >= 0)
		close(f->fd);
	free(f);
}

void symd_file_debug(struct symd_file *f, int fd)
{
	if (f->debug_fd >= 0)
		close(f->debug_fd);
	f->debug_fd = fd;
	forget_contents(f);
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
	void **userdata;
	GElf_Ehdr eh;
	Elf *elf;
	int fd;

	if (f->opened || f->perf)
		return f->good;
	f->opened = true;
	if (f->fd < 0)
		return false;
	f->dwfl = dwfl_begin(&callbacks);
	if (!f->dwfl)
		return false;
	fd = fcntl(f->fd, F_DUPFD_CLOEXEC, 0);
	dwfl_report_begin(f->dwfl);
	f->mod = fd < 0 ? NULL : dwfl_report_elf(f->dwfl, "file", "file", fd, 0, true);
	dwfl_report_end(f->dwfl, NULL, NULL);
	if (!f->mod) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	if (dwfl_module_info(f->mod, &userdata, NULL, NULL, NULL, NULL, NULL, NULL))
		*userdata = f;
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
