/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. A forgotten space's mappings go at once, here and in the child. What
 * spaces share, names and stacks and strings and files, is swept up after some of
 * them, all in one go, since to look for one space's part would be to go through
 * everything each time. The caches start anew by that; a file that no space has is
 * kept for one more sweep, as the next process often runs the same program.
 */
#include <stdlib.h>

#include "sym/symclient.h"

#define SWEEP_SPACES 256
#define SWEEP_BYTES ((size_t)16 << 20)	/* of strings */

/* The strings that the mappings of all spaces have, in place of all strings. */
static void sweep_strings(struct sym *s)
{
	struct symintern *fresh = symintern_new();
	size_t it = 0;
	const void *key;
	void *value;

	if (!fresh)
		return;
	while (map_next(s->spaces, &it, &key, &value)) {
		struct symspace *sp = value;

		for (size_t i = 0; i < sp->n; i++) {
			if (sp->map[i].path)
				sp->map[i].path = symintern_add(fresh, sp->map[i].path, SIZE_MAX);
		}
	}
	symintern_free(s->strings);
	s->strings = fresh;
}

static void drop_file(struct sym *s, uint32_t id)
{
	struct symfile *f = &s->file[id - 1];

	symfile_close(f);
	if (f->sent)
		sym_tell(s, SYMP_FORGET, SYMP_THE_FILE, id, -1);
	symsnap_drop_file(s, f, id);
	f->free = true;
	s->nfree++;
}

static void sweep_files(struct sym *s)
{
	bool *used = calloc(s->nfile + 1, sizeof(*used));
	size_t it = 0;
	const void *key;
	void *value;

	if (!used)
		return;
	while (map_next(s->spaces, &it, &key, &value)) {
		const struct symspace *sp = value;

		for (size_t i = 0; i < sp->n; i++)
			used[sp->map[i].file] = true;
	}
	for (uint32_t id = 1; id <= s->nfile; id++) {
		struct symfile *f = &s->file[id - 1];

		if (!f->free && !used[id] && f->idle)
			drop_file(s, id);
		else
			f->idle = !used[id];
	}
	free(used);
}

void sym_forget(struct sym *s, uint32_t space)
{
	struct symspace *sp = map_get(s->spaces, &space);

	if (!sp)
		return;
	if (sp->sent)
		sym_tell(s, SYMP_FORGET, SYMP_THE_SPACE, space, -1);
	s->nmap -= sp->n;
	free(sp->map);
	map_del(s->spaces, &space);
	if (++s->forgotten < SWEEP_SPACES && symintern_bytes(s->strings) < SWEEP_BYTES)
		return;
	s->forgotten = 0;
	symlook_forget(s);
	symstack_forget(s);
	sweep_strings(s);
	sweep_files(s);
}
