/* SPDX-License-Identifier: MIT */
/* futex_eagain N: N FUTEX_WAIT calls whose expected value is wrong. */
#include "workload.h"

static uint32_t changed_word = 7;

int main(int argc, char **argv)
{
	long n = wl_arg(argc, argv, 1, 10007);
	struct wl_tally a = { .tid = wl_tid() }, b = { .tid = 0 };

	for (long i = 0; i < n; i++)
		wl_tally_wait(&a, wl_futex(&changed_word, FUTEX_WAIT_PRIVATE, 3, NULL, NULL, 0));
	printf("addr=%p ", (void *)&changed_word);
	wl_tally_print(&a, &b);
	return 0;
}
