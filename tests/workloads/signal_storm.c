/* SPDX-License-Identifier: MIT */
/*
 * signal_storm N: N signals to itself, each handled; then N interrupted
 * futex waits, whose restart the kernel must not hide from the counts.
 */
#include "workload.h"

#include <signal.h>
#include <sys/time.h>

static volatile sig_atomic_t handled;
static uint32_t interrupted_word;

static void on_signal(int sig)
{
	(void)sig;
	handled++;
}

int main(int argc, char **argv)
{
	long n = wl_arg(argc, argv, 1, 1009), eintr = 0, waits = 0;
	struct sigaction sa = { .sa_handler = on_signal };
	struct itimerval once = { { 0, 0 }, { 0, 1000 } };
	struct timespec second = { 1, 0 };

	sigaction(SIGUSR1, &sa, NULL);
	sigaction(SIGALRM, &sa, NULL);
	for (long i = 0; i < n; i++)
		kill(getpid(), SIGUSR1);
	for (long i = 0; i < n / 10; i++) {
		setitimer(ITIMER_REAL, &once, NULL);
		waits++;
		if (wl_futex(&interrupted_word, FUTEX_WAIT_PRIVATE, 0, &second, NULL, 0) == -EINTR)
			eintr++;
	}
	printf("sent=%ld handled=%d waits=%ld eintr=%ld addr=%p\n", n, (int)handled, waits, eintr,
	       (void *)&interrupted_word);
	return 0;
}
