/* SPDX-License-Identifier: MIT */
/*
 * demo: two seconds of what tracer explains, in one program. Workers fight
 * for one lock that is held too long; a server starts a thread for every
 * little request; a pipeline of three processes hands lines on a few bytes
 * at a time, and its middle stage is the slow one.
 */
#include "workload.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define WORKERS 4
#define ROUNDS 600
#define REQUESTS 3000
#define LINES 40000
#define LINE_BYTES 24

static pthread_mutex_t accounts_lock = PTHREAD_MUTEX_INITIALIZER;
static long balance;

static void __attribute__((noinline)) transfer(long amount)
{
	pthread_mutex_lock(&accounts_lock);
	balance += amount;
	wl_spin_ns(200000);	/* the mistake: work that needs no lock is done under it */
	pthread_mutex_unlock(&accounts_lock);
	wl_spin_ns(50000);
}

static void *worker(void *arg)
{
	prctl(PR_SET_NAME, "worker");
	for (int i = 0; i < ROUNDS; i++)
		transfer(1);
	return arg;
}

static void *handle_request(void *arg)
{
	++*(long *)arg;
	return NULL;
}

static void *server(void *arg)
{
	prctl(PR_SET_NAME, "server");
	for (int i = 0; i < REQUESTS; i++) {
		pthread_t t;

		if (pthread_create(&t, NULL, handle_request, arg))
			break;
		pthread_join(t, NULL);
	}
	return NULL;
}

/* One stage: reads lines from in (-1: makes them), works ns on each, writes to out (-1: none). */
static void stage(const char *name, int in, int out, uint64_t ns)
{
	char line[LINE_BYTES] = "a line of the pipeline\n";

	prctl(PR_SET_NAME, name);
	for (long i = 0; i < LINES; i++) {
		if (in >= 0 && read(in, line, sizeof(line)) != sizeof(line))
			_exit(1);
		wl_spin_ns(ns);
		if (out >= 0 && write(out, line, sizeof(line)) != sizeof(line))
			_exit(1);
	}
	_exit(0);
}

static void start_pipeline(pid_t pid[3])
{
	static const struct { const char *name; uint64_t ns; } stages[3] = {
		{ "produce", 500 }, { "transform", 15000 }, { "store", 500 },
	};
	int a[2], b[2];

	if (pipe(a) || pipe(b))
		wl_die("pipe");
	for (int i = 0; i < 3; i++) {
		pid[i] = fork();
		if (pid[i] < 0)
			wl_die("fork");
		if (pid[i])
			continue;
		close(i == 0 ? a[0] : a[1]);
		close(i == 2 ? b[1] : b[0]);
		stage(stages[i].name, i == 0 ? -1 : i == 1 ? a[0] : b[0],
		      i == 0 ? a[1] : i == 1 ? b[1] : -1, stages[i].ns);
	}
	close(a[0]);
	close(a[1]);
	close(b[0]);
	close(b[1]);
}

int main(void)
{
	pthread_t t[WORKERS + 1];
	uint64_t t0 = wl_now_ns();
	long requests = 0;
	int bad = 0, st;
	pid_t pid[3];

	start_pipeline(pid);
	for (int i = 0; i < WORKERS; i++)
		pthread_create(&t[i], NULL, worker, NULL);
	pthread_create(&t[WORKERS], NULL, server, &requests);
	for (int i = 0; i <= WORKERS; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < 3; i++)
		bad += waitpid(pid[i], &st, 0) != pid[i] || st;
	printf("demo: %ld transfers, %ld requests, %d lines in %.2f s\n", balance, requests, LINES,
	       (double)(wl_now_ns() - t0) / 1e9);
	return bad != 0;
}
