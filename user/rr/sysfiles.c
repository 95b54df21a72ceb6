/* SPDX-License-Identifier: MIT */
#include "rr/sysfiles.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rr/filesum.h"

struct syssum {
	struct recfiles_id id;
	uint64_t sum;
	bool known;
	char path[];
};

static bool is_as(const struct recfiles_id *id, int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) && recfiles_unchanged(id, &st);
}

/* By the queue's thread. A file that is gone by now has no sum. */
static int make_sum(void *arg, struct err *err)
{
	struct syssum *s = arg;
	const int fd = open(s->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	(void)err;
	if (fd < 0)
		return 0;
	s->known = is_as(&s->id, fd) && !filesum(fd, &s->sum) && is_as(&s->id, fd);
	close(fd);
	return 0;
}

/* It is the list's. */
static void keep(void *arg)
{
	(void)arg;
}

int syssums_note(struct syssums *s, const struct recfiles_id *id, const char *path,
		 struct recqueue *queue, struct err *err)
{
	struct syssum *one, **more;

	for (size_t i = 0; i < s->n; i++)
		if (recfiles_same(&s->at[i]->id, id))
			return 0;
	more = realloc(s->at, (s->n + 1) * sizeof(struct syssum *));
	s->at = more ? more : s->at;
	one = more ? calloc(1, sizeof(*one) + strlen(path) + 1) : NULL;
	if (!one)
		return err_sys(err, ENOMEM, "cannot record");
	one->id = *id;
	strcpy(one->path, path);
	s->at[s->n++] = one;
	return recqueue_add(queue, make_sum, keep, one, 0, err);
}

static int fill(struct packed *p, const struct syssums *s)
{
	struct packed_file *f;

	for (size_t i = 0; i < s->n; i++) {
		if (!s->at[i]->known)
			continue;
		f = packed_add(p);
		if (!f || !(f->path = strdup(s->at[i]->path)))
			return -ENOMEM;
		f->id = s->at[i]->id;
		f->sum = s->at[i]->sum;
	}
	return 0;
}

int syssums_write(const struct syssums *s, const char *dir, const struct caller *who,
		  struct err *err)
{
	struct packed p = { 0 };
	int r = caller_lower(who);

	if (r)
		return err_sys(err, -r, "cannot write as the user");
	r = fill(&p, s) ? err_sys(err, ENOMEM, "cannot write sums of files") :
	    packed_write(&p, dir, PACKED_SUMS, err);
	packed_release(&p);
	if (caller_raise(who) && !r)
		r = err_sys(err, EPERM, "cannot go on as root");
	return r;
}

void syssums_release(struct syssums *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->at[i]);
	free(s->at);
}

/* Where they are damaged or were never written, nothing is known. */
static struct packed_file *find(struct sysfiles *s, const char *dir, const struct recfiles_id *id)
{
	struct err none = { 0 };

	if (!s->read && packed_read(&s->sums, dir, PACKED_SUMS, &none)) {
		packed_release(&s->sums);
		s->sums = (struct packed){ 0 };
	}
	s->read = true;
	return packed_find(&s->sums, id, 0);
}

bool sysfiles_same(struct sysfiles *s, const char *dir, const struct recfiles_id *id, int fd)
{
	struct packed_file *f;
	struct stat st;
	uint64_t sum;

	if (is_as(id, fd))
		return true;
	f = find(s, dir, id);
	if (!f || fstat(fd, &st) || !S_ISREG(st.st_mode) || (uint64_t)st.st_size != id->size)
		return false;
	/* Once in a replay, in which nobody changes it. */
	if (!f->checked)
		f->checked = !filesum(fd, &sum) && sum == f->sum;
	return f->checked;
}

void sysfiles_release(struct sysfiles *s)
{
	packed_release(&s->sums);
}
