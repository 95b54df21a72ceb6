/* SPDX-License-Identifier: MIT */
#include "stats/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct unit { double size; const char *name; };

static const struct unit times[] = {
	{ 1, "ns" }, { 1e3, "µs" }, { 1e6, "ms" }, { 1e9, "s" },
};

static const struct unit sizes[] = {
	{ 1, "B" }, { 1024, "KiB" }, { 1024. * 1024, "MiB" }, { 1024. * 1024 * 1024, "GiB" },
	{ 1024. * 1024 * 1024 * 1024, "TiB" },
};

/* Digits behind the point that make three in all. */
static int units_digits(double x)
{
	if (x < 9.995)
		return 2;
	return x < 99.95 ? 1 : 0;
}

static struct units_text units_scaled(double x, const struct unit *unit, size_t n)
{
	struct units_text t;
	size_t i = 0;

	if (!(x > 0))	/* also a NaN */
		x = 0;
	/* What would round up to one of the next unit is one of it. */
	while (i + 1 < n && x / unit[i].size >= unit[i + 1].size / unit[i].size - 0.5)
		i++;
	x /= unit[i].size;
	snprintf(t.s, sizeof(t.s), "%.*f %s", i ? units_digits(x) : 0, x, unit[i].name);
	return t;
}

struct units_text units_time(double ns)
{
	return units_scaled(ns, times, sizeof(times) / sizeof(times[0]));
}

struct units_text units_bytes(double bytes)
{
	return units_scaled(bytes, sizes, sizeof(sizes) / sizeof(sizes[0]));
}

struct units_text units_count(uint64_t n)
{
	struct units_text t;
	char digits[24];
	size_t len = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, n), i, at = 0;

	for (i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			t.s[at++] = ',';
		t.s[at++] = digits[i];
	}
	t.s[at] = '\0';
	return t;
}

struct units_text units_percent(double part)
{
	struct units_text t;
	double x = part > 0 ? part * 100 : 0;

	snprintf(t.s, sizeof(t.s), "%.*f %%", x >= 9.95 || x == 0 ? 0 : x >= 0.095 ? 1 : 2, x);
	return t;
}
