/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. The child is asked twice for a new stack: once to unwind it into
 * addresses, once to name, in one batch, those addresses that no earlier stack
 * had. Whole stacks are known by a hash of 128 bits over registers and bytes,
 * names by (space, generation of its mappings, address).
 */
#include "sym/sym.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "sym/symclient.h"

#define NOBODY 65534
#define NAMES_KEPT ((size_t)1 << 20)
#define STACKS_KEPT ((size_t)1 << 16)

struct name_key {
	uint32_t space, gen;
	uint64_t addr;
	uint32_t kind, zero;
};

struct name_entry {
	struct sym_name name;	/* .symbol NULL: has none */
};

struct stack_key {
	uint64_t h[2];
};

struct stack_entry {
	struct symp_ip *ip;
	uint32_t n;
};

struct sym *sym_new(const struct sym_opts *opts, struct err *err)
{
	struct sym *s = calloc(1, sizeof(*s));
	char path[4096];

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
	s->names = map_new(sizeof(struct name_key), sizeof(struct name_entry));
	s->stacks = map_new(sizeof(struct stack_key), sizeof(struct stack_entry));
	s->out.max = SYMP_BYTES_MAX + sizeof(struct symp_head);
	if (s->libexec_dir && s->strings && s->spaces && s->file_ids && s->names && s->stacks)
		return s;
fail:
	err_sys(err, ENOMEM, "cannot make a symbol table");
	sym_free(s);
	return NULL;
}

static void forget_stacks(struct sym *s)
{
	size_t it = 0;
	const void *key;
	void *value;

	while (s->stacks && map_next(s->stacks, &it, &key, &value))
		free(((struct stack_entry *)value)->ip);
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
	forget_stacks(s);
	for (size_t i = 0; i < s->nfile; i++) {
		if (s->file[i].fd >= 0)
			close(s->file[i].fd);
	}
	free(s->file);
	map_free(s->spaces);
	map_free(s->file_ids);
	map_free(s->names);
	map_free(s->stacks);
	symintern_free(s->strings);
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

static const char *module_of(const struct symspace *sp, uint32_t file, uint64_t addr)
{
	const struct symspace_map *m = symsnap_find(sp, addr);

	if (m && m->path && (!file || m->file == file))
		return m->path;
	for (size_t i = 0; file && i < sp->n; i++) {
		if (sp->map[i].file == file)
			return sp->map[i].path;
	}
	return NULL;
}

static int keep_name(struct sym *s, const struct symspace *sp, const struct symp_addr *a,
		     const struct symp_name *n, const char *symbol, const char *source)
{
	struct name_key key = { .space = sp->space, .gen = sp->gen, .addr = a->addr,
				.kind = a->kind };
	struct name_entry *e;

	if (map_count(s->names) >= NAMES_KEPT)
		map_clear(s->names);
	e = map_put(s->names, &key);
	if (!e)
		return -ENOMEM;
	e->name = (struct sym_name){ .offset = n->offset };
	if (n->symbol_bytes)
		e->name.symbol = symintern_add(s->strings, symbol, n->symbol_bytes);
	if (n->source_bytes) {
		e->name.file = symintern_add(s->strings, source, n->source_bytes);
		e->name.line = n->line;
	}
	e->name.module = module_of(sp, n->file, a->addr);
	return 0;
}

static const struct sym_name *known_name(const struct sym *s, const struct symspace *sp,
					 uint64_t addr, uint32_t kind)
{
	struct name_key key = { .space = sp->space, .gen = sp->gen, .addr = addr, .kind = kind };
	const struct name_entry *e = map_get(s->names, &key);

	return e ? &e->name : NULL;
}

/* Asks for all of a[0..n); a bad answer is the child's end. */
static int ask_names(struct sym *s, struct symspace *sp, const struct symp_addr *a, uint32_t n)
{
	uint32_t head[2] = { sp->space, n };
	struct sym_request r = {
		.type = SYMP_NAME, .answer = SYMP_NAMES,
		.part = { head, a }, .bytes = { sizeof(head), n * sizeof(*a) },
	};
	struct symp_names w;
	struct symp_msg m;
	int rc = sym_ask(s, sp, &r, &m);

	if (rc)
		return rc;
	if (symp_names_begin(&m, &w) || w.n != n)
		goto bad;
	for (uint32_t i = 0; i < n; i++) {
		const char *symbol, *source;
		struct symp_name name;

		if (symp_names_next(&w, &name, &symbol, &source))
			goto bad;
		if (keep_name(s, sp, &a[i], &name, symbol, source))
			return -ENOMEM;
	}
	return 0;
bad:
	sym_bad_answer(s, sp);
	return -EIO;
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
		     const void *stack, size_t bytes, int max, struct stack_entry *out)
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
		      const void *stack, size_t bytes, int max, struct stack_entry *out)
{
	struct stack_key key = stack_hash(sp, regs, stack, bytes, max);
	struct stack_entry *e = map_get(s->stacks, &key), fresh;
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
		forget_stacks(s);
	e = map_put(s->stacks, &key);
	if (!e) {
		free(fresh.ip);
		return -ENOMEM;
	}
	*out = *e = fresh;
	return 0;
}

static int name_frames(struct sym *s, struct symspace *sp, const struct stack_entry *st)
{
	struct symp_addr want[SYM_FRAMES];
	uint32_t n = 0;

	/* So that asking for the last does not drop the first from the cache. */
	if (map_count(s->names) + st->n >= NAMES_KEPT)
		map_clear(s->names);
	for (uint32_t i = 0; i < st->n; i++) {
		uint32_t j = 0;

		if (!symsnap_find(sp, st->ip[i].ip))
			sp->missed = true;
		if (known_name(s, sp, st->ip[i].ip, st->ip[i].kind))
			continue;
		while (j < n && (want[j].addr != st->ip[i].ip || want[j].kind != st->ip[i].kind))
			j++;
		if (j == n)
			want[n++] = (struct symp_addr){ .addr = st->ip[i].ip,
							.kind = st->ip[i].kind };
	}
	return n ? ask_names(s, sp, want, n) : 0;
}

static void fill_frames(const struct sym *s, const struct symspace *sp,
			const struct stack_entry *st, struct sym_frame *out)
{
	for (uint32_t i = 0; i < st->n; i++) {
		const struct sym_name *n = known_name(s, sp, st->ip[i].ip, st->ip[i].kind);

		out[i] = (struct sym_frame){ .ip = st->ip[i].ip };
		if (!n)
			continue;
		out[i].symbol = n->symbol;
		out[i].offset = n->offset;
		out[i].module = n->module;
		out[i].file = n->file;
		out[i].line = n->line;
	}
}

int sym_unwind(struct sym *s, uint32_t space, const struct sym_regs *regs, const void *stack,
	       size_t stack_bytes, struct sym_frame *out, int max)
{
	struct symspace *sp = map_get(s->spaces, &space);
	struct stack_entry st;
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
	if (name_frames(s, sp, &st))
		s->stats.failed++;
	s->stats.stacks++;
	fill_frames(s, sp, &st, out);
	return (int)st.n;
}

static int name_one(struct sym *s, uint32_t space, uint64_t addr, enum symp_kind kind,
		    struct sym_name *out)
{
	struct symspace *sp = map_get(s->spaces, &space);
	struct symp_addr a = { .addr = addr, .kind = kind };
	const struct sym_name *n;

	if (!sp)
		return -ENOENT;
	n = known_name(s, sp, addr, kind);
	if (!n) {
		int rc = ask_names(s, sp, &a, 1);

		if (rc) {
			s->stats.failed++;
			return rc;
		}
		n = known_name(s, sp, addr, kind);
	}
	if (!n || !n->symbol)
		return -ENOENT;
	*out = *n;
	return 0;
}

int sym_code(struct sym *s, uint32_t space, uint64_t addr, struct sym_name *out)
{
	return name_one(s, space, addr, SYMP_CODE, out);
}

int sym_data(struct sym *s, uint32_t space, uint64_t addr, struct sym_name *out)
{
	return name_one(s, space, addr, SYMP_DATA, out);
}

int sym_name_format(const struct sym_name *n, char *buf, size_t bytes)
{
	if (!n->offset)
		return snprintf(buf, bytes, "%s", n->symbol);
	return snprintf(buf, bytes, "%s+0x%llx", n->symbol, (unsigned long long)n->offset);
}

void sym_forget(struct sym *s, uint32_t space);
void sym_forget(struct sym *s, uint32_t space) { (void)s; (void)space; }
