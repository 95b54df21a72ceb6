/* SPDX-License-Identifier: MIT */
/*
 * futex_items N EXTRA: hands over N items with a futex wake each, at item_word, and with
 * EXTRA 1 a second one, at extra_word: the regression of one more futex call an item.
 */
#include "workload.h"

uint32_t item_word, extra_word;

int main(int argc, char **argv)
{
	long n = wl_arg(argc, argv, 1, 1009), extra = wl_arg(argc, argv, 2, 0);
	struct wl_tally t = { 0 };

	for (long i = 0; i < n; i++) {
		wl_tally_wake(&t, wl_futex(&item_word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0));
		if (extra)
			wl_tally_wake(&t, wl_futex(&extra_word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL,
						   0));
	}
	printf("wakes=%ld\n", t.wakes);
	return 0;
}
