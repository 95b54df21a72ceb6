/* SPDX-License-Identifier: MIT */
/* Sampled stacks unwound into sites, and locks named by their symbols. */
#include <stdlib.h>
#include <string.h>

#include "collect/live_state.h"

#define SITE_FRAMES 32

static char *copy(const char *s)
{
	return s ? strdup(s) : NULL;
}

static void name_lock(struct live *l, struct sum_lock *lock, const struct live_futex_key *key)
{
	struct sym_name name;
	char text[512];

	int rc;

	if (lock->symbol)
		return;
	rc = sym_data(l->sym, key->space, key->addr, &name);
	if (name.module && (!rc || !lock->module)) {
		free(lock->module);
		lock->module = copy(name.module);
		lock->module_offset = name.module_offset;
	}
	if (rc)
		return;
	sym_name_format(&name, text, sizeof(text));
	lock->symbol = copy(text);
}

static struct sym_regs sym_regs_of(const struct live_regs *r)
{
	return (struct sym_regs){
		.ax = r->ax, .dx = r->dx, .cx = r->cx, .bx = r->bx, .si = r->si, .di = r->di,
		.bp = r->bp, .sp = r->sp, .r8 = r->r8, .r9 = r->r9, .r10 = r->r10,
		.r11 = r->r11, .r12 = r->r12, .r13 = r->r13, .r14 = r->r14, .r15 = r->r15,
		.ip = r->ip,
	};
}

static int by_space(const void *a, const void *b)
{
	const struct sym_sample *x = a, *y = b;

	return x->space < y->space ? -1 : x->space > y->space;
}

void live_sites_prepare(struct live *l)
{
	struct sym_sample *sample = calloc(l->nsample + 1, sizeof(*sample));
	struct sym_regs *regs = calloc(l->nsample + 1, sizeof(*regs));
	size_t i;

	for (i = 0; sample && regs && i < l->nsample; i++) {
		const struct live_sample *s = &l->sample[i];

		regs[i] = sym_regs_of(&s->regs);
		sample[i] = (struct sym_sample){
			.space = s->space, .max = SITE_FRAMES, .regs = &regs[i],
			.stack = s->stack, .stack_bytes = s->bytes,
		};
	}
	/* Without memory for it they are unwound one by one. */
	if (sample && regs && l->nsample) {
		qsort(sample, l->nsample, sizeof(*sample), by_space);
		sym_prepare(l->sym, sample, l->nsample);
	}
	free(sample);
	free(regs);
}

static int unwind(struct live *l, const struct live_sample *s, struct sym_frame *out)
{
	struct sym_regs regs = sym_regs_of(&s->regs);

	return sym_unwind(l->sym, s->space, &regs, s->stack, s->bytes, out, SITE_FRAMES);
}

static bool same_site(const struct sum_site *site, const struct sym_frame *f, size_t n)
{
	size_t i;

	if (site->nframe != n)
		return false;
	for (i = 0; i < n; i++)
		if (site->frame[i].ip != f[i].ip)
			return false;
	return true;
}

static struct sum_frame *copy_frames(const struct sym_frame *f, size_t n)
{
	struct sum_frame *to = calloc(n, sizeof(*to));
	size_t i;

	for (i = 0; to && i < n; i++)
		to[i] = (struct sum_frame){
			.ip = f[i].ip,
			.symbol = copy(f[i].symbol),
			.module = copy(f[i].module),
			.file = copy(f[i].file),
			.line = f[i].line,
			.offset = f[i].offset,
			.module_offset = f[i].module_offset,
			.inlined = f[i].inlined,
			.kernel = f[i].kernel,
		};
	return to;
}

static struct sum_site *site_new(struct sum_lock *lock, const struct sym_frame *f, size_t n)
{
	struct sum_site *site = realloc(lock->site, (lock->nsite + 1) * sizeof(*site));

	if (!site)
		return NULL;
	lock->site = site;
	site += lock->nsite;
	memset(site, 0, sizeof(*site));
	site->frame = copy_frames(f, n);
	if (!site->frame)
		return NULL;
	lock->nsite++;
	site->nframe = n;
	return site;
}

/* Only a sample that was taken at the beginning of a wait has the kernel's frames. */
static void add_kernel(struct live *l, struct sum_site *site, const struct live_sample *s)
{
	struct sym_frame frames[LIVE_KERNEL_FRAMES];
	int n = site->nkernel ? 0 : sym_kernel(l->sym, s->kernel, s->nkernel, frames);

	if (n < 1)
		return;
	site->kernel = copy_frames(frames, (size_t)n);
	site->nkernel = site->kernel ? (size_t)n : 0;
}

void live_site_add(struct live *l, struct sum_lock *lock, const struct live_sample *s)
{
	struct sym_frame frames[SITE_FRAMES];
	int n = unwind(l, s, frames);
	size_t i;

	if (n < 1) {
		l->stacks_lost++;
		return;
	}
	for (i = 0; i < lock->nsite; i++)
		if (same_site(&lock->site[i], frames, (size_t)n))
			break;
	if (i == lock->nsite && !site_new(lock, frames, (size_t)n)) {
		l->stacks_lost++;
		return;
	}
	lock->site[i].samples++;
	lock->site[i].wait_ns += s->wait_ns;
	add_kernel(l, &lock->site[i], s);
}

static int by_samples(const void *a, const void *b)
{
	const struct sum_site *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples < y->samples ? 1 : -1;
	return x->wait_ns < y->wait_ns ? 1 : x->wait_ns > y->wait_ns ? -1 : 0;
}

void live_sites_end(struct sum_lock *lock)
{
	uint64_t all = 0;
	size_t i;

	for (i = 0; i < lock->nsite; i++)
		all += lock->site[i].samples;
	for (i = 0; i < lock->nsite; i++)
		lock->site[i].waits = lock->waits * lock->site[i].samples / all;
	if (lock->nsite)
		qsort(lock->site, lock->nsite, sizeof(*lock->site), by_samples);
}

void live_fill_sites(struct live *l, struct sum_lock *lock, const struct live_futex_key *keys,
		     size_t nkeys)
{
	size_t i, j;

	for (i = 0; i < nkeys; i++) {
		const struct live_reservoir *r = map_get(l->reservoirs, &keys[i]);

		if (lock->waits || lock->wakes > 100)
			name_lock(l, lock, &keys[i]);
		for (j = 0; r && j < r->kept; j++)
			live_site_add(l, lock, &l->sample[r->slot[j]]);
	}
	live_sites_end(lock);
}
