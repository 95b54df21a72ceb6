/* SPDX-License-Identifier: MIT */
/* Schema tracer.top/1: docs/formats/top-json.md. Names stay, others may join them. */
#include <errno.h>
#include <stdlib.h>

#include "out/jsonsum.h"
#include "out/now_cols.h"

/* @known false: null, as 0 would be a claim. */
static void put_count(struct json *j, bool known, const char *key, struct now_count c)
{
	if (!known) {
		json_null(j, key);
		return;
	}
	json_object(j, key);
	json_u64(j, "total", c.total);
	json_u64(j, "step", c.step);
	json_end(j);
}

/* A quantile of nothing is not 0. */
static void put_known(struct json *j, const char *key, uint64_t v)
{
	jsonsum_exact(j, v != 0, key, v);
}

static void put_thread(struct json *j, const void *row, bool exact)
{
	const struct now_thread *t = row;
	const bool blocked = t->state == NOW_BLOCKED;

	json_i64(j, "tid", t->tid);
	json_i64(j, "tgid", t->tgid);
	json_str(j, "comm", t->comm);
	json_str(j, "state", now_state_name(t->state));
	json_u64(j, "state_ns", t->state_ns);
	json_str(j, "wait", blocked ? t->wait : NULL);
	if (blocked && t->lock_addr)
		json_hex(j, "lock", t->lock_addr);
	else
		json_null(j, "lock");
	json_u64(j, "space", t->space);
	json_u64(j, "age_ns", t->age_ns);
	put_count(j, true, "cpu_ns", t->cpu_ns);
	put_count(j, true, "runnable_ns", t->runnable_ns);
	put_count(j, true, "blocked_ns", t->blocked_ns);
	put_count(j, true, "lock_ns", t->lock_ns);
	put_count(j, true, "switches", t->switches);
	put_count(j, exact, "calls", t->calls);
}

static void put_process(struct json *j, const void *row, bool exact)
{
	const struct now_process *p = row;

	json_i64(j, "tgid", p->tgid);
	json_str(j, "comm", p->comm);
	json_u64(j, "threads", p->threads);
	json_u64(j, "running", p->running);
	json_u64(j, "runnable", p->runnable);
	json_u64(j, "blocked", p->blocked);
	json_u64(j, "age_ns", p->age_ns);
	put_count(j, true, "born", p->born);
	put_count(j, true, "ended", p->ended);
	put_count(j, true, "cpu_ns", p->cpu_ns);
	put_count(j, true, "runnable_ns", p->runnable_ns);
	put_count(j, true, "blocked_ns", p->blocked_ns);
	put_count(j, true, "lock_ns", p->lock_ns);
	put_count(j, true, "switches", p->switches);
	put_count(j, exact, "calls", p->calls);
}

static void put_lock(struct json *j, const void *row, bool exact)
{
	const struct now_lock *l = row;

	json_hex(j, "addr", l->addr);
	json_u64(j, "space", l->space);
	json_str(j, "symbol", l->symbol);
	json_str(j, "module", l->module);
	if (l->module_offset)
		json_hex(j, "module_offset", l->module_offset);
	else
		json_null(j, "module_offset");
	json_str(j, "kind", sum_lock_kind_name(l->kind));
	json_i64(j, "tgid", l->tgid);
	json_str(j, "comm", l->comm);
	json_u64(j, "waiting", l->waiting);
	put_count(j, true, "waits", l->waits);
	put_count(j, exact, "timeouts", l->timeouts);
	put_count(j, exact, "wakes", l->wakes);
	put_count(j, exact, "wasted_wakes", l->wasted_wakes);
	put_count(j, true, "wait_ns", l->wait_ns);
	put_known(j, "p50_ns", l->p50_ns);
	put_known(j, "p99_ns", l->p99_ns);
	put_known(j, "max_ns", l->max_ns);
}

static void put_ends(struct json *j, const char *key, const struct now_pipe_end *end, size_t n,
		     bool exact)
{
	size_t i;

	json_array(j, key);
	for (i = 0; i < n; i++) {
		json_object(j, NULL);
		json_i64(j, "tid", end[i].tid);
		json_i64(j, "tgid", end[i].tgid);
		json_str(j, "comm", end[i].comm);
		put_count(j, exact, "chunks", end[i].chunks);
		put_count(j, exact, "bytes", end[i].bytes);
		put_count(j, true, "blocked", end[i].blocked);
		put_count(j, true, "blocked_ns", end[i].blocked_ns);
		json_end(j);
	}
	json_end(j);
}

static void put_pipe(struct json *j, const void *row, bool exact)
{
	const struct now_pipe *p = row;

	json_u64(j, "id", p->number);
	json_str(j, "kind", sum_pipe_kind_name(p->kind));
	json_u64(j, "inode", p->inode);
	put_count(j, exact, "chunks_written", p->chunks_written);
	put_count(j, exact, "chunks_read", p->chunks_read);
	put_count(j, exact, "bytes", p->bytes);
	put_count(j, exact, "bytes_read", p->bytes_read);
	put_count(j, true, "writer_blocked_ns", p->writer_blocked_ns);
	put_count(j, true, "reader_blocked_ns", p->reader_blocked_ns);
	put_ends(j, "writers", p->writer, p->nwriter, exact);
	put_ends(j, "readers", p->reader, p->nreader, exact);
}

static void put_call(struct json *j, const void *row, bool exact)
{
	const struct now_call *c = row;

	json_str(j, "name", c->name);
	json_i64(j, "nr", c->nr);
	put_count(j, true, "calls", c->calls);
	put_count(j, exact, "errors", c->errors);
	put_count(j, true, "wall_ns", c->wall_ns);
	put_count(j, true, "blocked", c->blocked);
	put_count(j, true, "blocked_ns", c->blocked_ns);
	json_u64(j, "inside", c->inside);
	put_known(j, "p50_ns", c->p50_ns);
	put_known(j, "p99_ns", c->p99_ns);
	put_known(j, "max_ns", c->max_ns);
}

static void (*const put_row[NOW_TABS])(struct json *j, const void *row, bool exact) = {
	[NOW_THREADS] = put_thread, [NOW_LOCKS] = put_lock, [NOW_PIPES] = put_pipe,
	[NOW_CALLS] = put_call, [NOW_PROCESSES] = put_process,
};

/* The rows that stand first on the screen, in its order. */
static int put_table(struct json *j, const struct now *n, enum now_tab which, size_t most)
{
	const struct now_tab_desc *tab = &now_tabs[which];
	const struct now_view view = { .now = n };
	size_t rows, i, shown;
	const char *base = tab->rows(n, &rows);
	const void **row = calloc(rows + 1, sizeof(*row));

	if (!row)
		return -ENOMEM;
	for (i = 0; i < rows; i++)
		row[i] = base + i * tab->row_bytes;
	shown = most && most < rows ? most : rows;
	now_sort(&view, tab, tab->sort, false, row, rows, shown);
	json_array(j, tab->name);
	for (i = 0; i < shown; i++) {
		json_object(j, NULL);
		put_row[which](j, row[i], n->mode == SUM_EXACT);
		json_end(j);
	}
	json_end(j);
	free(row);
	return 0;
}

static void put_head(struct json *j, const struct now *n)
{
	size_t rows, i;

	json_str(j, "schema", NOW_SCHEMA);
	json_u64(j, "tick", n->tick);
	json_u64(j, "realtime_ns", n->realtime_ns);
	json_u64(j, "since_ns", n->since_ns);
	json_u64(j, "interval_ns", n->interval_ns);
	jsonsum_mode(j, n->mode, n->collected);
	json_u64(j, "cpus", n->cpus);
	put_count(j, true, "switches", n->switches);
	put_count(j, true, "migrations", n->migrations);
	put_count(j, true, "born", n->born);
	put_count(j, true, "ended", n->ended);
	put_count(j, true, "cpu_ns", n->cpu_ns);
	put_count(j, true, "runnable_ns", n->runnable_ns);
	json_object(j, "rows");
	for (i = 0; i < NOW_TABS; i++) {
		now_tabs[i].rows(n, &rows);
		json_u64(j, now_tabs[i].name, rows);
	}
	json_end(j);
	json_u64(j, "forgotten", n->forgotten);
}

int now_json(const struct now *n, size_t rows, struct out_stream *o, struct err *err)
{
	struct json j;
	size_t i;
	int r = 0;

	json_init_line(&j, o);
	json_object(&j, NULL);
	put_head(&j, n);
	for (i = 0; i < NOW_TABS && !r; i++)
		r = put_table(&j, n, (enum now_tab)i, rows);
	put_count(&j, true, "own_cpu_ns", n->own_cpu_ns);
	json_u64(&j, "refresh_cpu_ns", n->refresh_cpu_ns);
	jsonsum_overhead(&j, &n->overhead, false);
	jsonsum_loss(&j, &n->loss);
	json_end(&j);
	r = json_finish(&j) || r ? -ENOMEM : 0;
	return r ? err_sys(err, ENOMEM, "cannot print the figures") : 0;
}
