/* SPDX-License-Identifier: MIT */
/* Schema tracer.summary/1: docs/formats/summary-json.md. Names stay, others may join them. */
#include <errno.h>

#include "out/jsonsum.h"
#include "out/out.h"

static void put_command(struct json *j, const struct summary *s)
{
	size_t i;

	if (!s->command)
		json_null(j, "command");
	if (s->command) {
		json_array(j, "command");
		for (i = 0; s->command[i]; i++)
			json_str(j, NULL, s->command[i]);
		json_end(j);
	}
	json_array(j, "pids");
	for (i = 0; i < s->npids; i++)
		json_i64(j, NULL, s->pids[i]);
	json_end(j);
	json_object(j, "filter");
	json_str(j, "comm", s->comm);
	json_str(j, "cgroup", s->cgroup);
	json_str(j, "calls", s->calls);
	json_array(j, "paths");
	for (i = 0; i < s->npaths; i++)
		json_str(j, NULL, s->paths[i]);
	json_end(j);
	json_end(j);
}

static void put_exit(struct json *j, const struct summary *s)
{
	if (!s->has_exit) {
		json_null(j, "exit");
		return;
	}
	json_object(j, "exit");
	if (s->exit_signal) {
		json_null(j, "code");
		json_i64(j, "signal", s->exit_signal);
	} else {
		json_i64(j, "code", s->exit_code);
		json_null(j, "signal");
	}
	json_end(j);
}

static void put_head(struct json *j, const struct summary *s)
{
	size_t i;

	json_str(j, "schema", SUMMARY_SCHEMA);
	json_str(j, "tracer", s->tracer_version);
	put_command(j, s);
	put_exit(j, s);
	jsonsum_mode(j, s->mode, s->collected);
	json_object(j, "ways");
	for (i = 0; i < s->ncollector; i++)
		json_str(j, s->collector[i].name, s->collector[i].way);
	json_end(j);
	json_u64(j, "started_ns", s->started_realtime_ns);
	json_u64(j, "duration_ns", s->duration_ns);
	json_u64(j, "still_running", s->still_running);
	json_u64(j, "compat_calls", s->compat_calls);
	json_u64(j, "hidden_programs", s->hidden);
	json_u64(j, "mmap_bytes", s->mmap_bytes);
	json_bool(j, "empty", summary_is_empty(s));
}

static void put_findings(struct json *j, const struct summary *s)
{
	size_t i, k;

	json_object(j, "judged");
	json_u64(j, "rules", s->judged.rules);
	json_u64(j, "judged", s->judged.judged);
	json_u64(j, "by_mode", s->judged.by_mode);
	json_u64(j, "by_collect", s->judged.by_collect);
	json_end(j);
	json_array(j, "findings");
	for (i = 0; i < s->nfinding; i++) {
		const struct sum_finding *f = &s->finding[i];

		json_object(j, NULL);
		json_str(j, "id", f->id);
		json_str(j, "text", f->text);
		json_str(j, "advice", f->advice);
		json_real(j, "severity", f->severity);
		json_object(j, "evidence");
		for (k = 0; k < f->nevidence; k++)
			json_real(j, f->evidence[k].name, f->evidence[k].value);
		json_end(j);
		json_end(j);
	}
	json_end(j);
}

/* The histogram itself, so that a reader has all that we have. */
static void put_buckets(struct json *j, const struct hist *h)
{
	unsigned int i;

	json_array(j, "buckets");
	for (i = 0; i < HIST_BUCKETS; i++) {
		if (!h->bucket[i])
			continue;
		json_array(j, NULL);
		json_u64(j, NULL, hist_lower(i));
		json_u64(j, NULL, h->bucket[i]);
		json_end(j);
	}
	json_end(j);
}

static void put_hist(struct json *j, const char *key, const struct hist *h)
{
	json_object(j, key);
	json_u64(j, "count", h->count);
	json_u64(j, "total", h->sum);
	json_u64(j, "mean", hist_mean(h));
	json_u64(j, "p50", hist_quantile(h, 0.5));
	json_u64(j, "p99", hist_quantile(h, 0.99));
	json_u64(j, "max", h->max);
	put_buckets(j, h);
	json_end(j);
}

static void put_exact_hist(struct json *j, bool exact, const char *key, const struct hist *h)
{
	if (exact)
		put_hist(j, key, h);
	else
		json_null(j, key);
}

/* A stage that was not seen is left out: 0 would be a claim. */
static bool stage_seen(const struct sum_thread *t, size_t stage, bool exact)
{
	if (!exact && stage != SUM_STAGE_WAKEUP && stage != SUM_STAGE_ROUTINE)
		return false;
	return t->cost_ns && (stage != SUM_STAGE_ROUTINE || t->stage_ns[stage]);
}

static const struct sum_routine *routine_of(const struct sum_threads *all,
					    const struct sum_thread *t)
{
	return t->routine && t->routine <= all->nroutine ? &all->routine[t->routine - 1] : NULL;
}

static void put_thread(struct json *j, const struct summary *s, const struct sum_thread *t)
{
	const struct sum_threads *all = &s->threads;
	const bool exact = s->mode == SUM_EXACT;
	const struct sum_routine *r = routine_of(all, t);
	size_t i;

	json_object(j, NULL);
	json_i64(j, "tid", t->tid);
	json_i64(j, "tgid", t->tgid);
	json_str(j, "comm", t->comm);
	json_i64(j, "parent", t->parent);
	json_bool(j, "process", t->is_process);
	json_bool(j, "created", t->created);
	json_bool(j, "exited", t->exited);
	json_u64(j, "start_ns", t->start_ns);
	json_u64(j, "lifetime_ns", t->lifetime_ns);
	json_u64(j, "cost_ns", t->cost_ns);
	json_object(j, "stages");
	for (i = 0; i < SUM_STAGES; i++)
		if (stage_seen(t, i, exact))
			json_u64(j, sum_stage_name((enum sum_stage)i), t->stage_ns[i]);
	json_end(j);
	if (all->routines_asked)
		json_str(j, "routine", r ? r->symbol : NULL);
	jsonsum_exact(j, exact, "calls", t->calls);
	jsonsum_exact(j, exact, "futex_calls", t->futex_calls);
	json_u64(j, "futex_wait_ns", t->futex_wait_ns);
	json_u64(j, "oncpu_ns", t->oncpu_ns);
	json_u64(j, "runnable_ns", t->runnable_ns);
	json_u64(j, "blocked_ns", t->blocked_ns);
	json_u64(j, "voluntary", t->voluntary);
	json_u64(j, "involuntary", t->involuntary);
	json_end(j);
}

static void put_stages(struct json *j, const struct sum_threads *t)
{
	size_t i;

	json_array(j, "stages");
	for (i = 0; i < SUM_STAGES; i++) {
		const struct hist *h = &t->stage[i];

		if (i == SUM_STAGE_ROUTINE && !t->routines_asked)
			continue;
		json_object(j, NULL);
		json_str(j, "name", sum_stage_name((enum sum_stage)i));
		json_u64(j, "count", h->count);
		json_u64(j, "total_ns", h->sum);
		json_u64(j, "p50_ns", hist_quantile(h, 0.5));
		json_u64(j, "p99_ns", hist_quantile(h, 0.99));
		json_u64(j, "max_ns", h->max);
		put_buckets(j, h);
		json_end(j);
	}
	json_end(j);
	json_array(j, "calls_on_the_way");
	for (i = 0; i < t->nway; i++) {
		json_object(j, NULL);
		json_str(j, "name", t->way[i].name);
		json_u64(j, "calls", t->way[i].calls);
		json_u64(j, "total_ns", t->way[i].total_ns);
		json_end(j);
	}
	json_end(j);
}

static void put_routines(struct json *j, const struct sum_threads *t)
{
	const uint64_t timed = t->stage[SUM_STAGE_ROUTINE].count;
	size_t i;

	if (!t->routines_asked)
		return;
	json_object(j, "routines");
	json_u64(j, "timed", timed);
	json_u64(j, "untimed", t->created > timed ? t->created - timed : 0);
	json_array(j, "by_routine");
	for (i = 0; i < t->nroutine; i++) {
		json_object(j, NULL);
		json_str(j, "symbol", t->routine[i].symbol);
		json_str(j, "module", t->routine[i].module);
		json_hex(j, "addr", t->routine[i].addr);
		json_u64(j, "threads", t->routine[i].threads);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

static void put_threads(struct json *j, const struct summary *s)
{
	const struct sum_threads *t = &s->threads;
	size_t i;

	json_object(j, "threads");
	json_u64(j, "created", t->created);
	json_u64(j, "exited", t->exited);
	json_u64(j, "processes_created", t->processes_created);
	json_u64(j, "processes_exited", t->processes_exited);
	json_u64(j, "live_peak", t->live_peak);
	put_hist(j, "cost_ns", &t->cost);
	put_hist(j, "lifetime_ns", &t->lifetime);
	put_stages(j, t);
	put_routines(j, t);
	json_u64(j, "by_thread_cap", t->by_thread_cap);
	json_u64(j, "by_thread_cut", t->by_thread_cut);
	json_array(j, "by_thread");
	for (i = 0; i < t->nby_thread; i++)
		put_thread(j, s, &t->by_thread[i]);
	json_end(j);
	json_end(j);
}

/* Where in its file: not an address of the process. */
static void put_place(struct json *j, uint64_t module_offset)
{
	if (module_offset)
		json_hex(j, "module_offset", module_offset);
	else
		json_null(j, "module_offset");
}

static void put_frame(struct json *j, const struct sum_frame *f)
{
	json_object(j, NULL);
	if (f->kernel)
		json_null(j, "ip");
	else
		json_hex(j, "ip", f->ip);
	json_str(j, "symbol", f->symbol);
	if (f->symbol && !f->inlined)
		json_u64(j, "offset", f->offset);
	else
		json_null(j, "offset");
	json_bool(j, "inlined", f->inlined);
	json_bool(j, "kernel", f->kernel);
	json_str(j, "module", f->module);
	put_place(j, f->module_offset);
	json_str(j, "file", f->file);
	if (f->line)
		json_u64(j, "line", f->line);
	else
		json_null(j, "line");
	json_end(j);
}

static void put_frames(struct json *j, const char *key, const struct sum_site *site)
{
	size_t i;

	json_array(j, key);
	for (i = 0; site && i < site->nkernel; i++)
		put_frame(j, &site->kernel[i]);
	for (i = 0; site && i < site->nframe; i++)
		put_frame(j, &site->frame[i]);
	json_end(j);
}

/* "site" is the most frequent one, "sites" all of them. */
static void put_sites(struct json *j, const struct sum_lock *l)
{
	size_t i;

	put_frames(j, "site", l->nsite ? &l->site[0] : NULL);
	json_u64(j, "samples", l->samples);
	json_array(j, "sites");
	for (i = 0; i < l->nsite; i++) {
		json_object(j, NULL);
		json_u64(j, "samples", l->site[i].samples);
		json_u64(j, "waits", l->site[i].waits);
		json_u64(j, "wait_ns", l->site[i].wait_ns);
		put_frames(j, "frames", &l->site[i]);
		json_end(j);
	}
	json_end(j);
}

static void put_edges(struct json *j, const struct sum_lock *l)
{
	size_t i;

	json_array(j, "edges");
	for (i = 0; i < l->nedge; i++) {
		json_object(j, NULL);
		json_i64(j, "waker", l->edge[i].waker);
		json_i64(j, "waiter", l->edge[i].waiter);
		json_u64(j, "count", l->edge[i].count);
		json_str(j, "waker_comm", l->edge[i].waker_comm);
		json_str(j, "waiter_comm", l->edge[i].waiter_comm);
		json_end(j);
	}
	json_end(j);
}

static void put_lock(struct json *j, const struct sum_lock *l, bool exact)
{
	enum sum_lock_use use = sum_lock_use(l);

	json_object(j, NULL);
	json_hex(j, "addr", l->addr);
	json_str(j, "symbol", l->symbol);
	json_str(j, "module", l->module);
	put_place(j, l->module_offset);
	json_str(j, "kind", sum_lock_kind_name(l->kind));
	json_str(j, "use", use == SUM_USE_UNKNOWN ? NULL : sum_lock_use_name(use));
	json_i64(j, "tgid", l->tgid);
	json_str(j, "comm", l->comm);
	json_u64(j, "waits", l->waits);
	json_u64(j, "blocked", l->blocked);
	json_u64(j, "pending", l->pending);
	json_u64(j, "pending_ns", l->pending_ns);
	jsonsum_exact(j, exact, "timeouts", l->timeouts);
	jsonsum_exact(j, exact, "eagain", l->eagain);
	jsonsum_exact(j, exact, "wakes", l->wakes);
	jsonsum_exact(j, exact, "woken", l->woken);
	jsonsum_exact(j, exact, "wasted_wakes", l->wasted_wakes);
	jsonsum_exact(j, exact, "requeued", l->requeued);
	if (l->holder)
		json_i64(j, "holder", l->holder);
	else
		json_null(j, "holder");
	put_hist(j, "wait_ns", &l->wait);
	put_edges(j, l);
	put_sites(j, l);
	json_end(j);
}

static void put_futex(struct json *j, const struct summary *s)
{
	const struct sum_futex *f = &s->futex;
	const bool exact = s->mode == SUM_EXACT;
	size_t i;

	json_object(j, "futex");
	jsonsum_exact(j, exact, "calls", f->calls);
	json_u64(j, "waits", f->waits);
	jsonsum_exact(j, exact, "wakes", f->wakes);
	jsonsum_exact(j, exact, "wasted_wakes", f->wasted_wakes);
	jsonsum_exact(j, exact, "eagain", f->eagain);
	jsonsum_exact(j, exact, "timeouts", f->timeouts);
	jsonsum_exact(j, exact, "requeued", f->requeued);
	json_u64(j, "addresses", f->addresses);
	json_array(j, "ops");
	for (i = 0; i < f->nop; i++) {
		json_object(j, NULL);
		json_str(j, "name", f->op[i].name);
		json_u64(j, "calls", f->op[i].calls);
		json_u64(j, "errors", f->op[i].errors);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

static void put_ends(struct json *j, const char *tids, const char *ends,
		     const struct sum_pipe_end *e, size_t n, bool exact)
{
	size_t i;

	json_array(j, tids);
	for (i = 0; i < n; i++)
		json_i64(j, NULL, e[i].tid);
	json_end(j);
	json_array(j, ends);
	for (i = 0; i < n; i++) {
		json_object(j, NULL);
		json_i64(j, "tid", e[i].tid);
		json_i64(j, "tgid", e[i].tgid);
		json_str(j, "comm", e[i].comm);
		jsonsum_exact(j, exact, "chunks", e[i].chunks);
		jsonsum_exact(j, exact, "bytes", e[i].bytes);
		json_u64(j, "blocked_ns", e[i].blocked_ns);
		json_u64(j, "blocked", e[i].blocked);
		jsonsum_exact(j, exact, "eagain", e[i].eagain);
		jsonsum_exact(j, exact, "futex_calls", e[i].futex_calls);
		put_exact_hist(j, exact, "chunk_bytes", &e[i].chunk_bytes);
		json_end(j);
	}
	json_end(j);
}

static void put_pipe(struct json *j, const struct sum_pipe *p, bool exact)
{
	json_object(j, NULL);
	json_str(j, "kind", sum_pipe_kind_name(p->kind));
	json_u64(j, "inode", p->inode);
	jsonsum_exact(j, exact, "chunks_written", p->chunks_written);
	jsonsum_exact(j, exact, "chunks_read", p->chunks_read);
	jsonsum_exact(j, exact, "bytes", p->bytes);
	jsonsum_exact(j, exact, "bytes_read", p->bytes_read);
	put_exact_hist(j, exact, "chunk_bytes", &p->chunk_bytes);
	json_u64(j, "writer_blocked_ns", p->writer_blocked_ns);
	json_u64(j, "reader_blocked_ns", p->reader_blocked_ns);
	jsonsum_exact(j, exact, "futex_calls", p->futex_calls);
	if (exact)
		json_real(j, "futex_per_chunk", p->futex_per_chunk);
	else
		json_null(j, "futex_per_chunk");
	json_str(j, "bottleneck", sum_bottleneck_name(p->bottleneck));
	put_ends(j, "writers", "writer_ends", p->writer, p->nwriter, exact);
	put_ends(j, "readers", "reader_ends", p->reader, p->nreader, exact);
	json_end(j);
}

/* Only where one was seen: most summaries have no such list. */
static void put_tapes(struct json *j, const struct summary *s)
{
	if (!s->ntape)
		return;
	json_array(j, "tapes");
	for (size_t i = 0; i < s->ntape; i++) {
		const struct tape_stats *t = &s->tape[i].stats;
		const struct { const char *name; uint64_t value; } rows[] = {
			{ "bytes_in", t->bytes_in }, { "bytes_out", t->bytes_out },
			{ "records", t->records }, { "chunks", t->chunks },
			{ "chunk_bytes", t->chunk_bytes }, { "batches", t->batches },
			{ "reads", t->reads }, { "writes", t->writes },
			{ "blocked_in_ns", t->blocked_in_ns },
			{ "blocked_command_ns", t->blocked_command_ns },
			{ "blocked_out_ns", t->blocked_out_ns }, { "commands", t->commands },
			{ "spilled_bytes", t->spilled_bytes },
		};

		json_object(j, NULL);
		json_i64(j, "pid", s->tape[i].pid);
		json_str(j, "comm", s->tape[i].comm);
		for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++)
			json_u64(j, rows[k].name, rows[k].value);
		json_end(j);
	}
	json_end(j);
}

static void put_syscall(struct json *j, const struct sum_syscall *c, bool exact)
{
	char tmp[24];
	size_t i;

	json_object(j, NULL);
	json_str(j, "name", c->name);
	json_i64(j, "nr", c->nr);
	json_u64(j, "calls", c->calls);
	jsonsum_exact(j, exact, "errors", c->errors);
	if (exact) {
		json_object(j, "by_errno");
		for (i = 0; i < c->nby_errno; i++)
			json_u64(j, out_errno_name(c->by_errno[i].err, tmp), c->by_errno[i].count);
		json_end(j);
	} else {
		json_null(j, "by_errno");
	}
	json_u64(j, "total_ns", c->wall.sum);
	jsonsum_exact(j, exact, "cpu_ns", c->cpu_ns);
	json_u64(j, "mean_ns", hist_mean(&c->wall));
	json_u64(j, "p50_ns", hist_quantile(&c->wall, 0.5));
	json_u64(j, "p99_ns", hist_quantile(&c->wall, 0.99));
	json_u64(j, "max_ns", c->wall.max);
	json_u64(j, "timed", c->wall.count);
	put_buckets(j, &c->wall);
	json_end(j);
}

static void put_sched(struct json *j, const struct summary *s)
{
	const struct sum_sched *c = &s->sched;
	size_t i;

	json_object(j, "sched");
	if (c->cpus)
		json_u64(j, "cpus", c->cpus);
	else
		json_null(j, "cpus");
	json_u64(j, "oncpu_ns", c->oncpu_ns);
	json_u64(j, "runnable_ns", c->runnable_ns);
	json_u64(j, "blocked_ns", c->blocked_ns);
	json_u64(j, "switches", c->switches);
	json_u64(j, "voluntary", c->voluntary);
	json_u64(j, "involuntary", c->involuntary);
	json_u64(j, "migrations", c->migrations);
	put_hist(j, "runq_ns", &c->runq);
	json_array(j, "blocked_in");
	for (i = 0; i < c->nblock; i++) {
		json_object(j, NULL);
		json_str(j, "name", c->block[i].name);
		json_u64(j, "count", c->block[i].count);
		json_u64(j, "total_ns", c->block[i].total_ns);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

/* Unmeasured costs are null: 0 would be a claim. */
static int json_summary(const struct summary *s, const struct out_opts *opts,
			struct out_stream *o, struct err *err)
{
	const bool exact = s->mode == SUM_EXACT;
	struct json j;
	size_t i;

	(void)opts;	/* JSON is complete, in the summary's own order, whatever is shown */
	json_init(&j, o);
	json_object(&j, NULL);
	put_head(&j, s);
	put_findings(&j, s);
	put_threads(&j, s);
	json_array(&j, "locks");
	for (i = 0; i < s->nlock; i++)
		put_lock(&j, &s->lock[i], exact);
	json_end(&j);
	put_futex(&j, s);
	json_array(&j, "pipes");
	for (i = 0; i < s->npipe; i++)
		put_pipe(&j, &s->pipe[i], exact);
	json_end(&j);
	put_tapes(&j, s);
	json_array(&j, "syscalls");
	for (i = 0; i < s->nsyscall; i++)
		put_syscall(&j, &s->syscall[i], exact);
	json_end(&j);
	put_sched(&j, s);
	jsonsum_overhead(&j, &s->overhead, s->threads.routines_asked);
	jsonsum_loss(&j, &s->loss);
	json_end(&j);
	return json_finish(&j) ? err_sys(err, ENOMEM, "cannot print the summary") : 0;
}

const struct out_format out_format_json = { "json", json_summary };
