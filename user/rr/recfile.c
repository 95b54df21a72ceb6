/* SPDX-License-Identifier: MIT */
#include "rr/recfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/buf.h"
#include "base/io.h"

#define FILE_MAGIC "TRACERRR"
#define FILE_VERSION 2
#define CHUNK_MAGIC 0x4b4e4843u	/* "CHNK" */
#define CHUNK_BYTES ((size_t)1 << 20)
#define CHUNK_MOST ((size_t)4 << 20)
#define LEVEL 1
#define SPARE 64

struct file_head {
	char magic[8];
	uint32_t version, zero;
};

struct chunk_head {
	uint32_t magic, raw_bytes, packed_bytes, events;
	uint64_t sequence, first_event;
};

struct recfile {
	int fd;
	struct recqueue *queue;	/* NULL: written by who adds */
	struct buf raw, packed;
	struct buf spare[SPARE];	/* of chunks that are written: no new memory is asked for */
	size_t nspare;
	ZSTD_CCtx *zstd;
	uint64_t sequence, events, bytes;
	uint32_t in_chunk;
};

static int write_to(struct recfile *f, const void *data, size_t n, struct err *err)
{
	int r = io_write_all(f->fd, data, n);

	if (r)
		return err_sys(err, -r, "cannot write the recording");
	__atomic_fetch_add(&f->bytes, n, __ATOMIC_RELAXED);
	return 0;
}

int recfile_create(struct recfile **out, const char *path, struct recqueue *queue,
		   struct err *err)
{
	struct file_head head = { .magic = FILE_MAGIC, .version = FILE_VERSION };
	struct recfile *f = calloc(1, sizeof(*f));
	int r;

	if (!f)
		return err_sys(err, ENOMEM, "cannot record");
	f->queue = queue;
	f->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	r = f->fd < 0 ? err_sys(err, errno, "cannot make %s", path) : 0;
	/* For `tracer ls`, and held as long as we live. */
	if (!r)
		(void)flock(f->fd, LOCK_EX | LOCK_NB);
	f->zstd = ZSTD_createCCtx();
	if (!r && !f->zstd)
		r = err_sys(err, ENOMEM, "cannot record");
	if (!r) {
		ZSTD_CCtx_setParameter(f->zstd, ZSTD_c_compressionLevel, LEVEL);
		ZSTD_CCtx_setParameter(f->zstd, ZSTD_c_checksumFlag, 1);
		r = write_to(f, &head, sizeof(head), err);
	}
	if (r) {
		recfile_close(f);
		return r;
	}
	*out = f;
	return 0;
}

/* A chunk that is to be written: by whom, and what. */
struct chunk {
	struct recfile *f;
	struct chunk_head head;
	struct buf raw;
};

static int write_chunk(void *arg, struct err *err)
{
	struct chunk *c = arg;
	struct recfile *f = c->f;
	size_t n = 0;
	int r;

	buf_reset(&f->packed);
	/* Behind one that was not written whole, none would be found. */
	r = -err->code;
	if (!r && buf_grow(&f->packed, ZSTD_compressBound(c->raw.len)))
		r = err_sys(err, ENOMEM, "cannot record");
	if (!r) {
		n = ZSTD_compress2(f->zstd, f->packed.data, f->packed.cap, c->raw.data, c->raw.len);
		if (ZSTD_isError(n))
			r = err_set(err, EIO, "cannot compress the recording: %s",
				    ZSTD_getErrorName(n));
		c->head.packed_bytes = (uint32_t)n;
	}
	r = r ? r : write_to(f, &c->head, sizeof(c->head), err);
	r = r ? r : write_to(f, f->packed.data, n, err);
	return r;
}

static void release_chunk(void *arg)
{
	struct chunk *c = arg;
	struct recfile *f = c->f;

	if (f->nspare < SPARE) {
		buf_reset(&c->raw);
		f->spare[f->nspare++] = c->raw;
	} else {
		buf_release(&c->raw);
	}
	free(c);
}

/* What is written then is lost with the last descriptor. */
static int check_there(void *arg, struct err *err)
{
	const struct recfile *f = arg;
	struct stat st;

	if (fstat(f->fd, &st) || st.st_nlink)
		return 0;
	return err_set(err, ESTALE, "the recording was deleted while it was made");
}

static void keep(void *arg)
{
	(void)arg;
}

int recfile_push(struct recfile *f, struct err *err)
{
	struct chunk *c;
	int r;

	if (!f->in_chunk)
		return f->queue ? recqueue_add(f->queue, check_there, keep, f, 0, err) : 0;
	c = malloc(sizeof(*c));
	if (!c)
		return err_sys(err, ENOMEM, "cannot record");
	*c = (struct chunk){ .f = f, .raw = f->raw, .head = {
		.magic = CHUNK_MAGIC, .raw_bytes = (uint32_t)f->raw.len, .events = f->in_chunk,
		.sequence = f->sequence++, .first_event = f->events - f->in_chunk + 1,
	} };
	f->raw = f->nspare ? f->spare[--f->nspare] : (struct buf)BUF_INIT;
	f->in_chunk = 0;
	r = f->queue ? recqueue_add(f->queue, write_chunk, release_chunk, c, c->raw.len, err) :
		       write_chunk(c, err);
	if (r || !f->queue)
		release_chunk(c);
	return r;
}

int recfile_flush(struct recfile *f, struct err *err)
{
	int r = recfile_push(f, err);

	if (f->queue && !r)
		r = recqueue_finish(f->queue, err);
	return r ? r : check_there(f, err);
}

int recfile_add(struct recfile *f, const struct rr_head *ev, struct err *err)
{
	if (buf_add(&f->raw, ev, ev->bytes))
		return err_sys(err, ENOMEM, "cannot record");
	f->in_chunk++;
	f->events++;
	return f->raw.len < CHUNK_BYTES ? 0 : recfile_push(f, err);
}

uint64_t recfile_events(const struct recfile *f)
{
	return f->events;
}

uint64_t recfile_bytes(const struct recfile *f)
{
	return __atomic_load_n(&f->bytes, __ATOMIC_RELAXED);
}

void recfile_close(struct recfile *f)
{
	if (!f)
		return;
	if (f->fd >= 0)
		close(f->fd);
	buf_release(&f->raw);
	buf_release(&f->packed);
	while (f->nspare)
		buf_release(&f->spare[--f->nspare]);
	ZSTD_freeCCtx(f->zstd);
	free(f);
}

uint64_t recfile_count(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	off_t at = sizeof(struct file_head);
	struct chunk_head head;
	uint64_t events = 0;
	struct stat st;

	if (fd < 0)
		return 0;
	while (!fstat(fd, &st) && pread(fd, &head, sizeof(head), at) == sizeof(head) &&
	       head.magic == CHUNK_MAGIC) {
		at += (off_t)sizeof(head) + (off_t)head.packed_bytes;
		if (at > st.st_size)
			break;
		events += head.events;
	}
	close(fd);
	return events;
}

struct recread {
	int fd;
	struct buf raw, packed;
	ZSTD_DCtx *zstd;
	size_t at;		/* in .raw */
	int64_t chunk;		/* where that begins in the file */
	uint64_t sequence, event, in_chunk;
	bool cut;
};

/* @n bytes, or fewer at the file's end: how many, or -errno. */
static ssize_t read_up_to(int fd, void *to, size_t n)
{
	size_t got = 0;

	while (got < n) {
		const ssize_t r = read(fd, (char *)to + got, n - got);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return -errno;
		if (!r)
			break;
		got += (size_t)r;
	}
	return (ssize_t)got;
}

int recread_open(struct recread **out, const char *path, struct err *err)
{
	struct recread *r = calloc(1, sizeof(*r));
	struct file_head head;
	ssize_t n = 0;
	int code = 0;

	if (!r)
		return err_sys(err, ENOMEM, "cannot read a recording");
	r->chunk = -1;
	r->fd = open(path, O_RDONLY | O_CLOEXEC);
	r->zstd = ZSTD_createDCtx();
	if (r->fd < 0)
		code = err_sys(err, errno, "cannot open %s", path);
	else if (!r->zstd)
		code = err_sys(err, ENOMEM, "cannot read a recording");
	else
		n = read_up_to(r->fd, &head, sizeof(head));
	if (!code && n < 0)
		code = err_sys(err, (int)-n, "cannot read %s", path);
	else if (!code && (n < (ssize_t)sizeof(head) || memcmp(head.magic, FILE_MAGIC, 8)))
		code = err_set(err, EINVAL, "%s is no recording", path);
	else if (!code && head.version != FILE_VERSION)
		code = err_set(err, ENOTSUP, "%s is a recording of version %u, and this is %d",
			       path, head.version, FILE_VERSION);
	if (code) {
		recread_close(r);
		return code;
	}
	*out = r;
	return 0;
}

void recread_close(struct recread *r)
{
	if (!r)
		return;
	if (r->fd >= 0)
		close(r->fd);
	buf_release(&r->raw);
	buf_release(&r->packed);
	ZSTD_freeDCtx(r->zstd);
	free(r);
}

static int damaged(const struct recread *r, struct err *err, const char *what)
{
	return err_set(err, EBADMSG, "the recording is damaged behind event %llu: %s",
		       (unsigned long long)r->event, what);
}

static int unpack(struct recread *r, const struct chunk_head *head, struct err *err)
{
	size_t n;

	n = ZSTD_decompressDCtx(r->zstd, r->raw.data, head->raw_bytes, r->packed.data,
				head->packed_bytes);
	if (ZSTD_isError(n))
		return damaged(r, err, ZSTD_getErrorName(n));
	if (n != head->raw_bytes)
		return damaged(r, err, "a chunk is shorter than it says");
	r->raw.len = n;
	r->at = 0;
	r->sequence++;
	r->in_chunk = head->events;
	return 1;
}

/* The next chunk into .raw: 1, 0 at the end, -EBADMSG. */
static int next_chunk(struct recread *r, struct err *err)
{
	const int64_t begins = lseek(r->fd, 0, SEEK_CUR);
	struct chunk_head head;
	ssize_t n = read_up_to(r->fd, &head, sizeof(head));

	if (n < 0)
		return err_sys(err, (int)-n, "cannot read the recording");
	if (n < (ssize_t)sizeof(head)) {
		r->cut = n > 0;
		return 0;
	}
	if (head.magic != CHUNK_MAGIC || head.sequence != r->sequence ||
	    head.first_event != r->event + 1 || !head.events || head.raw_bytes > CHUNK_MOST ||
	    head.packed_bytes > ZSTD_compressBound(CHUNK_MOST))
		return damaged(r, err, "a chunk does not begin as one");
	buf_reset(&r->packed);
	buf_reset(&r->raw);
	if (buf_grow(&r->packed, head.packed_bytes) || buf_grow(&r->raw, head.raw_bytes))
		return err_sys(err, ENOMEM, "cannot read the recording");
	n = read_up_to(r->fd, r->packed.data, head.packed_bytes);
	if (n < 0)
		return err_sys(err, (int)-n, "cannot read the recording");
	if (n < (ssize_t)head.packed_bytes) {
		r->cut = true;
		return 0;
	}
	r->chunk = begins;
	return unpack(r, &head, err);
}

/* The event at @at of the chunk, if it can be one. */
static const struct rr_head *event_at(const struct recread *r, size_t at)
{
	const struct rr_head *h = (const struct rr_head *)(const void *)(r->raw.data + at);
	const size_t left = r->raw.len - at;

	return left < sizeof(*h) || h->bytes < sizeof(*h) || h->bytes > left || h->bytes % 8 ||
	       !h->type || h->type >= RR_EV_TYPES ? NULL : h;
}

const struct rr_head *recread_behind(const struct recread *r, const struct rr_head *ev)
{
	return event_at(r, (size_t)((const char *)ev - r->raw.data) + ev->bytes);
}

int recread_next(struct recread *r, const struct rr_head **ev, struct err *err)
{
	const struct rr_head *h;
	int got;

	if (r->at == r->raw.len) {
		if (r->in_chunk)
			return damaged(r, err, "a chunk has fewer events than it says");
		got = next_chunk(r, err);
		if (got <= 0)
			return got;
	}
	h = event_at(r, r->at);
	if (!h || !r->in_chunk)
		return damaged(r, err, "an event does not begin as one");
	r->at += h->bytes;
	r->in_chunk--;
	r->event++;
	*ev = h;
	return 1;
}

bool recread_cut(const struct recread *r)
{
	return r->cut;
}

uint64_t recread_number(const struct recread *r)
{
	return r->event;
}

struct recread_place recread_tell(const struct recread *r)
{
	return (struct recread_place){ .chunk = r->chunk, .at = r->at, .sequence = r->sequence,
				       .event = r->event, .in_chunk = r->in_chunk };
}

int recread_seek(struct recread *r, const struct recread_place *to, struct err *err)
{
	const int64_t chunk = to->chunk < 0 ? (int64_t)sizeof(struct file_head) : to->chunk;
	int got;

	if (to->chunk < 0 || to->chunk != r->chunk) {
		if (lseek(r->fd, chunk, SEEK_SET) < 0)
			return err_sys(err, errno, "cannot read the recording");
		r->raw.len = r->at = 0;
		r->chunk = -1;
		r->in_chunk = 0;
		/* What the chunk's head has to say: it was read before. */
		r->sequence = to->sequence ? to->sequence - 1 : 0;
	}
	if (to->chunk >= 0 && to->chunk != r->chunk) {
		struct chunk_head head;

		if (pread(r->fd, &head, sizeof(head), chunk) != (ssize_t)sizeof(head))
			return damaged(r, err, "a chunk has gone");
		r->event = head.first_event - 1;
		got = next_chunk(r, err);
		if (got <= 0)
			return got < 0 ? got : damaged(r, err, "a chunk has gone");
	}
	if (to->at > r->raw.len)
		return damaged(r, err, "a chunk has shrunk");
	r->at = to->at;
	r->sequence = to->sequence;
	r->event = to->event;
	r->in_chunk = to->in_chunk;
	r->cut = false;
	return 0;
}
