/* SPDX-License-Identifier: MIT */
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
	s->stacks = symstack_new();
	s->out.max = SYMP_BYTES_MAX + sizeof(struct symp_head);
	if (s->libexec_dir && s->strings && s->spaces && s->file_ids && s->names && s->stacks)
		return s;
fail:
	err_sys(err, ENOMEM, "cannot make a symbol table");
	sym_free(s);
	return NULL;
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
	symstack_forget(s);
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

int sym_name_format(const struct sym_name *n, char *buf, size_t bytes)
{
	if (!n->offset)
		return snprintf(buf, bytes, "%s", n->symbol);
	return snprintf(buf, bytes, "%s+0x%llx", n->symbol, (unsigned long long)n->offset);
}

uint64_t sym_cpu_ns(const struct sym *s)
{
	return symchild_cpu_ns(&s->child);
}
