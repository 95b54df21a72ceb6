/* SPDX-License-Identifier: MIT */
/* The child that parses: fast, without rights, mortal; and input that is no good. */
#include "fixture_sym.h"

#include <errno.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "sym/symchild.h"

/* Stacks that are cut short or nonsense give few frames, never an error. */
static void test_bad_stacks(void **state)
{
	struct sym *s = new_sym();
	struct sym_regs wild;
	struct sym_frame f[64];
	struct sym_stats st;
	struct target t;
	char noise[STACK];
	int n;

	(void)state;
	sample(s, &t, "pie", "bss", 1);
	/* One function, and what is inlined there if the C library's debug file is here. */
	n = sym_unwind(s, 1, &t.regs, t.stack, 0, f, 64);
	assert_in_range(n, 1, 64);
	for (int i = 0; i < n; i++) {
		assert_int_equal(f[i].ip, t.regs.ip);
		assert_int_equal(f[i].inlined, i < n - 1);
		assert_non_null(f[i].module);
	}
	assert_true(sym_unwind(s, 1, &t.regs, t.stack, 301, f, 64) < unwind(s, 1, &t, f + 0));
	assert_int_equal(sym_unwind(s, 1, &t.regs, t.stack, t.stack_bytes, f, 2), 2);
	srandom(1);
	for (int i = 0; i < 500; i++) {
		for (size_t j = 0; j < STACK; j++)
			noise[j] = (char)random();
		/* Return addresses into the program at random places, too. */
		for (size_t j = 0; j + 8 <= STACK; j += 64) {
			uint64_t a = t.regs.ip + (uint64_t)(random() % 400000) - 200000;

			memcpy(noise + j, &a, 8);
		}
		wild = t.regs;
		wild.ip += (uint64_t)(random() % 400000) - 200000;
		n = sym_unwind(s, 1, &wild, noise, STACK, f, 64);
		assert_in_range(n, 1, 64);
	}
	memset(&wild, 0xff, sizeof(wild));
	assert_int_equal(sym_unwind(s, 1, &wild, noise, STACK, f, 64), 1);
	assert_int_equal(sym_unwind(s, 2, &wild, noise, STACK, f, 64), -ENOENT);
	sym_stats(s, &st);
	assert_int_equal(st.failed, 0);
	assert_int_equal(st.restarts, 0);
	sym_free(s);
}

/* Many together are what each is alone, in whatever order and however bad some are. */
static void test_prepared(void **state)
{
	struct sym *s = new_sym();
	static struct sym_regs regs[300];
	struct sym_sample e[300];
	struct sym_frame f[64], g[64];
	struct sym_stats st;
	struct target t;
	int good = 0;

	(void)state;
	sample(s, &t, "debug", "thread", 1);
	sample(s, &t, "debug", "inline", 2);
	for (int i = 0; i < 300; i++) {
		regs[i] = t.regs;
		regs[i].ax = (uint64_t)(i / 2);	/* each twice */
		e[i] = (struct sym_sample){ .space = i < 290 ? 2 : 1, .max = i % 3 ? 64 : i,
					    .regs = &regs[i], .stack = t.stack,
					    .stack_bytes = i % 7 ? t.stack_bytes : 100 };
		if (i % 11 == 0)
			e[i].space = 77;	/* never seen */
	}
	sym_prepare(s, e, 0);
	sym_prepare(s, e, 300);
	sym_stats(s, &st);
	assert_int_equal(st.stacks + st.failed, 0);
	for (int i = 0; i < 300; i++) {
		int n = sym_unwind(s, e[i].space, e[i].regs, e[i].stack, e[i].stack_bytes, f,
				   e[i].max);

		if (e[i].space == 77 || !e[i].max) {
			assert_true(n < 0);
			continue;
		}
		assert_true(n > 0);
		good++;
	}
	sym_stats(s, &st);
	assert_int_equal(st.stacks, good);
	assert_int_equal(st.cached, good);
	assert_int_equal(st.failed, 0);
	/* As by asking for this one. */
	regs[0].ax = 12345;
	assert_int_equal(sym_unwind(s, 2, &regs[0], t.stack, t.stack_bytes, f, 64),
			 sym_unwind(s, 2, &regs[1], t.stack, t.stack_bytes, g, 64));
	for (int i = 0; i < 10; i++) {
		assert_int_equal(f[i].ip, g[i].ip);
		assert_ptr_equal(f[i].symbol, g[i].symbol);
		assert_int_equal(f[i].inlined, g[i].inlined);
	}
	sym_free(s);
}

static void test_many_stacks(void **state)
{
	struct sym *s = new_sym();
	struct sym_frame f[64];
	struct sym_stats st;
	struct target t;
	uint64_t ns;

	(void)state;
	sample(s, &t, "pie", "thread", 1);
	assert_true(unwind(s, 1, &t, f) > 0);
	ns = clock_mono_ns();
	for (int i = 0; i < 1000; i++) {
		t.regs.ax = (uint64_t)i;	/* another stack, by the hash */
		assert_true(unwind(s, 1, &t, f) > 5);
	}
	ns = clock_mono_ns() - ns;
	print_message("1000 distinct stacks: %.1f ms\n", (double)ns / 1e6);
	ns = clock_mono_ns();
	for (int i = 0; i < 1000; i++) {
		t.regs.ax = (uint64_t)i;
		assert_true(unwind(s, 1, &t, f) > 5);
	}
	ns = clock_mono_ns() - ns;
	print_message("1000 known stacks: %.1f ms\n", (double)ns / 1e6);
	sym_stats(s, &st);
	assert_int_equal(st.stacks, 2001);
	assert_int_equal(st.cached, 1000);
	sym_free(s);
}

static pid_t child_of_ours(void)
{
	char path[64], text[256] = "";
	FILE *f;
	int pid = 0;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	f = fopen(path, "r");
	if (f && fgets(text, sizeof(text), f))
		pid = atoi(text);
	if (f)
		fclose(f);
	return pid;
}

static void test_child_dies(void **state)
{
	struct sym *s = new_sym();
	struct sym_frame f[64];
	struct sym_stats st;
	struct target t;
	struct err e = { 0 };
	pid_t child;

	(void)state;
	sample(s, &t, "pie", "bss", 1);
	assert_int_equal(child_of_ours(), 0);	/* not before it is needed */
	assert_true(unwind(s, 1, &t, f) > 5);
	child = child_of_ours();
	assert_true(child > 0);
	assert_int_equal(sym_trouble(s, &e), 0);
	kill(child, SIGKILL);
	t.regs.ax++;
	assert_int_equal(unwind(s, 1, &t, f), -EIO);
	sym_stats(s, &st);
	assert_int_equal(st.failed, 1);
	assert_int_equal(st.restarts, 1);
	assert_int_equal(sym_trouble(s, &e), -EIO);
	assert_non_null(strstr(e.msg, "/tracer-sym ended"));
	/* Anew, with all files although the process is gone. */
	assert_true(unwind(s, 1, &t, f) > 5);
	expect_data(s, 1, t.lock, "lock_in_bss");
	/* What killed twice is not tried again. */
	kill(child_of_ours(), SIGKILL);
	t.regs.ax++;
	assert_int_equal(unwind(s, 1, &t, f), -EIO);
	assert_int_equal(unwind(s, 1, &t, f), -EIO);
	assert_int_equal(child_of_ours(), 0);
	/* And another space is not hurt. */
	sample(s, &t, "fixed", "bss", 2);
	assert_true(unwind(s, 2, &t, f) > 5);
	sym_free(s);
}

/* The value of a line of /proc/PID/status. */
static void status_of(pid_t pid, const char *name, char *out, size_t bytes)
{
	char path[64], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "r");
	assert_non_null(f);
	*out = 0;
	while (fgets(line, sizeof(line), f)) {
		if (!strncmp(line, name, strlen(name)))
			snprintf(out, bytes, "%s", line + strlen(name) + 1);
	}
	fclose(f);
}

static bool nobody_is_mapped(void)
{
	unsigned long first, outside, n = 0;
	FILE *f = fopen("/proc/self/uid_map", "r");

	if (f && fscanf(f, "%lu %lu %lu", &first, &outside, &n) != 3)
		n = 0;
	if (f)
		fclose(f);
	return n > 65534;
}

static int oom_score_adj(pid_t pid)
{
	char path[64];
	int value = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/oom_score_adj", pid);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%d", &value), 1);
	fclose(f);
	return value;
}

static void test_child_is_unprivileged(void **state)
{
	struct sym *s = new_sym();
	struct sym_frame f[64];
	struct target t;
	char text[256];
	pid_t child;

	(void)state;
	sample(s, &t, "pie", "bss", 1);
	assert_true(unwind(s, 1, &t, f) > 5);
	child = child_of_ours();
	status_of(child, "CapEff:", text, sizeof(text));
	assert_int_equal(strtoull(text, NULL, 16), 0);
	status_of(child, "CapPrm:", text, sizeof(text));
	assert_int_equal(strtoull(text, NULL, 16), 0);
	status_of(child, "NoNewPrivs:", text, sizeof(text));
	assert_int_equal(atoi(text), 1);
	/* In a user namespace that id may not be there; then it has no rights at least. */
	if (!geteuid() && nobody_is_mapped()) {
		status_of(child, "Uid:", text, sizeof(text));
		assert_int_equal(atoi(text), 65534);
		status_of(child, "Groups:", text, sizeof(text));
		assert_int_equal(atoi(text), 0);
	}
	assert_int_not_equal(getsid(child), getsid(0));
	assert_int_equal(oom_score_adj(child), 1000);
	sym_free(s);
	/* Reaped, not left behind. */
	assert_int_equal(kill(child, 0), -1);
}

static void test_gone(void **state)
{
	struct sym *s = new_sym();
	pid_t pid = fork();

	(void)state;
	if (!pid)
		_exit(0);
	/* A zombie has no memory any more. */
	waitid(P_PID, (id_t)pid, NULL, WEXITED | WNOWAIT);
	assert_int_equal(sym_snapshot(s, 1, pid), -ESRCH);
	waitpid(pid, NULL, 0);
	assert_int_equal(sym_snapshot(s, 1, pid), -ESRCH);
	sym_free(s);
	sym_free(NULL);
}

static int open_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

/* With no descriptors left the files go to the child early. */
static void test_few_descriptors(void **state)
{
	struct sym *s = new_sym();
	struct sym_frame f[64];
	struct rlimit old, few;
	struct sym_stats st;
	struct target t;
	int before, lowest = dup(0);

	(void)state;
	start(&t, "pie", "bss");
	capture(&t);
	close(lowest);
	before = open_descriptors();
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	few = old;
	few.rlim_cur = (rlim_t)lowest + 40;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	assert_int_equal(sym_snapshot(s, 1, t.pid), 0);
	/* The child has started for it, and what is ours is its socket and pidfd. */
	assert_in_range(open_descriptors() - before, 1, 2);
	setrlimit(RLIMIT_NOFILE, &old);
	end(&t);
	sym_stats(s, &st);
	assert_int_equal(st.unopened, 0);
	assert_true(st.files >= 4);
	assert_int_equal(expect_chain(f, unwind(s, 1, &t, f), deep) > 0, 1);
	expect_data(s, 1, t.lock, "lock_in_bss");
	sym_free(s);
}

/*
 * A copy of @file, some bytes changed or cut off, mapped as code by a process. With
 * @debug those behind what is loaded, which is DWARF mostly.
 */
static pid_t map_hostile(const char *file, bool debug, unsigned int seed, uint64_t *addr)
{
	void *want = (void *)(uintptr_t)0x200000000000;
	char path[PATH_MAX + 16], *p;
	struct stat st;
	pid_t pid;
	int fd;

	snprintf(path, sizeof(path), "%s/hostile", dir);
	assert_int_equal(shell("cp %s/%s %s", dir, file, path), 0);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0 && !fstat(fd, &st));
	srandom(seed);
	for (int i = 0; i < 1 + (int)(seed % 40); i++) {
		/* Headers more often than what is between. */
		long at = random() % (i & 1 ? st.st_size : i & 2 ? 1024 : 64);
		char c = (char)random();

		if (debug)
			at = 0x3000 + random() % (st.st_size - 0x3000);
		if (at > 4)
			assert_int_equal(pwrite(fd, &c, 1, at), 1);
	}
	if (seed % 5 == 0 && !debug)
		assert_int_equal(ftruncate(fd, 4096 + random() % st.st_size), 0);
	p = mmap(want, (size_t)st.st_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_true(p != MAP_FAILED);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	munmap(p, (size_t)st.st_size);
	close(fd);
	unlink(path);
	*addr = (uint64_t)(uintptr_t)p;
	return pid;
}

static void check_hostile(const char *file, bool debug)
{
	int answered = 0, inlined = 0;

	for (unsigned int seed = 0; seed < 60; seed++) {
		struct sym *s = new_sym();
		struct sym_regs regs = { 0 };
		struct sym_frame f[64];
		struct sym_name name;
		struct sym_stats st;
		uint64_t addr, stack[512];
		pid_t pid = map_hostile(file, debug, seed, &addr);
		int rc;

		assert_int_equal(sym_snapshot(s, 1, pid), 0);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		for (uint64_t at = 0; at < 0x4000; at += 0x300) {
			rc = sym_code(s, 1, addr + at, &name);
			assert_true(!rc || rc == -ENOENT || rc == -EIO);
			rc = sym_data(s, 1, addr + at, &name);
			assert_true(!rc || rc == -ENOENT || rc == -EIO);
			for (int i = 0; i < 512; i++)
				stack[i] = addr + 0x1000 + (uint64_t)(random() % 0x400);
			regs.ip = addr + 0x1000 + at / 8;
			rc = sym_unwind(s, 1, &regs, stack, sizeof(stack), f, 64);
			assert_true((rc > 0 && rc <= 64) || rc == -EIO);
			for (int i = 0; i < rc; i++)
				inlined += f[i].inlined;
		}
		sym_stats(s, &st);
		answered += !st.failed;
		sym_free(s);
	}
	/* Corrupt files are no reason to give up the rest. */
	print_message("%d of 60 corrupt files without the child's death, %d inlined frames\n",
		      answered, inlined);
	assert_true(answered > 30);
	assert_int_equal(inlined > 0, debug);
}

static void test_hostile_files(void **state)
{
	(void)state;
	check_hostile("libtarget.so", false);
}

static void test_hostile_dwarf(void **state)
{
	(void)state;
	check_hostile("debug", true);
}

/* What is known without it is known; the rest is said to be missing. */
static void test_no_child_program(void **state)
{
	struct sym_opts o = { .libexec_dir = "/nonexistent" };
	struct err e = { 0 };
	struct sym *s = sym_new(&o, &e);
	struct sym_frame f[64];
	struct sym_stats st;
	struct sym_name name;
	struct target t;

	(void)state;
	assert_non_null(s);
	sample(s, &t, "pie", "bss", 1);
	assert_int_equal(sym_trouble(s, &e), -ENOENT);
	assert_non_null(strstr(e.msg, "cannot run /nonexistent/tracer-sym: "));
	assert_int_equal(unwind(s, 1, &t, f), -EIO);
	assert_int_equal(sym_data(s, 1, t.lock, &name), -EIO);
	assert_int_equal(child_of_ours(), 0);
	sym_stats(s, &st);
	assert_int_equal(st.failed, 2);
	assert_int_equal(st.restarts, 0);
	sym_free(s);
}

/* Answers that take long, each for itself within its time. */
static void test_patience(void **state)
{
	struct sym_opts o = { .libexec_dir = libexec, .patience_ms = 1 };
	struct err e = { 0 };
	struct sym *s = sym_new(&o, &e);
	struct sym_frame f[64];
	struct sym_stats st;
	struct target t;
	int n;

	(void)state;
	assert_non_null(s);
	sample(s, &t, "pie", "bss", 1);
	/* Until the first stack is unwound the child has to start and to read files. */
	n = unwind(s, 1, &t, f);
	assert_true(n > 0);
	t.regs.ax++;
	assert_int_equal(unwind(s, 1, &t, f), -EIO);
	assert_int_equal(sym_trouble(s, &e), -EIO);
	/* What was answered before is still known. */
	t.regs.ax--;
	assert_int_equal(unwind(s, 1, &t, f), n);
	sym_stats(s, &st);
	assert_true(st.failed >= 1);
	assert_int_equal(st.restarts, 0);
	sym_free(s);
}

#define HOGS 16

/* Others on this CPU, and on no other; @pid are HOGS of them. */
static void crowd_cpu(pid_t *pid, cpu_set_t *one)
{
	CPU_ZERO(one);
	CPU_SET((size_t)sched_getcpu(), one);
	assert_int_equal(sched_setaffinity(0, sizeof(*one), one), 0);
	for (int i = 0; i < HOGS; i++) {
		pid[i] = fork();
		assert_true(pid[i] >= 0);
		if (!pid[i]) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				;
		}
	}
}

static struct sym *new_sym_within(uint32_t answer_ms)
{
	struct sym_opts o = { .libexec_dir = libexec, .answer_ms = answer_ms };
	struct err e = { 0 };
	struct sym *s = sym_new(&o, &e);

	assert_non_null(s);
	return s;
}

/* A child that gets no CPU is not one that hangs: what it queues is not held against it. */
static void test_busy_machine(void **state)
{
	struct sym *s = new_sym();
	cpu_set_t all, one;
	struct sym_stats st;
	struct target t;
	pid_t hog[HOGS];
	uint32_t ms;
	uint64_t ns;

	(void)state;
	sample(s, &t, "pie", "bss", 1);
	/* For the first answer the child starts and reads files. */
	expect_data(s, 1, t.lock, "lock_in_bss");
	ms = 2 * (uint32_t)(sym_cpu_ns(s) / 1000000) + 5;
	sym_free(s);
	s = new_sym_within(ms);
	sample(s, &t, "pie", "bss", 1);
	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	crowd_cpu(hog, &one);
	ns = clock_mono_ns();
	expect_data(s, 1, t.lock, "lock_in_bss");
	print_message("answered after %.0f ms, of %u ms without others\n",
		      (double)(clock_mono_ns() - ns) / 1e6, ms);
	for (int i = 0; i < HOGS; i++) {
		kill(hog[i], SIGKILL);
		waitpid(hog[i], NULL, 0);
	}
	sched_setaffinity(0, sizeof(all), &all);
	sym_stats(s, &st);
	assert_int_equal(st.restarts, 0);
	/* One that is stopped queues for nothing. */
	kill(child_of_ours(), SIGSTOP);
	assert_int_equal(sym_data(s, 1, t.cond, &(struct sym_name){ 0 }), -EIO);
	sym_stats(s, &st);
	assert_int_equal(st.restarts, 1);
	sym_free(s);
}

#define MANY 60000

/* Pages of code, each a mapping of its own, as many as a process may have. */
static pid_t many_mappings(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, MANY * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pid_t pid;

	assert_true(p != MAP_FAILED);
	for (size_t i = 0; i < MANY; i += 2)
		assert_int_equal(mprotect(p + i * page, page, PROT_READ | PROT_EXEC), 0);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	munmap(p, MANY * page);
	return pid;
}

/* Each fork of such a process is a space of its own. */
static void test_mappings_are_bounded(void **state)
{
	struct sym_opts o = { .libexec_dir = libexec, .snapshot_ns = 1 };
	struct err e = { 0 };
	struct sym *s = sym_new(&o, &e);
	pid_t pid = many_mappings();
	uint32_t space, early = 0;
	int rc = 0;

	(void)state;
	assert_true(pid > 0);
	for (space = 1; space < 60 && !rc; space++) {
		while ((rc = sym_snapshot(s, space, pid)) == -EAGAIN) {
			/* Neither one that is known is read until its turn comes. */
			assert_int_equal(sym_snapshot(s, 1, pid), 0);
			usleep(10000);
			early++;
		}
	}
	assert_int_equal(rc, -ENOSPC);
	assert_true(early > 0);
	assert_true(space > 20);
	/* Those that are known stay so. */
	assert_int_equal(sym_snapshot(s, 1, pid), 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	sym_free(s);
}

/* The parent may hurry by the time it needs the child: that is not for parsing files. */
static void test_priority(void **state)
{
	struct sym_opts opts = { .libexec_dir = libexec };
	int before = getpriority(PRIO_PROCESS, 0), tries;
	struct symchild c;

	(void)state;
	symchild_init(&c);
	if (setpriority(PRIO_PROCESS, 0, before - 5))
		skip();
	for (int i = 0; i < 2; i++) {	/* also when it is started again */
		assert_int_equal(symchild_start(&c, &opts), 0);
		for (tries = 0; getpriority(PRIO_PROCESS, (id_t)c.pid) != before; tries++) {
			assert_true(tries < 2000);
			usleep(1000);
		}
		symchild_stop(&c);
	}
	setpriority(PRIO_PROCESS, 0, before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_stacks),
		cmocka_unit_test(test_prepared),
		cmocka_unit_test(test_many_stacks),
		cmocka_unit_test(test_child_dies),
		cmocka_unit_test(test_child_is_unprivileged),
		cmocka_unit_test(test_gone),
		cmocka_unit_test(test_few_descriptors),
		cmocka_unit_test(test_hostile_files),
		cmocka_unit_test(test_hostile_dwarf),
		cmocka_unit_test(test_no_child_program),
		cmocka_unit_test(test_patience),
		cmocka_unit_test(test_busy_machine),
		cmocka_unit_test(test_mappings_are_bounded),
		cmocka_unit_test(test_priority),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
