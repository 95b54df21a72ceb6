/* SPDX-License-Identifier: MIT */
#include "rr/recps.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/textcopy.h"
#include "rr/recfile.h"

struct proc {
	uint32_t tid, parent;
	char *program;		/* NULL: its parent's, or a thread */
	uint32_t code;
	bool ended, execing;
};

struct procs {
	struct proc *at;
	size_t n;
};

static struct proc *find(const struct procs *p, uint32_t tid)
{
	for (size_t i = p->n; i-- > 0;)
		if (p->at[i].tid == tid && !p->at[i].ended)
			return &p->at[i];
	return NULL;
}

static struct proc *add(struct procs *p, uint32_t tid, uint32_t parent)
{
	struct proc *at = realloc(p->at, (p->n + 1) * sizeof(*at));

	if (!at)
		return NULL;
	p->at = at;
	at[p->n] = (struct proc){ .tid = tid, .parent = parent };
	return &at[p->n++];
}

/* The first mapping of a new image is the program's. */
static int name_it(struct proc *p, const struct rr_head *h)
{
	const struct rr_ev_map *m = (const void *)h;

	if (!p || !p->execing || h->bytes < sizeof(*m) || m->path_bytes > h->bytes - sizeof(*m))
		return 0;
	p->execing = false;
	free(p->program);
	p->program = text_copy(m + 1, m->path_bytes);
	return p->program ? 0 : -ENOMEM;
}

/* A thread that replaces its process is that process from then on. */
static struct proc *take_place(struct procs *all, struct proc *p, uint32_t tid)
{
	if (!p)
		return NULL;
	for (size_t i = all->n; i-- > 0;) {
		if (all->at[i].tid != tid)
			continue;
		p->parent = all->at[i].parent;
		break;
	}
	p->tid = tid;
	return p;
}

/* A process whose first thread has ended may go on, and have the status of another's end. */
static void see_end(struct procs *all, struct proc *p, const struct rr_head *h)
{
	const struct rr_ev_exit *e = (const void *)h;

	if (!p || h->bytes < sizeof(*e))
		return;
	p->ended = true;
	p->code = e->code;
	for (size_t i = all->n; h->flags & RR_EXIT_ALL && i-- > 0;) {
		if (all->at[i].tid != e->process)
			continue;
		all->at[i].code = e->code;
		break;
	}
}

static int see(struct procs *all, const struct rr_head *h)
{
	const struct rr_ev_exec *e = (const void *)h;
	struct proc *p = find(all, h->tid);

	switch (h->type) {
	case RR_EV_FORK:
		return h->bytes < sizeof(struct rr_ev_fork) ||
		       add(all, ((const struct rr_ev_fork *)(const void *)h)->child, h->tid) ?
		       0 : -ENOMEM;
	case RR_EV_EXEC:
		if (h->bytes >= sizeof(*e) && e->former)
			p = take_place(all, find(all, e->former), h->tid);
		p = p ? p : add(all, h->tid, 0);
		if (!p)
			return -ENOMEM;
		p->execing = true;
		return 0;
	case RR_EV_MAP:
		return name_it(p, h);
	case RR_EV_EXIT:
		see_end(all, p, h);
	}
	return 0;
}

static void add_name(struct buf *out, const char *s)
{
	for (; *s; s++)
		buf_addf(out, *s >= ' ' && *s != 0x7f ? "%c" : "\\x%02x", (unsigned char)*s);
}

static void tell(struct buf *out, const struct proc *p)
{
	buf_addf(out, "%-8" PRIu32, p->tid);
	if (p->parent)
		buf_addf(out, "%-8" PRIu32, p->parent);
	else
		buf_addf(out, "%-8s", "-");
	if (!p->ended)
		buf_addf(out, "%-8s", "-");
	else if (WIFSIGNALED(p->code))
		buf_addf(out, "SIG%-5s", sigabbrev_np(WTERMSIG(p->code)) ?
			 sigabbrev_np(WTERMSIG(p->code)) : "?");
	else
		buf_addf(out, "%-8d", WEXITSTATUS(p->code));
	add_name(out, p->program ? p->program : "(no exec)");
	buf_addc(out, '\n');
}

int recps(struct buf *out, const char *dir, struct err *err)
{
	struct procs all = { 0 };
	const struct rr_head *h;
	struct recread *rec;
	char path[4096];
	int r;

	snprintf(path, sizeof(path), "%s/events", dir);
	r = recread_open(&rec, path, err);
	if (r)
		return r;
	while ((r = recread_next(rec, &h, err)) > 0) {
		r = see(&all, h);
		if (r) {
			err_sys(err, -r, "cannot list processes");
			break;
		}
	}
	buf_addf(out, "%-8s%-8s%-8s%s\n", "PID", "PPID", "EXIT", "PROGRAM");
	for (size_t i = 0; i < all.n; i++) {
		tell(out, &all.at[i]);
		free(all.at[i].program);
	}
	free(all.at);
	recread_close(rec);
	return r;
}
