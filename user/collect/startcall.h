/* SPDX-License-Identifier: MIT */
#ifndef COLLECT_STARTCALL_H
#define COLLECT_STARTCALL_H

/*
 * Where the GNU C library calls the start routine of a new thread. One place
 * in one file stands for the routines of all programs that use it, so that
 * the first thread of each is met too. x86_64.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* pthread_create's threads, thrd_create's, and as many again. */
#define STARTCALL_MAX 4

struct startcall {
	uint64_t offset;	/* in the file, of the instruction to be probed */
	uint32_t field;		/* the routine's address, from the thread's TLS block on */
	bool branch;		/* it is the branch just before the calls; else a call */
};

/*
 * Looks through the ELF file @fd, a C library or a program that is linked with
 * it statically. The file is not believed: nothing in it can do more than
 * yield a wrong place in this very file. Returns the number of places in @out,
 * all of which are to be probed; 0 when there are none (another C library, or
 * stripped of the symbol it takes) or more than STARTCALL_MAX, which are not
 * what is looked for; -ENOEXEC for what is no ELF
 * file of this machine, -ENOMEM, or -errno of reading.
 */
int startcall_find(int fd, struct startcall out[STARTCALL_MAX]);

/*
 * The path of the program's dynamic linker, into @path of @bytes. Its length;
 * -ENOENT for a static one, -ENOEXEC, -ENAMETOOLONG, -errno of reading.
 */
int startcall_interp(int fd, char *path, size_t bytes);

#endif
