/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: the kernel's program notes where a recorded thread loses the CPU, and what tells that
 * place from others of the same loop: registers, the stack, what is pointed to. A thread that has
 * all of that once more, and made no call that waited in between, waits for somebody else. What
 * is thought to spin and does not loses no more than its turn.
 */
#include "rr/spin.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define RARELY_MS 16	/* between looks at who may not spin, at first */
#define SELDOM_MS 128	/* and at last */
#define OFTEN_MS 1	/* at who may, and behind one that did */
#define MS ((uint64_t)1000000)

int spin_init(struct spin *s, int points, size_t value_bytes)
{
	const size_t each = (value_bytes + 7) & ~(size_t)7, bytes = each * POINTS;
	void *at = mmap(NULL, bytes, PROT_READ, MAP_SHARED, points, 0);

	if (at == MAP_FAILED)
		return -errno;
	_Static_assert(POINT_SWITCH == 0, "the first of the map");
	s->point = at;
	s->point_bytes = bytes;
	s->ms = RARELY_MS;
	return 0;
}

void spin_release(struct spin *s)
{
	if (s->point)
		munmap((void *)(uintptr_t)s->point, s->point_bytes);
}

int spin_wait_ms(struct spin *s, const struct rr_counts *c, uint64_t now_ns)
{
	if (c->alive < 2) {
		s->due_ns = 0;
		return -1;
	}
	if (!s->due_ns)
		s->due_ns = now_ns + s->ms * MS;
	return now_ns < s->due_ns ? (int)((s->due_ns - now_ns + MS - 1) / MS) : 0;
}

/* Behind those of the same priority, which it has again before anybody runs. */
static void give_way(uint32_t tid)
{
	const struct sched_param none = { 0 };
	struct sched_param was;
	const int policy = sched_getscheduler((pid_t)tid);

	if (policy > 0 && !sched_getparam((pid_t)tid, &was) &&
	    !sched_setscheduler((pid_t)tid, SCHED_OTHER, &none))
		sched_setscheduler((pid_t)tid, policy, &was);
}

/* Where it is, by registers and memory; the head of the event is not looked at. */
static uint64_t sum_of(const unsigned char *event, size_t bytes)
{
	uint64_t sum = bytes, word;

	for (size_t at = offsetof(struct rr_ev_switch, at); at + 8 <= bytes; at += 8) {
		memcpy(&word, event + at, sizeof(word));
		sum = (sum ^ word) * 0x9e3779b97f4a7c15ull;
		sum ^= sum >> 29;
	}
	return sum;
}

/* Whether it has been where it is; if not, that is noted. In a call it is nowhere. */
static bool was_there(struct spin *s, const struct rr_counts *c)
{
	uint64_t sum;

	if (!c->place_bytes || c->place_bytes > RR_POINT_BYTES)
		return false;
	sum = sum_of(s->point, c->place_bytes);
	for (size_t i = 0; i < s->nplaces; i++)
		if (s->place[i] == sum)
			return true;
	s->place[s->nplaces++] = sum;
	return false;
}

static void forget(struct spin *s)
{
	s->nplaces = s->looks = 0;
}

/* Takes the look: how long the next one has time. */
static unsigned int look(struct spin *s, const struct rr_counts *c)
{
	/* It ran all the time, and we alone took the CPU from it. */
	const bool alone = c->place_tid && c->runs == s->runs + 1;
	/* It gave way, and nobody else wanted to run. */
	const bool in_vain = alone && s->gave == c->place_tid;

	if (!alone || s->tid != c->place_tid)
		forget(s);
	s->tid = alone ? c->place_tid : 0;
	s->gave = 0;
	if (alone && !in_vain && was_there(s, c)) {
		give_way(s->tid);
		s->gave = s->tid;
		forget(s);
		s->ms = RARELY_MS;
		return OFTEN_MS;
	}
	if (alone && !in_vain && ++s->looks < SPIN_LOOKS)
		return OFTEN_MS;
	forget(s);
	s->ms = 2 * s->ms < SELDOM_MS ? 2 * s->ms : SELDOM_MS;
	return s->ms;
}

void spin_look(struct spin *s, const struct rr_counts *c, uint64_t now_ns)
{
	unsigned int next_ms;

	if (!s->due_ns || now_ns < s->due_ns)
		return;
	next_ms = look(s, c);
	s->runs = c->runs;
	s->due_ns = now_ns + next_ms * MS;
}
