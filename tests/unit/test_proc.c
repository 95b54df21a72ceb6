/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "collect/proc.h"

/* A line of /proc/PID/stat with the name @comm. */
#define STAT(comm)                                                                                \
	"4242 (" comm ") S 17 4242 4242 34816 4242 4194560 120 0 0 0 3 1 0 0 20 0 5 0 987654 " \
	"2965504 500 18446744073709551615 1 1 0 0 0\n"

static void stat_is_read(void **state)
{
	struct proc_stat st;

	(void)state;
	assert_int_equal(proc_parse_stat(STAT("redis-server"), &st), 0);
	assert_int_equal(st.pid, 4242);
	assert_string_equal(st.comm, "redis-server");
	assert_int_equal(st.state, 'S');
	assert_int_equal(st.flags, 4194560);
	assert_int_equal(st.threads, 5);
}

static void hostile_names_do_not_shift_fields(void **state)
{
	static const char *const names[] = { "a) (b", "x) S 1 1 1 (", ")", "(", "", " ", "a\nb",
					     "\033]0;x\007" };
	static const char *const texts[] = { STAT("a) (b"), STAT("x) S 1 1 1 ("), STAT(")"),
					     STAT("("), STAT(""), STAT(" "), STAT("a\nb"),
					     STAT("\033]0;x\007") };
	struct proc_stat st;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		assert_int_equal(proc_parse_stat(texts[i], &st), 0);
		assert_string_equal(st.comm, names[i]);
		assert_int_equal(st.flags, 4194560);
		assert_int_equal(st.threads, 5);
			}
	/* Longer than we keep: cut. */
	assert_int_equal(proc_parse_stat(STAT("0123456789012345678901234567890123456789"
					      "0123456789012345678901234567890123456789"), &st), 0);
	assert_int_equal(strlen(st.comm), PROC_COMM - 1);
}

static void bad_stat_is_refused(void **state)
{
	static const char *const bad[] = {
		"", "x", "1", "1 ", "1 (", "1 (a", "1 (a)", "1 (a) ", "1 (a) S", "1 (a) S 1 2 3\n",
		"-1 (a) S 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n",
		"1 a) S 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n",
		"1 (a) S 1 1 1 1 1 x 1 1 1 1 1 1 1 1 1 1 1 1 1\n",
		"99999999999 (a) S 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n",
		"1 (a) S 1 1 1 1 1 99999999999999999999999 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n",
		"1 (a) S 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n1 1 1",
	};
	struct proc_stat st;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (proc_parse_stat(bad[i], &st) != -EINVAL)
			fail_msg("accepted '%s'", bad[i]);
}

static void status_is_read(void **state)
{
	static const char text[] =
		"Name:\ta\\nTgid:\\t9\nState:\tS (sleeping)\nTgid:\t5\nNgid:\t0\nPid:\t7\n"
		"PPid:\t3\nUid:\t1000\t1001\t1002\t1003\nGid:\t50\t51\t52\t53\n";
	static const char *const bad[] = {
		"", "Tgid:\t5\nPid:\t7\n",
		"xTgid:\t5\nPid:\t7\nPPid:\t0\nUid:\t0\t0\t0\nGid:\t0\t0\t0\n",
		"Tgid:\t5\nPid:\t7\nPPid:\t0\nUid:\t0\t0\nGid:\t0\t0\t0\n",
		"Tgid:\t5\nPid:\t7\nPPid:\t0\nUid:\t0\t0\t0\nGid:\t0\t0\n",
		"Tgid:\t5\nPid:\t7\nPPid:\t0\nUid:\t0\t0\t0\n",
	};
	struct proc_status st;
	size_t i;

	(void)state;
	assert_int_equal(proc_parse_status(text, &st), 0);
	assert_int_equal(st.tgid, 5);
	assert_int_equal(st.pid, 7);
	assert_int_equal(st.ppid, 3);
	assert_int_equal(st.uid, 1000);
	assert_int_equal(st.euid, 1001);
	assert_int_equal(st.suid, 1002);
	assert_int_equal(st.gid, 50);
	assert_int_equal(st.egid, 51);
	assert_int_equal(st.sgid, 52);
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (proc_parse_status(bad[i], &st) != -EINVAL)
			fail_msg("accepted '%s'", bad[i]);
}

/* ---- on live processes ---- */

static pid_t sleeper(void)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, "a) (b");
		for (;;)
			pause();
	}
	return pid;
}

static void reap(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void wait_for_name(pid_t pid, const char *name)
{
	char comm[PROC_COMM] = "";
	int i;

	for (i = 0; i < 2000 && strcmp(comm, name); i++) {
		proc_comm(pid, comm);
		usleep(1000);
	}
	assert_string_equal(comm, name);
}

static void a_process_is_looked_at(void **state)
{
	struct proc_info info, again;
	struct err err = { 0 };
	pid_t *tids, pid = sleeper();

	(void)state;
	wait_for_name(pid, "a) (b");
	assert_int_equal(proc_look(pid, &info, &err), 0);
	assert_int_equal(info.pid, pid);
	assert_string_equal(info.comm, "a) (b");
	assert_true(info.dumpable);
	assert_false(info.kernel_thread);
	assert_false(info.leader_dead);
	assert_int_equal(proc_look(pid, &again, &err), 0);
	assert_memory_equal(&info, &again, sizeof(info));
	assert_true(proc_threads(pid, &tids, &err) >= 1);	/* a sanitizer may have its own */
	assert_int_equal(tids[0], pid);
	free(tids);
	reap(pid);
	assert_int_equal(proc_look(pid, &info, &err), -ESRCH);
	assert_non_null(strstr(err.msg, ": no such process"));
	assert_int_equal(proc_threads(pid, &tids, &err), -ESRCH);
	assert_null(tids);
}

static void a_zombie_is_said_to_be_one(void **state)
{
	struct proc_info info;
	struct err err = { 0 };
	siginfo_t si;
	char want[128];
	pid_t pid = fork();

	(void)state;
	if (!pid)
		_exit(0);
	waitid(P_PID, (id_t)pid, &si, WEXITED | WNOWAIT);
	assert_int_equal(proc_look(pid, &info, &err), -ESRCH);
	snprintf(want, sizeof(want),
		 "cannot attach to pid %d: it has ended and is a zombie of process %d", (int)pid,
		 (int)getpid());
	assert_string_equal(err.msg, want);
	waitpid(pid, NULL, 0);
}

static void ourselves_and_nonsense_are_refused(void **state)
{
	struct proc_info info;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(proc_look(getpid(), &info, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "tracer itself"));
	assert_int_equal(proc_look(0, &info, &err), -EINVAL);
	assert_int_equal(proc_look(-5, &info, &err), -EINVAL);
	assert_int_equal(proc_look(2147483647, &info, &err), -ESRCH);
	assert_string_equal(err.msg, "cannot attach to pid 2147483647: no such process");
	assert_non_null(strstr(err.hint, "pgrep"));
}

static int from_thread[2], to_thread[2];

static void *tell_and_wait(void *arg)
{
	pid_t tid = (pid_t)syscall(SYS_gettid);
	char c;

	(void)arg;
	if (write(from_thread[1], &tid, sizeof(tid)) == sizeof(tid))
		while (read(to_thread[0], &c, 1) < 0)
			;
	return NULL;
}

static void threads_are_listed_and_told_from_processes(void **state)
{
	pthread_t thread[3];
	pid_t tid[3], *tids;
	struct proc_info info;
	struct err err = { 0 };
	char hint[64];
	int i;

	(void)state;
	assert_int_equal(pipe(from_thread) | pipe(to_thread), 0);
	for (i = 0; i < 3; i++) {
		assert_int_equal(pthread_create(&thread[i], NULL, tell_and_wait, NULL), 0);
		assert_int_equal(read(from_thread[0], &tid[i], sizeof(*tid)), sizeof(*tid));
	}
	/* A sanitizer may have a thread of its own. */
	i = (int)proc_threads(getpid(), &tids, &err);
	assert_true(i >= 4);
	while (--i > 0)
		assert_true(tids[i - 1] < tids[i]);
	free(tids);
	assert_int_equal(proc_look(tid[1], &info, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "it is a thread of process"));
	snprintf(hint, sizeof(hint), "give the pid of its process: %d", (int)getpid());
	assert_string_equal(err.hint, hint);
	assert_int_equal(write(to_thread[1], "abc", 3), 3);
	for (i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	for (i = 0; i < 2; i++) {
		close(from_thread[i]);
		close(to_thread[i]);
	}
}

static void *outlive_the_leader(void *arg)
{
	(void)arg;
	for (;;)
		pause();
	return NULL;
}

static void a_process_without_its_first_thread_is_no_zombie(void **state)
{
	struct proc_info info;
	struct err err = { 0 };
	pid_t pid = fork();
	int i;

	(void)state;
	if (!pid) {
		pthread_t thread;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (pthread_create(&thread, NULL, outlive_the_leader, NULL))
			_exit(1);
		/* The first thread alone: exit, not exit_group. */
		syscall(SYS_exit, 0);
	}
	memset(&info, 0, sizeof(info));
	for (i = 0; i < 2000 && !info.leader_dead; i++) {
		assert_int_equal(proc_look(pid, &info, &err), 0);
		usleep(1000);
	}
	assert_true(info.leader_dead);
	reap(pid);
}

/* As user 65534, looks at @pid; the child's exit status is the negative result. */
static int look_as_nobody(pid_t pid, const char *want)
{
	struct proc_info info;
	struct err err = { 0 };
	pid_t child = fork();
	int status;

	if (!child) {
		int rc;

		if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
			_exit(100);
		rc = -proc_look(pid, &info, &err);
		_exit(strstr(err.msg, want) ? rc : 101);
	}
	waitpid(child, &status, 0);
	return WEXITSTATUS(status);
}

struct ids {
	uid_t uid[3];
	gid_t gid[3];
	int dumpable;
	const char *want;	/* of the message; NULL: it may be attached */
};

static pid_t somebody(const struct ids *id)
{
	int ready[2];
	pid_t pid;
	char c;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		if (setresgid(id->gid[0], id->gid[1], id->gid[2]) ||
		    setresuid(id->uid[0], id->uid[1], id->uid[2]))
			_exit(1);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_DUMPABLE, id->dumpable);
		if (write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	return pid;
}

#define N3 { 65534, 65534, 65534 }

/* As ptrace(2) has it: each of the six ids counts. */
static void without_root_others_and_the_protected_are_refused(void **state)
{
	static const struct ids rows[] = {
		{ { 0, 0, 0 }, { 0, 0, 0 }, 1, "belongs to user 0, this is user 65534" },
		{ { 7, 65534, 65534 }, N3, 1, "belongs to user 7," },
		{ { 65534, 7, 65534 }, N3, 1, "belongs to user 7," },
		{ { 65534, 65534, 7 }, N3, 1, "belongs to user 7," },
		{ N3, { 8, 65534, 65534 }, 1, "rights of group 8, this is group 65534" },
		{ N3, { 65534, 8, 65534 }, 1, "rights of group 8," },
		{ N3, { 65534, 65534, 8 }, 1, "rights of group 8," },
		{ N3, N3, 0, "not dumpable" },
		{ N3, N3, 1, NULL },
	};
	size_t i;

	(void)state;
	if (geteuid())
		skip();
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		pid_t pid = somebody(&rows[i]);

		assert_int_equal(look_as_nobody(pid, rows[i].want ? rows[i].want : ""),
				 rows[i].want ? EPERM : 0);
		reap(pid);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stat_is_read),
		cmocka_unit_test(hostile_names_do_not_shift_fields),
		cmocka_unit_test(bad_stat_is_refused),
		cmocka_unit_test(status_is_read),
		cmocka_unit_test(a_process_is_looked_at),
		cmocka_unit_test(a_zombie_is_said_to_be_one),
		cmocka_unit_test(ourselves_and_nonsense_are_refused),
		cmocka_unit_test(threads_are_listed_and_told_from_processes),
		cmocka_unit_test(a_process_without_its_first_thread_is_no_zombie),
		cmocka_unit_test(without_root_others_and_the_protected_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
