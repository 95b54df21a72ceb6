/* SPDX-License-Identifier: MIT */
/* Files: their contents, names, times and places. */
#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>

#include "rr_calls.h"

static void contents(void)
{
	char buf[64] = "", more[16] = "";
	struct iovec v[3] = { { buf, 3 }, { NULL, 0 }, { more, sizeof(more) } };
	const long fd = OK(open, "file", O_RDWR | O_CREAT | O_EXCL, 0640);

	FAILS(EEXIST, open, "file", O_RDWR | O_CREAT | O_EXCL, 0640);
	FAILS(ENOENT, open, "none", O_RDONLY);
	CHECK(OK(write, fd, "0123456789", 10) == 10);
	CHECK(OK(pwrite64, fd, "AB", 2, 4L) == 2);
	CHECK(OK(writev, fd, v, 0) == 0);
	v[0] = (struct iovec){ (char *)"xyz", 3 };
	v[2] = (struct iovec){ (char *)"Z", 1 };
	CHECK(OK(writev, fd, v, 3) == 4);
	CHECK(OK(pwritev, fd, v, 3, 1L, 0L) == 4);
	CHECK(OK(pwritev2, fd, v, 3, -1L, 0L, 0) == 4);
	CHECK(OK(lseek, fd, 0L, SEEK_CUR) == 18);
	CHECK(OK(lseek, fd, -3L, SEEK_END) == 15);
	FAILS(EINVAL, lseek, fd, -1L, SEEK_SET);
	CHECK(OK(read, fd, buf, sizeof(buf)) == 3 && !memcmp(buf, "yzZ", 3));
	CHECK(OK(read, fd, buf, sizeof(buf)) == 0);
	CHECK(OK(pread64, fd, buf, sizeof(buf), 2L) == 16);
	printf("%s\n", buf);
	OK(lseek, fd, 0L, SEEK_SET);
	v[0] = (struct iovec){ buf, 3 };
	v[2] = (struct iovec){ more, sizeof(more) };
	CHECK(OK(readv, fd, v, 3) == 18);
	SHOW("more", more, sizeof(more));
	CHECK(OK(preadv, fd, v, 3, 15L, 0L) == 3);
	CHECK(OK(preadv2, fd, v, 3, 1L, 0L, 0) == 17);
	SHOW("more", more, sizeof(more));
	FAILS(EFAULT, pread64, fd, NULL, 1L, 0L);
	FAILS(EBADF, read, 999, buf, 1);
	FAILS(EBADF, write, 999, buf, 1);
	FAILS(EINVAL, readv, fd, v, -1);
	FAILS(EINVAL, pread64, fd, buf, 1, -1L);
	OK(close, fd);
	FAILS(EBADF, close, fd);
}

static void sizes(void)
{
	const long fd = OK(openat, AT_FDCWD, "sized", O_RDWR | O_CREAT, 0600);
	char buf[128];

	OK(ftruncate, fd, 5000L);
	OK(truncate, "sized", 100L);
	FAILS(ENOENT, truncate, "none", 1L);
	FAILS(EINVAL, ftruncate, fd, -1L);
	OK(fallocate, fd, 0, 0L, 8192L);
	OK(fallocate, fd, FALLOC_FL_KEEP_SIZE, 8192L, 4096L);
	FAILS(EINVAL, fallocate, fd, 0, 0L, 0L);
	OK(fadvise64, fd, 0L, 4096L, POSIX_FADV_SEQUENTIAL);
	FAILS(EINVAL, fadvise64, fd, 0L, 0L, 99);
	OK(fsync, fd);
	OK(fdatasync, fd);
	FAILS(EBADF, fsync, 999);
	FAILS(EBADF, fdatasync, 999);
	OK(sync_file_range, fd, 0L, 4096L, 0);
	OK(readahead, fd, 0L, 100L);
	CHECK(OK(read, fd, buf, sizeof(buf)) == 128);
	SHOW("zeros", buf, sizeof(buf));
	OK(close, fd);
}

static void asked(void)
{
	struct stat st;
	struct statx sx;
	struct statfs sf;

	OK(stat, "file", &st);
	CHECK(st.st_size == 18 && (st.st_mode & 0777) == 0640);
	SHOW("stat", &st, sizeof(st));
	FAILS(ENOENT, stat, "none", &st);
	FAILS(ENOENT, stat, "", &st);
	OK(lstat, "link", &st);
	CHECK(S_ISLNK(st.st_mode));
	SHOW("lstat", &st, sizeof(st));
	OK(fstat, 0, &st);
	SHOW("fstat", &st, sizeof(st));
	FAILS(EBADF, fstat, 999, &st);
	OK(newfstatat, AT_FDCWD, "link", &st, AT_SYMLINK_NOFOLLOW);
	OK(newfstatat, AT_FDCWD, "link", &st, 0);
	SHOW("newfstatat", &st, sizeof(st));
	FAILS(EBADF, newfstatat, 999, "link", &st, 0);
	OK(statx, AT_FDCWD, "file", 0, STATX_BASIC_STATS | STATX_BTIME, &sx);
	SHOW("statx", &sx, sizeof(sx));
	FAILS(ENOENT, statx, AT_FDCWD, "none", 0, STATX_ALL, &sx);
	OK(statfs, "/", &sf);
	SHOW("statfs", &sf, sizeof(sf));
	FAILS(ENOENT, statfs, "none", &sf);
	OK(fstatfs, 1, &sf);
	SHOW("fstatfs", &sf, sizeof(sf));
	FAILS(EBADF, fstatfs, 999, &sf);
	OK(access, "file", R_OK);
	FAILS(ENOENT, access, "none", R_OK);
	OK(faccessat, AT_FDCWD, "file", W_OK);
	FAILS(ENOENT, faccessat, AT_FDCWD, "none", F_OK);
	OK(faccessat2, AT_FDCWD, "file", R_OK, AT_EACCESS);
	FAILS(EINVAL, faccessat2, AT_FDCWD, "file", R_OK, 0x40000000);
}

static void names(void)
{
	char buf[64] = "", tiny[4] = "";

	OK(symlink, "file", "link");
	FAILS(EEXIST, symlink, "file", "link");
	OK(symlinkat, "elsewhere", AT_FDCWD, "link2");
	CHECK(OK(readlink, "link", buf, sizeof(buf)) == 4 && !strcmp(buf, "file"));
	CHECK(OK(readlink, "link2", tiny, sizeof(tiny)) == 4 && !memcmp(tiny, "else", 4));
	FAILS(EINVAL, readlink, "file", buf, sizeof(buf));
	CHECK(OK(readlinkat, AT_FDCWD, "link2", buf, sizeof(buf)) == 9);
	CHECK(!strcmp(buf, "elsewhere"));
	FAILS(ENOENT, readlinkat, AT_FDCWD, "none", buf, sizeof(buf));
	OK(link, "file", "hard");
	OK(linkat, AT_FDCWD, "file", AT_FDCWD, "hard2", 0);
	OK(rename, "hard", "moved");
	FAILS(ENOENT, rename, "hard", "moved");
	OK(renameat, AT_FDCWD, "hard2", AT_FDCWD, "moved2");
	calls_make_file("one", 1);
	calls_make_file("two", 2);
	OK(renameat2, AT_FDCWD, "one", AT_FDCWD, "two", RENAME_EXCHANGE);
	FAILS(EEXIST, renameat2, AT_FDCWD, "one", AT_FDCWD, "two", RENAME_NOREPLACE);
	OK(unlink, "moved");
	FAILS(ENOENT, unlink, "moved");
	OK(unlinkat, AT_FDCWD, "moved2", 0);
	FAILS(EISDIR, unlink, ".");
	FAILS(ENOENT, unlinkat, AT_FDCWD, "moved2", 0);
	OK(mknod, "fifo", S_IFIFO | 0600, 0);
	OK(mknodat, AT_FDCWD, "fifo2", S_IFIFO | 0600, 0);
}

static void attributes(void)
{
	const struct timespec times[2] = { { 1000, 5 }, { 2000, 7 } };
	const struct timeval coarse[2] = { { 1000, 5 }, { 2000, 7 } };
	const long fd = OK(openat, AT_FDCWD, "file", O_RDONLY);
	struct stat st;

	CHECK(OK(umask, 027) >= 0);
	CHECK(OK(umask, 022) == 027);
	OK(chmod, "file", 0604);
	FAILS(ENOENT, chmod, "none", 0600);
	OK(fchmod, fd, 0640);
	FAILS(EBADF, fchmod, 999, 0600);
	OK(fchmodat, AT_FDCWD, "file", 0644);
	OK(chown, "file", 12, 34);
	FAILS(ENOENT, chown, "none", 1, 1);
	OK(fchown, fd, 13, -1);
	OK(lchown, "link", 14, 14);
	OK(fchownat, AT_FDCWD, "link", 15, 15, AT_SYMLINK_NOFOLLOW);
	OK(utimensat, AT_FDCWD, "file", times, 0);
	OK(utimensat, fd, NULL, NULL, 0);
	FAILS(ENOENT, utimensat, AT_FDCWD, "none", times, 0);
	OK(futimesat, AT_FDCWD, "file", coarse);
	OK(utimes, "file", coarse);
	OK(stat, "file", &st);
	CHECK(st.st_uid == 13 && st.st_gid == 34 && st.st_mtime == 2000);
	OK(close, fd);
}

static void copies(void)
{
	const long from = OK(open, "file", O_RDONLY), to = OK(creat, "copy", 0600);
	off_t at = 2, into = 1;
	char buf[32] = "";

	CHECK(OK(copy_file_range, from, &at, to, &into, 5L, 0) == 5);
	CHECK(at == 7 && into == 6);
	CHECK(OK(copy_file_range, from, NULL, to, NULL, 3L, 0) == 3);
	FAILS(EINVAL, copy_file_range, from, NULL, to, NULL, 3L, 99);
	CHECK(OK(sendfile, to, from, &at, 4L) == 4 && at == 11);
	CHECK(OK(sendfile, to, from, NULL, 100L) == 15);
	FAILS(EBADF, sendfile, 999, from, NULL, 1L);
	OK(close, to);
	OK(open, "copy", O_RDONLY);
	OK(read, to, buf, sizeof(buf));
	SHOW("copy", buf, sizeof(buf));
	OK(close, to);
	OK(close, from);
}

static void numbers(void)
{
	const long fd = OK(dup, 0), other = OK(fcntl, 0, F_DUPFD, 100);

	CHECK(other == 100 && OK(dup2, fd, 101) == 101);
	CHECK(OK(dup2, 101, 101) == 101);
	FAILS(EBADF, dup, 999);
	FAILS(EBADF, dup2, 999, 1);
	CHECK(OK(dup3, fd, 102, O_CLOEXEC) == 102);
	FAILS(EINVAL, dup3, fd, fd, 0);
	CHECK(OK(fcntl, 102, F_GETFD) == FD_CLOEXEC);
	OK(fcntl, 102, F_SETFD, 0);
	OK(fcntl, fd, F_SETFL, GOT(fcntl, fd, F_GETFL) | O_NONBLOCK);
	FAILS(EBADF, fcntl, 999, F_GETFD);
	FAILS(EINVAL, fcntl, 0, 9999, 0);
	OK(close_range, 100, 102, 0);
	FAILS(EINVAL, close_range, 5, 4, 0);
	FAILS(EBADF, close, 101);
	OK(close, fd);
}

static void locks(void)
{
	const long fd = OK(open, "file", O_RDWR), other = OK(open, "file", O_RDWR);
	struct flock l = { .l_type = F_WRLCK, .l_start = 2, .l_len = 3 };
	struct flock ask = { .l_type = F_RDLCK };
	struct f_owner_ex own = { F_OWNER_PID, getpid() }, is;
	uint64_t hint = 1;

	OK(fcntl, fd, F_OFD_SETLK, &l);
	OK(fcntl, other, F_OFD_GETLK, &ask);
	CHECK(ask.l_type == F_WRLCK && ask.l_start == 2 && ask.l_len == 3 && ask.l_pid == -1);
	ask = (struct flock){ .l_type = F_RDLCK };
	OK(fcntl, other, F_GETLK, &ask);
	CHECK(ask.l_type == F_WRLCK && ask.l_start == 2);
	ask = (struct flock){ .l_type = F_RDLCK };
	FAILS(EAGAIN, fcntl, other, F_SETLK, &ask);
	l.l_type = F_UNLCK;
	OK(fcntl, fd, F_OFD_SETLKW, &l);
	OK(fcntl, other, F_SETLKW, &ask);
	OK(fcntl, fd, F_SETOWN_EX, &own);
	OK(fcntl, fd, F_GETOWN_EX, &is);
	CHECK(is.pid == own.pid);
	OK(fcntl, fd, F_SET_RW_HINT, &hint);
	hint = 9;
	OK(fcntl, fd, F_GET_RW_HINT, &hint);
	CHECK(hint == 1);
	OK(flock, fd, LOCK_EX);
	FAILS(EAGAIN, flock, other, LOCK_EX | LOCK_NB);
	OK(flock, fd, LOCK_UN);
	FAILS(EBADF, flock, 999, LOCK_EX);
	OK(close, fd);
	OK(close, other);
}

int main(void)
{
	contents();
	sizes();
	names();
	asked();
	attributes();
	copies();
	numbers();
	locks();
	return 7;
}
