/* SPDX-License-Identifier: MIT */
#include "stats/adjust.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

struct weighted { double p; size_t at; };

static int by_p(const void *a, const void *b)
{
	const struct weighted *x = a, *y = b;

	if (x->p != y->p)
		return x->p < y->p ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

int adjust_bh(const double *p, const double *weight, size_t n, double *q)
{
	struct weighted *order;
	double sum = 0, least = 1;
	size_t i;

	if (!n)
		return 0;
	order = malloc(n * sizeof(*order));
	if (!order)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		sum += weight ? weight[i] : 1;
	for (i = 0; i < n; i++)
		order[i] = (struct weighted){ p[i] * sum / (weight ? weight[i] : 1), i };
	qsort(order, n, sizeof(*order), by_p);
	/* .p is n times too large already, by the scale of the weights. */
	for (i = n; i-- > 0;) {
		least = fmin(least, order[i].p / (double)(i + 1));
		q[order[i].at] = least;
	}
	free(order);
	return 0;
}
