/* SPDX-License-Identifier: MIT */
/*
 * rr_ends MODE: the first thread ends by pthread_exit, and another one ends the process:
 * "exit" by exit(7), "fault" by a fault, "last" by being the last of them.
 */
#include "workload.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *mode;

static void *other(void *arg)
{
	(void)arg;
	usleep(20000);
	printf("the other thread\n");
	fflush(stdout);
	if (!strcmp(mode, "exit"))
		exit(7);
	if (!strcmp(mode, "fault"))
		__builtin_trap();
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t;

	if (argc != 2)
		wl_die("usage: rr_ends MODE");
	mode = argv[1];
	errno = pthread_create(&t, NULL, other, NULL);
	if (errno)
		wl_die("pthread_create");
	pthread_exit(NULL);
}
