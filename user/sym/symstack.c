/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. The child is asked twice for a new stack: once to unwind it into
 * addresses, once to name, in one batch, those addresses that no earlier stack
 * had. Whole stacks are known by a hash of 128 bits over registers and bytes;
 * names are symlook.c's. Most of the time of one stack goes into waking the child
 * and being woken by it, so that many are asked for in bunches where they are known
 * beforehand.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sym/symclient.h"

#define STACKS_KEPT ((size_t)1 << 16)

struct stack_key {
	uint64_t h[2];
};

struct map *symstack_new(void)
{
	return map_new(sizeof(struct stack_key), sizeof(struct symstack));
}

void symstack_forget(struct sym *s)
{
	size_t it = 0;
	const void *key;
	void *value;

	while (s->stacks && map_next(s->stacks, &it, &key, &value))
		free(((struct symstack *)value)->ip);
	if (s->stacks)
		map_clear(s->stacks);
}

static uint64_t mix(uint64_t h, uint64_t w)
{
	__uint128_t p = (__uint128_t)(h ^ w) * 0x9e3779b97f4a7c15u;

	return (uint64_t)p ^ (uint64_t)(p >> 64);
}

static struct stack_key stack_hash(const struct symspace *sp, const struct sym_regs *regs,
				   const void *stack, size_t bytes, int max)
{
	struct stack_key k = { { mix(sp->space, sp->gen), mix(bytes, (uint64_t)max) } };
	uint64_t w[SYM_REGS], tail = 0;
	size_t i;

	memcpy(w, regs, sizeof(w));
	for (i = 0; i < SYM_REGS; i++) {
		k.h[0] = mix(k.h[0] + 1, w[i]);
		k.h[1] = mix(k.h[1] + 3, ~w[i]);
	}
	for (i = 0; i + 8 <= bytes; i += 8) {
		memcpy(w, (const char *)stack + i, 8);
		k.h[0] = mix(k.h[0] + 1, w[0]);
		k.h[1] = mix(k.h[1] + 3, ~w[0]);
	}
	if (i < bytes)	/* without a copied stack there is nothing to add */
		memcpy(&tail, (const char *)stack + i, bytes - i);
	k.h[0] = mix(k.h[0], tail);
	k.h[1] = mix(k.h[1], ~tail);
	return k;
}

/* Stacks to be asked for, all of one space. */
struct bunch {
	struct sym *s;
	struct symspace *sp;
	size_t n, bytes;
	struct stack_key key[SYM_BUNCH];
	struct symp_unwind u[SYM_BUNCH];
	struct sym_request r[SYM_BUNCH];
};

static void bunch_add(struct bunch *b, const struct stack_key *key, const struct sym_sample *e)
{
	size_t i = b->n++;

	b->key[i] = *key;
	b->u[i] = (struct symp_unwind){
		.space = b->sp->space, .max = (uint32_t)e->max, .regs = *e->regs,
		.stack_bytes = (uint32_t)e->stack_bytes,
	};
	b->r[i] = (struct sym_request){
		.type = SYMP_UNWIND, .answer = SYMP_STACK, .part = { &b->u[i], e->stack },
		.bytes = { sizeof(b->u[i]), e->stack_bytes },
	};
	b->bytes += sizeof(struct symp_head) + sizeof(b->u[i]) + e->stack_bytes;
}

static int keep_stack(void *ctx, size_t i, const struct symp_msg *m)
{
	struct bunch *b = ctx;
	struct symstack *st, fresh;
	struct symp_list l;

	if (symp_stack(m, &l) || !l.n || l.n > b->u[i].max)
		return -EBADMSG;
	fresh.n = l.n;
	fresh.ip = malloc(l.n * sizeof(*fresh.ip));
	if (!fresh.ip)
		return -ENOMEM;
	memcpy(fresh.ip, l.item, l.n * sizeof(*fresh.ip));
	if (map_count(b->s->stacks) >= STACKS_KEPT)
		symstack_forget(b->s);
	st = map_put(b->s->stacks, &b->key[i]);
	if (!st) {
		free(fresh.ip);
		return -ENOMEM;
	}
	free(st->ip);	/* the same stack twice in a bunch */
	*st = fresh;
	return 0;
}

static int bunch_ask(struct bunch *b)
{
	int rc = b->n ? sym_ask_all(b->s, b->sp, b->r, b->n, keep_stack, b) : 0;

	b->n = b->bytes = 0;
	return rc;
}

/* As the caller has it, within what can be asked for. */
static struct sym_sample bounded(const struct sym_sample *e)
{
	struct sym_sample x = *e;

	if (x.max > SYM_FRAMES)
		x.max = SYM_FRAMES;
	if (x.stack_bytes > SYM_STACK_BYTES)
		x.stack_bytes = SYM_STACK_BYTES;
	return x;
}

int sym_unwind(struct sym *s, uint32_t space, const struct sym_regs *regs, const void *stack,
	       size_t stack_bytes, struct sym_frame *out, int max)
{
	const struct sym_sample asked = { .space = space, .regs = regs, .stack = stack,
					  .stack_bytes = stack_bytes, .max = max };
	struct bunch b = { .s = s, .sp = map_get(s->spaces, &space) };
	struct sym_sample e = bounded(&asked);
	const struct symstack *st;
	struct stack_key key;
	int rc;

	if (!b.sp || max < 1)
		return b.sp ? -EINVAL : -ENOENT;
	key = stack_hash(b.sp, regs, stack, e.stack_bytes, e.max);
	st = map_get(s->stacks, &key);
	if (st) {
		s->stats.cached++;
	} else {
		bunch_add(&b, &key, &e);
		rc = bunch_ask(&b);
		st = rc ? NULL : map_get(s->stacks, &key);
		if (!st) {
			s->stats.failed++;
			return rc ? rc : -ENOMEM;
		}
	}
	/* Addresses without names are better than nothing. */
	if (symlook_ask(s, b.sp, st))
		s->stats.failed++;
	s->stats.stacks++;
	return symlook_frames(s, b.sp, st, out, e.max);
}

/* Unwinds those of e[0..n), all of one space, that are not known. 0, or why not all. */
static int unwind_all(struct bunch *b, const struct sym_sample *e, size_t n)
{
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++) {
		struct sym_sample x = bounded(&e[i]);
		struct stack_key key;

		if (x.max < 1)
			continue;
		key = stack_hash(b->sp, x.regs, x.stack, x.stack_bytes, x.max);
		if (map_get(b->s->stacks, &key))
			continue;
		if (b->n == SYM_BUNCH || (b->n && b->bytes + x.stack_bytes > SYM_BUNCH_BYTES))
			rc = bunch_ask(b);
		if (!rc)
			bunch_add(b, &key, &x);
	}
	return rc ? rc : bunch_ask(b);
}

static int name_all(struct bunch *b, const struct sym_sample *e, size_t n)
{
	struct symlook_many *many = symlook_many_new(b->s, b->sp);
	int rc = many ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !rc; i++) {
		struct sym_sample x = bounded(&e[i]);
		struct stack_key key;
		const struct symstack *st;

		if (x.max < 1)
			continue;
		key = stack_hash(b->sp, x.regs, x.stack, x.stack_bytes, x.max);
		st = map_get(b->s->stacks, &key);
		if (st)
			rc = symlook_many_add(many, st);
	}
	return symlook_many_end(many, rc);
}

void sym_prepare(struct sym *s, const struct sym_sample *e, size_t n)
{
	for (size_t i = 0, m; i < n; i += m) {
		struct bunch b = { .s = s, .sp = map_get(s->spaces, &e[i].space) };

		for (m = 1; i + m < n && m < STACKS_KEPT / 4 && e[i + m].space == e[i].space;)
			m++;
		if (b.sp && !unwind_all(&b, e + i, m))
			(void)name_all(&b, e + i, m);
	}
}
