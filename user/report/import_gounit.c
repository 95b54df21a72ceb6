/* SPDX-License-Identifier: MIT */
/*
 * The rules are those of https://golang.org/design/14313-benchmark-format: what a unit
 * measures is the last of the words that hyphens part, as "ns/op" in "L1-miss-ns/op";
 * "Unit ns/op better=lower assume=exact" describes one. Beyond that format, time, memory
 * and allocations are taken to be better when they are less, and all that is per second
 * when it is more.
 */
#include "report/import_gounit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/import_impl.h"

static const struct { const char *measure; struct gounit_meaning meaning; } measures[] = {
	{ "ns", { "ns", 1, STORE_TIME, GOUNIT_LESS } },
	{ "us", { "ns", 1e3, STORE_TIME, GOUNIT_LESS } },
	{ "\xc2\xb5s", { "ns", 1e3, STORE_TIME, GOUNIT_LESS } },	/* micro sign */
	{ "\xce\xbcs", { "ns", 1e3, STORE_TIME, GOUNIT_LESS } },	/* mu */
	{ "ms", { "ns", 1e6, STORE_TIME, GOUNIT_LESS } },
	{ "s", { "ns", 1e9, STORE_TIME, GOUNIT_LESS } },
	{ "sec", { "ns", 1e9, STORE_TIME, GOUNIT_LESS } },
	{ "B", { "B", 1, STORE_COUNT, GOUNIT_LESS } },
	{ "bytes", { "B", 1, STORE_COUNT, GOUNIT_LESS } },
	{ "allocs", { "", 1, STORE_COUNT, GOUNIT_LESS } },
};
#define MEASURES (sizeof(measures) / sizeof(*measures))

static const struct {
	const char *word;
	enum gounit_better better;
	enum gounit_assume assume;
} metadata[] = {
	{ "better=lower", .better = GOUNIT_LESS },
	{ "better=higher", .better = GOUNIT_MORE },
	{ "assume=nothing", .assume = GOUNIT_NOTHING },
	{ "assume=exact", .assume = GOUNIT_EXACT },
};
#define METADATA (sizeof(metadata) / sizeof(*metadata))

int gounits_number(struct gounits *all, struct slice name, uint32_t *number, struct err *err)
{
	struct buf word = BUF_INIT;
	void *rows = all->unit;
	int e = buf_add(&word, name.s, name.n);

	*number = e ? 0 : strtab_add(&all->names, word.data);
	buf_release(&word);
	if (e || all->names.failed)
		return err_sys(err, ENOMEM, "cannot keep a unit");
	while (!e && all->n <= *number) {
		e = import_grow(&rows, all->n, sizeof(*all->unit), err);
		all->unit = rows;
		if (!e)
			memset(&all->unit[all->n++], 0, sizeof(*all->unit));
	}
	return e;
}

/* Takes what @field says; false: another one said something else. */
static bool describe(struct gounit *u, struct slice field)
{
	bool agrees = true;
	size_t i;

	for (i = 0; i < METADATA; i++) {
		if (!slice_is(field, metadata[i].word))
			continue;
		if (metadata[i].better) {
			agrees = !u->better || u->better == metadata[i].better;
			u->better = metadata[i].better;
		} else {
			agrees = !u->assume || u->assume == metadata[i].assume;
			u->assume = metadata[i].assume;
		}
	}
	return agrees;
}

int gounits_read(struct gounits *all, struct slice line, size_t at, struct err *err)
{
	struct slice name, field;
	uint32_t number;
	int e;

	if (!slice_field(&line, &name) || !slice_is(name, "Unit") || !slice_field(&line, &name) ||
	    name.n > IMPORT_NAME_BYTES || !slice_is_text(name))
		return 0;
	e = gounits_number(all, name, &number, err);
	while (!e && slice_field(&line, &field))
		if (!describe(&all->unit[number], field))
			e = err_set(err, EINVAL, "line %zu: '%.*s' contradicts a line before it",
				    at, (int)field.n, field.s);
	return e;
}

static bool is_second(const char *per)
{
	return !strcmp(per, "/s") || !strcmp(per, "/sec");
}

static struct gounit_meaning by_name(const char *name)
{
	const char *hyphen = strrchr(name, '-'), *measure = hyphen ? hyphen + 1 : name;
	size_t i, n = strcspn(measure, "/");

	if (is_second(measure + n))
		return (struct gounit_meaning){ name, 1, STORE_TIME, GOUNIT_MORE };
	for (i = 0; i < MEASURES; i++)
		if (strlen(measures[i].measure) == n && !memcmp(measures[i].measure, measure, n))
			return measures[i].meaning;
	/* It may vary as times do. */
	return (struct gounit_meaning){ name, 1, STORE_TIME, GOUNIT_UNKNOWN };
}

void gounits_settle(struct gounits *all, uint32_t number, const char *name)
{
	struct gounit *u = &all->unit[number];

	u->meaning = by_name(name);
	if (u->better)
		u->meaning.better = u->better;
	if (u->assume == GOUNIT_EXACT)
		u->meaning.kind = STORE_COUNT;
}

void gounits_release(struct gounits *all)
{
	strtab_release(&all->names);
	free(all->unit);
}
