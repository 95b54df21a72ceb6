/* SPDX-License-Identifier: MIT */
/* Pipes, and what moves bytes without a buffer. */
#include <fcntl.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "rr_calls.h"

static void made(void)
{
	char buf[64] = "";
	int p[2], left;

	OK(pipe, p);
	printf("%d %d\n", p[0], p[1]);
	FAILS(EFAULT, pipe, NULL);
	OK(write, p[1], "hello", 5L);
	OK(ioctl, p[0], 0x541bL /* FIONREAD */, &left);
	CHECK(left == 5 && OK(read, p[0], buf, sizeof(buf)) == 5 && !strcmp(buf, "hello"));
	OK(fcntl, p[1], F_SETPIPE_SZ, 65536);
	CHECK(OK(fcntl, p[1], F_GETPIPE_SZ) == 65536);
	OK(close, p[0]);
	FAILS(ESPIPE, lseek, p[1], 0L, SEEK_SET);
	OK(close, p[1]);
	OK(pipe2, p, O_NONBLOCK | O_CLOEXEC);
	FAILS(EAGAIN, read, p[0], buf, 1L);
	FAILS(EINVAL, pipe2, p, 0x40000000);
	OK(close, p[1]);
	CHECK(OK(read, p[0], buf, 1L) == 0);
	OK(close, p[0]);
}

static void moved(void)
{
	struct iovec v[2] = { { (char *)"abc", 3 }, { (char *)"defg", 4 } };
	char buf[64] = "", back[4];
	off_t at = 3, into = 2;
	int a[2], b[2];
	long fd;

	calls_make_file("source", 100);
	fd = OK(open, "source", O_RDWR);
	CHECK(!pipe(a) && !pipe(b));
	CHECK(OK(splice, fd, &at, a[1], NULL, 10L, 0) == 10 && at == 13);
	CHECK(OK(tee, a[0], b[1], 4L, 0) == 4);
	CHECK(OK(read, b[0], buf, sizeof(buf)) == 4 && buf[0] == 3);
	CHECK(OK(splice, a[0], NULL, b[1], NULL, 6L, 0) == 6);
	CHECK(OK(splice, a[0], NULL, fd, &into, 4L, SPLICE_F_MOVE) == 4 && into == 6);
	FAILS(ESPIPE, splice, a[0], &at, fd, NULL, 4L, 0);
	FAILS(EBADF, splice, 999, NULL, a[1], NULL, 4L, 0);
	OK(read, b[0], buf, sizeof(buf));
	CHECK(OK(vmsplice, a[1], v, 2L, 0) == 7);
	CHECK(OK(read, a[0], buf, sizeof(buf)) == 7 && !memcmp(buf, "abcdefg", 7));
	OK(write, a[1], "xyz!", 4L);
	v[0] = (struct iovec){ back, 4 };
	CHECK(OK(vmsplice, a[0], v, 1L, 0) == 4 && !memcmp(back, "xyz!", 4));
	OK(close, fd);
}

/* Between processes, with one that waits. */
static void between(void)
{
	char buf[4096];
	int p[2], status;
	long n, total = 0;

	CHECK(!pipe(p));
	if (!fork()) {
		memset(buf, 'w', sizeof(buf));
		for (int i = 0; i < 100; i++)
			if (write(p[1], buf, 1000 + (size_t)i) < 0)
				_exit(1);
		_exit(0);
	}
	close(p[1]);
	while ((n = OK(read, p[0], buf, sizeof(buf))) > 0)
		total += n;
	CHECK(total == 104950);
	CHECK(wait(&status) > 0 && !status);
}

int main(void)
{
	made();
	moved();
	between();
	return 0;
}
