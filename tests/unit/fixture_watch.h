/* SPDX-License-Identifier: MIT */
#ifndef FIXTURE_WATCH_H
#define FIXTURE_WATCH_H

/*
 * A watch without a kernel, and what the kernel side would write for it: the slots of
 * shared/live.h's struct live_seen and its rows of ended threads. A slot is written
 * at its thread's switches alone, as the programs do.
 */
#include <string.h>

#include "collect/live_state.h"
#include "collect/watch_state.h"
#include "unit.h"

#define SLOTS 512

static struct live live;
static struct watch *w;
static struct live_seen slots[SLOTS];
static uint32_t slots_used, slots_free[SLOTS], nslots_free;
static uint64_t t_ns;
static struct { uint32_t tgid; struct live_ended v; } ended[SLOTS];
static size_t nended;

static inline int watch_setup(void **state)
{
	(void)state;
	memset(&live, 0, sizeof(live));
	memset(slots, 0, sizeof(slots));
	live.mode = SUM_EXACT;
	live.collect = SUM_SYSCALLS | SUM_THREADS | SUM_FUTEX | SUM_PIPES | SUM_SCHED;
	live.seen_rows = SLOTS;
	slots_used = nslots_free = 0;
	nended = 0;
	t_ns = 1000000;
	w = watch_new(&live);
	return w ? live_init_tables(&live) : -1;
}

static inline int watch_teardown(void **state)
{
	(void)state;
	watch_free(w);
	live_release_tables(&live);
	return 0;
}

static inline struct live_ended *ended_row(uint32_t tgid)
{
	size_t i;

	for (i = 0; i < nended; i++)
		if (ended[i].tgid == tgid)
			return &ended[i].v;
	assert_true(nended < SLOTS);
	memset(&ended[nended], 0, sizeof(ended[nended]));
	ended[nended].tgid = tgid;
	return &ended[nended++].v;
}

/* A refresh at @t_ns, as far as threads and processes go; @meanwhile between its two reads. */
static inline void look_while(void (*meanwhile)(void))
{
	size_t i;

	if (w->last_ns)
		w->now.tick++;
	w->now.interval_ns = t_ns - w->last_ns;
	w->last_ns = t_ns;
	watch_processes_begin(w);
	for (i = 0; i < nended; i++)
		assert_int_equal(watch_ended(w, &ended[i].tgid, &ended[i].v), 0);
	if (meanwhile)
		meanwhile();
	assert_int_equal(watch_look(w, slots, slots_used, t_ns), 0);
	assert_int_equal(watch_processes_end(w), 0);
	/* Of a process that went its row goes too; with a kernel the watch takes it out. */
	for (i = nended; i-- > 0;) {
		pid_t tgid = (pid_t)ended[i].tgid;

		if (!map_get(w->by_tgid, &tgid))
			ended[i] = ended[--nended];
	}
	assert_true(map_count(w->by_tgid) == w->now.nprocess);
}

static inline void look(void)
{
	look_while(NULL);
}

/* ---- the kernel side ---- */

static inline uint32_t slot_take(void)
{
	if (nslots_free)
		return slots_free[--nslots_free];
	assert_true(slots_used < SLOTS - 1);
	return ++slots_used;
}

/* A thread forked just now: it waits for its first CPU. */
static inline uint32_t born(uint32_t tid, uint32_t tgid)
{
	uint32_t slot = slot_take();

	memset(&slots[slot], 0, sizeof(slots[slot]));
	strcpy(slots[slot].comm, "newborn");
	slots[slot].tid = tid;
	slots[slot].tgid = tgid;
	slots[slot].space = tgid;
	slots[slot].flags = SEEN_CREATED | (tid == tgid ? SEEN_PROCESS : 0);
	slots[slot].state = SEEN_BORN;
	slots[slot].start_ns = slots[slot].since_ns = t_ns;
	return slot;
}

/* One that was there when tracing began, and sleeps. */
static inline uint32_t found(uint32_t tid, uint32_t tgid)
{
	uint32_t slot = born(tid, tgid);

	slots[slot].flags &= (uint16_t)~SEEN_CREATED;
	slots[slot].state = SEEN_BLOCKED;
	return slot;
}

static inline void comes_on(uint32_t slot)
{
	struct live_seen *s = &slots[slot];
	uint64_t woken = s->woken_ns > s->since_ns ? s->woken_ns : t_ns;

	if (s->state == SEEN_BLOCKED) {
		s->blocked_ns += woken - s->since_ns;
		s->lock_ns += s->lock_addr ? woken - s->since_ns : 0;
		s->runnable_ns += t_ns - woken;
	} else {
		s->runnable_ns += t_ns - s->since_ns;
	}
	s->state = SEEN_RUNNING;
	s->since_ns = t_ns;
	s->woken_ns = s->lock_addr = 0;
}

static inline void goes_off(uint32_t slot, uint16_t state, uint32_t nr, uint64_t lock)
{
	struct live_seen *s = &slots[slot];

	s->oncpu_ns += t_ns - s->since_ns;
	s->switches++;
	s->state = state;
	s->block_nr = nr;
	s->lock_addr = lock;
	s->since_ns = t_ns;
	s->woken_ns = 0;
}

/* A thread that runs ends; its slot is free. */
static inline void dies(uint32_t slot)
{
	struct live_seen *s = &slots[slot];
	struct live_ended *d = ended_row(s->tgid);

	assert_int_equal(s->state, SEEN_RUNNING);
	d->oncpu_ns += s->oncpu_ns + t_ns - s->since_ns;
	d->runnable_ns += s->runnable_ns;
	d->blocked_ns += s->blocked_ns;
	d->lock_ns += s->lock_ns;
	d->calls += s->calls;
	d->switches += s->switches;
	d->ended++;
	d->created += (s->flags & SEEN_CREATED) != 0;
	memcpy(d->comm, s->comm, sizeof(d->comm));
	s->tid = 0;
	slots_free[nslots_free++] = slot;
}

/* ---- what is shown ---- */

static inline const struct now_process *process(pid_t tgid)
{
	size_t i;

	for (i = 0; i < w->now.nprocess; i++)
		if (w->now.process[i].tgid == tgid)
			return &w->now.process[i];
	return NULL;
}

static inline const struct now_thread *thread(pid_t tid)
{
	const struct now_thread *t = watch_thread(w, tid);

	assert_true(!t || t->tid == tid);
	return t;
}

static inline void is_count(struct now_count got, uint64_t total, uint64_t step)
{
	assert_int_equal(got.total, total);
	assert_int_equal(got.step, step);
}

#endif
