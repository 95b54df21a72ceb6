/* SPDX-License-Identifier: MIT */
/* What newer kernels have: descriptors of processes and mounts, handles, watches, rules. */
#include <fcntl.h>
#include <linux/keyctl.h>
#include <linux/landlock.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <sched.h>
#include <signal.h>
#include <sys/fanotify.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "rr_calls.h"

#define NR_CACHESTAT 451
#define NR_FCHMODAT2 452

/* Calls that this kernel may not have: whether it has. */
#define HAS(call) ((call) != -1 || errno != ENOSYS)

static void of_processes(void)
{
	siginfo_t info = { .si_signo = SIGUSR1, .si_code = SI_QUEUE };
	const long self = OK(pidfd_open, getpid(), 0);
	long pid, fd;
	int p[2];
	char c;

	FAILS(ESRCH, pidfd_open, 999999, 0);
	FAILS(EINVAL, pidfd_open, getpid(), 0x40000000);
	signal(SIGUSR1, SIG_IGN);
	OK(pidfd_send_signal, self, 0, NULL, 0);
	OK(pidfd_send_signal, self, SIGUSR1, &info, 0);
	CHECK(!pipe(p));
	pid = OK(fork);
	if (!pid) {
		close(p[1]);
		_exit(read(p[0], &c, 1) == 1 ? 3 : 4);
	}
	fd = OK(pidfd_open, pid, 0);
	OK(pidfd_getfd, fd, p[0], 0);
	FAILS(EBADF, pidfd_getfd, fd, 999, 0);
	CHECK(write(p[1], "x", 1) == 1);
	OK(waitid, P_PIDFD, fd, &info, WEXITED, NULL);
	CHECK(info.si_status == 3);
	FAILS(ESRCH, pidfd_send_signal, fd, SIGUSR1, NULL, 0);
	OK(close, fd);
	OK(close, self);
}

static void opened(void)
{
	struct open_how how = { .flags = O_RDWR | O_CREAT, .mode = 0600,
				.resolve = RESOLVE_BENEATH };
	struct { struct file_handle h; unsigned char room[128]; } handle;
	uint64_t mount[2] = { 9, 9 };
	long fd;

	fd = OK(openat2, AT_FDCWD, "opened", &how, sizeof(how));
	how.flags = O_RDONLY;
	how.mode = 0;
	FAILS(EXDEV, openat2, AT_FDCWD, "/etc/passwd", &how, sizeof(how));
	OK(write, fd, "text", 4L);
	memset(&handle, 0, sizeof(handle));
	FAILS(EOVERFLOW, name_to_handle_at, AT_FDCWD, "opened", &handle, mount, 0);
	printf("a handle of %u bytes\n", handle.h.handle_bytes);
	handle.h.handle_bytes = sizeof(handle.room);
	OK(name_to_handle_at, AT_FDCWD, "opened", &handle, mount, 0);
	SHOW("handle", &handle, sizeof(handle.h) + handle.h.handle_bytes);
	SHOW("mount", mount, sizeof(mount));
	if (syscall(SYS_open_by_handle_at, AT_FDCWD, &handle, O_RDONLY) >= 0)
		printf("opened by its handle\n");
	if (HAS(syscall(NR_FCHMODAT2, AT_FDCWD, "opened", 0640, 0)))
		printf("fchmodat2\n");
	OK(close, fd);
}

static void cached(void)
{
	struct { uint64_t off, len; } range = { 0, 0 };
	uint64_t found[5] = { 0 };
	const long fd = OK(open, "opened", O_RDONLY);

	if (HAS(syscall(NR_CACHESTAT, fd, &range, found, 0)))
		SHOW("cachestat", found, sizeof(found));
	OK(close, fd);
}

static void watched(void)
{
	char buf[512];
	const long fd = syscall(SYS_fanotify_init, FAN_CLASS_NOTIF | FAN_NONBLOCK | FAN_REPORT_FID,
				O_RDONLY);
	long n;

	if (fd < 0)
		return;
	n = syscall(SYS_fanotify_mark, fd, FAN_MARK_ADD, FAN_CREATE | FAN_ONDIR, AT_FDCWD, ".");
	FAILS(EAGAIN, read, fd, buf, sizeof(buf));
	OK(mkdir, "seen", 0700);
	if (!n)
		SHOW("events", buf, (size_t)OK(read, fd, buf, sizeof(buf)));
	OK(close, fd);
}

static void keys(void)
{
	char text[32] = "";
	long key = syscall(SYS_add_key, "user", "rr-calls", "payload", 7L,
			   KEY_SPEC_PROCESS_KEYRING);

	if (key < 0)
		return;
	CHECK(OK(keyctl, KEYCTL_READ, key, text, sizeof(text)) == 7 && !strcmp(text, "payload"));
	CHECK(OK(keyctl, KEYCTL_READ, key, text, 3L) == 7);
	OK(keyctl, KEYCTL_DESCRIBE, key, text, sizeof(text));
	FAILS(ENOKEY, request_key, "user", "rr-none", NULL, KEY_SPEC_PROCESS_KEYRING);
}

/* Mounts of its own, and rules that it cannot leave. */
static void apart(void)
{
	struct landlock_ruleset_attr rules = { .handled_access_fs = LANDLOCK_ACCESS_FS_MAKE_DIR };
	int status;
	long fs, at, set;

	if (!OK(fork)) {
		OK(unshare, CLONE_NEWNS);
		OK(mount, NULL, "/", NULL, 0x44000L /* private, all below */, NULL);
		fs = OK(fsopen, "tmpfs", 0);
		OK(fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0);
		at = OK(fsmount, fs, 0, 0);
		OK(move_mount, at, "", AT_FDCWD, "seen", MOVE_MOUNT_F_EMPTY_PATH);
		OK(mkdir, "seen/within", 0700);
		OK(open_tree, AT_FDCWD, "seen", OPEN_TREE_CLONE);
		OK(umount2, "seen", 2 /* detach */);
		FAILS(ENOENT, rmdir, "seen/within");
		set = syscall(SYS_landlock_create_ruleset, &rules, sizeof(rules), 0);
		if (set >= 0 && !syscall(SYS_prctl, 38 /* no new privileges */, 1, 0, 0, 0)) {
			OK(landlock_restrict_self, set, 0);
			FAILS(EACCES, mkdir, "refused", 0700);
		}
		fflush(stdout);
		_exit(5);
	}
	CHECK(wait(&status) > 0 && status == 5 << 8);
}

/* As root of a namespace of users. */
static void other_users(void)
{
	int status;

	if (!OK(fork)) {
		if (!syscall(SYS_unshare, CLONE_NEWUSER | CLONE_NEWPID)) {
			printf("as %ld\n", OK(geteuid));
			if (!OK(fork)) {
				CHECK(OK(getpid) == 1 && OK(getppid) == 0);
				fflush(stdout);
				_exit(7);
			}
			CHECK(wait(&status) > 0 && status == 7 << 8);
		}
		fflush(stdout);
		_exit(6);
	}
	CHECK(wait(&status) > 0 && status == 6 << 8);
}

int main(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	of_processes();
	opened();
	cached();
	watched();
	keys();
	apart();
	other_users();
	return 0;
}
