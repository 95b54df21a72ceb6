/* SPDX-License-Identifier: MIT */
/* One struct sym for hours: what is forgotten takes no room, and what is not stays right. */
#include "fixture_sym.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/sendfile.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SPACES 3000	/* freed memory is kept for a while there: only that all works is seen */
#define MEASURED false
#else
#define SPACES 100000
#define MEASURED true
#endif
#define WARM 2000
#define FILES 1000

static struct sym *new_hasty_sym(void)
{
	struct sym_opts o = { .libexec_dir = libexec, .snapshot_ns = UINT64_MAX / 2 };
	struct err e = { 0 };
	struct sym *s = sym_new(&o, &e);

	assert_non_null(s);
	return s;
}

static long status_kb(pid_t pid, const char *name)
{
	char path[64], line[256];
	long kb = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "r");
	assert_non_null(f);
	while (kb < 0 && fgets(line, sizeof(line), f)) {
		if (!strncmp(line, name, strlen(name)))
			kb = atol(line + strlen(name));
	}
	fclose(f);
	return kb;
}

/* Our one child but @other: tracer-sym. */
static pid_t sym_child(pid_t other)
{
	char path[64];
	FILE *f;
	int pid, found = 0;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	f = fopen(path, "r");
	assert_non_null(f);
	while (fscanf(f, "%d", &pid) == 1)
		found = pid == other ? found : pid;
	fclose(f);
	assert_int_not_equal(found, 0);
	return found;
}

static int open_files(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void test_many_spaces(void **state)
{
	struct sym *s = new_hasty_sym();
	struct sym_frame f[64];
	struct sym_stats st;
	struct target t;
	long ours = 0, childs = 0;

	(void)state;
	start(&t, "pie", "bss");
	capture(&t);
	for (uint32_t i = 1; i <= SPACES; i++) {
		assert_int_equal(sym_snapshot(s, i, t.pid), 0);
		if (i % 16 == 0)
			expect_data(s, i, t.lock, "lock_in_bss");
		if (i % 64 == 0)
			expect_chain(f, unwind(s, i, &t, f), deep);
		/* Those of the last moments are alive together. */
		if (i > 100)
			sym_forget(s, i - 100);
		if (i == WARM) {
			ours = status_kb(getpid(), "VmRSS:");
			childs = status_kb(sym_child(t.pid), "VmRSS:");
		}
	}
	if (MEASURED) {
		assert_in_range(status_kb(getpid(), "VmRSS:"), 0, ours + 2048);
		assert_in_range(status_kb(sym_child(t.pid), "VmRSS:"), 0, childs + 2048);
	}
	/* What was not forgotten is known as before; what was, is not. */
	expect_data(s, SPACES - 50, t.lock, "lock_in_bss");
	assert_int_equal(unwind(s, SPACES - 100, &t, f), -ENOENT);
	sym_stats(s, &st);
	assert_int_equal(st.restarts, 0);
	assert_int_equal(st.failed, 0);
	end(&t);
	sym_free(s);
}

/* Each process runs a program of its own, as where much is built. */
static void test_many_files(void **state)
{
	struct sym *s = new_hasty_sym();
	char path[PATH_MAX + 16];
	int most = 0, before, from;
	size_t lib;

	(void)state;
	snprintf(path, sizeof(path), "%s/libtarget.so", dir);
	from = open(path, O_RDONLY | O_CLOEXEC);
	lib = (size_t)lseek(from, 0, SEEK_END);
	snprintf(path, sizeof(path), "%s/one", dir);
	before = open_files();
	for (uint32_t i = 1; i <= FILES; i++) {
		struct sym_name n;
		pid_t pid;
		char *p;
		int fd;

		fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
		assert_true(fd >= 0 && lib > 0 && lseek(from, 0, SEEK_SET) == 0);
		assert_int_equal(sendfile(fd, from, NULL, lib), lib);
		p = mmap(NULL, 0x4000, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
		assert_true(p != MAP_FAILED);
		pid = fork();
		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
		assert_int_equal(sym_snapshot(s, i, pid), 0);
		/* Its inode may be one that was forgotten: another file all the same. */
		assert_int_equal(sym_data(s, i, (uint64_t)(uintptr_t)p + 1, &n), -ENOENT);
		assert_non_null(n.module);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		munmap(p, 0x4000);
		close(fd);
		unlink(path);
		sym_forget(s, i);
		if (open_files() > most)
			most = open_files();
	}
	assert_in_range(most, 1, before + 700);
	sym_free(s);
	assert_int_equal(open_files(), before);
	close(from);
}

static void test_forget_unknown(void **state)
{
	struct sym *s = new_sym();

	(void)state;
	sym_forget(s, 1);
	assert_int_equal(sym_snapshot(s, 1, getpid()), 0);
	sym_forget(s, 1);
	sym_forget(s, 1);
	assert_int_equal(sym_snapshot(s, 1, getpid()), 0);
	sym_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many_spaces),
		cmocka_unit_test(test_many_files),
		cmocka_unit_test(test_forget_unknown),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
