/* SPDX-License-Identifier: MIT */
/*
 * diag_short_lived_threads: 3,000 threads, one after the other, that return at
 * once; or 600, four at a time, that live 3 ms each.
 */
#include "diag.h"

static void *nothing(void *arg)
{
	return arg;
}

static void *something(void *arg)
{
	wl_sleep_us(3000);
	return arg;
}

int main(int argc, char **argv)
{
	if (diag_trigger(argc, argv)) {
		for (int i = 0; i < 3000; i++)
			diag_join(diag_thread(NULL, nothing, NULL));
		return 0;
	}
	for (int i = 0; i < 600; i += 4) {
		pthread_t t[4];

		for (int j = 0; j < 4; j++)
			t[j] = diag_thread(NULL, something, NULL);
		for (int j = 0; j < 4; j++)
			diag_join(t[j]);
	}
	return 0;
}
