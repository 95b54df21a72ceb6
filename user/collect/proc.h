/* SPDX-License-Identifier: MIT */
#ifndef COLLECT_PROC_H
#define COLLECT_PROC_H

/*
 * Careful readers of /proc, for what has to be known of a process before it is
 * traced. Parsers take the text, NUL-terminated, and never trust it: a name may
 * hold blanks, parentheses and newlines.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

#define PROC_COMM	64	/* with the NUL; a kernel worker's name is longer than 15 */

struct proc_stat {
	pid_t pid;
	char comm[PROC_COMM];
	char state;		/* 'R', 'S', 'Z', … */
	uint32_t flags;		/* PF_… */
	uint32_t threads;
};

struct proc_status {
	pid_t tgid, pid, ppid;
	uid_t uid, euid, suid;
	gid_t gid, egid, sgid;
};

/* /proc/PID/stat; -EINVAL when it is not that. */
int proc_parse_stat(const char *text, struct proc_stat *st);
/* /proc/PID/status, as far as above; -EINVAL when a line of them is not there. */
int proc_parse_status(const char *text, struct proc_status *st);

/* A process that can be traced. */
struct proc_info {
	pid_t pid;
	char comm[PROC_COMM];
	bool dumpable;		/* its files in /proc are its effective uid's; always, for root */
	bool kernel_thread;
	bool leader_dead;	/* its first thread ended, others run */
};

/*
 * Looks at process @pid and says whether it can be traced by this user: 0, or
 * with "cannot attach to pid 42: ..." -ESRCH (no such process, or a zombie),
 * -EINVAL (a thread of another process; tracer itself; not a pid), -EPERM
 * (another user's or group's, or not dumpable, when the real uid is not 0), -EXDEV (/proc
 * is another pid namespace's), -errno. The process can end at any time after it.
 */
int proc_look(pid_t pid, struct proc_info *info, struct err *err);

/*
 * The thread ids of process @pid, ascending, in an array that the caller frees;
 * their number, or -ESRCH, -errno. Threads that come and go meanwhile may be
 * missing or gone.
 */
long proc_threads(pid_t pid, pid_t **tids, struct err *err);

/* Name of thread @tid, "" when it is gone; 0 or -errno. */
int proc_comm(pid_t tid, char comm[PROC_COMM]);

/* Threads that the machine has now; 0: not known. */
uint64_t proc_all_threads(void);

#endif
