/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. Types in BTF are a sequence of records whose length follows from their
 * kind; the id of one is its place. One walk over the kernel's finds those whose
 * names are wanted and notes where every 64th begins, so that the types that
 * they are made of can be reached by id without an index of all. Then the wanted
 * ones and all that is within them by value are numbered anew and written out.
 */
#include "collect/kbtf.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/btf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/map.h"

#define STEP 64
/* In the kernel's headers since 5.16, 5.17 and 6.0. */
#define KIND_DECL_TAG	17
#define KIND_TYPE_TAG	18
#define KIND_ENUM64	19

struct view {
	const char *types, *strs;
	uint32_t types_len, strs_len;
};

struct kbtf {
	void *data;
	size_t bytes;
	bool mapped;
	struct view v;
	uint32_t *step;		/* offset of type 1 + i * STEP */
	uint32_t ntypes;	/* the walk has passed; ids 1..ntypes */
};

/* ---- records ---- */

/* Bytes that follow a record, and for each of its members. */
static const struct { uint8_t known, fixed, each; } kinds[BTF_INFO_KIND(~0U) + 1] = {
	[BTF_KIND_INT] = { 1, 4, 0 },
	[BTF_KIND_PTR] = { 1, 0, 0 },
	[BTF_KIND_ARRAY] = { 1, sizeof(struct btf_array), 0 },
	[BTF_KIND_STRUCT] = { 1, 0, sizeof(struct btf_member) },
	[BTF_KIND_UNION] = { 1, 0, sizeof(struct btf_member) },
	[BTF_KIND_ENUM] = { 1, 0, sizeof(struct btf_enum) },
	[BTF_KIND_FWD] = { 1, 0, 0 },
	[BTF_KIND_TYPEDEF] = { 1, 0, 0 },
	[BTF_KIND_VOLATILE] = { 1, 0, 0 },
	[BTF_KIND_CONST] = { 1, 0, 0 },
	[BTF_KIND_RESTRICT] = { 1, 0, 0 },
	[BTF_KIND_FUNC] = { 1, 0, 0 },
	[BTF_KIND_FUNC_PROTO] = { 1, 0, sizeof(struct btf_param) },
	[BTF_KIND_VAR] = { 1, sizeof(struct btf_var), 0 },
	[BTF_KIND_DATASEC] = { 1, 0, sizeof(struct btf_var_secinfo) },
	[BTF_KIND_FLOAT] = { 1, 0, 0 },
	[KIND_DECL_TAG] = { 1, 4, 0 },
	[KIND_TYPE_TAG] = { 1, 0, 0 },
	[KIND_ENUM64] = { 1, 0, 12 },
};

/* Bytes of a record; 0: a kind that we do not know. */
static size_t type_bytes(const struct btf_type *t)
{
	uint32_t kind = BTF_INFO_KIND(t->info);

	return kinds[kind].known * (sizeof(*t) + kinds[kind].fixed +
				    (size_t)kinds[kind].each * BTF_INFO_VLEN(t->info));
}

/* The record at @off; NULL: it does not lie within. */
static const struct btf_type *type_at(const struct view *v, uint32_t off, size_t *bytes)
{
	const struct btf_type *t = (const struct btf_type *)(v->types + off);

	if (v->types_len - off < sizeof(*t))
		return NULL;
	*bytes = type_bytes(t);
	return *bytes && *bytes <= v->types_len - off ? t : NULL;
}

/* The name at @off, "" when it is out of bounds. */
static const char *name_at(const struct view *v, uint32_t off)
{
	return off < v->strs_len ? v->strs + off : "";
}

static int view_init(struct view *v, const void *data, size_t bytes)
{
	const struct btf_header *h = data;
	uint64_t body;

	if (bytes < sizeof(*h) || h->magic != BTF_MAGIC || h->version != BTF_VERSION ||
	    h->hdr_len < sizeof(*h) || h->hdr_len > bytes)
		return -EINVAL;
	body = bytes - h->hdr_len;
	if ((uint64_t)h->type_off + h->type_len > body || h->type_off % 4 ||
	    (uint64_t)h->str_off + h->str_len > body || !h->str_len)
		return -EINVAL;
	v->types = (const char *)data + h->hdr_len + h->type_off;
	v->types_len = h->type_len;
	v->strs = (const char *)data + h->hdr_len + h->str_off;
	v->strs_len = h->str_len;
	return v->strs[v->strs_len - 1] ? -EINVAL : 0;
}

/* ---- the kernel's ---- */

static int read_whole(struct kbtf *k, int fd)
{
	size_t have = 0;
	ssize_t n;

	k->data = malloc(k->bytes);
	if (!k->data)
		return -ENOMEM;
	while (have < k->bytes) {
		n = read(fd, (char *)k->data + have, k->bytes - have);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -EINVAL;
		have += (size_t)n;
	}
	return 0;
}

struct kbtf *kbtf_open(const char *path)
{
	struct kbtf *k = calloc(1, sizeof(*k));
	int fd = open(path, O_RDONLY | O_CLOEXEC), r = -errno;
	struct stat st;

	if (!k || fd < 0 || fstat(fd, &st) || st.st_size <= 0) {
		r = !k ? -ENOMEM : fd < 0 ? r : -EINVAL;
		goto out;
	}
	k->bytes = (size_t)st.st_size;
	/* The kernel's file can be mapped since 6.16. */
	k->data = mmap(NULL, k->bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	k->mapped = k->data != MAP_FAILED;
	r = k->mapped ? 0 : read_whole(k, fd);
	if (!r)
		r = view_init(&k->v, k->data, k->bytes);
out:
	if (fd >= 0)
		close(fd);
	if (!r)
		return k;
	kbtf_close(k);
	errno = -r;
	return NULL;
}

void kbtf_close(struct kbtf *k)
{
	if (!k)
		return;
	if (k->mapped)
		munmap(k->data, k->bytes);
	else if (k->data != MAP_FAILED)
		free(k->data);
	free(k->step);
	free(k);
}

static const struct btf_type *type_by_id(const struct kbtf *k, uint32_t id, size_t *bytes)
{
	const struct btf_type *t;
	uint32_t off, i;

	if (!id || id > k->ntypes)
		return NULL;
	off = k->step[(id - 1) / STEP];
	for (i = (id - 1) % STEP;; i--) {
		t = type_at(&k->v, off, bytes);
		if (!t || !i)
			return t;
		off += (uint32_t)*bytes;
	}
}

int kbtf_prototype_args(const struct kbtf *k, uint32_t id)
{
	const struct btf_type *t;
	size_t bytes;
	int hops;

	for (hops = 0; hops < 8; hops++) {
		t = type_by_id(k, id, &bytes);
		if (!t)
			break;
		if (BTF_INFO_KIND(t->info) == BTF_KIND_FUNC_PROTO)
			return (int)BTF_INFO_VLEN(t->info);
		id = t->type;
	}
	return -EINVAL;
}

/* ---- what is wanted ---- */

/* Names are told apart by 64 bits of hash: a collision adds a type that nobody asks for. */
static uint64_t name_hash(const char *s, size_t len)
{
	uint64_t h = 0xcbf29ce484222325;
	size_t i;

	for (i = 0; i < len; i++)
		h = (h ^ (unsigned char)s[i]) * 0x100000001b3;
	return h;
}

/* Length of a name without its flavour. */
static size_t plain_len(const char *name)
{
	const char *cut = strstr(name, "___");

	return cut && cut != name ? (size_t)(cut - name) : strlen(name);
}

static bool is_data(uint32_t kind)
{
	return kind == BTF_KIND_STRUCT || kind == BTF_KIND_UNION || kind == BTF_KIND_ENUM ||
	       kind == BTF_KIND_TYPEDEF || kind == KIND_ENUM64;
}

static int want_names(struct map *names, const struct view *obj)
{
	const struct btf_type *t;
	const char *name;
	uint64_t hash;
	size_t bytes;
	uint32_t off;

	for (off = 0; off < obj->types_len; off += (uint32_t)bytes) {
		t = type_at(obj, off, &bytes);
		if (!t)
			return -EINVAL;
		name = name_at(obj, t->name_off);
		if (!*name || !is_data(BTF_INFO_KIND(t->info)))
			continue;
		hash = name_hash(name, plain_len(name));
		if (!map_put(names, &hash))
			return -ENOMEM;
	}
	return 0;
}

/* ---- the small one ---- */

struct reduction {
	struct kbtf *k;
	struct map *names;	/* hash of a wanted name → nothing */
	struct map *ids;	/* id → id in the small one */
	uint32_t *queue;	/* ids, in the order of the small one's */
	size_t nqueue, cap;
	struct buf types, strs;
};

/* The small one's id of @id, which is written in its turn. 0: void, or no memory. */
static uint32_t take(struct reduction *r, uint32_t id)
{
	uint32_t *small, *more;

	if (!id)
		return 0;
	small = map_put(r->ids, &id);
	if (!small)
		r->types.failed = true;
	if (!small || *small)
		return small ? *small : 0;
	if (r->nqueue == r->cap) {
		more = realloc(r->queue, (r->cap + 1024) * sizeof(*more));
		if (!more) {
			r->types.failed = true;
			return 0;
		}
		r->queue = more;
		r->cap += 1024;
	}
	r->queue[r->nqueue++] = id;
	*small = (uint32_t)r->nqueue;
	return *small;
}

static void note_wanted(struct reduction *r, const struct btf_type *t, uint32_t id,
			struct kbtf_id *ids, size_t n)
{
	uint32_t kind = BTF_INFO_KIND(t->info);
	const char *name = name_at(&r->k->v, t->name_off);
	uint64_t hash;
	size_t i;

	for (i = 0; i < n; i++)
		if (ids[i].kind == kind && !ids[i].id && !strcmp(ids[i].name, name))
			ids[i].id = id;
	if (!is_data(kind) || !*name)
		return;
	hash = name_hash(name, strlen(name));
	if (map_get(r->names, &hash))
		take(r, id);
}

static int walk(struct reduction *r, struct kbtf_id *ids, size_t n)
{
	struct kbtf *k = r->k;
	const struct btf_type *t;
	uint32_t off, id = 0, *more;
	size_t bytes, cap = 0;

	for (off = 0; off < k->v.types_len; off += (uint32_t)bytes) {
		t = type_at(&k->v, off, &bytes);
		if (!t)
			return -EINVAL;
		if (id / STEP == cap) {
			cap = cap ? cap * 2 : 1024;
			more = realloc(k->step, cap * sizeof(*more));
			if (!more)
				return -ENOMEM;
			k->step = more;
		}
		if (id % STEP == 0)
			k->step[id / STEP] = off;
		note_wanted(r, t, ++id, ids, n);
	}
	k->ntypes = id;
	return 0;
}

static uint32_t add_name(struct reduction *r, uint32_t off)
{
	const char *name = name_at(&r->k->v, off);
	uint32_t at = (uint32_t)r->strs.len;

	if (!*name)
		return 0;
	buf_add(&r->strs, name, strlen(name) + 1);
	return at;
}

/* Copies one type; those within it are numbered and queued. */
static void write_type(struct reduction *r, const struct btf_type *from, size_t bytes)
{
	uint32_t kind = BTF_INFO_KIND(from->info), vlen = BTF_INFO_VLEN(from->info), i;
	size_t at = r->types.len, values = kind == KIND_ENUM64 ? 3 : 2;
	struct btf_member *m;
	struct btf_array *a;
	struct btf_type *t;

	if (buf_add(&r->types, from, bytes))
		return;
	t = (struct btf_type *)(r->types.data + at);
	t->name_off = add_name(r, t->name_off);
	switch (kind) {
	case BTF_KIND_PTR:
		t->type = 0;
		break;
	case BTF_KIND_ARRAY:
		a = (struct btf_array *)(t + 1);
		a->type = take(r, a->type);
		a->index_type = take(r, a->index_type);
		break;
	case BTF_KIND_STRUCT: case BTF_KIND_UNION:
		m = (struct btf_member *)(t + 1);
		for (i = 0; i < vlen; i++) {
			m[i].name_off = add_name(r, m[i].name_off);
			m[i].type = take(r, m[i].type);
		}
		break;
	case BTF_KIND_ENUM: case KIND_ENUM64:	/* each value's name is its first word */
		for (i = 0; i < vlen; i++) {
			uint32_t *value = (uint32_t *)(t + 1) + i * values;

			*value = add_name(r, *value);
		}
		break;
	case BTF_KIND_TYPEDEF: case BTF_KIND_VOLATILE: case BTF_KIND_CONST: case BTF_KIND_RESTRICT:
	case KIND_TYPE_TAG:
		t->type = take(r, t->type);
		break;
	}
}

static int write_all(struct reduction *r)
{
	const struct btf_type *t;
	size_t i, bytes;

	buf_addc(&r->strs, '\0');
	for (i = 0; i < r->nqueue; i++) {
		t = type_by_id(r->k, r->queue[i], &bytes);
		if (!t)
			return -EINVAL;
		write_type(r, t, bytes);
		if (r->types.failed || r->strs.failed)
			return -ENOMEM;
	}
	return 0;
}

static int to_file(const struct reduction *r)
{
	struct btf_header h = {
		.magic = BTF_MAGIC, .version = BTF_VERSION, .hdr_len = sizeof(h),
		.type_len = (uint32_t)r->types.len,
		.str_off = (uint32_t)r->types.len, .str_len = (uint32_t)r->strs.len,
	};
	int fd = memfd_create("tracer-btf", MFD_CLOEXEC), e;

	if (fd < 0)
		return -errno;
	e = io_write_all(fd, &h, sizeof(h));
	if (!e)
		e = io_write_all(fd, r->types.data, r->types.len);
	if (!e)
		e = io_write_all(fd, r->strs.data, r->strs.len);
	if (!e)
		return fd;
	close(fd);
	return e;
}

/* ---- the object's ---- */

static int elf_btf(const void *elf, size_t bytes, struct view *v)
{
	const Elf64_Ehdr *h = elf;
	const Elf64_Shdr *s, *names;
	unsigned int i;

	if (bytes < sizeof(*h) || memcmp(h->e_ident, ELFMAG, SELFMAG) ||
	    h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_shentsize != sizeof(*s) ||
	    h->e_shoff > bytes || (bytes - h->e_shoff) / sizeof(*s) < h->e_shnum ||
	    h->e_shstrndx >= h->e_shnum)
		return -EINVAL;
	s = (const Elf64_Shdr *)((const char *)elf + h->e_shoff);
	names = &s[h->e_shstrndx];
	for (i = 0; i < h->e_shnum; i++) {
		if (s[i].sh_offset > bytes || s[i].sh_size > bytes - s[i].sh_offset ||
		    names->sh_offset > bytes || s[i].sh_name > bytes - names->sh_offset ||
		    bytes - names->sh_offset - s[i].sh_name < sizeof(".BTF"))
			continue;
		if (!strcmp((const char *)elf + names->sh_offset + s[i].sh_name, ".BTF"))
			return view_init(v, (const char *)elf + s[i].sh_offset, s[i].sh_size);
	}
	return -EINVAL;
}

int kbtf_reduce(struct kbtf *k, const void *elf, size_t elf_bytes, struct kbtf_id *ids, size_t n)
{
	struct reduction r = { .k = k };
	struct view obj;
	int e = elf_btf(elf, elf_bytes, &obj);

	if (e)
		return e;
	r.names = map_new(sizeof(uint64_t), 0);
	r.ids = map_new(sizeof(uint32_t), sizeof(uint32_t));
	e = r.names && r.ids ? want_names(r.names, &obj) : -ENOMEM;
	if (!e)
		e = walk(&r, ids, n);
	if (!e)
		e = write_all(&r);
	if (!e)
		e = to_file(&r);
	map_free(r.names);
	map_free(r.ids);
	free(r.queue);
	buf_release(&r.types);
	buf_release(&r.strs);
	return e;
}
