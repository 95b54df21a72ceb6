/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. A line is a row of phrases in a fixed order, each with a rank. Where
 * there is no room, the highest rank goes first, whole: half a figure would be
 * another figure. Loss and own cost have rank 0; only where even these do not
 * fit is the line cut.
 */
#include "out/now_cell.h"

#include <stddef.h>
#include <string.h>

#include "out/human.h"
#include "out/utf8.h"
#include "stats/units.h"

#define HEAD_PHRASES 24

enum join { JOIN_ITEM, JOIN_WORD, JOIN_LIST, JOIN_COLON };

struct phrase {
	size_t start, end;
	unsigned int rank;
	enum join join;		/* to what stands before it */
};

struct head {
	const struct now_view *v;
	struct buf text;
	struct phrase phrase[HEAD_PHRASES];
	size_t n;
	size_t open;		/* start of the phrase that is being written */
};

static const char *join_text(const struct head *h, enum join join)
{
	switch (join) {
	case JOIN_WORD:
		return " ";
	case JOIN_LIST:
		return ", ";
	case JOIN_COLON:
		return ": ";
	case JOIN_ITEM:
		break;
	}
	return h->v->ascii ? " | " : " · ";
}

/* Ends a phrase: all that was added to .text since the last one. */
static void end_phrase(struct head *h, unsigned int rank, enum join join)
{
	if (h->n < HEAD_PHRASES)
		h->phrase[h->n++] = (struct phrase){ h->open, h->text.len, rank, join };
	h->open = h->text.len;
}

static void add(struct head *h, unsigned int rank, enum join join, const char *words)
{
	buf_adds(&h->text, words);
	end_phrase(h, rank, join);
}

static void add_ns(struct head *h, uint64_t ns)
{
	char tmp[HUMAN_BYTES];

	buf_adds(&h->text, human_ns(tmp, ns, h->v->ascii));
}

static void add_count(struct head *h, uint64_t n)
{
	char tmp[HUMAN_BYTES];

	buf_adds(&h->text, human_count(tmp, n));
}

static void add_percent(struct head *h, uint64_t part, uint64_t whole)
{
	char tmp[HUMAN_BYTES];

	buf_adds(&h->text, human_percent(tmp, part, whole));
}

/* "1,234 threads". */
static void add_things(struct head *h, uint64_t n, const char *one, const char *many)
{
	buf_addf(&h->text, "%s %s", units_count(n).s, n == 1 ? one : many);
}

/* Whether figures are those of the interval; an interval of no length has none. */
static bool by_interval(const struct head *h)
{
	return !h->v->totals && h->v->now->interval_ns;
}

/* "45.6k switches/s", "45.6k switches". */
static void add_rate(struct head *h, struct now_count c, const char *what, unsigned int rank,
		     enum join join)
{
	const struct now_view view = { .now = h->v->now, .totals = !by_interval(h),
				       .ascii = h->v->ascii };

	now_put_rate(&h->text, &view, c);
	buf_addf(&h->text, view.totals ? " %s" : " %s/s", what);
	end_phrase(h, rank, join);
}

/* "CPU 234 %", "CPU 12.3 s": as the columns of that name. */
static void add_share(struct head *h, const char *what, struct now_count c, unsigned int rank)
{
	buf_addf(&h->text, "%s ", what);
	if (by_interval(h))
		add_percent(h, c.step, h->v->now->interval_ns);
	else
		add_ns(h, c.total);
	end_phrase(h, rank, JOIN_ITEM);
}

static void add_states(struct head *h)
{
	static const unsigned int ranks[NOW_STATES] = { 2, 2, 2 };
	const struct now *n = h->v->now;
	uint64_t threads[NOW_STATES] = { 0 };
	bool first = true;
	size_t i;

	for (i = 0; i < n->nthread; i++)
		threads[n->thread[i].state]++;
	for (i = 0; i < NOW_STATES; i++) {
		buf_addf(&h->text, "%s ", now_state_name((enum now_state)i));
		add_count(h, threads[i]);
		end_phrase(h, ranks[i], first ? JOIN_ITEM : JOIN_WORD);
		first = false;
	}
}

/* Those of which all threads have ended stand in the table once more. */
static uint64_t live_processes(const struct now *n)
{
	uint64_t live = 0;
	size_t i;

	for (i = 0; i < n->nprocess; i++)
		live += n->process[i].threads > 0;
	return live;
}

static void fill_line1(struct head *h)
{
	const struct now *n = h->v->now;

	add_things(h, n->nthread, "thread", "threads");
	end_phrase(h, 0, JOIN_ITEM);
	buf_adds(&h->text, "of ");
	add_things(h, live_processes(n), "process", "processes");
	end_phrase(h, 3, JOIN_WORD);
	add_states(h);
	add_share(h, "CPU", n->cpu_ns, 1);
	if (n->cpus && by_interval(h)) {
		buf_adds(&h->text, "of ");
		add_percent(h, n->cpus, 1);
		end_phrase(h, 4, JOIN_WORD);
	}
	add_share(h, "RUNQ", n->runnable_ns, 5);
	add_rate(h, n->switches, "switches", 6, JOIN_ITEM);
	add_rate(h, n->migrations, "migrations", 9, JOIN_ITEM);
	add_rate(h, n->born, "born", 8, JOIN_ITEM);
	add_rate(h, n->ended, "ended", 8, JOIN_LIST);
	buf_adds(&h->text, "traced ");
	add_ns(h, n->since_ns);
	end_phrase(h, 7, JOIN_ITEM);
}

static const struct cause {
	size_t offset;
	const char *words;
} causes[] = {
	{ offsetof(struct sum_loss, ring_full), "ring full" },
	{ offsetof(struct sum_loss, map_full), "map full" },
	{ offsetof(struct sum_loss, recursion), "skipped by the kernel" },
	{ offsetof(struct sum_loss, unpaired), "return without enter" },
	{ offsetof(struct sum_loss, stacks), "stack not read" },
	{ offsetof(struct sum_loss, unknown), "of unknown kind" },
};

#define CAUSES (sizeof(causes) / sizeof(*causes))

/* The causes, the largest first, which is the last to be left out. */
static void add_causes(struct head *h)
{
	uint64_t n[CAUSES];
	size_t i, k;
	enum join join = JOIN_COLON;

	for (i = 0; i < CAUSES; i++)
		n[i] = *(const uint64_t *)((const char *)&h->v->now->loss + causes[i].offset);
	for (k = 0; k < CAUSES; k++) {
		size_t most = 0;

		for (i = 1; i < CAUSES; i++)
			most = n[i] > n[most] ? i : most;
		if (!n[most])
			return;
		add_count(h, n[most]);
		buf_addf(&h->text, " %s", causes[most].words);
		end_phrase(h, k ? 4 + (unsigned int)k : 1, join);
		join = JOIN_LIST;
		n[most] = 0;
	}
}

static void add_loss(struct head *h)
{
	buf_adds(&h->text, "lost ");
	add_count(h, h->v->now->loss.total);
	end_phrase(h, 0, JOIN_ITEM);
	if (!h->v->now->loss.total) {
		add(h, 2, JOIN_WORD, "events");
		return;
	}
	add_causes(h);
}

static void add_own(struct head *h)
{
	const struct now *n = h->v->now;

	buf_adds(&h->text, "own ");
	if (by_interval(h)) {
		add_percent(h, n->own_cpu_ns.step, n->interval_ns);
		end_phrase(h, 0, JOIN_ITEM);
		add(h, 2, JOIN_WORD, "of a CPU");
		return;
	}
	add_ns(h, n->own_cpu_ns.total);
	end_phrase(h, 0, JOIN_ITEM);
	add(h, 2, JOIN_WORD, "of CPU time");
}

/* What noise hides is left out: 0 ns would be a claim. */
static void add_cost(struct head *h, const char *to, int64_t ns, unsigned int rank)
{
	if (ns <= 0)
		return;
	buf_addf(&h->text, "%s +", to);
	add_ns(h, (uint64_t)ns);
	end_phrase(h, rank, JOIN_ITEM);
}

static void add_costs(struct head *h)
{
	const struct now *n = h->v->now;
	const struct sum_overhead *o = &n->overhead;
	const size_t before = h->n;

	if (n->mode == SUM_WAIT) {
		/* No program runs at a call: there is nothing to be measured. */
		add(h, 1, JOIN_ITEM, "a call +0 ns");
		add(h, 5, JOIN_WORD, "(wait mode)");
		return;
	}
	if (o->measured) {
		add_cost(h, "a call", o->ns_per_syscall, 1);
		if (n->collected & SUM_FUTEX)
			add_cost(h, "a futex", o->ns_per_futex, 3);
		if (n->collected & SUM_PIPES)
			add_cost(h, "a chunk", o->ns_per_pipe_chunk, 4);
	}
	if (h->n == before)
		add(h, 1, JOIN_ITEM, o->measured ? "cost of a call too small to measure" :
						   "cost of a call not measured");
	add(h, 5, JOIN_WORD, "(exact mode)");
}

static void fill_line2(struct head *h)
{
	const struct now *n = h->v->now;

	add_loss(h);
	add_own(h);
	add_costs(h);
	if (n->forgotten) {
		add_things(h, n->forgotten, "row dropped", "rows dropped");
		end_phrase(h, 9, JOIN_ITEM);
	}
	if (n->refresh_cpu_ns) {
		buf_adds(&h->text, "refresh ");
		add_ns(h, n->refresh_cpu_ns);
		end_phrase(h, 10, JOIN_ITEM);
	}
}

/* Puts those of a rank of at most @rank together. */
static void put_line(const struct head *h, struct buf *line, unsigned int rank)
{
	size_t i;

	buf_reset(line);
	for (i = 0; i < h->n; i++) {
		const struct phrase *p = &h->phrase[i];

		if (p->rank > rank)
			continue;
		if (line->len)
			buf_adds(line, join_text(h, p->join));
		buf_add(line, h->text.data + p->start, p->end - p->start);
	}
}

static void fit_line(struct head *h, struct buf *line, unsigned int width)
{
	unsigned int rank = 0;
	size_t i;

	line->failed |= h->text.failed;
	if (line->failed || !h->text.len)
		return;
	for (i = 0; i < h->n; i++)
		rank = h->phrase[i].rank > rank ? h->phrase[i].rank : rank;
	for (;; rank--) {
		put_line(h, line, rank);
		if (!rank || utf8_width(line->data, line->len) <= width)
			break;
	}
	if (line->len && utf8_width(line->data, line->len) > width) {
		line->len = utf8_fit(line->data, line->len, width ? width - 1 : 0, NULL);
		if (width)
			buf_adds(line, h->v->ascii ? "~" : "…");
	}
}

void now_head(struct buf *line1, struct buf *line2, const struct now_view *v, unsigned int width)
{
	struct head one = { .v = v }, two = { .v = v };

	fill_line1(&one);
	fit_line(&one, line1, width);
	buf_release(&one.text);
	fill_line2(&two);
	fit_line(&two, line2, width);
	buf_release(&two.text);
}
