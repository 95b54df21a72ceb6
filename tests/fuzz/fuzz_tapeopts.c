/* SPDX-License-Identifier: MIT */
/* The command line of `tape`: arguments end in NUL. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/tape_opts.h"

#define ARGS_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct tape_opts *o, char **argv, int argc)
{
	if (!o->pattern && !o->onig && !o->chars && !o->lines && !o->fields && !o->external &&
	    !o->sed && !o->awk)
		abort();
	if (o->jobs < 1 || o->jobs > TAPE_JOBS_MAX || (o->placeholder && !o->each))
		abort();
	if (o->command && (o->command <= argv || o->command >= argv + argc || !o->command[0]))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *argv[ARGS_MAX + 2], *text, *at, *end, name[] = "tape";
	struct err err = { 0 };
	struct tape_opts o;
	int argc = 1, rc;

	if (!size || size > 4096)
		return 0;
	text = malloc(size + 1);
	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	argv[0] = name;
	end = text + size;
	for (at = text; at < end && argc <= ARGS_MAX; at += strlen(at) + 1)
		argv[argc++] = at;
	argv[argc] = NULL;
	rc = tape_opts_parse(&o, argc, argv, &err);
	if (!rc)
		check(&o, argv, argc);
	else if (rc < 0 && (!err.msg[0] || err.code != -rc))
		abort();
	free(text);
	return 0;
}
