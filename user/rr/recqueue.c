/* SPDX-License-Identifier: MIT */
#include "rr/recqueue.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#define BYTES_MOST ((size_t)256 << 20)	/* that wait: then the recorder waits, too */

struct work {
	struct work *next;
	recqueue_fn *fn;
	void *arg;
	size_t bytes;
};

struct recqueue {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t more, less;
	struct work *first, **last;
	size_t bytes;		/* of what waits or is worked on */
	size_t pieces;		/* the same */
	bool ends;
	struct err err;		/* of the first that failed */
};

static void *work(void *arg)
{
	struct recqueue *q = arg;
	struct err err = { 0 };
	struct work *w;

	pthread_mutex_lock(&q->lock);
	for (;;) {
		while (!q->first && !q->ends)
			pthread_cond_wait(&q->more, &q->lock);
		w = q->first;
		if (!w)
			break;
		q->first = w->next;
		if (!q->first)
			q->last = &q->first;
		pthread_mutex_unlock(&q->lock);
		w->fn(w->arg, &err);
		pthread_mutex_lock(&q->lock);
		if (err.code && !q->err.code)
			q->err = err;
		q->bytes -= w->bytes;
		__atomic_fetch_sub(&q->pieces, 1, __ATOMIC_RELAXED);
		free(w);
		pthread_cond_signal(&q->less);
	}
	pthread_mutex_unlock(&q->lock);
	return NULL;
}

/* The recorder's own priority and CPU are not for it. */
static int start(struct recqueue *q)
{
	const struct sched_param none = { 0 };
	sigset_t every, old;
	pthread_attr_t attr;
	cpu_set_t all;
	int r;

	CPU_ZERO(&all);
	for (int i = 0; i < CPU_SETSIZE; i++)
		CPU_SET(i, &all);
	r = pthread_attr_init(&attr);
	if (r)
		return r;
	pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attr, SCHED_OTHER);
	pthread_attr_setschedparam(&attr, &none);
	pthread_attr_setaffinity_np(&attr, sizeof(all), &all);
	/* A signal that is the recorder's to hear of would be lost in it. */
	sigfillset(&every);
	pthread_sigmask(SIG_SETMASK, &every, &old);
	r = pthread_create(&q->thread, &attr, work, q);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return r;
}

struct recqueue *recqueue_new(struct err *err)
{
	struct recqueue *q = calloc(1, sizeof(*q));
	int r;

	if (!q) {
		err_sys(err, ENOMEM, "cannot record");
		return NULL;
	}
	q->last = &q->first;
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->more, NULL);
	pthread_cond_init(&q->less, NULL);
	r = start(q);
	if (!r)
		return q;
	err_sys(err, r, "cannot start a thread");
	free(q);
	return NULL;
}

static int failed(struct recqueue *q, struct err *err)
{
	*err = q->err;
	return -err->code;
}

int recqueue_add(struct recqueue *q, recqueue_fn *fn, void *arg, size_t bytes, struct err *err)
{
	struct work *w = malloc(sizeof(*w));
	int r = 0;

	if (!w)
		return err_sys(err, ENOMEM, "cannot record");
	*w = (struct work){ .fn = fn, .arg = arg, .bytes = bytes };
	pthread_mutex_lock(&q->lock);
	while (q->bytes > BYTES_MOST && !q->err.code)
		pthread_cond_wait(&q->less, &q->lock);
	if (q->err.code) {
		r = failed(q, err);
	} else {
		*q->last = w;
		q->last = &w->next;
		q->bytes += bytes;
		__atomic_fetch_add(&q->pieces, 1, __ATOMIC_RELAXED);
		pthread_cond_signal(&q->more);
	}
	pthread_mutex_unlock(&q->lock);
	if (r)
		free(w);
	return r;
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
	pthread_mutex_lock(&q->lock);
	q->ends = true;
	pthread_cond_signal(&q->more);
	pthread_mutex_unlock(&q->lock);
	pthread_join(q->thread, NULL);
	pthread_cond_destroy(&q->more);
	pthread_cond_destroy(&q->less);
	pthread_mutex_destroy(&q->lock);
	free(q);
}
