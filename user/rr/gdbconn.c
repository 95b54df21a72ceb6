/* SPDX-License-Identifier: MIT */
#include "rr/gdbconn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rr/gdbpacket.h"

#define READ_BYTES 65536

/* Of the handler: one connection is served at a time. */
static volatile sig_atomic_t came, sent;
static volatile pid_t running;

static void on_io(int sig)
{
	const int was = errno;

	(void)sig;
	came = 1;
	if (running > 0 && !kill(running, SIGSTOP))
		sent = 1;
	errno = was;
}

int gdbconn_init(struct gdbconn *c, int fd, struct err *err)
{
	const struct sigaction act = { .sa_handler = on_io, .sa_flags = SA_RESTART };

	*c = (struct gdbconn){ .fd = fd, .in.max = 4 * GDB_PACKET_MAX };
	came = sent = 0;
	running = 0;
	if (sigaction(SIGIO, &act, NULL) || fcntl(fd, F_SETOWN, getpid()) ||
	    fcntl(fd, F_SETFL, O_ASYNC) || fcntl(fd, F_SETFD, FD_CLOEXEC))
		return err_sys(err, errno, "cannot serve gdb");
	return 0;
}

void gdbconn_release(struct gdbconn *c)
{
	if (c->fd >= 0)
		close(c->fd);
	buf_release(&c->in);
	buf_release(&c->packet);
	buf_release(&c->out);
	c->fd = -1;
}

static void drop(struct gdbconn *c, size_t n)
{
	if (!n)
		return;
	memmove(c->in.data, c->in.data + n, c->in.len - n);
	c->in.len -= n;
}

/* What there is at once, or where @wait something. 1; 0: GDB has gone; -EAGAIN, -errno. */
static int fill(struct gdbconn *c, bool wait)
{
	ssize_t n;

	if (buf_grow(&c->in, READ_BYTES))
		return -ENOMEM;
	do
		n = recv(c->fd, c->in.data + c->in.len, READ_BYTES, wait ? 0 : MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == ECONNRESET ? 0 : -errno;
	c->in.len += (size_t)n;
	return n > 0;
}

/* A write to a socket whose other end has gone would end us. */
static int send_all(int fd, const char *data, size_t n)
{
	while (n) {
		const ssize_t did = send(fd, data, n, MSG_NOSIGNAL);

		if (did < 0 && errno == EINTR)
			continue;
		if (did < 0)
			return -errno;
		data += did;
		n -= (size_t)did;
	}
	return 0;
}

int gdbconn_read(struct gdbconn *c, struct err *err)
{
	for (;;) {
		size_t used = 0;
		const enum gdb_item item = gdbpacket_next(c->in.data, c->in.len, &used, &c->packet);
		int r;

		drop(c, used);
		if (item == GDB_INTERRUPT)
			c->interrupt = true;
		if ((item == GDB_PACKET || item == GDB_BROKEN) && !c->no_ack &&
		    send_all(c->fd, item == GDB_PACKET ? "+" : "-", 1))
			return 0;
		if (item == GDB_PACKET)
			return 1;
		if (item != GDB_NOTHING)
			continue;
		r = fill(c, true);
		if (r <= 0)
			return r ? err_sys(err, -r, "cannot read from gdb") : 0;
	}
}

int gdbconn_write(struct gdbconn *c, const char *data, size_t n, struct err *err)
{
	int r;

	buf_reset(&c->out);
	r = gdbpacket_add(&c->out, data, n);
	r = r ? r : send_all(c->fd, c->out.data, c->out.len);
	/* That it has gone is seen when it is read from. */
	return r && r != -EPIPE && r != -ECONNRESET ? err_sys(err, -r, "cannot write to gdb") : 0;
}

void gdbconn_begin_run(pid_t pid)
{
	sent = 0;
	running = pid;
	/* What came just before did not see that. */
	if (came && !sent && !kill(pid, SIGSTOP))
		sent = 1;
}

bool gdbconn_end_run(void)
{
	running = 0;
	return sent;
}

bool gdbconn_wants_stop(struct gdbconn *c)
{
	int r;

	if (c->interrupt || !came)
		return c->interrupt;
	came = 0;
	r = fill(c, false);
	if (!r || (r < 0 && r != -EAGAIN))
		c->interrupt = true;
	while (c->in.len && *c->in.data != '$') {
		c->interrupt |= *c->in.data == 3;
		drop(c, 1);
	}
	/* A packet while something runs: GDB has gone mad, or goes. */
	c->interrupt |= c->in.len > 0;
	return c->interrupt;
}
