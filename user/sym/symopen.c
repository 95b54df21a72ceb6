/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. Three ways to the file behind a mapping, in this order. map_files
 * leads to the very inode, deleted or not, in whatever mount namespace or
 * chroot, but needs a capability. The path needs only the same user, and is
 * believed when the inode agrees. /proc/PID/exe is left for the program itself
 * when its file is gone.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/io.h"
#include "sym/symclient.h"
#include "sym/symmaps.h"

#define OVERLAY_MAGIC 0x794c7630

/*
 * Opens for reading what @path_fd (O_PATH) is, when that is a regular file:
 * opening a device or a FIFO of somebody else's choice could block or act.
 */
static int reopen(int path_fd, struct stat *st)
{
	char link[64];
	int fd;

	if (fstat(path_fd, st))
		return -errno;
	if (!S_ISREG(st->st_mode))
		return -EINVAL;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", path_fd);
	fd = open(link, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

static int open_map_file(struct sym *s, int proc, const struct symmaps_line *l, struct stat *st)
{
	char name[64];
	int path_fd, fd;

	if (s->no_map_files)
		return -EPERM;
	snprintf(name, sizeof(name), "map_files/%llx-%llx", (unsigned long long)l->start,
		 (unsigned long long)l->end);
	path_fd = openat(proc, name, O_PATH | O_CLOEXEC);
	if (path_fd < 0) {
		fd = -errno;
		if (fd == -EPERM)
			s->no_map_files = true;
		return fd;
	}
	fd = reopen(path_fd, st);
	close(path_fd);
	return fd;
}

/* Overlays have shown the inode of the layer below in maps. */
static bool same_inode(int path_fd, const struct stat *st, uint64_t ino)
{
	struct statfs fs;

	return st->st_ino == ino || (!fstatfs(path_fd, &fs) && fs.f_type == OVERLAY_MAGIC);
}

/* The place of @path below @top of the directory @at, O_PATH. */
static int below(int at, const char *top, const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS,
	};
	int root = openat(at, top, O_PATH | O_DIRECTORY | O_CLOEXEC), fd;

	if (root < 0)
		return -errno;
	fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	if (fd < 0)
		fd = -errno;
	close(root);
	return fd;
}

static int open_below(int at, const char *top, const char *path, uint64_t ino, struct stat *st)
{
	int path_fd = below(at, top, path), fd;

	if (path_fd < 0)
		return path_fd;
	fd = reopen(path_fd, st);
	if (fd >= 0 && !same_inode(path_fd, st, ino)) {
		close(fd);
		fd = -ESTALE;
	}
	close(path_fd);
	return fd;
}

/*
 * By its path, which has no links left in it. The kernel writes it for the
 * reader: from the process's root in another mount namespace, but from ours
 * for a process that is in a chroot.
 */
static int open_by_path(int proc, const struct symmaps_line *l, struct stat *st)
{
	char *path = malloc(l->path_bytes + 1);
	int fd;

	if (!path)
		return -ENOMEM;
	symmaps_path(l->path, l->path_bytes, path);
	fd = open_below(proc, "root", path, l->ino, st);
	if (fd < 0)
		fd = open_below(AT_FDCWD, "/", path, l->ino, st);
	free(path);
	return fd;
}

/* The program itself can be opened by its owner even when deleted. */
static int open_exe(int proc, const struct symmaps_line *l, struct stat *st)
{
	int path_fd = openat(proc, "exe", O_PATH | O_CLOEXEC), fd;

	if (path_fd < 0)
		return -errno;
	fd = reopen(path_fd, st);
	if (fd >= 0 && st->st_ino != l->ino) {
		close(fd);
		fd = -ESTALE;
	}
	close(path_fd);
	return fd;
}

int symopen_debug(const char *path)
{
	int path_fd = below(AT_FDCWD, "/", path), fd;
	struct stat st;

	if (path_fd < 0)
		return path_fd;
	fd = reopen(path_fd, &st);
	close(path_fd);
	if (fd >= 0 && !geteuid() && !(st.st_mode & S_IROTH)) {
		close(fd);
		fd = -EACCES;
	}
	return fd;
}

int symopen_mapped(struct sym *s, int proc, const struct symmaps_line *l, struct stat *st)
{
	int fd = open_map_file(s, proc, l, st);

	if (fd < 0 && l->path[0] == '/') {
		fd = open_by_path(proc, l, st);
		if (fd < 0)
			fd = open_exe(proc, l, st);
	}
	return fd;
}

/* The process's effective user, and its id in its innermost pid namespace. */
static int read_status(int proc, uid_t *uid, unsigned int *pid)
{
	struct buf text = BUF_INIT;
	const char *u, *p, *end;
	unsigned int real;
	int fd = openat(proc, "status", O_RDONLY | O_CLOEXEC), rc;

	if (fd < 0)
		return -errno;
	rc = io_read_fd(fd, &text, 65536);
	close(fd);
	u = text.data ? strstr(text.data, "\nUid:") : NULL;
	p = text.data ? strstr(text.data, "\nNSpid:") : NULL;
	end = p ? strchr(p + 1, '\n') : NULL;
	if (rc || !u || !end || sscanf(u, "\nUid: %u %u", &real, uid) != 2) {
		rc = rc ? rc : -ENOENT;
	} else {
		while (end > p && end[-1] >= '0' && end[-1] <= '9')
			end--;
		*pid = (unsigned int)strtoul(end, NULL, 10);
	}
	buf_release(&text);
	return rc;
}

int symopen_perf(int proc, char path[SYMOPEN_PERF_BYTES], struct stat *st)
{
	unsigned int pid = 0;
	int path_fd, fd;
	uid_t uid = 0;

	if (read_status(proc, &uid, &pid))
		return -ENOENT;
	snprintf(path, SYMOPEN_PERF_BYTES, "/tmp/perf-%u.map", pid);
	path_fd = below(proc, "root", path);
	if (path_fd < 0)
		return -ENOENT;
	fd = reopen(path_fd, st);
	close(path_fd);
	/* /tmp is everybody's: another user's file would put names into this trace. */
	if (fd >= 0 && st->st_uid != uid) {
		close(fd);
		fd = -1;
	}
	return fd < 0 ? -ENOENT : fd;
}
