/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: the recorder shares the program's CPU at a higher priority, so that the program
 * never runs on while something is looked at. It wakes when the ring is half full, when a file
 * was mapped, when a thread ended and for each execve, and copies; it touches nothing else.
 */
#include "rr/recorder.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shared/rr.h"
#include "rr.skel.h"
#include "rr/confined.h"
#include "rr/memsum.h"
#include "rr/newimage.h"
#include "rr/procmaps.h"
#include "rr/recfile.h"
#include "rr/written.h"

#define PRIORITY 2		/* above the program's */
#define NR_MMAP 9

static const char *const names[RR_NR_CALLS] = {
#define RR_CALL(nr, name, ...) [nr] = #name,
#include "shared/rr_calls.def"
#undef RR_CALL
};

struct recorder {
	const struct recorder_opts *opts;
	struct rr_bpf *bpf;
	struct ring_buffer *ring;
	struct recfile *file;
	struct recqueue *queue;
	struct filestore files;
	struct confined child;
	struct err *err;
	uint32_t *alive;	/* threads that are recorded, the first aside */
	size_t nalive, cap;
	int failed;		/* of the events so far */
	bool ended;		/* the first process has */
	uint32_t ended_call;	/* the thread whose call was the last event, or 0 */
	struct buf sums;
};

/* The kernel keeps 12 bits of major and 20 of minor numbers. */
static uint32_t kernel_dev(dev_t dev)
{
	return major(dev) << 20 | minor(dev);
}

static void set_outputs(struct rr_config *cfg)
{
	struct stat st;

	for (int i = 0; i < 2; i++) {
		if (fstat(i + 1, &st))
			continue;
		cfg->out_ino[i] = st.st_ino;
		cfg->out_dev[i] = kernel_dev(st.st_dev);
	}
}

/* Parts of a new mapping may be others' by now. */
static void as_asked(struct procmap *m, const struct rr_ev_call *e)
{
	m->prot = (int)e->arg[2];
	m->shared = e->arg[3] & MAP_SHARED;
	m->offset = e->arg[5];
	m->start = (uint64_t)e->ret;
	m->end = m->start + ((e->arg[1] + 4095) & ~4095ull);
}

/* A file was mapped: what it is, while it is still there. */
static int add_mapped(struct recorder *rec, const struct rr_ev_call *e)
{
	const struct procmap *m;
	struct procmaps maps;
	struct procmap part;
	int r = procmaps_read(&maps, (pid_t)e->head.tid, rec->err);

	if (r)
		return r;
	m = procmaps_find(&maps, (uint64_t)e->ret);
	if (m) {
		part = *m;
		if (e->nr == NR_MMAP)
			as_asked(&part, e);
		r = newimage_add_map(e->head.tid, &part, rec->file, &rec->files, rec->err);
	} else {
		r = err_set(rec->err, ENOENT, "the mapping at %#llx of process %u was gone",
			    (unsigned long long)e->ret, e->head.tid);
	}
	procmaps_release(&maps);
	return r;
}

/* Who is to be ended when the recording has to. Without memory, one is not. */
static void note_birth(struct recorder *rec, uint32_t tid)
{
	if (rec->nalive == rec->cap) {
		const size_t cap = rec->cap ? 2 * rec->cap : 64;
		uint32_t *at = realloc(rec->alive, cap * sizeof(*at));

		if (!at)
			return;
		rec->alive = at;
		rec->cap = cap;
	}
	rec->alive[rec->nalive++] = tid;
}

static void note_end(struct recorder *rec, uint32_t tid)
{
	for (size_t i = rec->nalive; i-- > 0;) {
		if (rec->alive[i] != tid)
			continue;
		rec->alive[i] = rec->alive[--rec->nalive];
		return;
	}
}

static void note_lives(struct recorder *rec, const struct rr_head *h)
{
	if (h->type == RR_EV_FORK)
		note_birth(rec, ((const struct rr_ev_fork *)(const void *)h)->child);
	else if (h->type == RR_EV_EXIT)
		note_end(rec, h->tid);
}

static void kill_all(struct recorder *rec)
{
	for (size_t i = 0; i < rec->nalive; i++)
		kill((pid_t)rec->alive[i], SIGKILL);
}

static int on_event(void *ctx, void *data, size_t n)
{
	struct recorder *rec = ctx;
	const struct rr_head *h = data;

	if (n < sizeof(*h) || h->bytes != n) {
		if (!rec->failed)
			rec->failed = err_set(rec->err, EPROTO, "an event of %zu bytes is none", n);
		return 0;
	}
	note_lives(rec, h);
	if (rec->failed)
		return 0;
	rec->ended_call = h->type == RR_EV_CALL ? h->tid : 0;
	rec->failed = recfile_add(rec->file, h, rec->err);
	if (!rec->failed && h->type == RR_EV_CALL && h->flags & RR_FLAG_FILE)
		rec->failed = add_mapped(rec, data);
	if (!rec->failed && h->type == RR_EV_CALL && h->flags & RR_FLAG_WROTE)
		rec->failed = written_add(data, rec->file, rec->err);
	return 0;
}

static int load(struct recorder *rec)
{
	int r;

	rec->bpf = rr_bpf__open();
	if (!rec->bpf)
		return err_sys(rec->err, errno, "cannot open the recorder's programs");
	set_outputs((struct rr_config *)&rec->bpf->rodata->cfg);
	((struct rr_config *)&rec->bpf->rodata->cfg)->wake_each = rec->opts->checksum;
	r = rr_bpf__load(rec->bpf);
	if (!r)
		r = rr_bpf__attach(rec->bpf);
	if (r)
		return err_sys(rec->err, -r, "cannot load the recorder's programs");
	rec->ring = ring_buffer__new(bpf_map__fd(rec->bpf->maps.events), on_event, rec, NULL);
	return rec->ring ? 0 : err_sys(rec->err, errno, "cannot read the recorder's events");
}

static int take_cpu(struct err *err)
{
	const struct sched_param fifo = { .sched_priority = PRIORITY };
	const int cpu = sched_getcpu();
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one) || sched_setscheduler(0, SCHED_FIFO, &fifo))
		return err_sys(err, errno, "cannot run before the recorded program");
	return cpu;
}

static int refused(struct recorder *rec, const struct rr_counts *c)
{
	const char *name = c->refused_nr < RR_NR_CALLS ? names[c->refused_nr] : NULL;

	err_set(rec->err, ENOTSUP, "thread %u made a call that cannot be recorded: %s, number "
		"%llu, argument 2 %#llx", c->refused_tid, name ? name : "without a name",
		(unsigned long long)c->refused_nr, (unsigned long long)c->refused_arg);
	return -ENOTSUP;
}

/*
 * Memory behind the call that ended last, while its thread stands there: it lost the CPU to us
 * before it could run on. Where we had to wait for something meanwhile, a disk or a lock on its
 * mappings, it may have got it back: then there are none of this call.
 */
static int add_sums(struct recorder *rec)
{
	const volatile struct rr_counts *c = &rec->bpf->bss->counts;
	const uint32_t tid = rec->ended_call;
	const uint64_t runs = c->runs;
	int r;

	rec->ended_call = 0;
	if (!tid || c->stands != tid)
		return 0;
	buf_reset(&rec->sums);
	r = memsum_make(&rec->sums, (pid_t)tid, rec->err);
	if (r == -ENOENT || r == -ESRCH)
		return 0;
	for (size_t at = 0; !r && c->runs == runs && at < rec->sums.len;) {
		const struct rr_head *h = (const void *)(rec->sums.data + at);

		r = recfile_add(rec->file, h, rec->err);
		at += h->bytes;
	}
	return r;
}

static int drain(struct recorder *rec)
{
	const struct rr_counts *c = &rec->bpf->bss->counts;

	ring_buffer__consume(rec->ring);
	if (!rec->failed && rec->opts->checksum)
		rec->failed = add_sums(rec);
	if (!rec->failed && c->lost)
		rec->failed = err_set(rec->err, ENOBUFS, "%llu events were lost",
				      (unsigned long long)c->lost);
	if (!rec->failed && c->refused_tid)
		rec->failed = refused(rec, c);
	return rec->failed;
}

/*
 * Lets an execve go on, held so that it stops behind it: in the new image, or where the old
 * one goes on. Others may run until then.
 */
static int on_notify(struct recorder *rec)
{
	struct seccomp_notif_resp resp = { .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };
	struct seccomp_notif n;
	pid_t pid;

	memset(&n, 0, sizeof(n));
	if (ioctl(rec->child.notify, SECCOMP_IOCTL_NOTIF_RECV, &n))
		return errno == EINTR || errno == ENOENT ? 0 :
		       err_sys(rec->err, errno, "cannot hear of an execve");
	pid = (pid_t)n.pid;
	resp.id = n.id;
	if (ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_TRACEEXEC) ||
	    ptrace(PTRACE_INTERRUPT, pid, 0, 0))
		return err_sys(rec->err, errno, "cannot stop process %d at its execve", (int)pid);
	if (ioctl(rec->child.notify, SECCOMP_IOCTL_NOTIF_SEND, &resp) && errno != ENOENT)
		return err_sys(rec->err, errno, "cannot let process %d exec", (int)pid);
	return 0;
}

static int on_stop(struct recorder *rec, pid_t pid, int status)
{
	const int sig = WSTOPSIG(status);
	int r = 0;

	if (status >> 16 == PTRACE_EVENT_EXEC) {
		r = drain(rec);
		r = r ? r : newimage_record(pid, rec->file, &rec->files, rec->err);
	}
	/* A signal that came first is not to be lost. */
	ptrace(PTRACE_DETACH, pid, 0, status >> 16 ? 0 : sig);
	return r;
}

static int on_children(struct recorder *rec, struct recorder_result *result)
{
	int status, r = 0;
	pid_t pid;

	while (!r && (pid = waitpid(-1, &status, __WALL | WNOHANG)) > 0) {
		if (WIFSTOPPED(status)) {
			r = on_stop(rec, pid, status);
		} else if (pid == rec->child.pid) {
			result->status = status;
			rec->ended = true;
		}
	}
	return r;
}

static int watch(struct recorder *rec, int children, struct recorder_result *result)
{
	struct pollfd fd[] = {
		{ .fd = ring_buffer__epoll_fd(rec->ring), .events = POLLIN },
		{ .fd = rec->child.notify, .events = POLLIN },
		{ .fd = children, .events = POLLIN },
	};
	struct signalfd_siginfo si;
	int r = 0;

	/* Its children are recorded to their end, too. */
	while (!r && (!rec->ended || rec->bpf->bss->counts.alive)) {
		if (poll(fd, 3, -1) < 0 && errno != EINTR)
			return err_sys(rec->err, errno, "cannot wait for events");
		r = drain(rec);
		if (!r && fd[2].revents && read(children, &si, sizeof(si)) > 0)
			r = on_children(rec, result);
		if (!r && fd[1].revents & POLLIN)
			r = on_notify(rec);
		else if (fd[1].revents)
			fd[1].fd = -1;	/* the last process that could exec is ending */
	}
	return r ? r : drain(rec);
}

static int hear_children(struct err *err)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? err_sys(err, errno, "cannot hear of processes") : fd;
}

static int record(struct recorder *rec, struct recorder_result *result)
{
	struct confined_opts c = { .argv = rec->opts->argv, .who = &rec->opts->who };
	uint32_t one = 1, pid;
	int r = load(rec), children;

	if (r)
		return r;
	c.cpu = take_cpu(rec->err);
	if (c.cpu < 0)
		return c.cpu;
	r = confined_start(&rec->child, &c, rec->err);
	if (r)
		return r;
	children = hear_children(rec->err);
	if (children < 0)
		return children;
	pid = (uint32_t)rec->child.pid;
	r = bpf_map__update_elem(rec->bpf->maps.first, &pid, sizeof(pid), &one, sizeof(one), 0);
	if (r)
		r = err_sys(rec->err, -r, "cannot name process %u", pid);
	r = r ? r : confined_go(&rec->child, rec->err);
	r = r ? r : watch(rec, children, result);
	close(children);
	if (r)
		kill_all(rec);
	if (!r && !recfile_events(rec->file)) {
		result->exec_error = confined_exec_error(&rec->child);
		return err_set(rec->err, result->exec_error, "cannot run '%s': %s",
			       rec->opts->argv[0], strerrordesc_np(result->exec_error));
	}
	if (!rec->ended) {
		kill(rec->child.pid, SIGKILL);
		waitpid(rec->child.pid, &result->status, __WALL);
	}
	return r;
}

int recorder_run(const struct recorder_opts *opts, struct recorder_result *result,
		 struct err *err)
{
	struct recorder rec = {
		.opts = opts, .err = err, .files = { .dir = opts->dir, .who = &opts->who },
		.child = { .pid = -1, .pidfd = -1, .notify = -1, .go = -1, .from = -1 },
	};
	struct err late = { 0 };
	char path[4096];
	int r;

	*result = (struct recorder_result){ 0 };
	snprintf(path, sizeof(path), "%s/events", opts->dir);
	r = caller_lower(&opts->who);
	if (r)
		return err_sys(err, -r, "cannot write as the user");
	rec.queue = recqueue_new(err);
	rec.files.queue = rec.queue;
	r = rec.queue ? recfile_create(&rec.file, path, rec.queue, err) : -err->code;
	if (caller_raise(&opts->who) && !r)
		r = err_sys(err, EPERM, "cannot go on as root");
	if (!r) {
		r = record(&rec, result);
		if (recfile_flush(rec.file, r ? &late : err) && !r)
			r = -err->code;
		result->events = recfile_events(rec.file);
		result->bytes = recfile_bytes(rec.file);
	}
	confined_release(&rec.child);
	ring_buffer__free(rec.ring);
	rr_bpf__destroy(rec.bpf);
	recqueue_free(rec.queue);
	recfile_close(rec.file);
	filestore_release(&rec.files);
	free(rec.alive);
	buf_release(&rec.sums);
	return r;
}
