/* SPDX-License-Identifier: MIT */
#include "rr/recdir.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NUMBERS 100000		/* recordings of one program */

/* XDG_DATA_HOME is the user's where we are; of who called sudo, the usual place counts. */
static int base_of(struct buf *path, const struct caller *who, struct err *err)
{
	const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");

	if (who && who->change)
		buf_addf(path, "%s/.local/share", who->home);
	else if (data && *data == '/')
		buf_adds(path, data);
	else if (home && *home == '/')
		buf_addf(path, "%s/.local/share", home);
	else
		return err_set(err, ENOENT, "there is no place for recordings: neither "
			       "XDG_DATA_HOME nor HOME is a path");
	buf_adds(path, "/tracer/recordings");
	return path->failed ? err_sys(err, ENOMEM, "cannot name a recording") : 0;
}

int recdir_base(struct buf *path, struct err *err)
{
	return base_of(path, NULL, err);
}

static int make_parents(char *path)
{
	for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
		*at = '\0';
		if (mkdir(path, 0700) && errno != EEXIST)
			return -errno;
		*at = '/';
	}
	return mkdir(path, 0700) && errno != EEXIST ? -errno : 0;
}

static int make_numbered(struct buf *path, const char *program, struct err *err)
{
	const char *name = strrchr(program, '/') ? strrchr(program, '/') + 1 : program;
	const size_t len = path->len;
	int r = make_parents(path->data);

	if (r)
		return err_sys(err, -r, "cannot make %s", path->data);
	for (unsigned int n = 1; n < NUMBERS; n++) {
		path->len = len;
		if (buf_addf(path, "/%s-%u", name, n))
			return err_sys(err, ENOMEM, "cannot name a recording");
		if (!mkdir(path->data, 0700))
			return 0;
		if (errno != EEXIST)
			return err_sys(err, errno, "cannot make %s", path->data);
	}
	return err_set(err, EEXIST, "there are %d recordings of %s", NUMBERS - 1, name);
}

int recdir_make(struct buf *path, const char *name, const char *program,
		const struct caller *who, struct err *err)
{
	int r, code;

	r = caller_lower(who);
	if (r)
		return err_sys(err, -r, "cannot write as the user");
	if (!name) {
		r = base_of(path, who, err);
		r = r ? r : make_numbered(path, program, err);
	} else if (buf_adds(path, name)) {
		r = err_sys(err, ENOMEM, "cannot name a recording");
	} else if (mkdir(name, 0700)) {
		r = err_sys(err, errno, "cannot make %s", name);
		if (r == -EEXIST)
			err_hint(err, "a recording is never written over: remove it, or name "
				 "another");
	}
	code = caller_raise(who);
	return r || !code ? r : err_sys(err, -code, "cannot go on as root");
}

void recdir_remove(const char *path, const struct caller *who)
{
	static const char *const files[] = { "events", "about" };
	struct buf file = BUF_INIT;

	if (caller_lower(who))
		return;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		buf_reset(&file);
		if (!buf_addf(&file, "%s/%s", path, files[i]))
			unlink(file.data);
	}
	rmdir(path);
	buf_release(&file);
	(void)caller_raise(who);
}

/* 0, or the errno of there being none at @path. */
static int look(struct buf *path)
{
	const size_t n = path->len;
	const int r = buf_adds(path, "/events") ? ENOMEM : access(path->data, F_OK) ? errno : 0;

	path->len = n;
	if (path->data)
		path->data[n] = '\0';
	return r;
}

int recdir_named(struct buf *path, const char *name, struct err *err)
{
	struct err none = { 0 };
	struct stat st;
	int r;

	if (buf_adds(path, name))
		return err_sys(err, ENOMEM, "cannot name a recording");
	r = look(path);
	if (!r)
		return 0;
	buf_reset(path);
	if (!strchr(name, '/') && !base_of(path, NULL, &none) &&
	    !buf_addf(path, "/%s", name) && !look(path))
		return 0;
	buf_reset(path);
	if (r == ENOENT && !stat(name, &st))
		r = err_set(err, ENOENT, "%s is no recording: there is no file 'events' in it",
			    name);
	else
		r = err_sys(err, r, "%s is no recording", name);
	err_hint(err, "'tracer ls' lists those there are");
	return r;
}

int recdir_newest(struct buf *path, struct err *err)
{
	struct timespec best = { 0 };
	struct buf at = BUF_INIT;
	struct dirent *d;
	struct stat st;
	DIR *dir;
	int r = base_of(&at, NULL, err);

	if (r)
		return r;
	dir = opendir(at.data);
	while (dir && (d = readdir(dir))) {
		struct buf events = BUF_INIT;

		if (d->d_name[0] != '.' &&
		    !buf_addf(&events, "%s/%s/events", at.data, d->d_name) &&
		    !stat(events.data, &st) && (st.st_mtim.tv_sec > best.tv_sec ||
		    (st.st_mtim.tv_sec == best.tv_sec && st.st_mtim.tv_nsec > best.tv_nsec))) {
			best = st.st_mtim;
			buf_reset(path);
			buf_addf(path, "%s/%s", at.data, d->d_name);
		}
		buf_release(&events);
	}
	if (dir)
		closedir(dir);
	if (!path->len) {
		r = err_set(err, ENOENT, "there is no recording in %s", at.data);
		err_hint(err, "'sudo tracer record -- COMMAND' makes one");
	}
	buf_release(&at);
	return r;
}
