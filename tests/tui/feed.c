/* SPDX-License-Identifier: MIT */
/*
 * top's screen with made-up figures: what is behind it is known, needs no root,
 * and changes from refresh to refresh by rules. Each refresh is made in new
 * memory and the old one given back, so that a sanitizer sees who holds on to it.
 *
 *   feed [--threads N] [--churn] [--exact] [--delay MS] [--lost] [--empty] [--tab N]
 *        [--color never] [--blocked] [--bench N] [--heads]
 *
 * --threads: so many more in the process crowd. --churn: of those each refresh
 * ends and begins some. --blocked: without SIGWINCH. --bench: N refreshes as fast
 * as they go, then the CPU time of one on stderr. --heads: prints each tab's
 * columns instead, a "-" before those that are for exact mode.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tui/tui.h"

struct feed {
	struct now now;
	struct now_thread *thread;
	struct now_process *process;
	struct now_lock *lock;
	struct now_pipe *pipe;
	struct now_pipe_end *end;
	struct now_call *call;
};

static unsigned long crowd, bench, delay_ms = 200;
static bool churn, exact, lost, empty, blocked, heads;
static volatile sig_atomic_t interrupted;

#define MS 1000000ull

static const struct { pid_t tgid; const char *comm; unsigned int threads; } processes[] = {
	{ 1000, "app", 6 },
	{ 2000, "db", 3 },
	{ 3000, "lone", 1 },
	{ 4000, "\x1b]0;title\x07", 2 },
	{ 5000, "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe6\x97\xa5\xe6\x9c\xac", 2 },	/* wide */
	{ 6000, "e\xcc\x81" "cole\xcc\x82", 1 },	/* combining */
	{ 7000, "\xcc\x81\xff\xfe<b>", 1 },	/* a mark first, and no UTF-8 */
	{ 8000, "crowd", 0 },
};
#define NPROCESS (sizeof(processes) / sizeof(processes[0]))

static struct now_count count(uint64_t tick, uint64_t step)
{
	return (struct now_count){ .total = (tick + 1) * step, .step = step };
}

static void add(struct now_count *to, struct now_count c)
{
	to->total += c.total;
	to->step += c.step;
}

static void past(float *p, uint64_t tick, float x)
{
	size_t i;

	for (i = 0; i < NOW_PAST; i++)
		p[(tick - i) % NOW_PAST] = i > tick ? 0 : x * (float)((tick - i) % 4) / 3;
}

/* Takes turns: which of ten figures a thread has changes from tick to tick. */
static uint64_t share(pid_t tid, uint64_t tick)
{
	return ((uint64_t)tid * 7 + tick * 3) % 10;
}

static void put_thread(struct feed *f, pid_t tgid, pid_t tid, const char *comm)
{
	struct now_thread *t = &f->thread[f->now.nthread++];
	struct now_process *p = &f->process[f->now.nprocess - 1];
	uint64_t tick = f->now.tick, tenths = share(tid, tick);

	t->tid = tid;
	t->tgid = tgid;
	snprintf(t->comm, sizeof(t->comm), "%.16s", comm);
	t->state = tid % 10 == 1 ? NOW_RUNNING : tid % 10 == 2 ? NOW_RUNNABLE : NOW_BLOCKED;
	if (t->state == NOW_BLOCKED)
		t->wait = tid % 10 == 4 ? "epoll_wait" : "futex";
	if (t->wait && !strcmp(t->wait, "futex") && tgid == 1000) {
		t->lock_addr = 0x55aa00001000;
		t->space = 1;
	}
	t->state_ns = (uint64_t)tid * MS;
	t->age_ns = (uint64_t)tid * 1000 * MS;
	t->cpu_ns = count(tick, tenths * 10 * MS);
	t->runnable_ns = count(tick, 5 * MS);
	t->blocked_ns = count(tick, (10 - tenths) * 10 * MS);
	t->lock_ns = count(tick, t->lock_addr ? 30 * MS : 0);
	t->switches = count(tick, (uint64_t)tid % 100);
	t->calls = count(tick, (uint64_t)tid);
	past(t->past, tick, (float)tenths / 10);
	p->threads++;
	p->running += t->state == NOW_RUNNING;
	p->runnable += t->state == NOW_RUNNABLE;
	p->blocked += t->state == NOW_BLOCKED;
	add(&p->cpu_ns, t->cpu_ns);
	add(&p->runnable_ns, t->runnable_ns);
	add(&p->blocked_ns, t->blocked_ns);
	add(&p->lock_ns, t->lock_ns);
	add(&p->switches, t->switches);
	add(&p->calls, t->calls);
}

static void put_processes(struct feed *f)
{
	size_t i;
	unsigned long j, n, gone = churn ? f->now.tick * 7 : 0;

	for (i = 0; i < NPROCESS; i++) {
		pid_t tgid = processes[i].tgid;

		n = processes[i].threads ? processes[i].threads : crowd;
		if (!n)
			continue;
		f->process[f->now.nprocess].tgid = tgid;
		f->process[f->now.nprocess].age_ns = (uint64_t)tgid * 1000 * MS;
		snprintf(f->process[f->now.nprocess].comm, SUM_COMM + 1, "%s", processes[i].comm);
		past(f->process[f->now.nprocess].past, f->now.tick, 2);
		f->now.nprocess++;
		for (j = 0; j < n; j++) {
			char comm[64];
			pid_t tid = tgid + (pid_t)(j + (processes[i].threads ? 0 : gone));

			if (j && processes[i].threads)
				snprintf(comm, sizeof(comm), "%s-%lu", processes[i].comm, j);
			else
				snprintf(comm, sizeof(comm), "%s", processes[i].comm);
			put_thread(f, tgid, tid, comm);
		}
	}
}

static void put_locks(struct feed *f)
{
	uint64_t tick = f->now.tick;
	size_t i;

	for (i = 0; i < 3; i++) {
		struct now_lock *l = &f->lock[i];

		l->addr = 0x55aa00001000 + i * 0x1000;
		l->space = 1;
		l->tgid = 1000;
		strcpy(l->comm, "app");
		l->kind = i == 2 ? SUM_LOCK_JOIN : SUM_LOCK_PRIVATE;
		l->waiting = i ? 0 : 4;
		l->waits = count(tick, 100 >> i);
		l->wakes = count(tick, 120 >> i);
		l->wasted_wakes = count(tick, 3);
		l->wait_ns = count(tick, (300 >> i) * MS);
		l->p50_ns = 2 * MS;
		l->p99_ns = 9 * MS;
		l->max_ns = 40 * MS;
		past(l->past, tick, 3);
	}
	f->now.nlock = 3;
}

static void put_end(struct now_pipe_end *e, uint64_t tick, pid_t tid, const char *comm)
{
	e->tid = tid;
	e->tgid = 1000;
	strcpy(e->comm, comm);
	e->chunks = count(tick, 50);
	e->bytes = count(tick, 50 * 4096);
	e->blocked = count(tick, 5);
	e->blocked_ns = count(tick, 17 * MS);
}

static void put_pipes(struct feed *f)
{
	uint64_t tick = f->now.tick;
	size_t i;

	for (i = 0; i < 2; i++) {
		struct now_pipe *p = &f->pipe[i];

		p->id = p->inode = 9001 + i;
		p->kind = i ? SUM_SOCKETPAIR : SUM_PIPE;
		p->writer = &f->end[i * 3];
		p->reader = &f->end[i * 3 + 1];
		p->nwriter = 1;
		p->nreader = 2;
		put_end(p->writer, tick, 1001, "app-1");
		put_end(p->reader, tick, 2001, "db-1");
		put_end(p->reader + 1, tick, 2002, "db-2");
		p->chunks_written = p->chunks_read = count(tick, 50 >> i);
		p->bytes = p->bytes_read = count(tick, (50 * 4096) >> i);
		p->writer_blocked_ns = p->reader_blocked_ns = count(tick, 17 * MS);
		past(p->past, tick, 200000);
	}
	f->now.npipe = 2;
}

static void put_calls(struct feed *f)
{
	static const char *const names[] = { "futex", "epoll_wait", "read", "write" };
	uint64_t tick = f->now.tick;
	size_t i;

	for (i = 0; i < 4; i++) {
		struct now_call *c = &f->call[i];

		c->name = names[i];
		c->nr = (int)i;
		c->calls = count(tick, 1000 >> i);
		c->errors = count(tick, i);
		c->wall_ns = c->blocked_ns = count(tick, (80 >> i) * MS);
		c->blocked = count(tick, 30);
		c->p50_ns = MS;
		c->p99_ns = 3 * MS;
		c->max_ns = 77 * MS;
		past(c->past, tick, 2);
	}
	f->now.ncall = 4;
}

static void feed_free(struct feed *f)
{
	if (!f)
		return;
	free(f->thread);
	free(f->process);
	free(f->lock);
	free(f->pipe);
	free(f->end);
	free(f->call);
	free(f);
}

static void *zeroed(size_t n, size_t bytes)
{
	void *p = calloc(n, bytes);

	if (!p)
		abort();
	return p;
}

static struct feed *feed_new(uint64_t tick)
{
	struct feed *f = zeroed(1, sizeof(*f));
	struct now *n = &f->now;

	f->thread = n->thread = zeroed(64 + crowd, sizeof(*f->thread));
	f->process = n->process = zeroed(NPROCESS, sizeof(*f->process));
	f->lock = n->lock = zeroed(3, sizeof(*f->lock));
	f->pipe = n->pipe = zeroed(2, sizeof(*f->pipe));
	f->end = zeroed(6, sizeof(*f->end));
	f->call = n->call = zeroed(4, sizeof(*f->call));
	n->tick = tick;
	n->since_ns = (tick + 1) * 100 * MS;
	n->interval_ns = 100 * MS;
	n->realtime_ns = 1700000000000 * MS;
	n->mode = exact ? SUM_EXACT : SUM_WAIT;
	n->collected = 31;
	n->cpus = 4;
	n->switches = count(tick, 1234);
	n->cpu_ns = count(tick, 150 * MS);
	n->own_cpu_ns = count(tick, MS / 2);
	n->loss.ring_full = n->loss.total = lost ? 17 : 0;
	if (empty)
		return f;
	put_processes(f);
	put_locks(f);
	put_pipes(f);
	put_calls(f);
	return f;
}

/* --- what the screen asks for --- */

static void name_lock(void *ctx, struct now_lock *l)
{
	(void)ctx;
	if (l->addr == 0x55aa00001000) {
		l->symbol = "queue_lock";
		l->module = "/usr/bin/app";
	}
}

static void put_frame(struct sum_frame *f, const char *symbol, uint32_t line)
{
	f->ip = 0x401000 + line;
	f->symbol = strdup(symbol);
	f->module = strdup("/usr/bin/app");
	f->file = strdup("app.c");
	f->line = line;
}

static int lock_detail(void *ctx, const struct now_lock *l, struct now_lock_detail *d)
{
	size_t i;

	(void)ctx;
	memset(d, 0, sizeof(*d));
	if (l->addr == 0x55aa00003000)
		return -ENOENT;
	if (l->addr != 0x55aa00001000)
		return 0;
	d->waiter = zeroed(2, sizeof(*d->waiter));
	d->nwaiter = 2;
	for (i = 0; i < 2; i++) {
		d->waiter[i].tid = 1003 + (pid_t)i * 2;
		strcpy(d->waiter[i].comm, i ? "app-5" : "app-3");
		d->waiter[i].ns = (12 - i) * MS;
	}
	d->edge = zeroed(2, sizeof(*d->edge));
	d->nedge = 2;
	for (i = 0; i < 2; i++) {
		d->edge[i].waker = i ? 0 : 1001;
		d->edge[i].waiter = 1003;
		strcpy(d->edge[i].waker_comm, i ? "" : "app-1");
		strcpy(d->edge[i].waiter_comm, "app-3");
		d->edge[i].count = i ? 10 : 30;
	}
	d->site = zeroed(1, sizeof(*d->site));
	d->nsite = 1;
	d->samples = 40;
	d->site[0].samples = 30;
	d->site[0].waits = 75;
	d->site[0].wait_ns = 33 * MS;
	d->site[0].nframe = 2;
	d->site[0].frame = zeroed(2, sizeof(*d->site[0].frame));
	put_frame(&d->site[0].frame[0], "pthread_mutex_lock", 80);
	put_frame(&d->site[0].frame[1], "take_job", 42);
	d->use = SUM_USE_MUTEX;
	return 0;
}

/* --- the program --- */

static void on_signal(int sig)
{
	if (sig == SIGINT) {
		interrupted = 1;
		return;
	}
	tui_restore();
	signal(sig, SIG_DFL);
	raise(sig);
}

static void print_heads(void)
{
	size_t i, j;

	for (i = 0; i < NOW_TABS; i++) {
		printf("%s", now_tabs[i].title);
		for (j = 0; j < now_tabs[i].ncol; j++)
			printf("\t%s%s", now_tabs[i].col[j].exact ? "-" : "",
			       now_tabs[i].col[j].head);
		printf("\n");
	}
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int take_options(int argc, char **argv, struct tui_opts *o)
{
	int i;

	for (i = 1; i < argc; i++) {
		const char *next = i + 1 < argc ? argv[i + 1] : "";

		if (!strcmp(argv[i], "--churn"))
			churn = true;
		else if (!strcmp(argv[i], "--exact"))
			exact = true;
		else if (!strcmp(argv[i], "--lost"))
			lost = true;
		else if (!strcmp(argv[i], "--empty"))
			empty = true;
		else if (!strcmp(argv[i], "--blocked"))
			blocked = true;
		else if (!strcmp(argv[i], "--heads"))
			heads = true;
		else if (!strcmp(argv[i], "--threads"))
			crowd = strtoul(next, NULL, 10), i++;
		else if (!strcmp(argv[i], "--delay"))
			delay_ms = strtoul(next, NULL, 10), i++;
		else if (!strcmp(argv[i], "--bench"))
			bench = strtoul(next, NULL, 10), i++;
		else if (!strcmp(argv[i], "--tab"))
			o->tab = (enum now_tab)strtoul(next, NULL, 10), i++;
		else if (!strcmp(argv[i], "--color"))
			o->color = !strcmp(next, "never") ? OUT_COLOR_NEVER : OUT_COLOR_ALWAYS, i++;
		else
			return -1;
	}
	return 0;
}

static void run(struct tui *t)
{
	struct feed *f = NULL, *old;
	uint64_t tick = 0, spent = 0, from;
	enum tui_wish wish = TUI_REFRESH;

	while (wish != TUI_QUIT && !interrupted && !(bench && tick >= bench)) {
		struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
		int ready;

		if (wish == TUI_REFRESH && !tui_paused(t)) {
			old = f;
			f = feed_new(tick++);
			from = cpu_ns();
			tui_show(t, &f->now);
			spent += cpu_ns() - from;
			feed_free(old);
		}
		ready = poll(&p, 1, bench ? 0 : (int)delay_ms);
		wish = ready ? tui_input(t) : TUI_REFRESH;
	}
	tui_free(t);
	feed_free(f);
	if (bench && tick)
		fprintf(stderr, "us=%llu\n", (unsigned long long)(spent / tick / 1000));
}

int main(int argc, char **argv)
{
	struct tui_opts o = {
		.whom = "all processes", .delay_ns = 200 * MS,
		.source = { .name_lock = name_lock, .lock_detail = lock_detail },
	};
	struct sigaction sa = { .sa_handler = on_signal };
	struct err err = { 0 };
	sigset_t winch;
	struct tui *t;

	if (take_options(argc, argv, &o))
		return 2;
	if (heads) {
		print_heads();
		return 0;
	}
	o.sort = now_tabs[o.tab].ncol;
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGSEGV, &sa, NULL);
	sigemptyset(&winch);
	sigaddset(&winch, SIGWINCH);
	if (blocked)
		sigprocmask(SIG_BLOCK, &winch, NULL);
	t = tui_new(&o, &err);
	if (!t) {
		fprintf(stderr, "feed: %s\nfeed: %s\n", err.msg, err.hint);
		return err.code == ENOTTY ? 3 : 4;
	}
	run(t);
	printf("ended\n");
	return 0;
}
