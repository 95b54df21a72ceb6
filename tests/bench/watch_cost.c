/* SPDX-License-Identifier: MIT */
/*
 * watch_cost PID N MS: watches process PID as `top` does, N refreshes MS
 * apart, and prints as JSON what a refresh takes of a CPU.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "collect/watch.h"

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static int measure(struct live *l, int pid, long n, long ms, struct err *err)
{
	uint64_t *cpu = calloc((size_t)n + 1, sizeof(*cpu)), begin;
	const struct now *now = NULL;
	struct watch *w = watch_new(l);
	long i;

	if (!cpu || !w)
		return err_sys(err, ENOMEM, "cannot watch");
	if (pid && live_target(l, pid, false, err))
		return -err->code;
	if (live_start(l, err) < 0 || watch_refresh(w, &now, err))
		return -err->code;
	begin = clock_process_cpu_ns();
	for (i = 0; i < n; i++) {
		uint64_t until = clock_mono_ns() + (uint64_t)ms * 1000000;

		while (clock_mono_ns() < until)
			if (live_tick(l, (int)((until - clock_mono_ns()) / 1000000 + 1), -1) < 0)
				return err_set(err, EIO, "cannot read the ring");
		if (watch_refresh(w, &now, err))
			return -err->code;
		cpu[i] = now->refresh_cpu_ns;
	}
	begin = clock_process_cpu_ns() - begin;
	qsort(cpu, (size_t)n, sizeof(*cpu), by_value);
	printf("{\"threads\": %zu, \"locks\": %zu, \"refresh_ns\": %llu, \"refresh_max_ns\": %llu, "
	       "\"all_ns\": %llu, \"lost\": %llu}\n", now->nthread, now->nlock,
	       (unsigned long long)cpu[n / 2], (unsigned long long)cpu[n - 1],
	       (unsigned long long)begin, (unsigned long long)now->loss.total);
	watch_free(w);
	free(cpu);
	return 0;
}

int main(int argc, char **argv)
{
	int pid = argc > 1 ? atoi(argv[1]) : 0;
	struct live_setup setup = {
		.mode = SUM_WAIT,
		.collect = SUM_SYSCALLS | SUM_THREADS | SUM_FUTEX | SUM_PIPES | SUM_SCHED,
		.targets_only = pid != 0,
		.stacks = true,
		.watch = true,
		.libexec_dir = "/nonexistent",
	};
	struct err err = {};
	struct live *l = live_open(&setup, &err);
	int r = !l;

	if (l && measure(l, pid, argc > 2 ? atol(argv[2]) : 10, argc > 3 ? atol(argv[3]) : 100,
			 &err))
		r = 1;
	if (r)
		fprintf(stderr, "watch_cost: %s\n", err.msg);
	live_free(l);
	return r;
}
