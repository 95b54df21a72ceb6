/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: Go's benchmark text, by https://golang.org/design/14313-benchmark-format. The
 * file is one bench. The I-th line of a benchmark goes into run I, so that a run is what
 * one pass over all benchmarks gave (-count, or the command repeated), and each column
 * (benchmark, unit) has its values in order of running.
 *
 * Lines of other forms are no error: programs print between the results. Those that look
 * like results and are none, as also the last one of a file that was cut, are counted.
 *
 * Two passes: what "Unit" lines say holds for the whole file.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "report/import_gounit.h"
#include "report/import_impl.h"
#include "store/text.h"

enum key { PKG, GOOS, GOARCH, CPU, COMMIT, TOOLCHAIN, KEYS };

/* Configuration that is read; what is fixed must be the same for all results. */
static const struct { const char *name; bool fixed; } keys[KEYS] = {
	[PKG] = { "pkg", false },
	[GOOS] = { "goos", true },
	[GOARCH] = { "goarch", true },
	[CPU] = { "cpu", true },
	[COMMIT] = { "commit", true },
	[TOOLCHAIN] = { "toolchain", true },
};

struct pair { uint32_t unit; double value; };
struct column { uint32_t benchmark, unit; };

struct gobench {
	struct import *imp;
	struct err *err;
	size_t line;		/* its number, from 1 */
	bool whole;		/* it ends with a newline */
	size_t skipped;		/* the last line that was not taken, or not wholly */
	struct gounits units;
	struct strtab benchmarks;
	size_t *lines;		/* of each benchmark; .nlines of them */
	size_t nlines;
	struct map *metrics;	/* struct column: its name, a const char * */
	struct pair *pair;	/* of the result that is read */
	size_t pairs;
	const char *config[KEYS];
	const char *package;	/* of all results; "": there are several */
	size_t results;
};

static void skip(struct gobench *g, const char *why)
{
	struct import *imp = g->imp;

	if (g->skipped == g->line)
		return;
	g->skipped = g->line;
	if (imp->skipped++)
		return;
	imp->skipped_line = g->line;
	imp->skipped_why = why;
}

static int no_memory(struct gobench *g)
{
	return err_sys(g->err, ENOMEM, "cannot keep what is in it");
}

/* --- configuration lines --------------------------------------------------- */

static int set_config(struct gobench *g, enum key key, struct slice value)
{
	const char *before = g->config[key];
	int e;

	if (value.n > IMPORT_NAME_BYTES || !slice_is_text(value))
		return err_set(g->err, EINVAL, "line %zu: '%s' is too long, or not UTF-8", g->line,
			       keys[key].name);
	if (slice_is(value, before))
		return 0;
	if (keys[key].fixed && g->results) {
		e = err_set(g->err, EINVAL, "line %zu: '%s' changes from '%.64s' to '%.*s'",
			    g->line, keys[key].name, before,
			    (int)(value.n < 64 ? value.n : 64), value.s);
		err_hint(g->err, "a file is one side of a comparison: split it in two");
		return e;
	}
	return import_keep(g->imp, value.s, value.n, &g->config[key], g->err);
}

/* "cpu: Intel(R) Core(TM)"; also 0 where @line is none, or may have been cut. */
static int read_config(struct gobench *g, struct slice line)
{
	enum key key;

	if (!g->whole)
		return 0;
	for (key = 0; key < KEYS; key++) {
		size_t n = strlen(keys[key].name);
		struct slice value;

		if (!slice_begins(line, keys[key].name) || line.n == n || line.s[n] != ':')
			continue;
		value = (struct slice){ line.s + n + 1, line.n - n - 1 };
		if (!value.n || slice_is_blank(value))
			return set_config(g, key, slice_trim(value));
	}
	return 0;
}

/* --- the values of a result ------------------------------------------------ */

/* The last unit of a text without a newline may have been cut: it must be one that is known. */
static bool may_be_cut(const struct gobench *g, uint32_t unit, size_t line_before)
{
	static const char *const usual[] = { "ns/op", "MB/s", "B/op", "allocs/op" };
	size_t i;

	for (i = 0; i < sizeof(usual) / sizeof(*usual); i++)
		if (!strcmp(strtab_get(&g->units.names, unit), usual[i]))
			return false;
	return !line_before;
}

static int add_pair(struct gobench *g, uint32_t unit, double value)
{
	void *rows = g->pair;
	int e = import_grow(&rows, g->pairs, sizeof(*g->pair), g->err);

	if (e)
		return e;
	g->pair = rows;
	g->pair[g->pairs++] = (struct pair){ unit, value };
	return 0;
}

/* *wrong: why the line is no result. */
static int read_pair(struct gobench *g, struct slice field, struct slice *rest, const char **wrong)
{
	size_t line_before;
	struct slice name;
	uint32_t unit;
	double value;
	int e;

	if (!slice_number(field, &value))
		*wrong = "expected a number";
	else if (!slice_field(rest, &name))
		*wrong = "a value has no unit";
	else if (name.n > IMPORT_NAME_BYTES)
		*wrong = "a unit is too long";
	if (*wrong)
		return 0;
	e = gounits_number(&g->units, name, &unit, g->err);
	if (e)
		return e;
	line_before = g->units.unit[unit].line;
	g->units.unit[unit].line = g->line;
	if (line_before == g->line)
		*wrong = "a unit stands there twice";
	else if (!g->whole && !rest->n && may_be_cut(g, unit, line_before))
		*wrong = "the file ends in it";
	else
		return add_pair(g, unit, value);
	return 0;
}

static int read_pairs(struct gobench *g, struct slice rest, const char **wrong)
{
	struct slice field;
	int e = 0;

	g->pairs = 0;
	if (!slice_is_text(rest))
		*wrong = "it is not UTF-8";
	else if (!slice_field(&rest, &field) || !slice_is_digits(field))
		*wrong = "expected how many iterations it ran";
	while (!e && !*wrong && slice_field(&rest, &field))
		e = read_pair(g, field, &rest, wrong);
	if (!*wrong && !g->pairs)
		*wrong = "it has no value";
	return e;
}

/* --- results --------------------------------------------------------------- */

/* Of "Decode/size=8-4" in its package, as Go names what is in one: "compress/flate.Decode…". */
static int benchmark_number(struct gobench *g, struct slice name, uint32_t *number)
{
	struct buf word = BUF_INIT;
	void *rows = g->lines;
	int e = 0;

	if (g->config[PKG][0])
		buf_addf(&word, "%s.", g->config[PKG]);
	buf_add(&word, name.s, name.n);
	*number = word.failed ? 0 : strtab_add(&g->benchmarks, word.data);
	if (word.failed || g->benchmarks.failed)
		e = no_memory(g);
	while (!e && g->nlines <= *number) {
		e = import_grow(&rows, g->nlines, sizeof(*g->lines), g->err);
		g->lines = rows;
		if (!e)
			g->lines[g->nlines++] = 0;
	}
	buf_release(&word);
	return e;
}

/* "go.cost.ns/op compress/flate.Decode/size=8-4": docs/formats/import.md. */
static int name_metric(struct gobench *g, const struct column *c, const char **kept)
{
	static const char *const family[] = {
		[GOUNIT_UNKNOWN] = "other", [GOUNIT_LESS] = "cost", [GOUNIT_MORE] = "rate",
	};
	struct gounit *u = &g->units.unit[c->unit];
	const char *unit = strtab_get(&g->units.names, c->unit);
	struct buf name = BUF_INIT;
	int e = 0;

	if (!u->meaning.unit) {
		e = import_keep(g->imp, unit, strlen(unit), &unit, g->err);
		if (!e)
			gounits_settle(&g->units, c->unit, unit);
	}
	if (e)
		return e;
	buf_addf(&name, "go.%s.%s %s", family[u->meaning.better], unit,
		 strtab_get(&g->benchmarks, c->benchmark));
	e = name.failed ? no_memory(g) :
			  import_keep(g->imp, name.data, name.len, kept, g->err);
	buf_release(&name);
	return e;
}

static int find_metric(struct gobench *g, const struct column *c, const char **name)
{
	const char **known = map_get(g->metrics, c);
	int e;

	if (known) {
		*name = *known;
		return 0;
	}
	e = name_metric(g, c, name);
	if (e)
		return e;
	known = map_put(g->metrics, c);
	if (!known)
		return no_memory(g);
	*known = *name;
	return 0;
}

/* Puts .pair into the run that the next line of benchmark @number belongs to. */
static int add_result(struct gobench *g, uint32_t number)
{
	struct import_bench *b = &g->imp->bench[0];
	size_t i, index = g->lines[number]++;
	struct import_run *run = index < b->runs ? &b->run[index] :
						   import_add_run(g->imp, b, g->err);
	int e = run ? 0 : -g->err->code;

	for (i = 0; i < g->pairs && !e; i++) {
		const struct column c = { number, g->pair[i].unit };
		const struct gounit_meaning *m = &g->units.unit[c.unit].meaning;
		struct store_value v;

		e = find_metric(g, &c, &v.metric);
		if (e)
			break;
		v.unit = m->unit;
		v.kind = m->kind;
		v.value = g->pair[i].value * m->factor;
		/* Neither has a place in a comparison by ratios. */
		if (!(v.value >= 0) || isinf(v.value))
			skip(g, "a value is below 0 or not finite");
		else
			e = import_add_value(g->imp, run, &v, g->err);
	}
	return e;
}

static void note_package(struct gobench *g)
{
	if (!g->results++)
		g->package = g->config[PKG];
	else if (strcmp(g->package, g->config[PKG]) != 0)
		g->package = "";
}

/* As tools show it, without the prefix that all have. */
static struct slice short_name(struct slice name)
{
	const size_t n = strlen("Benchmark");

	return name.n == n ? name : (struct slice){ name.s + n, name.n - n };
}

/* "BenchmarkDecode/size=8-4  100  123 ns/op  45 B/op", with or without a result behind it. */
static int read_result(struct gobench *g, struct slice line)
{
	const char *wrong = NULL;
	struct slice name;
	uint32_t number;
	int e;

	slice_field(&line, &name);
	/* `go test -v` prints the name as the benchmark begins. */
	if (!slice_trim(line).n)
		return 0;
	if (name.n > IMPORT_NAME_BYTES || !slice_is_text(name))
		wrong = "its name is too long, or not UTF-8";
	e = wrong ? 0 : read_pairs(g, line, &wrong);
	if (e)
		return e;
	if (wrong) {
		skip(g, wrong);
		return 0;
	}
	note_package(g);
	e = benchmark_number(g, short_name(name), &number);
	return e ? e : add_result(g, number);
}

/* As Go's testing does it: no lower-case letter follows, as in "Benchmarking". */
static bool is_result(struct slice line)
{
	const size_t n = strlen("Benchmark");

	return slice_begins(line, "Benchmark") &&
	       (line.n == n || line.s[n] < 'a' || line.s[n] > 'z');
}

/* --- the file -------------------------------------------------------------- */

static int read_units(struct gobench *g, struct slice text)
{
	struct slice line;
	int e = 0;

	/* Of one that is cut, the last word may not be what was meant. */
	for (g->line = 1; !e && slice_line(&text, &line, &g->whole); g->line++)
		if (g->whole)
			e = gounits_read(&g->units, line, g->line, g->err);
	return e;
}

static int read_lines(struct gobench *g, struct slice text)
{
	struct slice line;
	int e = 0;

	for (g->line = 1; !e && slice_line(&text, &line, &g->whole); g->line++)
		e = is_result(line) ? read_result(g, line) : read_config(g, line);
	return e;
}

static int no_results(struct gobench *g)
{
	const struct import *imp = g->imp;

	if (imp->skipped)
		return err_set(g->err, EINVAL, "it has no result of Go's benchmarks: line %zu: %s",
			       imp->skipped_line, imp->skipped_why);
	return err_set(g->err, EINVAL, "it is no JSON, and has no result of Go's benchmarks, as "
		       "'BenchmarkName 100 123 ns/op'");
}

static int describe_bench(struct gobench *g)
{
	struct store_bench *b = &g->imp->bench[0].bench;
	struct buf system = BUF_INIT;
	int e;

	b->label = g->package;
	b->machine.cpu_model = g->config[CPU];
	if (text_is_hex(g->config[COMMIT]))
		b->commit = g->config[COMMIT];
	buf_addf(&system, "%s%s%s", g->config[GOOS],
		 g->config[GOOS][0] && g->config[GOARCH][0] ? "/" : "", g->config[GOARCH]);
	e = system.failed ? no_memory(g) : import_keep(g->imp, system.data, system.len,
						       &b->machine.kernel, g->err);
	buf_release(&system);
	return e;
}

int import_gobench(struct import *imp, const char *text, size_t len, struct err *err)
{
	struct gobench g = { .imp = imp, .err = err, .package = "" };
	enum key key;
	int e;

	for (key = 0; key < KEYS; key++)
		g.config[key] = "";
	g.metrics = map_new(sizeof(struct column), sizeof(const char *));
	e = g.metrics ? 0 : no_memory(&g);
	if (!e && !import_add_bench(imp, "benchstat", err))
		e = -err->code;
	if (!e)
		e = read_units(&g, (struct slice){ text, len });
	if (!e)
		e = read_lines(&g, (struct slice){ text, len });
	if (!e)
		e = imp->values ? describe_bench(&g) : no_results(&g);
	gounits_release(&g.units);
	strtab_release(&g.benchmarks);
	map_free(g.metrics);
	free(g.lines);
	free(g.pair);
	return e;
}
