/* SPDX-License-Identifier: MIT */
/* futex_timeout N US: N FUTEX_WAIT calls that nobody answers, each timing out after US. */
#include "workload.h"

static uint32_t never_woken;

int main(int argc, char **argv)
{
	long n = wl_arg(argc, argv, 1, 211), us = wl_arg(argc, argv, 2, 1000), timeouts = 0;
	struct timespec ts = { us / 1000000, us % 1000000 * 1000 };
	uint64_t t0 = wl_now_ns(), spent;

	for (long i = 0; i < n; i++) {
		long r = wl_futex(&never_woken, FUTEX_WAIT_PRIVATE, 0, &ts, NULL, 0);

		if (r == -ETIMEDOUT)
			timeouts++;
	}
	spent = wl_now_ns() - t0;
	printf("addr=%p timeouts=%ld spent_ns=%llu\n", (void *)&never_woken, timeouts,
	       (unsigned long long)spent);
	return 0;
}
