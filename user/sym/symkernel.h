/* SPDX-License-Identifier: MIT */
#ifndef SYM_SYMKERNEL_H
#define SYM_SYMKERNEL_H

/*
 * Names of kernel code, from /proc/kallsyms. The kernel shows its addresses only to
 * those who may know them (kernel.kptr_restrict); for others there are no names.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symkernel;

struct symkernel_name {
	const char *symbol;	/* lives as long as the table */
	const char *module;	/* in brackets; "[kernel]" for what is in no module */
	uint64_t offset;	/* of the address in symbol */
};

/* Whether the first symbols have addresses: the cheap half of symkernel_read. */
bool symkernel_visible(void);
/* Reads the whole, some 0.1 s. NULL: nothing to be seen, or no memory. */
struct symkernel *symkernel_read(void);
/* The same from text, which may go away. */
struct symkernel *symkernel_parse(const char *text, size_t bytes);
void symkernel_free(struct symkernel *k);
/* The function that the call before @ip is in; false: none that is known. */
bool symkernel_find(const struct symkernel *k, uint64_t ip, struct symkernel_name *out);

#endif
