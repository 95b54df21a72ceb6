/* SPDX-License-Identifier: MIT */
#include "rr/packed.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/textcopy.h"
#include "out/jread.h"
#include "out/json.h"
#include "out/outstream.h"
#include "rr/filestore.h"
#include "rr/filesum.h"
#include "tracer/version.h"

#define INDEX_VERSION 1
#define BYTES_MOST ((size_t)64 << 20)	/* of the index */
#define SUM_BYTES 19			/* "0x", 16 digits, zero */

void packed_release(struct packed *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->at[i].path);
	free(p->at);
	*p = (struct packed){ 0 };
}

struct packed_file *packed_add(struct packed *p)
{
	struct packed_file *more = realloc(p->at, (p->n + 1) * sizeof(*more));

	if (!more)
		return NULL;
	p->at = more;
	more[p->n] = (struct packed_file){ 0 };
	return &more[p->n++];
}

struct packed_file *packed_find(const struct packed *p, const struct recfiles_id *id,
				uint32_t copy)
{
	for (size_t i = 0; i < p->n; i++) {
		struct packed_file *f = &p->at[i];

		if (copy ? f->copy && f->number == copy :
		    !f->copy && recfiles_same(&f->id, id))
			return f;
	}
	return NULL;
}

void packed_path(char *path, size_t n, const char *dir, const struct packed_file *f)
{
	if (f->copy)
		filestore_path(path, n, dir, f->number);
	else
		snprintf(path, n, "%s/packed/%" PRIu32, dir, f->number);
}

int packed_check(struct packed_file *f, const char *dir, struct err *err)
{
	char path[PATH_MAX];
	struct stat st;
	uint64_t sum;
	int fd, r;

	if (f->checked)
		return 0;
	packed_path(path, sizeof(path), dir, f);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return err_sys(err, errno, "cannot open %s, the copy of %s", path, f->path);
	r = fstat(fd, &st) ? -errno : filesum(fd, &sum);
	close(fd);
	if (r)
		return err_sys(err, -r, "cannot read %s, the copy of %s", path, f->path);
	if ((uint64_t)st.st_size != f->id.size || sum != f->sum)
		return err_set(err, EBADMSG, "%s, the copy of %s, is damaged", path, f->path);
	f->checked = true;
	return 0;
}

/* ---- the index ------------------------------------------------------------ */

static const struct { const char *key; size_t at; } numbers[] = {
	{ "dev", offsetof(struct packed_file, id.dev) },
	{ "ino", offsetof(struct packed_file, id.ino) },
	{ "size", offsetof(struct packed_file, id.size) },
	{ "mtime_ns", offsetof(struct packed_file, id.mtime_ns) },
};

#define NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

static void put_file(struct json *j, const struct packed_file *f)
{
	json_object(j, NULL);
	if (f->number)
		json_u64(j, f->copy ? "copy" : "packed", f->number);
	json_str(j, "path", f->path);
	for (size_t i = 0; i < NUMBERS; i++)
		json_u64(j, numbers[i].key,
			 *(const uint64_t *)(const void *)((const char *)f + numbers[i].at));
	json_hex(j, "sum", f->sum);
	json_end(j);
}

static int put_index(const struct packed *p, int fd, const char *name, struct err *err)
{
	struct out_stream s;
	struct json j;
	int r = out_stream_init(&s, fd, name, 0, err);

	if (r)
		return r;
	json_init(&j, &s);
	json_object(&j, NULL);
	json_u64(&j, "index", INDEX_VERSION);
	json_str(&j, "tracer", TRACER_VERSION);
	json_u64(&j, "missing", p->missing);
	json_array(&j, "files");
	for (size_t i = 0; i < p->n; i++)
		put_file(&j, &p->at[i]);
	json_end(&j);
	json_end(&j);
	json_finish(&j);
	r = out_stream_close(&s, err);
	return r || !fsync(fd) ? r : err_sys(err, errno, "cannot write %s", name);
}

/* Whoever reads it sees it whole. */
int packed_write(const struct packed *p, const char *dir, const char *name, struct err *err)
{
	char path[PATH_MAX], now[PATH_MAX + 8];
	int fd, r;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	snprintf(now, sizeof(now), "%s.new", path);
	fd = open(now, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return err_sys(err, errno, "cannot make %s", now);
	r = put_index(p, fd, now, err);
	close(fd);
	if (!r && rename(now, path))
		r = err_sys(err, errno, "cannot make %s", path);
	if (r)
		unlink(now);
	return r;
}

static int read_sum(struct jread *j, uint64_t *sum)
{
	char text[SUM_BYTES], *end;
	int r = jread_string(j);

	if (r)
		return r;
	if (j->n >= sizeof(text))
		return jread_fail(j, "no sum is so long");
	memcpy(text, j->s, j->n);
	text[j->n] = '\0';
	*sum = strtoull(text, &end, 16);
	return *end || end == text ? jread_fail(j, "that is no sum") : 0;
}

static int read_path(struct jread *j, struct packed_file *f)
{
	int r = jread_string(j);

	if (r)
		return r;
	free(f->path);
	f->path = text_copy(j->s, j->n);
	return f->path ? 0 : -ENOMEM;
}

static bool is_key(const struct jread *j, const char *key)
{
	return j->n == strlen(key) && !memcmp(j->s, key, j->n);
}

static int read_member(struct jread *j, struct packed_file *f)
{
	uint64_t v;
	int r;

	for (size_t i = 0; i < NUMBERS; i++)
		if (is_key(j, numbers[i].key))
			return jread_u64(j, (uint64_t *)(void *)((char *)f + numbers[i].at));
	if (is_key(j, "path"))
		return read_path(j, f);
	if (is_key(j, "sum"))
		return read_sum(j, &f->sum);
	if (!is_key(j, "copy") && !is_key(j, "packed"))
		return jread_skip(j);
	f->copy = *j->s == 'c';
	r = jread_u64(j, &v);
	if (!r && (!v || v > UINT32_MAX))
		return jread_fail(j, "no copy has that number");
	f->number = (uint32_t)v;
	return r;
}

static int read_files(struct jread *j, struct packed *p, bool numbered)
{
	struct packed_file *f;
	int r = jread_array(j);

	while (!r && (r = jread_element(j)) > 0) {
		f = packed_add(p);
		if (!f)
			return -ENOMEM;
		r = jread_object(j);
		while (!r && (r = jread_member(j)) > 0)
			r = read_member(j, f);
		if (!r && (!f->path || !f->number != !numbered))
			r = jread_fail(j, numbered ? "a file has no number or no path" :
				       "a file has a number, or no path");
	}
	return r;
}

static int read_index(struct jread *j, struct packed *p, bool numbered)
{
	uint64_t version = 0;
	int r = jread_object(j);

	while (!r && (r = jread_member(j)) > 0)
		r = is_key(j, "index") ? jread_u64(j, &version) :
		    is_key(j, "missing") ? jread_u64(j, &p->missing) :
		    is_key(j, "files") ? read_files(j, p, numbered) : jread_skip(j);
	if (!r && version != INDEX_VERSION)
		r = jread_fail(j, "its version is not known");
	return r ? r : jread_end(j);
}

int packed_parse(struct packed *p, const char *text, size_t n, bool numbered, struct err *err)
{
	struct jread j;
	int r;

	*p = (struct packed){ .there = true };
	jread_init(&j, text, n, err);
	r = read_index(&j, p, numbered);
	jread_release(&j);
	return r == -ENOMEM ? err_sys(err, ENOMEM, "cannot read it") : r;
}

int packed_read(struct packed *p, const char *dir, const char *name, struct err *err)
{
	struct buf b = BUF_INIT;
	char path[PATH_MAX];
	int r;

	*p = (struct packed){ 0 };
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	r = io_read_file(path, &b, BYTES_MOST);
	if (!r && packed_parse(p, b.data ? b.data : "", b.len, strcmp(name, PACKED_SUMS), err))
		r = err_prefix(err, "%s is damaged", path);
	else if (r && r != -ENOENT && r != -ENOTDIR)
		err_sys(err, -r, "cannot read %s", path);
	else
		r = 0;
	buf_release(&b);
	return r;
}
