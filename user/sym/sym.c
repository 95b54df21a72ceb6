/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. The child is asked twice for a new stack: once to unwind it into
 * addresses, once to name, in one batch, those addresses that no earlier stack
 * had. Whole stacks are known by a hash of 128 bits over registers and bytes;
 * names are symlook.c's.
 */
#include "sym/sym.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "sym/symclient.h"
#include "sym/symfetch.h"

#define NOBODY 65534
#define STACKS_KEPT ((size_t)1 << 16)

struct stack_key {
	uint64_t h[2];
};

struct sym *sym_new(const struct sym_opts *opts, struct err *err)
{
	struct sym *s = NULL;
	char path[4096];

	if (opts->debuginfod && symfetch_ready(err))
		return NULL;
	s = calloc(1, sizeof(*s));
	if (!s)
		goto fail;
	snprintf(path, sizeof(path), "%s/tracer-sym", opts->libexec_dir);
	symchild_init(&s->child);
	s->no_child = access(path, X_OK) ? errno : 0;
	s->opts = *opts;
	if (!s->opts.drop && !geteuid()) {
		s->opts.drop = true;
		s->opts.drop_uid = s->opts.drop_gid = NOBODY;
	}
	s->libexec_dir = strdup(opts->libexec_dir);
	s->opts.libexec_dir = s->libexec_dir;
	s->strings = symintern_new();
	s->spaces = map_new(sizeof(uint32_t), sizeof(struct symspace));
	s->file_ids = map_new(2 * sizeof(uint64_t), sizeof(uint32_t));
	s->names = symlook_new();
	s->stacks = map_new(sizeof(struct stack_key), sizeof(struct symstack));
	s->out.max = SYMP_BYTES_MAX + sizeof(struct symp_head);
	if (s->libexec_dir && s->strings && s->spaces && s->file_ids && s->names && s->stacks)
		return s;
fail:
	err_sys(err, ENOMEM, "cannot make a symbol table");
	sym_free(s);
	return NULL;
}

void sym_forget_stacks(struct sym *s)
{
	size_t it = 0;
	const void *key;
	void *value;

	while (s->stacks && map_next(s->stacks, &it, &key, &value))
		free(((struct symstack *)value)->ip);
	if (s->stacks)
		map_clear(s->stacks);
}

void sym_free(struct sym *s)
{
	size_t it = 0;
	const void *key;
	void *value;

	if (!s)
		return;
	symchild_stop(&s->child);
	while (s->spaces && map_next(s->spaces, &it, &key, &value))
		free(((struct symspace *)value)->map);
	sym_forget_stacks(s);
	for (uint32_t id = 1; id <= s->nfile; id++)
		symfile_close(&s->file[id - 1]);
	free(s->file);
	map_free(s->spaces);
	map_free(s->file_ids);
	symlook_free(s);
	map_free(s->stacks);
	symintern_free(s->strings);
	symkernel_free(s->kernel);
	buf_release(&s->out);
	free(s->libexec_dir);
	free(s);
}

int sym_trouble(const struct sym *s, struct err *why)
{
	if (s->no_child)
		return err_sys(why, s->no_child, "addresses stay without names and stacks are not "
			       "unwound: cannot run %s/tracer-sym", s->libexec_dir);
	if (!s->stats.failed && !s->stats.restarts)
		return 0;
	return err_set(why, EIO, "some names and stacks are missing: %s/tracer-sym ended or did "
		       "not answer in time, asked for %llu of them", s->libexec_dir,
		       (unsigned long long)s->stats.failed);
}

void sym_stats(const struct sym *s, struct sym_stats *out)
{
	*out = s->stats;
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

/* Unwinds in the child: the addresses, malloc'd. */
static int ask_stack(struct sym *s, struct symspace *sp, const struct sym_regs *regs,
		     const void *stack, size_t bytes, int max, struct symstack *out)
{
	struct symp_unwind u = { .space = sp->space, .max = (uint32_t)max, .regs = *regs,
				 .stack_bytes = (uint32_t)bytes };
	struct sym_request r = {
		.type = SYMP_UNWIND, .answer = SYMP_STACK,
		.part = { &u, stack }, .bytes = { sizeof(u), bytes },
	};
	struct symp_list l;
	struct symp_msg m;
	int rc = sym_ask(s, sp, &r, &m);

	if (rc)
		return rc;
	if (symp_stack(&m, &l) || !l.n || l.n > u.max) {
		sym_bad_answer(s, sp);
		return -EIO;
	}
	out->ip = malloc(l.n * sizeof(*out->ip));
	if (!out->ip)
		return -ENOMEM;
	out->n = l.n;
	memcpy(out->ip, l.item, l.n * sizeof(*out->ip));
	return 0;
}

static int find_stack(struct sym *s, struct symspace *sp, const struct sym_regs *regs,
		      const void *stack, size_t bytes, int max, struct symstack *out)
{
	struct stack_key key = stack_hash(sp, regs, stack, bytes, max);
	struct symstack *e = map_get(s->stacks, &key), fresh;
	int rc;

	if (e) {
		s->stats.cached++;
		*out = *e;
		return 0;
	}
	rc = ask_stack(s, sp, regs, stack, bytes, max, &fresh);
	if (rc)
		return rc;
	if (map_count(s->stacks) >= STACKS_KEPT)
		sym_forget_stacks(s);
	e = map_put(s->stacks, &key);
	if (!e) {
		free(fresh.ip);
		return -ENOMEM;
	}
	*out = *e = fresh;
	return 0;
}

int sym_unwind(struct sym *s, uint32_t space, const struct sym_regs *regs, const void *stack,
	       size_t stack_bytes, struct sym_frame *out, int max)
{
	struct symspace *sp = map_get(s->spaces, &space);
	struct symstack st;
	int rc;

	if (!sp || max < 1)
		return sp ? -EINVAL : -ENOENT;
	if (max > SYM_FRAMES)
		max = SYM_FRAMES;
	if (stack_bytes > SYM_STACK_BYTES)
		stack_bytes = SYM_STACK_BYTES;
	rc = find_stack(s, sp, regs, stack, stack_bytes, max, &st);
	if (rc) {
		s->stats.failed++;
		return rc;
	}
	/* Addresses without names are better than nothing. */
	if (symlook_ask(s, sp, &st))
		s->stats.failed++;
	s->stats.stacks++;
	return symlook_frames(s, sp, &st, out, max);
}

int sym_name_format(const struct sym_name *n, char *buf, size_t bytes)
{
	if (!n->offset)
		return snprintf(buf, bytes, "%s", n->symbol);
	return snprintf(buf, bytes, "%s+0x%llx", n->symbol, (unsigned long long)n->offset);
}
