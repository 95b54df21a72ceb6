/* SPDX-License-Identifier: MIT */
/* What is debugged in a replay: memory that forks leave out, and memory that they share. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define BYTES (4096 * 4)

static char *left_out, *emptied;
static volatile int *shared;

static void *map(int how)
{
	void *at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | how, -1, 0);

	if (at == MAP_FAILED)
		exit(1);
	return at;
}

static void step(int n)
{
	getppid();
	*shared += n;
	left_out[0]++;
	emptied[0]++;
}

static void child(void)
{
	*shared += 100;
	exit(emptied[0] ? 1 : 41);
}

int main(void)
{
	int status;
	pid_t pid;

	left_out = map(MAP_PRIVATE);
	emptied = map(MAP_PRIVATE);
	shared = map(MAP_SHARED);
	if (madvise(left_out, BYTES, MADV_DONTFORK) || madvise(emptied, BYTES, MADV_WIPEONFORK))
		return 1;
	for (int i = 1; i <= 5; i++)
		step(i);
	pid = fork();
	if (!pid)
		child();
	waitpid(pid, &status, 0);
	printf("%d %d %d %d\n", left_out[0], emptied[0], *shared, WEXITSTATUS(status));
	return 7;
}
