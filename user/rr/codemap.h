/* SPDX-License-Identifier: MIT */
#ifndef RR_CODEMAP_H
#define RR_CODEMAP_H

/*
 * Where an ELF file has code: functions, by what unwinding is told of them (Linux Standard Base,
 * Core, "Exception Frames"), which files without symbols have, too; else sections. All places are
 * in the file.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct codemap {
	int fd;			/* the caller's, open until codemap_release() */
	struct codemap_row { uint64_t at, unwinding; } *start;	/* of functions, ascending */
	size_t nstarts;
	struct codemap_section { uint64_t at, end; } *section;	/* of code */
	size_t nsections;
};

/* What is missing in the file or damaged is left out. */
void codemap_read(struct codemap *c, int fd);
void codemap_release(struct codemap *c);
/* Where the function begins that holds @at; 0: none is known to. */
uint64_t codemap_function(const struct codemap *c, uint64_t at);
/* Whether a section of code holds it. */
bool codemap_is_code(const struct codemap *c, uint64_t at);

#endif
