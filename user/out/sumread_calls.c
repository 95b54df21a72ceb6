/* SPDX-License-Identifier: MIT */
/* System calls, scheduling and the ledgers of a summary that is read: see summary_read.c. */
#include <stdlib.h>
#include <string.h>

#include "base/errname.h"
#include "out/sumread.h"

#define AT SUMREAD_AT
#define ROWS SUMREAD_ROWS
#define END SUMREAD_END

/* The errno that out_errno_name writes as this word; 0: none. */
static int errno_of(const struct sumread *r)
{
	int code = errname_find(r->j.s, r->j.n);
	char text[12], *end;
	long number;

	if (code || r->j.n < 2 || r->j.n >= sizeof(text) || r->j.s[0] != 'E')
		return code;
	memcpy(text, r->j.s, r->j.n);
	text[r->j.n] = '\0';
	number = strtol(text + 1, &end, 10);
	return *end || number < 1 || number > INT32_MAX ? 0 : (int)number;
}

static int add_errno(struct sumread *r, void *base)
{
	struct sum_syscall *c = base;
	void *rows = c->by_errno;
	int e, code = errno_of(r);

	if (!code)
		return jread_fail(&r->j, "'%.*s' is no error's name",
				  (int)(r->j.n < 64 ? r->j.n : 64), r->j.s);
	e = sumread_grow(r, &rows, c->nby_errno, sizeof(*c->by_errno));
	if (e)
		return e;
	c->by_errno = rows;
	c->by_errno[c->nby_errno].err = code;
	return jread_u64(&r->j, &c->by_errno[c->nby_errno++].count);
}

static int read_by_errno(struct sumread *r, void *base)
{
	return sumread_names(r, base, add_errno);
}

const struct sumread_member sumread_syscall[] = {
	{ "name", M_NAME, true, AT(sum_syscall, name) }, { "nr", M_INT, AT(sum_syscall, nr) },
	{ "calls", M_U64, AT(sum_syscall, calls) }, { "errors", M_U64, AT(sum_syscall, errors) },
	{ "by_errno", M_FN, .fn = read_by_errno },
	{ "total_ns", M_DIST_U64, AT(sumread_dist, total) },
	{ "cpu_ns", M_U64, AT(sum_syscall, cpu_ns) },
	{ "p50_ns", M_DIST_U64, AT(sumread_dist, p50) },
	{ "p99_ns", M_DIST_U64, AT(sumread_dist, p99) },
	{ "max_ns", M_DIST_U64, AT(sumread_dist, max) },
	{ "timed", M_DIST_U64, AT(sumread_dist, count) }, { "buckets", .kind = M_BUCKETS },
	END
};

int sumread_syscall_done(struct sumread *r, void *row)
{
	struct sum_syscall *c = row;

	/* From before "timed" there was: all of them, but those that never return. */
	if (!r->dist.count && !r->dist.has_buckets)
		r->dist.count = c->calls;
	sumread_hist(&r->dist, &c->wall);
	return 0;
}

static const struct sumread_member block_members[] = {
	{ "name", M_NAME, true, AT(sum_block, name) }, { "count", M_U64, AT(sum_block, count) },
	{ "total_ns", M_U64, AT(sum_block, total_ns) },
	END
};

const struct sumread_member sumread_sched[] = {
	{ "cpus", M_U32, AT(summary, sched.cpus) },
	{ "oncpu_ns", M_U64, AT(summary, sched.oncpu_ns) },
	{ "runnable_ns", M_U64, AT(summary, sched.runnable_ns) },
	{ "blocked_ns", M_U64, AT(summary, sched.blocked_ns) },
	{ "switches", M_U64, AT(summary, sched.switches) },
	{ "voluntary", M_U64, AT(summary, sched.voluntary) },
	{ "involuntary", M_U64, AT(summary, sched.involuntary) },
	{ "migrations", M_U64, AT(summary, sched.migrations) },
	{ "runq_ns", M_DIST, AT(summary, sched.runq) },
	{ "blocked_in", ROWS(summary, sched.block, sched.nblock, sum_block, block_members) },
	END
};

const struct sumread_member sumread_overhead[] = {
	{ "measured", M_BOOL, AT(summary, overhead.measured) },
	{ "bare_call_ns", M_I64, AT(summary, overhead.bare_call_ns) },
	{ "ns_per_syscall", M_I64, AT(summary, overhead.ns_per_syscall) },
	{ "ns_per_futex", M_I64, AT(summary, overhead.ns_per_futex) },
	{ "ns_per_pipe_chunk", M_I64, AT(summary, overhead.ns_per_pipe_chunk) },
	{ "ns_per_start_routine", M_I64, AT(summary, overhead.ns_per_start_routine) },
	{ "ns_in_routine_stage", M_I64, AT(summary, overhead.ns_in_routine_stage) },
	{ "consumer_cpu_ns", M_U64, AT(summary, overhead.consumer_cpu_ns) },
	END
};

const struct sumread_member sumread_loss[] = {
	{ "ring_full", M_U64, AT(summary, loss.ring_full) },
	{ "map_full", M_U64, AT(summary, loss.map_full) },
	{ "recursion", M_U64, AT(summary, loss.recursion) },
	{ "unpaired", M_U64, AT(summary, loss.unpaired) },
	{ "stacks", M_U64, AT(summary, loss.stacks) },
	{ "unknown", M_U64, AT(summary, loss.unknown) },
	{ "total", M_U64, AT(summary, loss.total) },
	END
};
