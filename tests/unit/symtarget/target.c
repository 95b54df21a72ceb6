/* SPDX-License-Identifier: MIT */
/*
 * Blocks for ever in a lock that it holds itself, some functions deep. The
 * first line it prints is the lock's address. target_lib.c is its library.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

void lib_wait(int depth);
void *lib_lock(void);

static pthread_mutex_t lock_in_bss;
static struct {
	int filled[8];
	pthread_mutex_t lock;
} holder_in_data = { .filled = { 1, 2, 3 }, .lock = PTHREAD_MUTEX_INITIALIZER };
pthread_cond_t exported_cond = PTHREAD_COND_INITIALIZER;
static volatile int steps;

__attribute__((noinline)) static void wait_here(pthread_mutex_t *m)
{
	pthread_mutex_lock(m);
	steps++;
}

__attribute__((noinline)) static void middle_function(pthread_mutex_t *m, int depth)
{
	volatile char room[200];

	room[depth] = (char)depth;
	if (depth)
		middle_function(m, depth - 1);
	else
		wait_here(m);
	steps += room[depth];
}

__attribute__((noinline)) void outer_function(pthread_mutex_t *m)
{
	middle_function(m, 2);
	steps++;
}

#define ALWAYS_INLINE __attribute__((always_inline)) inline

static ALWAYS_INLINE void inner_inlined(pthread_mutex_t *m)
{
	wait_here(m);	/* line 50 */
	steps++;
}

static ALWAYS_INLINE void outer_inlined(pthread_mutex_t *m)
{
	if (m)
		inner_inlined(m);	/* line 57 */
	steps++;
}

__attribute__((noinline)) static void holds_inlined(pthread_mutex_t *m)
{
	outer_inlined(m);	/* line 63 */
	steps++;
}

static pthread_mutex_t *handled;

static void on_signal(int sig)
{
	wait_here(handled);
	steps += sig;
}

static void *thread_routine(void *m)
{
	outer_function(m);
	steps++;
	return NULL;
}

static void run(const char *mode, pthread_mutex_t *m)
{
	pthread_t t;

	if (!strcmp(mode, "signal")) {
		handled = m;
		signal(SIGUSR1, on_signal);
		raise(SIGUSR1);
	} else if (!strcmp(mode, "thread")) {
		pthread_create(&t, NULL, thread_routine, m);
		pthread_join(t, NULL);
	} else if (!strcmp(mode, "lib")) {
		lib_wait(1);
	} else if (!strcmp(mode, "inline")) {
		holds_inlined(m);
	} else {
		outer_function(m);
	}
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "bss";
	pthread_mutex_t *m = !strcmp(mode, "data") ? &holder_in_data.lock : &lock_in_bss;

	pthread_mutex_lock(m);
	printf("%p %p\n", !strcmp(mode, "lib") ? lib_lock() : (void *)m, (void *)&exported_cond);
	fflush(stdout);
	run(mode, m);
	return 0;
}
