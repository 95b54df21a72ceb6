/* SPDX-License-Identifier: MIT */
/*
 * futex_stopped N: a thread waits for a word with a timeout that it does not reach.
 * Meanwhile the process is stopped and continued N times, each of which makes the
 * kernel break the wait off and go on with it in restart_syscall; then the word comes.
 */
#include "workload.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#define PAUSE_US 60000

static uint32_t word;
static uint64_t waited_ns;
static long result = -1;
static pid_t waiter_tid;

static void *waiter(void *arg)
{
	struct timespec ts = { 60, 0 };
	uint64_t start = wl_now_ns();

	(void)arg;
	waiter_tid = wl_tid();
	result = wl_futex(&word, FUTEX_WAIT_PRIVATE, 0, &ts, NULL, 0);
	waited_ns = wl_now_ns() - start;
	return NULL;
}

static void stop_and_go(pid_t pid, long n)
{
	while (n--) {
		wl_sleep_us(PAUSE_US);
		kill(pid, SIGSTOP);
		wl_sleep_us(PAUSE_US);
		kill(pid, SIGCONT);
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	long n = wl_arg(argc, argv, 1, 1);
	pid_t pid = getpid(), helper;
	pthread_t t;

	if (pthread_create(&t, NULL, waiter, NULL))
		wl_die("pthread_create");
	helper = fork();
	if (helper < 0)
		wl_die("fork");
	if (!helper)
		stop_and_go(pid, n);
	while (waitpid(helper, NULL, 0) < 0 && errno == EINTR)
		;
	wl_sleep_us(PAUSE_US);
	__atomic_store_n(&word, 1, __ATOMIC_RELEASE);
	wl_futex(&word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	pthread_join(t, NULL);
	printf("addr=%p result=%ld waited_ns=%llu pause_ns=%d w_tid=%d m_tid=%d\n", (void *)&word,
	       result, (unsigned long long)waited_ns, PAUSE_US * 1000, waiter_tid, wl_tid());
	return 0;
}
