/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. Names are kept by (space, generation of its mappings, address). Each is
 * asked for once, up to SYMP_NAMES_MAX in a batch; a second time where the answer
 * says that a file lacks symbols and its debug file is then found.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sym/symclient.h"

#define NAMES_KEPT ((size_t)1 << 20)

struct name_key {
	uint32_t space, gen;
	uint64_t addr;
	uint32_t kind, zero;
};

struct inlined {
	const char *symbol, *file;
	uint32_t line;
};

struct name_entry {
	struct sym_name name;	/* .symbol NULL: has none */
	struct inlined *in;	/* innermost first */
	uint32_t nin;
};

struct map *symlook_new(void)
{
	return map_new(sizeof(struct name_key), sizeof(struct name_entry));
}

void symlook_forget(struct sym *s)
{
	size_t it = 0;
	const void *key;
	void *value;

	while (s->names && map_next(s->names, &it, &key, &value))
		free(((struct name_entry *)value)->in);
	if (s->names)
		map_clear(s->names);
}

void symlook_free(struct sym *s)
{
	symlook_forget(s);
	map_free(s->names);
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

static const char *keep(struct sym *s, const char *text, size_t bytes)
{
	return bytes ? symintern_add(s->strings, text, bytes) : NULL;
}

static const struct name_entry *known(const struct sym *s, const struct symspace *sp,
				      uint64_t addr, uint32_t kind)
{
	struct name_key key = { .space = sp->space, .gen = sp->gen, .addr = addr, .kind = kind };

	return map_get(s->names, &key);
}

/* The entry of @a, without what it may have had. NULL: no memory. */
static struct name_entry *entry_of(struct sym *s, const struct symspace *sp,
				   const struct symp_addr *a)
{
	struct name_key key = { .space = sp->space, .gen = sp->gen, .addr = a->addr,
				.kind = a->kind };
	struct name_entry *e;

	if (map_count(s->names) >= NAMES_KEPT)
		symlook_forget(s);
	e = map_put(s->names, &key);
	if (!e)
		return NULL;
	free(e->in);
	*e = (struct name_entry){ .nin = 0 };
	return e;
}

/* Takes the names of one address out of the answer: 0, -EBADMSG, -ENOMEM. */
static int take_names(struct sym *s, const struct symspace *sp, const struct symp_addr *a,
		      struct symp_names *w)
{
	struct name_entry *e = entry_of(s, sp, a);
	struct inlined in[SYMP_INLINED_MAX];
	const char *symbol, *source;
	struct symp_name n;
	uint32_t nin = 0;

	if (!e)
		return -ENOMEM;
	for (;;) {
		if (symp_names_next(w, &n, &symbol, &source))
			return -EBADMSG;
		if (!n.inlined)
			break;
		in[nin++] = (struct inlined){
			.symbol = keep(s, symbol, n.symbol_bytes),
			.file = keep(s, source, n.source_bytes),
			.line = n.source_bytes ? n.line : 0,
		};
	}
	if (nin) {
		e->in = malloc(nin * sizeof(*in));
		if (!e->in)
			return -ENOMEM;
		memcpy(e->in, in, nin * sizeof(*in));
		e->nin = nin;
	}
	e->name = (struct sym_name){
		.symbol = keep(s, symbol, n.symbol_bytes),
		.module = module_of(sp, n.file, a->addr),
		.file = keep(s, source, n.source_bytes),
		.offset = n.offset,
		.module_offset = n.vaddr,
		.line = n.source_bytes ? n.line : 0,
	};
	return 0;
}

/*
 * Asks for all of a[0..n); a bad answer is the child's end. *@found: a debug file
 * was found on the way, and the answers may be better now.
 */
static int ask_once(struct sym *s, struct symspace *sp, const struct symp_addr *a, uint32_t n,
		    bool *found)
{
	uint32_t head[2] = { sp->space, n };
	struct sym_request r = {
		.type = SYMP_NAME, .answer = SYMP_NAMES,
		.part = { head, a }, .bytes = { sizeof(head), n * sizeof(*a) },
	};
	struct symp_names w;
	struct symp_msg m;
	int rc = sym_ask(s, sp, &r, &m);

	*found = false;
	if (rc)
		return rc;
	if (symp_names_begin(&m, &w) || w.n != n)
		goto bad;
	for (uint32_t i = 0; i < n; i++) {
		rc = take_names(s, sp, &a[i], &w);
		if (rc == -ENOMEM)
			return rc;
		if (rc)
			goto bad;
	}
	rc = symseek_lacks(s, sp, &w);
	if (rc < 0)
		goto bad;
	*found = rc > 0;
	return 0;
bad:
	sym_bad_answer(s, sp);
	return -EIO;
}

static int ask(struct sym *s, struct symspace *sp, const struct symp_addr *a, uint32_t n)
{
	bool found;
	int rc = ask_once(s, sp, a, n, &found);

	/* Not more than once: a debug file has no further one. */
	return rc || !found ? rc : ask_once(s, sp, a, n, &found);
}

struct symlook_many {
	struct sym *s;
	struct symspace *sp;
	struct symp_addr want[SYMP_NAMES_MAX];
	uint32_t n;
	struct map *wanted;	/* struct symp_addr, those of .want; NULL: few, .want is searched */
};

static bool is_wanted(const struct symlook_many *m, const struct symp_addr *a)
{
	if (m->wanted)
		return map_get(m->wanted, a);
	for (uint32_t i = 0; i < m->n; i++) {
		if (m->want[i].addr == a->addr && m->want[i].kind == a->kind)
			return true;
	}
	return false;
}

static int ask_wanted(struct symlook_many *m)
{
	int rc;

	if (!m->n)
		return 0;
	/* So that asking for the last does not drop the first from the cache. */
	if (map_count(m->s->names) + m->n >= NAMES_KEPT)
		symlook_forget(m->s);
	rc = ask(m->s, m->sp, m->want, m->n);
	m->n = 0;
	if (m->wanted)
		map_clear(m->wanted);
	return rc;
}

int symlook_many_add(struct symlook_many *m, const struct symstack *st)
{
	for (uint32_t i = 0; i < st->n; i++) {
		struct symp_addr a = { .addr = st->ip[i].ip, .kind = st->ip[i].kind };

		if (!symsnap_find(m->sp, a.addr))
			m->sp->missed = true;
		if (known(m->s, m->sp, a.addr, a.kind) || is_wanted(m, &a))
			continue;
		if (m->n == SYMP_NAMES_MAX) {
			int rc = ask_wanted(m);

			if (rc)
				return rc;
		}
		if (m->wanted && !map_put(m->wanted, &a))
			return -ENOMEM;
		m->want[m->n++] = a;
	}
	return 0;
}

struct symlook_many *symlook_many_new(struct sym *s, struct symspace *sp)
{
	struct symlook_many *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->s = s;
	m->sp = sp;
	m->wanted = map_new(sizeof(struct symp_addr), 1);
	if (!m->wanted) {
		free(m);
		return NULL;
	}
	return m;
}

int symlook_many_end(struct symlook_many *m, int rc)
{
	if (!m)
		return rc;
	if (!rc)
		rc = ask_wanted(m);
	map_free(m->wanted);
	free(m);
	return rc;
}

int symlook_ask(struct sym *s, struct symspace *sp, const struct symstack *st)
{
	struct symlook_many few = { .s = s, .sp = sp, .wanted = NULL };
	int rc;

	/* So that asking for the last does not drop the first from the cache. */
	if (map_count(s->names) + st->n >= NAMES_KEPT)
		symlook_forget(s);
	rc = symlook_many_add(&few, st);
	return rc ? rc : ask_wanted(&few);
}

int symlook_frames(const struct sym *s, const struct symspace *sp, const struct symstack *st,
		   struct sym_frame *out, int max)
{
	int n = 0;

	for (uint32_t i = 0; i < st->n && n < max; i++) {
		const struct name_entry *e = known(s, sp, st->ip[i].ip, st->ip[i].kind);
		struct sym_frame f = { .ip = st->ip[i].ip };

		if (!e) {
			out[n++] = f;
			continue;
		}
		f.module = e->name.module;
		f.module_offset = e->name.module_offset;
		for (uint32_t j = 0; j < e->nin && n < max; j++) {
			f.symbol = e->in[j].symbol;
			f.file = e->in[j].file;
			f.line = e->in[j].line;
			f.inlined = true;
			out[n++] = f;
		}
		if (n == max)
			break;
		f.symbol = e->name.symbol;
		f.offset = e->name.offset;
		f.file = e->name.file;
		f.line = e->name.line;
		f.inlined = false;
		out[n++] = f;
	}
	return n;
}

static int name_one(struct sym *s, uint32_t space, uint64_t addr, enum symp_kind kind,
		    struct sym_name *out)
{
	struct symspace *sp = map_get(s->spaces, &space);
	struct symp_addr a = { .addr = addr, .kind = kind };
	const struct name_entry *e;

	*out = (struct sym_name){ 0 };
	if (!sp)
		return -ENOENT;
	e = known(s, sp, addr, kind);
	if (!e) {
		int rc = ask(s, sp, &a, 1);

		if (rc) {
			s->stats.failed++;
			return rc;
		}
		e = known(s, sp, addr, kind);
	}
	if (!e)
		return -ENOENT;
	*out = e->name;
	return out->symbol ? 0 : -ENOENT;
}

int sym_code(struct sym *s, uint32_t space, uint64_t addr, struct sym_name *out)
{
	return name_one(s, space, addr, SYMP_CODE, out);
}

int sym_data(struct sym *s, uint32_t space, uint64_t addr, struct sym_name *out)
{
	return name_one(s, space, addr, SYMP_DATA, out);
}

/* Of BPF and its way in: the programs that took the sample. */
static bool is_tracing(const struct symkernel_name *n)
{
	static const char *const begins[] = { "bpf_", "__bpf_", "__traceiter_", "trace_call_bpf" };

	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++) {
		if (!strncmp(n->symbol, begins[i], strlen(begins[i])))
			return true;
	}
	return !strcmp(n->module, "[bpf]");
}

int sym_kernel(struct sym *s, const uint64_t *ip, size_t n, struct sym_frame *out)
{
	struct symkernel_name name;
	int count = 0;

	if (n && !s->kernel_read) {
		s->kernel = symkernel_read();
		s->kernel_read = true;
	}
	if (!s->kernel)
		return 0;
	for (size_t i = 0; i < n; i++) {
		struct sym_frame f = { .kernel = true, .module = "[kernel]" };

		if (symkernel_find(s->kernel, ip[i], &name)) {
			if (is_tracing(&name)) {
				count = 0;
				continue;
			}
			f.symbol = name.symbol;
			f.module = name.module;
			f.offset = name.offset;
		}
		out[count++] = f;
	}
	return count;
}
