/* SPDX-License-Identifier: MIT */
#include "out/human.h"

#include <stdio.h>
#include <string.h>

/*
 * @v / @unit with three significant digits. Returns false when rounding makes
 * it 1000, which the next unit says better.
 */
static bool three_digits(char out[HUMAN_BYTES], uint64_t v, uint64_t unit)
{
	unsigned __int128 x = v;
	uint64_t scaled;

	scaled = (uint64_t)((x * 100 + unit / 2) / unit);
	if (scaled < 1000) {
		snprintf(out, HUMAN_BYTES, "%u.%02u", (unsigned int)(scaled / 100),
			 (unsigned int)(scaled % 100));
		return true;
	}
	scaled = (uint64_t)((x * 10 + unit / 2) / unit);
	if (scaled < 1000) {
		snprintf(out, HUMAN_BYTES, "%u.%u", (unsigned int)(scaled / 10),
			 (unsigned int)(scaled % 10));
		return true;
	}
	scaled = (uint64_t)((x + unit / 2) / unit);
	snprintf(out, HUMAN_BYTES, "%llu", (unsigned long long)scaled);
	return scaled < 1000;
}

static char *long_time(char out[HUMAN_BYTES], uint64_t ns)
{
	uint64_t s = (ns + 500000000) / 1000000000;

	if (ns > UINT64_MAX - 500000000)
		s = UINT64_MAX / 1000000000;
	if (s < 3600)
		snprintf(out, HUMAN_BYTES, "%um%02us", (unsigned int)(s / 60),
			 (unsigned int)(s % 60));
	else if (s < 86400)
		snprintf(out, HUMAN_BYTES, "%uh%02um", (unsigned int)(s / 3600),
			 (unsigned int)(s / 60 % 60));
	else if (s < 86400ULL * 1000)
		snprintf(out, HUMAN_BYTES, "%ud%02uh", (unsigned int)(s / 86400),
			 (unsigned int)(s / 3600 % 24));
	else
		snprintf(out, HUMAN_BYTES, "%uy%03ud", (unsigned int)(s / 86400 / 365),
			 (unsigned int)(s / 86400 % 365));
	return out;
}

char *human_ns(char out[HUMAN_BYTES], uint64_t ns, bool ascii)
{
	static const struct {
		uint64_t unit;
		const char *name, *ascii;
	} units[] = {
		{ 1000, " \xc2\xb5s", " us" },
		{ 1000000, " ms", " ms" },
		{ 1000000000, " s", " s" },
	};
	size_t i;

	if (ns < 1000) {
		snprintf(out, HUMAN_BYTES, ns ? "%u ns" : "%u", (unsigned int)ns);
		return out;
	}
	for (i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (!three_digits(out, ns, units[i].unit))
			continue;
		strcat(out, ascii ? units[i].ascii : units[i].name);
		return out;
	}
	return long_time(out, ns);
}

char *human_count(char out[HUMAN_BYTES], uint64_t n)
{
	static const char names[] = "kMGTPE";
	uint64_t unit = 1000;
	size_t i;

	if (n < 10000) {
		snprintf(out, HUMAN_BYTES, "%u", (unsigned int)n);
		return out;
	}
	for (i = 0; i < sizeof(names) - 1; i++, unit *= 1000) {
		if (three_digits(out, n, unit) || i == sizeof(names) - 2) {
			strncat(out, &names[i], 1);
			return out;
		}
	}
	return out;
}

char *human_bytes(char out[HUMAN_BYTES], uint64_t bytes)
{
	static const char *const names[] = { " KiB", " MiB", " GiB", " TiB", " PiB", " EiB" };
	uint64_t unit = 1024;
	size_t i;

	if (bytes < 1024) {
		snprintf(out, HUMAN_BYTES, "%u B", (unsigned int)bytes);
		return out;
	}
	for (i = 0; i < sizeof(names) / sizeof(*names) - 1 && bytes / unit >= 1024; i++)
		unit *= 1024;
	three_digits(out, bytes, unit);
	/* Exact sizes are mostly powers of two; "64.0 KiB" would look measured. */
	if (strchr(out, '.') && bytes * 100 % unit == 0 && bytes < UINT64_MAX / 100) {
		size_t n = strlen(out);

		while (out[n - 1] == '0')
			out[--n] = '\0';
		if (out[n - 1] == '.')
			out[--n] = '\0';
	}
	strcat(out, names[i]);
	return out;
}

char *human_percent(char out[HUMAN_BYTES], uint64_t part, uint64_t whole)
{
	unsigned __int128 p = (unsigned __int128)part * 10000;
	uint64_t hundredths;

	if (!part || !whole) {
		snprintf(out, HUMAN_BYTES, "0 %%");
		return out;
	}
	if (p / whole > 99999900) {
		snprintf(out, HUMAN_BYTES, ">999k %%");
		return out;
	}
	hundredths = (uint64_t)((p + whole / 2) / whole);
	if (!hundredths) {
		snprintf(out, HUMAN_BYTES, "<0.01 %%");
		return out;
	}
	if (!three_digits(out, hundredths, 100))
		human_count(out, (hundredths + 50) / 100);
	strcat(out, " %");
	return out;
}

char *human_value(char out[HUMAN_BYTES], double v, const char *unit)
{
	uint64_t n = !(v > 0) ? 0 : v < 1.8e19 ? (uint64_t)(v + 0.5) : UINT64_MAX;

	if (!strcmp(unit, "ns"))
		return human_ns(out, n, false);
	return !strcmp(unit, "B") ? human_bytes(out, n) : human_count(out, n);
}
