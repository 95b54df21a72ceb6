/* SPDX-License-Identifier: MIT */
/* docs/formats/report-json.md says what each member means. */
#include "report/render_json.h"

#include <errno.h>

#include "report/render.h"
#include "report/render_words.h"

/* Above this json_real has no number: whole ones still have one as integers. */
#define REAL_MOST 9e15
#define WHOLE_MOST 1.8e19

static void put_number(struct json *j, const char *key, double v)
{
	if (v >= REAL_MOST && v <= WHOLE_MOST)
		json_u64(j, key, (uint64_t)v);
	else
		json_real(j, key, v);
}

/* What is not known is null, not "". */
static void put_text(struct json *j, const char *key, const char *s)
{
	json_str(j, key, s && *s ? s : NULL);
}

static void put_known(struct json *j, const char *key, uint64_t n)
{
	if (n)
		json_u64(j, key, n);
	else
		json_null(j, key);
}

static void put_machine(struct json *j, const struct store_machine *m)
{
	json_object(j, "machine");
	put_text(j, "cpu_model", m->cpu_model);
	put_known(j, "cores", m->cores);
	put_known(j, "memory_bytes", m->memory_bytes);
	put_text(j, "governor", m->governor);
	put_text(j, "kernel", m->kernel);
	put_text(j, "vendor", m->vendor);
	put_text(j, "hash", m->hash);
	json_end(j);
}

static void put_side(struct json *j, const char *key, const struct regress_side *s)
{
	json_object(j, key);
	put_text(j, "name", s->name);
	put_text(j, "label", s->label);
	put_text(j, "commit", s->commit);
	json_bool(j, "dirty", s->dirty);
	put_text(j, "command", s->command);
	put_text(j, "source", s->source);
	put_text(j, "mode", s->mode);
	put_text(j, "tracer", s->tracer);
	put_known(j, "when_ns", s->when_ns);
	json_u64(j, "runs", s->runs);
	put_number(j, "load", s->load);
	put_number(j, "steal", s->steal);
	put_machine(j, &s->machine);
	json_end(j);
}

static void put_series(struct json *j, const char *key, const struct series *s)
{
	size_t i;

	json_array(j, key);
	for (i = 0; i < s->n; i++)
		put_number(j, NULL, s->values[i]);
	json_end(j);
}

static void put_metric(struct json *j, const struct regress_metric *m)
{
	const struct metric_result *r = &m->result;
	size_t i;

	json_object(j, NULL);
	json_str(j, "name", m->name);
	json_str(j, "kind", m->kind == METRIC_COUNT ? "count" : "time");
	json_str(j, "unit", m->unit ? m->unit : "");
	put_number(j, "base", r->base);
	put_number(j, "new", r->now);
	put_number(j, "ratio", r->ratio);
	json_array(j, "ci");
	put_number(j, NULL, r->ci[0]);
	put_number(j, NULL, r->ci[1]);
	json_end(j);
	put_number(j, "p", r->p);
	put_number(j, "q", r->q);
	json_str(j, "verdict", compare_word(r->verdict));
	put_known(j, "runs_needed", r->verdict == COMPARE_INCONCLUSIVE ? r->runs_needed : 0);
	json_array(j, "notes");
	for (i = 0; i < words_note_nrows; i++)
		if (r->notes & words_note_rows[i].note)
			json_str(j, NULL, words_note_rows[i].token);
	json_end(j);
	json_object(j, "values");
	put_series(j, "base", &m->base);
	put_series(j, "new", &m->now);
	json_end(j);
	json_end(j);
}

static void put_contributor(struct json *j, const struct regress_contributor *c)
{
	json_object(j, NULL);
	json_str(j, "part", regress_part_name(c->part));
	json_str(j, "name", c->name);
	put_text(j, "what", c->what);
	json_str(j, "unit", c->unit ? c->unit : "");
	put_number(j, "base", c->base);
	put_number(j, "new", c->now);
	put_text(j, "stack_base", c->stack_base);
	put_text(j, "stack_new", c->stack_now);
	json_end(j);
}

static void put_stack(struct json *j, const struct regress_stack *s)
{
	json_object(j, NULL);
	json_str(j, "folded", s->folded);
	put_number(j, "base", s->base);
	put_number(j, "new", s->now);
	json_end(j);
}

void render_json_document(struct json *j, const struct regress *r)
{
	size_t i;

	json_object(j, NULL);
	json_str(j, "schema", REGRESS_SCHEMA);
	json_str(j, "verdict", compare_word(r->verdict));
	put_known(j, "runs_needed", r->runs_needed);
	put_side(j, "base", &r->base);
	put_side(j, "new", &r->now);
	json_array(j, "differences");
	for (i = 0; i < r->ndifference; i++)
		json_str(j, NULL, r->difference[i]);
	json_end(j);
	json_array(j, "metrics");
	for (i = 0; i < r->nmetric; i++)
		put_metric(j, &r->metric[i]);
	json_end(j);
	json_array(j, "contributors");
	for (i = 0; i < r->ncontributor; i++)
		put_contributor(j, &r->contributor[i]);
	json_end(j);
	json_array(j, "stacks");
	for (i = 0; i < r->nstack; i++)
		put_stack(j, &r->stack[i]);
	json_end(j);
	json_end(j);
}

static int json_report(const struct regress *r, const struct render_opts *opts,
		       struct out_stream *o, struct err *err)
{
	struct json j;

	(void)opts;
	json_init(&j, o);
	render_json_document(&j, r);
	return json_finish(&j) ? err_sys(err, ENOMEM, "cannot print the report") : 0;
}

const struct render_format render_json = { "json", json_report };
