/* SPDX-License-Identifier: MIT */
#include "collect/watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "collect/watch_state.h"

struct watch *watch_new(struct live *l)
{
	struct watch *w = calloc(1, sizeof(*w));
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (!w)
		return NULL;
	w->l = l;
	w->ended_fd = l->bpf ? live_map_fd(l, "ended") : -1;
	w->now.mode = l->mode;
	w->now.collected = l->collect;
	w->now.cpus = cpus > 0 ? (uint32_t)cpus : 0;
	summary_init(&w->calls);
	w->name = calloc(WATCH_NAMES, sizeof(*w->name));
	w->stack = calloc(WATCH_STACKS, sizeof(*w->stack));
	w->row_of = calloc(l->seen_rows + 1, sizeof(*w->row_of));
	w->by_tid = map_new(sizeof(pid_t), sizeof(size_t));
	w->by_tgid = map_new(sizeof(pid_t), sizeof(size_t));
	w->lock_by_key = map_new(sizeof(struct live_futex_key), sizeof(size_t));
	w->lock_by_file = map_new(sizeof(struct watch_file), sizeof(size_t));
	w->pipe_by_key = map_new(sizeof(struct watch_pipe_key), sizeof(size_t));
	w->spaces = map_new(sizeof(uint32_t), sizeof(uint64_t));
	if (!w->name || !w->stack || !w->row_of || !w->by_tid || !w->by_tgid || !w->lock_by_key ||
	    !w->lock_by_file || !w->pipe_by_key || !w->spaces) {
		watch_free(w);
		return NULL;
	}
	l->watch = w;
	return w;
}

void watch_free(struct watch *w)
{
	if (!w)
		return;
	w->l->watch = NULL;
	watch_locks_free(w);
	watch_pipes_free(w);
	watch_prune_free(w);
	summary_release(&w->calls);
	free(w->now.thread);
	free(w->now.process);
	free(w->now.call);
	free(w->row_of);
	map_free(w->by_tid);
	free(w->name);
	free(w->stack);
	map_free(w->by_tgid);
	free(w->process_row);
	map_free(w->spaces);
	free(w);
}

void watch_quantiles(const struct hist *h, uint64_t max, uint64_t *p50, uint64_t *p99)
{
	*p50 = hist_quantile(h, 0.5);
	*p99 = hist_quantile(h, 0.99);
	/* Their bucket may reach beyond it. */
	if (*p50 > max)
		*p50 = max;
	if (*p99 > max)
		*p99 = max;
}

void watch_event(struct watch *w, const struct live_head *e)
{
	if (e->type == EV_STACK)
		watch_stack_came(w, (const struct live_stack *)e);
}

static void head(struct watch *w, uint64_t now_ns, uint64_t cpu_ns)
{
	const struct live_counts *c = live_counts(w->l);
	struct now *n = &w->now;

	watch_count(&n->born, c->threads_created + c->procs_created);
	watch_count(&n->ended, c->threads_exited + c->procs_exited);
	live_fill_loss(w->l, &n->loss);
	live_fill_overhead(w->l, &n->overhead);
	watch_count(&n->own_cpu_ns, clock_process_cpu_ns() - w->l->cpu_at_start_ns +
		    (w->l->sym ? sym_cpu_ns(w->l->sym) : 0));
	n->refresh_cpu_ns = clock_process_cpu_ns() - cpu_ns;
	n->realtime_ns = clock_real_ns();
	n->since_ns = now_ns - w->l->started_ns;
}

static int migrations(struct watch *w)
{
	struct summary s;
	int r;

	summary_init(&s);
	r = live_fill_sched(w->l, &s);
	watch_count(&w->now.migrations, s.sched.migrations);
	summary_release(&s);
	return r;
}

int watch_refresh(struct watch *w, const struct now **now, struct err *err)
{
	uint64_t cpu_ns = clock_process_cpu_ns(), now_ns;
	long n = ring_drain(w->l->ring, UINT64_MAX, live_batch, w->l);
	int r;

	if (n < 0)
		return err_sys(err, (int)-n, "cannot read the event ring");
	/* No tracepoint tells of setuid: a daemon's workers come to be somebody's. */
	if (w->l->by_user)
		live_moved(w->l);
	now_ns = clock_mono_ns();
	if (w->last_ns)
		w->now.tick++;
	w->now.interval_ns = now_ns - (w->last_ns ? w->last_ns : w->l->started_ns);
	w->last_ns = now_ns;
	watch_processes_begin(w);
	r = live_map_each(w->ended_fd, sizeof(uint32_t), sizeof(struct live_ended), watch_ended, w);
	if (!r)
		r = watch_look(w, w->l->seen, live_seen_used(w->l), now_ns);
	if (!r)
		r = watch_processes_end(w);
	if (!r)
		r = watch_locks(w);
	if (!r)
		r = watch_pipes(w);
	if (!r)
		r = watch_calls(w);
	if (!r)
		r = migrations(w);
	if (!r)
		r = watch_prune(w);
	if (r)
		return err_sys(err, -r, "cannot read what was counted");
	head(w, now_ns, cpu_ns);
	*now = &w->now;
	return 0;
}
