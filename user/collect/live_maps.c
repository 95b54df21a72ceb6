/* SPDX-License-Identifier: MIT */
/* What BPF counted in its maps, into the summary. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collect/live_state.h"

#define BATCH_BYTES ((size_t)64 << 10)
#define BATCH_LEAST 16

static int by_batch(int fd, size_t key_bytes, size_t value_bytes,
		    int (*fn)(void *, const void *, const void *), void *ctx)
{
	/* A large buffer costs its page faults each time; the bucket of a hash must fit. */
	size_t batch = value_bytes < BATCH_BYTES / 256 ? 256 : BATCH_BYTES / value_bytes;
	char *keys, *values;
	uint64_t cursor = 0;	/* a hash's batch cursor is a bucket number */
	void *in = NULL;
	__u32 n, i;
	int r;

	if (batch < BATCH_LEAST)
		batch = BATCH_LEAST;
	keys = malloc(batch * key_bytes);
	values = malloc(batch * value_bytes);
	r = keys && values ? 0 : -ENOMEM;

	while (!r) {
		n = (__u32)batch;
		r = bpf_map_lookup_batch(fd, in, &cursor, keys, values, &n, NULL);
		if (r && r != -ENOENT)
			break;
		for (i = 0; i < n; i++) {
			int fr = fn(ctx, keys + i * key_bytes, values + i * value_bytes);

			if (fr) {
				r = fr;
				goto out;
			}
		}
		if (r == -ENOENT) {
			r = 0;
			break;
		}
		in = &cursor;
	}
out:
	free(keys);
	free(values);
	return r;
}

static int by_key(int fd, size_t key_bytes, size_t value_bytes,
		  int (*fn)(void *, const void *, const void *), void *ctx)
{
	char *key = calloc(2, key_bytes), *value = malloc(value_bytes);
	int r = key && value ? 0 : -ENOMEM;
	void *prev = NULL;

	while (!r && !bpf_map_get_next_key(fd, prev, key + key_bytes)) {
		memcpy(key, key + key_bytes, key_bytes);
		prev = key;
		if (!bpf_map_lookup_elem(fd, key, value))
			r = fn(ctx, key, value);
	}
	free(key);
	free(value);
	return r;
}

int live_map_each(int fd, size_t key_bytes, size_t value_bytes,
		  int (*fn)(void *ctx, const void *key, const void *value), void *ctx)
{
	int r = by_batch(fd, key_bytes, value_bytes, fn, ctx);

	/* ENOSPC: a bucket longer than the batch; 524 (ENOTSUPP) and others: no batches here. */
	if (r == -ENOSPC || r == -524 || r == -EINVAL || r == -EOPNOTSUPP)
		r = by_key(fd, key_bytes, value_bytes, fn, ctx);
	return r;
}

/* ---- system calls ---- */

struct rows_fill {
	struct summary *s;
	int ncpus;
	bool *called;
};

static int errno_row(void *ctx, const void *key, const void *value)
{
	struct rows_fill *f = ctx;
	const struct live_errno_key *k = key;
	const uint64_t *per_cpu = value;
	struct sum_errno *grown;
	struct sum_syscall *c = NULL;
	uint64_t n = 0;
	size_t i;
	int cpu;

	for (cpu = 0; cpu < f->ncpus; cpu++)
		n += per_cpu[cpu];
	for (i = 0; i < f->s->nsyscall; i++)
		if (f->s->syscall[i].nr == k->nr)
			c = &f->s->syscall[i];
	if (!c || !n)
		return 0;
	grown = realloc(c->by_errno, (c->nby_errno + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	c->by_errno = grown;
	for (i = c->nby_errno++; i > 0 && grown[i - 1].count < n; i--)
		grown[i] = grown[i - 1];
	grown[i] = (struct sum_errno){ .err = k->err, .count = n };
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct sum_syscall *x = a, *y = b;

	if (x->wall.sum != y->wall.sum)
		return x->wall.sum < y->wall.sum ? 1 : -1;
	return x->nr - y->nr;
}

static void add_block(struct summary *s, const char *name, uint64_t count, uint64_t ns)
{
	struct sum_block *b;

	if (!count)
		return;
	b = realloc(s->sched.block, (s->sched.nblock + 1) * sizeof(*b));
	if (!b)
		return;
	s->sched.block = b;
	b[s->sched.nblock++] = (struct sum_block){ name, count, ns };
}

static void add_way(struct summary *s, const char *name, uint64_t calls, uint64_t ns)
{
	struct sum_way *w;

	if (!calls)
		return;
	w = realloc(s->threads.way, (s->threads.nway + 1) * sizeof(*w));
	if (!w)
		return;
	s->threads.way = w;
	w[s->threads.nway++] = (struct sum_way){ name, calls, ns };
}

const char *live_block_name(uint32_t nr)
{
	return nr == LIVE_NR_OTHER ? SUM_BLOCK_OTHER :
	       nr == LIVE_NR_STOPPED ? SUM_BLOCK_STOPPED : sysname(nr);
}

static int one_call(struct summary *s, uint32_t nr, const struct live_call *per_cpu, int ncpus)
{
	struct sum_syscall c = { .nr = (int)nr }, *grown;
	uint64_t blocked = 0, blocked_ns = 0, way = 0, way_ns = 0, off = 0;
	int cpu;

	for (cpu = 0; cpu < ncpus; cpu++) {
		const struct live_call *v = &per_cpu[cpu];

		c.calls += v->calls;
		c.errors += v->errors;
		c.wall.sum += v->total_ns;
		if (v->max_ns > c.wall.max)
			c.wall.max = v->max_ns;
		hist_merge_counts(&c.wall, v->hist, HIST_BUCKETS);
		off += v->off_ns;
		blocked += v->blocked;
		blocked_ns += v->blocked_ns;
		way += v->way;
		way_ns += v->way_ns;
	}
	c.name = nr == LIVE_NR_OTHER ? "other" : sysname(nr);
	add_block(s, live_block_name(nr), blocked, blocked_ns);
	add_way(s, c.name, way, way_ns);
	if (!c.calls || (nr >= LIVE_NR_STOPPED && s->mode == SUM_WAIT))
		return 0;
	c.cpu_ns = c.wall.sum > off ? c.wall.sum - off : 0;
	grown = realloc(s->syscall, (s->nsyscall + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	s->syscall = grown;
	grown[s->nsyscall++] = c;
	return 0;
}

static int by_block_time(const void *a, const void *b)
{
	const struct sum_block *x = a, *y = b;

	return x->total_ns < y->total_ns ? 1 : x->total_ns > y->total_ns ? -1 : 0;
}

static int by_way_time(const void *a, const void *b)
{
	const struct sum_way *x = a, *y = b;

	return x->total_ns < y->total_ns ? 1 : x->total_ns > y->total_ns ? -1 : 0;
}

static int call_row(void *ctx, const void *key, const void *value)
{
	struct rows_fill *f = ctx;
	uint32_t nr = *(const uint32_t *)key;
	const char *row = value;
	size_t bytes = sizeof(struct live_call) * (size_t)f->ncpus;

	if (!row[0] && !memcmp(row, row + 1, bytes - 1))
		return 0;
	f->called[nr] = true;
	return nr < LIVE_NR_CALIB ? one_call(f->s, nr, value, f->ncpus) : 0;
}

int live_fill_calls(struct live *l, struct summary *s)
{
	struct rows_fill f = { s, l->ncpus, l->called };
	int r = live_map_each(live_map_fd(l, "calls"), sizeof(uint32_t),
			      sizeof(struct live_call) * (size_t)l->ncpus, call_row, &f);

	if (!r && l->mode == SUM_EXACT)
		r = live_map_each(live_map_fd(l, "errnos"), sizeof(struct live_errno_key),
				  sizeof(uint64_t) * (size_t)l->ncpus, errno_row, &f);
	if (s->nsyscall)
		qsort(s->syscall, s->nsyscall, sizeof(*s->syscall), by_time);
	if (s->sched.nblock)
		qsort(s->sched.block, s->sched.nblock, sizeof(*s->sched.block), by_block_time);
	if (s->threads.nway)
		qsort(s->threads.way, s->threads.nway, sizeof(*s->threads.way), by_way_time);
	return r;
}

/* ---- scheduling ---- */

int live_fill_sched(struct live *l, struct summary *s)
{
	struct live_sched *values = calloc((size_t)l->ncpus, sizeof(*values));
	uint32_t zero = 0;
	int cpu, r = 0;

	if (!values)
		return -ENOMEM;
	if (bpf_map_lookup_elem(live_map_fd(l, "sched"), &zero, values))
		r = -errno;
	for (cpu = 0; !r && cpu < l->ncpus; cpu++) {
		const struct live_sched *v = &values[cpu];

		s->sched.migrations += v->migrations;
		s->sched.runq.sum += v->runq_ns;
		if (v->runq_max > s->sched.runq.max)
			s->sched.runq.max = v->runq_max;
		hist_merge_counts(&s->sched.runq, v->hist, HIST_BUCKETS);
	}
	free(values);
	s->sched.oncpu_ns = l->oncpu_ns;
	s->sched.runnable_ns = l->runnable_ns;
	s->sched.blocked_ns = l->blocked_ns;
	s->sched.voluntary = l->voluntary;
	s->sched.involuntary = l->involuntary;
	s->sched.switches = l->voluntary + l->involuntary;
	return r;
}
