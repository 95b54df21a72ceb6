/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/db_sqlite.h"

/*
 * DESIGN: what a path leads to is looked at by stat alone. A descriptor of our own
 * would take the locks of every other connection of this process away when it is
 * closed (https://www.sqlite.org/howtocorrupt.html, 2.2).
 *
 * A new store is made beside its place, under another name, and put there when it
 * is whole. So whoever finds a file finds tables in it, two that make one at the
 * same time agree on the first, and an empty file is never one that is on its way.
 */

static const char *kind_of(mode_t mode)
{
	static const struct {
		mode_t type;
		const char *name;
	} kinds[] = {
		{ S_IFDIR, "a directory" }, { S_IFIFO, "a pipe" }, { S_IFSOCK, "a socket" },
		{ S_IFBLK, "a device" }, { S_IFCHR, "a device" },
	};
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if ((mode & S_IFMT) == kinds[i].type)
			return kinds[i].name;
	return "no file";
}

static int check_file(const char *path, enum store_mode mode, struct err *err)
{
	struct stat st;

	if (stat(path, &st)) {
		if (errno != ENOENT)
			return err_sys(err, errno, "cannot open store %s", path);
		err_set(err, ENOENT, "there is no store %s", path);
		err_hint(err, "tracer bench makes it; --store names another");
		return -ENOENT;
	}
	if (!S_ISREG(st.st_mode)) {
		err_set(err, EBADMSG, "%s is no store but %s", path, kind_of(st.st_mode));
		err_hint(err, "name a file with --store; it is made when it is not there");
		return -EBADMSG;
	}
	if (!st.st_size) {
		err_set(err, EBADMSG, "%s is no store: it is empty", path);
		err_hint(err, "remove it, and a store is made in its place, or name another with "
			 "--store");
		return -EBADMSG;
	}
	if (euidaccess(path, mode == STORE_READ ? R_OK : R_OK | W_OK))
		return err_sys(err, errno, "cannot open store %s", path);
	return 0;
}

/*
 * A reader wants a file for the log's index beside the store. Where it cannot make
 * one and there is no log, it reads the file as one that nobody changes: an archive,
 * a read-only mount, a full disk. Should somebody begin to write just then, an error
 * is what comes.
 */
#define FROZEN "?immutable=1"

static bool has_no_log(const char *path)
{
	char wal[PATH_MAX];
	struct stat st;

	if ((size_t)snprintf(wal, sizeof(wal), "%s-wal", path) >= sizeof(wal))
		return false;
	return stat(wal, &st) ? errno == ENOENT : !st.st_size;
}

static bool frozen(const char *path)
{
	char dir[PATH_MAX];

	return (size_t)snprintf(dir, sizeof(dir), "%s", path) < sizeof(dir) &&
	       euidaccess(dirname(dir), W_OK) && has_no_log(path);
}

static int check_ours(struct db *db, struct err *err)
{
	int r = db->backend->found(db, err);

	if (r < 0)
		return r;
	if (!r) {
		err_set(err, EBADMSG, "%s is no store but a SQLite file of another program",
			db->name);
		err_hint(err, "it is left as it is; name another with --store");
		return -EBADMSG;
	}
	return 0;
}

static struct db *open_ours(const char *path, bool read_only, const char *how, struct err *err)
{
	int flags = read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
	struct db *db = sqlite_connect(path, path, flags, how, err);

	if (!db)
		return NULL;
	db->read_only = read_only;
	if (check_ours(db, err)) {
		db_close(db);
		return NULL;
	}
	return db;
}

struct db *db_sqlite_open(const char *path, enum store_mode mode, struct err *err)
{
	bool read_only = mode == STORE_READ;
	struct db *db;

	if (check_file(path, mode, err))
		return NULL;
	db = open_ours(path, read_only, read_only && frozen(path) ? FROZEN : "", err);
	if (!db && read_only && err->code == ENOSPC && has_no_log(path)) {
		*err = (struct err){ 0 };
		db = open_ours(path, true, FROZEN, err);
	}
	if (!db)
		return NULL;
	/* SQLite opens what it cannot write for reading and says so nowhere else. */
	if (!read_only && sqlite_is_read_only(db)) {
		err_sys(err, EACCES, "store %s cannot be written", path);
		db_close(db);
		return NULL;
	}
	return db;
}

static int sync_dir_of(const char *path)
{
	char dir[PATH_MAX];
	int fd, r;

	if ((size_t)snprintf(dir, sizeof(dir), "%s", path) >= sizeof(dir))
		return -ENAMETOOLONG;
	fd = open(dirname(dir), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = fsync(fd) ? -errno : 0;
	close(fd);
	/* Some file systems have nothing to sync there. */
	return r == -EINVAL ? 0 : r;
}

/* Gives @temp the name @path unless there is one; @temp is gone either way. */
static int publish(const char *temp, const char *path)
{
	int r = 0;

	if (renameat2(AT_FDCWD, temp, AT_FDCWD, path, RENAME_NOREPLACE)) {
		r = -errno;
		/* Not every file system has this; those that do not have hard links. */
		if (r == -EINVAL || r == -ENOSYS)
			r = link(temp, path) ? -errno : 0;
		unlink(temp);
	}
	if (r == -EEXIST)
		return 0;
	return r ? r : sync_dir_of(path);
}

/* The tables of a new file; it is closed, and has no log beside it, after success. */
static int fill_file(const char *temp, const char *path,
		     int (*fill)(struct db *db, struct err *err), struct err *err)
{
	char wal[PATH_MAX];
	struct db *db = sqlite_connect(temp, path, SQLITE_OPEN_READWRITE, "", err);
	int r;

	if (!db)
		return -err->code;
	r = fill(db, err);
	/* Last, so that all before stands in the file itself. */
	if (!r)
		r = db_exec(db, "PRAGMA journal_mode = WAL", err);
	db_close(db);
	snprintf(wal, sizeof(wal), "%s-wal", temp);
	if (!r && !euidaccess(wal, F_OK))
		r = err_sys(err, EIO, "cannot make store %s", path);
	return r;
}

static void remove_all(const char *temp)
{
	static const char *const ends[] = { "", "-wal", "-shm", "-journal" };
	char name[PATH_MAX];
	size_t i;

	for (i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		snprintf(name, sizeof(name), "%s%s", temp, ends[i]);
		unlink(name);
	}
}

int db_sqlite_create(const char *path, int (*fill)(struct db *db, struct err *err), struct err *err)
{
	char temp[PATH_MAX - 16];
	int fd, r;

	if ((size_t)snprintf(temp, sizeof(temp), "%s.new-XXXXXX", path) >= sizeof(temp))
		return err_sys(err, ENAMETOOLONG, "cannot make store %s", path);
	fd = mkostemp(temp, O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, errno, "cannot make store %s", path);
	close(fd);
	r = fill_file(temp, path, fill, err);
	if (r) {
		remove_all(temp);
		return r;
	}
	r = publish(temp, path);
	return r ? err_sys(err, -r, "cannot make store %s", path) : 0;
}
