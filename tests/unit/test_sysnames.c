/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <asm/unistd_64.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <cmocka.h>

#include "collect/sysnames.h"

static void every_row_has_a_name_of_its_own(void **state)
{
	int nr;

	(void)state;
	for (nr = 0; nr < SYSNAMES_MAX; nr++) {
		assert_non_null(sysname_table[nr].name);
		assert_true(sysname_table[nr].name[0]);
		assert_int_equal(sysname_find(sysname((unsigned int)nr)), nr);
	}
}

static void numbers_are_those_of_the_headers(void **state)
{
	static const struct { int nr; const char *name; } rows[] = {
		{ __NR_read, "read" }, { __NR_mmap, "mmap" }, { __NR_rt_sigaction, "rt_sigaction" },
		{ __NR_pread64, "pread64" }, { __NR_clone, "clone" }, { __NR_uname, "uname" },
		{ __NR_arch_prctl, "arch_prctl" }, { __NR_umount2, "umount2" },
		{ __NR_futex, "futex" }, { __NR_newfstatat, "newfstatat" },
		{ __NR_prlimit64, "prlimit64" }, { __NR_rseq, "rseq" }, { __NR_clone3, "clone3" },
		{ __NR_pidfd_open, "pidfd_open" }, { __NR_exit_group, "exit_group" },
		{ __NR_set_robust_list, "set_robust_list" }, { 449, "futex_waitv" },
		{ 454, "futex_wake" }, { 455, "futex_wait" }, { 456, "futex_requeue" },
		{ 462, "mseal" }, { 469, "file_setattr" }, { 335, "uretprobe" }, { 336, "uprobe" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_string_equal(sysname((unsigned int)rows[i].nr), rows[i].name);
		assert_true(sysname_known((unsigned int)rows[i].nr));
	}
}

static void unknown_numbers_are_named_as_strace_does(void **state)
{
	(void)state;
	assert_string_equal(sysname(337), "syscall_0x151");
	assert_string_equal(sysname(511), "syscall_0x1ff");
	assert_string_equal(sysname(512), "syscall_other");
	assert_string_equal(sysname(UINT32_MAX), "syscall_other");
	assert_false(sysname_known(400));
	assert_false(sysname_known(5000));
	assert_int_equal(sysname_find("syscall_0x151"), 337);
	assert_true(sysname_find("no_such_call") < 0);
	assert_true(sysname_find("") < 0);
}

static void masks_agree_with_each_other_and_the_classes(void **state)
{
	int nr;

	(void)state;
	for (nr = 0; nr < SYSNAMES_MAX; nr++) {
		const struct sysname *s = &sysname_table[nr];

		assert_int_equal(s->dirfds & ~s->fds, 0);
		assert_int_equal((s->dirfds << 1) & ~s->paths, 0);
		assert_int_equal(s->fds & s->paths, 0);
		if (s->paths)
			assert_true(s->classes & SYSNAME_FILE);
		/* getcwd's path is an output, fsconfig's depends on its command. */
		if (s->classes & SYSNAME_FILE && strcmp(s->name, "getcwd") &&
		    strcmp(s->name, "fsconfig"))
			assert_true(s->paths);
	}
	nr = sysname_find("renameat2");
	assert_int_equal(sysname_table[nr].fds, 1 | 4);
	assert_int_equal(sysname_table[nr].paths, 2 | 8);
	assert_int_equal(sysname_table[nr].dirfds, 1 | 4);
	nr = sysname_find("inotify_add_watch");	/* its fd is no directory */
	assert_int_equal(sysname_table[nr].dirfds, 0);
	assert_int_equal(sysname_table[sysname_find("mmap")].fds, 16);
	assert_int_equal(sysname_table[sysname_find("rename")].paths, 3);
}

/* Whether @set holds exactly the comma list @names. */
static void assert_set(const char *list, const char *names)
{
	struct sysname_set set;
	struct err err = { 0 };
	char got[8192] = "";
	size_t n = 0;
	unsigned int nr;

	assert_int_equal(sysnames_parse_set(list, &set, &err), 0);
	for (nr = 0; nr < SYSNAMES_MAX; nr++)
		if (sysname_set_has(&set, nr))
			n += (size_t)snprintf(got + n, sizeof(got) - n, "%s%s", n ? "," : "",
					      sysname(nr));
	assert_string_equal(got, names);
}

static void lists_are_read_as_strace_reads_them(void **state)
{
	struct sysname_set set;
	struct err err = { 0 };

	(void)state;
	assert_set("read", "read");
	assert_set("trace=write,read", "read,write");
	assert_set("t=futex", "futex");
	assert_set("39", "getpid");
	assert_set("0x27", "getpid");
	assert_set("none", "");
	assert_set("?no_such,read", "read");
	assert_set("?%nonsense", "");
	assert_set("?/zzz", "");
	assert_set("/^p?read", "read,pread64,readv,readlink,readahead,readlinkat,preadv,preadv2");
	assert_set("/^(p+|P{2})read+v2$", "preadv2");
	assert_set("/^$|dup.$", "dup2,dup3");
	assert_set("/e2$|^_*sysctl", "_sysctl,pipe2");
	assert_set("%%statfs", "ustat,statfs,fstatfs");
	assert_set("%lstat", "lstat");
	assert_set("%clock", "gettimeofday,adjtimex,settimeofday,time,clock_settime,"
		   "clock_gettime,clock_getres,clock_adjtime");
	assert_set("ipc,!%memory", "shmget,shmctl,semget,semop,semctl,msgget,msgsnd,msgrcv,"
		   "msgctl,semtimedop");
	assert_set("read,write,!read", "write");
	assert_set("syscall_0x1ff", "syscall_0x1ff");

	assert_int_equal(sysnames_parse_set("!read,write", &set, &err), 0);
	assert_false(sysname_set_has(&set, __NR_read));
	assert_false(sysname_set_has(&set, __NR_write));
	assert_true(sysname_set_has(&set, __NR_futex));
	assert_true(sysname_set_has(&set, 400));	/* a call we have no name for */
	assert_false(sysname_set_has(&set, SYSNAMES_MAX));
	assert_int_equal(sysnames_parse_set("!read,!write", &set, &err), 0);
	assert_false(sysname_set_has(&set, __NR_write));
	assert_true(sysname_set_has(&set, __NR_close));
	assert_int_equal(sysnames_parse_set("all", &set, &err), 0);
	assert_true(sysname_set_has(&set, 0) && sysname_set_has(&set, 511));
	assert_int_equal(sysnames_parse_set("%network,%net", &set, &err), 0);
	assert_true(sysname_set_has(&set, __NR_accept4));
}

static void assert_bad(const char *list, const char *msg, const char *hint)
{
	struct sysname_set set;
	struct err err = { 0 };

	assert_int_equal(sysnames_parse_set(list, &set, &err), -22);
	assert_non_null(strstr(err.msg, msg));
	assert_non_null(strstr(err.hint, hint));
}

/* libc's regcomp took all memory for the first, and minutes for the second. */
static void patterns_that_are_too_large_are_refused(void **state)
{
	static const char *const list[] = {
		"/d1d++++++++++++++++++++++++++++++++++++++++",
		"/-+?\?\?\?\?\?\?\?\?\?\?\?\?\?\?\?\?\?\?\?\?\?\?\?\?\?\?\?\?\?++++++++++++=++ek",
	};
	struct sysname_set set;
	struct err err = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		assert_int_equal(sysnames_parse_set(list[i], &set, &err), -7);	/* E2BIG */
		assert_non_null(strstr(err.msg, "system call pattern"));
	}
}

static void bad_lists_name_the_item_and_a_near_name(void **state)
{
	char item[400];

	(void)state;
	assert_bad("read,opennat", "unknown system call 'opennat'", "'openat'");
	assert_bad("fstatat", "unknown system call 'fstatat'", "'newfstatat'");
	assert_bad("sigaction", "unknown system call 'sigaction'", "'rt_sigaction'");
	assert_bad("umount", "unknown system call 'umount'", "'umount2'");
	assert_bad("qqqqqqqqq", "unknown system call 'qqqqqqqqq'", "");
	assert_bad("clock", "unknown system call 'clock'", "%clock");
	assert_bad("%flie", "unknown class of system calls '%flie'", "%file");
	assert_bad("/rea[d", "bad system call pattern 'rea[d'", "");
	assert_bad("/zzz", "no system call matches '/zzz'", "");
	assert_bad("/(a)\\1", "bad system call pattern '(a)\\1'", "");
	assert_bad("", "empty item", "");
	assert_bad("read,", "empty item", "");
	assert_bad(",", "empty item", "");
	assert_bad("!", "empty item", "");
	assert_bad("read,!", "unknown system call ''", "");
	assert_bad("512", "unknown system call '512'", "");
	assert_bad("-1", "unknown system call '-1'", "");
	memset(item, 'a', sizeof(item));
	item[sizeof(item) - 1] = '\0';
	assert_bad(item, "too long", "");
}

static void futex_operations_have_names(void **state)
{
	(void)state;
	assert_string_equal(futex_op_name(0), "wait");
	assert_string_equal(futex_op_name(10), "wake_bitset");
	assert_string_equal(futex_op_name(13), "lock_pi2");
	assert_string_equal(futex_op_name(14), "futex_waitv");
	assert_string_equal(futex_op_name(17), "futex_requeue");
	assert_string_equal(futex_op_name(18), "unknown");
}

/* ---- against strace itself ---- */

#define PROBE "--make-every-call"
#define END_CALL 999

/*
 * Makes every call with a filter that lets none through, so that strace prints
 * each one's name. Numbers 335 and 336 are traps that no filter sees.
 */
static void probe(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, END_CALL, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 38),
	};
	struct sock_fprog prog = { sizeof(code) / sizeof(*code), code };
	long nr;

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
	for (nr = 0; nr < SYSNAMES_MAX; nr++)
		if (nr != 335 && nr != 336)
			syscall(nr, 0, 0, 0, 0, 0, 0);
	syscall(END_CALL);
}

/* What strace -e trace=@filter prints: name by number, "" where nothing. */
static int strace_names(const char *filter, char names[SYSNAMES_MAX][40])
{
	char self[256], cmd[512], line[1024];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	unsigned int nr;
	int seen = 0;
	FILE *f;

	memset(names, 0, SYSNAMES_MAX * sizeof(*names));
	if (len < 0)
		return 0;
	self[len] = '\0';
	snprintf(cmd, sizeof(cmd), "strace -n -e 'trace=%s' '%s' " PROBE " 2>&1", filter, self);
	f = popen(cmd, "r");
	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f)) {
		char name[40];

		if (!strstr(line, "ENOSYS") || sscanf(line, "[%u] %39[a-z0-9_]", &nr, name) != 2 ||
		    nr >= SYSNAMES_MAX)
			continue;
		strcpy(names[nr], name);
		seen++;
	}
	pclose(f);
	return seen;
}

static void names_and_classes_are_those_of_strace(void **state)
{
	static const struct { const char *filter; uint32_t bit; } rows[] = {
		{ "%file", SYSNAME_FILE }, { "%process", SYSNAME_PROCESS },
		{ "%network", SYSNAME_NETWORK }, { "%signal", SYSNAME_SIGNAL },
		{ "%ipc", SYSNAME_IPC }, { "%desc", SYSNAME_DESC }, { "%memory", SYSNAME_MEMORY },
		{ "%creds", SYSNAME_CREDS }, { "%stat", SYSNAME_STAT }, { "%lstat", SYSNAME_LSTAT },
		{ "%fstat", SYSNAME_FSTAT }, { "%%stat", SYSNAME_STATS },
		{ "%statfs", SYSNAME_STATFS }, { "%fstatfs", SYSNAME_FSTATFS },
		{ "%%statfs", SYSNAME_STATFSS }, { "%clock", SYSNAME_CLOCK },
		{ "%pure", SYSNAME_PURE },
	};
	static char all[SYSNAMES_MAX][40], some[SYSNAMES_MAX][40];
	unsigned int nr, compared = 0;
	size_t i;

	(void)state;
	if (strace_names("all", all) < 300)
		skip();	/* no strace here, or it may not trace */
	for (nr = 0; nr < SYSNAMES_MAX; nr++) {
		/* strace may be older than our table, never the other way. */
		if (!all[nr][0] || !strncmp(all[nr], "syscall_", 8))
			continue;
		assert_string_equal(all[nr], sysname(nr));
		compared++;
	}
	assert_true(compared > 300);
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		strace_names(rows[i].filter, some);
		for (nr = 0; nr < SYSNAMES_MAX; nr++) {
			bool ours = sysname_table[nr].classes & rows[i].bit;

			/* strace puts numbers it does not know into every class. */
			if (all[nr][0] && strncmp(all[nr], "syscall_", 8) && ours != !!some[nr][0])
				fail_msg("%s in %s: %d here", sysname(nr), rows[i].filter, ours);
		}
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_has_a_name_of_its_own),
		cmocka_unit_test(numbers_are_those_of_the_headers),
		cmocka_unit_test(unknown_numbers_are_named_as_strace_does),
		cmocka_unit_test(masks_agree_with_each_other_and_the_classes),
		cmocka_unit_test(lists_are_read_as_strace_reads_them),
		cmocka_unit_test(patterns_that_are_too_large_are_refused),
		cmocka_unit_test(bad_lists_name_the_item_and_a_near_name),
		cmocka_unit_test(futex_operations_have_names),
		cmocka_unit_test(names_and_classes_are_those_of_strace),
	};

	if (argc > 1 && !strcmp(argv[1], PROBE)) {
		probe();
		return 1;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
