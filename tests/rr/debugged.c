/* SPDX-License-Identifier: MIT */
/*
 * What is debugged in a replay: functions, a signal with a handler, a fork, and two threads that
 * race for a counter. Deterministic in what it prints, but for the counter.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 20

int length(const char *s);

static volatile long counter, last_writer;
static volatile int handled;
static char from_pipe[8];

static void on_signal(int sig)
{
	handled = sig;
}

static int leaf(int n)
{
	int twice = 2 * n;

	return twice + 1;
}

static int middle(int n)
{
	int a = leaf(n);
	int b = leaf(n + 1);

	return a + b;
}

static int factorial(int n)
{
	if (n < 2)
		return 1;
	return n * factorial(n - 1);
}

/* Called by gdb alone. */
int length(const char *s)
{
	handled = 99;
	return (int)strlen(s);
}

static void add_one(long who)
{
	long was = counter;

	/* The other one runs in between. */
	sched_yield();
	counter = was + 1;
	last_writer = who;
}

static void *race(void *arg)
{
	for (int i = 0; i < ROUNDS; i++)
		add_one((long)arg);
	return NULL;
}

static void threads(void)
{
	pthread_t t[2];

	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, race, (void *)(i + 1));
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
}

static int in_child(void)
{
	return leaf(20);
}

static void processes(void)
{
	int end[2], status = 0;
	pid_t child;

	if (pipe(end))
		exit(1);
	child = fork();
	if (!child) {
		(void)!write(end[1], "child", 6);
		_exit(in_child());
	}
	(void)!read(end[0], from_pipe, sizeof(from_pipe));
	waitpid(child, &status, 0);
	printf("the child said %s and ended with %d\n", from_pipe, WEXITSTATUS(status));
}

int main(int argc, char **argv)
{
	int sum = middle(3);

	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
	printf("sum %d, factorial %d, signal %d\n", sum, factorial(5), handled);
	processes();
	threads();
	printf("counter %s\n", counter > 0 ? "moved" : "stands");
	if (argc > 1 && !strcmp(argv[1], "crash"))
		*(volatile int *)0 = 1;
	return 7;
}
