/* SPDX-License-Identifier: MIT */
#include "sym/symd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sym/symname.h"

#define MANGLED_MAX 8192

/* Of libstdc++; its header is C++ only. */
char *__cxa_demangle(const char *mangled, char *buf, size_t *bytes, int *status);

static bool demangle(const char *mangled, char *out, size_t bytes)
{
	int status = 0;
	char *text;

	if (!strncmp(mangled, "_R", 2) && symname_rust_v0(mangled, out, bytes) >= 0)
		return true;
	if (strncmp(mangled, "_Z", 2))
		return false;
	text = __cxa_demangle(mangled, NULL, NULL, &status);
	if (!text)
		return false;
	if (symname_rust_legacy(text, out, bytes) < 0)
		snprintf(out, bytes, "%s", text);
	free(text);
	return true;
}

void symd_name(const char *raw, char *out, size_t bytes)
{
	size_t n = symname_base_length(raw);
	char base[MANGLED_MAX + 1];

	if (n <= MANGLED_MAX) {
		memcpy(base, raw, n);
		base[n] = 0;
		if (demangle(base, out, bytes))
			return;
	}
	if (n >= bytes)
		n = bytes - 1;
	memcpy(out, raw, n);
	out[n] = 0;
}
