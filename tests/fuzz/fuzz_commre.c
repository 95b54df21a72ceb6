/* SPDX-License-Identifier: MIT */
/* A pattern, a NUL or newline, a name: what compiles stays inside its table. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collect/commre.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct commre re;
	char pattern[300], name[COMMRE_NAME_BYTES];
	struct err err = { 0 };
	size_t n = 0, rest;
	unsigned int s, c;

	while (n < size && n < sizeof(pattern) - 1 && data[n] && data[n] != '\n')
		n++;
	memcpy(pattern, data, n);
	pattern[n] = '\0';
	memset(name, 0, sizeof(name));
	rest = n + 1 < size ? size - n - 1 : 0;
	if (rest)
		memcpy(name, data + n + 1, rest < sizeof(name) ? rest : sizeof(name));
	if (commre_compile(&re, pattern, &err)) {
		/* A refusal has its words. */
		if (!err.code || !err.msg[0])
			abort();
		return 0;
	}
	if (!re.nstates || re.nstates > COMMRE_STATES_MAX || re.start >= re.nstates)
		abort();
	for (s = 0; s < re.nstates; s++)
		for (c = 0; c < 256; c++)
			if (re.next[s][c] >= re.nstates)
				abort();
	commre_match(&re, name);
	return 0;
}
