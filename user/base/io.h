/* SPDX-License-Identifier: MIT */
#ifndef BASE_IO_H
#define BASE_IO_H

#include <stddef.h>

#include "base/buf.h"

/*
 * First of all: a standard descriptor that was closed must not become one of ours. It is
 * held by something that refuses writing, and that no command inherits.
 */
void io_hold_standard_fds(void);
/* Writes all of @data, going on after short writes and EINTR; 0 or -errno. */
int io_write_all(int fd, const void *data, size_t len);
/*
 * Appends what can be read from @fd up to its end; -EFBIG when that would make
 * @b longer than @max bytes (what fitted is kept), else 0, -ENOMEM or -errno.
 */
int io_read_fd(int fd, struct buf *b, size_t max);
/* The same for a file by name; works for /proc files, whose size is 0. */
int io_read_file(const char *path, struct buf *b, size_t max);

#endif
