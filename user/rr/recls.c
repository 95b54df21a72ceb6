/* SPDX-License-Identifier: MIT */
#include "rr/recls.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "out/escape.h"
#include "out/human.h"
#include "out/json.h"
#include "rr/packed.h"
#include "rr/recabout.h"
#include "rr/recdir.h"
#include "rr/recfile.h"

struct entry {
	char name[NAME_MAX + 1];
	struct recabout about;
	uint64_t bytes, when_ns;
	bool running;
	const char *packed;
};

struct list {
	const char *base;
	struct entry *at;
	size_t n;
};

static int newest_first(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->when_ns != y->when_ns)
		return x->when_ns < y->when_ns ? 1 : -1;
	return strcmp(x->name, y->name);
}

static uint64_t bytes_of_copies(const char *dir, const char *in)
{
	char path[PATH_MAX + 16];
	struct dirent *d;
	struct stat st;
	uint64_t sum = 0;
	DIR *files;

	snprintf(path, sizeof(path), "%s/%s", dir, in);
	files = opendir(path);
	while (files && (d = readdir(files)))
		if (!fstatat(dirfd(files), d->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
		    S_ISREG(st.st_mode))
			sum += (uint64_t)st.st_blocks * 512;
	if (files)
		closedir(files);
	return sum;
}

static const char *how_packed(const char *dir)
{
	struct err none = { 0 };
	struct packed p;
	const char *how = packed_read(&p, dir, PACKED_INDEX, &none) ? "damaged" : !p.there ? "no" :
			  p.missing ? "part" : "yes";

	packed_release(&p);
	return how;
}

/* false: it is no recording; its recorder holds a lock while it runs. */
static bool look_at(struct entry *e, const char *dir)
{
	char path[PATH_MAX + 16];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "%s/events", dir);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return false;
	}
	e->running = flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
	close(fd);
	e->bytes = (uint64_t)st.st_size + bytes_of_copies(dir, "files") +
		   bytes_of_copies(dir, "packed");
	e->packed = how_packed(dir);
	e->when_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec;
	if (!recabout_read(&e->about, dir))
		e->when_ns = e->about.began_ns;
	if (!e->about.ended)
		e->about.events = recfile_count(path);
	return true;
}

static int find(struct list *l)
{
	DIR *dir = opendir(l->base);
	struct entry *more;
	struct dirent *d;
	char path[PATH_MAX];

	while (dir && (d = readdir(dir))) {
		struct entry e = { 0 };

		snprintf(path, sizeof(path), "%.*s/%s", PATH_MAX - NAME_MAX - 2, l->base,
			 d->d_name);
		if (d->d_name[0] == '.' || !look_at(&e, path))
			continue;
		snprintf(e.name, sizeof(e.name), "%s", d->d_name);
		more = realloc(l->at, (l->n + 1) * sizeof(e));
		if (!more) {
			recabout_release(&e.about);
			closedir(dir);
			return -ENOMEM;
		}
		l->at = more;
		l->at[l->n++] = e;
	}
	if (dir)
		closedir(dir);
	if (l->n)
		qsort(l->at, l->n, sizeof(*l->at), newest_first);
	return 0;
}

static const char *how(const struct entry *e, char text[32])
{
	const int sig = WTERMSIG(e->about.status);
	const char *name = sigabbrev_np(sig);

	if (!e->about.ended)
		return e->running ? "running" : "cut";
	if (e->about.error.len)
		return "error";
	if (!WIFSIGNALED(e->about.status))
		snprintf(text, 32, "%d", WEXITSTATUS(e->about.status));
	else if (name)
		snprintf(text, 32, "SIG%s", name);
	else
		snprintf(text, 32, "signal %d", sig);
	return text;
}

static void put_line(struct out_stream *out, const struct list *l, const struct entry *e)
{
	char when[32], bytes[HUMAN_BYTES], events[HUMAN_BYTES], text[32];
	const time_t began = (time_t)(e->when_ns / 1000000000);
	struct buf names = BUF_INIT;
	struct tm tm;

	localtime_r(&began, &tm);
	strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
	escape_term(&names, l->base, strlen(l->base), false);
	buf_addc(&names, '/');
	escape_term(&names, e->name, strlen(e->name), false);
	if (e->about.command.len) {
		buf_adds(&names, "  ");
		escape_term(&names, e->about.command.data, e->about.command.len, false);
	}
	out_printf(out, "%s %9s %7s %-8s %-7s %s\n", when, human_bytes(bytes, e->bytes),
		   human_count(events, e->about.events), how(e, text), e->packed,
		   names.data ? names.data : "");
	buf_release(&names);
}

static void put_lines(struct out_stream *out, const struct list *l)
{
	if (l->n)
		out_printf(out, "%-19s %9s %7s %-8s %-7s %s\n", "BEGAN", "SIZE", "EVENTS", "EXIT",
			   "PACKED", "DIRECTORY  COMMAND");
	for (size_t i = 0; i < l->n; i++)
		put_line(out, l, &l->at[i]);
}

static void put_object(struct json *j, const struct list *l, const struct entry *e)
{
	char path[PATH_MAX], text[32];

	snprintf(path, sizeof(path), "%.*s/%s", PATH_MAX - NAME_MAX - 2, l->base, e->name);
	json_object(j, NULL);
	json_str(j, "directory", path);
	json_u64(j, "began_ns", e->when_ns);
	json_u64(j, "bytes", e->bytes);
	json_u64(j, "events", e->about.events);
	json_str(j, "exit", how(e, text));
	json_str(j, "packed", e->packed);
	if (e->about.command.len)
		json_str(j, "command", e->about.command.data);
	if (e->about.error.len)
		json_str(j, "error", e->about.error.data);
	json_end(j);
}

static void put_json(struct out_stream *out, const struct list *l)
{
	struct json j;

	json_init(&j, out);
	json_object(&j, NULL);
	json_array(&j, "recordings");
	for (size_t i = 0; i < l->n; i++)
		put_object(&j, l, &l->at[i]);
	json_end(&j);
	json_end(&j);
	json_finish(&j);
}

int recls(struct out_stream *out, bool json, struct err *err)
{
	struct buf base = BUF_INIT;
	struct list l = { 0 };
	int r = recdir_base(&base, err);

	if (r)
		return r;
	l.base = base.data;
	r = find(&l);
	if (r)
		err_sys(err, -r, "cannot list recordings");
	else if (json)
		put_json(out, &l);
	else
		put_lines(out, &l);
	for (size_t i = 0; i < l.n; i++)
		recabout_release(&l.at[i].about);
	if (!r && !l.n) {
		err_set(err, ENOENT, "there are no recordings in %s", l.base);
		err_hint(err, "'sudo tracer record -- COMMAND' makes one");
	}
	free(l.at);
	buf_release(&base);
	return r ? r : l.n > 0;
}
