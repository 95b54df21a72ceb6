/* SPDX-License-Identifier: MIT */
#include "rr/bulk.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include "base/buf.h"

#define PART ((size_t)1 << 20)
#define PAGE ((size_t)4096)
#define MIN(a, b) ((a) < (b) ? (a) : (b))

#define HEAD sizeof(struct rr_ev_call)

void bulk_release(struct bulk *b)
{
	buf_release(&b->part);
	buf_release(&b->rest);
}

static uint32_t tid_of(const struct bulk *b)
{
	return ((const struct rr_head *)(const void *)b->part.data)->tid;
}

/* Up to @n bytes at @addr behind the event's head: how many there were. */
static size_t read_some(struct bulk *b, uint64_t addr, size_t n)
{
	char *to = b->part.data + HEAD + sizeof(struct rr_piece);
	struct iovec local = { to, n }, remote = { (void *)(uintptr_t)addr, n };
	const ssize_t got = process_vm_readv((pid_t)tid_of(b), &local, 1, &remote, 1, 0);

	return got > 0 ? (size_t)got : 0;
}

static int add_part(struct bulk *b, uint64_t addr, size_t n, struct recfile *f, struct err *err)
{
	const struct rr_piece p = { .addr = addr, .bytes = (uint32_t)n };
	struct rr_head *h = (struct rr_head *)(void *)b->part.data;
	char *piece = b->part.data + HEAD;

	memcpy(piece, &p, sizeof(p));
	memset(piece + sizeof(p) + n, 0, -n & 7);
	h->bytes = (uint32_t)(HEAD + sizeof(p) + ((n + 7) & ~(size_t)7));
	h->type = RR_EV_PIECES;
	return recfile_add(f, h, err);
}

/* Pages of it that are not there were not written. */
static int add_piece(struct bulk *b, const struct rr_piece *p, struct recfile *f, struct err *err)
{
	size_t n, got;
	int r = 0;

	for (uint64_t at = 0; !r && at < p->bytes; at += n) {
		n = MIN(p->bytes - at, PART);
		got = read_some(b, p->addr + at, n);
		if (got)
			r = add_part(b, p->addr + at, got, f, err);
		n = got ? got : MIN(n, PAGE - (p->addr + at) % PAGE);
	}
	return r;
}

/* The pieces of @h: those that are only named are read, the others go to the rest. */
static int split(struct bulk *b, const struct rr_head *h, struct recfile *f, struct err *err)
{
	const char *data = (const char *)h;
	size_t at = HEAD;
	int r = 0;

	while (!r && at + sizeof(struct rr_piece) <= h->bytes) {
		const struct rr_piece *p = (const void *)(data + at);
		const size_t n = sizeof(*p) + (p->elsewhere ? 0 : (p->bytes + 7) & ~7u);

		if (n > h->bytes - at)
			return err_set(err, EPROTO, "a piece of %u bytes is none", p->bytes);
		if (p->elsewhere)
			r = add_piece(b, p, f, err);
		else if (buf_add(&b->rest, p, n))
			r = err_sys(err, ENOMEM, "cannot record");
		at += n;
	}
	return r;
}

int bulk_add(struct bulk *b, const struct rr_head *h, const volatile struct rr_counts *counts,
	     struct recfile *f, struct err *err)
{
	const uint64_t runs = counts->runs;
	struct rr_head *to;
	int r;

	if (h->bytes < HEAD)
		return err_set(err, EPROTO, "an event of %u bytes is none", h->bytes);
	buf_reset(&b->part);
	buf_reset(&b->rest);
	if (buf_add(&b->part, h, HEAD) || buf_add(&b->rest, h, HEAD) ||
	    buf_grow(&b->part, sizeof(struct rr_piece) + PART + 8))
		return err_sys(err, ENOMEM, "cannot record");
	r = split(b, h, f, err);
	if (r)
		return r;
	if (counts->stands != h->tid || counts->runs != runs)
		return err_set(err, ESTALE, "thread %u ran on before what its call wrote could be "
			       "read", h->tid);
	to = (struct rr_head *)(void *)b->rest.data;
	to->bytes = (uint32_t)b->rest.len;
	to->flags &= (uint16_t)~RR_FLAG_BULK;
	return recfile_add(f, to, err);
}
