/* SPDX-License-Identifier: MIT */
#include "rr/recdump.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/codepoint.h"
#include "base/io.h"
#include "rr/memsum.h"
#include "rr/packed.h"
#include "rr/recfile.h"

#define FLUSH_BYTES 65536

static const char *const names[RR_NR_CALLS] = {
#define RR_CALL(nr, name, ...) [nr] = #name,
#include "shared/rr_calls.def"
#undef RR_CALL
};

static void dump_call(struct buf *b, const struct rr_head *h)
{
	const struct rr_ev_call *e = (const void *)h;
	const char *name = e->nr < RR_NR_CALLS && names[e->nr] ? names[e->nr] : "call";

	buf_addf(b, "%s %s(", h->type == RR_EV_PIECES ? "part of" : "call", name);
	for (int i = 0; i < 6; i++)
		buf_addf(b, i ? ", %#" PRIx64 : "%#" PRIx64, (uint64_t)e->arg[i]);
	buf_addf(b, ") = %" PRId64 " at %#" PRIx64, (int64_t)e->ret, (uint64_t)e->ip);
	if (h->bytes > sizeof(*e))
		buf_addf(b, ", %zu bytes of memory", h->bytes - sizeof(*e));
}

static void dump_place(struct buf *b, const struct rr_place *p, size_t bytes)
{
	buf_addf(b, " at %#" PRIx64 " (sp %#" PRIx64 " ax %#" PRIx64 " cx %#" PRIx64 "), %zu bytes "
		 "of memory", (uint64_t)p->ip, (uint64_t)p->sp, (uint64_t)p->ax, (uint64_t)p->cx,
		 bytes);
}

static void dump_signal(struct buf *b, const struct rr_head *h)
{
	const struct rr_ev_signal *e = (const void *)h;

	buf_addf(b, "signal %u, handler %#" PRIx64, e->sig, (uint64_t)e->handler);
	dump_place(b, &e->at, h->bytes - sizeof(*e));
}

static void dump_fork(struct buf *b, const struct rr_head *h)
{
	const struct rr_ev_fork *e = (const void *)h;

	buf_addf(b, "begins %u", e->child);
	if (e->child_own != e->child)
		buf_addf(b, ", %u to itself", e->child_own);
}

static void dump_switch(struct buf *b, const struct rr_head *h)
{
	const struct rr_ev_switch *e = (const void *)h;

	buf_addf(b, "gives way to %u", e->next);
	if (e->in_call)
		buf_adds(b, ", in a call");
	else if (h->bytes >= sizeof(*e))
		dump_place(b, &e->at, h->bytes - sizeof(*e));
}

static void dump_exit(struct buf *b, const struct rr_head *h)
{
	const struct rr_ev_exit *e = (const void *)h;

	buf_addf(b, "ends%s, status %#x", e->asked ? "" : " by another's doing", e->code);
}

static void dump_exec(struct buf *b, const struct rr_head *h)
{
	const struct rr_ev_exec *e = (const void *)h;

	buf_addf(b, "new image, stack up to %#" PRIx64, (uint64_t)e->stack_high);
	if (e->former)
		buf_addf(b, ", made by thread %u", e->former);
}

/* Of the recording that is dumped. */
static struct packed packed;

/* Which file of the recording's a replay maps. */
static void dump_copy(struct buf *b, const struct rr_ev_map *e)
{
	const struct recfiles_id id = recfiles_id_of(e);
	const struct packed_file *f = e->copy || !e->ino ? NULL : packed_find(&packed, &id, 0);

	if (e->copy)
		buf_addf(b, ", copy files/%u", e->copy);
	else if (f)
		buf_addf(b, ", copy packed/%u", f->number);
}

static void dump_map(struct buf *b, const struct rr_head *h)
{
	const struct rr_ev_map *e = (const void *)h;
	const char *path = (const char *)h + sizeof(*e);

	buf_addf(b, "maps %#" PRIx64 "-%#" PRIx64 " prot %u offset %#" PRIx64 " ",
		 (uint64_t)e->start, (uint64_t)e->end, e->prot, (uint64_t)e->offset);
	if (e->path_bytes <= h->bytes - sizeof(*e))
		for (uint32_t i = 0; i < e->path_bytes; i++)
			buf_addf(b, path[i] >= ' ' && path[i] != 0x7f ? "%c" : "\\x%02x",
				 (unsigned char)path[i]);
	dump_copy(b, e);
}

static void dump_memory(struct buf *b, const struct rr_head *h)
{
	buf_addf(b, "%zu bytes of memory", h->bytes - sizeof(*h));
}

static void dump_sums(struct buf *b, const struct rr_head *h)
{
	const struct rr_sums *s;
	const uint32_t *sum;
	const char *name;
	uint64_t pages = 0;
	size_t at = 0, maps = 0;
	int r;

	while ((r = memsum_next(h, &at, &s, &name, &sum)) > 0) {
		pages += s->pages;
		maps += s->flags & RR_SUMS_NAME;
	}
	buf_addf(b, "sums of %" PRIu64 " pages in %zu mappings%s", pages, maps,
		 r ? ", damaged" : "");
}

static void dump_file(struct buf *b, const struct rr_head *h)
{
	const struct rr_ev_file *e = (const void *)h;

	buf_addf(b, "changed file %#" PRIx64 ":%" PRIu64 ", of %" PRIu64 " bytes: %u bytes at %"
		 PRIu64, (uint64_t)e->dev, (uint64_t)e->ino, (uint64_t)e->size, e->bytes,
		 (uint64_t)e->offset);
}

static void dump_insn(struct buf *b, const struct rr_head *h)
{
	const struct rr_ev_insn *e = (const void *)h;

	buf_addf(b, "read a counter or a random number at %#" PRIx64 " (ax %#" PRIx64 " dx %#"
		 PRIx64 ")", (uint64_t)e->ip, (uint64_t)e->then.ax, (uint64_t)e->then.dx);
}

static const struct { size_t bytes; void (*dump)(struct buf *b, const struct rr_head *h); }
kinds[RR_EV_TYPES] = {
	[RR_EV_CALL] = { sizeof(struct rr_ev_call), dump_call },
	[RR_EV_PIECES] = { sizeof(struct rr_ev_call), dump_call },
	[RR_EV_SIGNAL] = { sizeof(struct rr_ev_signal), dump_signal },
	[RR_EV_FORK] = { sizeof(struct rr_ev_fork), dump_fork },
	[RR_EV_SWITCH] = { RR_SWITCH_SHORT, dump_switch },
	[RR_EV_EXIT] = { sizeof(struct rr_ev_exit), dump_exit },
	[RR_EV_EXEC] = { sizeof(struct rr_ev_exec), dump_exec },
	[RR_EV_MAP] = { sizeof(struct rr_ev_map), dump_map },
	[RR_EV_MEMORY] = { sizeof(struct rr_head), dump_memory },
	[RR_EV_FILE] = { sizeof(struct rr_ev_file), dump_file },
	[RR_EV_SUMS] = { sizeof(struct rr_head), dump_sums },
	[RR_EV_INSN] = { sizeof(struct rr_ev_insn), dump_insn },
};

static int flush(struct buf *b, int fd, struct err *err)
{
	int r = b->failed ? -ENOMEM : io_write_all(fd, b->data, b->len);

	buf_reset(b);
	return r ? err_sys(err, -r, "cannot write the events") : 0;
}

int recdump(const char *dir, int fd, struct err *err)
{
	struct buf b = BUF_INIT, path = BUF_INIT;
	const struct rr_head *h;
	struct recread *rec;
	int r, w;

	buf_addf(&path, "%s/events", dir);
	r = path.failed ? err_sys(err, ENOMEM, "cannot name a recording") :
	    recread_open(&rec, path.data, err);
	buf_release(&path);
	if (r)
		return r;
	r = packed_read(&packed, dir, PACKED_INDEX, err);
	while (!r && (r = recread_next(rec, &h, err)) > 0) {
		buf_addf(&b, "%" PRIu64 " %u ", recread_number(rec), h->tid);
		if (h->bytes < kinds[h->type].bytes)
			buf_adds(&b, "damaged");
		else
			kinds[h->type].dump(&b, h);
		buf_addc(&b, '\n');
		r = b.len < FLUSH_BYTES ? 0 : flush(&b, fd, err);
		if (r)
			break;
	}
	if (!r && recread_cut(rec))
		buf_adds(&b, "the recording is cut short here\n");
	w = b.len ? flush(&b, fd, err) : 0;
	buf_release(&b);
	packed_release(&packed);
	recread_close(rec);
	return r ? r : w;
}
