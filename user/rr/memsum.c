/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: a sum for each page of each mapping that can be written, so that a difference has an
 * address. Of memory that is a process's alone, pages that were never touched are zeros and are
 * told from the page map; those of files and of shared memory may be in it and not be seen
 * there, so they are read. Where the kernel has PAGEMAP_SCAN (6.7) it says where the next page is
 * that was touched: a sanitizer's shadow is 16 TB.
 *
 * What is not looked at: mappings that cannot be written, which are the file's or were looked at
 * while they could be. The vdso, in whose place a replay has a page of its own, and the kernel's
 * pages of time beside it are of these.
 *
 * Pages are read by /proc/PID/mem, which also reads those that the program may only write.
 */
#include "rr/memsum.h"

#include <cpuid.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rr/procmaps.h"

#define PAGE ((uint64_t)4096)
#define CPU_NUMBER	0xff000000u	/* of leaf 1, in ebx: the initial APIC id */
#define BATCH ((size_t)64)		/* pages that are read at once */
#define EVENT_PAGES ((size_t)1 << 17)	/* in an event, at most */
#define IN_MEMORY (1ull << 63 | 1ull << 62)	/* of a page map's entry: present, swapped */

/* struct pm_scan_arg, include/uapi/linux/fs.h. */
struct scan {
	uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
	uint64_t inverted, all, any, told;
};
struct scan_region { uint64_t start, end, is; };
#define PAGEMAP_SCAN	_IOWR('f', 16, struct scan)
#define PAGE_IN_MEMORY	(1ull << 3 | 1ull << 4)		/* present, swapped */

struct reader {
	int mem, pagemap;
	unsigned char page[BATCH * PAGE];
	uint64_t entry[BATCH];
};

struct maker {
	struct buf *b;
	struct reader *in;
	const struct procmap *m;
	size_t event;		/* where the last event begins in .b */
	size_t sums;		/* where the last sums begin, 0: none */
	size_t pages;		/* in the event */
	uint32_t tid;
	bool named;		/* the mapping at hand has been */
};

static uint64_t turn(uint64_t x, int by)
{
	return x << by | x >> (64 - by);
}

/*
 * cpuid's leaf 1, which libraries keep as it came, has the number of the processor in it. That of
 * a virtual machine may be another each time: it is taken out of where the rest of the leaf is.
 */
static void hide_cpu_number(unsigned char *page)
{
	static uint32_t leaf[4];
	uint32_t w[PAGE / sizeof(leaf[0])];

	if (!leaf[0])
		__get_cpuid(1, &leaf[0], &leaf[1], &leaf[2], &leaf[3]);
	memcpy(w, page, sizeof(w));
	for (size_t i = 0; i + 4 <= PAGE / sizeof(w[0]); i++) {
		if (w[i] != leaf[0] || (w[i + 1] ^ leaf[1]) & ~CPU_NUMBER ||
		    w[i + 2] != leaf[2] || w[i + 3] != leaf[3])
			continue;
		w[i + 1] &= ~CPU_NUMBER;
		memcpy(page + (i + 1) * sizeof(w[0]), &w[i + 1], sizeof(w[0]));
	}
}

/* Four sums of every fourth word, so that the processor can work at all of them at a time. */
static uint32_t sum_of(const unsigned char *page)
{
	const uint64_t odd = 0x9e3779b97f4a7c15ull;
	uint64_t s[4] = { 1, 2, 3, 4 }, w[4], all = 0;

	for (size_t i = 0; i < PAGE; i += sizeof(w)) {
		memcpy(w, page + i, sizeof(w));
		for (int k = 0; k < 4; k++)
			s[k] = turn((s[k] ^ w[k]) * odd, 29);
	}
	for (int k = 0; k < 4; k++)
		all = (turn(all, 17) ^ s[k]) * odd;
	all ^= all >> 32;
	return (uint32_t)all ? (uint32_t)all : 1;
}

static int reader_open(struct reader *in, pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	in->mem = open(path, O_RDONLY | O_CLOEXEC);
	if (in->mem < 0)
		return -errno;
	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)pid);
	in->pagemap = open(path, O_RDONLY | O_CLOEXEC);
	if (in->pagemap >= 0)
		return 0;
	close(in->mem);
	return -errno;
}

static void reader_close(struct reader *in)
{
	close(in->mem);
	close(in->pagemap);
}

/* The sums of @n pages, BATCH at most. */
static void read_sums(struct reader *in, uint64_t start, size_t n, uint32_t *sum)
{
	const ssize_t got = pread(in->mem, in->page, n * PAGE, (off_t)start);
	const size_t whole = got > 0 ? (size_t)got / PAGE : 0;

	for (size_t i = 0; i < n; i++) {
		unsigned char *page = in->page + i * PAGE;
		const bool there = i < whole || pread(in->mem, page, PAGE,
				   (off_t)(start + i * PAGE)) == (ssize_t)PAGE;

		if (there)
			hide_cpu_number(page);
		sum[i] = there ? sum_of(page) : RR_SUM_NONE;
	}
}

/* Of @n pages, BATCH at most: whether each was ever touched. Unknown: yes. */
static void read_entries(struct reader *in, uint64_t start, size_t n)
{
	const size_t bytes = n * sizeof(in->entry[0]);

	if (pread(in->pagemap, in->entry, bytes, (off_t)(start / PAGE * 8)) != (ssize_t)bytes)
		memset(in->entry, 0xff, bytes);
}

/* The first page of [start, end) that may have been touched, or @end. */
static uint64_t next_touched(struct reader *in, uint64_t start, uint64_t end)
{
	struct scan_region found = { 0 };
	struct scan s = {
		.size = sizeof(s), .start = start, .end = end, .vec = (uintptr_t)&found,
		.vec_len = 1, .max_pages = 1, .any = PAGE_IN_MEMORY, .told = PAGE_IN_MEMORY,
	};
	const int n = ioctl(in->pagemap, PAGEMAP_SCAN, &s);

	return n > 0 ? found.start : n < 0 ? start : end;
}

/* ---- made ------------------------------------------------------------------ */

static struct rr_sums *last_sums(const struct maker *k)
{
	return k->sums ? (struct rr_sums *)(void *)(k->b->data + k->sums) : NULL;
}

static void pad(struct buf *b)
{
	static const char zeros[8];

	buf_add(b, zeros, -b->len & 7);
}

static void end_event(struct maker *k)
{
	struct rr_head *h;

	pad(k->b);
	if (k->b->failed)
		return;
	h = (struct rr_head *)(void *)(k->b->data + k->event);
	h->bytes = (uint32_t)(k->b->len - k->event);
}

static void begin_event(struct maker *k)
{
	const struct rr_head h = { .type = RR_EV_SUMS, .tid = k->tid };

	k->event = k->b->len;
	k->pages = k->sums = 0;
	k->named = false;
	buf_add(k->b, &h, sizeof(h));
}

static void begin_sums(struct maker *k, uint64_t start, bool zeros)
{
	const uint16_t flags = (k->named ? 0 : RR_SUMS_NAME) | (zeros ? RR_SUMS_ZEROS : 0);
	struct rr_sums s = { .start = start, .flags = flags };
	const size_t len = strlen(k->m->path);

	pad(k->b);
	if (!k->named)
		s.name_bytes = (uint16_t)(len < 4096 ? len : 4096);
	k->sums = k->b->len;
	buf_add(k->b, &s, sizeof(s));
	buf_add(k->b, k->m->path, s.name_bytes);
	pad(k->b);
	k->named = true;
}

/* The last sums, where pages from @at on can go on with them; else new ones. NULL: no memory. */
static struct rr_sums *sums_at(struct maker *k, uint64_t at, bool zeros)
{
	struct rr_sums *s = k->b->failed ? NULL : last_sums(k);

	if (!s || !(s->flags & RR_SUMS_ZEROS) == zeros || s->start + s->pages * PAGE != at)
		begin_sums(k, at, zeros);
	return k->b->failed ? NULL : last_sums(k);
}

static void add_zeros(struct maker *k, uint64_t at, uint64_t end)
{
	while (at < end) {
		struct rr_sums *s = sums_at(k, at, true);
		uint64_t n = (end - at) / PAGE;

		if (!s)
			return;
		n = n < UINT32_MAX - s->pages ? n : UINT32_MAX - s->pages;
		s->pages += (uint32_t)n;
		at += n * PAGE;
		if (s->pages == UINT32_MAX)
			k->sums = 0;
	}
}

static void add_page(struct maker *k, uint64_t at, uint32_t sum)
{
	struct rr_sums *s;

	if (k->pages == EVENT_PAGES) {
		end_event(k);
		begin_event(k);
	}
	s = sums_at(k, at, false);
	if (!s)
		return;
	s->pages++;
	k->pages++;
	buf_add(k->b, &sum, sizeof(sum));
}

static void add_batch(struct maker *k, uint64_t start, size_t n)
{
	const bool own = !k->m->ino && !k->m->shared;
	uint32_t sum[BATCH];

	read_entries(k->in, start, n);
	for (size_t i = 0, m; i < n; i += m) {
		const bool zeros = own && !(k->in->entry[i] & IN_MEMORY);

		for (m = 1; i + m < n; m++)
			if ((own && !(k->in->entry[i + m] & IN_MEMORY)) != zeros)
				break;
		if (zeros) {
			add_zeros(k, start + i * PAGE, start + (i + m) * PAGE);
			continue;
		}
		read_sums(k->in, start + i * PAGE, m, sum);
		for (size_t j = 0; j < m; j++)
			add_page(k, start + (i + j) * PAGE, sum[j]);
	}
}

static void add_mapping(struct maker *k, const struct procmap *m)
{
	const bool own = !m->ino && !m->shared;
	uint64_t left, at = m->start;

	k->m = m;
	k->named = false;
	k->sums = 0;
	while (at < m->end) {
		const uint64_t next = own ? next_touched(k->in, at, m->end) : at;

		add_zeros(k, at, next);
		left = (m->end - next) / PAGE;
		left = left < BATCH ? left : BATCH;
		add_batch(k, next, (size_t)left);
		at = next + left * PAGE;
	}
}

static int make(struct maker *k, const struct procmaps *maps, struct err *err)
{
	begin_event(k);
	for (size_t i = 0; i < maps->n; i++)
		if (maps->at[i].prot & PROT_WRITE)
			add_mapping(k, &maps->at[i]);
	end_event(k);
	return k->b->failed ? err_sys(err, ENOMEM, "cannot record the sums of memory") : 0;
}

int memsum_make(struct buf *b, pid_t tid, struct err *err)
{
	static struct reader in;
	struct maker k = { .b = b, .in = &in, .tid = (uint32_t)tid };
	struct procmaps maps;
	struct err gone = { 0 };
	int r = reader_open(&in, tid);

	if (r == -ENOENT || r == -ESRCH)
		return r;
	if (r)
		return err_sys(err, -r, "cannot read the memory of process %d", (int)tid);
	r = procmaps_read(&maps, tid, &gone);
	if (!r) {
		r = make(&k, &maps, err);
		procmaps_release(&maps);
	}
	reader_close(&in);
	return r;
}

/* ---- compared -------------------------------------------------------------- */

int memsum_next(const struct rr_head *h, size_t *at, const struct rr_sums **sums,
		const char **name, const uint32_t **sum)
{
	const char *data = (const char *)h;
	const struct rr_sums *s;
	size_t left, need;

	if (!*at)
		*at = sizeof(*h);
	if (*at == h->bytes)
		return 0;
	left = h->bytes - *at;
	if (left < sizeof(*s))
		return -EBADMSG;
	s = (const void *)(data + *at);
	need = sizeof(*s) + ((s->name_bytes + 7u) & ~7u);
	*sums = s;
	*name = data + *at + sizeof(*s);
	*sum = (const void *)(data + *at + need);
	if (!(s->flags & RR_SUMS_ZEROS))
		need += ((size_t)s->pages * sizeof(**sum) + 7) & ~(size_t)7;
	if (need > left || s->start % PAGE || s->pages > ~s->start / PAGE)
		return -EBADMSG;
	*at += need;
	return 1;
}

static bool all_zeros(const unsigned char *page)
{
	return !page[0] && !memcmp(page, page + 1, PAGE - 1);
}

/* The first of @n pages, BATCH at most, that is not zeros; @n: none is. */
static size_t first_written(struct reader *in, uint64_t start, size_t n)
{
	read_entries(in, start, n);
	for (size_t i = 0; i < n; i++)
		if (in->entry[i] & IN_MEMORY &&
		    (pread(in->mem, in->page, PAGE, (off_t)(start + i * PAGE)) != (ssize_t)PAGE ||
		     !all_zeros(in->page)))
			return i;
	return n;
}

static size_t first_other(struct reader *in, uint64_t start, size_t n, const uint32_t *sum)
{
	uint32_t is[BATCH];

	read_sums(in, start, n, is);
	for (size_t i = 0; i < n; i++)
		if (is[i] != sum[i])
			return i;
	return n;
}

/* Whether all pages are as @s says; *page: the first that is not. */
static bool same(struct reader *in, const struct rr_sums *s, const uint32_t *sum, uint64_t *page)
{
	const bool zeros = s->flags & RR_SUMS_ZEROS;
	const uint64_t end = s->start + s->pages * PAGE;
	uint64_t at = zeros ? next_touched(in, s->start, end) : s->start;

	while (at < end) {
		const uint64_t left = (end - at) / PAGE;
		const size_t n = left < BATCH ? (size_t)left : BATCH;
		const size_t other = zeros ? first_written(in, at, n) :
				     first_other(in, at, n, sum + (at - s->start) / PAGE);

		if (other != n) {
			*page = at + other * PAGE;
			return false;
		}
		at += n * PAGE;
		at = zeros && at < end ? next_touched(in, at, end) : at;
	}
	return true;
}

int memsum_compare(const struct rr_head *h, pid_t pid, struct memsum_diff *d)
{
	static struct reader in;
	const struct rr_sums *s;
	const uint32_t *sum;
	const char *name;
	size_t at = 0;
	int r = reader_open(&in, pid);

	*d = (struct memsum_diff){ 0 };
	if (r)
		return r;
	while ((r = memsum_next(h, &at, &s, &name, &sum)) > 0) {
		if (s->flags & RR_SUMS_NAME)
			snprintf(d->name, sizeof(d->name), "%.*s", (int)s->name_bytes, name);
		if (!same(&in, s, sum, &d->page))
			break;
	}
	reader_close(&in);
	return r;
}
