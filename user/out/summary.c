/* SPDX-License-Identifier: MIT */
#include "out/summary.h"

#include <stdlib.h>
#include <string.h>

#define NAMES(n) (sizeof(n) / sizeof(*(n)))

static const char *const stage_names[] = {
	[SUM_STAGE_STACK] = "stack",
	[SUM_STAGE_CLONE] = "clone",
	[SUM_STAGE_WAKEUP] = "wakeup",
	[SUM_STAGE_START] = "start",
	[SUM_STAGE_SETUP] = "setup",
	[SUM_STAGE_ROUTINE] = "routine",
	[SUM_STAGE_EXIT] = "exit",
	[SUM_STAGE_JOIN] = "join",
};
_Static_assert(NAMES(stage_names) == SUM_STAGES, "each stage has a name");

static const char *const lock_kind_names[] = {
	[SUM_LOCK_PRIVATE] = "private",
	[SUM_LOCK_SHARED] = "shared",
	[SUM_LOCK_PI] = "pi",
	[SUM_LOCK_JOIN] = "join",
};

static const char *const pipe_kind_names[] = {
	[SUM_PIPE] = "pipe",
	[SUM_FIFO] = "fifo",
	[SUM_SOCKETPAIR] = "socketpair",
	[SUM_EVENTFD] = "eventfd",
};

static const char *const bottleneck_names[] = {
	[SUM_NEITHER] = "neither",
	[SUM_WRITER] = "writer",
	[SUM_READER] = "reader",
};

static const char *name_at(const char *const *names, size_t n, unsigned int i)
{
	return i < n ? names[i] : "unknown";
}

const char *sum_stage_name(enum sum_stage s)
{
	return name_at(stage_names, NAMES(stage_names), (unsigned int)s);
}

const char *sum_lock_kind_name(enum sum_lock_kind k)
{
	return name_at(lock_kind_names, NAMES(lock_kind_names), (unsigned int)k);
}

const char *sum_pipe_kind_name(enum sum_pipe_kind k)
{
	return name_at(pipe_kind_names, NAMES(pipe_kind_names), (unsigned int)k);
}

const char *sum_bottleneck_name(enum sum_bottleneck b)
{
	return name_at(bottleneck_names, NAMES(bottleneck_names), (unsigned int)b);
}

void summary_init(struct summary *s)
{
	memset(s, 0, sizeof(*s));
}

static void release_frames(struct sum_frame *f, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		free(f[i].symbol);
		free(f[i].module);
		free(f[i].file);
	}
	free(f);
}

void sum_site_release(struct sum_site *site)
{
	release_frames(site->frame, site->nframe);
	release_frames(site->kernel, site->nkernel);
}

static void release_locks(struct summary *s)
{
	size_t i, j;

	for (i = 0; i < s->nlock; i++) {
		struct sum_lock *l = &s->lock[i];

		for (j = 0; j < l->nsite; j++)
			sum_site_release(&l->site[j]);
		free(l->site);
		free(l->edge);
		free(l->symbol);
		free(l->module);
	}
	free(s->lock);
}

static void release_pipes(struct summary *s)
{
	size_t i;

	for (i = 0; i < s->npipe; i++) {
		free(s->pipe[i].writer);
		free(s->pipe[i].reader);
	}
	free(s->pipe);
	free(s->tape);
}

static void release_findings(struct summary *s)
{
	size_t i;

	for (i = 0; i < s->nfinding; i++) {
		free(s->finding[i].text);
		free(s->finding[i].advice);
		free(s->finding[i].evidence);
	}
	free(s->finding);
}

bool summary_is_empty(const struct summary *s)
{
	const struct sum_threads *t = &s->threads;

	return !t->live_peak && !t->created && !t->nby_thread && !t->by_thread_cut;
}

void summary_release(struct summary *s)
{
	size_t i;

	for (i = 0; s->command && s->command[i]; i++)
		free(s->command[i]);
	free(s->command);
	free(s->pids);
	release_findings(s);
	free(s->threads.way);
	for (i = 0; i < s->threads.nroutine; i++) {
		free(s->threads.routine[i].symbol);
		free(s->threads.routine[i].module);
	}
	free(s->threads.routine);
	free(s->threads.by_thread);
	release_locks(s);
	free(s->futex.op);
	release_pipes(s);
	for (i = 0; i < s->nsyscall; i++)
		free(s->syscall[i].by_errno);
	free(s->syscall);
	free(s->sched.block);
	free(s->collector);
	summary_init(s);
}
