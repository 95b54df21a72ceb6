/* SPDX-License-Identifier: MIT */
#include "cli/value.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

/* Reads digits, moving *s behind them; -EINVAL when there are none. */
static int value_digits(const char **s, uint64_t *out)
{
	const char *p = *s;
	uint64_t v = 0;

	if (*p < '0' || *p > '9')
		return -EINVAL;
	for (; *p >= '0' && *p <= '9'; p++) {
		unsigned int d = (unsigned int)(*p - '0');

		if (v > (UINT64_MAX - d) / 10)
			return -ERANGE;
		v = v * 10 + d;
	}
	*s = p;
	*out = v;
	return 0;
}

int cli_value_uint(const char *s, uint64_t *out)
{
	uint64_t v;
	int r = value_digits(&s, &v);

	if (r)
		return r;
	if (*s)
		return -EINVAL;
	*out = v;
	return 0;
}

int cli_value_size(const char *s, uint64_t *out)
{
	static const char units[] = "kmgt";
	unsigned int shift = 0;
	uint64_t v;
	int r = value_digits(&s, &v);

	if (r)
		return r;
	if (*s) {
		const char *u = strchr(units, *s | 0x20);

		if (u && *u) {
			shift = 10 * (unsigned int)(u - units + 1);
			s++;
		}
	}
	if (*s && strcasecmp(s, "b") && (!shift || strcasecmp(s, "ib")))
		return -EINVAL;
	if (v > UINT64_MAX >> shift)
		return -ERANGE;
	*out = v << shift;
	return 0;
}

/* A fraction ".5" in billionths; more than nine digits are no finer. */
static int value_fraction(const char **s, uint64_t *billionths)
{
	const char *p = *s;
	uint64_t v = 0, scale = 1000000000;

	*billionths = 0;
	if (*p != '.')
		return 0;
	p++;
	if (*p < '0' || *p > '9')
		return -EINVAL;
	for (; *p >= '0' && *p <= '9'; p++) {
		if (scale > 1) {
			v = v * 10 + (uint64_t)(*p - '0');
			scale /= 10;
		}
	}
	*s = p;
	*billionths = v * scale;
	return 0;
}

int cli_value_duration(const char *s, uint64_t *out_ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{ "", 1000000000 }, { "s", 1000000000 }, { "ms", 1000000 }, { "us", 1000 },
		{ "ns", 1 }, { "m", 60000000000 }, { "h", 3600000000000 },
	};
	unsigned __int128 total;
	uint64_t whole, billionths;
	int r = 0;

	/* ".2" as sleep(1) and others take it. */
	whole = 0;
	if (*s != '.')
		r = value_digits(&s, &whole);
	if (!r)
		r = value_fraction(&s, &billionths);
	if (r)
		return r;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(s, units[i].name))
			continue;
		total = (unsigned __int128)whole * units[i].ns +
			(unsigned __int128)billionths * units[i].ns / 1000000000;
		if (total > UINT64_MAX)
			return -ERANGE;
		if (!total)
			return -EINVAL;
		*out_ns = (uint64_t)total;
		return 0;
	}
	return -EINVAL;
}
