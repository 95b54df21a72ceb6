/* SPDX-License-Identifier: MIT */
#ifndef SYM_SYMMAPS_H
#define SYM_SYMMAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* PERF, of our own: code that a perf map names. */
enum { SYMMAPS_R = 1, SYMMAPS_W = 2, SYMMAPS_X = 4, SYMMAPS_PERF = 8 };

/* One line of /proc/PID/maps. */
struct symmaps_line {
	uint64_t start, end, offset, ino;
	uint32_t major, minor;
	unsigned int prot;	/* SYMMAPS_* */
	const char *path;	/* into the text, not NUL-terminated; NULL: anonymous */
	size_t path_bytes;	/* without " (deleted)" */
	bool deleted;
};

/*
 * Parses the line at *@text (which ends before @end) and steps *@text behind
 * it. Returns 1 for a line; 0 for one that is not in the kernel's form, with
 * *@out unchanged; -1 when there was no text left.
 */
int symmaps_next(const char **text, const char *end, struct symmaps_line *out);

/*
 * Copies a path with the kernel's \012 for a newline undone. @out has room
 * for @bytes + 1; the result is NUL-terminated. Returns its length.
 */
size_t symmaps_path(const char *path, size_t bytes, char *out);

#endif
