/* SPDX-License-Identifier: MIT */
#include "out/out.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/errname.h"

static const struct out_format *const formats[] = {
	&out_format_table, &out_format_json, &out_format_csv, &out_format_folded,
	&out_format_pprof, &out_format_perfetto,
};

const struct out_format *out_format_find(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		if (!strcmp(formats[i]->name, name))
			return formats[i];
	return NULL;
}

const char *out_errno_name(int err, char tmp[24])
{
	const char *name = errname(err);

	if (name)
		return name;
	snprintf(tmp, 24, "E%d", err);
	return tmp;
}

void out_lock_name(struct buf *b, const struct sum_lock *l)
{
	const char *slash = l->module ? strrchr(l->module, '/') : NULL;

	if (l->symbol && *l->symbol)
		buf_adds(b, l->symbol);
	else if (l->module && l->module_offset)
		buf_addf(b, "%s+0x%" PRIx64, slash && slash[1] ? slash + 1 : l->module,
			 l->module_offset);
	else
		buf_addf(b, "0x%" PRIx64, l->addr);
}

static const struct sum_syscall *call_at(const void *p)
{
	return *(const struct sum_syscall *const *)p;
}

static int by_name(const void *a, const void *b)
{
	const struct sum_syscall *x = call_at(a), *y = call_at(b);
	int r = strcmp(x->name, y->name);

	return r ? r : (x->nr > y->nr) - (x->nr < y->nr);
}

static int by_number(const void *a, const void *b)
{
	const struct sum_syscall *x = call_at(a), *y = call_at(b);

	return x->nr == y->nr ? by_name(a, b) : (x->nr > y->nr) - (x->nr < y->nr);
}

/* Largest first. */
#define SORT_BY(fn, value)							\
static int fn(const void *a, const void *b)					\
{										\
	const struct sum_syscall *x = call_at(a), *y = call_at(b);		\
	uint64_t vx = value(x), vy = value(y);					\
										\
	return vx == vy ? by_name(a, b) : (vx < vy) - (vx > vy);		\
}

#define TIME(c)   ((c)->wall.sum)
#define CPU(c)    ((c)->cpu_ns)
#define CALLS(c)  ((c)->calls)
#define ERRORS(c) ((c)->errors)
#define MEAN(c)   (hist_mean(&(c)->wall))
#define P50(c)    (hist_quantile(&(c)->wall, 0.5))
#define P99(c)    (hist_quantile(&(c)->wall, 0.99))
#define MAX(c)    ((c)->wall.max)

SORT_BY(by_time, TIME)
SORT_BY(by_cpu, CPU)
SORT_BY(by_calls, CALLS)
SORT_BY(by_errors, ERRORS)
SORT_BY(by_mean, MEAN)
SORT_BY(by_p50, P50)
SORT_BY(by_p99, P99)
SORT_BY(by_max, MAX)

static const out_sort_fn sorts[] = {
	[OUT_SORT_TIME] = by_time,
	[OUT_SORT_CPU] = by_cpu,
	[OUT_SORT_CALLS] = by_calls,
	[OUT_SORT_ERRORS] = by_errors,
	[OUT_SORT_MEAN] = by_mean,
	[OUT_SORT_P50] = by_p50,
	[OUT_SORT_P99] = by_p99,
	[OUT_SORT_MAX] = by_max,
	[OUT_SORT_NAME] = by_name,
	[OUT_SORT_NOTHING] = by_number,
};
_Static_assert(sizeof(sorts) / sizeof(*sorts) == OUT_SORTS, "each order has a function");

out_sort_fn out_sort_calls(enum out_sort sort)
{
	return (unsigned int)sort < OUT_SORTS ? sorts[sort] : NULL;
}
