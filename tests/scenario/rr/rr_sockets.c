/* SPDX-License-Identifier: MIT */
/* Sockets: of UNIX and of the Internet, messages with all that they carry. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "rr_calls.h"

static void streams(void)
{
	struct sockaddr_in addr = { .sin_family = AF_INET }, is;
	socklen_t n = sizeof(is);
	const long srv = OK(socket, AF_INET, SOCK_STREAM, 0);
	const long c = OK(socket, AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	long a;
	char buf[32] = "";
	int one = 1, left;

	FAILS(EAFNOSUPPORT, socket, 99, SOCK_STREAM, 0);
	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	OK(setsockopt, srv, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	FAILS(EINVAL, setsockopt, srv, SOL_SOCKET, SO_REUSEADDR, &one, 1);
	OK(bind, srv, &addr, sizeof(addr));
	FAILS(EINVAL, bind, srv, &addr, sizeof(addr));
	OK(listen, srv, 5);
	FAILS(EBADF, listen, 999, 5);
	OK(getsockname, srv, &is, &n);
	CHECK(n == sizeof(is) && is.sin_port);
	SHOW("name", &is, sizeof(is));
	FAILS(ENOTCONN, getpeername, srv, &is, &n);
	OK(connect, c, &is, sizeof(is));
	FAILS(EISCONN, connect, c, &is, sizeof(is));
	n = 4;
	a = OK(accept, srv, &is, &n);
	CHECK(n == sizeof(is));
	OK(fcntl, srv, F_SETFL, O_NONBLOCK);
	FAILS(EAGAIN, accept, srv, NULL, NULL);
	FAILS(EAGAIN, accept4, srv, NULL, NULL, SOCK_NONBLOCK);
	n = sizeof(is);
	OK(getpeername, c, &is, &n);
	SHOW("peer", &is, sizeof(is));
	CHECK(OK(sendto, c, "0123456789", 10L, 0, NULL, 0) == 10);
	CHECK(OK(recvfrom, a, buf, 4L, MSG_PEEK, NULL, NULL) == 4);
	OK(ioctl, a, FIONREAD, &left);
	CHECK(left == 10);
	memset(buf, 0, sizeof(buf));
	CHECK(OK(recvfrom, a, buf, 4L, MSG_WAITALL, &is, &n) == 4 && !strcmp(buf, "0123"));
	CHECK(OK(read, a, buf, sizeof(buf)) == 6);
	FAILS(EAGAIN, recvfrom, a, buf, 4L, MSG_DONTWAIT, NULL, NULL);
	OK(shutdown, c, SHUT_WR);
	CHECK(OK(recvfrom, a, buf, 4L, 0, NULL, NULL) == 0);
	FAILS(EPIPE, sendto, c, "x", 1L, MSG_NOSIGNAL, NULL, 0);
	FAILS(EINVAL, shutdown, srv, 99);
	OK(close, a);
	OK(close, c);
	OK(close, srv);
}

static void options(void)
{
	const long s = OK(socket, AF_INET, SOCK_STREAM, 0), u = OK(socket, AF_UNIX, SOCK_STREAM, 0);
	struct linger li = { 1, 5 };
	struct ucred cred;
	struct tcp_info info;
	int v[4] = { -1, -1, -1, -1 };
	char name[16] = "";
	socklen_t n = sizeof(v);

	OK(getsockopt, s, SOL_SOCKET, SO_TYPE, v, &n);
	CHECK(n == 4 && v[0] == SOCK_STREAM && v[1] == -1);
	n = 1;
	OK(getsockopt, s, SOL_SOCKET, SO_RCVBUF, v, &n);
	CHECK(n == 1);
	OK(setsockopt, s, SOL_SOCKET, SO_LINGER, &li, sizeof(li));
	n = sizeof(li);
	OK(getsockopt, s, SOL_SOCKET, SO_LINGER, &li, &n);
	CHECK(li.l_linger == 5);
	n = sizeof(info);
	OK(getsockopt, s, IPPROTO_TCP, TCP_INFO, &info, &n);
	SHOW("tcp", &info, n);
	n = sizeof(name);
	OK(getsockopt, s, IPPROTO_TCP, TCP_CONGESTION, name, &n);
	printf("%s\n", name);
	n = sizeof(cred);
	OK(getsockopt, u, SOL_SOCKET, SO_PEERCRED, &cred, &n);
	FAILS(ENOPROTOOPT, getsockopt, s, SOL_SOCKET, 9999, v, &n);
	n = (socklen_t)-1;
	FAILS(EINVAL, getsockopt, s, SOL_SOCKET, SO_TYPE, v, &n);
	OK(close, s);
	OK(close, u);
}

/* A message of two parts, with a descriptor and credentials, into less room than it needs. */
static void messages(void)
{
	union { struct cmsghdr h; char room[CMSG_SPACE(sizeof(int)) + 64]; } c = { 0 }, d = { 0 };
	struct iovec v[2] = { { (char *)"first", 5 }, { (char *)"second", 6 } }, w[2];
	struct msghdr m = { .msg_iov = v, .msg_iovlen = 2, .msg_control = &c,
			    .msg_controllen = CMSG_SPACE(sizeof(int)) };
	char a[4] = "", b[5] = "";
	int s[2], none[2] = { -1, -1 }, one = 1, fd = 0;

	OK(socketpair, AF_UNIX, SOCK_DGRAM, 0, s);
	FAILS(EOPNOTSUPP, socketpair, AF_INET, SOCK_STREAM, 0, none);
	SHOW("written in spite of that", none, sizeof(none));
	OK(setsockopt, s[1], SOL_SOCKET, SO_PASSCRED, &one, sizeof(one));
	c.h = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET,
				.cmsg_type = SCM_RIGHTS };
	memcpy(CMSG_DATA(&c.h), &fd, sizeof(fd));
	CHECK(OK(sendmsg, s[0], &m, 0) == 11);
	w[0] = (struct iovec){ a, sizeof(a) };
	w[1] = (struct iovec){ b, sizeof(b) };
	m = (struct msghdr){ .msg_iov = w, .msg_iovlen = 2, .msg_control = &d,
			     .msg_controllen = sizeof(d) };
	CHECK(OK(recvmsg, s[1], &m, MSG_PEEK | MSG_CMSG_CLOEXEC) == 9);
	m.msg_controllen = sizeof(d);
	CHECK(OK(recvmsg, s[1], &m, MSG_TRUNC) == 11 && m.msg_flags & MSG_TRUNC);
	CHECK(!memcmp(a, "firs", 4) && !memcmp(b, "tseco", 5));
	SHOW("control", &d, m.msg_controllen);
	printf("control %zu flags %x\n", m.msg_controllen, m.msg_flags);
	m.msg_control = NULL;
	m.msg_controllen = 0;
	FAILS(EAGAIN, recvmsg, s[1], &m, MSG_DONTWAIT);
	OK(sendto, s[0], "z", 1L, 0, NULL, 0);
	CHECK(OK(recvmsg, s[1], &m, 0) == 1 && m.msg_flags & MSG_CTRUNC);
	FAILS(EBADF, sendmsg, 999, &m, 0);
	OK(close, s[0]);
	OK(close, s[1]);
}

static void many(void)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX, .sun_path = "socket" }, from[3];
	struct iovec v[3] = { { (char *)"one", 3 }, { (char *)"twotwo", 6 }, { NULL, 0 } }, w[3];
	struct mmsghdr m[3] = { { .msg_hdr = { .msg_iov = &v[0], .msg_iovlen = 1 } },
				{ .msg_hdr = { .msg_iov = &v[1], .msg_iovlen = 1 } },
				{ .msg_hdr = { .msg_iov = &v[2], .msg_iovlen = 1 } } };
	const long srv = OK(socket, AF_UNIX, SOCK_DGRAM, 0), c = OK(socket, AF_UNIX, SOCK_DGRAM, 0);
	struct timespec ts = { 1, 0 };
	char buf[3][4] = { "" };
	socklen_t n = sizeof(from[0]);

	OK(bind, srv, &addr, sizeof(addr));
	OK(connect, c, &addr, sizeof(addr));
	strcpy(addr.sun_path, "client");
	OK(bind, c, &addr, sizeof(addr));
	CHECK(OK(sendmmsg, c, m, 3, 0) == 3 && m[1].msg_len == 6);
	FAILS(EBADF, sendmmsg, 999, m, 3, 0);
	memset(m, 0, sizeof(m));
	memset(from, 0, sizeof(from));
	for (int i = 0; i < 3; i++) {
		w[i] = (struct iovec){ buf[i], sizeof(buf[i]) };
		m[i].msg_hdr = (struct msghdr){ .msg_iov = &w[i], .msg_iovlen = 1,
						.msg_name = i < 2 ? &from[i] : NULL,
						.msg_namelen = i < 2 ? sizeof(from[i]) : 0 };
	}
	CHECK(OK(recvmmsg, srv, m, 3, MSG_WAITFORONE, &ts) == 3);
	CHECK(m[0].msg_len == 3 && m[1].msg_len == 4 && m[2].msg_len == 0);
	CHECK(m[1].msg_hdr.msg_flags & MSG_TRUNC && !strcmp(from[1].sun_path, "client"));
	FAILS(EAGAIN, recvmmsg, srv, m, 3, MSG_DONTWAIT, NULL);
	OK(sendto, c, "abc", 3L, 0, NULL, 0);
	CHECK(OK(recvfrom, srv, buf[0], 4L, 0, &from[0], &n) == 3 && n == 2 + 7);
	n = 3;
	OK(getsockname, srv, &from[0], &n);
	CHECK(n == 2 + 7);
	FAILS(ENOENT, sendto, c, "x", 1L, 0, &(struct sockaddr_un){ AF_UNIX, "none" },
	      sizeof(addr));
	OK(close, srv);
	OK(close, c);
}

static void interfaces(void)
{
	const long s = OK(socket, AF_INET, SOCK_DGRAM, 0);
	struct ifreq r[8], one = { .ifr_name = "lo" };
	struct ifconf all = { .ifc_len = sizeof(r), .ifc_req = r };

	memset(r, 0, sizeof(r));
	OK(ioctl, s, SIOCGIFCONF, &all);
	SHOW("interfaces", r, (size_t)all.ifc_len);
	OK(ioctl, s, SIOCGIFFLAGS, &one);
	OK(ioctl, s, SIOCGIFINDEX, &one);
	printf("lo is %d\n", one.ifr_ifindex);
	OK(ioctl, s, SIOCGIFNAME, &one);
	OK(ioctl, s, SIOCGIFMTU, &one);
	OK(ioctl, s, SIOCGIFHWADDR, &one);
	SHOW("ifreq", &one, sizeof(one));
	strcpy(one.ifr_name, "none");
	FAILS(ENODEV, ioctl, s, SIOCGIFFLAGS, &one);
	OK(close, s);
}

static void between(void)
{
	int s[2], status;
	char buf[100];

	OK(socketpair, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s);
	if (!fork()) {
		usleep(2000);
		CHECK(write(s[1], "half", 4) == 4);
		usleep(2000);
		CHECK(write(s[1], "whole", 5) == 5);
		_exit(0);
	}
	CHECK(OK(recvfrom, s[0], buf, 9L, MSG_WAITALL, NULL, NULL) == 9);
	SHOW("whole", buf, 9);
	CHECK(wait(&status) > 0 && !status);
}

int main(void)
{
	streams();
	options();
	messages();
	many();
	interfaces();
	between();
	return 0;
}
