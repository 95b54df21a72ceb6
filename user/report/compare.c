/* SPDX-License-Identifier: MIT */
#include "report/compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/compare_pair.h"
#include "stats/adjust.h"

const struct compare_opts compare_defaults = { .fdr = 0.02, .level = 0.95 };

static int check_series(const struct metric_pair *pair, const struct series *s, const char *side,
			struct err *err)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (!(s->values[i] >= 0) || isinf(s->values[i]))
			return err_set(err, EINVAL, "cannot compare %s: run %zu of the %s has the "
				       "value %g", pair->name, i + 1, side, s->values[i]);
	return 0;
}

static int check_pair(const struct metric_pair *pair, struct err *err)
{
	const struct metric_rule *r = &pair->rule;
	int ret;

	if (!(r->weight > 0) || isinf(r->weight))
		return err_set(err, EINVAL, "cannot compare %s: its weight is %g, not above 0",
			       pair->name, r->weight);
	if (!(r->min_ratio >= 0) || !(r->min_delta >= 0))
		return err_set(err, EINVAL, "cannot compare %s: its least change is negative",
			       pair->name);
	ret = check_series(pair, &pair->base, "base", err);
	return ret ? ret : check_series(pair, &pair->now, "new side", err);
}

/*
 * Fills q of all results from their p, and the sum of the weights that took part: what
 * is still has none. 0 or -ENOMEM.
 */
static int correct(const struct compare_pair *c, size_t n, double *weights)
{
	double *p = malloc(2 * n * sizeof(*p)), *weight = p + n;
	size_t i, k = 0;
	int ret;

	if (!p)
		return -ENOMEM;
	*weights = 0;
	for (i = 0; i < n; i++) {
		if (c[i].still)
			continue;
		p[k] = c[i].r->p;
		*weights += weight[k++] = c[i].pair->rule.weight;
	}
	ret = adjust_bh(p, weight, k, p);
	for (i = k = 0; !ret && i < n; i++)
		c[i].r->q = c[i].still ? 1 : p[k++];
	free(p);
	return ret;
}

static int compare_all(struct compare_pair *c, const struct metric_pair *pairs, size_t n,
		       const struct compare_opts *opts, struct metric_result *out)
{
	double weights;
	size_t i;
	int ret = 0;

	for (i = 0; i < n && !ret; i++)
		ret = compare_pair_measure(&c[i], &pairs[i], opts, &out[i]);
	if (!ret)
		ret = correct(c, n, &weights);
	for (i = 0; i < n && !ret; i++) {
		double weight = pairs[i].rule.weight;

		/* What is still takes part as soon as it moves. */
		ret = compare_pair_judge(&c[i], opts->fdr * weight
						/ (weights + (c[i].still ? weight : 0)));
	}
	return ret;
}

int compare_metrics(const struct metric_pair *pairs, size_t n, const struct compare_opts *opts,
		    struct metric_result *out, struct err *err)
{
	struct compare_pair *c;
	size_t i;
	int ret;

	for (i = 0; i < n; i++) {
		ret = check_pair(&pairs[i], err);
		if (ret)
			return ret;
	}
	if (!n)
		return 0;
	c = calloc(n, sizeof(*c));
	if (!c)
		return err_sys(err, ENOMEM, "cannot compare %zu metrics", n);
	ret = compare_all(c, pairs, n, opts ? opts : &compare_defaults, out);
	if (ret)
		err_sys(err, -ret, "cannot compare %zu metrics", n);
	for (i = 0; i < n; i++)
		compare_pair_release(&c[i]);
	free(c);
	return ret;
}

enum compare_verdict compare_overall(const struct metric_result *results, size_t n)
{
	enum compare_verdict worst = COMPARE_SAME;
	size_t i;

	if (!n)
		return COMPARE_INCONCLUSIVE;
	for (i = 0; i < n; i++)
		if (results[i].verdict > worst)
			worst = results[i].verdict;
	return worst;
}

const char *compare_word(enum compare_verdict v)
{
	static const char *const words[] = {
		[COMPARE_SAME] = "same",
		[COMPARE_BETTER] = "better",
		[COMPARE_INCONCLUSIVE] = "inconclusive",
		[COMPARE_WORSE] = "worse",
	};

	return words[v];
}
