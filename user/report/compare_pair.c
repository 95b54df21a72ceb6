/* SPDX-License-Identifier: MIT */
#include "report/compare_pair.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/boot.h"
#include "stats/rank.h"
#include "stats/runs.h"
#include "stats/sample.h"
#include "stats/welch.h"

/*
 * DESIGN: "worse" and "better" want three things at once: a q that is significant, a
 * confidence interval without 1, and medians as far apart as the rule says matters.
 * "Same" is a claim as well and wants evidence too: the interval within what does
 * not matter, and two one-sided rank tests (Schuirmann 1987) that say so, which hold
 * for few runs where bootstrap intervals are too short. All else is inconclusive.
 */

/* Fewer runs a side than this decide nothing. */
#define LEAST_RUNS 3
/*
 * With fewer than so many, a count must change by a tenth: one that has two values,
 * a few percent apart, shows one of them on each side too often.
 */
#define SURE_RUNS 5
#define UNSURE_RATIO 0.1
/* From so many runs a side, counts are tested by ranks too. */
#define RANK_RUNS 10
/* A count of min_delta more is significant with three runs a side, see docs/statistics.md. */
#define FLOOR_PART (1. / 12)
/* A trend this unlikely is named. */
#define DRIFT_P 0.01
/*
 * What drift may explain, in what both sides drifted while they were measured: sides
 * that follow one another are half of that apart, the rest allows for a pause.
 */
#define DRIFT_REACH 2.
#define SAME_P 0.05
/* More than that nobody runs: other means are needed, and no number is told. */
#define RUNS_WORTH 10000
/*
 * Runs are planned for this, so that with all that planning does not know (discrete
 * values, a spread that is only estimated) at least 80 % decide.
 */
#define PLAN_POWER 0.9

static size_t fewer(const struct compare_pair *c)
{
	size_t a = c->pair->base.n, b = c->pair->now.n;

	return a < b ? a : b;
}

/* Whether @high is above @low as far as matters, by the ratio and by the difference. */
static bool matters(const struct compare_pair *c, double low, double high)
{
	const struct metric_rule *rule = &c->pair->rule;
	double most = 1 + rule->min_ratio;

	if (rule->kind == METRIC_COUNT && fewer(c) < SURE_RUNS)
		most = fmax(most, 1 + UNSURE_RATIO);
	return high > low && high >= low * most && high - low >= rule->min_delta;
}

/* The p of no change. 0 or -ENOMEM. */
static int test_change(struct compare_pair *c)
{
	const struct series *base = &c->pair->base, *now = &c->pair->now;
	const struct metric_rule *rule = &c->pair->rule;
	bool count = rule->kind == METRIC_COUNT;
	struct rank_test rank = { .p = 1 };
	struct welch w;

	if (!count || fewer(c) >= RANK_RUNS) {
		int ret = rank_utest(base->values, base->n, now->values, now->n, RANK_TWO_SIDED,
				     &rank);

		if (ret)
			return ret;
		c->r->p = rank.p;
	}
	if (!count)
		return 0;
	w = welch_test(base->values, base->n, now->values, now->n, rule->min_delta * FLOOR_PART);
	/* Two tests, either of which may find it: twice the smaller (Bonferroni). */
	c->r->p = fewer(c) < RANK_RUNS ? w.p : fmin(2 * fmin(w.p, rank.p), 1);
	return 0;
}

/* Outliers and drift. 0 or -ENOMEM. */
static int note_order(struct compare_pair *c)
{
	const struct series *base = &c->pair->base, *now = &c->pair->now;
	double least = c->pair->rule.min_delta;
	struct trend tb, tn;
	int ret = trend_kendall(base->values, base->n, &tb);

	if (!ret)
		ret = trend_kendall(now->values, now->n, &tn);
	if (ret)
		return ret;
	if (sample_outside(c->base, base->n, sample_fences(c->base, base->n, least)))
		c->r->notes |= COMPARE_OUTLIERS_BASE;
	if (sample_outside(c->now, now->n, sample_fences(c->now, now->n, least)))
		c->r->notes |= COMPARE_OUTLIERS_NOW;
	if (tb.p < DRIFT_P)
		c->r->notes |= COMPARE_DRIFT_BASE;
	if (tn.p < DRIFT_P)
		c->r->notes |= COMPARE_DRIFT_NOW;
	c->drift = trend_common(&tb, &tn);
	return 0;
}

static int measure_medians(struct compare_pair *c)
{
	struct metric_result *r = c->r;
	size_t nb = c->pair->base.n, nn = c->pair->now.n;

	r->base = sample_median(c->base, nb);
	r->now = sample_median(c->now, nn);
	r->ratio = r->base > 0 ? r->now / r->base : r->now > 0 ? INFINITY : 1;
	if (r->base == 0)
		r->notes |= COMPARE_ZERO_BASE;
	if (c->base[0] == c->base[nb - 1] && c->now[0] == c->now[nn - 1])
		r->notes |= COMPARE_CONSTANT;
	c->still = !matters(c, fmin(c->base[0], c->now[0]),
			    fmax(c->base[nb - 1], c->now[nn - 1]));
	return boot_medians(c->base, nb, c->now, nn, BOOT_RATIO, c->opts->level, r->ci);
}

int compare_pair_measure(struct compare_pair *c, const struct metric_pair *pair,
			 const struct compare_opts *opts, struct metric_result *r)
{
	size_t nb = pair->base.n, nn = pair->now.n;
	int ret;

	*c = (struct compare_pair){ .pair = pair, .opts = opts, .r = r, .still = true };
	*r = (struct metric_result){ .ratio = 1, .ci = { 0, INFINITY }, .p = 1, .q = 1,
				     .verdict = COMPARE_INCONCLUSIVE };
	if (!nb || !nn)
		return 0;
	c->base = malloc((2 * nb + nn) * sizeof(*c->base));
	if (!c->base)
		return -ENOMEM;
	c->now = c->base + nb;
	c->moved = c->now + nn;
	memcpy(c->base, pair->base.values, nb * sizeof(*c->base));
	memcpy(c->now, pair->now.values, nn * sizeof(*c->now));
	sample_sort(c->base, nb);
	sample_sort(c->now, nn);
	ret = measure_medians(c);
	if (!ret)
		ret = test_change(c);
	return ret ? ret : note_order(c);
}

void compare_pair_release(struct compare_pair *c)
{
	free(c->base);
}

/* +1: the medians rose as far as matters, -1: they fell so, 0: neither. */
static int direction(const struct compare_pair *c)
{
	if (matters(c, c->r->base, c->r->now))
		return 1;
	return matters(c, c->r->now, c->r->base) ? -1 : 0;
}

/*
 * Whether two one-sided tests say that now lies below base moved up, times @times and
 * plus @plus, and above base moved down. 0 or -ENOMEM.
 */
static int lies_between(struct compare_pair *c, double times, double plus, bool *so)
{
	size_t nb = c->pair->base.n, nn = c->pair->now.n, i;
	struct rank_test below, above;
	int ret;

	*so = false;
	for (i = 0; i < nb; i++)
		c->moved[i] = c->base[i] * times + plus;
	ret = rank_utest(c->moved, nb, c->now, nn, RANK_LESS, &below);
	/* Three runs against three reach 1/20 itself. */
	if (ret || below.p > SAME_P + 1e-12)
		return ret;
	for (i = 0; i < nb; i++)
		c->moved[i] = c->base[i] / times - plus;
	ret = rank_utest(c->moved, nb, c->now, nn, RANK_GREATER, &above);
	*so = !ret && above.p <= SAME_P + 1e-12;
	return ret;
}

/* Whether the difference, not the ratio, is too small to matter. 0 or -ENOMEM. */
static int find_same_delta(struct compare_pair *c, bool *same)
{
	double least = c->pair->rule.min_delta, ci[2];
	int ret;

	if (!(fabs(c->r->now - c->r->base) < least))
		return 0;
	ret = boot_medians(c->base, c->pair->base.n, c->now, c->pair->now.n, BOOT_DIFFERENCE,
			   c->opts->level, ci);
	if (!ret && ci[0] > -least && ci[1] < least)
		ret = lies_between(c, 1, least, same);
	return ret;
}

/* Whether nothing changed that matters. 0 or -ENOMEM. */
static int find_same(struct compare_pair *c, bool *same)
{
	const struct metric_result *r = c->r;
	double most = 1 + c->pair->rule.min_ratio;
	int ret = 0;

	/* The same constant all over lies in no interval without width. */
	*same = r->notes & COMPARE_CONSTANT && r->base == r->now;
	if (!*same && r->ci[0] > 1 / most && r->ci[1] < most)
		ret = lies_between(c, most, 0, same);
	return ret || *same ? ret : find_same_delta(c, same);
}

/*
 * The spread of one run, at most: from both sides about their own middle, or from the
 * width of the interval where that says more, as it does of medians between two modes.
 */
static double upper_spread(const struct compare_pair *c)
{
	const struct metric_result *r = c->r;
	size_t nb = c->pair->base.n, nn = c->pair->now.n;
	double least = c->pair->rule.min_delta * FLOOR_PART;
	double sb = sample_spread(c->base, nb, sample_fences(c->base, nb, least));
	double sn = sample_spread(c->now, nn, sample_fences(c->now, nn, least));
	double df = (double)(nb + nn - 2), seen, wide = 0;

	seen = sqrt((sb * sb * (double)(nb - 1) + sn * sn * (double)(nn - 1)) / df);
	if (r->base > 0 && r->ci[1] < INFINITY)
		wide = runs_sd_of_interval((r->ci[1] - r->ci[0]) * r->base, c->opts->level, nb, nn);
	return fmax(runs_upper_sd(fmax(seen, least), df), wide);
}

/*
 * What would decide: where a change is beyond chance already, the runs that show one
 * between what was seen and the near end of its interval; else those that show that
 * there is none, which are more than those that find twice what matters.
 */
static uint64_t runs_needed(const struct compare_pair *c, double alpha)
{
	const struct metric_result *r = c->r;
	const struct metric_rule *rule = &c->pair->rule;
	double margin = fmax(r->base * rule->min_ratio, rule->min_delta);
	double near = fmax(r->ci[0] - 1, 1 - r->ci[1]) * r->base;
	double seen = fabs(r->now - r->base), sd = upper_spread(c);
	uint64_t least = fewer(c) + 1, n;

	if (!(margin > 0))
		return 0;
	n = runs_to_bound(sd, margin, c->opts->level, PLAN_POWER);
	if (near > 0 && near < INFINITY && seen > margin) {
		double change = fmax((seen + near) / 2, margin * 1.25);
		uint64_t find = runs_to_find(sd, change, alpha, PLAN_POWER);
		uint64_t beyond = runs_to_bound(sd, change - margin, 0, 2 * PLAN_POWER - 1);

		n = find > beyond ? find : beyond;
	}
	if (rule->kind == METRIC_TIME && runs_to_separate(alpha) > least)
		least = runs_to_separate(alpha);
	else if (rule->kind == METRIC_COUNT && least < SURE_RUNS)
		least = SURE_RUNS;
	if (n > RUNS_WORTH)
		return 0;
	return n > least ? n : least;
}

/* No values of so few runs could be significant at @alpha. */
static bool too_few(const struct compare_pair *c, double alpha)
{
	if (fewer(c) < LEAST_RUNS)
		return true;
	return c->pair->rule.kind == METRIC_TIME
	       && rank_least_p(c->pair->base.n, c->pair->now.n) > alpha;
}

/* How far a side moved at most, without what is far out. */
static double extent(const double *sorted, size_t n, double least)
{
	struct sample_fences f = sample_fences(sorted, n, least);

	return fmin(sorted[n - 1], f.high) - fmax(sorted[0], f.low);
}

/*
 * Whether a change by @way may be the drift of a machine: both sides drift that way,
 * one ran after the other, and the change is not far more than they drifted.
 */
static bool drift_hides(const struct compare_pair *c, int way)
{
	double least = c->pair->rule.min_delta, drifted;

	if (c->opts->alternated || c->drift.p >= DRIFT_P || c->drift.s * way <= 0)
		return false;
	drifted = extent(c->base, c->pair->base.n, least) +
		  extent(c->now, c->pair->now.n, least);
	return fabs(c->r->now - c->r->base) <= DRIFT_REACH * drifted;
}

int compare_pair_judge(struct compare_pair *c, double alpha)
{
	struct metric_result *r = c->r;
	int way, ret;
	bool same;

	if (too_few(c, alpha))
		r->notes |= COMPARE_FEW_RUNS;
	if (fewer(c) < LEAST_RUNS) {
		r->runs_needed = c->pair->rule.kind == METRIC_TIME ?
			runs_to_separate(alpha) : LEAST_RUNS;
		return 0;
	}
	way = direction(c);
	if (way && r->q <= c->opts->fdr && (way > 0 ? r->ci[0] > 1 : r->ci[1] < 1)) {
		if (drift_hides(c, way)) {
			r->notes |= COMPARE_DRIFT_HIDES;
			return 0;
		}
		r->verdict = (way > 0) == c->pair->rule.more_is_better ? COMPARE_BETTER
								      : COMPARE_WORSE;
		return 0;
	}
	ret = find_same(c, &same);
	if (same)
		r->verdict = COMPARE_SAME;
	else
		r->runs_needed = runs_needed(c, alpha);
	return ret;
}
