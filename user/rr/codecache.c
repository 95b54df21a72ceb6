/* SPDX-License-Identifier: MIT */
#include "rr/codecache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"

/* It changes with what insnscan() finds. */
#define MAGIC "TRCODE1"
#define BYTES_MOST ((size_t)16 << 20)
#define PLACES_MOST ((uint64_t)1 << 20)
#define KEY_WORDS 7

struct head {
	char magic[8];
	uint64_t sum;	/* of all behind it */
};

/* The words of a key, then how many places, then these. */
struct entry { uint64_t key[KEY_WORDS], n; };

uint64_t codecache_sum(const void *of, size_t n)
{
	const unsigned char *data = of;
	uint64_t sum = n, word;

	for (size_t at = 0; at + sizeof(word) <= n; at += sizeof(word)) {
		memcpy(&word, data + at, sizeof(word));
		sum = (sum ^ word) * 0x9e3779b97f4a7c15ull;
		sum ^= sum >> 29;
	}
	return sum;
}

static int add(struct replaced *x, const struct entry *e, const unsigned char *places)
{
	struct replaced_file *more = realloc(x->file, (x->n + 1) * sizeof(*more)), *f;
	uint64_t *at = malloc(e->n * sizeof(*at) + 1);

	x->file = more ? more : x->file;
	if (!more || !at) {
		free(at);
		return -ENOMEM;
	}
	memcpy(at, places, e->n * sizeof(*at));
	f = &x->file[x->n++];
	*f = (struct replaced_file){
		e->key[0], e->key[1], e->key[2], e->key[3], e->key[4], e->key[5], e->key[6],
		.places = { .at = at, .n = e->n, .cap = e->n },
	};
	return 0;
}

int codecache_parse(struct replaced *x, const void *data, size_t n)
{
	const unsigned char *at = data;
	struct head h;
	struct entry e;
	int r = 0;

	if (n < sizeof(h))
		return -EBADMSG;
	memcpy(&h, at, sizeof(h));
	at += sizeof(h);
	n -= sizeof(h);
	if (memcmp(h.magic, MAGIC, sizeof(h.magic)) || n % sizeof(uint64_t) ||
	    h.sum != codecache_sum(at, n))
		return -EBADMSG;
	while (!r && n) {
		if (n < sizeof(e))
			return -EBADMSG;
		memcpy(&e, at, sizeof(e));
		at += sizeof(e);
		n -= sizeof(e);
		if (e.n > PLACES_MOST || n < e.n * sizeof(uint64_t))
			return -EBADMSG;
		r = add(x, &e, at);
		at += e.n * sizeof(uint64_t);
		n -= e.n * sizeof(uint64_t);
	}
	return r;
}

int codecache_format(struct buf *b, const struct replaced *x)
{
	struct head h = { .magic = MAGIC };
	size_t kept = 0, left;

	for (size_t i = 0; i < x->n; i++)
		kept += !x->file[i].young;
	left = kept > CODECACHE_FILES ? kept - CODECACHE_FILES : 0;
	buf_add(b, &h, sizeof(h));
	for (size_t i = 0; i < x->n; i++) {
		const struct replaced_file *f = &x->file[i];
		const struct entry e = { { f->dev, f->ino, f->size, f->mtime_ns, f->ctime_ns,
					   f->offset, f->bytes }, f->places.n };

		if (f->young || (left && left--))
			continue;
		buf_add(b, &e, sizeof(e));
		buf_add(b, f->places.at, f->places.n * sizeof(uint64_t));
	}
	if (b->failed)
		return -ENOMEM;
	h.sum = codecache_sum(b->data + sizeof(h), b->len - sizeof(h));
	memcpy(b->data, &h, sizeof(h));
	return 0;
}

bool codecache_path(struct buf *path, const struct caller *who)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (who->change)
		buf_addf(path, "%s/.cache", who->home);
	else if (cache && *cache == '/')
		buf_adds(path, cache);
	else if (home && *home == '/')
		buf_addf(path, "%s/.cache", home);
	else
		return false;
	buf_adds(path, "/tracer/code");
	return !path->failed;
}

void codecache_load(struct replaced *x, const char *path, const struct caller *who)
{
	struct buf b = BUF_INIT;

	if (caller_lower(who))
		return;
	if (!io_read_file(path, &b, BYTES_MOST) && codecache_parse(x, b.data, b.len))
		replaced_release(x);
	caller_raise(who);
	buf_release(&b);
	x->loaded = x->n;
}

/* tracer's own directory, and that of caches; a home that is not there is not made. */
static void make_dirs(char *path)
{
	char *own = strrchr(path, '/'), *all;

	*own = '\0';
	all = strrchr(path, '/');
	*all = '\0';
	mkdir(path, 0700);
	*all = '/';
	mkdir(path, 0700);
	*own = '/';
}

static void write_it(const char *path, const struct buf *b)
{
	char now[4096];
	int fd;

	if (snprintf(now, sizeof(now), "%s.%d", path, (int)getpid()) >= (int)sizeof(now))
		return;
	make_dirs(now);
	fd = open(now, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return;
	if (io_write_all(fd, b->data, b->len) || rename(now, path))
		unlink(now);
	close(fd);
}

void codecache_save(const struct replaced *x, const char *path, const struct caller *who)
{
	struct buf b = BUF_INIT;

	if (x->n == x->loaded || codecache_format(&b, x) || caller_lower(who)) {
		buf_release(&b);
		return;
	}
	write_it(path, &b);
	caller_raise(who);
	buf_release(&b);
}
