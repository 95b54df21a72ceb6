/* SPDX-License-Identifier: MIT */
#include "collect/proc.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "collect/privilege.h"

#define PROC_FILE_MAX	((size_t)64 << 10)	/* bytes of stat or status */
#define KERNEL_THREAD	0x200000U		/* PF_KTHREAD */

static int read_file(pid_t pid, const char *name, struct buf *b)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	buf_reset(b);
	/* A file with nothing in it is of a process that just ended. */
	return io_read_file(path, b, PROC_FILE_MAX) ?: b->len ? 0 : -ESRCH;
}

static int read_stat(pid_t pid, struct proc_stat *st)
{
	struct buf b = BUF_INIT;
	int rc = read_file(pid, "stat", &b);

	if (!rc)
		rc = proc_parse_stat(b.data, st);
	buf_release(&b);
	return rc;
}

static int read_status(pid_t pid, struct proc_status *st)
{
	struct buf b = BUF_INIT;
	int rc = read_file(pid, "status", &b);

	if (!rc)
		rc = proc_parse_status(b.data, st);
	buf_release(&b);
	return rc;
}

int proc_comm(pid_t tid, char comm[PROC_COMM])
{
	struct proc_stat st;
	int rc = read_stat(tid, &st);

	if (rc)
		st.comm[0] = '\0';
	memcpy(comm, st.comm, PROC_COMM);
	return rc;
}

/* /proc could not be read with @code: gone, hidden, or something else. */
static int unreadable(pid_t pid, int code, struct err *err)
{
	if (code != ENOENT && code != ESRCH)
		return err_sys(err, code, "cannot attach to pid %d", (int)pid);
	if (kill(pid, 0) && errno != EPERM) {
		err_set(err, ESRCH, "cannot attach to pid %d: no such process", (int)pid);
		err_hint(err, "'pidof NAME' or 'pgrep NAME' finds one");
		return -ESRCH;
	}
	err_set(err, EPERM, "cannot attach to pid %d: /proc does not show it to this user",
		(int)pid);
	err_hint(err, "run tracer as root, with sudo");
	return -EPERM;
}

static int check_kind(const struct proc_stat *st, const struct proc_status *status,
		      struct err *err)
{
	int pid = (int)st->pid;
	char leader[PROC_COMM];

	if (status->tgid != status->pid) {
		proc_comm(status->tgid, leader);
		err_set(err, EINVAL, "cannot attach to pid %d: it is a thread of process %d (%s)",
			pid, (int)status->tgid, leader);
		err_hint(err, "give the pid of its process: %d", (int)status->tgid);
		return -EINVAL;
	}
	if (status->pid == getpid())
		return err_set(err, EINVAL, "cannot attach to pid %d: that is tracer itself", pid);
	if (strchr("ZX", st->state) && st->threads < 2) {
		err_set(err, ESRCH,
			"cannot attach to pid %d: it has ended and is a zombie of process %d", pid,
			(int)status->ppid);
		return -ESRCH;
	}
	return 0;
}

/* The rule for a user who is not root, that of ptrace(2); the kernel side has the same. */
static int check_user(const struct proc_info *info, const struct proc_status *status,
		      struct err *err)
{
	uid_t me = getuid();
	gid_t group = getgid();

	if (!me)
		return 0;
	if (status->uid != me || status->euid != me || status->suid != me)
		err_set(err, EPERM,
			"cannot attach to pid %d: it belongs to user %u, this is user %u",
			(int)info->pid,
			(unsigned int)(status->uid != me ? status->uid :
				       status->euid != me ? status->euid : status->suid),
			(unsigned int)me);
	else if (status->gid != group || status->egid != group || status->sgid != group)
		err_set(err, EPERM,
			"cannot attach to pid %d: it has the rights of group %u, this is group %u",
			(int)info->pid,
			(unsigned int)(status->gid != group ? status->gid :
				       status->egid != group ? status->egid : status->sgid),
			(unsigned int)group);
	else if (!info->dumpable)
		err_set(err, EPERM, "cannot attach to pid %d: it is protected (not dumpable)",
			(int)info->pid);
	else
		return 0;
	err_hint(err, "run tracer as root, with sudo");
	return -EPERM;
}

/* In a new pid namespace that kept the old /proc, its numbers are not ours. */
static int check_mount(pid_t pid, struct err *err)
{
	char link[16];
	ssize_t n = readlink("/proc/self", link, sizeof(link) - 1);

	link[n > 0 ? n : 0] = '\0';
	if (n > 0 && atoi(link) == getpid())
		return 0;
	err_set(err, EXDEV, "cannot attach to pid %d: /proc is not that of our pid namespace",
		(int)pid);
	err_hint(err, "mount it: mount -t proc proc /proc");
	return -EXDEV;
}

/*
 * Whether the files of the process are @uid's. A thread that ended has no memory
 * and its files are root's: any other of its process will do.
 */
static bool files_are_of(const struct proc_info *info, uid_t uid)
{
	pid_t *tids = NULL;
	char path[64];
	struct stat st;
	struct err ignored;
	bool are = false;
	long i, n = 0;

	/* The directory is always the effective user's, its files only while dumpable. */
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)info->pid);
	if (!info->leader_dead)
		return !stat(path, &st) && st.st_uid == uid;
	n = proc_threads(info->pid, &tids, &ignored);
	for (i = 0; i < n && !are; i++) {
		snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)info->pid,
			 (int)tids[i]);
		are = tids[i] != info->pid && !stat(path, &st) && st.st_uid == uid;
	}
	free(tids);
	return are;
}

/*
 * The kernel's own word, which also knows capabilities, user namespaces and
 * security modules: this link is for those who may read the process's memory.
 */
static int check_kernel(const struct proc_info *info, struct err *err)
{
	char path[64], link[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)info->pid);
	if (!getuid() || readlink(path, link, sizeof(link)) > 0 ||
	    (errno != EACCES && errno != EPERM))
		return 0;
	err_set(err, EPERM, "cannot attach to pid %d: it has rights that this user has not (a "
		"capability, another namespace or a security module's)", (int)info->pid);
	err_hint(err, "run tracer as root, with sudo");
	return -EPERM;
}

static int look(pid_t pid, struct proc_info *info, struct err *err)
{
	struct proc_status status;
	struct proc_stat st;
	int rc;

	memset(info, 0, sizeof(*info));
	if (pid <= 0)
		return err_set(err, EINVAL, "cannot attach to pid %d: not a process id", (int)pid);
	rc = check_mount(pid, err);
	if (rc)
		return rc;
	rc = read_stat(pid, &st);
	if (!rc)
		rc = read_status(pid, &status);
	if (rc)
		return unreadable(pid, -rc, err);
	rc = check_kind(&st, &status, err);
	if (rc)
		return rc;
	info->pid = pid;
	memcpy(info->comm, st.comm, sizeof(info->comm));
	info->kernel_thread = st.flags & KERNEL_THREAD;
	info->leader_dead = strchr("ZX", st.state) != NULL;
	info->dumpable = files_are_of(info, status.euid);
	rc = check_user(info, &status, err);
	return rc ? rc : check_kernel(info, err);
}

int proc_look(pid_t pid, struct proc_info *info, struct err *err)
{
	int rc;

	privilege_lower();
	rc = look(pid, info, err);
	privilege_raise();
	return rc;
}

static int by_number(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

/* Appends the number that is @name; anything else is passed over. */
static int add_tid(pid_t **tids, size_t *n, size_t *room, const char *name)
{
	char *end;
	long tid = strtol(name, &end, 10);
	pid_t *more;

	if (*end || end == name || tid <= 0 || tid > INT_MAX)
		return 0;
	if (*n == *room) {
		*room = *room ? 2 * *room : 64;
		more = realloc(*tids, *room * sizeof(**tids));
		if (!more)
			return -ENOMEM;
		*tids = more;
	}
	(*tids)[(*n)++] = (pid_t)tid;
	return 0;
}

long proc_threads(pid_t pid, pid_t **tids, struct err *err)
{
	size_t n = 0, room = 0;
	struct dirent *e;
	char path[64];
	int rc = 0;
	DIR *d;

	*tids = NULL;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	d = opendir(path);
	if (!d)
		return unreadable(pid, errno, err);
	while (!rc && (errno = 0, e = readdir(d)) != NULL)
		rc = add_tid(tids, &n, &room, e->d_name);
	if (!rc)
		rc = -errno;
	closedir(d);
	if (!rc && !n)
		rc = -ESRCH;
	if (rc) {
		free(*tids);
		*tids = NULL;
		return unreadable(pid, -rc, err);
	}
	qsort(*tids, n, sizeof(**tids), by_number);
	return (long)n;
}

uint64_t proc_all_threads(void)
{
	struct buf b = BUF_INIT;
	unsigned long long n = 0;

	/* "0.20 0.18 0.12 1/80 11206" */
	if (!io_read_file("/proc/loadavg", &b, 256) && b.data &&
	    sscanf(b.data, "%*f %*f %*f %*u/%llu", &n) != 1)
		n = 0;
	buf_release(&b);
	return n;
}
