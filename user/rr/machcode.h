/* SPDX-License-Identifier: MIT */
#ifndef RR_MACHCODE_H
#define RR_MACHCODE_H

/* x86-64 instructions that are put together, and some that are moved. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct machcode {
	uint64_t base;		/* where it will run */
	uint8_t *at;
	size_t n, cap;
	bool failed;		/* it was to become longer than .cap, or reaches too far */
};

void machcode_put(struct machcode *c, const void *bytes, size_t n);
/* @opcode's bytes, then the distance from behind them and it to @target, of 32 bits. */
void machcode_near(struct machcode *c, const void *opcode, size_t n, uint64_t target);
/* @opcode's bytes, then a word. */
void machcode_word(struct machcode *c, const void *opcode, size_t n, uint64_t word);
/* Where the next byte will run. */
uint64_t machcode_here(const struct machcode *c);
/* Lets the near instruction that ended at @behind go to @target. */
void machcode_aim(struct machcode *c, uint64_t behind, uint64_t target);

/* The length of the instruction at @code; 0: there is none. */
size_t machcode_length(const uint8_t *code, size_t n);
/* Whether it is a string instruction that repeats: its counter goes down at its own place. */
bool machcode_repeats(const uint8_t *code, size_t n);

#define MOVED_LEAST 5	/* bytes: of a near jump */
#define MOVED_MOST 5	/* instructions: of one byte each */

/* The instructions at the beginning of some code, as long together as that. */
struct moved {
	uint64_t ip;
	const uint8_t *code;
	size_t have;		/* bytes at .code */
	unsigned int n, bytes;
	uint8_t begin[MOVED_MOST];	/* where each begins */
	uint64_t now[MOVED_MOST];	/* where it has been moved to */
};

/* Those of @code, which runs at @ip. -ENOTSUP: it is no code, or has a call of the system. */
int moved_look(struct moved *m, uint64_t ip, const uint8_t *code, size_t n);
/*
 * Adds them so that they do what they do at their own place, and go on there. A jump to
 * their first goes to @again. -ENOTSUP: one of them cannot be moved there.
 */
int moved_add(struct machcode *c, struct moved *m, uint64_t again);

#endif
