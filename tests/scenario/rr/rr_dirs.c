/* SPDX-License-Identifier: MIT */
/* Directories, extended attributes, and what watches them. */
#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/xattr.h>

#include "rr_calls.h"

/* Many entries, and a buffer that holds few of them at a time. */
static void list(void)
{
	const long fd = OK(open, ".", O_RDONLY | O_DIRECTORY);
	char name[32], buf[200];
	long n, total = 0, calls = 0;

	for (int i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "entry-%d", i);
		OK(close, GOT(open, name, O_CREAT | O_WRONLY, 0600));
	}
	while ((n = OK(getdents64, fd, buf, sizeof(buf))) > 0) {
		SHOW("entries", buf, (size_t)n);
		total += n;
		calls++;
	}
	CHECK(calls > 5 && total > 40 * 24);
	OK(lseek, fd, 0L, SEEK_SET);
	FAILS(EINVAL, getdents64, fd, buf, 10);
	OK(getdents, fd, buf, sizeof(buf));
	FAILS(ENOTDIR, getdents64, 0, buf, sizeof(buf));
	OK(close, fd);
}

static void places(void)
{
	char was[4096], buf[4096];
	const long fd = OK(openat, AT_FDCWD, ".", O_PATH | O_DIRECTORY);

	OK(getcwd, was, sizeof(was));
	FAILS(ERANGE, getcwd, buf, 2);
	OK(mkdir, "d", 0700);
	FAILS(EEXIST, mkdir, "d", 0700);
	OK(mkdirat, AT_FDCWD, "d/e", 0700);
	OK(chdir, "d/e");
	FAILS(ENOENT, chdir, "none");
	CHECK((size_t)OK(getcwd, buf, sizeof(buf)) == strlen(was) + 5);
	CHECK(!strcmp(buf + strlen(was), "/d/e"));
	OK(fchdir, fd);
	FAILS(EBADF, fchdir, 999);
	FAILS(ENOTEMPTY, rmdir, "d");
	OK(rmdir, "d/e");
	OK(unlinkat, AT_FDCWD, "d", AT_REMOVEDIR);
	FAILS(ENOENT, rmdir, "d");
	OK(close, fd);
}

static void attributes(void)
{
	char buf[128];
	const long fd = OK(open, "entry-1", O_RDWR);

	FAILS(ENODATA, getxattr, "entry-1", "user.a", buf, sizeof(buf));
	OK(setxattr, "entry-1", "user.a", "value", 5L, 0);
	OK(fsetxattr, fd, "user.b", "other", 6L, 0);
	OK(lsetxattr, "entry-1", "user.c", "", 0L, XATTR_CREATE);
	CHECK(OK(getxattr, "entry-1", "user.a", buf, sizeof(buf)) == 5);
	CHECK(!memcmp(buf, "value", 5));
	CHECK(OK(getxattr, "entry-1", "user.a", NULL, 0L) == 5);
	FAILS(ERANGE, getxattr, "entry-1", "user.a", buf, 2L);
	CHECK(OK(lgetxattr, "entry-1", "user.b", buf, sizeof(buf)) == 6);
	FAILS(ENODATA, lgetxattr, "entry-1", "user.z", buf, sizeof(buf));
	CHECK(OK(fgetxattr, fd, "user.b", buf, sizeof(buf)) == 6);
	FAILS(EBADF, fgetxattr, 999, "user.b", buf, sizeof(buf));
	SHOW("names", buf, (size_t)OK(listxattr, "entry-1", buf, sizeof(buf)));
	SHOW("names", buf, (size_t)OK(llistxattr, "entry-1", buf, sizeof(buf)));
	SHOW("names", buf, (size_t)OK(flistxattr, fd, buf, sizeof(buf)));
	FAILS(ERANGE, listxattr, "entry-1", buf, 3L);
	OK(removexattr, "entry-1", "user.a");
	OK(lremovexattr, "entry-1", "user.b");
	OK(fremovexattr, fd, "user.c");
	OK(close, fd);
}

static void watched(void)
{
	char buf[1024];
	const long fd = OK(inotify_init1, IN_NONBLOCK);
	const long w = OK(inotify_add_watch, fd, ".", IN_ALL_EVENTS);
	unsigned int left;

	FAILS(EINVAL, inotify_init1, 0x10000000);
	FAILS(ENOENT, inotify_add_watch, fd, "none", IN_CREATE);
	FAILS(EAGAIN, read, fd, buf, sizeof(buf));
	OK(close, GOT(open, "noticed", O_CREAT | O_WRONLY, 0600));
	OK(rename, "noticed", "moved");
	OK(ioctl, fd, 0x541bL /* FIONREAD */, &left);
	CHECK(left > 64);
	CHECK(OK(read, fd, buf, sizeof(buf)) == left);
	SHOW("events", buf, left);
	OK(inotify_rm_watch, fd, w);
	OK(read, fd, buf, sizeof(buf));
	OK(close, fd);
	OK(close, GOT(inotify_init));
}

int main(void)
{
	list();
	places();
	attributes();
	watched();
	return 0;
}
