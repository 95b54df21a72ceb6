/* SPDX-License-Identifier: MIT */
#include <pthread.h>

static pthread_mutex_t lock_in_library = PTHREAD_MUTEX_INITIALIZER;
static volatile int steps;

void *lib_lock(void);
void lib_wait(int depth);

void *lib_lock(void)
{
	return &lock_in_library;
}

__attribute__((noinline)) static void hidden_function(int depth)
{
	pthread_mutex_lock(&lock_in_library);
	steps += depth;
	pthread_mutex_lock(&lock_in_library);
	steps += depth;
}

__attribute__((noinline)) void lib_wait(int depth)
{
	hidden_function(depth);
	steps += depth;
}
