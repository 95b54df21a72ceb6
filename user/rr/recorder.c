/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: the recorder shares the program's CPU at a higher priority, so that the program
 * never runs on while something is looked at. It wakes when the ring is half full, when a file
 * was mapped, when a thread ended and for each execve, and copies; it touches nothing else.
 */
#include "rr/recorder.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "shared/rr.h"
#include "rr.skel.h"
#include "rr/bulk.h"
#include "rr/codecache.h"
#include "rr/memsum.h"
#include "rr/newimage.h"
#include "rr/ordinary.h"
#include "rr/recorded.h"
#include "rr/recorder_state.h"
#include "rr/refused.h"
#include "rr/watchdog.h"
#include "rr/written.h"

#define PRIORITY 2		/* above the program's */
#define MALLOC_BYTES (32 << 20)	/* the most that glibc takes for it */
#define CANNOT_LOAD "cannot load the recorder's programs"
#define AT_ONCE_S 10		/* it may run without sleep: copying a large file */
#define COULD_NOT 125
#define KILL_MS 5000
#define WRITE_MS 5000

/* The kernel keeps 12 bits of major and 20 of minor numbers. */
static uint32_t kernel_dev(dev_t dev)
{
	return major(dev) << 20 | minor(dev);
}

/*
 * /dev/stdout opens what is behind it anew. Of a device that may be a file of quite another
 * use: /dev/null is one for all.
 */
static void set_outputs(struct rr_config *cfg)
{
	struct stat st;

	for (int i = 0; i < 2; i++) {
		if (fstat(i + 1, &st) || (S_ISCHR(st.st_mode) && !isatty(i + 1)))
			continue;
		cfg->out_ino[i] = st.st_ino;
		cfg->out_dev[i] = kernel_dev(st.st_dev);
	}
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
	if (rec->failed)
		return 0;
	if (h->type == RR_EV_MAPPED) {
		rec->failed = mapped_note(&rec->mapped, h, rec->err);
		return 0;
	}
	if (h->type == RR_EV_REPLACED) {
		rec->failed = recorder_hold_replaced(rec, (pid_t)h->tid);
		return 0;
	}
	rec->ended_call = h->type == RR_EV_CALL ? h->tid : 0;
	if (h->flags & RR_FLAG_BULK)
		rec->failed = bulk_add(&rec->bulk, h, rec->counts, rec->file, rec->err);
	else
		rec->failed = recfile_add(rec->file, h, rec->err);
	if (!rec->failed && h->type == RR_EV_CALL && h->flags & RR_FLAG_FILE)
		rec->failed = mapped_add(&rec->mapped, data, rec->file, &rec->files,
					 &rec->replaced, rec->opts->warn, rec->opts->ctx,
					 rec->err);
	if (!rec->failed && h->type == RR_EV_CALL && h->flags & RR_FLAG_WROTE)
		rec->failed = written_add(data, rec->file, rec->err);
	return 0;
}

static int load(struct recorder *rec)
{
	int r;

	/* What libbpf would print says nothing to who cannot read a verifier's log. */
	libbpf_set_print(NULL);
	rec->bpf = rr_bpf__open();
	if (!rec->bpf)
		return err_sys(rec->err, errno, CANNOT_LOAD);
	set_outputs((struct rr_config *)&rec->bpf->rodata->cfg);
	((struct rr_config *)&rec->bpf->rodata->cfg)->wake_each = rec->opts->checksum;
	r = rr_bpf__load(rec->bpf);
	if (!r)
		r = rr_bpf__attach(rec->bpf);
	if (r) {
		rec->result->load_error = -r;
		return err_sys(rec->err, -r, CANNOT_LOAD);
	}
	rec->counts = rec->signals.counts = &rec->bpf->bss->counts;
	rec->ring = ring_buffer__new(bpf_map__fd(rec->bpf->maps.events), on_event, rec, NULL);
	if (!rec->ring)
		return err_sys(rec->err, errno, "cannot read the recorder's events");
	r = spin_init(&rec->spin, bpf_map__fd(rec->bpf->maps.points),
		      bpf_map__value_size(rec->bpf->maps.points));
	return r ? err_sys(rec->err, -r, "cannot record") : 0;
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

/*
 * Who maps or unmaps memory locks the mappings of all threads. The writer may lose its CPU with
 * that lock, and the recorder wait for it: so what is freed is kept, and what there is stays.
 */
static void keep_memory(void)
{
	mallopt(M_MMAP_THRESHOLD, MALLOC_BYTES);
	mallopt(M_TRIM_THRESHOLD, INT_MAX);
	mallopt(M_TOP_PAD, MALLOC_BYTES);
	/* By capabilities alone it may not: then a disk may be waited for. */
	(void)mlockall(MCL_CURRENT);
}

/*
 * Memory behind the call that ended last, while its thread stands there: it lost the CPU to us
 * before it could run on. Where we had to wait for something meanwhile, a disk or a lock on its
 * mappings, it may have got it back: then there are none of this call.
 */
static int add_sums(struct recorder *rec)
{
	const volatile struct rr_counts *c = rec->counts;
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

static int events_lost(struct recorder *rec)
{
	int r = err_set(rec->err, ENOBUFS, "%llu events were lost: the ring was full",
			(unsigned long long)rec->counts->lost);

	err_hint(rec->err, "another process of real time may have had CPU %d, which the recorder "
		 "shares with the program, or the recorder was stopped", sched_getcpu());
	return r;
}

int recorder_drain(struct recorder *rec)
{
	const struct rr_counts *c = rec->counts;

	ring_buffer__consume(rec->ring);
	/* The ring is empty now: there is room for what the program does in a moment. */
	watchdog_go_on();
	if (!rec->failed && rec->opts->checksum)
		rec->failed = add_sums(rec);
	if (!rec->failed && c->lost)
		rec->failed = events_lost(rec);
	if (!rec->failed && c->refused_tid)
		rec->failed = refused_set(rec->err, c);
	if (!rec->failed && c->missed_tid)
		rec->failed = err_set(rec->err, ETIMEDOUT, "thread %u read the time stamp counter "
				      "or a random number, and the recorder came too late to see "
				      "it", c->missed_tid);
	return rec->failed;
}

/* The recorder that runs, for the watchdog. */
static const struct recorder *running;

static void say(const char *text)
{
	(void)!write(STDERR_FILENO, text, strlen(text));
}

/* In a signal's handler: what it was about is not known, so nothing of it is touched. */
static void on_overrun(void)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	guardian_dismiss(&running->guardian);
	recorded_kill(running->link, running->child.pidfd, KILL_MS);
	for (int ms = 0; ms < WRITE_MS && !recqueue_idle(running->queue); ms++)
		nanosleep(&pause, NULL);
	say("tracer: the recorder did not come to rest: the program was ended, and what was "
	    "recorded replays up to its last whole chunk\n");
	_exit(COULD_NOT);
}

static bool none(const struct rr_recorded *task, void *ctx)
{
	(void)task;
	(void)ctx;
	return false;
}

/* The child waits to exec: who it is, who goes with it, and what is sent to us meanwhile. */
static int begin(struct recorder *rec)
{
	int r;

	rec->link = bpf_link__fd(rec->bpf->links.rr_recorded);
	/* BPF learns who we are. */
	r = recorded_each(rec->link, none, NULL);
	if (r)
		return err_sys(rec->err, -r, "cannot list what is recorded");
	rec->bpf->bss->counts.first = (uint32_t)rec->child.pid;
	rec->signals.first = rec->child.pid;
	r = recsignals_open(&rec->signals, rec->err);
	r = r ? r : guardian_start(&rec->guardian, rec->link, rec->child.pidfd, rec->err);
	running = rec;
	return r ? r : watchdog_start(AT_ONCE_S, on_overrun, rec->err);
}

/* The recording has to end, and with it what is recorded. */
static void end_all(struct recorder *rec)
{
	recorded_kill(rec->link, rec->child.pidfd, KILL_MS);
	if (!rec->ended)
		rec->result->status = ordinary_reap(rec->child.pid);
}

/* Nothing was recorded: it could not be started, or was ended before. */
static int not_begun(struct recorder *rec)
{
	const int error = confined_exec_error(&rec->child);

	rec->result->exec_error = error;
	return error ? err_set(rec->err, error, "cannot run '%s': %s", rec->opts->argv[0],
			       strerrordesc_np(error)) : 0;
}

static int record(struct recorder *rec)
{
	struct confined_opts c = { .argv = rec->opts->argv, .who = &rec->opts->who,
				  .user = rec->opts->user };
	int r = load(rec);

	if (r)
		return r;
	c.cpu = take_cpu(rec->err);
	if (c.cpu < 0)
		return c.cpu;
	keep_memory();
	recqueue_keep_off(rec->queue, c.cpu);
	r = confined_start(&rec->child, &c, rec->err);
	if (r)
		return r;
	r = begin(rec);
	r = r ? r : confined_go(&rec->child, rec->err);
	r = r ? r : recorder_watch(rec);
	if (r)
		end_all(rec);
	return r || recfile_events(rec->file) ? r : not_begun(rec);
}

/* The queue has nothing left. */
static int write_sums(const struct recorder *rec, struct err *err)
{
	return recfile_events(rec->file) ?
	       syssums_write(&rec->files.sums, rec->opts->dir, &rec->opts->who, err) : 0;
}

int recorder_run(const struct recorder_opts *opts, struct recorder_result *result,
		 struct err *err)
{
	struct recorder rec = {
		.opts = opts, .result = result, .err = err,
		.files = { .dir = opts->dir, .who = &opts->who },
		.child = { .pid = -1, .pidfd = -1, .notify = -1, .go = -1, .from = -1 },
		.signals = { .fd = -1 },
	};
	struct err late = { 0 };
	struct buf cache = BUF_INIT;
	char path[4096];
	int r;

	*result = (struct recorder_result){ 0 };
	snprintf(path, sizeof(path), "%s/events", opts->dir);
	r = caller_lower(&opts->who);
	if (r)
		return err_sys(err, -r, "cannot write as the user");
	rec.queue = rec.files.queue = recqueue_new(err);
	r = rec.queue ? recfile_create(&rec.file, path, rec.queue, err) : -err->code;
	if (caller_raise(&opts->who) && !r)
		r = err_sys(err, EPERM, "cannot go on as root");
	if (!r && codecache_path(&cache, &opts->who))
		codecache_load(&rec.replaced, cache.data, &opts->who);
	if (!r) {
		r = record(&rec);
		if ((recfile_flush(rec.file, r ? &late : err) ||
		     write_sums(&rec, r ? &late : err)) && !r)
			r = -err->code;
		if (cache.len)
			codecache_save(&rec.replaced, cache.data, &opts->who);
		result->events = recfile_events(rec.file);
		result->bytes = recfile_bytes(rec.file);
	}
	guardian_stop(&rec.guardian);
	recsignals_release(&rec.signals);
	confined_release(&rec.child);
	ring_buffer__free(rec.ring);
	rr_bpf__destroy(rec.bpf);
	recqueue_free(rec.queue);
	recfile_close(rec.file);
	filestore_release(&rec.files);
	mapped_release(&rec.mapped);
	replaced_release(&rec.replaced);
	bulk_release(&rec.bulk);
	buf_release(&rec.sums);
	buf_release(&cache);
	spin_release(&rec.spin);
	free(rec.held);
	free(rec.stopped.at);
	return r;
}
