/* SPDX-License-Identifier: MIT */
#include "report/regress.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out/shellword.h"
#include "out/summary_read.h"
#include "report/causes.h"
#include "store/text.h"

const char *regress_part_name(enum regress_part p)
{
	static const char *const names[REGRESS_PARTS] = {
		[REGRESS_SYSCALL] = "syscall", [REGRESS_LOCK] = "lock",
		[REGRESS_STAGE] = "stage", [REGRESS_PIPE] = "pipe",
	};

	return names[p];
}

void regress_release(struct regress *r)
{
	size_t i;

	for (i = 0; i < r->nmetric; i++) {
		free((void *)(uintptr_t)r->metric[i].base.values);
		free((void *)(uintptr_t)r->metric[i].now.values);
	}
	free(r->metric);
	free(r->difference);
	free(r->contributor);
	free(r->stack);
	text_free(r->text);
	memset(r, 0, sizeof(*r));
}

static const char *keep(struct regress *r, const char *s)
{
	return text_keep(&r->text, s ? s : "", s ? strlen(s) : 0);
}

/* ---- the sides ---- */

static size_t counted_runs(const struct store_columns *c)
{
	size_t i, n = 0;

	for (i = 0; i < c->runs; i++)
		n += !c->run[i].warmup;
	return n;
}

/* As a person types it. */
static const char *keep_command(struct regress *r, const char *argv)
{
	struct buf b = BUF_INIT;
	const char *kept;

	shellword_add_argv(&b, argv);
	kept = b.failed ? NULL : keep(r, b.data);
	buf_release(&b);
	return kept;
}

static int take_side(struct regress *r, struct regress_side *to, const struct regress_input *in)
{
	const struct store_bench *b = in->bench;

	*to = (struct regress_side){
		.name = keep(r, in->name),
		.label = keep(r, b->label), .commit = keep(r, b->commit),
		.command = keep_command(r, b->argv), .source = keep(r, b->source),
		.mode = keep(r, b->mode), .tracer = keep(r, b->tracer),
		.dirty = b->dirty, .when_ns = b->when_ns, .runs = counted_runs(in->columns),
		.load = b->load, .steal = b->steal,
		.machine = {
			.cpu_model = keep(r, b->machine.cpu_model),
			.governor = keep(r, b->machine.governor),
			.kernel = keep(r, b->machine.kernel),
			.vendor = keep(r, b->machine.vendor),
			.cores = b->machine.cores, .memory_bytes = b->machine.memory_bytes,
		},
	};
	memcpy(to->machine.hash, b->machine.hash, sizeof(to->machine.hash));
	return to->name && to->label && to->commit && to->command && to->source && to->mode &&
	       to->tracer && to->machine.cpu_model && to->machine.governor &&
	       to->machine.kernel && to->machine.vendor ? 0 : -ENOMEM;
}

__attribute__((format(printf, 2, 3)))
static int differ(struct regress *r, const char *fmt, ...)
{
	const char **grown = realloc(r->difference, (r->ndifference + 1) * sizeof(*grown));
	struct buf text = BUF_INIT;
	va_list ap;

	if (!grown)
		return -ENOMEM;
	r->difference = grown;
	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	grown[r->ndifference] = text.failed ? NULL : keep(r, text.data);
	buf_release(&text);
	return grown[r->ndifference] && ++r->ndifference ? 0 : -ENOMEM;
}

static int differ_text(struct regress *r, const char *what, const char *base, const char *now)
{
	if (!strcmp(base, now) || !*base || !*now)
		return 0;
	return differ(r, "%s: %s, and now %s", what, base, now);
}

#define BUSY 0.5	/* load for each core from which on times are doubtful */

static int find_differences(struct regress *r)
{
	const struct store_machine *b = &r->base.machine, *n = &r->now.machine;
	const struct regress_side *const sides[] = { &r->base, &r->now };
	size_t i;
	int rc = differ_text(r, "CPU", b->cpu_model, n->cpu_model);

	if (!rc && b->cores && n->cores && b->cores != n->cores)
		rc = differ(r, "cores: %llu, and now %llu", (unsigned long long)b->cores,
			    (unsigned long long)n->cores);
	if (!rc)
		rc = differ_text(r, "governor", b->governor, n->governor);
	if (!rc)
		rc = differ_text(r, "kernel", b->kernel, n->kernel);
	if (!rc)
		rc = differ_text(r, "machine", b->vendor, n->vendor);
	if (!rc && b->memory_bytes && n->memory_bytes &&
	    b->memory_bytes >> 30 != n->memory_bytes >> 30)
		rc = differ(r, "memory: %llu GiB, and now %llu GiB",
			    (unsigned long long)(b->memory_bytes >> 30),
			    (unsigned long long)(n->memory_bytes >> 30));
	if (!rc)
		rc = differ_text(r, "command", r->base.command, r->now.command);
	if (!rc)
		rc = differ_text(r, "mode, and what it costs the program", r->base.mode,
				 r->now.mode);
	if (!rc)
		rc = differ_text(r, "version of tracer", r->base.tracer, r->now.tracer);
	for (i = 0; !rc && i < 2; i++)
		if (sides[i]->machine.cores &&
		    sides[i]->load > BUSY * (double)sides[i]->machine.cores)
			rc = differ(r, "%s ran on a busy machine: load %.1f on %llu cores",
				    sides[i]->name, sides[i]->load,
				    (unsigned long long)sides[i]->machine.cores);
	return rc;
}

/* What makes the runs of a side less than they seem. */
static int doubt_side(struct regress *r, const struct regress_side *side,
		      const struct regress_input *in)
{
	const struct store_columns *c = in->columns;
	size_t i, failed = 0, ways = 0;
	int rc = 0;

	for (i = 0; i < c->runs; i++)
		if (!c->run[i].warmup && (c->run[i].exit_code || c->run[i].signal))
			ways = failed++ ? ways : i;
	if (failed)
		rc = differ(r, "%zu of the %zu runs of %s failed (%s %d)", failed, side->runs,
			    side->name, c->run[ways].signal ? "signal" : "exit code",
			    c->run[ways].signal ? c->run[ways].signal : c->run[ways].exit_code);
	if (!rc && in->bench->planned > c->runs)
		rc = differ(r, "%s was broken off after %zu of %llu runs", side->name, c->runs,
			    (unsigned long long)in->bench->planned);
	return rc;
}

/* ---- metrics ---- */

static const struct store_column *column_of(const struct store_columns *c, const char *metric)
{
	size_t i;

	for (i = 0; i < c->columns; i++)
		if (!strcmp(c->column[i].metric, metric))
			return &c->column[i];
	return NULL;
}

static bool is_call(const char *metric)
{
	return !strncmp(metric, "syscall.", 8);
}

/* Whether calls were counted in that run: then one without a value was not made. */
static bool counts_calls(const struct store_columns *c, size_t run)
{
	size_t i;

	for (i = 0; i < c->columns; i++)
		if (is_call(c->column[i].metric) && !isnan(c->column[i].value[run]))
			return true;
	return false;
}

static int take_series(struct series *to, const struct store_columns *c,
		       const struct store_column *column, const char *metric)
{
	double *v = calloc(c->runs + 1, sizeof(*v));
	size_t i;

	if (!v)
		return -ENOMEM;
	to->values = v;
	for (i = 0; i < c->runs; i++) {
		double x = column ? column->value[i] : NAN;

		if (c->run[i].warmup)
			continue;
		if (isnan(x) && is_call(metric) && counts_calls(c, i))
			x = 0;
		if (!isnan(x))
			v[to->n++] = x;
	}
	return 0;
}

static int take_metric(struct regress *r, const struct store_columns *base,
		       const struct store_columns *now, const struct store_column *known)
{
	struct regress_metric *m = &r->metric[r->nmetric];

	*m = (struct regress_metric){
		.name = keep(r, known->metric),
		.unit = keep(r, known->unit),
		.kind = known->kind == STORE_TIME ? METRIC_TIME : METRIC_COUNT,
	};
	r->nmetric++;
	if (!m->name || !m->unit ||
	    take_series(&m->base, base, column_of(base, m->name), m->name) ||
	    take_series(&m->now, now, column_of(now, m->name), m->name))
		return -ENOMEM;
	if (m->base.n && m->now.n)
		return 0;
	/* Only one side has it: there is nothing to compare. */
	free((void *)(uintptr_t)m->base.values);
	free((void *)(uintptr_t)m->now.values);
	r->nmetric--;
	return 0;
}

static int take_metrics(struct regress *r, const struct store_columns *base,
			const struct store_columns *now)
{
	size_t i;
	int rc = 0;

	r->metric = calloc(base->columns + now->columns + 1, sizeof(*r->metric));
	if (!r->metric)
		return -ENOMEM;
	for (i = 0; !rc && i < base->columns; i++)
		rc = take_metric(r, base, now, &base->column[i]);
	for (i = 0; !rc && i < now->columns; i++)
		if (!column_of(base, now->column[i].metric))
			rc = take_metric(r, base, now, &now->column[i]);
	return rc;
}

static int rank_of(enum compare_verdict v)
{
	static const int ranks[] = {
		[COMPARE_WORSE] = 0, [COMPARE_INCONCLUSIVE] = 1, [COMPARE_BETTER] = 2,
		[COMPARE_SAME] = 3,
	};

	return ranks[v];
}

static double change_of(const struct regress_metric *m)
{
	double ratio = m->result.ratio;

	return ratio > 0 ? fabs(log(ratio)) : INFINITY;
}

static int by_gravity(const void *a, const void *b)
{
	const struct regress_metric *x = a, *y = b;
	int by = rank_of(x->result.verdict) - rank_of(y->result.verdict);

	if (by)
		return by;
	/* Counts say more of a change, and more surely. */
	if (x->kind != y->kind)
		return x->kind == METRIC_COUNT ? -1 : 1;
	if (change_of(x) != change_of(y))
		return change_of(x) < change_of(y) ? 1 : -1;
	return strcmp(x->name, y->name);
}

static int compare_all(struct regress *r, const struct compare_opts *opts, struct err *err)
{
	/* The number for the whole is that of what matters most. */
	double weight = 0;
	struct metric_pair *pair = calloc(r->nmetric + 1, sizeof(*pair));
	struct metric_result *result = calloc(r->nmetric + 1, sizeof(*result));
	size_t i;
	int rc = pair && result ? 0 : err_sys(err, ENOMEM, "cannot compare");

	for (i = 0; !rc && i < r->nmetric; i++) {
		const struct metric_rule *rule = metric_find(r->metric[i].name);

		pair[i] = (struct metric_pair){
			.name = r->metric[i].name,
			.rule = *(rule ? rule : metric_default(r->metric[i].kind)),
			.base = r->metric[i].base, .now = r->metric[i].now,
		};
	}
	if (!rc)
		rc = compare_metrics(pair, r->nmetric, opts, result, err);
	for (i = 0; !rc && i < r->nmetric; i++) {
		r->metric[i].result = result[i];
		if (result[i].verdict != COMPARE_INCONCLUSIVE || !result[i].runs_needed ||
		    pair[i].rule.weight < weight)
			continue;
		if (pair[i].rule.weight > weight || result[i].runs_needed > r->runs_needed)
			r->runs_needed = result[i].runs_needed;
		weight = pair[i].rule.weight;
	}
	if (!rc) {
		r->verdict = compare_overall(result, r->nmetric);
		qsort(r->metric, r->nmetric, sizeof(*r->metric), by_gravity);
	}
	free(pair);
	free(result);
	return rc;
}

/* A level of the machine that lasts for some seconds looks just like a slower program. */
static int doubt_times(struct regress *r, bool alternated)
{
	size_t i;

	if (alternated || r->verdict != COMPARE_WORSE)
		return 0;
	for (i = 0; i < r->nmetric; i++)
		if (r->metric[i].result.verdict == COMPARE_WORSE &&
		    r->metric[i].kind == METRIC_COUNT)
			return 0;
	return differ(r, "only times are worse, and the sides did not take turns (bench --vs): "
		      "it may be the machine");
}

/* ---- what changed ---- */

static size_t details_of(const struct regress_input *in)
{
	size_t n = in->detail ? counted_runs(in->columns) : 0;

	return n < REGRESS_DETAILS ? n : REGRESS_DETAILS;
}

/* What the summaries of a side gave. */
struct details {
	size_t n;
	size_t short_runs;	/* of them, those that lost events */
	uint64_t lost;		/* events, over all of them; stacks are no counts */
	struct err damage;	/* of the last one that could not be read */
};

/* The first runs of a side that have a summary, up to @n. */
static int read_details(struct parts *p, enum parts_side side, const struct regress_input *in,
			size_t n, struct details *had, struct err *err)
{
	const struct store_columns *c = in->columns;
	struct buf text = BUF_INIT;
	struct summary_file f;
	size_t i;
	int rc = 0;

	*had = (struct details){ 0 };
	for (i = 0; !rc && i < c->runs && had->n < n; i++) {
		if (c->run[i].warmup)
			continue;
		buf_reset(&text);
		rc = in->detail(in->ctx, c->run[i].key, &text, err);
		if (!rc)
			rc = summary_read(&f, text.data, text.len, err);
		/* The values are there all the same. */
		if (rc == -ENOENT || rc == -EBADMSG || rc == -EINVAL) {
			if (rc != -ENOENT)
				had->damage = *err;
			*err = (struct err){ 0 };
			rc = 0;
			continue;
		}
		if (rc)
			break;
		had->lost += f.s.loss.total - f.s.loss.stacks;
		had->short_runs += f.s.loss.total > f.s.loss.stacks;
		rc = parts_add(p, side, had->n++, &f.s);
		if (rc)
			err_sys(err, -rc, "cannot compare the parts");
		summary_file_release(&f);
	}
	buf_release(&text);
	return rc;
}

/* A stage has a metric of its own, which knows the noise of its runs: one table, one word. */
static void drop_unsure_stages(struct regress *r)
{
	size_t i, k, n = 0;

	for (i = 0; i < r->ncontributor; i++) {
		const struct regress_contributor *c = &r->contributor[i];
		bool decided = true;

		for (k = 0; c->part == REGRESS_STAGE && k < r->nmetric; k++) {
			const struct regress_metric *m = &r->metric[k];

			if (!strncmp(m->name, "thread.stage_", 13) &&
			    !strcmp(m->name + 13, c->name))
				decided = m->result.verdict == COMPARE_WORSE ||
					  m->result.verdict == COMPARE_BETTER;
		}
		if (decided)
			r->contributor[n++] = *c;
	}
	r->ncontributor = n;
}

static int doubt_details(struct regress *r, const struct regress_side *side,
			 const struct details *d)
{
	int rc = 0;

	if (d->lost)
		rc = differ(r, "%s lost %llu events in %zu of %zu runs: its counts are too low",
			    side->name, (unsigned long long)d->lost, d->short_runs, d->n);
	if (!rc && d->damage.code)
		rc = differ(r, "a run of %s has no parts to compare: %s", side->name,
			    d->damage.msg);
	return rc;
}

/* Whether so few runs lost events that what most of them say is what happened. */
static bool mostly_whole(const struct details *d)
{
	return 2 * d->short_runs < d->n || !d->n;
}

/* Counts that stopped at what the maps hold are equal by that alone. */
static void unsure_counts(struct regress *r)
{
	size_t i;

	for (i = 0; i < r->nmetric; i++)
		if (r->metric[i].kind == METRIC_COUNT &&
		    r->metric[i].result.verdict == COMPARE_SAME)
			r->metric[i].result.verdict = COMPARE_INCONCLUSIVE;
	if (r->verdict == COMPARE_SAME || r->verdict == COMPARE_BETTER)
		r->verdict = COMPARE_INCONCLUSIVE;
	qsort(r->metric, r->nmetric, sizeof(*r->metric), by_gravity);
}

static int find_parts(struct regress *r, const struct regress_input *base,
		      const struct regress_input *now, const struct compare_opts *opts,
		      struct err *err)
{
	size_t nbase = details_of(base), nnow = details_of(now);
	struct details had[2];
	struct parts *p;
	int rc;

	if (!nbase || !nnow)
		return 0;
	p = parts_new(nbase, nnow);
	if (!p)
		return err_sys(err, ENOMEM, "cannot compare the parts");
	rc = read_details(p, PARTS_BASE, base, nbase, &had[0], err);
	if (!rc)
		rc = read_details(p, PARTS_NOW, now, nnow, &had[1], err);
	/* Runs that were not traced are none, and no zeros. */
	if (!rc && had[0].n && had[1].n) {
		parts_limit(p, had[0].n, had[1].n);
		rc = parts_compare(p, opts, r, err);
	}
	if (!rc)
		drop_unsure_stages(r);
	if (!rc && (doubt_details(r, &r->base, &had[0]) || doubt_details(r, &r->now, &had[1])))
		rc = err_sys(err, ENOMEM, "cannot compare the parts");
	if (!rc && !(mostly_whole(&had[0]) && mostly_whole(&had[1])))
		unsure_counts(r);
	parts_free(p);
	return rc;
}

int regress_build(struct regress *r, const struct regress_input *base,
		  const struct regress_input *now, const struct compare_opts *opts,
		  struct err *err)
{
	struct compare_opts o = opts ? *opts : compare_defaults;
	int rc;

	memset(r, 0, sizeof(*r));
	/* Two sides of one bench took turns. */
	o.alternated = *base->bench->group && !strcmp(base->bench->group, now->bench->group);
	rc = take_side(r, &r->base, base);
	if (!rc)
		rc = take_side(r, &r->now, now);
	if (!rc)
		rc = find_differences(r);
	if (!rc && *base->bench->id && !strcmp(base->bench->id, now->bench->id))
		rc = differ(r, "both sides are the same bench");
	if (!rc)
		rc = doubt_side(r, &r->base, base);
	if (!rc && base->bench != now->bench)
		rc = doubt_side(r, &r->now, now);
	if (!rc)
		rc = take_metrics(r, base->columns, now->columns);
	if (rc)
		err_sys(err, -rc, "cannot compare");
	else if (!r->nmetric)
		rc = err_set(err, ENODATA, "%s and %s have no metric in common: nothing can be "
			     "compared", base->name, now->name);
	if (!rc)
		rc = compare_all(r, &o, err);
	if (!rc && doubt_times(r, o.alternated))
		rc = err_sys(err, ENOMEM, "cannot compare");
	if (!rc)
		rc = find_parts(r, base, now, &o, err);
	if (rc)
		regress_release(r);
	return rc;
}
