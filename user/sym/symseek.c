/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. Where a file has no symbols and there is no debug file of its build id
 * below /usr/lib/debug, the child says so once, with what could lead to one. The
 * link is looked for in the places where gdb looks: beside the file, in .debug
 * there, and at the same path below /usr/lib/debug. Whether it is the right file
 * is the child's to judge: nothing of it is read here. Where that is asked for,
 * the servers of debuginfod come last.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "sym/symclient.h"
#include "sym/symfetch.h"

void symfile_close(struct symfile *f)
{
	if (f->fd >= 0)
		close(f->fd);
	if (f->debug_fd >= 0)
		close(f->debug_fd);
	f->fd = f->debug_fd = -1;
}

static int open_by_link(const char *module, const char *link)
{
	static const struct { const char *before, *behind; } places[] = {
		{ "", "" }, { "", "/.debug" }, { "/usr/lib/debug", "" },
	};
	const char *slash = module ? strrchr(module, '/') : NULL;
	char path[PATH_MAX];
	int fd = -ENOENT;

	if (!slash || module[0] != '/' || strchr(link, '/'))
		return -ENOENT;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places) && fd < 0; i++) {
		int n = snprintf(path, sizeof(path), "%s%.*s%s/%s", places[i].before,
				 (int)(slash - module), module, places[i].behind, link);

		/* A file that names itself has nothing to add. */
		if (n > 0 && (size_t)n < sizeof(path) && strcmp(path, module))
			fd = symopen_debug(path);
	}
	return fd;
}

/* The path under which @sp has file @id, or NULL. */
static const char *path_of(const struct symspace *sp, uint32_t id)
{
	for (size_t i = 0; i < sp->n; i++) {
		if (sp->map[i].file == id)
			return sp->map[i].path;
	}
	return NULL;
}

static int fetch(struct sym *s, const unsigned char *id, unsigned int bytes)
{
	const uint64_t all_ns = SYMFETCH_ALL_MS * (uint64_t)1000000;
	uint64_t begin_ns = clock_mono_ns(), left_ms;
	int fd;

	if (s->fetched_ns >= all_ns)
		return -ETIMEDOUT;
	left_ms = (all_ns - s->fetched_ns) / 1000000 + 1;
	fd = symfetch_debug(id, bytes, left_ms < SYMFETCH_MS ? (int)left_ms : SYMFETCH_MS);
	s->fetched_ns += clock_mono_ns() - begin_ns;
	return fd;
}

/* 1: found and sent, 0: not. */
static int seek(struct sym *s, const struct symspace *sp, const struct symp_lack *l,
		const unsigned char *id, const char *link)
{
	struct symfile *f = l->file && l->file <= s->nfile ? &s->file[l->file - 1] : NULL;
	char name[SYMP_LINK_MAX + 1];

	if (!f || f->free || f->perf || f->sought)
		return 0;
	f->sought = true;
	memcpy(name, link, l->link_bytes);
	name[l->link_bytes] = 0;
	if (name[0])
		f->debug_fd = open_by_link(path_of(sp, l->file), name);
	if (f->debug_fd < 0 && s->opts.debuginfod)
		f->debug_fd = fetch(s, id, l->id_bytes);
	if (f->debug_fd < 0) {
		f->debug_fd = -1;
		return 0;
	}
	return !sym_tell(s, SYMP_DEBUG, l->file, 0, f->debug_fd);
}

int symseek_lacks(struct sym *s, const struct symspace *sp, struct symp_names *w)
{
	int found = 0;

	/* The answer lives as long as the child. */
	while (w->nlack && s->child.pid) {
		const unsigned char *id;
		struct symp_lack l;
		const char *link;

		if (symp_lacks_next(w, &l, &id, &link))
			return -EBADMSG;
		found += seek(s, sp, &l, id, link);
	}
	return found;
}
