/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: a table for each kind of object, a row for each member that is read,
 * which says of what type it is and where in the struct it goes. One loop (sumread.c)
 * reads objects by them; what is no plain value has a function. The members of
 * fmt_json.c that follow from others (means, quantiles, "site", "use") have no row.
 *
 * Members are written in the order of the tables, so the search for a name begins
 * behind the one found last and ends at once.
 */
#include "out/summary_read.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "out/sumread.h"

#define AT SUMREAD_AT
#define ROWS SUMREAD_ROWS
#define END SUMREAD_END

/* --- the head -------------------------------------------------------------- */

static int read_schema(struct sumread *r, void *base)
{
	int e = jread_string(&r->j);

	(void)base;
	if (e || sumread_is(r, SUMMARY_SCHEMA))
		return e;
	e = jread_fail(&r->j, "it is '%.*s', and this tracer reads " SUMMARY_SCHEMA,
		       (int)(r->j.n < 64 ? r->j.n : 64), r->j.s);
	if (r->j.n > 15 && !memcmp(r->j.s, SUMMARY_SCHEMA, 15)) {
		r->err->code = EPROTO;
		err_hint(r->err, "another version of tracer wrote it, and that one's export reads "
			 "it");
	}
	return -r->err->code;
}

/* The array ends with NULL at all times: summary_release goes by that. */
static int add_word(struct sumread *r, void *base)
{
	struct summary *s = base;
	size_t n = 0;
	void *words = s->command;
	int e;

	/* Counting from the start each time would be quadratic: the row is remembered. */
	n = r->place[r->nplace - 1].index++;
	e = sumread_grow(r, &words, n + 1, sizeof(*s->command));
	if (e)
		return e;
	s->command = words;
	s->command[n + 1] = NULL;
	return sumread_copy(r, &s->command[n]);
}

static int read_command(struct sumread *r, void *base)
{
	struct summary *s = base;
	int e = sumread_take(r, sizeof(*s->command));

	if (e)
		return e;
	s->command = calloc(1, sizeof(*s->command));
	return s->command ? sumread_strings(r, s, add_word) : sumread_no_memory(r);
}

static int read_pids(struct sumread *r, void *base)
{
	struct summary *s = base;
	int64_t v;
	int more, e = jread_array(&r->j);

	while (!e && (more = jread_element(&r->j)) > 0) {
		void *pids = s->pids;

		e = sumread_grow(r, &pids, s->npids, sizeof(*s->pids));
		if (e)
			break;
		s->pids = pids;
		e = sumread_narrow(r, 0, INT32_MAX, &v);
		if (!e)
			s->pids[s->npids++] = (pid_t)v;
	}
	return e ? e : more;
}

static int add_path(struct sumread *r, void *base)
{
	struct summary *s = base;
	void *paths = r->f->paths;
	int e = sumread_grow(r, &paths, s->npaths, sizeof(*s->paths));

	if (e)
		return e;
	r->f->paths = paths;
	s->paths = r->f->paths;
	e = sumread_keep(r, &r->f->paths[s->npaths]);
	s->npaths += !e;
	return e;
}

static int read_paths(struct sumread *r, void *base)
{
	return sumread_strings(r, base, add_path);
}

static const struct sumread_member filter_members[] = {
	{ "comm", M_NAME, AT(summary, comm) }, { "cgroup", M_NAME, AT(summary, cgroup) },
	{ "calls", M_NAME, AT(summary, calls) }, { "paths", M_FN, .fn = read_paths },
	END
};

static const struct sumread_member exit_members[] = {
	{ "code", M_INT, AT(summary, exit_code) }, { "signal", M_INT, AT(summary, exit_signal) },
	END
};

static int read_exit(struct sumread *r, void *base)
{
	((struct summary *)base)->has_exit = true;
	return sumread_object(r, exit_members, base);
}

static const char *mode_word(int i)
{
	static const char *const words[] = {
		[SUM_WAIT] = "wait", [SUM_EXACT] = "exact", NULL
	};

	return words[i];
}

static int add_collected(struct sumread *r, void *base)
{
	static const char *const rooms[] = { "syscalls", "threads", "futex", "pipes", "sched" };
	struct summary *s = base;
	unsigned int i;

	for (i = 0; i < sizeof(rooms) / sizeof(*rooms); i++)
		if (sumread_is(r, rooms[i]))
			s->collected |= 1u << i;
	return 0;
}

static int read_collected(struct sumread *r, void *base)
{
	return sumread_strings(r, base, add_collected);
}

static int add_way(struct sumread *r, void *base)
{
	struct summary *s = base;
	void *rows = s->collector;
	int e = sumread_grow(r, &rows, s->ncollector, sizeof(*s->collector));

	if (e)
		return e;
	s->collector = rows;
	e = sumread_keep(r, &s->collector[s->ncollector].name);
	if (!e)
		e = jread_string(&r->j);
	if (!e)
		e = sumread_keep(r, &s->collector[s->ncollector].way);
	s->ncollector += !e;
	return e;
}

static int read_ways(struct sumread *r, void *base)
{
	return sumread_names(r, base, add_way);
}

static const struct sumread_member judged_members[] = {
	{ "rules", M_U32, AT(summary, judged.rules) },
	{ "judged", M_U32, AT(summary, judged.judged) },
	{ "by_mode", M_U32, AT(summary, judged.by_mode) },
	{ "by_collect", M_U32, AT(summary, judged.by_collect) },
	END
};

static int add_evidence(struct sumread *r, void *base)
{
	struct sum_finding *f = base;
	void *rows = f->evidence;
	int e = sumread_grow(r, &rows, f->nevidence, sizeof(*f->evidence));
	struct sum_evidence *row;

	if (e)
		return e;
	f->evidence = rows;
	row = &f->evidence[f->nevidence];
	e = sumread_keep(r, &row->name);
	if (e)
		return e;
	f->nevidence++;
	row->value = NAN;
	return jread_peek(&r->j) == JREAD_NULL ? jread_null(&r->j) : jread_real(&r->j, &row->value);
}

static int read_evidence(struct sumread *r, void *base)
{
	return sumread_names(r, base, add_evidence);
}

static const struct sumread_member finding_members[] = {
	{ "id", M_NAME, true, AT(sum_finding, id) }, { "text", M_STR, AT(sum_finding, text) },
	{ "advice", M_STR, AT(sum_finding, advice) },
	{ "severity", M_REAL, AT(sum_finding, severity) },
	{ "evidence", M_FN, .fn = read_evidence },
	END
};

/* --- threads --------------------------------------------------------------- */

static const char *stage_word(int i)
{
	return i < SUM_STAGES ? sum_stage_name((enum sum_stage)i) : NULL;
}

static const struct sumread_member way_members[] = {
	{ "name", M_NAME, true, AT(sum_way, name) }, { "calls", M_U64, AT(sum_way, calls) },
	{ "total_ns", M_U64, AT(sum_way, total_ns) },
	END
};

static const struct sumread_member stage_members[] = {
	{ "name", M_WORD, true, .at = 0, .word = stage_word },
	{ "count", M_DIST_U64, AT(sumread_dist, count) },
	{ "total_ns", M_DIST_U64, AT(sumread_dist, total) },
	{ "p50_ns", M_DIST_U64, AT(sumread_dist, p50) },
	{ "p99_ns", M_DIST_U64, AT(sumread_dist, p99) },
	{ "max_ns", M_DIST_U64, AT(sumread_dist, max) },
	{ "buckets", .kind = M_BUCKETS },
	END
};

static int read_stages(struct sumread *r, void *base)
{
	struct summary *s = base;
	int stage = 0, more, e = jread_array(&r->j);

	while (!e && (more = jread_element(&r->j)) > 0) {
		memset(&r->dist, 0, sizeof(r->dist));
		e = sumread_object(r, stage_members, &stage);
		if (!e)
			sumread_hist(&r->dist, &s->threads.stage[stage]);
	}
	return e ? e : more;
}

static const struct sumread_member routine_members[] = {
	{ "symbol", M_STR, AT(sum_routine, symbol) }, { "module", M_STR, AT(sum_routine, module) },
	{ "addr", M_HEX, AT(sum_routine, addr) }, { "threads", M_U64, AT(sum_routine, threads) },
	END
};

static const struct sumread_member routines_members[] = {
	{ "by_routine", ROWS(summary, threads.routine, threads.nroutine, sum_routine,
			     routine_members) },
	END
};

static int read_routines(struct sumread *r, void *base)
{
	((struct summary *)base)->threads.routines_asked = true;
	return sumread_object(r, routines_members, base);
}

/* "NAME": ns */
static int add_stage(struct sumread *r, void *base)
{
	struct sum_thread *t = base;
	int i;

	for (i = 0; i < SUM_STAGES; i++)
		if (sumread_is(r, sum_stage_name((enum sum_stage)i)))
			return jread_u64(&r->j, &t->stage_ns[i]);
	return jread_skip(&r->j);
}

static int read_thread_stages(struct sumread *r, void *base)
{
	return sumread_names(r, base, add_stage);
}

/* Until all is read it is the number of a string that is kept: see find_routines. */
static int read_routine(struct sumread *r, void *base)
{
	struct sum_thread *t = base;
	const char *name;
	int e = jread_string(&r->j);

	if (!e)
		e = sumread_keep(r, &name);
	if (!e)
		t->routine = (uint32_t)r->f->nkept;
	return e;
}

static const struct sumread_member thread_members[] = {
	{ "tid", M_INT, true, AT(sum_thread, tid) }, { "tgid", M_INT, AT(sum_thread, tgid) },
	{ "comm", M_COMM, AT(sum_thread, comm) }, { "parent", M_INT, AT(sum_thread, parent) },
	{ "process", M_BOOL, AT(sum_thread, is_process) },
	{ "created", M_BOOL, AT(sum_thread, created) },
	{ "exited", M_BOOL, AT(sum_thread, exited) },
	{ "start_ns", M_U64, AT(sum_thread, start_ns) },
	{ "lifetime_ns", M_U64, AT(sum_thread, lifetime_ns) },
	{ "cost_ns", M_U64, AT(sum_thread, cost_ns) },
	{ "stages", M_FN, .fn = read_thread_stages }, { "routine", M_FN, .fn = read_routine },
	{ "calls", M_U64, AT(sum_thread, calls) },
	{ "futex_calls", M_U64, AT(sum_thread, futex_calls) },
	{ "futex_wait_ns", M_U64, AT(sum_thread, futex_wait_ns) },
	{ "oncpu_ns", M_U64, AT(sum_thread, oncpu_ns) },
	{ "runnable_ns", M_U64, AT(sum_thread, runnable_ns) },
	{ "blocked_ns", M_U64, AT(sum_thread, blocked_ns) },
	{ "voluntary", M_U64, AT(sum_thread, voluntary) },
	{ "involuntary", M_U64, AT(sum_thread, involuntary) },
	END
};

static const struct sumread_member threads_members[] = {
	{ "created", M_U64, AT(summary, threads.created) },
	{ "exited", M_U64, AT(summary, threads.exited) },
	{ "processes_created", M_U64, AT(summary, threads.processes_created) },
	{ "processes_exited", M_U64, AT(summary, threads.processes_exited) },
	{ "live_peak", M_U64, AT(summary, threads.live_peak) },
	{ "cost_ns", M_DIST, AT(summary, threads.cost) },
	{ "lifetime_ns", M_DIST, AT(summary, threads.lifetime) },
	{ "stages", M_FN, .fn = read_stages },
	{ "calls_on_the_way", ROWS(summary, threads.way, threads.nway, sum_way, way_members) },
	{ "routines", M_FN, .fn = read_routines },
	{ "by_thread_cap", M_U64, AT(summary, threads.by_thread_cap) },
	{ "by_thread_cut", M_U64, AT(summary, threads.by_thread_cut) },
	{ "by_thread", ROWS(summary, threads.by_thread, threads.nby_thread, sum_thread,
			    thread_members) },
	END
};

#define TAPE_U64_AT(field) { #field, M_U64, AT(sum_tape, stats.field) }
static const struct sumread_member tape_members[] = {
	{ "pid", M_INT, true, AT(sum_tape, pid) }, { "comm", M_COMM, AT(sum_tape, comm) },
	TAPE_U64_AT(bytes_in), TAPE_U64_AT(bytes_out), TAPE_U64_AT(records), TAPE_U64_AT(chunks),
	TAPE_U64_AT(chunk_bytes), TAPE_U64_AT(batches), TAPE_U64_AT(reads), TAPE_U64_AT(writes),
	TAPE_U64_AT(blocked_in_ns), TAPE_U64_AT(blocked_command_ns), TAPE_U64_AT(blocked_out_ns),
	TAPE_U64_AT(commands), TAPE_U64_AT(spilled_bytes),
	END
};

static const struct sumread_member summary_members[] = {
	{ "schema", M_FN, true, .fn = read_schema },
	{ "tracer", M_NAME, AT(summary, tracer_version) },
	{ "command", M_FN, .fn = read_command }, { "pids", M_FN, .fn = read_pids },
	{ "filter", M_OBJECT, .of = filter_members }, { "exit", M_FN, .fn = read_exit },
	{ "mode", M_WORD, true, AT(summary, mode), .word = mode_word },
	{ "collected", M_FN, .fn = read_collected }, { "ways", M_FN, .fn = read_ways },
	{ "started_ns", M_U64, AT(summary, started_realtime_ns) },
	{ "duration_ns", M_U64, AT(summary, duration_ns) },
	{ "still_running", M_U64, AT(summary, still_running) },
	{ "compat_calls", M_U64, AT(summary, compat_calls) },
	{ "hidden_programs", M_U64, AT(summary, hidden) },
	{ "mmap_bytes", M_U64, AT(summary, mmap_bytes) },
	{ "judged", M_OBJECT, .of = judged_members },
	{ "findings", ROWS(summary, finding, nfinding, sum_finding, finding_members) },
	{ "threads", M_OBJECT, .of = threads_members },
	{ "locks", ROWS(summary, lock, nlock, sum_lock, sumread_lock) },
	{ "futex", M_OBJECT, .of = sumread_futex },
	{ "pipes", ROWS(summary, pipe, npipe, sum_pipe, sumread_pipe) },
	{ "tapes", ROWS(summary, tape, ntape, sum_tape, tape_members) },
	{ "syscalls", ROWS(summary, syscall, nsyscall, sum_syscall, sumread_syscall),
	  .done = sumread_syscall_done },
	{ "sched", M_OBJECT, .of = sumread_sched },
	{ "overhead", M_OBJECT, .of = sumread_overhead },
	{ "loss", M_OBJECT, .of = sumread_loss },
	END
};

/* --- when all is read ------------------------------------------------------ */

static int by_symbol(const void *a, const void *b)
{
	const struct sum_routine *x = *(const struct sum_routine *const *)a;
	const struct sum_routine *y = *(const struct sum_routine *const *)b;

	return strcmp(x->symbol, y->symbol);
}

/* Threads have the name of what they began with; here it becomes its index. */
static int find_routines(struct sumread *r)
{
	struct sum_threads *all = &r->f->s.threads;
	const struct sum_routine **named = calloc(all->nroutine + 1, sizeof(*named));
	size_t i, n = 0;

	if (!named)
		return sumread_no_memory(r);
	for (i = 0; i < all->nroutine; i++)
		if (all->routine[i].symbol)
			named[n++] = &all->routine[i];
	qsort(named, n, sizeof(*named), by_symbol);
	for (i = 0; i < all->nby_thread; i++) {
		struct sum_thread *t = &all->by_thread[i];
		const struct sum_routine key = {
			.symbol = t->routine ? r->f->kept[t->routine - 1] : NULL
		}, *at = &key, **found;

		if (!t->routine)
			continue;
		found = bsearch(&at, named, n, sizeof(*named), by_symbol);
		t->routine = found ? (uint32_t)(*found - all->routine) + 1 : 0;
	}
	free(named);
	return 0;
}

static int finish(struct sumread *r)
{
	struct summary *s = &r->f->s;
	size_t i;

	/* null because wait mode does not see it, not because it was no number. */
	for (i = 0; i < s->npipe && s->mode == SUM_WAIT; i++)
		s->pipe[i].futex_per_chunk = 0;
	return find_routines(r);
}

/* "line 12, column 5: threads.by_thread[3].tid: …" */
static void say_where(struct sumread *r)
{
	struct buf path = BUF_INIT;
	size_t i, line, column;

	for (i = 0; i < r->nplace; i++) {
		if (r->place[i].name)
			buf_addf(&path, "%s%s", i ? "." : "", r->place[i].name);
		else
			buf_addf(&path, "[%zu]", r->place[i].index);
	}
	jread_where(&r->j, &line, &column);
	if (path.len && !path.failed)
		err_prefix(r->err, "%s", path.data);
	err_prefix(r->err, "line %zu, column %zu", line, column);
	buf_release(&path);
}

int summary_read(struct summary_file *f, const char *text, size_t len, struct err *err)
{
	struct sumread *r = calloc(1, sizeof(*r));
	int e;

	memset(f, 0, sizeof(*f));
	if (!r)
		return err_sys(err, ENOMEM, "cannot read the summary");
	r->f = f;
	r->err = err;
	jread_init(&r->j, text, len, err);
	e = sumread_object(r, summary_members, &f->s);
	if (!e)
		e = jread_end(&r->j);
	if (!e)
		e = finish(r);
	if (e) {
		say_where(r);
		summary_file_release(f);
	}
	jread_release(&r->j);
	free(r);
	return e;
}

void summary_file_release(struct summary_file *f)
{
	size_t i;

	summary_release(&f->s);
	for (i = 0; i < f->nkept; i++)
		free(f->kept[i]);
	free(f->kept);
	free(f->paths);
	memset(f, 0, sizeof(*f));
}
