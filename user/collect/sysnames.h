/* SPDX-License-Identifier: MIT */
#ifndef COLLECT_SYSNAMES_H
#define COLLECT_SYSNAMES_H

/*
 * The x86-64 system calls by number: names and classes as strace has them,
 * and which of their arguments are file descriptors and paths. Nothing here
 * blocks; all of it may be called from any thread.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define SYSNAMES_MAX 512	/* numbers known by name end at 469 (Linux 6.18) */

/* Classes: strace's -e trace=%CLASS. */
enum {
	SYSNAME_FILE	= 1 << 0,
	SYSNAME_PROCESS	= 1 << 1,
	SYSNAME_NETWORK	= 1 << 2,
	SYSNAME_SIGNAL	= 1 << 3,
	SYSNAME_IPC	= 1 << 4,
	SYSNAME_DESC	= 1 << 5,
	SYSNAME_MEMORY	= 1 << 6,
	SYSNAME_CREDS	= 1 << 7,
	SYSNAME_STAT	= 1 << 8,	/* %stat */
	SYSNAME_LSTAT	= 1 << 9,
	SYSNAME_FSTAT	= 1 << 10,
	SYSNAME_STATS	= 1 << 11,	/* %%stat: any of the three */
	SYSNAME_STATFS	= 1 << 12,	/* %statfs */
	SYSNAME_FSTATFS	= 1 << 13,
	SYSNAME_STATFSS	= 1 << 14,	/* %%statfs */
	SYSNAME_CLOCK	= 1 << 15,
	SYSNAME_PURE	= 1 << 16,
};

/* A row. Masks are of arguments, bit 0 the first. */
struct sysname {
	const char *name;
	uint32_t classes;
	uint8_t fds;	/* file descriptors, directories among them */
	uint8_t paths;	/* strings the call reads as paths */
	uint8_t dirfds;	/* directory that the path in the next argument is relative to */
};

/* Every row has a name; a number that is no call has "syscall_0x151" and zeros. */
extern const struct sysname sysname_table[SYSNAMES_MAX];

struct sysname_set {
	uint64_t bits[SYSNAMES_MAX / 64];
};

static inline bool sysname_set_has(const struct sysname_set *set, unsigned int nr)
{
	return nr < SYSNAMES_MAX && (set->bits[nr / 64] >> (nr % 64) & 1);
}

/*
 * The name of call @nr; "syscall_0x151" for a number without a call, as strace
 * writes it, "syscall_other" past the table. Never NULL, lives for ever.
 */
const char *sysname(unsigned int nr);
/* True when @nr is a call that has a name of its own. */
bool sysname_known(unsigned int nr);
/* The number of the call @name (also "syscall_0x151"), or -ENOENT. */
int sysname_find(const char *name);
/* The known name nearest to @name, or NULL when none is near. */
const char *sysname_nearest(const char *name);

/*
 * Fills *set from strace's list of calls: NAME, number, %CLASS (or the old
 * file, process, network, signal, ipc, desc, memory), all, none, /REGEX (POSIX
 * extended, searched for in the name), each separated by commas; a ? in front
 * makes an item that matches nothing no error; a ! in front of the whole list
 * inverts it; "trace=" or "t=" may come first. More than strace: a ! in front
 * of a later item takes that item out of what stands before it.
 * Returns 0, or -EINVAL with a message that names the item (and a near name as
 * the hint), -E2BIG for a REGEX that is too large (commre_nfa.h), -ENOMEM; *set is then
 * undefined.
 */
int sysnames_parse_set(const char *list, struct sysname_set *set, struct err *err);

/*
 * The name of a futex operation: 0..13 those of futex(2) ("wait", "wake", …),
 * then "futex_waitv", "futex_wait", "futex_wake", "futex_requeue", which are
 * calls of their own; "unknown" past them. Flags must be cut off. Never NULL.
 */
#define SYSNAMES_FUTEX_OPS 18
const char *futex_op_name(unsigned int op);

#endif
