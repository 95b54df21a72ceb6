/* SPDX-License-Identifier: MIT */
/* futex_addresses N: one wasted wake on each of N different words, three on the last. */
#include "workload.h"

int main(int argc, char **argv)
{
	long n = wl_arg(argc, argv, 1, 10007), calls = 0;
	uint32_t *word = calloc((size_t)n + 1, sizeof(*word));

	if (!word)
		wl_die("calloc");
	for (long i = 0; i < n; i++, calls++)
		wl_futex(&word[i], FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	for (long i = 0; i < 2 && n; i++, calls++)
		wl_futex(&word[n - 1], FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	printf("addresses=%ld calls=%ld last=%p\n", n, calls, (void *)&word[n ? n - 1 : 0]);
	return 0;
}
