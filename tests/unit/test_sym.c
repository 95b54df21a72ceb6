/* SPDX-License-Identifier: MIT */
/* Frames and names of real programs against what their sources say. */
#include "fixture_sym.h"

#include <errno.h>
#include <sys/mman.h>

static void check_deep(const char *program)
{
	static const char *const to_main[] = { "outer_function", "main", NULL };
	struct sym *s = new_sym();
	struct sym_frame f[64];
	struct target t;
	int n, at;

	sample(s, &t, program, "bss", 1);
	n = unwind(s, 1, &t, f);
	assert_true(n > 0);
	at = expect_chain(f, n, deep);
	assert_true(at > 0);
	/* The C library, which has no frame pointers either. */
	assert_string_equal(f[at - 1].symbol, "pthread_mutex_lock");
	assert_non_null(strstr(f[at - 1].module, "libc.so"));
	assert_non_null(strstr(f[at].module, program));
	expect_chain(f, n, to_main);
	/* _start ends the stack: no garbage behind it. */
	assert_string_equal(f[n - 1].symbol, "_start");
	/* Static functions of the C library have names only with its debug symbols. */
	for (int i = 0; i < n; i++)
		assert_true(!f[i].symbol || !strstr(f[i].symbol, "__GI_"));
	expect_data(s, 1, t.lock, "lock_in_bss");
	expect_data(s, 1, t.lock + 4, "lock_in_bss+0x4");
	expect_data(s, 1, t.cond + 0x28, "exported_cond+0x28");
	sym_free(s);
}

static void test_pie(void **state)
{
	(void)state;
	check_deep("pie");
}

static void test_fixed(void **state)
{
	(void)state;
	check_deep("fixed");
}

static void test_data(void **state)
{
	struct sym *s = new_sym();
	struct sym_name n;
	struct target t;

	(void)state;
	sample(s, &t, "pie", "data", 7);
	expect_data(s, 7, t.lock, "holder_in_data+0x20");
	assert_int_equal(sym_data(s, 7, t.lock, &n), 0);
	assert_non_null(strstr(n.module, "/pie"));
	/* The stack, nowhere, the middle of the code, an unknown space. */
	assert_int_equal(sym_data(s, 7, t.regs.sp, &n), -ENOENT);
	assert_int_equal(sym_data(s, 7, 8, &n), -ENOENT);
	assert_int_equal(sym_data(s, 7, UINT64_MAX, &n), -ENOENT);
	assert_int_equal(sym_data(s, 7, t.regs.ip, &n), -ENOENT);
	assert_int_equal(sym_data(s, 8, t.lock, &n), -ENOENT);
	assert_int_equal(sym_code(s, 7, t.lock, &n), -ENOENT);
	sym_free(s);
}

static void test_thread(void **state)
{
	static const char *const to_routine[] = { "outer_function", "thread_routine", NULL };
	struct sym *s = new_sym();
	struct sym_frame f[64];
	struct target t;
	int n;

	(void)state;
	sample(s, &t, "pie", "thread", 1);
	n = unwind(s, 1, &t, f);
	expect_chain(f, n, deep);
	/* Then start_thread and clone3, which has marked its end. */
	assert_int_equal(n - expect_chain(f, n, to_routine), 4);
	sym_free(s);
}

static void test_signal(void **state)
{
	static const char *const handler[] = { "wait_here", "on_signal", NULL };
	static const char *const raised[] = { "raise", "main", NULL };
	struct sym *s = new_sym();
	struct sym_frame f[64];
	struct target t;
	int n;

	(void)state;
	sample(s, &t, "pie", "signal", 1);
	n = unwind(s, 1, &t, f);
	expect_chain(f, n, handler);
	/* run() is in main by inlining; the frame in between is the trampoline. */
	expect_chain(f, n, raised);
	sym_free(s);
}

static void test_library(void **state)
{
	static const char *const chain[] = { "pthread_mutex_lock", "hidden_function", "lib_wait",
					     "main", NULL };
	struct sym *s = new_sym();
	struct sym_frame f[64];
	struct sym_name name;
	struct target t;
	int n, at;

	(void)state;
	sample(s, &t, "pie", "lib", 1);
	n = unwind(s, 1, &t, f);
	at = expect_chain(f, n, chain);
	assert_non_null(strstr(f[at + 1].module, "/libtarget.so"));
	expect_data(s, 1, t.lock, "lock_in_library");
	assert_int_equal(sym_data(s, 1, t.lock, &name), 0);
	assert_non_null(strstr(name.module, "/libtarget.so"));
	sym_free(s);
}

static void test_lines(void **state)
{
	struct sym *s = new_sym();
	struct sym_frame f[64];
	struct target t;
	int n, at;

	(void)state;
	sample(s, &t, "debug", "bss", 1);
	n = unwind(s, 1, &t, f);
	at = expect_chain(f, n, deep);
	assert_non_null(f[at].file);
	assert_non_null(strstr(f[at].file, "symtarget/target.c"));
	assert_int_equal(f[at].line, 24);	/* of pthread_mutex_lock(m) */
	sym_free(s);
	s = new_sym_with(true);
	sample(s, &t, "debug", "bss", 1);
	n = unwind(s, 1, &t, f);
	at = expect_chain(f, n, deep);
	assert_null(f[at].file);
	assert_int_equal(f[at].line, 0);
	sym_free(s);
}

static void test_inlined(void **state)
{
	static const char *const chain[] = { "wait_here", "inner_inlined", "outer_inlined",
					     "holds_inlined", NULL };
	static const char *const without[] = { "wait_here", "holds_inlined", "main", NULL };
	static const char *const lambda[] = {
		"work::queue<long>::push(long)", "work::inlined_push(work::queue<long>&, int)",
		NULL };
	struct sym *s = new_sym();
	struct sym_frame f[64], cut[3];
	struct target t;
	int n, at;

	(void)state;
	sample(s, &t, "debug", "inline", 1);
	n = unwind(s, 1, &t, f);
	at = expect_chain(f, n, chain);
	/* Each where it stands: the call's line, and the line that the call was inlined to. */
	expect_frame(&f[at + 1], "inner_inlined", true, "symtarget/target.c", 50);
	expect_frame(&f[at + 2], "outer_inlined", true, "symtarget/target.c", 57);
	expect_frame(&f[at + 3], "holds_inlined", false, "symtarget/target.c", 63);
	assert_int_equal(f[at + 1].ip, f[at + 3].ip);
	assert_int_equal(f[at + 1].module_offset, f[at + 3].module_offset);
	assert_int_equal(f[at + 1].offset, 0);
	assert_true(f[at + 3].offset > 0);
	/* Inlined frames count. */
	assert_int_equal(sym_unwind(s, 1, &t.regs, t.stack, t.stack_bytes, cut, 3), 3);
	sample(s, &t, "pie", "inline", 2);
	n = unwind(s, 2, &t, f);
	expect_chain(f, n, without);
	sample(s, &t, "cxxdebug", "lambda", 3);
	n = unwind(s, 3, &t, f);
	at = expect_chain(f, n, lambda);
	expect_frame(&f[at + 1], lambda[1], true, "target_cxx.cc", 0);
	/* gcc calls it {lambda(int)#1}, clang $_0. */
	assert_non_null(strstr(f[at + 2].symbol, "work::through_lambda(int)::"));
	assert_non_null(strstr(f[at + 2].symbol, "::operator()(int) const"));
	expect_frame(&f[at + 2], f[at + 2].symbol, false, "target_cxx.cc", 0);
	/* Of the standard library's header, into the function that holds it. */
	expect_frame(&f[at - 1], "std::mutex::lock()", true, "std_mutex.h", 0);
	sym_free(s);
	s = new_sym_with(true);
	sample(s, &t, "debug", "inline", 1);
	n = unwind(s, 1, &t, f);
	expect_chain(f, n, without);
	sym_free(s);
}

/* The address that objdump and gdb on the file would show. */
static uint64_t symbol_value(const char *program, const char *symbol)
{
	unsigned long value = 0;
	char cmd[PATH_MAX + 64];
	FILE *p;

	snprintf(cmd, sizeof(cmd), "nm %s/%s | awk '$3 == \"%s\" { print $1 }'", dir, program,
		 symbol);
	p = popen(cmd, "r");
	assert_non_null(p);
	assert_int_equal(fscanf(p, "%lx", &value), 1);
	pclose(p);
	return value;
}

static void test_module_offset(void **state)
{
	static const char *const programs[] = { "pie", "fixed" };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct sym *s = new_sym();
		struct sym_frame f[64];
		struct sym_name name;
		struct target t;
		int n, at;

		sample(s, &t, programs[i], "bss", 1);
		n = unwind(s, 1, &t, f);
		at = expect_chain(f, n, deep);
		assert_int_equal(f[at].module_offset,
				 symbol_value(programs[i], "wait_here") + f[at].offset);
		assert_int_equal(sym_data(s, 1, t.lock + 4, &name), 0);
		assert_int_equal(name.module_offset, symbol_value(programs[i], "lock_in_bss") + 4);
		sym_free(s);
	}
}

static void test_stripped(void **state)
{
	struct sym *s = new_sym();
	struct sym_frame f[64];
	struct sym_name name;
	struct target t;
	int n, unnamed = 0;

	(void)state;
	sample(s, &t, "stripped", "bss", 1);
	n = unwind(s, 1, &t, f);
	/* All frames are there, of ours only without names, and none with a wrong one. */
	for (int i = 0; i < n; i++) {
		if (f[i].module && strstr(f[i].module, "/stripped")) {
			unnamed++;
			assert_null(f[i].symbol);
			/* Where it is in the file is known all the same. */
			assert_in_range(f[i].module_offset, 0x1000, 0x4000);
		}
	}
	assert_int_equal(unnamed, 7);
	assert_int_equal(sym_data(s, 1, t.lock, &name), -ENOENT);
	assert_non_null(strstr(name.module, "/stripped"));
	assert_int_equal(name.module_offset, symbol_value("pie", "lock_in_bss"));
	assert_int_equal(sym_data(s, 1, t.regs.sp, &name), -ENOENT);
	assert_null(name.module);
	sym_free(s);
}

/* Only its debug link leads to the debug file: no build id. */
static void link_from(const char *where)
{
	assert_int_equal(shell("cd %s && rm -rf linked* .debug && gcc -O2 -fomit-frame-pointer "
			       "-fno-optimize-sibling-calls -pthread -g -Wl,--build-id=none "
			       "-o linked %s/target.c ./libtarget.so && "
			       "objcopy --only-keep-debug linked linked.dbg && mkdir .debug && "
			       "strip linked && objcopy --add-gnu-debuglink=linked.dbg linked && "
			       "if [ %s != . ]; then mv linked.dbg %s; fi", dir, sources, where,
			       where), 0);
}

static void test_debug_link(void **state)
{
	struct sym *s = new_sym();
	struct sym_frame f[64];
	struct sym_name name;
	struct target t;
	int n, at;

	(void)state;
	link_from(".");
	sample(s, &t, "linked", "inline", 1);
	/* With the C library's names a first answer comes, which is not the last one. */
	n = unwind(s, 1, &t, f);
	at = expect_chain(f, n, (const char *[]){ "wait_here", "inner_inlined", NULL });
	expect_frame(&f[at + 1], "inner_inlined", true, "symtarget/target.c", 50);
	expect_data(s, 1, t.lock, "lock_in_bss");
	sym_free(s);
	link_from(".debug");
	s = new_sym();
	sample(s, &t, "linked", "bss", 1);
	expect_data(s, 1, t.lock, "lock_in_bss");
	sym_free(s);
	/* Another file of that name, as its checksum tells. */
	link_from(".");
	assert_int_equal(shell("cd %s && cp debug linked.dbg", dir), 0);
	s = new_sym();
	sample(s, &t, "linked", "bss", 1);
	assert_int_equal(sym_data(s, 1, t.lock, &name), -ENOENT);
	sym_free(s);
	if (geteuid())
		return;
	/* Root does not open for the child what not everybody may read. */
	link_from(".");
	assert_int_equal(shell("chmod 640 %s/linked.dbg", dir), 0);
	s = new_sym();
	sample(s, &t, "linked", "bss", 1);
	assert_int_equal(sym_data(s, 1, t.lock, &name), -ENOENT);
	sym_free(s);
}

/* /usr/lib/debug/.build-id, where the child itself looks; root alone can put a file there. */
static void test_build_id(void **state)
{
	struct sym *s = new_sym();
	struct sym_frame f[64];
	struct target t;
	int n, bad;

	(void)state;
	if (geteuid() || access("/usr/lib", W_OK)) {
		sym_free(s);
		skip();
	}
	bad = shell("cd %s && id=$(readelf -n debug | awk '/Build ID/ { print $3 }') && "
		    "rest=${id#??} && to=/usr/lib/debug/.build-id/${id%%$rest} && "
		    "mkdir -p $to && objcopy --only-keep-debug debug $to/$rest.debug && "
		    "strip -o apart debug && echo $to/$rest.debug >apart.path", dir);
	assert_int_equal(bad, 0);
	sample(s, &t, "apart", "inline", 1);
	n = unwind(s, 1, &t, f);
	/* Were it an assertion, the file would stay when it fails. */
	bad = shell("cd %s && rm $(cat apart.path) && "
		    "{ rmdir -p $(dirname $(cat apart.path)) 2>/dev/null || :; }", dir);
	expect_chain(f, n, (const char *[]){ "wait_here", "inner_inlined", "outer_inlined", NULL });
	expect_data(s, 1, t.lock, "lock_in_bss");
	assert_int_equal(bad, 0);
	sym_free(s);
}

static void test_minidebug(void **state)
{
	struct sym *s = new_sym();
	struct sym_frame f[64];
	struct target t;
	int n;

	(void)state;
	if (shell("cd %s && objcopy -S --keep-symbol=wait_here --keep-symbol=middle_function "
		  "--keep-symbol=outer_function pie mini.sym && xz -f mini.sym && "
		  "strip -o mini pie && objcopy --add-section .gnu_debugdata=mini.sym.xz mini",
		  dir)) {
		sym_free(s);
		skip();
	}
	sample(s, &t, "mini", "bss", 1);
	n = unwind(s, 1, &t, f);
	expect_chain(f, n, deep);
	sym_free(s);
}

static void test_deleted(void **state)
{
	struct sym *s = new_sym();
	struct sym_frame f[64];
	struct target t;
	int n, at;

	(void)state;
	assert_int_equal(shell("cp %s/pie %s/gone", dir, dir), 0);
	start(&t, "gone", "bss");
	capture(&t);
	assert_int_equal(shell("rm %s/gone && cp /bin/true %s/gone", dir, dir), 0);
	assert_int_equal(sym_snapshot(s, 1, t.pid), 0);
	end(&t);
	n = unwind(s, 1, &t, f);
	at = expect_chain(f, n, deep);
	/* The path is given as it was, without the kernel's remark. */
	assert_string_equal(f[at].module + strlen(f[at].module) - 5, "/gone");
	expect_data(s, 1, t.lock, "lock_in_bss");
	sym_free(s);
}

/* The files of another root are found below /proc, and not by their path here. */
static void test_chroot(void **state)
{
	struct sym *s = new_sym();
	struct sym_frame f[64];
	struct target t;
	int n, at;

	(void)state;
	if (geteuid() ||
	    shell("cd %s && mkdir root && cp pie libtarget.so root && cp pie root/inside && "
		  "for l in $(ldd ./pie | grep -oE '[[:space:]]/[^ ]*'); do "
		  "mkdir -p root/${l%%/*} && cp $l root/$l; done", dir)) {
		sym_free(s);
		skip();
	}
	chroot_to = "root";
	start(&t, "/inside", "bss");
	chroot_to = NULL;
	capture(&t);
	assert_int_equal(sym_snapshot(s, 1, t.pid), 0);
	end(&t);
	n = unwind(s, 1, &t, f);
	at = expect_chain(f, n, deep);
	assert_non_null(strstr(f[at].module, "/inside"));
	expect_data(s, 1, t.lock, "lock_in_bss");
	sym_free(s);
}

/* What was mapped once is known still, as long as nothing else came there. */
static void test_unmapped(void **state)
{
	char path[PATH_MAX + 16];
	struct sym *s = new_sym();
	struct sym_name n, again;
	int fd, go[2], done[2];
	uint64_t addr = 0;
	char *p, c;
	pid_t pid;

	(void)state;
	snprintf(path, sizeof(path), "%s/libtarget.so", dir);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	p = mmap(NULL, 0x4000, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_true(p != MAP_FAILED && !pipe(go) && !pipe(done));
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (read(go[0], &c, 1) == 1 && !munmap(p, 0x4000) && write(done[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	assert_int_equal(sym_snapshot(s, 1, pid), 0);
	for (uint64_t at = 0; at < 0x4000 && !addr; at += 16) {
		if (!sym_code(s, 1, (uint64_t)(uintptr_t)p + at, &n) &&
		    !strcmp(n.symbol, "lib_wait"))
			addr = (uint64_t)(uintptr_t)p + at;
	}
	assert_int_not_equal(addr, 0);
	assert_int_equal(write(go[1], "", 1), 1);
	assert_int_equal(read(done[0], &c, 1), 1);
	usleep(2 * SYM_STALE_MS * 1000);
	assert_int_equal(sym_snapshot(s, 1, pid), 0);
	assert_int_equal(sym_code(s, 1, addr, &again), 0);
	assert_string_equal(again.symbol, "lib_wait");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	munmap(p, 0x4000);
	close(fd);
	for (int i = 0; i < 2; i++) {
		close(go[i]);
		close(done[i]);
	}
	sym_free(s);
}

/* Code without a file, and the map that its process writes of it as it goes. */
static void test_perf_map(void **state)
{
	char *p = mmap(NULL, 8192, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t at = (uint64_t)(uintptr_t)p;
	struct sym *s = new_sym();
	char path[64];
	struct sym_name n;
	pid_t pid;
	FILE *f;

	(void)state;
	assert_true(p != MAP_FAILED);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	assert_int_equal(sym_snapshot(s, 1, pid), 0);
	assert_int_equal(sym_code(s, 1, at, &n), -ENOENT);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", pid);
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "%lx 1000 first@1.0\n%lx 20 ", (long)at, (long)at + 4096);
	fflush(f);
	/* Where reading the mappings is slow they are read again later. */
	for (int i = 0; i < 50; i++) {
		usleep(2 * SYM_STALE_MS * 1000);
		assert_int_equal(sym_snapshot(s, 1, pid), 0);
		if (!sym_code(s, 1, at + 4, &n))
			break;
	}
	assert_int_equal(sym_code(s, 1, at + 4, &n), 0);
	assert_string_equal(n.symbol, "first@1.0");
	assert_int_equal(n.offset, 4);
	assert_string_equal(n.module, path);
	/* More is written; what was there is replaced. */
	fprintf(f, "second\n%lx 100 third\n", (long)at);
	fclose(f);
	assert_int_equal(sym_code(s, 1, at + 4096 + 31, &n), 0);
	assert_string_equal(n.symbol, "second");
	assert_int_equal(sym_code(s, 1, at + 4096 + 32, &n), -ENOENT);
	assert_int_equal(sym_code(s, 1, at + 8, &n), 0);
	assert_string_equal(n.symbol, "third");
	sym_free(s);
	/* Not when it is somebody else's. */
	if (!geteuid() && !chown(path, 12345, 12345)) {
		s = new_sym();
		assert_int_equal(sym_snapshot(s, 1, pid), 0);
		assert_int_equal(sym_code(s, 1, at + 4, &n), -ENOENT);
		sym_free(s);
	}
	unlink(path);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	munmap(p, 8192);
}

static void test_cxx(void **state)
{
	static const char *const chain[] = {
		"work::queue<long>::push(long)",
		"work::runner::operator()(std::__cxx11::basic_string<char, std::char_traits<char>, "
		"std::allocator<char> > const&, int)",
		"main", NULL };
	struct sym *s = new_sym();
	struct sym_frame f[64];
	struct target t;
	int n;

	(void)state;
	sample(s, &t, "cxx", "", 1);
	n = unwind(s, 1, &t, f);
	expect_chain(f, n, chain);
	expect_data(s, 1, t.lock, "work::queue<long>::guard");
	sym_free(s);
}

/* A trace of a build server that runs for days. */
static void test_many_spaces(void **state)
{
	struct sym *s = new_sym();
	uint32_t i;
	int rc;

	(void)state;
	for (i = 1; i <= 4096; i++) {
		while ((rc = sym_snapshot(s, i, getpid())) == -EAGAIN)
			usleep(1000);
		assert_int_equal(rc, 0);
	}
	assert_int_equal(sym_snapshot(s, i, getpid()), -ENOSPC);
	assert_int_equal(sym_snapshot(s, 1, getpid()), 0);
	sym_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pie),
		cmocka_unit_test(test_fixed),
		cmocka_unit_test(test_data),
		cmocka_unit_test(test_thread),
		cmocka_unit_test(test_signal),
		cmocka_unit_test(test_library),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_inlined),
		cmocka_unit_test(test_module_offset),
		cmocka_unit_test(test_stripped),
		cmocka_unit_test(test_debug_link),
		cmocka_unit_test(test_build_id),
		cmocka_unit_test(test_minidebug),
		cmocka_unit_test(test_deleted),
		cmocka_unit_test(test_chroot),
		cmocka_unit_test(test_unmapped),
		cmocka_unit_test(test_perf_map),
		cmocka_unit_test(test_cxx),
		cmocka_unit_test(test_many_spaces),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
