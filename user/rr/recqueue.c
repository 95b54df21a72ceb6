/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: the recorder, in real time, must never wait for a thread that is not: the recorded
 * program would run on meanwhile. So there is no lock: each side puts work on a list that the
 * other takes whole. What is done is released by who added it: freed by the other thread, it
 * would lock the allocator.
 */
#include "rr/recqueue.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "rr/ordinary.h"
#include "rr/watchdog.h"

#define BYTES_MOST ((size_t)256 << 20)	/* that wait: then all does */
#define STUCK_S 60			/* without a byte written */

struct work {
	struct work *next;
	recqueue_fn *fn;
	recqueue_release_fn *release;
	void *arg;
	size_t bytes;
};

struct recqueue {
	pthread_t thread;
	sem_t more;		/* pieces of work, and one for the end */
	struct work *added;	/* the newest first */
	struct work *done;	/* to be released by who adds */
	size_t bytes;		/* of what waits or is worked on */
	size_t pieces;		/* the same */
	bool failed;		/* .err is that of the first that did */
	struct err err;
};

static void put(struct work **list, struct work *w)
{
	w->next = __atomic_load_n(list, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(list, &w->next, w, true, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED))
		;
}

static struct work *take_all(struct work **list)
{
	return __atomic_exchange_n(list, NULL, __ATOMIC_ACQUIRE);
}

static struct work *oldest_first(struct work *w)
{
	struct work *turned = NULL, *next;

	for (; w; w = next) {
		next = w->next;
		w->next = turned;
		turned = w;
	}
	return turned;
}

static void do_work(struct recqueue *q, struct work *w, struct err *err)
{
	const size_t bytes = w->bytes;

	w->fn(w->arg, err);
	if (err->code && !q->failed) {
		q->err = *err;
		__atomic_store_n(&q->failed, true, __ATOMIC_RELEASE);
	}
	put(&q->done, w);
	__atomic_fetch_sub(&q->bytes, bytes, __ATOMIC_RELAXED);
	__atomic_fetch_sub(&q->pieces, 1, __ATOMIC_RELEASE);
}

static void *work(void *arg)
{
	struct recqueue *q = arg;
	struct work *w = NULL, *next;
	struct err err = { 0 };

	for (;;) {
		while (sem_wait(&q->more))
			;
		if (!w)
			w = oldest_first(take_all(&q->added));
		if (!w)
			return NULL;
		next = w->next;
		do_work(q, w, &err);
		w = next;
	}
}

struct recqueue *recqueue_new(struct err *err)
{
	struct recqueue *q = calloc(1, sizeof(*q));
	int r;

	if (!q) {
		err_sys(err, ENOMEM, "cannot record");
		return NULL;
	}
	sem_init(&q->more, 0, 0);
	r = ordinary_thread(&q->thread, work, q);
	if (!r)
		return q;
	err_sys(err, r, "cannot start a thread");
	free(q);
	return NULL;
}

static size_t bytes_of(const struct recqueue *q)
{
	return __atomic_load_n(&q->bytes, __ATOMIC_RELAXED);
}

static bool has_failed(const struct recqueue *q)
{
	return __atomic_load_n(&q->failed, __ATOMIC_ACQUIRE);
}

static int failed(struct recqueue *q, struct err *err)
{
	*err = q->err;
	return -err->code;
}

/*
 * The recorded program is kept from running by what keeps it from running anyway: the CPU is
 * ours, as long as we do not sleep. The watchdog does not count that.
 */
static int hold(struct recqueue *q, struct err *err)
{
	uint64_t began = clock_mono_ns(), now;
	size_t was = bytes_of(q), is;

	watchdog_pause();
	while ((is = bytes_of(q)) > BYTES_MOST / 2) {
		now = clock_mono_ns();
		if (is != was) {
			was = is;
			began = now;
		}
		if (now - began > STUCK_S * (uint64_t)1000000000)
			return err_set(err, ETIMEDOUT, "the recording cannot be written: nothing "
				       "was for %d s", STUCK_S);
		__builtin_ia32_pause();
	}
	return 0;
}

static void release(struct work *w)
{
	struct work *next;

	for (; w; w = next) {
		next = w->next;
		w->release(w->arg);
		free(w);
	}
}

int recqueue_add(struct recqueue *q, recqueue_fn *fn, recqueue_release_fn *release_fn, void *arg,
		 size_t bytes, struct err *err)
{
	struct work *w;
	int r = bytes_of(q) > BYTES_MOST ? hold(q, err) : 0;

	release(take_all(&q->done));
	if (!r && has_failed(q))
		r = failed(q, err);
	if (r)
		return r;
	w = malloc(sizeof(*w));
	if (!w)
		return err_sys(err, ENOMEM, "cannot record");
	*w = (struct work){ .fn = fn, .release = release_fn, .arg = arg, .bytes = bytes };
	__atomic_fetch_add(&q->bytes, bytes, __ATOMIC_RELAXED);
	__atomic_fetch_add(&q->pieces, 1, __ATOMIC_RELAXED);
	put(&q->added, w);
	sem_post(&q->more);
	return 0;
}

void recqueue_keep_off(struct recqueue *q, int cpu)
{
	cpu_set_t others;

	memset(&others, 0xff, sizeof(others));
	CPU_CLR(cpu, &others);
	/* Where there is no other, they share it. */
	(void)pthread_setaffinity_np(q->thread, sizeof(others), &others);
}

int recqueue_finish(struct recqueue *q, struct err *err)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	while (!recqueue_idle(q))
		nanosleep(&pause, NULL);
	return has_failed(q) ? failed(q, err) : 0;
}

bool recqueue_idle(const struct recqueue *q)
{
	return !__atomic_load_n(&q->pieces, __ATOMIC_ACQUIRE);
}

void recqueue_free(struct recqueue *q)
{
	if (!q)
		return;
	/* Work comes first; where there is none, it ends. */
	sem_post(&q->more);
	pthread_join(q->thread, NULL);
	release(q->done);
	sem_destroy(&q->more);
	free(q);
}
