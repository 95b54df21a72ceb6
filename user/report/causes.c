/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. A part is a row: its name, what is counted of it, and a figure for each run of
 * either side, 0 where it did not appear. The rows are compared as metrics are, as a
 * family of their own: what changed by chance is not named as a cause.
 */
#include "report/causes.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "out/out.h"
#include "stats/hist.h"
#include "store/text.h"

enum what { CALLS, CALL_TIME, WAITS, WAITED, WASTED, STAGE, CHUNKS, BLOCKED, WHATS };

/* What is counted of a part, and the metric whose rule it goes by. */
static const struct what_row {
	enum regress_part part;
	const char *what, *rule;
} whats[WHATS] = {
	[CALLS] = { REGRESS_SYSCALL, "calls", "syscall.any" },
	[CALL_TIME] = { REGRESS_SYSCALL, "time", "time.blocked" },
	[WAITS] = { REGRESS_LOCK, "waits", "futex.wait" },
	[WAITED] = { REGRESS_LOCK, "time waited", "time.blocked" },
	[WASTED] = { REGRESS_LOCK, "wasted wakes", "futex.wake_wasted" },
	[STAGE] = { REGRESS_STAGE, "mean", "thread.cost_p50" },
	[CHUNKS] = { REGRESS_PIPE, "chunks", "pipe.chunks" },
	[BLOCKED] = { REGRESS_PIPE, "time blocked", "pipe.blocked" },
};

#define SMALL 0.001	/* rows of less than this share of their kind are not compared */

struct row {
	enum what what;
	const char *name;
	double *value[2];	/* of each run */
	const char *stack[2];	/* the heaviest that was seen */
	double weight[2];
};

struct parts {
	size_t runs[2];
	struct row *row;
	size_t n, cap;
	struct map *by_hash;	/* uint64_t → size_t: index of a row */
	struct regress_stack *stack;
	size_t nstack, stack_cap;
	struct map *stack_by_hash;
	struct text_block *text;
};

struct parts *parts_new(size_t base_runs, size_t now_runs)
{
	struct parts *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->runs[PARTS_BASE] = base_runs;
	p->runs[PARTS_NOW] = now_runs;
	p->by_hash = map_new(sizeof(uint64_t), sizeof(size_t));
	p->stack_by_hash = map_new(sizeof(uint64_t), sizeof(size_t));
	if (!p->by_hash || !p->stack_by_hash) {
		parts_free(p);
		return NULL;
	}
	return p;
}

void parts_free(struct parts *p)
{
	size_t i;

	if (!p)
		return;
	for (i = 0; i < p->n; i++) {
		free(p->row[i].value[PARTS_BASE]);
		free(p->row[i].value[PARTS_NOW]);
	}
	free(p->row);
	free(p->stack);
	map_free(p->by_hash);
	map_free(p->stack_by_hash);
	text_free(p->text);
	free(p);
}

static void *grow(void *array, size_t n, size_t *cap, size_t bytes)
{
	size_t more = *cap ? *cap * 2 : 64;
	void *grown;

	if (n < *cap)
		return array;
	grown = realloc(array, more * bytes);
	if (grown)
		*cap = more;
	return grown;
}

static struct row *row_new(struct parts *p, enum what what, const char *name)
{
	struct row *grown = grow(p->row, p->n, &p->cap, sizeof(*grown)), *r;

	if (!grown)
		return NULL;
	p->row = grown;
	r = &grown[p->n];
	*r = (struct row){ .what = what, .name = text_keep(&p->text, name, strlen(name)) };
	r->value[PARTS_BASE] = calloc(p->runs[PARTS_BASE] + 1, sizeof(double));
	r->value[PARTS_NOW] = calloc(p->runs[PARTS_NOW] + 1, sizeof(double));
	p->n++;	/* released with the others, also when it is not whole */
	return r->name && r->value[PARTS_BASE] && r->value[PARTS_NOW] ? r : NULL;
}

static struct row *row_for(struct parts *p, enum what what, const char *name)
{
	uint64_t hash = map_hash(name, strlen(name)) + (uint64_t)what;
	struct row *r;
	size_t *at;

	for (;; hash++) {
		at = map_get(p->by_hash, &hash);
		if (!at)
			break;
		r = &p->row[*at];
		if (r->what == what && !strcmp(r->name, name))
			return r;
	}
	at = map_put(p->by_hash, &hash);
	if (!at)
		return NULL;
	*at = p->n;
	return row_new(p, what, name);
}

struct place { struct parts *p; enum parts_side side; size_t run; };

static struct row *count(const struct place *at, enum what what, const char *name, double value)
{
	struct row *r = row_for(at->p, what, name);

	if (r)
		r->value[at->side][at->run] += value;
	return r;
}

/* ---- a summary's parts ---- */

static int add_calls(const struct place *at, const struct summary *s)
{
	size_t i;

	for (i = 0; i < s->nsyscall; i++) {
		const struct sum_syscall *c = &s->syscall[i];

		if (!count(at, CALLS, c->name, (double)c->calls) ||
		    !count(at, CALL_TIME, c->name, (double)c->wall.sum))
			return -ENOMEM;
	}
	return 0;
}

static int keep_stack(const struct place *at, const char *folded, double ns)
{
	struct parts *p = at->p;
	uint64_t hash = map_hash(folded, strlen(folded));
	struct regress_stack *grown;
	size_t *known;

	for (;; hash++) {
		known = map_get(p->stack_by_hash, &hash);
		if (!known)
			break;
		if (!strcmp(p->stack[*known].folded, folded)) {
			*(at->side == PARTS_BASE ? &p->stack[*known].base :
						   &p->stack[*known].now) += ns;
			return 0;
		}
	}
	grown = grow(p->stack, p->nstack, &p->stack_cap, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	p->stack = grown;
	grown[p->nstack] = (struct regress_stack){
		text_keep(&p->text, folded, strlen(folded)),
		at->side == PARTS_BASE ? ns : 0, at->side == PARTS_NOW ? ns : 0,
	};
	known = map_put(p->stack_by_hash, &hash);
	if (!grown[p->nstack].folded || !known)
		return -ENOMEM;
	*known = p->nstack++;
	return 0;
}

/* The lock's stacks, and the heaviest of them as the one to be shown. */
static int add_sites(const struct place *at, struct row *const rows[3], const struct sum_lock *l)
{
	struct sum_shares shares = sum_lock_shares(l);
	struct buf b = BUF_INIT;
	uint64_t waits, wait_ns;
	size_t i, j;
	int r = 0;

	for (i = 0; !r && shares.all && i < l->nsite; i++) {
		const char *kept = NULL;

		sum_lock_share(&shares, &l->site[i], &waits, &wait_ns);
		buf_reset(&b);
		out_folded_stack(&b, l, &l->site[i]);
		r = b.failed ? -ENOMEM : keep_stack(at, b.data, (double)wait_ns);
		for (j = 0; !r && j < 3; j++) {
			if ((double)wait_ns < rows[j]->weight[at->side])
				continue;
			if (!kept)
				kept = text_keep(&at->p->text, b.data, b.len);
			rows[j]->weight[at->side] = (double)wait_ns;
			rows[j]->stack[at->side] = kept;
			r = kept ? 0 : -ENOMEM;
		}
	}
	buf_release(&b);
	return r;
}

/*
 * What has no name is known by its process: its address is another one in each run, and
 * a count of its own would be a part that comes and goes.
 */
static void lock_name(struct buf *b, const struct sum_lock *l)
{
	if (l->symbol || l->module)
		out_lock_name(b, l);
	else
		buf_addf(b, "%s of %s", sum_lock_use(l) == SUM_USE_UNKNOWN ? "lock" :
			 sum_lock_use_name(sum_lock_use(l)), l->comm);
}

static int add_locks(const struct place *at, const struct summary *s)
{
	struct buf name = BUF_INIT;
	size_t i;
	int r = 0;

	for (i = 0; !r && i < s->nlock; i++) {
		const struct sum_lock *l = &s->lock[i];
		struct row *rows[3];

		if (l->kind == SUM_LOCK_JOIN)
			continue;
		buf_reset(&name);
		lock_name(&name, l);
		/* Rows move when one is added: each is looked up again when all are there. */
		if (name.failed ||
		    !count(at, WAITS, name.data, (double)l->waits) ||
		    !count(at, WAITED, name.data, (double)l->wait.sum) ||
		    !count(at, WASTED, name.data, (double)l->wasted_wakes))
			r = -ENOMEM;
		if (r)
			break;
		rows[0] = row_for(at->p, WAITS, name.data);
		rows[1] = row_for(at->p, WAITED, name.data);
		rows[2] = row_for(at->p, WASTED, name.data);
		r = add_sites(at, rows, l);
	}
	buf_release(&name);
	return r;
}

static int add_stages(const struct place *at, const struct summary *s)
{
	int i;

	for (i = 0; i < SUM_STAGES; i++)
		if (s->threads.stage[i].count &&
		    !count(at, STAGE, sum_stage_name((enum sum_stage)i),
			   (double)hist_mean(&s->threads.stage[i])))
			return -ENOMEM;
	return 0;
}

static int add_pipes(const struct place *at, const struct summary *s)
{
	struct buf name = BUF_INIT;
	size_t i;
	int r = 0;

	for (i = 0; !r && i < s->npipe; i++) {
		const struct sum_pipe *p = &s->pipe[i];

		buf_reset(&name);
		buf_addf(&name, "%s -> %s", p->nwriter ? p->writer[0].comm : "?",
			 p->nreader ? p->reader[0].comm : "?");
		if (name.failed ||
		    !count(at, CHUNKS, name.data,
			   (double)(p->chunks_written ? p->chunks_written : p->chunks_read)) ||
		    !count(at, BLOCKED, name.data,
			   (double)(p->writer_blocked_ns + p->reader_blocked_ns)))
			r = -ENOMEM;
	}
	buf_release(&name);
	return r;
}

int parts_add(struct parts *p, enum parts_side side, size_t run, const struct summary *s)
{
	struct place at = { p, side, run };
	int r = s->mode == SUM_EXACT ? add_calls(&at, s) : 0;

	if (!r)
		r = add_locks(&at, s);
	if (!r)
		r = add_stages(&at, s);
	return r ? r : add_pipes(&at, s);
}

/* ---- the comparison ---- */

void parts_limit(struct parts *p, size_t base_runs, size_t now_runs)
{
	p->runs[PARTS_BASE] = base_runs;
	p->runs[PARTS_NOW] = now_runs;
}

static double mean(const double *v, size_t n)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < n; i++)
		sum += v[i];
	return n ? sum / (double)n : 0;
}

struct changed { const struct row *row; double base, now, share; bool worse; };

/* Worse first; then by how much of all there is of its kind the change is. */
static int by_share(const void *a, const void *b)
{
	const struct changed *x = a, *y = b;

	if (x->worse != y->worse)
		return x->worse ? -1 : 1;
	if (x->share != y->share)
		return x->share < y->share ? 1 : -1;
	return strcmp(x->row->name, y->row->name);
}

/* The rows that are large enough, as pairs: their number; *all: sums by kind. */
static size_t make_pairs(const struct parts *p, struct metric_pair *pair, const struct row **row,
			 double all[WHATS])
{
	size_t i, n = 0;

	for (i = 0; i < p->n; i++)
		all[p->row[i].what] += mean(p->row[i].value[0], p->runs[0]) +
				       mean(p->row[i].value[1], p->runs[1]);
	for (i = 0; i < p->n; i++) {
		const struct row *r = &p->row[i];

		if (mean(r->value[0], p->runs[0]) + mean(r->value[1], p->runs[1]) <=
		    all[r->what] * SMALL)
			continue;
		row[n] = r;
		pair[n++] = (struct metric_pair){
			.name = r->name,
			.rule = *metric_find(whats[r->what].rule),
			.base = { r->value[PARTS_BASE], p->runs[PARTS_BASE] },
			.now = { r->value[PARTS_NOW], p->runs[PARTS_NOW] },
		};
	}
	return n;
}

static const char *keep(struct regress *r, const char *s)
{
	return s ? text_keep(&r->text, s, strlen(s)) : NULL;
}

static int take_changed(struct regress *r, const struct changed *c, size_t n)
{
	size_t i;

	r->contributor = calloc(n + 1, sizeof(*r->contributor));
	if (!r->contributor)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		const struct what_row *what = &whats[c[i].row->what];
		struct regress_contributor *to = &r->contributor[r->ncontributor++];

		*to = (struct regress_contributor){
			.part = what->part, .name = keep(r, c[i].row->name), .what = what->what,
			.unit = metric_find(what->rule)->unit, .base = c[i].base, .now = c[i].now,
			.stack_base = keep(r, c[i].row->stack[PARTS_BASE]),
			.stack_now = keep(r, c[i].row->stack[PARTS_NOW]),
		};
		if (!to->name)
			return -ENOMEM;
	}
	return 0;
}

static int take_stacks(struct regress *r, const struct parts *p)
{
	size_t i;

	r->stack = calloc(p->nstack + 1, sizeof(*r->stack));
	if (!r->stack)
		return -ENOMEM;
	for (i = 0; i < p->nstack; i++) {
		r->stack[i] = (struct regress_stack){
			keep(r, p->stack[i].folded),
			p->runs[0] ? p->stack[i].base / (double)p->runs[0] : 0,
			p->runs[1] ? p->stack[i].now / (double)p->runs[1] : 0,
		};
		if (!r->stack[i].folded)
			return -ENOMEM;
		r->nstack++;
	}
	return 0;
}

struct comparison {
	struct metric_pair *pair;
	struct metric_result *result;
	const struct row **row;
	struct changed *changed;
	size_t n, nchanged;
};

static void find_changed(struct comparison *c, const double all[WHATS])
{
	size_t i;

	for (i = 0; i < c->n; i++) {
		const struct metric_result *m = &c->result[i];

		if (m->verdict != COMPARE_WORSE && m->verdict != COMPARE_BETTER)
			continue;
		c->changed[c->nchanged++] = (struct changed){
			.row = c->row[i], .base = m->base, .now = m->now,
			.share = fabs(m->now - m->base) / all[c->row[i]->what],
			.worse = m->verdict == COMPARE_WORSE,
		};
	}
	qsort(c->changed, c->nchanged, sizeof(*c->changed), by_share);
}

int parts_compare(struct parts *p, const struct compare_opts *opts, struct regress *r,
		  struct err *err)
{
	double all[WHATS] = { 0 };
	struct comparison c = {
		.pair = calloc(p->n + 1, sizeof(*c.pair)),
		.result = calloc(p->n + 1, sizeof(*c.result)),
		.row = calloc(p->n + 1, sizeof(*c.row)),
		.changed = calloc(p->n + 1, sizeof(*c.changed)),
	};
	int rc = c.pair && c.result && c.row && c.changed ? 0 : -ENOMEM;

	if (!rc) {
		c.n = make_pairs(p, c.pair, c.row, all);
		rc = compare_metrics(c.pair, c.n, opts, c.result, err);
	}
	if (!rc) {
		find_changed(&c, all);
		rc = take_changed(r, c.changed, c.nchanged);
	}
	if (!rc)
		rc = take_stacks(r, p);
	free(c.pair);
	free(c.result);
	free(c.row);
	free(c.changed);
	return rc == -ENOMEM ? err_sys(err, ENOMEM, "cannot compare the parts") : rc;
}
