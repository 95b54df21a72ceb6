/* SPDX-License-Identifier: MIT */
#ifndef SYM_SYMD_H
#define SYM_SYMD_H

/*
 * Inside tracer-sym, the unprivileged child that parses files which are not
 * to be trusted. An address in a file is the one that its program headers and
 * symbols use ("vaddr"); a space maps those to a process's.
 */
#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sym/symproto.h"

/* --- symdbox.c: what the child gives up before it reads anything ----------- */

#define SYMD_FD 3	/* the parent's end of the socket pair */

/*
 * Becomes @uid and @gid when the process is root (never staying 0), and gives
 * up privileges, new privileges, other descriptors, writing, core dumps, paths
 * outside /usr/lib/debug where the kernel has Landlock, and memory without end.
 * Returns 0, or -errno when it would still be privileged.
 */
int symd_box(uid_t uid, gid_t gid);
/* Lets the next requests use so much CPU time; past it the process is killed. */
void symd_box_request(void);

/* --- symdserve.c ----------------------------------------------------------- */

/*
 * Answers, with source lines when @lines, until the parent closes its end (0)
 * or says nonsense (-EBADMSG).
 */
int symd_serve(int sock, bool lines);

/* --- symdfile.c: one ELF file ---------------------------------------------- */

struct symd_seg {	/* PT_LOAD */
	uint64_t offset, file_bytes, vaddr, mem_bytes;
	uint32_t flags;	/* PF_* */
};

#define SYMD_SEGS 32

struct symd_table;
struct symd_lines;
struct symd_cfi;
struct symd_inlines;
struct symd_perf;

/* What is looked for elsewhere, by the parent: the file has no symbols of its own. */
struct symd_lack {
	bool wanted, told;
	uint32_t crc;
	unsigned char id[SYMP_BUILD_ID_MAX];
	unsigned int id_bytes;
	char link[SYMP_LINK_MAX + 1];
};

struct symd_file {
	int fd;			/* libdwfl has one of its own */
	int debug_fd;		/* separate debug file that the parent found; -1: none */
	bool opened, good;	/* good: an ELF file that libdw took */
	bool x86_64;
	bool perf;		/* no ELF file but a perf map; .fd stays */
	Dwfl *dwfl;
	Dwfl_Module *mod;
	struct symd_seg seg[SYMD_SEGS];
	unsigned int nseg;
	struct symd_table *table;	/* NULL: not built */
	struct symd_lines *lines;	/* NULL: not built */
	struct symd_cfi *cfi;		/* NULL: not built */
	struct symd_inlines *inlines;	/* NULL: not built */
	struct symd_lack lack;
	struct symd_perf *text;		/* of a perf map; NULL: not read */
};

/* Takes @fd; nothing is read yet. NULL: no memory, @fd is closed. */
struct symd_file *symd_file_new(int fd);
void symd_file_free(struct symd_file *f);
/* Takes @fd as its debug file: what was read of it so far is read anew with that. */
void symd_file_debug(struct symd_file *f, int fd);
/* Opens it at the first call; whether it is an ELF file. */
bool symd_file_open(struct symd_file *f);
/* The segment that holds @vaddr in memory, or NULL. */
const struct symd_seg *symd_file_seg(const struct symd_file *f, uint64_t vaddr);

/* --- symdtable.c, symdname.c, symdline.c, symdinline.c: names in one file ---- */

struct symd_sym {
	uint64_t addr, size;
	const char *name;	/* of the file; lives as long as it */
	uint32_t rank;		/* lower is better among names of one address */
	bool sized;		/* false: .size reaches to the next symbol */
};

/* The symbol that covers @vaddr: functions, or with @data objects. NULL: none. */
const struct symd_sym *symd_table_find(struct symd_file *f, uint64_t vaddr, bool data);
void symd_table_free(struct symd_table *t);

/* The readable form of linker symbol @raw in @out (cut to @bytes). */
void symd_name(const char *raw, char *out, size_t bytes);

/* Source file (the file's own string) and line of @vaddr; false: not known. */
bool symd_line(struct symd_file *f, uint64_t vaddr, const char **source, uint32_t *line);
void symd_lines_free(struct symd_lines *l);
/* The unit that holds @vaddr, and the address that it calls it; NULL: not known. */
Dwarf *symd_line_unit(struct symd_file *f, uint64_t vaddr, Dwarf_Die *unit, Dwarf_Addr *addr);

struct symd_inline {
	const char *name;	/* as the linker would see it, or as written; NULL: unknown */
	const char *source;	/* of the place that it is inlined into; NULL: unknown */
	uint32_t line;
};

/*
 * The inlined functions that @vaddr lies in, innermost first: their number, at most
 * @max. Strings are the file's own. Takes 0.5 s at most over one request, which
 * symd_inline_request begins, and 2 s for one file.
 */
uint32_t symd_inline(struct symd_file *f, uint64_t vaddr, struct symd_inline *out, uint32_t max);
void symd_inline_request(void);
void symd_inlines_free(struct symd_inlines *in);

/* --- symdperf.c: perf maps, lines of "START SIZE NAME" that a JIT writes ----- */

/*
 * The entry of a perf map that covers @addr, an address of the process; the
 * newest of several. Valid until the next call. The file is read anew when it
 * has grown and knows nothing of @addr, a large one not at once.
 */
const struct symd_sym *symd_perf_find(struct symd_file *f, uint64_t addr);
void symd_perf_free(struct symd_perf *p);
/* The same from text, which is changed and must live as long; NULL: no memory. */
struct symd_perf *symd_perf_parse(char *text, size_t bytes);
const struct symd_sym *symd_perf_lookup(const struct symd_perf *p, uint64_t addr);

/* --- symdspace.c: address spaces and the files in them --------------------- */

struct symd_spaces;

struct symd_spaces *symd_spaces_new(void);	/* NULL: no memory */
void symd_spaces_free(struct symd_spaces *s);
/* Takes @fd as file @id. 0, -EBADMSG for an impossible number, -ENOMEM. */
int symd_spaces_file(struct symd_spaces *s, uint32_t id, int fd);
/* The same for the debug file of file @id. */
int symd_spaces_debug(struct symd_spaces *s, uint32_t id, int fd);
/* File @id, or NULL. */
struct symd_file *symd_spaces_file_at(struct symd_spaces *s, uint32_t id);
/* Frees a space or file; there need be none. */
void symd_spaces_forget(struct symd_spaces *s, enum symp_thing what, uint32_t id);
/* Puts the mappings of a space in place of what it had. 0 or -ENOMEM. */
int symd_spaces_set(struct symd_spaces *s, const struct symp_list *maps);

struct symd_place {
	struct symd_file *file;	/* NULL: code without a file */
	uint32_t id;		/* of .file */
	uint64_t vaddr;
};

/*
 * Where @addr of @space lies. With @data also behind a file's last page in
 * memory (.bss), and only what can be written; without, only code. false:
 * nowhere that is known.
 */
bool symd_spaces_find(struct symd_spaces *s, uint32_t space, uint64_t addr, bool data,
		      struct symd_place *out);

/* --- symdcfi.c, symdexpr.c, symdunwind.c: stacks --------------------------- */

/* What is known of a frame: registers in DWARF order and the copied stack. */
struct symd_cpu {
	uint64_t r[SYM_REGS];
	uint32_t valid;		/* a bit for each register */
};

#define SYMD_SP 7
#define SYMD_BP 6
#define SYMD_PC 16

struct symd_stack {
	uint64_t base;
	const void *bytes;
	size_t n;
};

bool symd_stack_read(const struct symd_stack *m, uint64_t addr, uint64_t *out);

/*
 * Evaluates a DWARF expression of CFI. @cfa: NULL while the CFA itself is
 * looked for. 0; -1 when it needs what is not known. *@is_value tells a value
 * from an address that holds it.
 */
int symd_expr(const Dwarf_Op *op, size_t n, const struct symd_cpu *cpu, const uint64_t *cfa,
	      const struct symd_stack *m, uint64_t *out, bool *is_value);

enum symd_step { SYMD_STEP_OK, SYMD_STEP_SIGNAL, SYMD_STEP_NO_CFI, SYMD_STEP_END };

/*
 * From a frame in @f at @vaddr (the call's, not the return's, but for the
 * innermost) to its caller's. SIGNAL: so was the frame, and the caller was
 * interrupted, not calling. @cpu changes only with OK and SIGNAL.
 */
enum symd_step symd_cfi_step(struct symd_file *f, uint64_t vaddr, const struct symd_stack *m,
			     struct symd_cpu *cpu);
void symd_cfi_free(struct symd_cfi *c);

/* Addresses of the stack's frames, innermost first; their number, 1..u->max. */
uint32_t symd_unwind(struct symd_spaces *s, const struct symp_unwind *u, const void *stack,
		     struct symp_ip *out);

#endif
