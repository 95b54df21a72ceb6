/* SPDX-License-Identifier: MIT */
#include "tape/tapeio.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"

#define IN_FIRST_BYTES ((size_t)256 << 10)
#define IN_READ_LEAST ((size_t)64 << 10)	/* room for a read; else data moves, or grows */
#define SMALL_READ_BYTES ((size_t)32 << 10)
#define BLOCK_LEAST ((size_t)2 << 10)		/* a writer's block rather than a line */
#define BURST_READS 16				/* in TAPE_GATHER_NS */
#define OUT_BYTES ((size_t)256 << 10)
#define SLICE_LEAST ((size_t)16 << 10)		/* shorter ones are copied */
#define PIPE_BYTES (1 << 20)

int tape_in_init(struct tape_in *in, int fd, struct tape_stats *stats)
{
	*in = (struct tape_in){ .fd = fd, .stats = stats, .cap = IN_FIRST_BYTES };
	in->data = malloc(in->cap + TAPE_SLACK_BYTES);
	/* Not a pipe, or not allowed: then as it is. */
	(void)fcntl(fd, F_SETPIPE_SZ, PIPE_BYTES);
	return in->data ? 0 : -ENOMEM;
}

void tape_in_release(struct tape_in *in)
{
	free(in->data);
	in->data = NULL;
}

static int make_room(struct tape_in *in, size_t least)
{
	char *p;
	size_t cap = in->cap;

	if (in->at == in->end)
		in->at = in->end = 0;
	if (in->cap - in->end >= least)
		return 0;
	/* What is left is moved when it is the smaller part, else there is to be more room. */
	if (in->at >= in->cap / 2 || in->cap - (in->end - in->at) >= in->cap / 2 + least) {
		memmove(in->data, in->data + in->at, in->end - in->at);
		in->end -= in->at;
		in->at = 0;
		if (in->cap - in->end >= least)
			return 0;
	}
	while (cap - in->end < least)
		cap *= 2;
	p = realloc(in->data, cap + TAPE_SLACK_BYTES);
	if (!p)
		return -ENOMEM;
	in->data = p;
	in->cap = cap;
	return 0;
}

/* @n bytes were read at @now: whether to let more gather before the next read. */
static bool is_busy(struct tape_in *in, size_t n, uint64_t now)
{
	const bool soon = now - in->read_ns < 2 * TAPE_GATHER_NS;

	if (now - in->burst_ns >= TAPE_GATHER_NS) {
		in->burst_ns = now;
		in->burst = 0;
	}
	in->burst++;
	return n && n < SMALL_READ_BYTES && soon && (n >= BLOCK_LEAST || in->burst >= BURST_READS);
}

int tape_in_read(struct tape_in *in)
{
	int r = make_room(in, IN_READ_LEAST);
	uint64_t now;
	ssize_t n;

	if (r)
		return r;
	do
		n = read(in->fd, in->data + in->end, in->cap - in->end);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	now = clock_mono_ns();
	in->stats->reads++;
	in->stats->bytes_in += (uint64_t)n;
	in->gather = is_busy(in, (size_t)n, now);
	in->read_ns = now;
	in->end += (size_t)n;
	in->eof = !n;
	return n > 0;
}

int tape_in_add(struct tape_in *in, const char *data, size_t n)
{
	int r = make_room(in, n);

	if (r)
		return r;
	memcpy(in->data + in->end, data, n);
	in->end += n;
	return 0;
}

uint64_t tape_in_wait_ns(const struct tape_in *in, uint64_t now_ns)
{
	const uint64_t until = in->read_ns + TAPE_GATHER_NS;

	return in->gather && now_ns < until ? until - now_ns : 0;
}

int tape_out_init(struct tape_out *out, int fd, struct tape_stats *stats)
{
	*out = (struct tape_out){ .fd = fd, .stats = stats, .cap = OUT_BYTES };
	out->data = malloc(out->cap + TAPE_SLACK_BYTES);
	return out->data ? 0 : -ENOMEM;
}

void tape_out_release(struct tape_out *out)
{
	free(out->data);
	out->data = NULL;
}

static int write_both(struct tape_out *out, struct iovec *v, int n)
{
	uint64_t start = clock_mono_ns();

	while (n && !out->failed) {
		ssize_t did = writev(out->fd, v, n);

		if (did < 0 && errno != EINTR)
			out->failed = -errno;
		out->stats->writes++;
		for (; did > 0 && n; did -= (ssize_t)v->iov_len, v++, n--) {
			out->stats->bytes_out += (uint64_t)did < v->iov_len ? (uint64_t)did :
						 v->iov_len;
			if ((size_t)did < v->iov_len) {
				v->iov_base = (char *)v->iov_base + did;
				v->iov_len -= (size_t)did;
				break;
			}
		}
		while (n && !v->iov_len) {
			v++;
			n--;
		}
	}
	out->stats->blocked_out_ns += clock_mono_ns() - start;
	out->len = out->slice_bytes = 0;
	return out->failed;
}

int tape_out_flush(struct tape_out *out)
{
	struct iovec v[2] = { { out->data, out->len },
			      { (char *)(uintptr_t)out->slice, out->slice_bytes } };
	const int skip = !out->len;

	if (out->failed)
		return out->failed;
	if (!out->len && !out->slice_bytes)
		return 0;
	return write_both(out, v + skip, 2 - skip - !out->slice_bytes);
}

int tape_out_settle(struct tape_out *out)
{
	const size_t n = out->slice_bytes;

	if (!n)
		return out->failed;
	if (n >= SLICE_LEAST || out->cap - out->len < n)
		return tape_out_flush(out);
	out->slice_bytes = 0;
	memcpy(out->data + out->len, out->slice, n);
	out->len += n;
	return out->failed;
}

int tape_out_slice(struct tape_out *out, const char *data, size_t n)
{
	int r;

	if (out->slice_bytes && out->slice + out->slice_bytes == data) {
		out->slice_bytes += n;
		return 0;
	}
	r = tape_out_settle(out);
	out->slice = data;
	out->slice_bytes = n;
	return r;
}

int tape_out_add_slow(struct tape_out *out, const char *data, size_t n)
{
	int r = tape_out_settle(out);

	if (!r && out->cap - out->len >= n) {
		memcpy(out->data + out->len, data, n);
		out->len += n;
		return 0;
	}
	if (!r && n < SLICE_LEAST) {
		r = tape_out_flush(out);
		memcpy(out->data, data, n);
		out->len = n;
		return r;
	}
	out->slice = data;
	out->slice_bytes = n;
	return r ? r : tape_out_flush(out);
}

char *tape_out_room(struct tape_out *out, size_t n)
{
	if (tape_out_settle(out) || (out->cap - out->len < n && tape_out_flush(out)))
		return NULL;
	return out->data + out->len;
}
