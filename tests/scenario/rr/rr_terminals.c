/* SPDX-License-Identifier: MIT */
/* Terminals, and other requests of devices and files. */
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/fiemap.h>
#include <linux/random.h>
#include <signal.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>

#include "rr_calls.h"

struct kernel_termios { uint32_t flags[4]; unsigned char line, cc[19]; };

static long open_pair(long *slave)
{
	const long master = OK(open, "/dev/ptmx", O_RDWR | O_NOCTTY);
	int number = -1, locked = -1, unlock = 0;
	char name[32];

	OK(ioctl, master, TIOCGPTN, &number);
	OK(ioctl, master, TIOCSPTLCK, &unlock);
	OK(ioctl, master, TIOCGPTLCK, &locked);
	CHECK(!locked);
	snprintf(name, sizeof(name), "/dev/pts/%d", number);
	*slave = OK(open, name, O_RDWR | O_NOCTTY);
	OK(close, GOT(ioctl, master, TIOCGPTPEER, O_RDWR | O_NOCTTY));
	return master;
}

static void terminals(void)
{
	struct kernel_termios t;
	struct winsize w = { 24, 80, 0, 0 };
	char buf[64] = "";
	int n = -1, status;
	long slave, master = open_pair(&slave);

	OK(ioctl, slave, TCGETS, &t);
	SHOW("termios", &t, sizeof(t));
	t.flags[3] &= ~(uint32_t)(ECHO | ICANON);
	OK(ioctl, slave, TCSETS, &t);
	FAILS(ENOTTY, ioctl, 0, TCGETS, &t);
	OK(ioctl, master, TIOCSWINSZ, &w);
	memset(&w, 0, sizeof(w));
	OK(ioctl, slave, TIOCGWINSZ, &w);
	CHECK(w.ws_row == 24 && w.ws_col == 80);
	OK(write, master, "typed\n", 6L);
	/* What is typed comes by way of a kernel thread. */
	CHECK(OK(poll, &(struct pollfd){ .fd = (int)slave, .events = POLLIN }, 1L, -1) == 1);
	OK(ioctl, slave, FIONREAD, &n);
	CHECK(OK(read, slave, buf, sizeof(buf)) == n && n == 6);
	OK(write, slave, "shown\n", 6L);
	OK(ioctl, master, TIOCOUTQ, &n);
	SHOW("shown", buf, (size_t)OK(read, master, buf, sizeof(buf)));
	OK(ioctl, slave, TIOCGETD, &n);
	OK(ioctl, slave, TIOCGEXCL, &n);
	OK(ioctl, slave, TCFLSH, TCIOFLUSH);
	if (!OK(fork)) {
		CHECK(setsid() > 0 && signal(SIGHUP, SIG_IGN) != SIG_ERR);
		OK(ioctl, slave, TIOCSCTTY, 0);
		OK(ioctl, slave, TIOCGPGRP, &n);
		CHECK(n == getpid());
		OK(ioctl, slave, TIOCGSID, &n);
		OK(ioctl, slave, TIOCNOTTY);
		fflush(stdout);
		_exit(0);
	}
	CHECK(wait(&status) > 0 && !status);
	OK(close, slave);
	FAILS(EIO, read, master, buf, 1L);
	OK(close, master);
}

static void requests(void)
{
	union { struct fiemap m; char room[sizeof(struct fiemap) + 4 * 56]; } map = { 0 };
	const long random = OK(open, "/dev/urandom", O_RDONLY);
	long fd, attr = -1, version = -1;
	int n = 1;

	OK(ioctl, random, RNDGETENTCNT, &n);
	printf("entropy %d\n", n);
	calls_make_file("file", 20000);
	fd = OK(open, "file", O_RDWR);
	OK(fsync, fd);
	OK(ioctl, fd, FIONBIO, &n);
	OK(ioctl, fd, FIOCLEX);
	OK(ioctl, fd, FIONCLEX);
	if (!syscall(SYS_ioctl, fd, FS_IOC_GETFLAGS, &attr))
		printf("flags %lx\n", attr);
	if (!syscall(SYS_ioctl, fd, FS_IOC_GETVERSION, &version))
		printf("version %lx\n", version);
	map.m = (struct fiemap){ .fm_length = ~0ull, .fm_extent_count = 4 };
	if (!syscall(SYS_ioctl, fd, FS_IOC_FIEMAP, &map))
		SHOW("extents", &map, sizeof(map));
	FAILS(ENOTTY, ioctl, fd, 0x12345678L, &n);
	FAILS(EBADF, ioctl, 999, FIONREAD, &n);
	OK(close, fd);
}

int main(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	terminals();
	requests();
	return 0;
}
