/* SPDX-License-Identifier: MIT */
/*
 * diag_futex_per_chunk: 20,000 chunks of 1 KiB through a pipe to a thread; both
 * ends also wake a futex for each chunk, or for every eighth.
 */
#include "diag.h"

#define CHUNKS 20000
#define SIZE 1024

static int fd[2];
static uint32_t filled, emptied;
static int each;

static void *reader(void *arg)
{
	static char chunk[SIZE];

	(void)arg;
	for (int i = 0; i < CHUNKS; i++) {
		diag_read(fd[0], chunk, SIZE);
		if (i % each == 0)
			wl_futex(&emptied, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static char chunk[SIZE];
	pthread_t t;

	each = diag_trigger(argc, argv) ? 1 : 8;
	if (pipe(fd))
		wl_die("pipe");
	t = diag_thread(NULL, reader, NULL);
	for (int i = 0; i < CHUNKS; i++) {
		diag_write(fd[1], chunk, SIZE);
		if (i % each == 0)
			wl_futex(&filled, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
	diag_join(t);
	return 0;
}
