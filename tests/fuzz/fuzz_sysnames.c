/* SPDX-License-Identifier: MIT */
/* A list of system calls, as -e takes it. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collect/sysnames.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sysname_set set;
	struct err err = { 0 };
	char *list;

	/* libc's regcomp goes down as deep as there are brackets. */
	if (size > 200)
		return 0;
	list = malloc(size + 1);
	if (!list)
		return 0;
	if (size)
		memcpy(list, data, size);
	list[size] = '\0';
	if (sysnames_parse_set(list, &set, &err) && (!err.code || !err.msg[0]))
		abort();
	free(list);
	return 0;
}
