/* SPDX-License-Identifier: MIT */
#ifndef FIXTURE_REGRESS_H
#define FIXTURE_REGRESS_H

/*
 * Made-up reports for the tests of their formats. Their figures are stated, not
 * computed: what is tested is how they are shown. All is static or of one block.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/regress.h"

#define FIXTURE_R_METRICS 48
#define FIXTURE_R_RUNS 10
#define FIXTURE_R_LONG 300

struct fixture_regress {
	struct regress r;
	struct regress_metric metric[FIXTURE_R_METRICS];
	struct regress_contributor contributor[8];
	struct regress_stack stack[12];
	double value[FIXTURE_R_METRICS][2][FIXTURE_R_RUNS];
	const char *difference[4];
	char text[FIXTURE_R_METRICS][FIXTURE_R_LONG + 64];
};

/* Terminal, HTML, XML and CDATA, tables, Markdown, quotes, a mention, a link, bidi, CJK. */
#define FIXTURE_R_EVIL                                                                  \
	"\x1b]0;owned\x07</script><script>alert(1)</script><!--|`x``]]>&\"'@team #1 "   \
	"**b** [l](http://x.test/) www.x.test\r\n\t\xe2\x80\xa8\xe2\x80\xae\xef\xbf\xbe" \
	"日本\\"

/* Values around @mid, @spread wide, the same each time. */
__attribute__((unused)) static void fixture_values(double *v, size_t n, double mid, double spread)
{
	uint64_t x = 88172645463325252ULL;
	size_t i;

	for (i = 0; i < n; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		v[i] = floor(mid + spread * ((double)(x % 1000) / 500 - 1) + 0.5);
	}
}

/* Adds a metric whose medians are @base and @now; its other figures are of the right kind. */
__attribute__((unused)) static struct regress_metric *
fixture_metric(struct fixture_regress *f, const char *name, const char *unit,
	       enum metric_kind kind, double base, double now, enum compare_verdict verdict)
{
	const size_t i = f->r.nmetric++;
	struct regress_metric *m = &f->metric[i];
	const double ratio = base > 0 ? now / base : now > 0 ? INFINITY : 1;
	const double spread = kind == METRIC_TIME ? 0.02 : 0;

	fixture_values(f->value[i][0], FIXTURE_R_RUNS, base, base * spread);
	fixture_values(f->value[i][1], FIXTURE_R_RUNS, now, now * spread);
	*m = (struct regress_metric){
		.name = name, .unit = unit, .kind = kind,
		.base = { f->value[i][0], FIXTURE_R_RUNS },
		.now = { f->value[i][1], FIXTURE_R_RUNS },
		.result = {
			.base = base, .now = now, .ratio = ratio, .verdict = verdict,
			.ci = { ratio - spread, ratio + spread },
			.p = verdict == COMPARE_SAME ? 0.63 : 0.00001,
			.q = verdict == COMPARE_SAME ? 1 : 0.0004,
			.notes = kind == METRIC_COUNT ? COMPARE_CONSTANT : 0,
		},
	};
	return m;
}

__attribute__((unused)) static void fixture_sides(struct regress *r)
{
	const struct store_machine machine = {
		.cpu_model = "Xeon E-2388G", .governor = "performance", .kernel = "6.1.0-18-amd64",
		.vendor = "", .cores = 8, .memory_bytes = 64ULL << 30, .hash = "0123456789abcdef",
	};

	r->base = (struct regress_side){
		.name = "main", .label = "main", .commit = "1f2e3d4c5b6a79880011223344556677",
		.command = "./orders --workers 8 data.csv", .source = "bench", .mode = "exact",
		.tracer = "0.9.0", .when_ns = 1796000000ULL * 1000000000, .runs = FIXTURE_R_RUNS,
		.load = 0.5, .steal = NAN, .machine = machine,
	};
	r->now = r->base;
	r->now.name = r->now.label = "queue-fix";
	r->now.commit = "a0b1c2d3e4f5061728394a5b6c7d8e9f";
	r->now.dirty = true;
	r->now.when_ns += 3600ULL * 1000000000;
	r->now.load = 3.25;
}

__attribute__((unused)) static void fixture_parts(struct fixture_regress *f)
{
	static const struct regress_contributor parts[] = {
		{ REGRESS_SYSCALL, "futex", "calls", "", 6000, 8000,
		  "main;worker_main;queue_pop;futex_wait",
		  "main;worker_main;queue_pop;queue_refill;futex_wait" },
		{ REGRESS_LOCK, "queue_lock", "time waited", "ns", 120e6, 310e6,
		  "main;worker_main;queue_pop;pthread_mutex_lock",
		  "main;worker_main;queue_pop;pthread_mutex_lock" },
		{ REGRESS_STAGE, "wakeup", "p50", "ns", 11400, 15200, NULL, NULL },
		{ REGRESS_PIPE, "parse -> pack", "chunks", "", NAN, 100003, NULL,
		  "main;pack_main;write_all" },
		{ REGRESS_SYSCALL, "madvise", "calls", "", 1199, 0, NULL, NULL },
	};
	static const struct regress_stack stacks[] = {
		{ "main;worker_main;queue_pop;futex_wait", 80e6, 210e6 },
		{ "main;worker_main;queue_pop;queue_refill;futex_wait", 0, 60e6 },
		{ "main;worker_main;stats_add;futex_wait", 40e6, 12e6 },
		{ "main;worker_main;log_line;write", 22e6, 22e6 },
		{ "main;reader_main;read_block;read", 300e6, 290e6 },
		{ "main;reader_main;old_path;poll", 35e6, 0 },
		{ "main;pthread_join", 410e6, 480e6 },
	};

	memcpy(f->contributor, parts, sizeof(parts));
	memcpy(f->stack, stacks, sizeof(stacks));
	f->r.ncontributor = sizeof(parts) / sizeof(parts[0]);
	f->r.nstack = sizeof(stacks) / sizeof(stacks[0]);
}

__attribute__((unused)) static void fixture_regress_empty(struct fixture_regress *f)
{
	memset(f, 0, sizeof(*f));
	f->r.metric = f->metric;
	f->r.contributor = f->contributor;
	f->r.stack = f->stack;
	f->r.difference = f->difference;
	f->r.verdict = COMPARE_INCONCLUSIVE;
	fixture_sides(&f->r);
}

/* A pull request that made a queue's lock dearer. */
__attribute__((unused)) static void fixture_regress(struct fixture_regress *f)
{
	static const char *const same[] = {
		"syscall.read", "syscall.write", "syscall.openat", "syscall.close", "syscall.mmap",
		"syscall.munmap", "syscall.brk", "syscall.execve", "thread.created", "pipe.chunks",
	};
	struct regress_metric *m;
	size_t i;

	fixture_regress_empty(f);
	fixture_metric(f, "futex.wait", "", METRIC_COUNT, 3000, 4000, COMPARE_WORSE);
	m = fixture_metric(f, "time.wall", "ns", METRIC_TIME, 1.204e9, 1.291e9, COMPARE_WORSE);
	m->result.notes = COMPARE_OUTLIERS_NOW;
	f->value[1][1][4] *= 1.06;
	fixture_metric(f, "syscall.pipe2", "", METRIC_COUNT, 0, 12, COMPARE_WORSE)
		->result.notes |= COMPARE_ZERO_BASE;
	m = fixture_metric(f, "thread.cost_p99", "ns", METRIC_TIME, 61200, 64100,
			   COMPARE_INCONCLUSIVE);
	m->result.runs_needed = f->r.runs_needed = 24;
	m->result.q = m->result.p = 0.061;
	m->result.ci[0] = 0.98;
	m = fixture_metric(f, "lock.wait_p99", "ns", METRIC_TIME, 49100, 52000,
			   COMPARE_INCONCLUSIVE);
	m->result.notes = COMPARE_DRIFT_NOW | COMPARE_DRIFT_HIDES;
	fixture_metric(f, "mem.mmap_bytes", "B", METRIC_COUNT, 96 << 20, 64 << 20, COMPARE_BETTER);
	fixture_metric(f, "time.user", "ns", METRIC_TIME, 4.8e9, 4.4e9, COMPARE_BETTER);
	for (i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		fixture_metric(f, same[i], "", METRIC_COUNT, 100 + 37 * (double)i,
			       100 + 37 * (double)i, COMPARE_SAME);
	fixture_metric(f, "time.system", "ns", METRIC_TIME, 310e6, 312e6, COMPARE_SAME);
	f->r.verdict = COMPARE_WORSE;
	f->difference[0] = "the load differs: 0.5 and 3.25 when the runs began";
	f->difference[1] = "the new side has changes that are not in its commit";
	f->r.ndifference = 2;
	fixture_parts(f);
}

/* The same with all text as bad as it gets. */
__attribute__((unused)) static void fixture_regress_hostile(struct fixture_regress *f)
{
	struct regress_side *side[] = { &f->r.base, &f->r.now };
	size_t i;

	fixture_regress(f);
	for (i = 0; i < f->r.nmetric; i++) {
		strcpy(f->text[i], FIXTURE_R_EVIL);
		f->metric[i].name = f->text[i];
		if (i % 3 == 1)
			f->metric[i].unit = FIXTURE_R_EVIL;
	}
	memset(f->text[1], 'x', FIXTURE_R_LONG);
	f->text[1][FIXTURE_R_LONG] = '\0';
	strcpy(f->text[2], "");
	strcpy(f->text[3], "日本語の計測値のとても長い名前がここに続いています、さらに続きます");
	for (i = 0; i < 2; i++) {
		side[i]->name = side[i]->command = side[i]->source = side[i]->tracer =
			FIXTURE_R_EVIL;
		side[i]->label = side[i]->commit = FIXTURE_R_EVIL "2";
		side[i]->machine.cpu_model = side[i]->machine.kernel = FIXTURE_R_EVIL;
	}
	f->r.now.machine.hash[0] = 'f';
	f->difference[0] = FIXTURE_R_EVIL;
	for (i = 0; i < f->r.ncontributor; i++) {
		f->contributor[i].name = FIXTURE_R_EVIL;
		f->contributor[i].stack_now = FIXTURE_R_EVIL ";" FIXTURE_R_EVIL ";;";
	}
	f->stack[0].folded = FIXTURE_R_EVIL ";" FIXTURE_R_EVIL;
	f->stack[1].folded = "";
	f->stack[2].folded = ";;";
}

/* Figures at the ends of what there is; NULL for what is not known. */
__attribute__((unused)) static void fixture_regress_edges(struct fixture_regress *f)
{
	struct regress_metric *m;

	fixture_regress_empty(f);
	memset(&f->r.now, 0, sizeof(f->r.now));
	f->r.now.load = f->r.now.steal = NAN;
	m = fixture_metric(f, "one.run", "ns", METRIC_TIME, 5, 5, COMPARE_INCONCLUSIVE);
	m->base.n = m->now.n = 1;
	m->result.notes = COMPARE_FEW_RUNS;
	m->result.ci[0] = 0;
	m->result.ci[1] = INFINITY;
	fixture_metric(f, "from.nothing", "ns", METRIC_TIME, 0, 7, COMPARE_INCONCLUSIVE)
		->result.ci[1] = INFINITY;
	fixture_metric(f, "nothing", "", METRIC_COUNT, 0, 0, COMPARE_SAME);
	fixture_metric(f, "huge", "", METRIC_COUNT, 1e300, 1e308, COMPARE_SAME);
	fixture_metric(f, "large", "B", METRIC_COUNT, 9.1e15, 1.7e19, COMPARE_SAME);
	fixture_metric(f, "tiny", "MB/s", METRIC_TIME, 0.25, 0.001, COMPARE_BETTER);
	m = fixture_metric(f, "no.runs", NULL, METRIC_TIME, NAN, NAN, COMPARE_INCONCLUSIVE);
	m->base = m->now = (struct series){ NULL, 0 };
	m->result.p = m->result.q = m->result.ci[0] = m->result.ci[1] = NAN;
	m->result.ratio = NAN;
	f->contributor[0] = (struct regress_contributor){
		.part = REGRESS_LOCK, .name = "gone", .what = "waits", .unit = "", .base = 7,
		.now = NAN, .stack_base = "",
	};
	f->contributor[1] = (struct regress_contributor){
		.part = REGRESS_PIPE, .name = "neither", .base = NAN, .now = NAN,
	};
	f->r.ncontributor = 2;
	f->stack[0] = (struct regress_stack){ "main;f", NAN, 5 };
	f->stack[1] = (struct regress_stack){ "main", 3, INFINITY };
	f->r.nstack = 2;
}

/* A clean bill of health. */
__attribute__((unused)) static void fixture_regress_same(struct fixture_regress *f)
{
	fixture_regress_empty(f);
	fixture_metric(f, "futex.wait", "", METRIC_COUNT, 3000, 3000, COMPARE_SAME);
	fixture_metric(f, "time.wall", "ns", METRIC_TIME, 1.204e9, 1.2e9, COMPARE_SAME);
	f->r.verdict = COMPARE_SAME;
}

struct fixture_regress_row { const char *name; void (*fill)(struct fixture_regress *f); };
static const struct fixture_regress_row fixture_regress_rows[] __attribute__((unused)) = {
	{ "normal", fixture_regress }, { "hostile", fixture_regress_hostile },
	{ "edges", fixture_regress_edges }, { "empty", fixture_regress_empty },
	{ "same", fixture_regress_same },
};
#define FIXTURE_R_ROWS (sizeof(fixture_regress_rows) / sizeof(fixture_regress_rows[0]))

#endif
