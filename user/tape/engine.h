/* SPDX-License-Identifier: MIT */
#ifndef TAPE_ENGINE_H
#define TAPE_ENGINE_H

/* One stream through the engine: what the command `tape` does once its options are read. */
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "tape/tapestat.h"
#include "tracer/tape.h"

struct tape_job {
	int in, out;		/* descriptors; reads and writes block */
	char *const *command;	/* ends with NULL; NULL: holes are shown between the marks */
	const char *mark_before, *mark_after;
	bool each;		/* a command for each hole */
	const char *placeholder;	/* with .each: stands for the hole in the command's words */
	bool chomp;		/* with .each: no line end behind the hole, none taken off */
	unsigned int parallel;	/* with .each: commands at a time, at least 1 */
	char end;		/* of a hole and of its answer: '\n' or NUL */
	char *const *selector;	/* TAPE_NUMBERED: a command that prints the numbers */
	char number_end;	/* of those */
	bool selector_must_succeed;	/* its status other than 0 is an error */
};

/* What there is to say besides an error. */
struct tape_result {
	struct tape_stats stats;
	int status;		/* of the command, as wait() has it; with .each, the last not 0 */
	uint64_t surplus;	/* lines of the command that no hole was left for */
	bool surplus_cut;	/* and it was stopped with more to say */
	uint64_t bad_numbers;	/* of the selector: none, or that do not ascend */
	char bad_number[64];	/* the first of them */
};

/*
 * Runs until the input's end, or until the output cannot be written: 0, or a negative errno
 * with words. -EPIPE: nobody reads the output. -ENODATA: the command's output ran short.
 * SIGPIPE must be ignored; commands get it back.
 */
int tape_run(struct tape_splitter *s, const struct tape_job *job, struct tape_result *result,
	     struct err *err);

#endif
