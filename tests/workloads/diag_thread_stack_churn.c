/* SPDX-License-Identifier: MIT */
/*
 * diag_thread_stack_churn: 1,000 threads, one after the other, that touch 256 KiB
 * of their stack; of 64 MiB, which is more than glibc caches, or of 1 MiB.
 */
#include "diag.h"

#define TOUCHED (256 << 10)

static void *touch(void *arg)
{
	char deep[TOUCHED];
	volatile char *p = deep;

	for (size_t i = 0; i < TOUCHED; i += 4096)
		p[i] = 1;
	return arg;
}

int main(int argc, char **argv)
{
	size_t stack = (size_t)(diag_trigger(argc, argv) ? 64 : 1) << 20;
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	errno = pthread_attr_setstacksize(&attr, stack);
	if (errno)
		wl_die("pthread_attr_setstacksize");
	for (int i = 0; i < 1000; i++)
		diag_join(diag_thread(&attr, touch, NULL));
	return 0;
}
