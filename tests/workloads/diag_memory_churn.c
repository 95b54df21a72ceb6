/* SPDX-License-Identifier: MIT */
/*
 * diag_memory_churn: 8,000 buffers of 64 KiB; each is mapped, touched at its
 * begin and unmapped, or one mapping serves for twenty.
 */
#include "diag.h"

#define BUFFERS 8000
#define SIZE (64 << 10)

static char *take(void)
{
	char *p = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		wl_die("mmap");
	return p;
}

int main(int argc, char **argv)
{
	int each = diag_trigger(argc, argv) ? 1 : 20;
	char *p = NULL;

	for (int i = 0; i < BUFFERS; i++) {
		if (i % each == 0) {
			if (p && munmap(p, SIZE))
				wl_die("munmap");
			p = take();
		}
		*(volatile char *)p = 1;
	}
	return 0;
}
