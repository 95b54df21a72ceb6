/* SPDX-License-Identifier: MIT */
/*
 * hostile_names: threads whose names would break a careless report do what
 * shows a thread's name: they are created, wait for each other's lock and
 * write to a pipe. Takes no arguments.
 */
#include "workload.h"

#include <pthread.h>
#include <sys/prctl.h>

static const char *const names[] = {
	"\033]0;owned\007", "<script>", "=cmd|' /C c'!A0", "a\"b,c", "\xff\xfe\x80", "@sum(1)",
	"x\ny\tz\r", "</td>&amp;'", "\xe2\x80\xaertl", "%s%n%x",
};
#define NAMES (sizeof(names) / sizeof(names[0]))

static uint32_t hostile_word;
static int fd[2];

static void *body(void *arg)
{
	size_t i = (size_t)(uintptr_t)arg;
	char c;

	prctl(PR_SET_NAME, names[i]);
	for (int k = 0; k < 23; k++) {
		/* Each waits until its number is up, and then calls the next. */
		uint32_t now;

		while ((now = __atomic_load_n(&hostile_word, __ATOMIC_ACQUIRE)) % NAMES != i)
			wl_futex(&hostile_word, FUTEX_WAIT_PRIVATE, now, NULL, NULL, 0);
		if (write(fd[1], "x", 1) != 1 || read(fd[0], &c, 1) != 1)
			wl_die("pipe");
		__atomic_add_fetch(&hostile_word, 1, __ATOMIC_ACQ_REL);
		wl_futex(&hostile_word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
	}
	return NULL;
}

int main(void)
{
	pthread_t t[NAMES];

	if (pipe(fd))
		wl_die("pipe");
	for (size_t i = 0; i < NAMES; i++)
		pthread_create(&t[i], NULL, body, (void *)(uintptr_t)i);
	for (size_t i = 0; i < NAMES; i++)
		pthread_join(t[i], NULL);
	printf("threads=%zu chunks=%zu\n", NAMES, NAMES * 23);
	return 0;
}
