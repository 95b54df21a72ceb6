/* SPDX-License-Identifier: MIT */
/* Tapes among the traced processes: where they tell their figures, and what those are. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/live_state.h"
#include "collect/live_tapes.h"
#include "live.skel.h"

#define PROGRAM "tracer-tape"
#define FUNCTION "tape_batch_probe"

/* Beside this executable, in the build tree as where it is installed. */
static int find_program(char *path, size_t bytes)
{
	ssize_t n = readlink("/proc/self/exe", path, bytes - 1);
	char *slash;

	if (n <= 0)
		return -ENOENT;
	path[n] = '\0';
	slash = strrchr(path, '/');
	if (!slash || (size_t)(slash + 1 - path) + sizeof(PROGRAM) > bytes)
		return -ENOENT;
	strcpy(slash + 1, PROGRAM);
	return access(path, R_OK) ? -errno : 0;
}

int live_tapes_attach(struct bpf_program *prog, struct bpf_link **link)
{
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .func_name = FUNCTION);
	char path[PATH_MAX];
	int r = find_program(path, sizeof(path));

	if (r)
		return r;
	*link = bpf_program__attach_uprobe_opts(prog, -1, path, 0, &opts);
	return *link ? 0 : -errno;
}

void live_tapes_look(struct live *l, const char *text)
{
	struct bpf_program *prog;

	if (!l->bpf || l->tapes_tried || !strstr(text, "tape"))
		return;
	l->tapes_tried = true;
	prog = l->bpf->progs.tape_batch;
	if (prog && bpf_program__fd(prog) >= 0)
		live_tapes_attach(prog, &l->tape_link);
}

static int add_tape(void *ctx, const void *key, const void *value)
{
	struct summary *s = ctx;
	const struct live_tape *from = value;
	struct sum_tape *grown = realloc(s->tape, (s->ntape + 1) * sizeof(*grown)), *t;

	if (!grown)
		return -ENOMEM;
	s->tape = grown;
	t = &grown[s->ntape++];
	*t = (struct sum_tape){ .pid = (pid_t)*(const uint32_t *)key, .stats = from->stats };
	memcpy(t->comm, from->comm, sizeof(from->comm));
	return 0;
}

static int by_chunks(const void *a, const void *b)
{
	const struct sum_tape *x = a, *y = b;

	if (x->stats.chunks != y->stats.chunks)
		return x->stats.chunks < y->stats.chunks ? 1 : -1;
	return x->pid - y->pid;
}

int live_fill_tapes(struct live *l, struct summary *s)
{
	int fd = live_map_fd(l, "tapes");
	int r = fd < 0 ? 0 : live_map_each(fd, sizeof(uint32_t), sizeof(struct live_tape),
					   add_tape, s);

	if (s->ntape > 1)
		qsort(s->tape, s->ntape, sizeof(*s->tape), by_chunks);
	return r;
}
