/* SPDX-License-Identifier: MIT */
/* Linker symbols of hostile files: what is cut off, and Rust's two manglings. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sym/symname.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int n, const char *out, size_t bytes)
{
	if (n >= 0 && ((size_t)n >= bytes || strlen(out) > (size_t)n))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *name = malloc(size + 1), out[1024], *small = malloc(16);
	size_t n;

	if (!name || !small)
		goto out;
	if (size)
		memcpy(name, data, size);
	name[size] = 0;
	n = symname_base_length(name);
	if (n > strlen(name) || (!n && *name))
		abort();
	check(symname_rust_v0(name, out, sizeof(out)), out, sizeof(out));
	check(symname_rust_v0(name, small, 16), small, 16);
	check(symname_rust_legacy(name, out, sizeof(out)), out, sizeof(out));
	check(symname_rust_legacy(name, small, 16), small, 16);
out:
	free(name);
	free(small);
	return 0;
}
