/* SPDX-License-Identifier: MIT */
/*
 * What `hyperfine --export-json` writes: {"results": [...]}, an object for each command
 * (src/benchmark/benchmark_result.rs of hyperfine, 1.5 to 1.20). A bench is a result, a
 * run an element of its "times".
 *
 * "user" and "system" are means over the runs, from which no spread can be known.
 * "memory_usage_byte" is getrusage(RUSAGE_CHILDREN) after each run: the largest of all
 * that hyperfine has run up to then, other commands too. None of them is a figure of a
 * run, and they are not taken.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "report/import_impl.h"

#define NS_PER_S 1e9

struct hyperfine {
	struct jread j;
	struct import *imp;
	struct err *err;
	struct import_bench *bench;	/* of the result that is read */
	size_t times, exit_codes;	/* elements of it */
	struct buf label, parameters;
	/* For messages: results[.result].member[.item] */
	bool in_results, in_array;
	size_t result, item;
	const char *member;
};

/* --- members of a result --------------------------------------------------- */

static int too_long(struct hyperfine *h)
{
	return err_set(h->err, EFBIG, "it has more than %zu bytes", IMPORT_TEXT_BYTES);
}

static int read_command(struct hyperfine *h)
{
	int e = jread_string(&h->j);

	if (e)
		return e;
	return buf_add(&h->label, h->j.s, h->j.n) ? too_long(h) : 0;
}

/* {"n": "1", "size": "20"}: "n = 1, size = 20" */
static int read_parameters(struct hyperfine *h)
{
	struct buf *b = &h->parameters;
	int more, e = jread_object(&h->j);

	while (!e && (more = jread_member(&h->j)) != 0) {
		if (more < 0)
			return more;
		buf_adds(b, b->len ? ", " : "");
		buf_add(b, h->j.s, h->j.n);
		buf_adds(b, " = ");
		e = jread_string(&h->j);
		if (!e && buf_add(b, h->j.s, h->j.n))
			e = too_long(h);
	}
	return e;
}

/* The run of index @i, which is at most one beyond the last. */
static struct import_run *run_at(struct hyperfine *h, size_t i)
{
	if (i < h->bench->runs)
		return &h->bench->run[i];
	return import_add_run(h->imp, h->bench, h->err);
}

/* An array: @fn for each element, with its run; *n gets how many there were. */
static int read_runs(struct hyperfine *h, int (*fn)(struct hyperfine *h, struct import_run *run),
		     size_t *n)
{
	int more, e = jread_array(&h->j);
	struct import_run *run;

	if (e)
		return e;
	h->in_array = true;
	h->item = 0;
	while ((more = jread_element(&h->j)) > 0) {
		run = run_at(h, h->item);
		e = run ? fn(h, run) : -h->err->code;
		if (e)
			return e;
		h->item++;
	}
	h->in_array = more < 0;
	*n = h->item;
	return more;
}

static int read_time(struct hyperfine *h, struct import_run *run)
{
	struct store_value v = { .metric = "time.wall", .unit = "ns", .kind = STORE_TIME };
	int e = jread_real(&h->j, &v.value);

	if (e)
		return e;
	v.value *= NS_PER_S;
	if (!isfinite(v.value) || v.value < 0)
		return jread_fail(&h->j, "a time is below 0 or too large");
	return import_add_value(h->imp, run, &v, h->err);
}

static int read_times(struct hyperfine *h)
{
	return read_runs(h, read_time, &h->times);
}

static int read_exit_code(struct hyperfine *h, struct import_run *run)
{
	int64_t v;
	int e = jread_i64(&h->j, &v);

	if (e)
		return e;
	if (v < INT_MIN || v > INT_MAX)
		return jread_fail(&h->j, "an exit code is out of range");
	/* 128 + N is signal N or an exit code of just that: it is not told which. */
	run->run.exit_code = (int)v;
	return 0;
}

static int read_exit_codes(struct hyperfine *h)
{
	return read_runs(h, read_exit_code, &h->exit_codes);
}

enum { COMMAND, TIMES, EXIT_CODES, PARAMETERS, MEMBERS };

static const struct {
	const char *name;
	bool must;
	int (*read)(struct hyperfine *h);
} members[MEMBERS] = {
	[COMMAND] = { "command", true, read_command },
	[TIMES] = { "times", true, read_times },
	[EXIT_CODES] = { "exit_codes", false, read_exit_codes },	/* since 1.12 */
	[PARAMETERS] = { "parameters", false, read_parameters },	/* since 1.11 */
};

/* --- results --------------------------------------------------------------- */

static size_t find_member(const struct hyperfine *h)
{
	size_t i;

	for (i = 0; i < MEMBERS; i++)
		if (strlen(members[i].name) == h->j.n && !memcmp(members[i].name, h->j.s, h->j.n))
			break;
	return i;
}

/* The member whose name was read last; @seen has a bit for each. */
static int read_member(struct hyperfine *h, unsigned int *seen)
{
	size_t i = find_member(h);
	int e;

	if (i == MEMBERS)
		return jread_skip(&h->j);
	h->member = members[i].name;
	if (*seen & 1u << i)
		return jread_fail(&h->j, "it stands there twice");
	*seen |= 1u << i;
	e = members[i].read(h);
	if (!e)
		h->member = NULL;
	return e;
}

static int check_result(struct hyperfine *h, unsigned int seen)
{
	size_t i;

	for (i = 0; i < MEMBERS; i++)
		if (members[i].must && !(seen & 1u << i))
			return jread_fail(&h->j, "'%s' is missing", members[i].name);
	if (!h->times)
		return jread_fail(&h->j, "'times' is empty");
	if (seen & 1u << EXIT_CODES && h->exit_codes != h->times)
		return jread_fail(&h->j, "'times' has %zu elements, and 'exit_codes' %zu",
				  h->times, h->exit_codes);
	return 0;
}

/* The command, with its parameters where it has some: "sleep 0.1 (n = 1)". */
static int name_bench(struct hyperfine *h)
{
	struct store_bench *b = &h->bench->bench;
	char *argv[1];
	int e;

	buf_addc(&h->label, '\0');
	argv[0] = h->label.data;
	if (h->label.failed)
		return too_long(h);
	e = import_keep_argv(h->imp, argv, 1, &b->argv, h->err);
	if (e)
		return e;
	h->label.len--;
	if (h->parameters.len)
		buf_addf(&h->label, " (%s)", h->parameters.data);
	return h->label.failed ? too_long(h) :
	       import_keep(h->imp, h->label.data, h->label.len, &b->label, h->err);
}

static int read_result(struct hyperfine *h)
{
	unsigned int seen = 0;
	int more, e;

	h->bench = import_add_bench(h->imp, "hyperfine", h->err);
	if (!h->bench)
		return -h->err->code;
	h->times = h->exit_codes = 0;
	buf_reset(&h->label);
	buf_reset(&h->parameters);
	e = jread_object(&h->j);
	while (!e && (more = jread_member(&h->j)) != 0)
		e = more < 0 ? more : read_member(h, &seen);
	if (!e)
		e = check_result(h, seen);
	return e ? e : name_bench(h);
}

static int read_results(struct hyperfine *h)
{
	int more, e;

	h->in_results = true;
	e = jread_array(&h->j);
	if (e)
		return e;
	while ((more = jread_element(&h->j)) > 0) {
		e = read_result(h);
		if (e)
			return e;
		h->result++;
	}
	if (more)
		return more;
	h->in_results = false;
	return h->result ? 0 : jread_fail(&h->j, "'results' is empty: hyperfine had not measured "
					  "a command when it ended");
}

static int read_file(struct hyperfine *h)
{
	bool seen = false;
	int more, e = jread_object(&h->j);

	while (!e && (more = jread_member(&h->j)) != 0) {
		if (more < 0)
			return more;
		if (h->j.n != 7 || memcmp(h->j.s, "results", 7) != 0) {
			e = jread_skip(&h->j);
			continue;
		}
		e = seen ? jread_fail(&h->j, "'results' stands there twice") : read_results(h);
		seen = true;
	}
	return e ? e : jread_end(&h->j);
}

/* "line 12, column 5: results[1].times[3]: …" */
static void say_where(struct hyperfine *h)
{
	/* What is no fault of the text has no place that jread knows. */
	if (h->err->code != EINVAL)
		h->j.bad_at = h->j.at;
	if (h->in_array)
		err_prefix(h->err, "results[%zu].%s[%zu]", h->result, h->member, h->item);
	else if (h->member)
		err_prefix(h->err, "results[%zu].%s", h->result, h->member);
	else if (h->bench && h->in_results)
		err_prefix(h->err, "results[%zu]", h->result);
	else if (h->in_results)
		err_prefix(h->err, "results");
	import_where(&h->j, h->err);
}

int import_hyperfine(struct import *imp, const char *text, size_t len, struct err *err)
{
	struct hyperfine h = { .imp = imp, .err = err };
	int e;

	h.label.max = h.parameters.max = IMPORT_TEXT_BYTES;
	jread_init(&h.j, text, len, err);
	e = read_file(&h);
	if (e)
		say_where(&h);
	jread_release(&h.j);
	buf_release(&h.label);
	buf_release(&h.parameters);
	return e;
}
