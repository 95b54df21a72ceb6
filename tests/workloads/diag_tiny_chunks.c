/* SPDX-License-Identifier: MIT */
/*
 * diag_tiny_chunks: 50,000 chunks through a pipe to a child; of 16 bytes, or
 * of 1024, which are worth a call.
 */
#include "diag.h"

#define CHUNKS 50000

int main(int argc, char **argv)
{
	size_t size = diag_trigger(argc, argv) ? 16 : 1024;
	char chunk[1024] = { 0 };
	int fd[2];
	pid_t child;

	if (pipe(fd))
		wl_die("pipe");
	child = fork();
	if (child < 0)
		wl_die("fork");
	for (int i = 0; i < CHUNKS; i++)
		if (child)
			diag_write(fd[1], chunk, size);
		else
			diag_read(fd[0], chunk, size);
	if (child && waitpid(child, NULL, 0) < 0)
		wl_die("waitpid");
	return 0;
}
