/* SPDX-License-Identifier: MIT */
/* What `report` does with the store besides comparing: list, history, import, forget. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/term.h"
#include "cmd/report.h"
#include "out/escape.h"
#include "out/human.h"
#include "out/json.h"
#include "out/shellword.h"
#include "report/side.h"
#include "stats/change.h"
#include "stats/sample.h"

#define DATE_BYTES 32
#define UNLABELLED "-"

static const char *date(char out[DATE_BYTES], uint64_t ns)
{
	time_t t = (time_t)(ns / 1000000000);
	struct tm tm;

	if (!ns || !localtime_r(&t, &tm) || !strftime(out, DATE_BYTES, "%Y-%m-%d %H:%M", &tm))
		strcpy(out, "-");
	return out;
}

/* Printable, and no wider than @max - 1 columns of a byte each: no character is cut. */
static const char *shown(char *out, size_t max, const char *s)
{
	struct buf b = BUF_INIT;
	size_t n;

	escape_term(&b, s, strlen(s), false);
	n = b.data ? b.len : 0;
	while (n >= max || (n && n < b.len && ((unsigned char)b.data[n] & 0xc0) == 0x80))
		n--;
	if (n)
		memcpy(out, b.data, n);
	out[n] = '\0';
	buf_release(&b);
	return n ? out : strcpy(out, UNLABELLED);
}

/* What --label names: "-" is how a list shows benches without one. */
static const char *label_of(const struct report_opts *opts)
{
	return opts->label && !strcmp(opts->label, UNLABELLED) ? "" : opts->label;
}

static int no_bench(struct store *s, const char *label, struct err *err)
{
	int r = err_set(err, ENOENT, *label ? "no bench in %s has the label '%s'" :
			"no bench in %s is without a label%s", store_name(s), label);

	err_hint(err, "'tracer report --list --store %s' shows the labels", store_name(s));
	return r;
}

/* ---- list ---- */

static int list_labels(struct store *s, bool json, struct report_out *out, struct err *err)
{
	struct out_stream *o;
	struct store_labels l;
	char when[DATE_BYTES], name[128];
	struct json j;
	size_t i;
	int r = store_labels(s, &l, err);

	if (r)
		return r;
	o = report_stream(out, err);
	if (!o) {
		store_labels_release(&l);
		return -err->code;
	}
	if (json) {
		json_init(&j, o);
		json_object(&j, NULL);
		json_str(&j, "schema", "tracer.list/1");
		json_array(&j, "labels");
		for (i = 0; i < l.n; i++) {
			json_object(&j, NULL);
			json_str(&j, "label", l.label[i].name);
			json_u64(&j, "benches", l.label[i].benches);
			json_u64(&j, "last_ns", l.label[i].last_ns);
			json_end(&j);
		}
		json_end(&j);
		json_end(&j);
		r = json_finish(&j);
	} else {
		out_printf(o, "%-16s  %7s  %s\n", "LAST", "BENCHES", "LABEL");
		for (i = 0; i < l.n; i++)
			out_printf(o, "%-16s  %7" PRIu64 "  %s\n", date(when, l.label[i].last_ns),
				   l.label[i].benches, shown(name, sizeof(name),
							     l.label[i].name));
	}
	store_labels_release(&l);
	return r ? err_sys(err, -r, "cannot list the labels") : 0;
}

static void json_bench(struct json *j, const struct store_bench *b)
{
	json_object(j, NULL);
	json_str(j, "id", b->id);
	json_str(j, "label", b->label);
	json_str(j, "commit", *b->commit ? b->commit : NULL);
	json_bool(j, "dirty", b->dirty);
	json_u64(j, "when_ns", b->when_ns);
	json_u64(j, "runs", b->runs);
	json_str(j, "source", b->source);
	json_str(j, "mode", *b->mode ? b->mode : NULL);
	json_str(j, "argv", b->argv);
	json_end(j);
}

static int list_benches(struct store *s, const char *label, bool json, struct report_out *out,
			struct err *err)
{
	struct out_stream *o;
	struct store_benches l;
	char when[DATE_BYTES], runs[48], command[256];
	struct buf words = BUF_INIT;
	struct json j;
	size_t i;
	int r = store_select(s, &(struct store_query){ .label = label }, &l, err);

	if (r)
		return r;
	o = l.n ? report_stream(out, err) : NULL;
	if (!o) {
		r = l.n ? -err->code : no_bench(s, label, err);
		store_benches_release(&l);
		return r;
	}
	if (json) {
		json_init(&j, o);
		json_object(&j, NULL);
		json_str(&j, "schema", "tracer.list/1");
		json_array(&j, "benches");
		for (i = 0; i < l.n; i++)
			json_bench(&j, &l.bench[i]);
		json_end(&j);
		json_end(&j);
		r = json_finish(&j);
	} else {
		out_printf(o, "%-16s  %-12s  %-12s  %8s  %-5s  %s\n", "WHEN", "ID", "COMMIT",
			   "RUNS", "MODE", "COMMAND");
		for (i = 0; i < l.n; i++) {
			const struct store_bench *b = &l.bench[i];

			/* One that was broken off, or is under way: "3/10". */
			if (b->runs < b->planned)
				snprintf(runs, sizeof(runs), "%" PRIu64 "/%" PRIu64, b->runs,
					 b->planned);
			else
				snprintf(runs, sizeof(runs), "%" PRIu64, b->runs);
			buf_reset(&words);
			shellword_add_argv(&words, b->argv);
			out_printf(o, "%-16s  %.12s  %-11.11s%c  %8s  %-5s  %s\n",
				   date(when, b->when_ns), b->id, *b->commit ? b->commit : "-",
				   b->dirty ? '+' : ' ', runs, *b->mode ? b->mode : "-",
				   shown(command, sizeof(command), words.data ? words.data : ""));
		}
		buf_release(&words);
	}
	store_benches_release(&l);
	return r ? err_sys(err, -r, "cannot list the benches") : 0;
}

int report_list(struct store *s, const struct report_opts *opts, struct report_out *out,
		struct err *err)
{
	bool json = opts->format == REPORT_JSON;

	return opts->label ? list_benches(s, label_of(opts), json, out, err) :
			     list_labels(s, json, out, err);
}

/* ---- history ---- */

struct history {
	struct store_benches benches;
	struct store_columns columns;
	double *median;		/* of each bench that has the metric */
	const struct store_bench **bench;	/* the same */
	size_t *runs;
	size_t n;
	struct changes changes;
};

static int medians(struct history *h)
{
	const struct store_columns *c = &h->columns;
	double *v = calloc(c->runs + 1, sizeof(*v));
	size_t i, j, n;

	h->median = calloc(h->benches.n + 1, sizeof(*h->median));
	h->bench = calloc(h->benches.n + 1, sizeof(*h->bench));
	h->runs = calloc(h->benches.n + 1, sizeof(*h->runs));
	if (!v || !h->median || !h->bench || !h->runs) {
		free(v);
		return -ENOMEM;
	}
	/* The runs of a bench stand together, in the order of the benches. */
	for (i = j = 0; i < h->benches.n && c->columns; i++) {
		for (n = 0; j < c->runs && c->run[j].bench == i; j++)
			if (!c->run[j].warmup && !isnan(c->column[0].value[j]))
				v[n++] = c->column[0].value[j];
		if (!n)
			continue;
		sample_sort(v, n);
		h->median[h->n] = sample_median(v, n);
		h->bench[h->n] = &h->benches.bench[i];
		h->runs[h->n++] = n;
	}
	free(v);
	return change_find(h->median, h->n, 0.01, &h->changes);
}

static const struct change *change_at(const struct history *h, size_t i)
{
	size_t k;

	for (k = 0; k < h->changes.n; k++)
		if (h->changes.list[k].at == i)
			return &h->changes.list[k];
	return NULL;
}

#define BAR 30

static void put_history(const struct history *h, struct out_stream *o)
{
	const struct store_column *c = &h->columns.column[0];
	char when[DATE_BYTES], value[HUMAN_BYTES];
	double most = 0;
	size_t i;

	for (i = 0; i < h->n; i++)
		most = h->median[i] > most ? h->median[i] : most;
	out_printf(o, "%-16s  %-12s  %-12s  %6s  %10s\n", "WHEN", "ID", "COMMIT", "RUNS", "MEDIAN");
	for (i = 0; i < h->n; i++) {
		const struct change *at = change_at(h, i);

		out_printf(o, "%-16s  %.12s  %-11.11s%c  %6zu  %10s  ",
			   date(when, h->bench[i]->when_ns), h->bench[i]->id,
			   *h->bench[i]->commit ? h->bench[i]->commit : "-",
			   h->bench[i]->dirty ? '+' : ' ', h->runs[i],
			   human_value(value, h->median[i], c->unit));
		out_pad(o, '#', most > 0 ? (size_t)lround(h->median[i] / most * BAR) : 0);
		if (at)
			out_printf(o, "  <- %+.1f %%", at->before > 0 ?
				   (at->after / at->before - 1) * 100 : INFINITY);
		out_putc(o, '\n');
	}
	out_printf(o, "\n%zu change%s of level among %zu bench%s\n", h->changes.n,
		   h->changes.n == 1 ? "" : "s", h->n, h->n == 1 ? "" : "es");
}

static int json_history(const struct history *h, const char *metric, struct out_stream *o)
{
	struct json j;
	size_t i;

	json_init(&j, o);
	json_object(&j, NULL);
	json_str(&j, "schema", "tracer.history/1");
	json_str(&j, "metric", metric);
	json_str(&j, "unit", h->columns.column[0].unit);
	json_array(&j, "benches");
	for (i = 0; i < h->n; i++) {
		json_object(&j, NULL);
		json_str(&j, "id", h->bench[i]->id);
		json_str(&j, "commit", *h->bench[i]->commit ? h->bench[i]->commit : NULL);
		json_u64(&j, "when_ns", h->bench[i]->when_ns);
		json_u64(&j, "runs", h->runs[i]);
		json_real(&j, "median", h->median[i]);
		json_end(&j);
	}
	json_end(&j);
	json_array(&j, "changes");
	for (i = 0; i < h->changes.n; i++) {
		json_object(&j, NULL);
		json_str(&j, "id", h->bench[h->changes.list[i].at]->id);
		json_real(&j, "before", h->changes.list[i].before);
		json_real(&j, "after", h->changes.list[i].after);
		json_real(&j, "p", h->changes.list[i].p);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	return json_finish(&j);
}

int report_history(struct store *s, const struct report_opts *opts, struct report_out *out,
		   struct err *err)
{
	const struct store_query q = { .label = label_of(opts), .oldest_first = true };
	struct history h = { 0 };
	struct out_stream *o = NULL;
	int r = store_select(s, &q, &h.benches, err);

	if (r)
		return r;
	r = store_load(s, h.benches.bench, h.benches.n, opts->history, &h.columns, err);
	if (!r && medians(&h))
		r = err_sys(err, ENOMEM, "cannot show the history");
	if (!r && !h.n) {
		r = err_set(err, ENOENT, "no bench of the label '%s' in %s has the metric '%s'",
			    opts->label, store_name(s), opts->history);
		err_hint(err, "'tracer report --list' shows the labels, 'tracer report --all BASE "
			 "NEW' the metrics");
	}
	if (!r) {
		o = report_stream(out, err);
		r = o ? 0 : -err->code;
	}
	if (!r && opts->format == REPORT_JSON)
		r = json_history(&h, opts->history, o) ? err_sys(err, ENOMEM, "cannot show it") : 0;
	else if (!r)
		put_history(&h, o);
	changes_release(&h.changes);
	free(h.median);
	free(h.bench);
	free(h.runs);
	store_columns_release(&h.columns);
	store_benches_release(&h.benches);
	return r;
}

/* ---- import and forget ---- */

static int import_bench(struct store *s, struct import_bench *b, const char *label,
			struct err *err)
{
	size_t i;
	int r;

	if (label)
		b->bench.label = label;
	r = store_add_bench(s, &b->bench, err);
	for (i = 0; !r && i < b->runs; i++) {
		struct store_measured m = { .value = b->run[i].value, .values = b->run[i].values,
					    .detail = b->run[i].detail,
					    .detail_len = b->run[i].detail_len };

		r = store_add_run(s, &b->bench, &b->run[i].run, &m, err);
	}
	return r;
}

int report_import(struct store *s, const struct report_opts *opts, struct report_out *out,
		  struct err *err)
{
	struct out_stream *o;
	struct import imp;
	char label[128];
	size_t i;
	int ended, r = import_file(opts->import, &imp, err);

	if (r)
		return r;
	r = side_measure(&imp, err);
	o = r ? NULL : report_stream(out, err);
	if (!r && !o)
		r = -err->code;
	/* All of the file, or nothing. */
	if (!r)
		r = store_begin(s, err);
	if (!r) {
		for (i = 0; !r && i < imp.benches; i++)
			r = import_bench(s, &imp.bench[i], opts->label, err);
		ended = store_end(s, !r, r ? &(struct err){ 0 } : err);
		r = r ? r : ended;
	}
	for (i = 0; !r && i < imp.benches && !opts->quiet; i++)
		out_printf(o, "%s: %zu run%s\n", *imp.bench[i].bench.label ?
			   shown(label, sizeof(label), imp.bench[i].bench.label) :
			   imp.bench[i].bench.id, imp.bench[i].runs,
			   imp.bench[i].runs == 1 ? "" : "s");
	if (!r && imp.skipped && !opts->quiet)
		out_printf(o, "%zu lines were left out; line %zu: %s\n", imp.skipped,
			   imp.skipped_line, imp.skipped_why);
	import_release(&imp);
	return r;
}

int report_forget(struct store *s, const struct report_opts *opts, struct report_out *out,
		  struct err *err)
{
	struct out_stream *o = report_stream(out, err);
	uint64_t n;
	char label[128];
	int r = o ? store_forget(s, &(struct store_query){ .label = label_of(opts) }, &n, err) :
		    -err->code;

	if (!r && !n)
		return no_bench(s, label_of(opts), err);
	if (!r && !opts->quiet)
		out_printf(o, "%" PRIu64 " bench%s of %s %s deleted\n", n, n == 1 ? "" : "es",
			   shown(label, sizeof(label), opts->label), n == 1 ? "is" : "are");
	return r;
}
