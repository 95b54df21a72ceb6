/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. start_thread() ends in "pd->start_routine(pd->arg)". It has no symbol
 * in a stripped library, but libthread_db's descriptor of the field
 * start_routine is exported by every glibc (_thread_db_pthread_start_routine:
 * bits, elements, offset), and arg follows it in struct pthread. So the call is
 * an indirect one through the field's offset, and in the few instructions before
 * it the next field is loaded as the argument; nothing else in a libc looks so.
 * Releases up to 2.31 address the fields by %fs, later ones by a register. There
 * are two calls, for pthread_create and thrd_create, and a branch between them:
 * a probe there meets both, and the kernel need not step over a jump in another
 * place, which is most of what a probe costs.
 */
#include "collect/startcall.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SYMBOL "_thread_db_pthread_start_routine"
#define NEAR 32			/* most bytes of code from the argument's load to the call */
#define HEADERS_MAX 512		/* program or section headers of a sane file */
#define TABLE_BYTES_MAX ((uint64_t)32 << 20)	/* of symbols, of their names */
#define CODE_BYTES_MAX ((uint64_t)64 << 20)
#define FIELD_MAX 65536		/* struct pthread has some 2 KiB */

struct elf {
	int fd;
	Elf64_Ehdr head;
	Elf64_Phdr *seg;
	Elf64_Shdr *sect;
	bool dynamic;		/* has an interpreter */
};

static int read_at(int fd, void *to, size_t bytes, uint64_t offset)
{
	char *p = to;
	ssize_t n;

	while (bytes) {
		if (offset > INT64_MAX)
			return -ENOEXEC;
		n = pread(fd, p, bytes, (off_t)offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			return -ENOEXEC;
		p += n;
		offset += (uint64_t)n;
		bytes -= (size_t)n;
	}
	return 0;
}

/* A part of the file on the heap; NULL with *@r set. */
static void *read_part(int fd, uint64_t offset, uint64_t bytes, uint64_t max, int *r)
{
	void *p;

	if (!bytes || bytes > max) {
		*r = -ENOEXEC;
		return NULL;
	}
	p = malloc(bytes);
	*r = p ? read_at(fd, p, bytes, offset) : -ENOMEM;
	if (*r) {
		free(p);
		p = NULL;
	}
	return p;
}

static void elf_close(struct elf *e)
{
	free(e->seg);
	free(e->sect);
}

static int elf_open(struct elf *e, int fd)
{
	const Elf64_Ehdr *h = &e->head;
	int r, i;

	memset(e, 0, sizeof(*e));
	e->fd = fd;
	r = read_at(fd, &e->head, sizeof(e->head), 0);
	if (r)
		return r;
	if (memcmp(h->e_ident, ELFMAG, SELFMAG) || h->e_ident[EI_CLASS] != ELFCLASS64 ||
	    h->e_ident[EI_DATA] != ELFDATA2LSB || h->e_machine != EM_X86_64 ||
	    h->e_phentsize != sizeof(Elf64_Phdr) || h->e_phnum > HEADERS_MAX ||
	    h->e_shnum > HEADERS_MAX || (h->e_shnum && h->e_shentsize != sizeof(Elf64_Shdr)))
		return -ENOEXEC;
	e->seg = read_part(fd, h->e_phoff, h->e_phnum * sizeof(Elf64_Phdr), UINT32_MAX, &r);
	if (!r && h->e_shnum)
		e->sect = read_part(fd, h->e_shoff, h->e_shnum * sizeof(Elf64_Shdr), UINT32_MAX,
				    &r);
	for (i = 0; !r && i < h->e_phnum; i++)
		e->dynamic |= e->seg[i].p_type == PT_INTERP;
	if (r)
		elf_close(e);
	return r;
}

static const Elf64_Sym *look_up(const Elf64_Sym *sym, size_t n, const char *names, size_t bytes)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (sym[i].st_name < bytes && bytes - sym[i].st_name >= sizeof(SYMBOL) &&
		    !memcmp(names + sym[i].st_name, SYMBOL, sizeof(SYMBOL)))
			return &sym[i];
	return NULL;
}

/* The symbol's address by the table in section @s; 0: not in it, or -errno. */
static int symbol_in(const struct elf *e, const Elf64_Shdr *s, uint64_t *addr)
{
	const Elf64_Shdr *str;
	const Elf64_Sym *found;
	Elf64_Sym *sym;
	char *names;
	int r;

	if (s->sh_link >= e->head.e_shnum)
		return -ENOEXEC;
	str = &e->sect[s->sh_link];
	sym = read_part(e->fd, s->sh_offset, s->sh_size, TABLE_BYTES_MAX, &r);
	if (!sym)
		return r;
	names = read_part(e->fd, str->sh_offset, str->sh_size, TABLE_BYTES_MAX, &r);
	if (names) {
		found = look_up(sym, s->sh_size / sizeof(*sym), names, str->sh_size);
		if (found)
			*addr = found->st_value;
		r = found != NULL;
	}
	free(names);
	free(sym);
	return r;
}

/* Where the file holds @bytes of memory at @addr. */
static int offset_of(const struct elf *e, uint64_t addr, uint64_t bytes, uint64_t *offset)
{
	int i;

	for (i = 0; i < e->head.e_phnum; i++) {
		const Elf64_Phdr *p = &e->seg[i];

		if (p->p_type != PT_LOAD || addr < p->p_vaddr || addr - p->p_vaddr > p->p_filesz ||
		    p->p_filesz - (addr - p->p_vaddr) < bytes)
			continue;
		*offset = p->p_offset + (addr - p->p_vaddr);
		return 0;
	}
	return -ENOEXEC;
}

/* The offset of start_routine in struct pthread; 0: not known. */
static int field_offset(const struct elf *e, uint32_t *field)
{
	uint32_t desc[3];	/* bits, elements, offset: of nptl_db */
	uint64_t addr = 0, at;
	int i, r = 0;

	*field = 0;
	for (i = 0; i < e->head.e_shnum && !r; i++) {
		/* Of a dynamic program the other table is large and has not got it. */
		if (e->sect[i].sh_type == SHT_DYNSYM ||
		    (e->sect[i].sh_type == SHT_SYMTAB && !e->dynamic))
			r = symbol_in(e, &e->sect[i], &addr);
		if (r == -ENOEXEC)
			r = 0;
	}
	if (r <= 0)
		return r;
	r = offset_of(e, addr, sizeof(desc), &at);
	if (!r)
		r = read_at(e->fd, desc, sizeof(desc), at);
	if (!r && desc[0] == 64 && desc[1] == 1 && desc[2] && desc[2] < FIELD_MAX)
		*field = desc[2];
	return r;
}

/*
 * The start of the call through the 32-bit offset at @code[@at], or 0: FF /2
 * with a base register (REX.B and, for rsp and r12, a SIB byte as well), or
 * with %fs as the base and no register.
 */
static size_t call_before(const uint8_t *code, size_t at)
{
	const uint8_t *p = code + at;

	if (at >= 4 && p[-4] == 0x64 && p[-3] == 0xff && p[-2] == 0x14 && p[-1] == 0x25)
		return at - 4;
	if (at >= 3 && p[-3] == 0xff && p[-2] == 0x94 && p[-1] == 0x24)
		return at - (at >= 4 && p[-4] == 0x41 ? 4 : 3);
	if (at >= 2 && p[-2] == 0xff && (p[-1] & 0xf8) == 0x90 && p[-1] != 0x94)
		return at - (at >= 3 && p[-3] == 0x41 ? 3 : 2);
	return 0;
}

/*
 * The start of mov FIELD(base), %rdi somewhere in @code, or SIZE_MAX: a probe
 * put into the middle of an instruction would break the program, so nothing
 * less is believed.
 */
static size_t argument_load(const uint8_t *code, size_t bytes, uint32_t field)
{
	const uint8_t *p = code, *end = code + bytes;

	for (; (p = memmem(p, (size_t)(end - p), &field, sizeof(field))); p++) {
		if (p - code >= 5 && !memcmp(p - 5, "\x64\x48\x8b\x3c\x25", 5))
			return (size_t)(p - 5 - code);
		if (p - code >= 4 && (p[-4] & 0xfe) == 0x48 && !memcmp(p - 3, "\x8b\xbc\x24", 3))
			return (size_t)(p - 4 - code);
		if (p - code >= 3 && (p[-3] & 0xfe) == 0x48 && p[-2] == 0x8b &&
		    (p[-1] & 0xf8) == 0xb8 && p[-1] != 0xbc)
			return (size_t)(p - 3 - code);
	}
	return SIZE_MAX;
}

/* cmpb $0, FIELD(base) ends at @code[@at]: which of the two calls it is to be. */
static bool compare_before(const uint8_t *code, size_t at)
{
	const uint8_t *p = code + at;

	if (at < 8 || p[-1])
		return false;
	return (p[-7] == 0x80 && (p[-6] & 0xf8) == 0xb8 && p[-6] != 0xbc) ||
	       (p[-8] == 0x80 && p[-7] == 0xbc && p[-6] == 0x24) ||
	       (p[-8] == 0x80 && p[-7] == 0x3c && p[-6] == 0x25);
}

/* The start of the conditional jump that ends at @code[@at], and where it goes; SIZE_MAX. */
static size_t branch_before(const uint8_t *code, size_t at, uint64_t *target)
{
	int32_t far;
	int8_t near;

	if (at >= 6 && code[at - 6] == 0x0f && (code[at - 5] & 0xf0) == 0x80) {
		memcpy(&far, code + at - 4, sizeof(far));
		*target = at + (uint64_t)(int64_t)far;
		return at - 6;
	}
	/* Two bytes may be the end of something else: more of it must be there. */
	if (at >= 2 && (code[at - 2] & 0xf0) == 0x70 && compare_before(code, at - 2)) {
		memcpy(&near, code + at - 1, sizeof(near));
		*target = at + (uint64_t)(int64_t)near;
		return at - 2;
	}
	return SIZE_MAX;
}

/* One call with its argument, as offsets in the code. */
struct site { size_t load, call; };

static size_t find_sites(const uint8_t *code, size_t bytes, uint32_t field,
			 struct site site[STARTCALL_MAX])
{
	const uint8_t *p = code, *end = code + bytes;
	size_t call, before, load, n = 0;

	while (p < end && (p = memmem(p, (size_t)(end - p), &field, sizeof(field)))) {
		call = call_before(code, (size_t)(p++ - code));
		before = call < NEAR ? call : NEAR;
		load = call ? argument_load(code + call - before, before, field + 8) : SIZE_MAX;
		if (load == SIZE_MAX)
			continue;
		if (n < STARTCALL_MAX)
			site[n] = (struct site){ call - before + load, call };
		n++;
	}
	return n;
}

/* The branch that leads to both of two calls: SIZE_MAX when there is none. */
static size_t common_branch(const uint8_t *code, const struct site *a, const struct site *b)
{
	uint64_t target;
	size_t at = branch_before(code, a->load, &target);

	return at != SIZE_MAX && target <= b->load && b->call - target <= NEAR ? at : SIZE_MAX;
}

static int scan(const uint8_t *code, size_t bytes, uint64_t offset, uint32_t field,
		struct startcall out[STARTCALL_MAX])
{
	struct site site[STARTCALL_MAX];
	size_t n = find_sites(code, bytes, field, site), i, at;

	if (n > STARTCALL_MAX)
		return 0;
	if (n == 2) {
		at = common_branch(code, &site[0], &site[1]);
		if (at == SIZE_MAX)
			at = common_branch(code, &site[1], &site[0]);
		if (at != SIZE_MAX) {
			out[0] = (struct startcall){ offset + at, field, true };
			return 1;
		}
	}
	for (i = 0; i < n; i++)
		out[i] = (struct startcall){ offset + site[i].call, field, false };
	return (int)n;
}

int startcall_find(int fd, struct startcall out[STARTCALL_MAX])
{
	uint32_t field;
	struct elf e;
	void *code;
	int r, i, n = 0;

	r = elf_open(&e, fd);
	if (r)
		return r;
	r = field_offset(&e, &field);
	for (i = 0; !r && field && i < e.head.e_phnum; i++) {
		const Elf64_Phdr *p = &e.seg[i];

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X) || !p->p_filesz)
			continue;
		code = read_part(fd, p->p_offset, p->p_filesz, CODE_BYTES_MAX, &r);
		/* Code of one segment: a program has one, or none of the others holds it. */
		if (code && !n)
			n = scan(code, p->p_filesz, p->p_offset, field, out);
		free(code);
	}
	elf_close(&e);
	return r < 0 ? r : n;
}

int startcall_interp(int fd, char *path, size_t bytes)
{
	struct elf e;
	int r, i;

	r = elf_open(&e, fd);
	if (r)
		return r;
	r = -ENOENT;
	for (i = 0; i < e.head.e_phnum; i++) {
		const Elf64_Phdr *p = &e.seg[i];

		if (p->p_type != PT_INTERP)
			continue;
		if (!p->p_filesz || p->p_filesz > bytes) {
			r = p->p_filesz ? -ENAMETOOLONG : -ENOEXEC;
			break;
		}
		r = read_at(fd, path, p->p_filesz, p->p_offset);
		path[p->p_filesz - 1] = '\0';
		r = r ? r : (int)strlen(path);
		break;
	}
	elf_close(&e);
	return r;
}
