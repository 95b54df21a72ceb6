/* SPDX-License-Identifier: MIT */
/* What a bench prints at its end, out of what is stored. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/bench.h"
#include "out/escape.h"
#include "out/human.h"
#include "out/json.h"
#include "out/shellword.h"
#include "out/utf8.h"
#include "report/render.h"
#include "stats/sample.h"

/* ---- the runs of one command ---- */

struct figures { size_t n; double min, median, max; };

/* Over the runs that count. */
static int figures_of(const struct store_columns *c, const struct store_column *column,
		      struct figures *f)
{
	double *v = calloc(c->runs + 1, sizeof(*v));
	size_t i;

	*f = (struct figures){ 0 };
	if (!v)
		return -ENOMEM;
	for (i = 0; i < c->runs; i++)
		if (!c->run[i].warmup && !isnan(column->value[i]))
			v[f->n++] = column->value[i];
	sample_sort(v, f->n);
	if (f->n) {
		f->min = v[0];
		f->median = sample_median(v, f->n);
		f->max = v[f->n - 1];
	}
	free(v);
	return 0;
}

/* By columns, of which "µs" has fewer than bytes. */
static void put_right(struct out_stream *o, const char *s)
{
	size_t width = utf8_width(s, strlen(s));

	out_pad(o, ' ', width < 12 ? 12 - width : 1);
	out_puts(o, s);
}

static void put_row(struct out_stream *o, const struct store_column *c, const struct figures *f,
		    int width)
{
	char median[HUMAN_BYTES], min[HUMAN_BYTES], max[HUMAN_BYTES];

	out_printf(o, "  %-*s", width, c->metric);
	put_right(o, human_value(median, f->median, c->unit));
	put_right(o, human_value(min, f->min, c->unit));
	put_right(o, human_value(max, f->max, c->unit));
	out_putc(o, '\n');
}

/* The times first, then what was counted; what was always 0 is left out. */
static int put_table(struct out_stream *o, const struct store_columns *c)
{
	static const enum store_kind order[] = { STORE_TIME, STORE_COUNT };
	struct figures f;
	size_t i, k;
	int width = 6;

	for (i = 0; i < c->columns; i++)
		if ((int)strlen(c->column[i].metric) > width)
			width = (int)strlen(c->column[i].metric);
	out_printf(o, "  %-*s  %10s  %10s  %10s\n", width, "METRIC", "MEDIAN", "MIN", "MAX");
	for (k = 0; k < 2; k++) {
		for (i = 0; i < c->columns; i++) {
			if (c->column[i].kind != order[k])
				continue;
			if (figures_of(c, &c->column[i], &f))
				return -ENOMEM;
			if (f.n && f.max > 0)
				put_row(o, &c->column[i], &f, width);
		}
	}
	return 0;
}

static size_t counted(const struct store_columns *c)
{
	size_t i, n = 0;

	for (i = 0; i < c->runs; i++)
		n += !c->run[i].warmup;
	return n;
}

static void put_head(struct out_stream *o, const struct bench *b, const struct store_columns *c)
{
	struct buf text = BUF_INIT;
	size_t i, failed = 0;

	for (i = 0; b->o->argv[i]; i++) {
		buf_adds(&text, i ? " " : "");
		escape_term(&text, b->o->argv[i], strlen(b->o->argv[i]), false);
	}
	out_printf(o, "%zu run%s of %s\n", counted(c), counted(c) == 1 ? "" : "s",
		   text.data ? text.data : "");
	for (i = 0; i < c->runs; i++)
		failed += !c->run[i].warmup && (c->run[i].exit_code || c->run[i].signal);
	if (failed)
		out_printf(o, "%zu of them failed\n", failed);
	out_putc(o, '\n');
	buf_release(&text);
}

static void put_foot(struct out_stream *o, const struct bench *b, const struct store_bench *s)
{
	struct buf name = BUF_INIT, line = BUF_INIT;
	char id[13];

	snprintf(id, sizeof(id), "%.12s", s->id);
	escape_term(&name, *s->label ? s->label : id, strlen(*s->label ? s->label : id), false);
	buf_adds(&line, "tracer report ");
	if (b->o->store) {
		buf_adds(&line, "--store ");
		shellword_add(&line, b->o->store);
		buf_addc(&line, ' ');
	}
	/* A label that a line cannot hold has an id. */
	if (*s->label && *s->label != '-' && name.data && !strcmp(name.data, s->label))
		shellword_add(&line, s->label);
	else
		buf_adds(&line, id);
	out_printf(o, "\nstored as %s in %s\nto compare:  %s OTHER\n", name.data ? name.data : "",
		   store_name(b->store), line.data ? line.data : "");
	buf_release(&name);
	buf_release(&line);
}

static void json_run(struct json *j, const struct store_columns *c, size_t run)
{
	const struct store_run *r = &c->run[run];
	size_t i;

	json_object(j, NULL);
	json_u64(j, "order", r->order);
	json_u64(j, "start_ns", r->start_ns);
	json_bool(j, "warmup", r->warmup);
	json_i64(j, "exit_code", r->exit_code);
	json_i64(j, "signal", r->signal);
	json_object(j, "values");
	for (i = 0; i < c->columns; i++)
		if (!isnan(c->column[i].value[run]))
			json_real(j, c->column[i].metric, c->column[i].value[run]);
	json_end(j);
	json_end(j);
}

static int put_json(struct out_stream *o, const struct bench *b, const struct store_bench *s,
		    const struct store_columns *c)
{
	struct json j;
	size_t i;

	json_init(&j, o);
	json_object(&j, NULL);
	json_str(&j, "schema", "tracer.bench/1");
	json_str(&j, "tracer", s->tracer);
	json_str(&j, "id", s->id);
	json_str(&j, "label", *s->label ? s->label : NULL);
	json_str(&j, "commit", *s->commit ? s->commit : NULL);
	json_bool(&j, "dirty", s->dirty);
	json_array(&j, "command");
	for (i = 0; b->o->argv[i]; i++)
		json_str(&j, NULL, b->o->argv[i]);
	json_end(&j);
	json_array(&j, "metrics");
	for (i = 0; i < c->columns; i++) {
		json_object(&j, NULL);
		json_str(&j, "name", c->column[i].metric);
		json_str(&j, "kind", c->column[i].kind == STORE_TIME ? "time" : "count");
		json_str(&j, "unit", c->column[i].unit);
		json_end(&j);
	}
	json_end(&j);
	json_array(&j, "runs");
	for (i = 0; i < c->runs; i++)
		json_run(&j, c, i);
	json_end(&j);
	json_end(&j);
	return json_finish(&j);
}

static int show_runs(struct bench *b, struct out_stream *o, struct err *err)
{
	const struct store_bench *s = &b->side[STORE_COMMAND].bench;
	struct store_columns c;
	int r;

	if (store_load(b->store, s, 1, NULL, &c, err))
		return -err->code;
	if (b->o->json) {
		r = put_json(o, b, s, &c);
	} else {
		put_head(o, b, &c);
		r = put_table(o, &c);
		put_foot(o, b, s);
	}
	store_columns_release(&c);
	return r ? err_sys(err, -r, "cannot print the runs") : 0;
}

/* ---- two commands ---- */

static int stored_detail(void *store, int64_t key, struct buf *out, struct err *err)
{
	return store_detail(store, key, out, err);
}

static int show_comparison(struct bench *b, struct out_stream *o, struct err *err)
{
	static const char *const names[] = { [STORE_COMMAND] = "the command",
					     [STORE_BASELINE] = "the baseline" };
	struct render_opts opts = RENDER_OPTS_INIT;
	struct regress_input in[2];
	struct store_columns c[2] = { 0 };
	struct regress r;
	size_t i;
	int rc = 0;

	opts.color = (enum out_color)b->o->color;
	for (i = 0; !rc && i < 2; i++) {
		const struct store_bench *s = &b->side[i].bench;

		rc = store_load(b->store, s, 1, NULL, &c[i], err);
		in[i] = (struct regress_input){ *s->label ? s->label : names[i], s, &c[i],
						stored_detail, b->store };
	}
	if (!rc)
		rc = regress_build(&r, &in[STORE_BASELINE], &in[STORE_COMMAND], NULL, err);
	if (!rc) {
		rc = (b->o->json ? &render_json : &render_text)->report(&r, &opts, o, err);
		if (!rc)
			rc = r.verdict == COMPARE_WORSE;
		regress_release(&r);
	}
	for (i = 0; i < 2; i++)
		store_columns_release(&c[i]);
	return rc;
}

int bench_show(struct bench *b, struct err *err)
{
	struct out_stream out;
	int closed, r = caller_lower(&b->caller);

	if (r)
		return err_sys(err, -r, "cannot become the user who called");
	r = out_stream_open(&out, b->o->output ? b->o->output : "-", err);
	closed = caller_raise(&b->caller);
	if (!r && closed)
		r = err_sys(err, -closed, "cannot be root again");
	if (r)
		return r;
	r = b->nside == 2 ? show_comparison(b, &out, err) : show_runs(b, &out, err);
	closed = out_stream_close(&out, r < 0 ? &(struct err){ 0 } : err);
	return r < 0 ? r : closed ? closed : r;
}
