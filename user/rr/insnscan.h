/* SPDX-License-Identifier: MIT */
#ifndef RR_INSNSCAN_H
#define RR_INSNSCAN_H

/* Where a file's code has instructions of insn.h. */
#include <stddef.h>
#include <stdint.h>

struct insn_places {
	uint64_t *at;		/* in the file, ascending */
	size_t n, cap;
};

/*
 * Those in @bytes of the file @fd from @offset on, which are code. One that is in doubt is left
 * out. 0 or -errno; insn_places_release() in any case. Some 10 ms for 100 MB.
 */
int insnscan(struct insn_places *to, int fd, uint64_t offset, uint64_t bytes);
void insn_places_release(struct insn_places *p);

#endif
