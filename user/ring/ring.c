/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. A drain walks each ring from its consumer to its producer position
 * and notes (time, pointer) of what it finds; the notes are put in order and
 * handed on, and only then are the consumer positions moved, so that nothing is
 * copied. Within a ring times are almost in order (a preempted producer may
 * commit after its successor), so a run is finished by insertion and runs are
 * merged in pairs. The record header and positions are those of
 * kernel/bpf/ringbuf.c: 8 bytes, length with a busy and a discard bit.
 */
#include "ring/ring.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "shared/live.h"

#define CPUS_MAX	65536	/* more than any kernel is built for */
#define RING_HEADER	8
#define RING_BUSY	(1U << 31)
#define RING_DISCARD	(1U << 30)
/* Of one ring in a batch: a batch is read twice, and should still be in the cache. */
#define BATCH_MAX	4096

/* Pauses double while little comes, from 1 ms: to 16 ms while some does, to 64 ms. */
#define PAUSE_SOME	4
#define PAUSE_NONE	6
#define LITTLE		32	/* a ring that is filled to one in this */

struct ring_one {
	int fd;
	unsigned long *consumer;
	const unsigned long *producer;
	const char *data;
	unsigned long end;	/* producer position when the drain began */
	unsigned long next;	/* consumer position after the batch */
};

struct ring {
	unsigned int count;
	size_t bytes;
	int epoll;
	unsigned int calm;	/* log2 of the next pause in ms */
	bool woken;		/* by a producer: what for may be too young yet */
	struct ring_event *ev, *tmp;
	size_t cap;
	size_t *run;		/* where each ring's notes begin; count + 1 */
	struct ring_one one[];
};

static int ring_map(struct ring *r, struct ring_one *o, struct err *err)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *p;

	p = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, o->fd, 0);
	if (p == MAP_FAILED)
		return err_sys(err, errno, "cannot map the event ring");
	o->consumer = (unsigned long *)p;
	/* The data is mapped twice in a row: a record never wraps. */
	p = mmap(NULL, page + 2 * r->bytes, PROT_READ, MAP_SHARED, o->fd, (off_t)page);
	if (p == MAP_FAILED)
		return err_sys(err, errno, "cannot map the event ring");
	o->producer = (const unsigned long *)p;
	o->data = p + page;
	return 0;
}

static struct ring *ring_alloc(unsigned int count, size_t bytes, struct err *err)
{
	struct ring *r = calloc(1, sizeof(*r) + count * sizeof(r->one[0]));
	unsigned int i;

	if (!r) {
		err_sys(err, ENOMEM, "cannot make the event ring");
		return NULL;
	}
	for (i = 0; i < count; i++)
		r->one[i].fd = -1;
	r->count = count;
	r->bytes = bytes;
	r->cap = 1024;
	r->ev = malloc(r->cap * sizeof(*r->ev));
	r->tmp = malloc(r->cap * sizeof(*r->tmp));
	r->run = calloc(count + 1, sizeof(*r->run));
	r->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (!r->ev || !r->tmp || !r->run || r->epoll < 0) {
		err_sys(err, ENOMEM, "cannot make the event ring");
		ring_free(r);
		return NULL;
	}
	return r;
}

static int ring_adopt(struct ring *r, unsigned int i, int fd, struct err *err)
{
	/* By edge: what is too young to be handed on must not keep us awake. */
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET, .data.u32 = i };

	r->one[i].fd = fd;
	if (ring_map(r, &r->one[i], err))
		return -err->code;
	if (epoll_ctl(r->epoll, EPOLL_CTL_ADD, fd, &ev))
		return err_sys(err, errno, "cannot wait for the event ring");
	return 0;
}

size_t ring_total(unsigned int ncpus, size_t want)
{
	if (want < RING_FLOOR)
		return want;
	return want / RING_FLOOR < ncpus ? ncpus * RING_FLOOR : want;
}

size_t ring_share(unsigned int ncpus, size_t total_bytes)
{
	size_t bytes = (size_t)sysconf(_SC_PAGESIZE);

	while (bytes * 2 * ncpus <= total_bytes)
		bytes *= 2;
	return bytes;
}

unsigned int ring_cpus_in(const char *list)
{
	unsigned long n, most = 0;
	char *end;

	for (;; list = end + 1) {
		if (*list < '0' || *list > '9')
			return 0;
		n = strtoul(list, &end, 10);
		if (n >= CPUS_MAX)
			return 0;
		most = n + 1 > most ? n + 1 : most;
		if (!*end || *end == '\n')
			return (unsigned int)most;
		if (*end != '-' && *end != ',')
			return 0;
	}
}

unsigned int ring_cpus(unsigned int possible)
{
	struct buf list = BUF_INIT;
	unsigned int n = 0;

	if (!io_read_file("/sys/devices/system/cpu/present", &list, 1 << 16))
		n = ring_cpus_in(list.data);
	buf_release(&list);
	return n && n < possible ? n : possible;
}

struct ring *ring_new(unsigned int ncpus, size_t total_bytes, struct err *err)
{
	size_t bytes = ring_share(ncpus, total_bytes);
	struct ring *r;
	unsigned int i;
	int fd;

	r = ring_alloc(ncpus, bytes, err);
	if (!r)
		return NULL;
	for (i = 0; i < ncpus; i++) {
		fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "tracer_ring", 0, 0, (__u32)bytes, NULL);
		if (fd < 0) {
			err_sys(err, -fd, "cannot make an event ring of %zu bytes", bytes);
			goto fail;
		}
		if (ring_adopt(r, i, fd, err))
			goto fail;
	}
	return r;
fail:
	ring_free(r);
	return NULL;
}

struct ring *ring_over(const struct ring_memory *memory, unsigned int n, size_t bytes,
		       struct err *err)
{
	struct ring *r = ring_alloc(n, bytes, err);
	unsigned int i;

	for (i = 0; r && i < n; i++) {
		r->one[i].consumer = memory[i].consumer;
		r->one[i].producer = memory[i].producer;
		r->one[i].data = memory[i].data;
	}
	return r;
}

void ring_free(struct ring *r)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned int i;

	if (!r)
		return;
	for (i = 0; i < r->count; i++) {
		struct ring_one *o = &r->one[i];

		if (o->fd < 0)
			continue;
		if (o->consumer)
			munmap(o->consumer, page);
		if (o->producer)
			munmap((void *)o->producer, page + 2 * r->bytes);
		close(o->fd);
	}
	if (r->epoll >= 0)
		close(r->epoll);
	free(r->run);
	free(r->ev);
	free(r->tmp);
	free(r);
}

unsigned int ring_count(const struct ring *r)
{
	return r->count;
}

int ring_fd(const struct ring *r, unsigned int i)
{
	return r->one[i].fd;
}

size_t ring_bytes(const struct ring *r)
{
	return r->bytes;
}

int ring_wait(struct ring *r, int timeout_ms, int other)
{
	struct pollfd fds[2] = {
		{ .fd = r->epoll, .events = POLLIN },
		{ .fd = other, .events = POLLIN },
	};
	int n = poll(fds, other >= 0 ? 2 : 1, timeout_ms);
	struct epoll_event ev[8];

	if (n < 0)
		return errno == EINTR ? 1 : -errno;
	r->woken = fds[0].revents != 0;
	if (r->woken)
		while (epoll_wait(r->epoll, ev, 8, 0) == 8)
			;
	return n > 0;
}

static int ring_more(struct ring *r)
{
	size_t cap = r->cap * 2;
	struct ring_event *ev, *tmp;

	ev = realloc(r->ev, cap * sizeof(*ev));
	if (ev)
		r->ev = ev;
	tmp = realloc(r->tmp, cap * sizeof(*tmp));
	if (tmp)
		r->tmp = tmp;
	if (!ev || !tmp)
		return -ENOMEM;
	r->cap = cap;
	return 0;
}

/* Puts one note into its place in the run that begins at @from. */
static void run_insert(struct ring_event *ev, size_t from, size_t n)
{
	struct ring_event e = ev[n];

	while (n > from && ev[n - 1].ts > e.ts) {
		ev[n] = ev[n - 1];
		n--;
	}
	ev[n] = e;
}

/*
 * The time by which record @rec of *@len bytes is put in order. One without a
 * head goes with what stands before it; one that the ring does not hold has no
 * length that could be believed.
 */
static uint64_t run_time(const struct ring_event *before, const char *rec, unsigned long room,
			 uint32_t *len)
{
	if (*len > room)
		*len = 0;
	if (*len >= sizeof(struct live_head))
		return ((const struct live_head *)(rec + RING_HEADER))->ts;
	return before ? before->ts : 0;
}

/*
 * Notes what is ready in ring @o up to the time *@before; returns the new number
 * of notes, or -errno. A ring that has more than a batch sets *@before to where
 * it was cut: nothing younger may be handed on yet, from whichever ring.
 */
static long run_collect(struct ring *r, struct ring_one *o, size_t n, uint64_t *before)
{
	unsigned long pos = *o->consumer, room;
	size_t from = n, mask = r->bytes - 1;
	uint32_t word, len;

	while (pos < o->end) {
		const char *rec = o->data + (pos & mask);

		word = __atomic_load_n((const uint32_t *)rec, __ATOMIC_ACQUIRE);
		if (word & RING_BUSY)
			break;
		len = word & ~(RING_BUSY | RING_DISCARD);
		room = o->end - pos - RING_HEADER;
		if (!(word & RING_DISCARD) || len > room) {
			uint32_t bytes = len;
			uint64_t ts = run_time(n > from ? &r->ev[n - 1] : NULL, rec, room, &bytes);

			if (ts > *before)
				break;
			if (n == r->cap && ring_more(r))
				return -ENOMEM;
			r->ev[n] = (struct ring_event){ ts, rec + RING_HEADER, bytes };
			if (n > from && r->ev[n - 1].ts > ts)
				run_insert(r->ev, from, n);
			n++;
		}
		/* Behind a length that cannot be, nothing can be found. */
		pos = len > room ? o->end : pos + ((len + RING_HEADER + 7UL) & ~7UL);
		if (n - from >= BATCH_MAX) {
			*before = r->ev[n - 1].ts;
			break;
		}
	}
	o->next = pos;
	return (long)n;
}

/* Notes what all rings have up to a common time; *@cut: there may be more. */
static long runs_collect(struct ring *r, uint64_t before_ns, bool *cut)
{
	uint64_t before = before_ns, was;
	unsigned int i;
	long n;

	do {
		was = before;
		n = 0;
		for (i = 0; i < r->count; i++) {
			r->run[i] = (size_t)n;
			n = run_collect(r, &r->one[i], (size_t)n, &before);
			if (n < 0)
				return n;
		}
		/* A later ring was cut earlier: the first ones have gone too far. */
	} while (before != was && r->count > 1);
	*cut = before != before_ns;
	return n;
}

static void merge_two(const struct ring_event *a, size_t na, const struct ring_event *b, size_t nb,
		      struct ring_event *to)
{
	while (na && nb) {
		if (b->ts < a->ts) {
			*to++ = *b++;
			nb--;
		} else {
			*to++ = *a++;
			na--;
		}
	}
	memcpy(to, a, na * sizeof(*a));
	memcpy(to + na, b, nb * sizeof(*b));
}

/* Merges the runs in pairs until one is left; the result is in r->ev. */
static void merge_runs(struct ring *r)
{
	size_t nruns = r->count, i, half;

	while (nruns > 1) {
		struct ring_event *t = r->ev;

		half = 0;
		for (i = 0; i < nruns; i += 2) {
			size_t a = r->run[i], b = r->run[i + 1];
			size_t c = i + 1 < nruns ? r->run[i + 2] : b;

			merge_two(r->ev + a, b - a, r->ev + b, c - b, r->tmp + a);
			r->run[half++] = a;
			r->run[half] = c;
		}
		nruns = half;
		r->ev = r->tmp;
		r->tmp = t;
	}
}

int ring_pause_ms(const struct ring *r)
{
	return r->woken ? 1 : 1 << r->calm;
}

static void ring_calm(struct ring *r)
{
	unsigned long fill, most = 0;
	unsigned int i, limit;

	for (i = 0; i < r->count; i++) {
		fill = r->one[i].end - *r->one[i].consumer;
		most = fill > most ? fill : most;
	}
	limit = most > r->bytes / LITTLE ? 0 : most ? PAUSE_SOME : PAUSE_NONE;
	r->calm = r->calm < limit ? r->calm + 1 : limit;
}

long ring_drain(struct ring *r, uint64_t before_ns, ring_batch_fn fn, void *ctx)
{
	long n, total = 0;
	unsigned int i;
	bool cut;

	for (i = 0; i < r->count; i++)
		r->one[i].end = __atomic_load_n(r->one[i].producer, __ATOMIC_ACQUIRE);
	ring_calm(r);
	do {
		n = runs_collect(r, before_ns, &cut);
		if (n < 0)
			return n;
		r->run[r->count] = (size_t)n;
		if (n) {
			merge_runs(r);
			fn(ctx, r->ev, (size_t)n);
		}
		for (i = 0; i < r->count; i++)
			if (*r->one[i].consumer != r->one[i].next)
				__atomic_store_n(r->one[i].consumer, r->one[i].next,
						 __ATOMIC_RELEASE);
		total += n;
	} while (cut);
	return total;
}
