/* SPDX-License-Identifier: MIT */
#include <cpuid.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "rr/memsum.h"

#define PAGE 4096
#define VAST (1ull << 36)

static char *memory;		/* four pages: written, never touched, zeroed, written */
static char *vast;		/* of which a page in the midst was touched */
static pid_t child;

/* A copy of this process that does not run. */
static int setup(void **state)
{
	int status;

	(void)state;
	memory = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return -1;
	vast = mmap(NULL, VAST, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (vast == MAP_FAILED)
		return -1;
	vast[VAST / 2] = 'v';
	memset(memory, 'a', PAGE);
	memory[2 * PAGE] = 1;
	memory[2 * PAGE] = 0;
	memory[4 * PAGE - 1] = 'd';
	child = fork();
	if (!child) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		_exit(0);
	}
	return child > 0 && waitpid(child, &status, 0) == child && WIFSTOPPED(status) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	kill(child, SIGKILL);
	return waitpid(child, NULL, 0) != child || munmap(memory, 4 * PAGE) ||
	       munmap(vast, VAST) ? -1 : 0;
}

static void poke(uintptr_t at, long word)
{
	assert_int_equal(ptrace(PTRACE_POKEDATA, child, at, word), 0);
}

/* The first event that differs: its page, or 0. */
static uint64_t differs(const struct buf *b, struct memsum_diff *d)
{
	for (size_t at = 0; at < b->len;) {
		const struct rr_head *h = (const void *)(b->data + at);
		const int r = memsum_compare(h, child, d);

		assert_true(r >= 0);
		if (r)
			return d->page;
		at += h->bytes;
	}
	return 0;
}

static void a_byte_is_found(void **state)
{
	const uintptr_t at = (uintptr_t)memory;
	struct memsum_diff d;
	struct buf b = BUF_INIT;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(memsum_make(&b, child, &err), 0);
	assert_int_equal(differs(&b, &d), 0);
	poke(at + PAGE - 8, 0x6161616161616162);
	assert_int_equal(differs(&b, &d), at);
	poke(at + PAGE - 8, 0x6161616161616161);
	assert_int_equal(differs(&b, &d), 0);
	/* One that was never touched, and is, but with zeros. */
	poke(at + PAGE, 0);
	assert_int_equal(differs(&b, &d), 0);
	poke(at + 2 * PAGE - 8, 1);
	assert_int_equal(differs(&b, &d), at + PAGE);
	poke(at + 2 * PAGE - 8, 0);
	poke(at + 2 * PAGE, 1);
	assert_int_equal(differs(&b, &d), at + 2 * PAGE);
	assert_string_equal(d.name, "");
	buf_release(&b);
}

/* Words that changed places are another page. */
static void order_counts(void **state)
{
	const uintptr_t at = (uintptr_t)memory;
	struct memsum_diff d;
	struct buf b = BUF_INIT;
	struct err err = { 0 };

	(void)state;
	poke(at, 1);
	poke(at + 32, 2);
	assert_int_equal(memsum_make(&b, child, &err), 0);
	poke(at, 2);
	poke(at + 32, 1);
	assert_int_equal(differs(&b, &d), at);
	buf_release(&b);
}

static void what_nobody_touched_is_little(void **state)
{
	const uintptr_t at = (uintptr_t)vast;
	struct memsum_diff d;
	struct buf b = BUF_INIT;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(memsum_make(&b, child, &err), 0);
	assert_true(b.len < VAST / PAGE);
	assert_int_equal(differs(&b, &d), 0);
	poke(at + VAST - 8, 1);
	assert_int_equal(differs(&b, &d), at + VAST - PAGE);
	poke(at + VAST - 8, 0);
	poke(at, 1);
	assert_int_equal(differs(&b, &d), at);
	poke(at, 0);
	poke(at + VAST / 2, 0);
	assert_int_equal(differs(&b, &d), at + VAST / 2);
	buf_release(&b);
}

/* Only where all of cpuid's leaf 1 is. */
static void number_of_the_processor_does_not_count(void **state)
{
	const uintptr_t at = (uintptr_t)memory;
	union { uint32_t reg[4]; long word[2]; } leaf;
	struct memsum_diff d;
	struct buf b = BUF_INIT;
	struct err err = { 0 };

	(void)state;
	assert_true(__get_cpuid(1, &leaf.reg[0], &leaf.reg[1], &leaf.reg[2], &leaf.reg[3]));
	poke(at + 32, leaf.word[0]);
	poke(at + 40, leaf.word[1]);
	assert_int_equal(memsum_make(&b, child, &err), 0);
	leaf.reg[1] ^= 0x55000000;
	poke(at + 32, leaf.word[0]);
	assert_int_equal(differs(&b, &d), 0);
	leaf.reg[1] ^= 1;
	poke(at + 32, leaf.word[0]);
	assert_int_equal(differs(&b, &d), at);
	buf_release(&b);
}

static void what_is_damaged_is_told(void **state)
{
	union { struct rr_head h; char room[64]; } ev = {
		.h = { .bytes = sizeof(ev), .type = RR_EV_SUMS } };
	struct rr_sums *s = (struct rr_sums *)(ev.room + sizeof(ev.h));
	struct memsum_diff d;

	(void)state;
	*s = (struct rr_sums){ .start = PAGE, .pages = 1u << 31 };
	assert_int_equal(memsum_compare(&ev.h, child, &d), -EBADMSG);
	*s = (struct rr_sums){ .start = PAGE, .pages = 1, .name_bytes = 60000 };
	assert_int_equal(memsum_compare(&ev.h, child, &d), -EBADMSG);
	*s = (struct rr_sums){ .start = PAGE + 1, .pages = 1 };
	assert_int_equal(memsum_compare(&ev.h, child, &d), -EBADMSG);
	*s = (struct rr_sums){ .start = ~0ull & ~4095ull, .pages = 5, .flags = RR_SUMS_ZEROS };
	assert_int_equal(memsum_compare(&ev.h, child, &d), -EBADMSG);
	ev.h.bytes = sizeof(ev.h) + 8;
	assert_int_equal(memsum_compare(&ev.h, child, &d), -EBADMSG);
}

static void one_that_has_gone_is_no_error(void **state)
{
	struct buf b = BUF_INIT;
	struct err err = { 0 };
	const pid_t pid = fork();

	(void)state;
	if (!pid)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(memsum_make(&b, pid, &err), -ENOENT);
	assert_string_equal(err.msg, "");
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_byte_is_found, setup, teardown),
		cmocka_unit_test_setup_teardown(order_counts, setup, teardown),
		cmocka_unit_test_setup_teardown(what_nobody_touched_is_little, setup, teardown),
		cmocka_unit_test_setup_teardown(number_of_the_processor_does_not_count, setup,
						teardown),
		cmocka_unit_test_setup_teardown(what_is_damaged_is_told, setup, teardown),
		cmocka_unit_test(one_that_has_gone_is_no_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
