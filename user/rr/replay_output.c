/* SPDX-License-Identifier: MIT */
/* What a replay's calls put out: compared with the recorded sum of it, and given to whom it is. */
#include <errno.h>
#include <string.h>

#include "base/io.h"
#include "rr/replay_state.h"
#include "shared/rr_sum.h"

/* Whose memory the walk is over. */
static const struct tracee *walked;
#define RR_PEEK(dst, n, addr) tracee_read(walked, dst, addr, n)
#include "shared/rr_outs.inc"

#define PART_BYTES ((size_t)16 * RR_SUM_PART)	/* that are read at once */

/* Does something with a part of it, behind which there are zeros up to the next step of a sum. */
typedef int part_fn(void *ctx, const uint64_t *part, size_t n);

/* Each part of the first @n in turn; -EFAULT where one cannot be read, or what @fn says. */
static int each_part(const struct rthread *t, const struct rr_ev_call *e, int64_t n, part_fn *fn,
		     void *ctx)
{
	uint64_t part[PART_BYTES / 8];
	struct rr_walk w;
	struct rr_range left;
	int r = 0;

	walked = &t->space->t;
	left = rr_begin_put(&w, e->nr, e->arg, n);
	do {
		while (!r && left.bytes) {
			const size_t k = left.bytes < sizeof(part) ? left.bytes : sizeof(part);

			memset((char *)part + k, 0, -k % RR_SUM_STEP);
			r = tracee_read(walked, part, left.addr, k) ? -EFAULT : fn(ctx, part, k);
			left.addr += k;
			left.bytes -= k;
		}
	} while (!r && rr_next(&w, &left));
	return r;
}

static int add_to_sum(void *ctx, const uint64_t *part, size_t n)
{
	for (size_t at = 0; at < n; at += RR_SUM_PART)
		rr_sum_add(ctx, part + at / 8, n - at < RR_SUM_PART ? (uint32_t)(n - at) :
			   RR_SUM_PART);
	return 0;
}

static int write_to(void *ctx, const uint64_t *part, size_t n)
{
	return io_write_all(*(const int *)ctx, part, n);
}

static int compare(struct replayer *p, const struct rthread *t, const struct rr_ev_call *e)
{
	struct rr_sum sum;

	/* It could not be read then: by now in memory, it may be. */
	if (!e->told)
		return 0;
	rr_sum_begin(&sum);
	if (each_part(t, e, e->ret < RR_SUM_MOST ? e->ret : RR_SUM_MOST, add_to_sum, &sum))
		return replay_fail(p, t, EILSEQ, "%s: its output is not there",
				   replay_call_name(e->nr));
	if (rr_sum_end(&sum) == e->told)
		return 0;
	return replay_fail(p, t, EILSEQ, "%s: the sum of its output was %#x and is %#x, at %#llx",
			   replay_call_name(e->nr), e->told, rr_sum_end(&sum),
			   (unsigned long long)t->space->t.regs.rip);
}

int replay_output(struct replayer *p, const struct rthread *t, const struct rr_ev_call *e)
{
	int fd = e->head.flags & RR_FLAG_STDERR ? 2 : 1, r;

	if (e->ret <= 0 || !(e->head.flags & (RR_FLAG_STDOUT | RR_FLAG_STDERR)))
		return 0;
	r = compare(p, t, e);
	if (r || !p->opts->output || recread_number(p->file) <= p->shown)
		return r;
	p->shown = recread_number(p->file);
	r = each_part(t, e, e->ret, write_to, &fd);
	/* Nor was it there then: /dev/null takes what it does not read. */
	if (r == -EFAULT && !e->told)
		return 0;
	if (r == -EFAULT)
		return replay_fail(p, t, EILSEQ, "%s: its output is not there",
				   replay_call_name(e->nr));
	return r ? err_sys(p->err, -r, "cannot write the output") : 0;
}
