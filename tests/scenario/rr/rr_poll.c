/* SPDX-License-Identifier: MIT */
/* Waiting for descriptors: poll, select, epoll and what counts events. */
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <time.h>

#include "rr_calls.h"

static int p[2];
/* Where the kernel cannot tell what is left. */
static const struct timespec at_once;

static void polled(void)
{
	struct pollfd fd[3] = { { .fd = p[0], .events = POLLIN },
				{ .fd = p[1], .events = POLLOUT, .revents = 7 },
				{ .fd = -1, .events = POLLIN, .revents = 7 } };
	struct timespec left = { 5, 0 };
	const uint64_t mask = 1ull << (SIGUSR1 - 1);

	CHECK(OK(poll, fd, 1L, 0) == 0 && fd[1].revents == 7);
	CHECK(OK(poll, fd, 1L, 2) == 0);
	CHECK(OK(poll, fd, 3L, -1) == 1 && fd[1].revents == POLLOUT && fd[2].revents == 0);
	CHECK(OK(poll, NULL, 0L, 1) == 0);
	FAILS(EFAULT, poll, NULL, 1L, 0);
	CHECK(OK(ppoll, fd, 3L, &left, NULL, 0L) == 1 && left.tv_sec <= 5);
	SHOW("left", &left, sizeof(left));
	left = (struct timespec){ 0, 1000000 };
	CHECK(OK(ppoll, fd, 1L, &left, &mask, 8L) == 0);
	CHECK(!left.tv_sec && !left.tv_nsec);
	CHECK(OK(ppoll, fd, 3L, NULL, NULL, 0L) == 1);
	FAILS(EINVAL, ppoll, fd, 1L, &left, &mask, 3L);
	fd[0].fd = 999;
	CHECK(OK(poll, fd, 1L, -1) == 1 && fd[0].revents == POLLNVAL);
}

static void selected(void)
{
	struct { const uint64_t *mask; size_t n; } sig = { NULL, 8 };
	struct timeval tv = { 5, 0 };
	struct timespec ts = { 0, 1000000 };
	fd_set in, out;

	FD_ZERO(&in);
	FD_ZERO(&out);
	FD_SET(p[0], &in);
	FD_SET(p[1], &out);
	CHECK(OK(select, p[1] + 1, &in, &out, NULL, &tv) == 1);
	CHECK(!FD_ISSET(p[0], &in) && FD_ISSET(p[1], &out) && tv.tv_sec >= 4);
	SHOW("left", &tv, sizeof(tv));
	FD_SET(p[0], &in);
	tv = (struct timeval){ 0, 1000 };
	CHECK(OK(select, p[1] + 1, &in, NULL, &in, &tv) == 0 && !tv.tv_sec && !tv.tv_usec);
	CHECK(OK(select, 0, NULL, NULL, NULL, &tv) == 0);
	CHECK(OK(pselect6, 0, NULL, NULL, NULL, &at_once, NULL) == 0);
	CHECK(OK(ppoll, NULL, 0L, &at_once, NULL, 0L) == 0);
	CHECK(OK(select, p[1] + 1, NULL, &out, NULL, NULL) == 1);
	FAILS(EINVAL, select, -1, NULL, NULL, NULL, NULL);
	FD_ZERO(&in);
	FD_SET(50, &in);
	FAILS(EBADF, select, 51, &in, NULL, NULL, &tv);
	FD_SET(p[1], &out);
	CHECK(OK(pselect6, p[1] + 1, NULL, &out, NULL, &ts, NULL) == 1);
	FD_ZERO(&in);
	FD_SET(p[0], &in);
	CHECK(OK(pselect6, p[1] + 1, &in, NULL, NULL, &ts, &sig) == 0);
	CHECK(!ts.tv_sec && !ts.tv_nsec);
	FAILS(EINVAL, pselect6, -1, NULL, NULL, NULL, NULL, NULL);
}

static void epolled(void)
{
	const long a = OK(epoll_create, 1), b = OK(epoll_create1, EPOLL_CLOEXEC);
	struct epoll_event ev = { .events = EPOLLOUT, .data.u64 = 0x123456789abcull }, got[4];
	struct timespec ts = { 0, 1000000 };
	const uint64_t mask = 0;

	FAILS(EINVAL, epoll_create, 0);
	FAILS(EINVAL, epoll_create1, 99);
	OK(epoll_ctl, a, EPOLL_CTL_ADD, p[1], &ev);
	FAILS(EEXIST, epoll_ctl, a, EPOLL_CTL_ADD, p[1], &ev);
	ev.events = EPOLLIN;
	OK(epoll_ctl, a, EPOLL_CTL_ADD, p[0], &ev);
	OK(epoll_ctl, b, EPOLL_CTL_ADD, a, &ev);
	memset(got, 0x55, sizeof(got));
	CHECK(OK(epoll_wait, a, got, 4, -1) == 1 && got[0].data.u64 == ev.data.u64);
	SHOW("events", got, sizeof(got));
	FAILS(EINVAL, epoll_wait, a, got, 0, 0);
	CHECK(OK(epoll_pwait, b, got, 4, 0, NULL, 0L) == 1 && got[0].events == EPOLLIN);
	CHECK(OK(epoll_pwait, a, got, 4, 10, &mask, 8L) == 1);
	FAILS(EINVAL, epoll_pwait, a, got, 4, 0, &mask, 3L);
	CHECK(OK(epoll_pwait2, a, got, 4, NULL, NULL, 0L) == 1);
	OK(epoll_ctl, a, EPOLL_CTL_DEL, p[1], NULL);
	CHECK(OK(epoll_pwait2, a, got, 4, &ts, &mask, 8L) == 0 && ts.tv_nsec == 1000000);
	CHECK(OK(epoll_wait, a, got, 4, 1) == 0);
	FAILS(EBADF, epoll_pwait2, 999, got, 4, &ts, NULL, 0L);
	OK(close, a);
	OK(close, b);
}

static void counted(void)
{
	const long fd = OK(eventfd2, 5, EFD_NONBLOCK), sem = OK(eventfd2, 2, EFD_SEMAPHORE);
	uint64_t n = 3;

	FAILS(EINVAL, eventfd2, 0, 0x40000000);
	OK(write, fd, &n, 8L);
	CHECK(OK(read, fd, &n, 8L) == 8 && n == 8);
	FAILS(EAGAIN, read, fd, &n, 8L);
	FAILS(EINVAL, read, fd, &n, 4L);
	CHECK(OK(read, sem, &n, 8L) == 8 && n == 1);
	OK(close, fd);
	OK(close, sem);
	OK(close, GOT(eventfd, 1));
}

int main(void)
{
	CHECK(!pipe(p));
	polled();
	selected();
	epolled();
	counted();
	return 0;
}
