/* SPDX-License-Identifier: MIT */
#include "report/values.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/metrics.h"
#include "stats/hist.h"
#include "store/text.h"

static int add(struct values *v, const char *name, double value)
{
	const struct metric_rule *rule = metric_find(name);
	struct store_value *grown;
	size_t cap = v->cap ? v->cap * 2 : 64;

	if (!rule)
		rule = metric_default(METRIC_COUNT);
	if (v->n == v->cap) {
		grown = realloc(v->value, cap * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		v->value = grown;
		v->cap = cap;
	}
	v->value[v->n++] = (struct store_value){
		.metric = name,
		.unit = rule->unit,
		.kind = rule->kind == METRIC_TIME ? STORE_TIME : STORE_COUNT,
		.value = value,
	};
	return 0;
}

static int add_named(struct values *v, const char *before, const char *name, double value)
{
	char text[128];
	const char *kept;
	int n = snprintf(text, sizeof(text), "%s%s", before, name);

	kept = text_keep(&v->text, text, n < (int)sizeof(text) ? (size_t)n : sizeof(text) - 1);
	return kept ? add(v, kept, value) : -ENOMEM;
}

static int add_usage(struct values *v, const struct usage *u)
{
	int r = add(v, "time.wall", (double)u->wall_ns);

	if (!r)
		r = add(v, "time.user", (double)u->user_ns);
	if (!r)
		r = add(v, "time.system", (double)u->system_ns);
	if (!r && u->max_rss_bytes)
		r = add(v, "mem.max_rss", (double)u->max_rss_bytes);
	if (!r)
		r = add(v, "mem.page_faults", (double)u->page_faults);
	if (!r && u->has_instructions)
		r = add(v, "cpu.instructions", (double)u->instructions);
	return r;
}

/* Exact mode alone sees each call. */
static int add_calls(struct values *v, const struct summary *s)
{
	size_t i;
	int r = add(v, "mem.mmap_bytes", (double)s->mmap_bytes);

	for (i = 0; !r && i < s->nsyscall; i++)
		r = add_named(v, "syscall.", s->syscall[i].name, (double)s->syscall[i].calls);
	return r;
}

static int add_threads(struct values *v, const struct summary *s)
{
	const struct sum_threads *t = &s->threads;
	int r = add(v, "thread.created", (double)t->created), i;

	if (!r)
		r = add(v, "process.created", (double)t->processes_created);
	if (r || !t->cost.count || s->mode != SUM_EXACT)
		return r;
	r = add(v, "thread.cost_p50", (double)hist_quantile(&t->cost, 0.5));
	if (!r)
		r = add(v, "thread.cost_p99", (double)hist_quantile(&t->cost, 0.99));
	for (i = 0; !r && i < SUM_STAGES; i++)
		if (t->stage[i].count)
			r = add_named(v, "thread.stage_", sum_stage_name((enum sum_stage)i),
				      (double)hist_mean(&t->stage[i]));
	return r;
}

static int add_locks(struct values *v, const struct summary *s)
{
	struct hist all = { 0 };
	size_t i;
	int r = add(v, "futex.wait", (double)s->futex.waits);

	for (i = 0; i < s->nlock; i++)
		if (s->lock[i].kind != SUM_LOCK_JOIN)
			hist_merge(&all, &s->lock[i].wait);
	if (!r && all.count)
		r = add(v, "lock.wait_p50", (double)hist_quantile(&all, 0.5));
	if (!r && all.count)
		r = add(v, "lock.wait_p99", (double)hist_quantile(&all, 0.99));
	if (r || s->mode != SUM_EXACT)
		return r;
	r = add(v, "futex.wake", (double)s->futex.wakes);
	if (!r)
		r = add(v, "futex.wake_wasted", (double)s->futex.wasted_wakes);
	return r ? r : add(v, "futex.eagain", (double)s->futex.eagain);
}

static int add_pipes(struct values *v, const struct summary *s)
{
	uint64_t chunks = 0, bytes = 0, blocked_ns = 0;
	size_t i;
	int r;

	for (i = 0; i < s->npipe; i++) {
		const struct sum_pipe *p = &s->pipe[i];

		chunks += p->chunks_written ? p->chunks_written : p->chunks_read;
		bytes += p->bytes ? p->bytes : p->bytes_read;
		blocked_ns += p->writer_blocked_ns + p->reader_blocked_ns;
	}
	r = add(v, "pipe.blocked", (double)blocked_ns);
	if (r || s->mode != SUM_EXACT)
		return r;
	r = add(v, "pipe.chunks", (double)chunks);
	return r || !chunks ? r : add(v, "pipe.bytes_per_chunk", (double)bytes / (double)chunks);
}

static int add_sched(struct values *v, const struct summary *s)
{
	int r = add(v, "sched.switches", (double)s->sched.switches);

	if (!r)
		r = add(v, "sched.migrations", (double)s->sched.migrations);
	return r ? r : add(v, "time.blocked", (double)s->sched.blocked_ns);
}

static const struct part {
	unsigned int collected;
	bool exact;
	int (*add)(struct values *v, const struct summary *s);
} parts[] = {
	{ SUM_SYSCALLS, true, add_calls },
	{ SUM_THREADS, false, add_threads },
	{ SUM_FUTEX, false, add_locks },
	{ SUM_PIPES, false, add_pipes },
	{ SUM_SCHED, false, add_sched },
};

int values_of(struct values *v, const struct usage *u, const struct summary *s)
{
	size_t i;
	int r;

	memset(v, 0, sizeof(*v));
	r = u ? add_usage(v, u) : add(v, "time.wall", (double)s->duration_ns);
	if (!r && !s)
		r = add(v, "sched.switches", (double)(u->voluntary + u->involuntary));
	for (i = 0; !r && s && i < sizeof(parts) / sizeof(parts[0]); i++)
		if ((s->collected & parts[i].collected) &&
		    (!parts[i].exact || s->mode == SUM_EXACT))
			r = parts[i].add(v, s);
	return r;
}

void values_release(struct values *v)
{
	free(v->value);
	text_free(v->text);
	memset(v, 0, sizeof(*v));
}
