/* SPDX-License-Identifier: MIT */
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define IO_CHUNK_BYTES 16384

int io_write_all(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			return -EIO;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

int io_read_fd(int fd, struct buf *b, size_t max)
{
	for (;;) {
		size_t room, want;
		ssize_t n;

		/* One byte past @max is asked for, to tell a file of just that size. */
		room = b->len < max ? max - b->len : 0;
		want = room < IO_CHUNK_BYTES ? room + 1 : IO_CHUNK_BYTES;
		if (buf_grow(b, want))
			return -ENOMEM;
		n = read(fd, b->data + b->len, want);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			return 0;
		if ((size_t)n > room) {
			b->len += room;
			b->data[b->len] = '\0';
			return -EFBIG;
		}
		b->len += (size_t)n;
		b->data[b->len] = '\0';
	}
}

int io_read_file(const char *path, struct buf *b, size_t max)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int r;

	if (fd < 0)
		return -errno;
	r = io_read_fd(fd, b, max);
	close(fd);
	return r;
}

void io_hold_standard_fds(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}
