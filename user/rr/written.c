/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: the file is read, not the memory that shows it, so that nobody has to know which
 * processes do: a replay has one file for all of them. Where in the file a call wrote is in
 * its arguments, or is where the descriptor's position is behind it.
 */
#include "rr/written.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define PART_BYTES ((size_t)1 << 18)

enum where {
	AT_POSITION,	/* behind it is the descriptor's position */
	AT_ARG,		/* argument 4; as AT_POSITION where it is -1 */
	AT_POINTED,	/* behind it is what argument 4 points to; as AT_POSITION: NULL */
	AT_SIZE,	/* only the size has changed */
	AT_ALL,		/* anywhere */
	AT_RANGE,	/* fallocate: argument 3, and all behind it where parts were moved */
};

static const struct { uint32_t nr; uint8_t fd, where; } calls[] = {
	{ SYS_write, 0, AT_POSITION }, { SYS_writev, 0, AT_POSITION },
	{ SYS_pwrite64, 0, AT_ARG }, { SYS_pwritev, 0, AT_ARG }, { SYS_pwritev2, 0, AT_ARG },
	{ SYS_sendfile, 0, AT_POSITION }, { SYS_splice, 2, AT_POINTED },
	{ SYS_copy_file_range, 2, AT_POINTED }, { SYS_ftruncate, 0, AT_SIZE },
	{ SYS_fallocate, 0, AT_RANGE }, { SYS_ioctl, 0, AT_ALL },
};

static int open_path(const struct rr_ev_call *e)
{
	char path[4096 + 64], name[4096] = "";
	struct iovec local = { name, sizeof(name) - 1 },
		     remote = { (void *)(uintptr_t)e->arg[0], sizeof(name) - 1 };
	size_t page = 4096 - e->arg[0] % 4096;

	/* The name may end with the page. */
	if (process_vm_readv((pid_t)e->head.tid, &local, 1, &remote, 1, 0) < 0) {
		remote.iov_len = page;
		if (process_vm_readv((pid_t)e->head.tid, &local, 1, &remote, 1, 0) < 0)
			return -errno;
	}
	snprintf(path, sizeof(path), name[0] == '/' ? "/proc/%u/root%s" : "/proc/%u/cwd/%s",
		 e->head.tid, name);
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

static int open_fd(uint32_t tid, uint64_t fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/fd/%d", tid, (int)fd);
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

/* The descriptor's position, and whether it writes to the end only. */
static uint64_t position(uint32_t tid, uint64_t fd, bool *append)
{
	unsigned long long pos = 0;
	unsigned int flags = 0;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/fdinfo/%d", tid, (int)fd);
	f = fopen(path, "re");
	if (f) {
		if (fscanf(f, "pos: %llu flags: %o", &pos, &flags) < 2)
			pos = 0;
		fclose(f);
	}
	*append = flags & O_APPEND;
	return pos;
}

static uint64_t pointed(uint32_t tid, uint64_t addr)
{
	uint64_t at = 0;
	struct iovec local = { &at, sizeof(at) }, remote = { (void *)(uintptr_t)addr, sizeof(at) };

	return process_vm_readv((pid_t)tid, &local, 1, &remote, 1, 0) == sizeof(at) ? at : 0;
}

struct range { uint64_t at, bytes; };

static struct range range_of(const struct rr_ev_call *e, uint32_t fd, enum where where,
			     uint64_t size)
{
	const uint64_t n = (uint64_t)e->ret;
	bool append;
	uint64_t pos = position(e->head.tid, e->arg[fd], &append);

	switch (where) {
	case AT_SIZE: return (struct range){ size, 0 };
	case AT_ALL: return (struct range){ 0, size };
	case AT_RANGE:
		/* FALLOC_FL_KEEP_SIZE, _PUNCH_HOLE and _ZERO_RANGE move nothing. */
		return e->arg[2] > size ? (struct range){ size, 0 } :
		       (struct range){ e->arg[2], e->arg[1] & ~0x13ull ||
				       e->arg[3] > size - e->arg[2] ? size - e->arg[2] :
				       e->arg[3] };
	case AT_ARG:
		if (append)
			return (struct range){ size - n, n };
		if (e->arg[3] != ~0ull)
			return (struct range){ e->arg[3], n };
		break;
	case AT_POINTED:
		if (e->arg[3])
			pos = pointed(e->head.tid, e->arg[3]);
		break;
	case AT_POSITION:
		break;
	}
	return (struct range){ pos - n, n };
}

static bool all_zeros(const char *data, size_t n)
{
	return !n || (!data[0] && !memcmp(data, data + 1, n - 1));
}

/* What is in the file at @r, in events of at most PART_BYTES. */
static int add_range(int fd, struct rr_ev_file *e, struct range r, struct recfile *f,
		     struct err *err)
{
	char *data = (char *)(e + 1);
	int code = 0;

	do {
		const size_t n = r.bytes < PART_BYTES ? (size_t)r.bytes : PART_BYTES;
		const ssize_t got = n ? pread(fd, data, n, (off_t)r.at) : 0;

		if (got < 0)
			return err_sys(err, errno, "cannot read a mapped file");
		e->offset = r.at;
		e->bytes = (uint32_t)got;
		e->data_bytes = all_zeros(data, (size_t)got) ? 0 : e->bytes;
		memset(data + got, 0, 8);
		e->head.bytes = (uint32_t)(sizeof(*e) + ((e->data_bytes + 7u) & ~7u));
		code = recfile_add(f, &e->head, err);
		r.at += (uint64_t)got;
		r.bytes -= (uint64_t)got;
		/* It has been cut short since. */
		if (!got)
			break;
	} while (!code && r.bytes);
	return code;
}

static int add_from(int fd, const struct rr_ev_call *call, struct recfile *f, struct err *err)
{
	struct rr_ev_file *e = malloc(sizeof(*e) + PART_BYTES + 8);
	struct range r;
	struct stat st;
	int code;

	if (!e)
		return err_sys(err, ENOMEM, "cannot record");
	code = fstat(fd, &st) ? err_sys(err, errno, "cannot look at a mapped file") : 0;
	if (!code) {
		r = (struct range){ (uint64_t)st.st_size, 0 };
		for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
			if (calls[i].nr == call->nr)
				r = range_of(call, calls[i].fd, calls[i].where, r.at);
		*e = (struct rr_ev_file){
			.head = { .type = RR_EV_FILE, .tid = call->head.tid },
			.dev = st.st_dev, .ino = st.st_ino, .size = (uint64_t)st.st_size,
		};
		code = add_range(fd, e, r, f, err);
	}
	free(e);
	return code;
}

static int open_written(const struct rr_ev_call *e)
{
	if (e->nr == SYS_truncate)
		return open_path(e);
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].nr == e->nr)
			return open_fd(e->head.tid, e->arg[calls[i].fd]);
	/* open, openat and creat */
	return open_fd(e->head.tid, (uint64_t)e->ret);
}

int written_add(const struct rr_ev_call *e, struct recfile *f, struct err *err)
{
	const int fd = open_written(e);
	int r;

	/* Its process has gone, or another thread has closed it. */
	if (fd < 0)
		return 0;
	r = add_from(fd, e, f, err);
	close(fd);
	return r;
}
