/* SPDX-License-Identifier: MIT */
#include "rr/bulk.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include "base/buf.h"

#define PART ((size_t)1 << 20)
#define PAGE ((size_t)4096)
#define MIN(a, b) ((a) < (b) ? (a) : (b))

struct bulk {
	const volatile struct rr_counts *counts;
	struct recfile *f;
	struct buf part;	/* the same call's event, with a piece of it */
	uint32_t tid;
};

#define HEAD sizeof(struct rr_ev_call)

/* Up to @n bytes at @addr behind the event's head: how many there were. */
static size_t read_some(struct bulk *b, uint64_t addr, size_t n)
{
	char *to = b->part.data + HEAD + sizeof(struct rr_piece);
	struct iovec local = { to, n }, remote = { (void *)(uintptr_t)addr, n };
	const ssize_t got = process_vm_readv((pid_t)b->tid, &local, 1, &remote, 1, 0);

	return got > 0 ? (size_t)got : 0;
}

static int add_part(struct bulk *b, uint64_t addr, size_t n, struct err *err)
{
	const struct rr_piece p = { .addr = addr, .bytes = (uint32_t)n };
	struct rr_head *h = (struct rr_head *)(void *)b->part.data;
	char *piece = b->part.data + HEAD;

	memcpy(piece, &p, sizeof(p));
	memset(piece + sizeof(p) + n, 0, -n & 7);
	h->bytes = (uint32_t)(HEAD + sizeof(p) + ((n + 7) & ~(size_t)7));
	h->type = RR_EV_PIECES;
	return recfile_add(b->f, h, err);
}

/* Pages of it that are not there were not written. */
static int add_piece(struct bulk *b, const struct rr_piece *p, struct err *err)
{
	size_t n, got;
	int r = 0;

	for (uint64_t at = 0; !r && at < p->bytes; at += n) {
		n = MIN(p->bytes - at, PART);
		got = read_some(b, p->addr + at, n);
		if (got)
			r = add_part(b, p->addr + at, got, err);
		n = got ? got : MIN(n, PAGE - (p->addr + at) % PAGE);
	}
	return r;
}

static bool stands(const struct bulk *b, uint64_t runs)
{
	return b->counts->stands == b->tid && b->counts->runs == runs;
}

/* The pieces of @h: those that are only named are read, the others go to @rest. */
static int split(struct bulk *b, const struct rr_head *h, struct buf *rest, struct err *err)
{
	const char *data = (const char *)h;
	size_t at = HEAD;
	int r = 0;

	while (!r && at + sizeof(struct rr_piece) <= h->bytes) {
		const struct rr_piece *p = (const void *)(data + at);
		const size_t n = sizeof(*p) + (p->elsewhere ? 0 : (p->bytes + 7) & ~7u);

		if (n > h->bytes - at)
			return err_set(err, EPROTO, "a piece of %u bytes is none", p->bytes);
		r = p->elsewhere ? add_piece(b, p, err) : buf_add(rest, p, n);
		at += n;
	}
	return r;
}

int bulk_add(const struct rr_head *h, const volatile struct rr_counts *counts, struct recfile *f,
	     struct err *err)
{
	struct bulk b = { .counts = counts, .f = f, .tid = h->tid };
	const uint64_t runs = counts->runs;
	struct buf rest = BUF_INIT;
	struct rr_head *to;
	int r = 0;

	if (h->bytes < HEAD)
		return err_set(err, EPROTO, "an event of %u bytes is none", h->bytes);
	if (buf_add(&b.part, h, HEAD) || buf_grow(&b.part, sizeof(struct rr_piece) + PART + 8) ||
	    buf_add(&rest, h, HEAD))
		r = err_sys(err, ENOMEM, "cannot record");
	r = r ? r : split(&b, h, &rest, err);
	if (!r && !stands(&b, runs))
		r = err_set(err, ESTALE, "thread %u ran on before what its call wrote could be "
			    "read", h->tid);
	if (!r) {
		to = (struct rr_head *)(void *)rest.data;
		to->bytes = (uint32_t)rest.len;
		to->flags &= (uint16_t)~RR_FLAG_BULK;
		r = recfile_add(f, to, err);
	}
	buf_release(&b.part);
	buf_release(&rest);
	return r;
}
