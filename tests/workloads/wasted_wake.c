/* SPDX-License-Identifier: MIT */
/* wasted_wake N: N FUTEX_WAKE calls on a word that nobody waits for. */
#include "workload.h"

static uint32_t nobody_waits;

int main(int argc, char **argv)
{
	long n = wl_arg(argc, argv, 1, 10007);
	struct wl_tally a = { .tid = wl_tid() }, b = { .tid = 0 };

	for (long i = 0; i < n; i++)
		wl_tally_wake(&a, wl_futex(&nobody_waits, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0));
	printf("addr=%p ", (void *)&nobody_waits);
	wl_tally_print(&a, &b);
	return 0;
}
