/* SPDX-License-Identifier: MIT */
/* A command line: the first byte chooses run or attach, arguments end in NUL. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/live_opts.h"

#define ARGS_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct live_opts *o, char **argv, int argc)
{
	size_t i;

	if (o->mode < LIVE_MODE_WAIT || o->mode > LIVE_MODE_EXACT || o->sort < LIVE_SORT_TIME ||
	    o->sort > LIVE_SORT_NOTHING || o->color < LIVE_COLOR_AUTO ||
	    o->color > LIVE_COLOR_NEVER || (o->collect & ~LIVE_COLLECT_ALL) || !o->collect)
		abort();
	if (o->argc < 0 || o->argv + o->argc != argv + argc || o->argv[o->argc])
		abort();
	for (i = 0; i < o->pids.n; i++)
		if (o->pids.pid[i] <= 0)
			abort();
	if (o->json && o->csv)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct cli_cmd *cmd = size && data[0] & 1 ? &attach_cmd : &run_cmd;
	char *argv[ARGS_MAX + 2], *text, *at, *end, name[16];
	struct live_opts o;
	struct err err = { 0 };
	int argc = 1, rc;

	if (!size || size > 4096)
		return 0;
	text = malloc(size);
	if (!text)
		return 0;
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	argv[0] = strcpy(name, cmd->name);
	end = text + size;
	for (at = text; at < end && argc <= ARGS_MAX; at += strlen(at) + 1)
		argv[argc++] = at;
	argv[argc] = NULL;
	rc = live_opts_parse(&o, cmd, argc, argv, &err);
	if (!rc)
		check(&o, argv, argc);
	else if (rc < 0 && (!err.msg[0] || err.code != -rc))
		abort();
	live_opts_release(&o);
	free(text);
	return 0;
}
