/* SPDX-License-Identifier: MIT */
#ifndef SYM_SYM_H
#define SYM_SYM_H

/*
 * Names for user addresses and stacks. A snapshot of a process's mappings is
 * taken while it lives; ELF and DWARF are parsed in an unprivileged child
 * (libexec/tracer-sym), which gets the mapped files as descriptors, so that
 * hostile files cannot hurt the caller and that files which were deleted,
 * replaced or lie in another mount namespace work.
 *
 * One thread at a time may use a struct sym. The child is a normal child of
 * the calling process: callers wait for their own children by pid, never by
 * waitpid(-1), and need not handle its SIGCHLD.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct err;
struct sym;

struct sym_opts {
	const char *libexec_dir;	/* directory of tracer-sym; copied */
	uid_t drop_uid;			/* what the child becomes, with .drop */
	gid_t drop_gid;
	bool drop;			/* false: started by root it becomes 65534 */
	/* No .file, .line and inlined frames: saves some 0.1 s for each large debug file. */
	bool no_lines;
	bool debuginfod;		/* ask its servers, too: symfetch.h */
	/*
	 * For one answer; of CPU time where the child has to wait for a CPU, within
	 * SYM_TIMEOUT_MS. 0: SYM_TIMEOUT_MS.
	 */
	uint32_t answer_ms;
	uint32_t patience_ms;		/* for all answers together; 0: SYM_PATIENCE_MS */
	uint64_t snapshot_ns;		/* CPU time at once for new snapshots; 0: SYM_SNAPSHOT_NS */
};

/* The x86_64 registers in their DWARF order. */
struct sym_regs {
	uint64_t ax, dx, cx, bx, si, di, bp, sp;
	uint64_t r8, r9, r10, r11, r12, r13, r14, r15;
	uint64_t ip;
};

#define SYM_REGS 17
#define SYM_STACK_BYTES 65536	/* most bytes of a copied stack that are used */
#define SYM_FRAMES 256		/* most frames of one stack */

_Static_assert(sizeof(struct sym_regs) == SYM_REGS * sizeof(uint64_t), "one word a register");

/* All strings belong to the struct sym and live until sym_forget or its end. */
struct sym_frame {
	uint64_t ip;		/* as in the registers or on the stack: after the call */
	uint64_t offset;	/* of ip in symbol; 0 in an inlined function, which has no start */
	uint64_t module_offset;	/* of ip, as the file's program headers count; 0: unknown */
	const char *symbol;	/* NULL: unknown; demangled, version and LTO suffix cut off */
	const char *module;	/* NULL: unknown; path of the mapped file */
	const char *file;	/* NULL: unknown; source file of the call */
	uint32_t line;		/* 0: unknown */
	bool inlined;		/* into the next frame, which has the same .ip */
	bool kernel;		/* of the kernel: .ip is not told */
};

struct sym_name {
	const char *symbol;	/* never NULL after success */
	const char *module;	/* NULL: unknown */
	const char *file;	/* NULL: unknown */
	uint64_t offset;	/* of the address in symbol */
	uint64_t module_offset;	/* of the address, as the file counts; 0: unknown */
	uint32_t line;		/* 0: unknown */
};

/* What did not work, for the loss ledger. Only ever grows. */
struct sym_stats {
	uint64_t stacks;	/* unwound, or found in the cache */
	uint64_t cached;	/* of those, found in the cache */
	uint64_t failed;	/* stacks and names given up: child dead, time-out, bad answer */
	uint64_t files;		/* mapped files opened */
	uint64_t unopened;	/* mapped files that could not be opened */
	uint64_t restarts;	/* of the child */
};

/*
 * Files of the traced program's choice can make each answer take long: so much
 * is waited in all, half of it for one space, and then nothing is asked; a hundredth
 * of the time that passes is given back. Nor is a child started again that ended
 * more than three times in ten minutes.
 */
#define SYM_PATIENCE_MS 60000
/*
 * Snapshots take half of a CPU at most, and so much of it at once before one of a new
 * space is refused: a program that has many mappings and forks and forks must not keep
 * the caller from its events and signals.
 */
#define SYM_SNAPSHOT_NS 500000000

/*
 * A client; the child starts at the first unwinding or naming. Returns NULL
 * with @err filled when memory is short or debuginfod cannot be asked. @opts may go away. Without a
 * tracer-sym to run there are no names, and sym_trouble says so.
 */
struct sym *sym_new(const struct sym_opts *opts, struct err *err);
/*
 * Why names are missing, as a warning in @why: -errno when tracer-sym cannot be
 * run, -EIO when it did not answer so far; 0: none are missing for its sake.
 */
int sym_trouble(const struct sym *s, struct err *why);
/* Ends the child, closes all files and frees all strings. Accepts NULL. */
void sym_free(struct sym *s);

/*
 * Reads /proc/PID/maps now and opens each mapped ELF file, remembered under
 * @space: a number of the caller's for one address space (one exec of one
 * process), unique over the trace. Cheap to call again: a known @space is
 * read anew only when it is older than SYM_STALE_MS or when an address was
 * looked for outside its mappings, and not within 50 times the CPU time that
 * took the last time. Mappings that went away are still known. Returns 0; -ESRCH when
 * the process is gone (what was known of @space stays), -EACCES or -EPERM when
 * it may not be read, -ENOSPC for a new @space when 4096 or a million mappings
 * are known, -EAGAIN for one when snapshots took over half of a CPU lately,
 * -ENOMEM.
 * Does not block on the process, but opens its files.
 */
int sym_snapshot(struct sym *s, uint32_t space, pid_t pid);
#define SYM_STALE_MS 200

/*
 * Lets go of @space, which need not be known and does not come again: for those
 * who use one struct sym for hours. What was kept for it goes now or with one of
 * the next calls, and with it the strings of all frames and names so far: they
 * are valid until the next call of this. Does not wait for the child.
 */
void sym_forget(struct sym *s, uint32_t space);

/*
 * Unwinds by the files' .eh_frame from @regs and the @stack_bytes bytes that
 * were copied from regs->sp upward, and names each frame, innermost first. A
 * stack longer than the copy ends where the copy ends. Returns the number of
 * frames in @out, at most @max and SYM_FRAMES, at least 1; -ENOENT when @space
 * was never snapshot, -EIO when the child does not answer (counted in the
 * statistics), -ENOMEM. Blocks for SYM_TIMEOUT_MS at most, or opts.answer_ms.
 */
int sym_unwind(struct sym *s, uint32_t space, const struct sym_regs *regs,
	       const void *stack, size_t stack_bytes, struct sym_frame *out, int max);
#define SYM_TIMEOUT_MS 10000

/* A stack, as sym_unwind takes it. */
struct sym_sample {
	uint32_t space;
	int max;		/* frames */
	const struct sym_regs *regs;
	const void *stack;
	size_t stack_bytes;
};

/*
 * Unwinds and names e[0..n) together, those of one space best next to each other: a
 * sym_unwind of each after that, with the same arguments, answers at once. Takes half
 * the time of as many first calls of that, or less. What fails, fails there.
 */
void sym_prepare(struct sym *s, const struct sym_sample *e, size_t n);

/*
 * The function at @addr, or the global or static object that holds @addr
 * (.data, .bss and the like; neither thread-local, heap nor stack). Returns 0,
 * -ENOENT when there is none or @space is not known, -EIO and -ENOMEM as
 * sym_unwind. With -ENOENT @out has at least .module and .module_offset where
 * @addr is in a file; else it is all 0.
 */
int sym_code(struct sym *s, uint32_t space, uint64_t addr, struct sym_name *out);
int sym_data(struct sym *s, uint32_t space, uint64_t addr, struct sym_name *out);

/*
 * The kernel's part of a stack: names @n addresses, innermost first, into @out. What
 * the tracing itself adds inside is left out, and so are the addresses: .ip is 0,
 * .module is "[kernel]" or the module in brackets. Returns the number of frames; 0
 * where the kernel does not show us its symbols, which are read at the first call.
 */
int sym_kernel(struct sym *s, const uint64_t *ip, size_t n, struct sym_frame *out);

/*
 * Writes NAME or NAME+0xOFF to @buf of @bytes, NUL-terminated and cut.
 * Returns the length that the whole has, as snprintf.
 */
int sym_name_format(const struct sym_name *n, char *buf, size_t bytes);

void sym_stats(const struct sym *s, struct sym_stats *out);
/* CPU time that the child has taken so far, in ns. */
uint64_t sym_cpu_ns(const struct sym *s);

#endif
