/* SPDX-License-Identifier: MIT */
/*
 * A live view against a model that adds up each thread's time nanosecond by nanosecond,
 * over random births, switches, wakes, ends and looks; ids and slots are few, so that
 * they are used again all the time.
 */
#include <stdlib.h>

#include "fixture_watch.h"

#define IDS 24
#define TGIDS 4
#define STEPS 60000

enum kind { GONE, RUNS, QUEUES, WAITS };

struct figures { uint64_t cpu, runnable, blocked, lock, switches, calls; };

struct model {
	enum kind kind;
	uint32_t slot, tgid, nr;
	bool woken, created, out, back, was_out;
	uint64_t lock, since, began;
	struct figures is, shown;	/* now; as of the look before */
	char comm[LIVE_COMM];
};

static struct model threads[IDS];
/* By process: of its ended threads, as the last look read them; what it showed. */
static struct process {
	struct figures gone, total;
	uint64_t gone_born, gone_ended, born, ended;
	bool is, empty;
} procs[TGIDS];
static struct figures machine;
static uint64_t seed = 88172645463325252ull;

static uint32_t below(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed % n);
}

static uint32_t tgid_of(uint32_t i)
{
	return 100 + i;
}

static void pass(uint64_t ns)
{
	size_t i;

	t_ns += ns;
	for (i = 0; i < IDS; i++) {
		struct model *m = &threads[i];

		if (m->out)
			continue;
		if (m->kind == RUNS)
			m->is.cpu += ns;
		else if (m->kind == QUEUES || (m->kind == WAITS && m->woken))
			m->is.runnable += ns;
		else if (m->kind == WAITS) {
			m->is.blocked += ns;
			m->is.lock += m->lock ? ns : 0;
		}
	}
}

static void add(struct figures *to, const struct figures *now, const struct figures *before)
{
	to->cpu += now->cpu - before->cpu;
	to->runnable += now->runnable - before->runnable;
	to->blocked += now->blocked - before->blocked;
	to->lock += now->lock - before->lock;
	to->switches += now->switches - before->switches;
	to->calls += now->calls - before->calls;
}

static void begins(uint32_t i)
{
	struct model *m = &threads[i];
	uint32_t tgid = below(TGIDS);

	memset(m, 0, sizeof(*m));
	m->created = below(4);
	m->slot = m->created ? born(1 + i, tgid_of(tgid)) : found(1 + i, tgid_of(tgid));
	m->tgid = tgid;
	m->kind = m->created ? QUEUES : WAITS;
	m->since = m->began = t_ns;
	strcpy(m->comm, "newborn");
}

static void ends(struct model *m)
{
	dies(m->slot);
	m->kind = GONE;
}

static void left_out(struct model *m)
{
	struct live_seen *s = &slots[m->slot];

	if (m->out) {
		s->tid = (uint32_t)(m - threads) + 1;
		s->state = SEEN_RUNNABLE;
		s->since_ns = m->since = t_ns;
		m->kind = QUEUES;
		m->back = true;
	} else {
		/* Its account is closed where it is. */
		if (m->kind == RUNS) {
			s->oncpu_ns += t_ns - s->since_ns;
		} else if (m->kind == QUEUES) {
			s->runnable_ns += t_ns - s->since_ns;
		} else {
			uint64_t woken = m->woken ? s->woken_ns : t_ns;

			s->blocked_ns += woken - s->since_ns;
			s->lock_ns += m->lock ? woken - s->since_ns : 0;
			s->runnable_ns += t_ns - woken;
		}
		s->since_ns = t_ns;
		s->tid = 0;
		s->woken_ns = s->lock_addr = 0;
		m->woken = false;
	}
	m->out = !m->out;
}

static void goes_to_sleep(struct model *m)
{
	m->nr = below(3) ? 202 : below(4);
	m->lock = m->nr == 202 ? 0x1000 + 4 * below(3) : 0;
	m->kind = WAITS;
	m->woken = false;
	m->is.switches++;
	goes_off(m->slot, SEEN_BLOCKED, m->nr, m->lock);
}

static void runs_again(struct model *m)
{
	comes_on(m->slot);
	m->kind = RUNS;
	m->woken = false;
}

static void change(uint32_t i)
{
	struct model *m = &threads[i];
	uint32_t what = below(100);

	if (m->kind == GONE) {
		if (what < 40)
			begins(i);
		return;
	}
	if (what < 3) {
		left_out(m);
		return;
	}
	if (m->out)
		return;
	if (what < 6) {
		m->comm[what]++;
		memcpy(slots[m->slot].comm, m->comm, LIVE_COMM);
		return;
	}
	switch (m->kind) {
	case RUNS:
		if (what < 15) {
			ends(m);
			return;
		}
		if (what < 30) {
			m->is.calls++;
			slots[m->slot].calls++;
			return;
		}
		if (what < 60) {
			goes_to_sleep(m);
		} else {
			goes_off(m->slot, SEEN_RUNNABLE, 0, 0);
			m->is.switches++;
			m->kind = QUEUES;
		}
		break;
	case WAITS:
		if (!m->woken) {
			slots[m->slot].woken_ns = t_ns;
			m->woken = t_ns > m->since;
			if (!m->woken) {
				slots[m->slot].woken_ns = 0;
				return;
			}
			break;
		}
		runs_again(m);
		break;
	default:
		runs_again(m);
	}
	m->since = t_ns;
}

/* ---- what is shown against what is so ---- */

static void same(const char *what, struct now_count got, uint64_t total, uint64_t step)
{
	if (got.total != total || got.step != step)
		fail_msg("tick %llu: %s is %llu, step %llu; want %llu, %llu",
			 (unsigned long long)w->now.tick, what, (unsigned long long)got.total,
			 (unsigned long long)got.step, (unsigned long long)total,
			 (unsigned long long)step);
}

static void check_thread(struct model *m)
{
	const struct now_thread *t = thread((pid_t)(m - threads) + 1);
	enum now_state want = m->kind == RUNS ? NOW_RUNNING :
		m->kind == WAITS && !m->woken ? NOW_BLOCKED : NOW_RUNNABLE;

	assert_non_null(t);
	assert_int_equal(t->tgid, tgid_of(m->tgid));
	assert_int_equal(t->state, want);
	assert_int_equal(t->state_ns, t_ns - m->since);
	assert_int_equal(t->age_ns, t_ns - m->began);
	assert_int_equal(t->lock_addr, want == NOW_BLOCKED ? m->lock : 0);
	assert_true(!t->wait == (want != NOW_BLOCKED));
	assert_string_equal(t->comm, m->comm);
	same("cpu_ns", t->cpu_ns, m->is.cpu, m->is.cpu - m->shown.cpu);
	same("runnable_ns", t->runnable_ns, m->is.runnable, m->is.runnable - m->shown.runnable);
	same("blocked_ns", t->blocked_ns, m->is.blocked, m->is.blocked - m->shown.blocked);
	same("lock_ns", t->lock_ns, m->is.lock, m->is.lock - m->shown.lock);
	same("switches", t->switches, m->is.switches, m->is.switches - m->shown.switches);
	same("calls", t->calls, m->is.calls, m->is.calls - m->shown.calls);
}

/* Never less than before: of a thread that ended since the ended ones were read neither has it. */
static void count(const char *what, struct now_count got, uint64_t *total, uint64_t is,
		  uint64_t *step)
{
	uint64_t more = is > *total ? is - *total : 0;

	*total += more;
	*step += more;
	same(what, got, *total, more);
}

static void check_process(struct process *m, const struct now_process *p,
			  const struct figures *is, uint64_t born, struct figures *all)
{
	uint64_t ignored = 0;

	count("a process's cpu_ns", p->cpu_ns, &m->total.cpu, is->cpu, &all->cpu);
	count("a process's runnable_ns", p->runnable_ns, &m->total.runnable, is->runnable,
	      &all->runnable);
	count("a process's blocked_ns", p->blocked_ns, &m->total.blocked, is->blocked, &ignored);
	count("a process's lock_ns", p->lock_ns, &m->total.lock, is->lock, &ignored);
	count("a process's switches", p->switches, &m->total.switches, is->switches,
	      &all->switches);
	count("a process's calls", p->calls, &m->total.calls, is->calls, &ignored);
	count("a process's born", p->born, &m->born, born, &ignored);
	count("a process's ended", p->ended, &m->ended, m->gone_ended, &ignored);
}

static void check_processes(uint32_t i, const uint32_t by[4], const struct figures *alive,
			    uint64_t born, struct figures *all)
{
	const struct now_process *p = process((pid_t)tgid_of(i));
	struct process *m = &procs[i];
	struct figures is = m->gone;
	static const struct figures none;
	uint32_t n = by[RUNS] + by[QUEUES] + by[WAITS];

	if (!n && m->gone_ended == m->ended && (m->empty || !m->is)) {
		/* Nobody was left the last time either: it is gone, and so is what it was. */
		assert_null(p);
		memset(m, 0, sizeof(*m));
		return;
	}
	assert_non_null(p);
	m->is = true;
	m->empty = !n;
	assert_int_equal(p->threads, n);
	assert_int_equal(p->running, by[RUNS]);
	assert_int_equal(p->runnable, by[QUEUES]);
	assert_int_equal(p->blocked, by[WAITS]);
	add(&is, alive, &none);
	check_process(m, p, &is, m->gone_born + born, all);
}

/* What is a step is what came since the look before, or its last switch if it was left out. */
static void check_alive(struct model *m, uint64_t last_ns)
{
	const struct live_seen *s = &slots[m->slot];

	if (m->back && m->began < last_ns)
		m->shown = (struct figures){ s->oncpu_ns, s->runnable_ns, s->blocked_ns, s->lock_ns,
					     s->switches, s->calls };
	m->back = false;
	check_thread(m);
	m->shown = m->is;
}

static void check_all(uint64_t last_ns)
{
	static const struct figures none;
	struct figures alive[TGIDS] = { { 0 } }, all = { 0 };
	uint64_t born[TGIDS] = { 0 };
	uint32_t by[TGIDS][4] = { { 0 } }, i, n = 0;

	for (i = 0; i < IDS; i++) {
		struct model *m = &threads[i];

		if (m->kind == GONE)
			continue;
		if (m->out) {
			/* This look has found it out: the next that finds it finds it new. */
			m->was_out = true;
			continue;
		}
		m->back &= m->was_out;
		m->was_out = false;
		check_alive(m, last_ns);
		n++;
		by[m->tgid][m->kind == WAITS && m->woken ? QUEUES : m->kind]++;
		add(&alive[m->tgid], &m->is, &none);
		born[m->tgid] += m->created;
	}
	assert_int_equal(w->now.nthread, n);
	for (i = 0; i < TGIDS; i++)
		check_processes(i, by[i], &alive[i], born[i], &all);
	add(&machine, &all, &none);
	same("cpu_ns of all", w->now.cpu_ns, machine.cpu, all.cpu);
	same("runnable_ns of all", w->now.runnable_ns, machine.runnable, all.runnable);
	same("switches of all", w->now.switches, machine.switches, all.switches);
}

/* Between the reading of ended threads and the look at the others. */
static void amid(void)
{
	uint32_t i, more;

	for (i = 0; i < TGIDS; i++) {
		struct live_ended *d = NULL;
		size_t at;

		for (at = 0; at < nended; at++)
			if (ended[at].tgid == tgid_of(i))
				d = &ended[at].v;
		procs[i].gone = d ? (struct figures){ d->oncpu_ns, d->runnable_ns, d->blocked_ns,
						      d->lock_ns, d->switches, d->calls } :
				    (struct figures){ 0 };
		procs[i].gone_ended = d ? d->ended : 0;
		procs[i].gone_born = d ? d->created : 0;
	}
	for (more = below(3) ? 0 : below(6); more; more--)
		change(below(IDS));
}

static void against_the_model(void **state)
{
	uint64_t last_ns;
	uint32_t i;

	(void)state;
	for (i = 0; i < STEPS; i++) {
		pass(1 + below(1000));
		change(below(IDS));
		if (below(12))
			continue;
		last_ns = w->last_ns;
		look_while(amid);
		check_all(last_ns);
	}
	assert_true(w->now.tick > STEPS / 20);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(against_the_model, watch_setup, watch_teardown),
	};

	return cmocka_run_group_tests_name("watch against a model", tests, NULL, NULL);
}
