/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. A summary has no timeline: of what happened when it knows the threads'
 * lives and what creating and ending them took. That is drawn, as run --trace
 * draws lives: a slice a thread, in it its stages; on its creator's track the
 * mapping of the stack and the clone, with an arrow to the new thread; and how many
 * threads each process had. Slices of a track must nest (out/perfetto.h), so those
 * of a creator are cut to what is free of its track.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/map.h"
#include "out/out.h"
#include "out/perfetto.h"

/* The part of a thread's track that its own stages leave for its creations. */
struct track {
	pid_t tgid;
	uint64_t from, to;
};

/* A thread more, or one less, from then on. */
struct change {
	pid_t tgid;
	int by;
	uint64_t ts_ns;
};

struct drawing {
	const struct sum_threads *threads;
	struct trace_out *t;
	struct map *tracks;	/* tid → struct track of the thread that has it by then */
	struct map *named;	/* tgid → it has a name */
	const struct sum_thread **order;	/* by .start_ns */
	struct change *change;
	uint64_t flows;
};

static uint64_t add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t end_of(const struct sum_thread *t)
{
	return add(t->start_ns, t->lifetime_ns);
}

static int by_start(const void *a, const void *b)
{
	const struct sum_thread *x = *(const struct sum_thread *const *)a;
	const struct sum_thread *y = *(const struct sum_thread *const *)b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	/* A creator comes before what it creates, also where neither was seen to begin. */
	return x->tid == x->tgid && y->tid != y->tgid ? -1 :
	       y->tid == y->tgid && x->tid != x->tgid ? 1 : x < y ? -1 : x > y;
}

static int by_process_and_time(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	if (x->tgid != y->tgid)
		return x->tgid < y->tgid ? -1 : 1;
	if (x->ts_ns != y->ts_ns)
		return x->ts_ns < y->ts_ns ? -1 : 1;
	return (x->by < y->by) - (x->by > y->by);
}

/* A process is called as its first thread, or as one of those that were kept. */
static int name_tracks(struct drawing *d, bool leaders)
{
	size_t i;

	for (i = 0; i < d->threads->nby_thread; i++) {
		const struct sum_thread *t = d->order[i];
		bool *named;

		if ((t->tid == t->tgid) != leaders)
			continue;
		named = map_put(d->named, &t->tgid);
		if (!named)
			return -ENOMEM;
		if (leaders || !*named)
			trace_process(d->t, t->tgid, t->comm);
		*named = true;
		trace_thread(d->t, t->tgid, t->tid, t->comm);
	}
	return 0;
}

/* The piece of @dur_ns from @at on, but not beyond @limit; returns where it ends. */
static uint64_t draw_piece(struct drawing *d, const struct sum_thread *t, const char *name,
			   uint64_t at, uint64_t dur_ns, uint64_t limit)
{
	uint64_t end = add(at, dur_ns);

	if (end > limit)
		end = limit;
	if (end <= at)
		return at;
	trace_slice(d->t, t->tgid, t->tid, "stage", name, at, end - at, NULL, 0);
	return end;
}

/* The thread's life and in it its own stages; *track: what they leave. */
static void draw_life(struct drawing *d, const struct sum_thread *t, struct track *track)
{
	static const enum sum_stage first[] = {
		SUM_STAGE_WAKEUP, SUM_STAGE_START, SUM_STAGE_SETUP, SUM_STAGE_ROUTINE
	};
	const struct trace_arg args[] = {
		{ .key = "calls", .kind = TRACE_U64, .u64 = t->calls },
		{ .key = "futex calls", .kind = TRACE_U64, .u64 = t->futex_calls },
		{ .key = "futex wait ns", .kind = TRACE_U64, .u64 = t->futex_wait_ns },
		{ .key = "on CPU ns", .kind = TRACE_U64, .u64 = t->oncpu_ns },
		{ .key = "waited for a CPU ns", .kind = TRACE_U64, .u64 = t->runnable_ns },
		{ .key = "blocked ns", .kind = TRACE_U64, .u64 = t->blocked_ns },
		{ .key = "voluntary switches", .kind = TRACE_U64, .u64 = t->voluntary },
		{ .key = "involuntary switches", .kind = TRACE_U64, .u64 = t->involuntary },
	};
	uint64_t at = t->start_ns, end = end_of(t), leaves;
	size_t i;

	trace_slice(d->t, t->tgid, t->tid, "thread", t->is_process ? "process" : "thread", at,
		    end - at, args, sizeof(args) / sizeof(*args));
	for (i = 0; i < sizeof(first) / sizeof(*first); i++)
		at = draw_piece(d, t, sum_stage_name(first[i]), at, t->stage_ns[first[i]], end);
	leaves = t->stage_ns[SUM_STAGE_EXIT];
	leaves = leaves < end - at ? end - leaves : at;
	draw_piece(d, t, sum_stage_name(SUM_STAGE_EXIT), leaves, t->stage_ns[SUM_STAGE_EXIT], end);
	*track = (struct track){ .tgid = t->tgid, .from = at, .to = leaves };
}

/* What its creator did for it, right before it could run. */
static void draw_creation(struct drawing *d, const struct sum_thread *t)
{
	struct track *track = map_get(d->tracks, &t->parent);
	const uint64_t clone = t->stage_ns[SUM_STAGE_CLONE], stack = t->stage_ns[SUM_STAGE_STACK];
	uint64_t end = t->start_ns, middle, at;
	struct sum_thread creator;

	if (!t->created || !clone || !track || end > track->to)
		return;
	middle = end > clone ? end - clone : 0;
	at = middle > stack ? middle - stack : 0;
	if (middle < track->from)
		middle = track->from;
	if (at < track->from)
		at = track->from;
	if (middle >= end)
		return;
	creator = (struct sum_thread){ .tgid = track->tgid, .tid = t->parent };
	draw_piece(d, &creator, "map a stack", at, middle - at, middle);
	draw_piece(d, &creator, "clone", middle, end - middle, end);
	trace_flow(d->t, ++d->flows, "stage", "creates",
		   (struct trace_point){ track->tgid, t->parent, middle },
		   (struct trace_point){ t->tgid, t->tid, t->start_ns });
	track->from = end;
}

static int draw_threads(struct drawing *d)
{
	size_t i;

	for (i = 0; i < d->threads->nby_thread && !trace_error(d->t); i++) {
		const struct sum_thread *t = d->order[i];
		struct track *track;

		draw_creation(d, t);
		track = map_put(d->tracks, &t->tid);
		if (!track)
			return -ENOMEM;
		draw_life(d, t, track);
	}
	return 0;
}

static void draw_counts(struct drawing *d)
{
	size_t i, n = 2 * d->threads->nby_thread;
	uint64_t alive = 0;

	for (i = 0; i < n; i += 2) {
		const struct sum_thread *t = d->order[i / 2];

		d->change[i] = (struct change){ t->tgid, 1, t->start_ns };
		d->change[i + 1] = (struct change){ t->tgid, -1, end_of(t) };
	}
	qsort(d->change, n, sizeof(*d->change), by_process_and_time);
	for (i = 0; i < n; i++) {
		const struct change *c = &d->change[i];
		struct trace_arg arg = { .key = "threads", .kind = TRACE_U64 };

		alive += (uint64_t)(int64_t)c->by;
		if (i + 1 < n && c[1].tgid == c->tgid && c[1].ts_ns == c->ts_ns)
			continue;
		arg.u64 = alive;
		trace_counter(d->t, c->tgid, "threads alive", c->ts_ns, &arg, 1);
	}
}

static int draw(struct drawing *d)
{
	size_t i, n = d->threads->nby_thread;
	int r;

	d->tracks = map_new(sizeof(pid_t), sizeof(struct track));
	d->named = map_new(sizeof(pid_t), sizeof(bool));
	d->order = calloc(n + 1, sizeof(*d->order));
	d->change = calloc(2 * n + 1, sizeof(*d->change));
	if (!d->tracks || !d->named || !d->order || !d->change)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		d->order[i] = &d->threads->by_thread[i];
	qsort(d->order, n, sizeof(*d->order), by_start);
	r = name_tracks(d, true);
	if (!r)
		r = name_tracks(d, false);
	if (!r)
		r = draw_threads(d);
	if (!r)
		draw_counts(d);
	return r;
}

static int perfetto_summary(const struct summary *s, const struct out_opts *opts,
			    struct out_stream *o, struct err *err)
{
	struct drawing d = { .threads = &s->threads };
	struct err later;
	int r, closed;

	(void)opts;
	/* The trace has a buffer of its own over the same file. */
	if (out_flush(o))
		return 0;
	d.t = trace_out_new(o->fd, err);
	if (!d.t)
		return -ENOMEM;
	r = draw(&d);
	if (r)
		err_sys(err, -r, "cannot draw the threads");
	closed = trace_close(d.t, r ? &later : err);
	map_free(d.tracks);
	map_free(d.named);
	free(d.order);
	free(d.change);
	return r ? r : closed ? err_prefix(err, "%s", o->name) : 0;
}

const struct out_format out_format_perfetto = { "perfetto", perfetto_summary };
