/* SPDX-License-Identifier: MIT */
/* Rules over the edges between threads: pipes, FIFOs, socket pairs, eventfds. */
#include "report/rule.h"

#include <inttypes.h>
#include <stdio.h>

#include "stats/units.h"

/* The part of the busiest thread's chunks that makes another one its equal. */
#define SHARED_PART 0.1

struct end_text { char s[80]; };
struct pipe_text { char s[224]; };

static struct end_text end_name(const struct sum_pipe_end *end, size_t n)
{
	struct end_text t;

	if (!n)
		snprintf(t.s, sizeof(t.s), "an untraced process");
	else if (n == 1)
		snprintf(t.s, sizeof(t.s), "%s", rule_comm(end->comm, end->tid).s);
	else
		snprintf(t.s, sizeof(t.s), "%s and %zu more", rule_comm(end->comm, end->tid).s,
			 n - 1);
	return t;
}

/* "pipe 4711 from COMM (TID) to COMM (TID)". */
static struct pipe_text pipe_name(const struct sum_pipe *p)
{
	struct pipe_text t;

	snprintf(t.s, sizeof(t.s), "%s %" PRIu64 " from %s to %s", sum_pipe_kind_name(p->kind),
		 p->inode, end_name(p->writer, p->nwriter).s, end_name(p->reader, p->nreader).s);
	return t;
}

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t pipe_chunks(const struct sum_pipe *p)
{
	return most(p->chunks_written, p->chunks_read);
}

static double pipe_mean_bytes(const struct sum_pipe *p)
{
	return rule_part((double)most(p->bytes, p->bytes_read), (double)pipe_chunks(p));
}

/* CPU time of the calls that moved the chunks. */
static double pipe_calls_ns(const struct summary *s, const struct sum_pipe *p)
{
	return (double)p->chunks_written * rule_call_ns(s, "write") +
	       (double)p->chunks_read * rule_call_ns(s, "read");
}

static uint64_t reader_sleeps(const struct sum_pipe *p)
{
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < p->nreader; i++)
		n += p->reader[i].blocked;
	return n;
}

/* Whether @q carries the answers to @p: same two threads, about as many chunks. */
static bool pipe_answers(const struct sum_pipe *p, const struct sum_pipe *q)
{
	uint64_t a = pipe_chunks(p), b = pipe_chunks(q);

	return p->nwriter && p->nreader && q->nwriter && q->nreader &&
	       p->writer[0].tid == q->reader[0].tid && p->reader[0].tid == q->writer[0].tid &&
	       p->writer[0].tid != p->reader[0].tid && a <= 2 * b && b <= 2 * a;
}

/*
 * The edge that answers @p when the two threads work by turns: each sleeps for
 * at least @part of what it reads. NULL: none.
 */
static const struct sum_pipe *pipe_by_turns(const struct summary *s, const struct sum_pipe *p,
					    double part)
{
	size_t i;

	if ((double)reader_sleeps(p) < part * (double)p->chunks_read)
		return NULL;
	for (i = 0; i < s->npipe; i++) {
		const struct sum_pipe *q = &s->pipe[i];

		if (q != p && pipe_answers(p, q) &&
		    (double)reader_sleeps(q) >= part * (double)q->chunks_read)
			return q;
	}
	return NULL;
}

/* Chunks so small that moving them costs more than they carry. */
int rule_tiny_chunks(const struct rule *r, const struct summary *s, struct verdict *v)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < s->npipe && !ret; i++) {
		const struct sum_pipe *p = &s->pipe[i];
		uint64_t chunks = pipe_chunks(p);
		double mean = pipe_mean_bytes(p), cost = pipe_calls_ns(s, p);

		/* Turns taken by small messages have a rule of their own: no larger chunk helps. */
		if (p->kind == SUM_EVENTFD || chunks < r->limit.count ||
		    mean >= (double)r->limit.bytes || !rule_worth(r, s, cost) ||
		    pipe_by_turns(s, p, r->limit.other))
			continue;
		const struct sum_evidence evidence[] = {
			{ "inode", (double)p->inode },
			{ "chunks", (double)chunks },
			{ "bytes", (double)most(p->bytes, p->bytes_read) },
			{ "mean_bytes", mean },
			{ "cost_ns", cost },
			{ "cpu_part", rule_part(cost, rule_cpu_ns(s)) },
		};
		const struct rule_case c = { cost, chunks, RULE_EVIDENCE(evidence) };

		ret = verdict_add(v, r, &c, "%s moves %s in %s chunks of %s on average: the calls "
				  "take about %s, %s of the CPU time used", pipe_name(p).s,
				  units_bytes((double)most(p->bytes, p->bytes_read)).s,
				  units_count(chunks).s, units_bytes(mean).s, units_time(cost).s,
				  units_percent(rule_part(cost, rule_cpu_ns(s))).s);
	}
	return ret;
}

/* A pipe whose ends also call futex for each chunk: a queue kept twice. */
int rule_futex_per_chunk(const struct rule *r, const struct summary *s, struct verdict *v)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < s->npipe && !ret; i++) {
		const struct sum_pipe *p = &s->pipe[i];
		double cost = (double)p->futex_calls * rule_call_ns(s, "futex");
		uint64_t chunks = pipe_chunks(p);

		if (chunks < r->limit.count || p->futex_per_chunk < r->limit.ratio ||
		    !rule_worth(r, s, cost))
			continue;
		const struct sum_evidence evidence[] = {
			{ "inode", (double)p->inode },
			{ "chunks", (double)chunks },
			{ "futex_calls", (double)p->futex_calls },
			{ "futex_per_chunk", p->futex_per_chunk },
			{ "cost_ns", cost },
		};
		const struct rule_case c = { cost, chunks, RULE_EVIDENCE(evidence) };

		ret = verdict_add(v, r, &c, "%s: its ends make %.1f futex calls a chunk on top of "
				  "the pipe, %s in all, about %s", pipe_name(p).s,
				  p->futex_per_chunk, units_count(p->futex_calls).s,
				  units_time(cost).s);
	}
	return ret;
}

/* A pipe's two ends as the stages of a pipeline. */
struct stage {
	const struct sum_pipe_end *end;
	const struct sum_thread *thread;
	double blocked;	/* asleep at this pipe, as a part of its life */
	double held;	/* the same, as a part of its life without the time on a run queue */
	double busy;	/* part of its life on a CPU or ready */
};

static bool stage_of(struct verdict *v, const struct summary *s, const struct sum_pipe_end *end,
		     struct stage *st)
{
	double life_ns, queued_ns;

	st->end = end;
	st->thread = verdict_thread(v, s, end->tid);
	if (!st->thread)
		return false;
	/* A thread that was there before may have lived longer than we looked. */
	life_ns = (double)st->thread->lifetime_ns;
	if (!st->thread->lifetime_ns || st->thread->lifetime_ns > s->duration_ns)
		life_ns = (double)s->duration_ns;
	queued_ns = (double)st->thread->runnable_ns;
	st->blocked = rule_part((double)end->blocked_ns, life_ns);
	/* A busy machine holds up everybody: that must not hide what a stage does. */
	st->held = rule_part((double)end->blocked_ns, life_ns - queued_ns);
	st->busy = rule_part((double)st->thread->oncpu_ns + queued_ns, life_ns);
	return true;
}

/* What can be said without the threads: a stream that one end waited for. */
static bool edge_is_stream(const struct rule *r, const struct sum_pipe *p,
			   const struct sum_pipe_end *held)
{
	return p->kind != SUM_EVENTFD && p->nwriter && p->nreader &&
	       p->writer[0].tid != p->reader[0].tid && pipe_chunks(p) >= r->limit.count &&
	       most(p->bytes, p->bytes_read) >= r->limit.bytes && held->blocked_ns >= r->limit.ns;
}

/*
 * Whether @slow holds @held up: held sleeps at this pipe for limit.part of its
 * life while slow sleeps there for at most limit.other and works or wants to
 * for limit.ratio of its own. A slow stage that does not work is itself held up
 * by another, and that one is the finding.
 */
static bool stage_holds_up(const struct rule *r, const struct stage *slow,
			   const struct stage *held)
{
	return held->held >= r->limit.part && slow->blocked <= r->limit.other &&
	       slow->busy >= r->limit.ratio;
}

/* Several threads share the stage's work already: it is a pool, not a stage that is alone. */
static bool stage_is_shared(const struct sum_pipe_end *end, size_t n)
{
	return n > 1 && (double)end[1].chunks >= SHARED_PART * (double)end[0].chunks;
}

static int judge_stages(const struct rule *r, const struct summary *s, struct verdict *v,
			bool writer_slow)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < s->npipe && !ret; i++) {
		const struct sum_pipe *p = &s->pipe[i];
		struct stage w, rd, *slow = writer_slow ? &w : &rd, *held = writer_slow ? &rd : &w;

		if (!edge_is_stream(r, p, writer_slow ? p->reader : p->writer) ||
		    !stage_of(v, s, &p->writer[0], &w) || !stage_of(v, s, &p->reader[0], &rd) ||
		    !stage_holds_up(r, slow, held) ||
		    (writer_slow ? stage_is_shared(p->writer, p->nwriter) :
				   stage_is_shared(p->reader, p->nreader)))
			continue;
		/* With the slow stage's work split in two, half of the waiting goes. */
		const double cost = (double)held->end->blocked_ns / 2;
		const struct sum_evidence evidence[] = {
			{ "inode", (double)p->inode },
			{ "slow_tid", (double)slow->end->tid },
			{ "held_tid", (double)held->end->tid },
			{ "blocked_ns", (double)held->end->blocked_ns },
			{ "blocked_part", held->held },
			{ "slow_blocked_part", slow->blocked },
			{ "slow_busy_part", slow->busy },
		};
		const struct rule_case c = { cost, pipe_chunks(p), RULE_EVIDENCE(evidence) };

		ret = verdict_add(v, r, &c, "%s waits for %s for %s, %s of its time, at %s %" PRIu64
				  ": %s is busy %s of the time and sets the pace",
				  rule_comm(held->end->comm, held->end->tid).s,
				  rule_comm(slow->end->comm, slow->end->tid).s,
				  units_time((double)held->end->blocked_ns).s,
				  units_percent(held->held).s, sum_pipe_kind_name(p->kind),
				  p->inode, rule_comm(slow->end->comm, slow->end->tid).s,
				  units_percent(slow->busy).s);
	}
	return ret;
}

/* The reader sleeps, the writer works without pause: the writer's stage is too slow. */
int rule_starved_reader(const struct rule *r, const struct summary *s, struct verdict *v)
{
	return judge_stages(r, s, v, true);
}

/* The writer sleeps at a full pipe, the reader works without pause. */
int rule_blocked_writer(const struct rule *r, const struct summary *s, struct verdict *v)
{
	return judge_stages(r, s, v, false);
}

/* Two threads that pass small messages to and fro, one always asleep. */
int rule_fd_ping_pong(const struct rule *r, const struct summary *s, struct verdict *v)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < s->npipe && !ret; i++) {
		const struct sum_pipe *p = &s->pipe[i], *q = NULL;

		if (pipe_chunks(p) >= r->limit.count)
			q = pipe_by_turns(s, p, r->limit.part);
		/* q > p: each pair once. */
		if (!q || q < p || pipe_chunks(q) < r->limit.count ||
		    pipe_mean_bytes(p) >= (double)r->limit.bytes ||
		    pipe_mean_bytes(q) >= (double)r->limit.bytes)
			continue;
		const uint64_t sleeps = reader_sleeps(p) + reader_sleeps(q);
		const double cost = (double)sleeps * rule_switch_ns(s);

		if (!rule_worth(r, s, cost))
			continue;
		const struct sum_evidence evidence[] = {
			{ "inode", (double)p->inode },
			{ "answer_inode", (double)q->inode },
			{ "messages", (double)(p->chunks_read + q->chunks_read) },
			{ "sleeps", (double)sleeps },
			{ "cost_ns", cost },
		};
		const struct rule_case c = { cost, sleeps, RULE_EVIDENCE(evidence) };

		ret = verdict_add(v, r, &c, "%s and %s pass %s small messages to and fro by %s%s%s "
				  "and sleep for %s of them: the sleeping and waking alone take "
				  "about %s", rule_comm(p->writer[0].comm, p->writer[0].tid).s,
				  rule_comm(p->reader[0].comm, p->reader[0].tid).s,
				  units_count(p->chunks_read + q->chunks_read).s,
				  sum_pipe_kind_name(p->kind), p->kind == q->kind ? "" : " and ",
				  p->kind == q->kind ? "" : sum_pipe_kind_name(q->kind),
				  units_count(sleeps).s, units_time(cost).s);
	}
	return ret;
}
