/* SPDX-License-Identifier: MIT */
/*
 * Two threads, each with one of two locks and waiting for the other, and a reader
 * of a pipe that nobody fills. Says so on stdout, then hangs until stdin ends.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static int ends[2];

static void *take(void *way)
{
	pthread_mutex_lock(way ? &first : &second);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(way ? &second : &first);
	return NULL;
}

static void *starve(void *arg)
{
	char c;

	(void)arg;
	if (read(ends[0], &c, 1) < 0)
		perror("read");
	return NULL;
}

int main(void)
{
	pthread_t t[3];
	char c;

	if (pipe(ends) || pthread_barrier_init(&both, NULL, 3) ||
	    pthread_create(&t[0], NULL, take, NULL) ||
	    pthread_create(&t[1], NULL, take, &first) ||
	    pthread_create(&t[2], NULL, starve, NULL))
		return 1;
	pthread_barrier_wait(&both);
	printf("first=%p second=%p pid=%d\n", (void *)&first, (void *)&second, (int)getpid());
	fflush(stdout);
	_exit(read(0, &c, 1) < 0);
}
