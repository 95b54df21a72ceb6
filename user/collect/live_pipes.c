/* SPDX-License-Identifier: MIT */
/* Ends of pipes from the map, put together as edges. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "collect/live_state.h"
#include "collect/watch_state.h"

/* .ahead: .sb is of the socket that writes. */
struct pipe_key { uint64_t id; uint32_t sb; uint16_t kind, ahead; };

/* An end, kept until all those that know more have been seen. */
struct early_end {
	struct live_end_key key;
	struct live_end value;
};

struct pipe_fill {
	struct live *l;
	uint64_t now_ns;
	struct summary *s;
	struct map *by_id;	/* struct pipe_key → size_t, index of a pipe */
	size_t cap;
	struct early_end *early;	/* written before the connection was accepted */
	size_t nearly, early_cap;
};

static enum sum_pipe_kind kind_of(const struct live_end_key *k, const struct live_end *v)
{
	if (k->kind == END_SOCKET)
		return SUM_SOCKETPAIR;
	if (k->kind == END_EVENTFD)
		return SUM_EVENTFD;
	return v->fifo ? SUM_FIFO : SUM_PIPE;
}

static struct sum_pipe *pipe_for(struct pipe_fill *f, const struct live_end_key *k,
				 const struct live_end *v)
{
	struct pipe_key key = { .id = k->id, .sb = k->sb, .kind = k->kind,
				.ahead = (k->dir & END_AHEAD) != 0 };
	size_t *known = map_get(f->by_id, &key), cap;
	struct sum_pipe *p;

	if (known)
		return &f->s->pipe[*known];
	if (f->s->npipe == f->cap) {
		cap = f->cap ? f->cap * 2 : 16;
		p = realloc(f->s->pipe, cap * sizeof(*p));
		if (!p)
			return NULL;
		f->s->pipe = p;
		f->cap = cap;
	}
	known = map_put(f->by_id, &key);
	if (!known)
		return NULL;
	*known = f->s->npipe;
	p = &f->s->pipe[f->s->npipe++];
	memset(p, 0, sizeof(*p));
	p->kind = kind_of(k, v);
	p->inode = k->kind == END_SOCKET ? k->sb : v->inode;
	p->id = k->id;
	p->sb = k->sb;
	return p;
}

/* The row of thread @k->tid at one side of @p; a thread that wrote early may have one. */
static struct sum_pipe_end *thread_at(struct pipe_fill *f, struct sum_pipe *p,
				      const struct live_end_key *k, const struct live_end *v)
{
	struct sum_pipe_end **list = k->dir & END_WRITE ? &p->writer : &p->reader, *e;
	size_t *n = k->dir & END_WRITE ? &p->nwriter : &p->nreader, i;

	for (i = 0; k->dir & END_AHEAD && i < *n; i++)
		if ((*list)[i].tid == (pid_t)k->tid)
			return &(*list)[i];
	/* Doubled when full: the length is a power of two just then. */
	if (!(*n & (*n - 1))) {
		e = realloc(*list, (*n ? *n * 2 : 1) * sizeof(*e));
		if (!e)
			return NULL;
		*list = e;
	}
	e = *list + (*n)++;
	memset(e, 0, sizeof(*e));
	e->tid = (pid_t)k->tid;
	e->tgid = (pid_t)v->tgid;
	strcpy(e->comm, live_comm(f->l, e->tid, NULL));
	return e;
}

static int add_end(struct pipe_fill *f, struct sum_pipe *p, const struct live_end_key *k,
		   const struct live_end *v)
{
	struct sum_pipe_end *e = thread_at(f, p, k, v);

	if (!e)
		return -ENOMEM;
	e->chunks += v->chunks;
	e->bytes += v->bytes;
	e->blocked_ns += v->blocked_ns;
	if (v->since_ns && f->l->watch)
		e->blocked_ns += watch_still_ns(f->l->watch, e->tid, v->since_ns, f->now_ns);
	e->blocked += v->blocked;
	e->eagain += v->eagain;
	e->futex_calls += v->futex_calls;
	e->chunk_bytes.sum += v->bytes;
	if (e->chunk_bytes.max < v->chunk_max)
		e->chunk_bytes.max = v->chunk_max;
	hist_merge_counts(&e->chunk_bytes, v->hist, HIST_BUCKETS);
	return 0;
}

static int keep_early(struct pipe_fill *f, const struct live_end_key *k, const struct live_end *v)
{
	size_t cap = f->early_cap ? f->early_cap * 2 : 16;
	struct early_end *e;

	if (f->nearly == f->early_cap) {
		e = realloc(f->early, cap * sizeof(*e));
		if (!e)
			return -ENOMEM;
		f->early = e;
		f->early_cap = cap;
	}
	f->early[f->nearly++] = (struct early_end){ *k, *v };
	return 0;
}

/* Whoever knows both sockets of a connection tells those who wrote before it was accepted. */
static int note_sender(struct pipe_fill *f, const struct sum_pipe *p, const struct live_end_key *k,
		       const struct live_end *v)
{
	struct pipe_key key = { .id = k->id, .sb = (uint32_t)v->inode, .kind = k->kind,
				.ahead = 1 };
	size_t *at;

	if (k->kind != END_SOCKET || !v->inode)
		return 0;
	at = map_put(f->by_id, &key);
	if (!at)
		return -ENOMEM;
	*at = (size_t)(p - f->s->pipe);
	return 0;
}

static int end_row(void *ctx, const void *key, const void *value)
{
	struct pipe_fill *f = ctx;
	const struct live_end_key *k = key;
	const struct live_end *v = value;
	struct sum_pipe *p;

	if (k->dir & END_CALIB)
		return 0;
	if (k->dir & END_AHEAD)
		return keep_early(f, k, v);
	p = pipe_for(f, k, v);
	if (!p)
		return -ENOMEM;
	if (v->fifo)
		p->kind = SUM_FIFO;
	return note_sender(f, p, k, v) ? -ENOMEM : add_end(f, p, k, v);
}

static int early_rows(struct pipe_fill *f)
{
	struct sum_pipe *p;
	size_t i;

	for (i = 0; i < f->nearly; i++) {
		p = pipe_for(f, &f->early[i].key, &f->early[i].value);
		if (!p || add_end(f, p, &f->early[i].key, &f->early[i].value))
			return -ENOMEM;
	}
	return 0;
}

static int by_bytes(const void *a, const void *b)
{
	const struct sum_pipe_end *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	return x->blocked_ns < y->blocked_ns ? 1 : x->blocked_ns > y->blocked_ns ? -1 : 0;
}

static int by_traffic(const void *a, const void *b)
{
	const struct sum_pipe *x = a, *y = b;
	uint64_t bx = x->bytes > x->bytes_read ? x->bytes : x->bytes_read;
	uint64_t by = y->bytes > y->bytes_read ? y->bytes : y->bytes_read;
	uint64_t tx = x->writer_blocked_ns + x->reader_blocked_ns;
	uint64_t ty = y->writer_blocked_ns + y->reader_blocked_ns;

	if (bx != by)
		return bx < by ? 1 : -1;
	return tx < ty ? 1 : tx > ty ? -1 : 0;
}

/*
 * Who waits says who is slow: writers that stand still against a full pipe mean
 * that the reader's stage is the bottleneck. It takes a twofold difference and
 * a hundredth of the trace to say so.
 */
static enum sum_bottleneck bottleneck(const struct sum_pipe *p, uint64_t duration_ns)
{
	uint64_t w = p->writer_blocked_ns, r = p->reader_blocked_ns;

	if (w > 2 * r && w > duration_ns / 100)
		return SUM_READER;
	if (r > 2 * w && r > duration_ns / 100)
		return SUM_WRITER;
	return SUM_NEITHER;
}

static void finish_pipe(struct sum_pipe *p, uint64_t duration_ns)
{
	const struct sum_pipe_end *ends;
	uint64_t chunks;
	size_t i, n;

	for (i = 0; i < p->nwriter; i++) {
		p->chunks_written += p->writer[i].chunks;
		p->bytes += p->writer[i].bytes;
		p->writer_blocked_ns += p->writer[i].blocked_ns;
		p->futex_calls += p->writer[i].futex_calls;
	}
	for (i = 0; i < p->nreader; i++) {
		p->chunks_read += p->reader[i].chunks;
		p->bytes_read += p->reader[i].bytes;
		p->reader_blocked_ns += p->reader[i].blocked_ns;
		p->futex_calls += p->reader[i].futex_calls;
	}
	ends = p->chunks_written ? p->writer : p->reader;
	n = p->chunks_written ? p->nwriter : p->nreader;
	for (i = 0; i < n; i++)
		hist_merge(&p->chunk_bytes, &ends[i].chunk_bytes);
	chunks = p->chunks_written ? p->chunks_written : p->chunks_read;
	p->futex_per_chunk = chunks ? (double)p->futex_calls / (double)chunks : 0;
	p->bottleneck = bottleneck(p, duration_ns);
	if (p->nwriter)
		qsort(p->writer, p->nwriter, sizeof(*p->writer), by_bytes);
	if (p->nreader)
		qsort(p->reader, p->nreader, sizeof(*p->reader), by_bytes);
}

/* Ends that were only looked at (a descriptor polled, a read that failed) are no edge. */
static bool is_idle(const struct sum_pipe *p)
{
	return !p->chunks_written && !p->chunks_read && !p->writer_blocked_ns &&
	       !p->reader_blocked_ns;
}

static void drop_idle(struct summary *s)
{
	size_t i, kept = 0;

	for (i = 0; i < s->npipe; i++) {
		if (is_idle(&s->pipe[i])) {
			free(s->pipe[i].writer);
			free(s->pipe[i].reader);
		} else {
			s->pipe[kept++] = s->pipe[i];
		}
	}
	s->npipe = kept;
}

int live_fill_pipes(struct live *l, struct summary *s)
{
	struct pipe_fill f = { .l = l, .s = s, .now_ns = clock_mono_ns() };
	size_t i;
	int r;

	f.by_id = map_new(sizeof(struct pipe_key), sizeof(size_t));
	if (!f.by_id)
		return -ENOMEM;
	r = live_map_each(live_map_fd(l, "ends"), sizeof(struct live_end_key),
			  sizeof(struct live_end), end_row, &f);
	if (!r)
		r = early_rows(&f);
	free(f.early);
	map_free(f.by_id);
	for (i = 0; i < s->npipe; i++)
		finish_pipe(&s->pipe[i], s->duration_ns);
	drop_idle(s);
	if (s->npipe)
		qsort(s->pipe, s->npipe, sizeof(*s->pipe), by_traffic);
	return r;
}
