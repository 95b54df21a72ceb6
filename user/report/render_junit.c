/* SPDX-License-Identifier: MIT */
/*
 * A report as JUnit's XML, for the test pages of CI servers: a test case a metric. The
 * format has no specification; this is the part that Ant writes and Jenkins, GitLab and
 * GitHub's actions read: testsuites, testsuite, properties, testcase, failure, skipped.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "out/escape.h"
#include "report/render.h"
#include "report/render_words.h"

static const struct words words = {
	.name = escape_xml, .sentence = escape_xml, .blank = " ", .sep = "; ", .arrow = "→",
	.times = "×", .to = "…", .less = "&lt;", .infinity = "∞", .unknown = "–",
};

enum outcome { PASSED, SKIPPED, FAILED };

static enum outcome outcome_of(const struct regress_metric *m, bool strict)
{
	if (m->result.verdict == COMPARE_WORSE)
		return FAILED;
	if (m->result.verdict == COMPARE_INCONCLUSIVE)
		return strict ? FAILED : SKIPPED;
	return PASSED;
}

/* What it takes: of a time the new side's median, in seconds; a count takes none. */
static double seconds_of(const struct regress_metric *m)
{
	const double s = m->result.now / 1e9;

	if (m->kind != METRIC_TIME || !m->unit || strcmp(m->unit, "ns") || !(s > 0) || s > 1e9)
		return 0;
	return s;
}

static void put_counts(struct buf *b, const struct regress *r, bool strict)
{
	size_t n[3] = { 0 }, i;
	double seconds = 0;

	for (i = 0; i < r->nmetric; i++) {
		n[outcome_of(&r->metric[i], strict)]++;
		seconds += seconds_of(&r->metric[i]);
	}
	/* Two empty sets that are compared are no success. */
	if (!r->nmetric)
		n[strict ? FAILED : SKIPPED]++;
	buf_addf(b, " tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\" time=\"%.6f\"",
		 n[PASSED] + n[SKIPPED] + n[FAILED], n[FAILED], n[SKIPPED], seconds);
}

/* ISO 8601 without a zone, as the format has it; in UTC. */
static void put_timestamp(struct buf *b, uint64_t when_ns)
{
	const time_t seconds = (time_t)(when_ns / 1000000000);
	char text[64];
	struct tm tm;

	if (when_ns && gmtime_r(&seconds, &tm) && strftime(text, sizeof(text), "%FT%T", &tm))
		buf_addf(b, " timestamp=\"%s\"", text);
}

static void put_property(struct buf *b, const char *side, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	buf_addf(b, "      <property name=\"%s.%s\" value=\"", side, name);
	words_name(&words, b, value);
	buf_adds(b, "\"/>\n");
}

static void put_side(struct buf *b, const char *side, const struct regress_side *s)
{
	put_property(b, side, "name", s->name);
	put_property(b, side, "label", s->label);
	put_property(b, side, "commit", s->commit);
	put_property(b, side, "command", s->command);
	put_property(b, side, "cpu", s->machine.cpu_model);
	put_property(b, side, "kernel", s->machine.kernel);
	buf_addf(b, "      <property name=\"%s.runs\" value=\"%zu\"/>\n", side, s->runs);
}

static void put_properties(struct buf *b, const struct regress *r)
{
	size_t i;

	buf_adds(b, "    <properties>\n");
	buf_addf(b, "      <property name=\"verdict\" value=\"%s\"/>\n", compare_word(r->verdict));
	put_side(b, "base", &r->base);
	put_side(b, "new", &r->now);
	for (i = 0; i < r->ndifference; i++)
		put_property(b, "sides", "difference", r->difference[i]);
	buf_adds(b, "    </properties>\n");
}

/* "worse: futex.wait 3,000 → 4,000 (+33 %), interval exact, q <0.001; outliers in the base". */
static void put_message(struct buf *b, const struct regress_metric *m)
{
	struct buf notes = BUF_INIT;

	buf_addf(b, "%s: ", compare_word(m->result.verdict));
	words_metric(&words, b, m);
	buf_adds(b, ", interval ");
	words_interval(&words, b, &m->result);
	buf_adds(b, ", q ");
	words_p(&words, b, m->result.q);
	words_notes(&words, &notes, m);
	if (notes.len)
		buf_addf(b, "; %s", notes.data);
	b->failed |= notes.failed;
	buf_release(&notes);
}

static void put_values(struct buf *b, const struct regress_metric *m, const char *side,
		       const struct series *s)
{
	size_t i;

	buf_adds(b, side);
	for (i = 0; i < s->n; i++) {
		buf_adds(b, i ? ", " : " ");
		words_value(&words, b, s->values[i], m->unit);
	}
	buf_addc(b, '\n');
}

static void put_outcome(struct buf *b, const struct regress_metric *m, bool strict)
{
	const char *tag = outcome_of(m, strict) == FAILED ? "failure" : "skipped";

	buf_addf(b, "      <%s", tag);
	if (*tag == 'f')
		buf_addf(b, " type=\"%s\"", compare_word(m->result.verdict));
	buf_adds(b, " message=\"");
	put_message(b, m);
	buf_adds(b, "\">");
	put_values(b, m, "base:", &m->base);
	put_values(b, m, "new: ", &m->now);
	buf_addf(b, "</%s>\n", tag);
}

/* The class is what stands before the first dot: servers make groups of it. */
static void put_case(struct buf *b, const struct regress_metric *m, bool strict)
{
	const size_t n = strcspn(m->name, ".");

	buf_adds(b, "    <testcase classname=\"");
	if (n && m->name[n])
		words.name(b, m->name, n);
	else
		buf_adds(b, "tracer");
	buf_adds(b, "\" name=\"");
	words_name(&words, b, m->name);
	buf_addf(b, "\" time=\"%.6f\"", seconds_of(m));
	if (outcome_of(m, strict) == PASSED) {
		buf_adds(b, "/>\n");
		return;
	}
	buf_adds(b, ">\n");
	put_outcome(b, m, strict);
	buf_adds(b, "    </testcase>\n");
}

static void put_nothing(struct buf *b, const struct regress *r, bool strict)
{
	const char *tag = strict ? "failure" : "skipped";

	buf_addf(b, "    <testcase classname=\"tracer\" name=\"report\" time=\"0.000000\">\n"
		 "      <%s message=\"", tag);
	words_headline(&words, b, r);
	buf_adds(b, "\"/>\n    </testcase>\n");
}

static int junit_report(const struct regress *r, const struct render_opts *opts,
			struct out_stream *o, struct err *err)
{
	struct buf b = BUF_INIT;
	int ret = 0;
	size_t i;

	buf_adds(&b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"tracer\"");
	put_counts(&b, r, opts->strict);
	buf_adds(&b, ">\n  <testsuite name=\"");
	words_name(&words, &b, r->base.name);
	buf_adds(&b, " → ");
	words_name(&words, &b, r->now.name);
	buf_addc(&b, '"');
	put_counts(&b, r, opts->strict);
	put_timestamp(&b, r->now.when_ns);
	buf_adds(&b, ">\n");
	put_properties(&b, r);
	for (i = 0; i < r->nmetric; i++)
		put_case(&b, &r->metric[i], opts->strict);
	if (!r->nmetric)
		put_nothing(&b, r, opts->strict);
	buf_adds(&b, "  </testsuite>\n</testsuites>\n");
	if (b.failed)
		ret = err_sys(err, ENOMEM, "cannot print the report");
	out_buf(o, &b);
	buf_release(&b);
	return ret;
}

const struct render_format render_junit = { "junit", junit_report };
