/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: the recorder, in real time, must never wait for a thread that is not: the recorded
 * program would run on meanwhile. So the lock lends its holder the priority, and what is done
 * is released by who added it: freed by the other thread, it would lock the allocator.
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

#define BYTES_MOST ((size_t)256 << 20)	/* that wait: then all does */
#define HOLD_NS ((uint64_t)500000000)	/* at once */
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
	pthread_mutex_t lock;
	pthread_cond_t less;
	sem_t more;		/* pieces of work, and one for the end */
	struct work *first, **last;
	struct work *done;	/* to be released by who adds */
	size_t bytes;		/* of what waits or is worked on */
	size_t pieces;		/* the same */
	struct err err;		/* of the first that failed */
};

static struct work *take(struct recqueue *q)
{
	struct work *w;

	while (sem_wait(&q->more))
		;
	pthread_mutex_lock(&q->lock);
	w = q->first;
	if (w)
		q->first = w->next;
	if (!q->first)
		q->last = &q->first;
	pthread_mutex_unlock(&q->lock);
	return w;
}

static void *work(void *arg)
{
	struct recqueue *q = arg;
	struct err err = { 0 };
	struct work *w;

	while ((w = take(q))) {
		w->fn(w->arg, &err);
		pthread_mutex_lock(&q->lock);
		if (err.code && !q->err.code)
			q->err = err;
		w->next = q->done;
		q->done = w;
		__atomic_fetch_sub(&q->bytes, w->bytes, __ATOMIC_RELAXED);
		__atomic_fetch_sub(&q->pieces, 1, __ATOMIC_RELAXED);
		pthread_cond_signal(&q->less);
		pthread_mutex_unlock(&q->lock);
	}
	return NULL;
}

struct recqueue *recqueue_new(struct err *err)
{
	struct recqueue *q = calloc(1, sizeof(*q));
	pthread_mutexattr_t attr;
	int r;

	if (!q) {
		err_sys(err, ENOMEM, "cannot record");
		return NULL;
	}
	q->last = &q->first;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&q->lock, &attr);
	pthread_mutexattr_destroy(&attr);
	pthread_cond_init(&q->less, NULL);
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

static int failed(struct recqueue *q, struct err *err)
{
	*err = q->err;
	return -err->code;
}

/*
 * The recorded program is kept from running by what keeps it from running anyway: the CPU is
 * ours, as long as we do not sleep. Now and then we do, for a moment, since who never does is
 * taken for lost (watchdog.h).
 */
static int hold(struct recqueue *q, struct err *err)
{
	const struct timespec moment = { .tv_nsec = 1000 };
	uint64_t began = clock_mono_ns(), rested = began, now;
	size_t was = bytes_of(q), is;

	while ((is = bytes_of(q)) > BYTES_MOST / 2) {
		now = clock_mono_ns();
		if (is != was) {
			was = is;
			began = now;
		}
		if (now - began > STUCK_S * (uint64_t)1000000000)
			return err_set(err, ETIMEDOUT, "the recording cannot be written: nothing "
				       "was for %d s", STUCK_S);
		if (now - rested > HOLD_NS) {
			nanosleep(&moment, NULL);
			rested = now;
		}
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
	struct work *w = malloc(sizeof(*w)), *done;
	int r = bytes_of(q) > BYTES_MOST ? hold(q, err) : 0;

	if (!r && !w)
		r = err_sys(err, ENOMEM, "cannot record");
	pthread_mutex_lock(&q->lock);
	done = q->done;
	q->done = NULL;
	if (!r && q->err.code)
		r = failed(q, err);
	if (!r) {
		*w = (struct work){ .fn = fn, .release = release_fn, .arg = arg, .bytes = bytes };
		*q->last = w;
		q->last = &w->next;
		__atomic_fetch_add(&q->bytes, bytes, __ATOMIC_RELAXED);
		__atomic_fetch_add(&q->pieces, 1, __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&q->lock);
	if (r)
		free(w);
	else
		sem_post(&q->more);
	release(done);
	return r;
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
	int r;

	pthread_mutex_lock(&q->lock);
	while (q->pieces)
		pthread_cond_wait(&q->less, &q->lock);
	r = q->err.code ? failed(q, err) : 0;
	pthread_mutex_unlock(&q->lock);
	return r;
}

bool recqueue_idle(const struct recqueue *q)
{
	return !__atomic_load_n(&q->pieces, __ATOMIC_RELAXED);
}

void recqueue_free(struct recqueue *q)
{
	if (!q)
		return;
	/* Work comes first; where there is none, it ends. */
	sem_post(&q->more);
	pthread_join(q->thread, NULL);
	release(q->done);
	pthread_cond_destroy(&q->less);
	pthread_mutex_destroy(&q->lock);
	sem_destroy(&q->more);
	free(q);
}
