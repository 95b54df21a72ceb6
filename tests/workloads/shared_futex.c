/* SPDX-License-Identifier: MIT */
/*
 * shared_futex N [NS]: two processes play N rounds over one futex word of a
 * memfd that each has mapped at an address of its own; each keeps it for NS.
 */
#include "workload.h"

#include <sys/mman.h>
#include <sys/wait.h>

struct page {
	uint32_t ball;
	uint32_t pad[15];
	struct wl_tally a, b;
	void *b_addr;
};

static long rounds, keep_ns;

static void play(struct page *p, struct wl_tally *t, uint32_t mine)
{
	long before = wl_nvcsw();

	t->tid = wl_tid();
	for (long i = 0; i < rounds; i++) {
		while (__atomic_load_n(&p->ball, __ATOMIC_ACQUIRE) != mine)
			wl_tally_wait(t, wl_futex(&p->ball, FUTEX_WAIT, !mine, NULL, NULL, 0));
		wl_spin_ns((uint64_t)keep_ns);
		__atomic_store_n(&p->ball, !mine, __ATOMIC_RELEASE);
		wl_tally_wake(t, wl_futex(&p->ball, FUTEX_WAKE, 1, NULL, NULL, 0));
	}
	t->nvcsw = wl_nvcsw() - before;
}

static struct page *map(int fd)
{
	struct page *p = mmap(NULL, sizeof(*p), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		wl_die("mmap");
	return p;
}

int main(int argc, char **argv)
{
	int fd = memfd_create("shared-futex", MFD_CLOEXEC);
	struct page *p;
	pid_t child;

	rounds = wl_arg(argc, argv, 1, 5003);
	keep_ns = wl_arg(argc, argv, 2, 0);
	if (fd < 0 || ftruncate(fd, sizeof(*p)))
		wl_die("memfd");
	p = map(fd);
	child = fork();
	if (child < 0)
		wl_die("fork");
	if (!child) {
		/* At another address than the parent's: p is still mapped. */
		struct page *q = map(fd);

		munmap(p, sizeof(*p));
		q->b_addr = q;
		play(q, &q->b, 1);
		_exit(0);
	}
	play(p, &p->a, 0);
	waitpid(child, NULL, 0);
	printf("rounds=%ld a_addr=%p b_addr=%p ", rounds, (void *)p, p->b_addr);
	wl_tally_print(&p->a, &p->b);
	return 0;
}
