/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. A mapping's file offset says which PT_LOAD it is of, and so the bias
 * between the process's addresses and the file's. It is not always certain:
 * the page in which one segment ends and the next begins in the file belongs
 * to both, and after relocation a part of the writable one is read-only. So a
 * bias that an earlier mapping of the same file has comes first, then one
 * whose segment has the mapping's rights, then any. The lowest mapping of a
 * file has only one to choose from.
 */
#include "sym/symd.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/map.h"
#include "sym/symmaps.h"

#define FILES_MAX 65536u
#define PAGE 4096u

struct mapping {
	uint64_t start, end, offset, bias;
	uint32_t file, prot;
	bool tried, placed;	/* .bias was looked for, was found */
};

struct space {
	struct mapping *map;	/* ascending */
	size_t n;
};

struct symd_spaces {
	struct symd_file *file[FILES_MAX];
	struct map *space;	/* uint32_t → struct space */
};

struct symd_spaces *symd_spaces_new(void)
{
	struct symd_spaces *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->space = map_new(sizeof(uint32_t), sizeof(struct space));
	if (!s->space) {
		free(s);
		return NULL;
	}
	return s;
}

void symd_spaces_free(struct symd_spaces *s)
{
	size_t it = 0;
	const void *key;
	void *value;

	if (!s)
		return;
	while (map_next(s->space, &it, &key, &value))
		free(((struct space *)value)->map);
	map_free(s->space);
	for (size_t i = 0; i < FILES_MAX; i++)
		symd_file_free(s->file[i]);
	free(s);
}

int symd_spaces_file(struct symd_spaces *s, uint32_t id, int fd)
{
	if (id >= FILES_MAX || s->file[id]) {
		if (fd >= 0)
			close(fd);
		return -EBADMSG;
	}
	s->file[id] = symd_file_new(fd);
	return s->file[id] ? 0 : -ENOMEM;
}

int symd_spaces_debug(struct symd_spaces *s, uint32_t id, int fd)
{
	struct symd_file *f = symd_spaces_file_at(s, id);

	if (!f || fd < 0) {
		if (fd >= 0)
			close(fd);
		return f ? 0 : -EBADMSG;
	}
	symd_file_debug(f, fd);
	return 0;
}

struct symd_file *symd_spaces_file_at(struct symd_spaces *s, uint32_t id)
{
	return id < FILES_MAX ? s->file[id] : NULL;
}

void symd_spaces_forget(struct symd_spaces *s, enum symp_thing what, uint32_t id)
{
	struct space *sp = what == SYMP_THE_SPACE ? map_get(s->space, &id) : NULL;

	if (sp) {
		free(sp->map);
		map_del(s->space, &id);
	}
	/* Mappings of it are of spaces that are forgotten too, or place nothing. */
	if (what == SYMP_THE_FILE && id < FILES_MAX) {
		symd_file_free(s->file[id]);
		s->file[id] = NULL;
	}
}

int symd_spaces_set(struct symd_spaces *s, const struct symp_list *maps)
{
	struct mapping *map = calloc(maps->n ? maps->n : 1, sizeof(*map));
	struct space *sp = map ? map_put(s->space, &maps->space) : NULL;

	if (!sp) {
		free(map);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < maps->n; i++) {
		struct symp_map e = symp_map_at(maps, i);

		map[i] = (struct mapping){
			.start = e.start, .end = e.end, .offset = e.offset, .prot = e.prot,
			.file = e.file < FILES_MAX ? e.file : 0,
		};
	}
	free(sp->map);
	sp->map = map;
	sp->n = maps->n;
	return 0;
}

/* Whether a mapping from @offset can be of @g, and the bias then. */
static bool segment_bias(const struct symd_seg *g, const struct mapping *m, uint64_t *bias)
{
	uint64_t skew = g->offset & (PAGE - 1);
	uint64_t first = g->offset - skew;

	if (!g->file_bytes || m->offset < first ||
	    m->offset - first >= skew + g->file_bytes)
		return false;
	*bias = m->start - (g->vaddr - skew + (m->offset - first));
	return true;
}

static bool same_rights(const struct symd_seg *g, uint32_t prot)
{
	return !(g->flags & PF_W) == !(prot & SYMMAPS_W) &&
	       !(g->flags & PF_X) == !(prot & SYMMAPS_X);
}

/* Places @m; @before: the mapping of its file below it that was placed, or NULL. */
static void place(const struct symd_file *f, struct mapping *m, const struct mapping *before)
{
	int best = 0;

	for (unsigned int i = 0; i < f->nseg; i++) {
		uint64_t bias;
		int score;

		if (!segment_bias(&f->seg[i], m, &bias))
			continue;
		score = before && before->bias == bias ? 3 :
			same_rights(&f->seg[i], m->prot) ? 2 : 1;
		if (score > best) {
			best = score;
			m->bias = bias;
			m->placed = true;
		}
	}
}

/* Places all mappings of a file, when the first of them is asked for. */
static void place_all(struct space *sp, uint32_t id, struct symd_file *f)
{
	struct mapping *before = NULL;
	bool good = symd_file_open(f);

	for (size_t i = 0; i < sp->n; i++) {
		struct mapping *m = &sp->map[i];

		if (m->file != id || m->tried)
			continue;
		m->tried = true;
		if (good)
			place(f, m, before);
		if (m->placed)
			before = m;
	}
}

/* The last mapping that starts at or below @addr, or NULL. */
static struct mapping *mapping_below(const struct space *sp, uint64_t addr)
{
	size_t lo = 0, hi = sp->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (sp->map[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? &sp->map[lo - 1] : NULL;
}

static bool place_of(struct symd_spaces *s, struct space *sp, struct mapping *m, uint64_t addr,
		     struct symd_place *out)
{
	struct symd_file *f = s->file[m->file];

	*out = (struct symd_place){ 0 };
	if (!f)
		return false;
	if (!m->tried)
		place_all(sp, m->file, f);
	/* It is closed again when its debug file comes. */
	if (!m->placed || !symd_file_open(f))
		return false;
	*out = (struct symd_place){ .file = f, .id = m->file, .vaddr = addr - m->bias };
	return true;
}

static bool find_data(struct symd_spaces *s, struct space *sp, struct mapping *m, uint64_t addr,
		      struct symd_place *out)
{
	const struct symd_seg *g;

	/* Code without a file may lie between a file's pages and its .bss. */
	while (m > sp->map && !m->file && addr >= m->end)
		m--;
	if (!place_of(s, sp, m, addr, out))
		return false;
	g = symd_file_seg(out->file, out->vaddr);
	return g && (g->flags & PF_W);
}

bool symd_spaces_find(struct symd_spaces *s, uint32_t space, uint64_t addr, bool data,
		      struct symd_place *out)
{
	struct space *sp = map_get(s->space, &space);
	struct mapping *m = sp ? mapping_below(sp, addr) : NULL;

	if (!m)
		return false;
	if (data)
		return find_data(s, sp, m, addr, out);
	if (addr >= m->end || !(m->prot & SYMMAPS_X))
		return false;
	if (m->prot & SYMMAPS_PERF) {
		*out = (struct symd_place){ .file = s->file[m->file], .id = m->file,
					    .vaddr = addr };
		if (out->file && !out->file->opened)
			out->file->perf = true;
		return true;
	}
	/* Code whose file is unknown or no ELF is code all the same. */
	place_of(s, sp, m, addr, out);
	return true;
}
