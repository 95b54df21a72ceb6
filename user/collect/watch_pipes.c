/* SPDX-License-Identifier: MIT */
/* Edges as a summary has them, each beside what it was the last time. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collect/watch_state.h"

static struct watch_pipe_key key_of(uint64_t id, uint32_t sb, enum sum_pipe_kind kind)
{
	/* A FIFO and a pipe are told apart only by what was seen so far. */
	return (struct watch_pipe_key){ .id = id, .sb = sb,
					.kind = kind == SUM_FIFO ? SUM_PIPE : (uint16_t)kind };
}

#define ENDS_FEW 32

/* tid → size_t, index of an end. Of few, or without memory, there is none. */
static struct map *index_ends(const struct now_pipe_end *end, size_t n)
{
	struct map *m = n > ENDS_FEW ? map_new(sizeof(pid_t), sizeof(size_t)) : NULL;
	size_t i, *at;

	for (i = 0; m && i < n; i++) {
		at = map_put(m, &end[i].tid);
		if (!at) {
			map_free(m);
			return NULL;
		}
		*at = i;
	}
	return m;
}

static const struct now_pipe_end *end_before(const struct now_pipe_end *end, size_t n,
					     const struct map *index, pid_t tid)
{
	const size_t *at = index ? map_get(index, &tid) : NULL;
	size_t i;

	if (index)
		return at ? &end[*at] : NULL;
	for (i = 0; i < n; i++)
		if (end[i].tid == tid)
			return &end[i];
	return NULL;
}

static struct now_pipe_end *take_ends(const struct sum_pipe_end *from, size_t n,
				      const struct now_pipe_end *was, size_t nwas)
{
	struct now_pipe_end *to = n ? calloc(n, sizeof(*to)) : NULL;
	struct map *index = index_ends(was, nwas);
	const struct now_pipe_end *before;
	size_t i;

	for (i = 0; to && i < n; i++) {
		before = end_before(was, nwas, index, from[i].tid);
		if (before)
			to[i] = *before;
		to[i].tid = from[i].tid;
		to[i].tgid = from[i].tgid;
		if (from[i].comm[0])
			memcpy(to[i].comm, from[i].comm, sizeof(to[i].comm));
		watch_count(&to[i].chunks, from[i].chunks);
		watch_count(&to[i].bytes, from[i].bytes);
		watch_count(&to[i].blocked, from[i].blocked);
		watch_count(&to[i].blocked_ns, from[i].blocked_ns);
	}
	map_free(index);
	return to;
}

static void add_ends(struct now_count *chunks, struct now_count *bytes, struct now_count *blocked,
		     const struct now_pipe_end *end, size_t n)
{
	size_t i;

	chunks->step = bytes->step = blocked->step = 0;
	for (i = 0; i < n; i++) {
		chunks->step += end[i].chunks.step;
		bytes->step += end[i].bytes.step;
		blocked->step += end[i].blocked_ns.step;
	}
	chunks->total += chunks->step;
	bytes->total += bytes->step;
	blocked->total += blocked->step;
}

static int take_pipe(struct watch *w, struct now_pipe *to, struct watch_pipe_row *row,
		     const struct sum_pipe *from)
{
	struct watch_pipe_key key = key_of(from->id, from->sb, from->kind);
	const size_t *at = map_get(w->pipe_by_key, &key);
	const struct now_pipe *was = at ? &w->now.pipe[*at] : NULL;
	float of;

	memset(to, 0, sizeof(*to));
	row->active = w->now.tick;
	if (was) {
		*to = *was;
		row->active = w->pipe_row[*at].active;
	}
	to->id = from->id;
	to->sb = from->sb;
	if (!was)
		to->number = ++w->pipe_number;
	to->kind = from->kind;
	to->inode = from->inode;
	to->nwriter = from->nwriter;
	to->nreader = from->nreader;
	to->writer = take_ends(from->writer, from->nwriter, was ? was->writer : NULL,
			       was ? was->nwriter : 0);
	to->reader = take_ends(from->reader, from->nreader, was ? was->reader : NULL,
			       was ? was->nreader : 0);
	if ((from->nwriter && !to->writer) || (from->nreader && !to->reader)) {
		free(to->writer);
		free(to->reader);
		return -ENOMEM;
	}
	add_ends(&to->chunks_written, &to->bytes, &to->writer_blocked_ns, to->writer,
		 to->nwriter);
	add_ends(&to->chunks_read, &to->bytes_read, &to->reader_blocked_ns, to->reader,
		 to->nreader);
	if (to->chunks_written.step || to->chunks_read.step || to->writer_blocked_ns.step ||
	    to->reader_blocked_ns.step)
		row->active = w->now.tick;
	of = w->now.interval_ns ? (float)w->now.interval_ns : 1;
	to->past[w->now.tick % NOW_PAST] = w->now.mode == SUM_EXACT ?
		(float)(to->bytes.step > to->bytes_read.step ? to->bytes.step :
							       to->bytes_read.step) * 1e9f / of :
		(float)(to->writer_blocked_ns.step + to->reader_blocked_ns.step) / of;
	return 0;
}

static void free_rows(struct now_pipe *pipe, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		free(pipe[i].writer);
		free(pipe[i].reader);
	}
	free(pipe);
}

static int index_pipes(struct watch *w)
{
	size_t i, *at;

	map_clear(w->pipe_by_key);
	for (i = 0; i < w->now.npipe; i++) {
		struct watch_pipe_key key = key_of(w->now.pipe[i].id, w->now.pipe[i].sb,
						   w->now.pipe[i].kind);

		at = map_put(w->pipe_by_key, &key);
		if (!at)
			return -ENOMEM;
		*at = i;
	}
	return 0;
}

int watch_take_pipes(struct watch *w, const struct summary *s)
{
	struct now_pipe *pipe = calloc(s->npipe + 1, sizeof(*pipe));
	struct watch_pipe_row *row = calloc(s->npipe + 1, sizeof(*row));
	size_t n = 0;
	int r = pipe && row ? 0 : -ENOMEM;

	while (!r && n < s->npipe) {
		r = take_pipe(w, &pipe[n], &row[n], &s->pipe[n]);
		n += !r;
	}
	if (r) {
		free_rows(pipe, n);
		free(row);
		return r;
	}
	free_rows(w->now.pipe, w->now.npipe);
	free(w->pipe_row);
	w->now.pipe = pipe;
	w->now.npipe = n;
	w->pipe_row = row;
	return index_pipes(w);
}

int watch_pipes(struct watch *w)
{
	struct summary s;
	int r;

	summary_init(&s);
	s.duration_ns = w->now.since_ns;
	r = live_fill_pipes(w->l, &s);
	if (!r)
		r = watch_take_pipes(w, &s);
	summary_release(&s);
	return r;
}

bool watch_pipe_idle(const struct watch *w, const struct live_end_key *key, uint64_t ticks)
{
	static const enum sum_pipe_kind kinds[] = {
		[END_PIPE] = SUM_PIPE, [END_SOCKET] = SUM_SOCKETPAIR, [END_EVENTFD] = SUM_EVENTFD,
	};
	struct watch_pipe_key k;
	const size_t *at;

	if (key->kind < END_PIPE || key->kind > END_EVENTFD)
		return false;
	k = key_of(key->id, key->sb, kinds[key->kind]);
	at = map_get(w->pipe_by_key, &k);
	return !at || w->now.tick - w->pipe_row[*at].active >= ticks;
}

void watch_pipes_free(struct watch *w)
{
	free_rows(w->now.pipe, w->now.npipe);
	free(w->pipe_row);
	map_free(w->pipe_by_key);
}
