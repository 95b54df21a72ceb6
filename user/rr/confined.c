/* SPDX-License-Identifier: MIT */
#include "rr/confined.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/user.h"
#include "shared/rr_call.h"

#define NR_EXECVE 59
#define NR_EXECVEAT 322
#define COULD_NOT 125

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1ul << 5)
#endif

/* Told once it is confined: the listener's number in it, or what failed. */
struct word {
	int error, listener;
	char what[40];
};

static const uint8_t action[RR_NR_CALLS] = {
#define RR_CALL(nr, name, act, ...) [nr] = act,
#include "shared/rr_calls.def"
#undef RR_CALL
};

static void add(struct sock_filter *f, size_t *n, struct sock_filter row)
{
	f[(*n)++] = row;
}

/* A word of struct seccomp_data; how many rows to skip when it is @k, and when not. */
static struct sock_filter load(uint32_t at)
{
	return (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at);
}

static struct sock_filter is(uint32_t k, uint8_t yes, uint8_t no)
{
	return (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, k, yes, no);
}

static struct sock_filter answer(uint32_t what)
{
	return (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, what);
}

/*
 * What is copied to an output without passing through memory could not be seen: to stdout and
 * stderr, programs are told to read and write (EINVAL, as of files that cannot be spliced).
 */
static const struct { uint32_t nr, arg; } unseen[] = {
	{ 40, 0 },	/* sendfile */
	{ 275, 2 },	/* splice */
	{ 276, 1 },	/* tee */
	{ 326, 2 },	/* copy_file_range */
};

static void refuse_unseen(struct sock_filter *f, size_t *n)
{
	for (size_t i = 0; i < sizeof(unseen) / sizeof(unseen[0]); i++) {
		add(f, n, is(unseen[i].nr, 0, 5));
		add(f, n, load((uint32_t)offsetof(struct seccomp_data, args) +
			       8 * unseen[i].arg));
		add(f, n, is(1, 1, 0));
		add(f, n, is(2, 0, 1));
		add(f, n, answer(SECCOMP_RET_ERRNO | EINVAL));
		add(f, n, load(offsetof(struct seccomp_data, nr)));
	}
}

/* What could not be replayed, and programs can do without: madvise(2) of these kinds. */
static const struct { uint32_t nr, arg, value; } invalid[] = {
	{ 28, 2, 8 },		/* MADV_FREE: pages go whenever memory is short */
	{ 28, 2, 102 },		/* MADV_GUARD_INSTALL, MADV_GUARD_REMOVE */
	{ 28, 2, 103 },
};

static void refuse_invalid(struct sock_filter *f, size_t *n)
{
	for (size_t i = 0; i < sizeof(invalid) / sizeof(invalid[0]); i++) {
		add(f, n, is(invalid[i].nr, 0, 4));
		add(f, n, load((uint32_t)offsetof(struct seccomp_data, args) + 8 * invalid[i].arg));
		add(f, n, is(invalid[i].value, 0, 1));
		add(f, n, answer(SECCOMP_RET_ERRNO | EINVAL));
		add(f, n, load(offsetof(struct seccomp_data, nr)));
	}
}

/* What would take a thread from its CPU, or put it before the recorder, is not done. */
static const uint32_t feigned[] = {
	142,	/* sched_setparam */
	144,	/* sched_setscheduler */
	203,	/* sched_setaffinity */
	314,	/* sched_setattr */
};

static void feign(struct sock_filter *f, size_t *n)
{
	for (size_t i = 0; i < sizeof(feigned) / sizeof(feigned[0]); i++) {
		add(f, n, is(feigned[i], 0, 1));
		add(f, n, answer(SECCOMP_RET_ERRNO));
	}
}

/* execve waits for us; what is absent is answered; 32-bit code is not for us. */
static size_t make_filter(struct sock_filter *f)
{
	size_t n = 0;

	add(f, &n, load(offsetof(struct seccomp_data, arch)));
	add(f, &n, is(AUDIT_ARCH_X86_64, 1, 0));
	add(f, &n, answer(SECCOMP_RET_ERRNO | ENOSYS));
	add(f, &n, load(offsetof(struct seccomp_data, nr)));
	for (uint32_t nr = 0; nr < RR_NR_CALLS; nr++) {
		const bool exec = nr == NR_EXECVE || nr == NR_EXECVEAT;

		if (!exec && action[nr] != RR_ABSENT)
			continue;
		add(f, &n, is(nr, 0, 1));
		add(f, &n, answer(exec ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ERRNO | ENOSYS));
	}
	refuse_unseen(f, &n);
	refuse_invalid(f, &n);
	feign(f, &n);
	add(f, &n, answer(SECCOMP_RET_ALLOW));
	return n;
}

static int filter_calls(void)
{
	struct sock_filter filter[128];
	struct sock_fprog prog = { .filter = filter };

	prog.len = (unsigned short)make_filter(filter);
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			    SECCOMP_FILTER_FLAG_NEW_LISTENER |
			    SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, &prog);
}

/* Who asked for it by sudo has groups and a home, too. */
static int become(const struct confined_opts *o)
{
	const struct passwd *pw = o->user;

	if (!pw && o->who->change)
		pw = getpwuid(o->who->uid);
	return pw ? user_become(pw) : caller_become(o->who);
}

static const char *confine(const struct confined_opts *o, int *listener)
{
	const struct sched_param rr = { .sched_priority = 1 };
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(o->cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		return "keep to one CPU";
	if (sched_setscheduler(0, SCHED_RR, &rr))
		return "run in real time";
	if (personality(ADDR_NO_RANDOMIZE) < 0)
		return "have its addresses not randomised";
	*listener = filter_calls();
	if (*listener < 0)
		return "have its calls filtered";
	/* What a set-uid program reads would be in a recording that is another's. */
	if (o->who->uid && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return "be kept from new privileges";
	if (become(o))
		return "become its user";
	return NULL;
}

static void child(const struct confined_opts *o, const struct confined *parents, int to, int go)
{
	struct word w = { .listener = -1 };
	const char *what;
	char c;

	/* It hears of our end by these. */
	close(parents->go);
	close(parents->from);
	what = confine(o, &w.listener);
	if (what) {
		w.error = errno;
		strncpy(w.what, what, sizeof(w.what) - 1);
	}
	if (write(to, &w, sizeof(w)) != sizeof(w) || what || read(go, &c, 1) != 1)
		_exit(COULD_NOT);
	close(w.listener);
	execvp(o->argv[0], o->argv);
	w.error = errno;
	(void)!write(to, &w, sizeof(w));
	_exit(COULD_NOT);
}

static int hear(struct confined *c, int from, struct err *err)
{
	struct word w;

	if (read(from, &w, sizeof(w)) != sizeof(w))
		return err_set(err, EIO, "the process that was to be recorded ended early");
	if (w.error)
		return err_sys(err, w.error, "what is recorded cannot %s", w.what);
	c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
	if (c->pidfd < 0)
		return err_sys(err, errno, "cannot watch process %d", (int)c->pid);
	c->notify = (int)syscall(SYS_pidfd_getfd, c->pidfd, w.listener, 0);
	if (c->notify < 0)
		return err_sys(err, errno, "cannot listen to process %d", (int)c->pid);
	return 0;
}

int confined_start(struct confined *c, const struct confined_opts *opts, struct err *err)
{
	int from[2], go[2], r;

	*c = (struct confined){ .pidfd = -1, .notify = -1, .go = -1, .from = -1 };
	if (pipe2(from, O_CLOEXEC))
		return err_sys(err, errno, "cannot make a pipe");
	if (pipe2(go, O_CLOEXEC)) {
		r = err_sys(err, errno, "cannot make a pipe");
		close(from[0]);
		close(from[1]);
		return r;
	}
	c->go = go[1];
	c->from = from[0];
	c->pid = fork();
	if (!c->pid)
		child(opts, c, from[1], go[0]);
	close(from[1]);
	close(go[0]);
	r = c->pid < 0 ? err_sys(err, errno, "cannot fork") : hear(c, from[0], err);
	if (r)
		confined_release(c);
	return r;
}

int confined_go(struct confined *c, struct err *err)
{
	int r = write(c->go, "", 1) == 1 ? 0 :
		err_sys(err, errno, "cannot start what is to be recorded");

	close(c->go);
	c->go = -1;
	return r;
}

int confined_exec_error(struct confined *c)
{
	struct word w;

	return read(c->from, &w, sizeof(w)) == sizeof(w) ? w.error : 0;
}

void confined_release(struct confined *c)
{
	if (c->pid > 0 && c->go >= 0) {
		close(c->go);
		waitpid(c->pid, NULL, 0);
		c->go = -1;
	}
	if (c->notify >= 0)
		close(c->notify);
	if (c->pidfd >= 0)
		close(c->pidfd);
	if (c->from >= 0)
		close(c->from);
	c->notify = c->pidfd = c->from = -1;
}
