/* SPDX-License-Identifier: MIT */
#include "base/keepenv.h"

#include <stdio.h>
#include <stdlib.h>

#define PREFIX "TRACER_KEPT_"

/* Those of glibc (sysdeps/generic/unsecvars.h). */
static const char *const names[] = {
	"GCONV_PATH", "GETCONF_DIR", "GLIBC_TUNABLES", "HOSTALIASES", "LD_AUDIT", "LD_BIND_NOT",
	"LD_BIND_NOW", "LD_DEBUG", "LD_DEBUG_OUTPUT", "LD_DYNAMIC_WEAK", "LD_HWCAP_MASK",
	"LD_LIBRARY_PATH", "LD_ORIGIN_PATH", "LD_PREFER_MAP_32BIT_EXEC", "LD_PRELOAD",
	"LD_PROFILE", "LD_PROFILE_OUTPUT", "LD_SHOW_AUXV", "LD_VERBOSE", "LD_WARN", "LOCALDOMAIN",
	"LOCPATH", "MALLOC_ARENA_MAX", "MALLOC_ARENA_TEST", "MALLOC_CHECK_", "MALLOC_MMAP_MAX_",
	"MALLOC_MMAP_THRESHOLD_", "MALLOC_PERTURB_", "MALLOC_TOP_PAD_", "MALLOC_TRACE",
	"MALLOC_TRIM_THRESHOLD_", "NIS_PATH", "NLSPATH", "RESOLV_HOST_CONF", "RES_OPTIONS",
	"TMPDIR", "TZDIR",
};

/* Without memory a variable is missing, and nothing else. */
static void copy(const char *from, const char *to)
{
	const char *value = getenv(from);

	if (value)
		(void)setenv(to, value, 1);
}

void keepenv_save(void)
{
	char kept[64];
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(kept, sizeof(kept), PREFIX "%s", names[i]);
		unsetenv(kept);
		copy(names[i], kept);
	}
}

void keepenv_restore(void)
{
	char kept[64];
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(kept, sizeof(kept), PREFIX "%s", names[i]);
		copy(kept, names[i]);
		unsetenv(kept);
	}
}
