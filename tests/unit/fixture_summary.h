/* SPDX-License-Identifier: MIT */
#ifndef FIXTURE_SUMMARY_H
#define FIXTURE_SUMMARY_H

/*
 * Made-up summaries for the tests of the output formats: a busy program as an
 * engineer would meet it, and the same with hostile names or absurd figures.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out/summary.h"

#define FIXTURE_TITLE "\x1b]0;owned\x07"
#define FIXTURE_TAG "<script>alert(1)</script>"
/* All that must not come through as it is: ESC, C1, bidi, bytes that are not UTF-8, CSV, JSON. */
#define FIXTURE_EVIL                                   \
	"=1+1\"," FIXTURE_TITLE FIXTURE_TAG "\xc2\x9b" \
	"31m\xe2\x80\xae\xff\n\r\t\\'é日本"

__attribute__((unused)) static void *fixture_array(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p)
		abort();
	return p;
}

#define FIXTURE_ARRAY(p, n) ((p) = fixture_array((n), sizeof(*(p))))

__attribute__((unused)) static char *fixture_str(const char *s)
{
	char *p = strdup(s);

	if (!p)
		abort();
	return p;
}

/* @n values around @mid, some far above: the shape of latencies. */
__attribute__((unused)) static void fixture_hist(struct hist *h, uint64_t n, uint64_t mid)
{
	uint64_t i, x = 88172645463325252ULL;

	for (i = 0; i < n; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		hist_add(h, mid / 2 + x % (mid + 1) + (x % 97 == 0 ? mid * 12 : 0));
	}
}

__attribute__((unused)) static void fixture_frame(struct sum_frame *f, uint64_t ip,
						  const char *symbol, const char *module,
						  const char *file, uint32_t line)
{
	f->ip = ip;
	f->symbol = symbol ? fixture_str(symbol) : NULL;
	f->module = module ? fixture_str(module) : NULL;
	f->file = file ? fixture_str(file) : NULL;
	f->line = line;
	f->offset = ip & 0xff;
}

/* What is inside a lock's first place: in the kernel, one function without a name. */
__attribute__((unused)) static void fixture_kernel(struct sum_lock *l)
{
	struct sum_frame *f;

	l->site[0].nkernel = 2;
	FIXTURE_ARRAY(l->site[0].kernel, 2);
	f = l->site[0].kernel;
	fixture_frame(&f[0], 0, "futex_do_wait", "[kernel]", NULL, 0);
	fixture_frame(&f[1], 0, NULL, "[kernel]", NULL, 0);
	f[0].kernel = f[1].kernel = true;
	f[0].offset = 0x46;
}

__attribute__((unused)) static void fixture_threads(struct summary *s)
{
	static const uint64_t stage[SUM_STAGES] = {
		[SUM_STAGE_STACK] = 6100, [SUM_STAGE_CLONE] = 9300, [SUM_STAGE_WAKEUP] = 11200,
		[SUM_STAGE_START] = 1900, [SUM_STAGE_SETUP] = 1400, [SUM_STAGE_EXIT] = 3200,
		[SUM_STAGE_JOIN] = 2600,
	};
	static const struct sum_way ways[] = {
		{ "clone3", 1200, 11160000 }, { "mmap", 1203, 4100000 },
		{ "mprotect", 1200, 2480000 }, { "munmap", 1168, 3300000 },
		{ "rseq", 1200, 310000 }, { "set_robust_list", 1200, 290000 },
		{ "rt_sigprocmask", 3600, 720000 }, { "madvise", 1199, 880000 },
	};
	struct sum_threads *t = &s->threads;
	size_t i, j;

	t->created = 1200;
	t->exited = 1198;
	t->processes_created = t->processes_exited = 2;
	t->live_peak = 9;
	fixture_hist(&t->lifetime, 1198, 1850000);
	for (i = 0; i < SUM_STAGES; i++) {
		if (stage[i])
			fixture_hist(&t->stage[i], 1200, stage[i]);
		t->cost.sum += t->stage[i].sum;
	}
	i = t->cost.sum;
	fixture_hist(&t->cost, 1200, 35700);
	t->cost.sum = i;
	t->nway = sizeof(ways) / sizeof(*ways);
	FIXTURE_ARRAY(t->way, t->nway);
	memcpy(t->way, ways, sizeof(ways));
	t->nby_thread = 14;
	t->by_thread_cap = 65536;
	FIXTURE_ARRAY(t->by_thread, t->nby_thread);
	for (i = 0; i < t->nby_thread; i++) {
		struct sum_thread *r = &t->by_thread[i];

		*r = (struct sum_thread){
			.tid = (pid_t)(4211 + i), .tgid = 4210, .parent = 4210, .exited = i > 1,
			.created = i > 0, .is_process = i == 3, .start_ns = 1200000 * i,
			.lifetime_ns = 2410000000u >> (i & 31), .calls = 40120u >> (i & 31),
			.futex_calls = 20022u >> (i & 31), .futex_wait_ns = 1200000000u >> (i & 31),
			.oncpu_ns = 802000000u >> (i & 31), .runnable_ns = 21000000u >> (i & 31),
			.blocked_ns = 1588000000u >> (i & 31), .voluntary = 20001u >> (i & 31),
			.involuntary = 112u >> (i & 31),
		};
		snprintf(r->comm, sizeof(r->comm), i ? "worker-%u" : "orders",
			 (unsigned int)i & 63);
		for (j = 0; i && j < SUM_STAGES; j++)
			r->cost_ns += r->stage_ns[j] = stage[j] * (20 - i) / 10;
	}
}

__attribute__((unused)) static void fixture_lock(struct sum_lock *l, size_t i)
{
	static const char *const symbol[] = { "queue_lock", "stats+0x40", NULL };
	struct sum_site *site;

	*l = (struct sum_lock){
		.addr = i ? 0x7f3a6c000b60 + i * 64 : 0x55d1a40c4080,
		.tgid = 4210,
		.comm = "orders",
		.kind = i == 2   ? SUM_LOCK_JOIN
			: i == 1 ? SUM_LOCK_SHARED
				 : SUM_LOCK_PRIVATE,
		.waits = 40100u >> (2 * (i & 15)),
		.blocked = 31002u >> (2 * (i & 15)),
		.eagain = i ? 0 : 211,
		.wakes = 40311u >> (2 * (i & 15)),
		.woken = 40100u >> (2 * (i & 15)),
		.wasted_wakes = i ? 0 : 1204,
		.timeouts = i == 1 ? 31 : 0,
		.samples = 512,
		.holder = 4212,
		.nedge = i ? 1 : 5,
		.nsite = i ? 0 : 2,
	};
	l->symbol = i < 3 && symbol[i] ? fixture_str(symbol[i]) : NULL;
	l->module = l->symbol ? fixture_str("/opt/orders/bin/orders") : NULL;
	fixture_hist(&l->wait, l->waits, 31000 << (i & 7));
	FIXTURE_ARRAY(l->edge, l->nedge);
	for (i = 0; i < l->nedge; i++) {
		l->edge[i] = (struct sum_edge){ .waker = (pid_t)(4212 + i),
						.waiter = (pid_t)(4213 - i),
						.count = 20040u >> i };
		snprintf(l->edge[i].waker_comm, SUM_COMM, "worker-%u", (unsigned int)(i + 1) & 63);
		snprintf(l->edge[i].waiter_comm, SUM_COMM, "worker-%u", (unsigned int)(i + 2) & 63);
	}
	if (!l->nsite)
		return;
	FIXTURE_ARRAY(l->site, l->nsite);
	site = &l->site[0];
	*site = (struct sum_site){
		.nframe = 6, .samples = 401, .waits = 31400, .wait_ns = 940000000
	};
	FIXTURE_ARRAY(site->frame, site->nframe);
	fixture_frame(&site->frame[0], 0x7f3a6e08f117, "__lll_lock_wait",
		      "/lib/x86_64-linux-gnu/libc.so.6", NULL, 0);
	fixture_frame(&site->frame[1], 0x7f3a6e095c42, "pthread_mutex_lock",
		      "/lib/x86_64-linux-gnu/libc.so.6", NULL, 0);
	fixture_frame(&site->frame[2], 0x55d1a40bf3a1, "queue_pop", "/opt/orders/bin/orders",
		      "/src/orders/queue.c", 88);
	fixture_frame(&site->frame[3], 0x55d1a40c0010, "worker_main", "/opt/orders/bin/orders",
		      "/src/orders/worker.c", 141);
	fixture_frame(&site->frame[4], 0x7f3a6e0921c4, "start_thread",
		      "/lib/x86_64-linux-gnu/libc.so.6", NULL, 0);
	fixture_frame(&site->frame[5], 0x7f3a6e1128ac, "clone3", "/lib/x86_64-linux-gnu/libc.so.6",
		      NULL, 0);
	site = &l->site[1];
	*site = (struct sum_site){
		.nframe = 1, .samples = 60, .waits = 4700, .wait_ns = 100000000
	};
	FIXTURE_ARRAY(site->frame, site->nframe);
	fixture_frame(&site->frame[0], 0x55d1a40bf4c8, NULL, "/opt/orders/bin/orders", NULL, 0);
}

__attribute__((unused)) static void fixture_locks(struct summary *s, size_t n)
{
	static const struct sum_futex_op ops[] = { { "wait", 40311, 211 }, { "wake", 40311, 0 } };
	size_t i;

	s->futex = (struct sum_futex){ .calls = 81322, .waits = 50322, .wakes = 51000,
		.wasted_wakes = 1204, .eagain = 211, .timeouts = 31, .addresses = n, .nop = 2 };
	FIXTURE_ARRAY(s->futex.op, 2);
	memcpy(s->futex.op, ops, sizeof(ops));
	s->nlock = n;
	FIXTURE_ARRAY(s->lock, n);
	for (i = 0; i < n; i++)
		fixture_lock(&s->lock[i], i);
}

__attribute__((unused)) static void fixture_end(struct sum_pipe_end *e, pid_t tid, const char *comm,
						uint64_t blocked)
{
	*e = (struct sum_pipe_end){ .tid = tid,
				    .tgid = tid,
				    .chunks = 100003,
				    .bytes = 100003,
				    .blocked_ns = blocked * 31000,
				    .blocked = blocked,
				    .eagain = 3,
				    .futex_calls = 200006 };
	snprintf(e->comm, sizeof(e->comm), "%s", comm);
	hist_add(&e->chunk_bytes, 1);
}

__attribute__((unused)) static void fixture_pipes(struct summary *s)
{
	struct sum_pipe *p;
	size_t i;

	s->npipe = 3;
	FIXTURE_ARRAY(s->pipe, s->npipe);
	for (i = 0; i < s->npipe; i++) {
		p = &s->pipe[i];
		*p = (struct sum_pipe){ .inode = 918272 + i,
					.nwriter = i == 2 ? 3 : 1,
					.nreader = 1 };
		FIXTURE_ARRAY(p->writer, p->nwriter);
		FIXTURE_ARRAY(p->reader, 1);
		fixture_end(&p->writer[0], 4301 + (pid_t)i, i ? "parse" : "gen", i ? 0 : 18231);
		fixture_end(&p->reader[0], 4302 + (pid_t)i, i ? "pack" : "parse",
			    i == 1 ? 40012 : 12);
	}
	p = &s->pipe[0];
	p->bytes = p->bytes_read = 1288490188;
	p->chunks_written = 19661;
	p->chunks_read = 19702;
	fixture_hist(&p->chunk_bytes, 19000, 43690);
	for (i = 0; i < 661; i++)
		hist_add(&p->chunk_bytes, 65536);
	p->writer_blocked_ns = 1213000000;
	p->reader_blocked_ns = 12400000;
	p->bottleneck = SUM_READER;
	p = &s->pipe[1];
	p->bytes = p->bytes_read = p->chunks_written = p->chunks_read = 100003;
	p->chunk_bytes = (struct hist){ .count = 100003, .sum = 100003, .max = 1 };
	p->chunk_bytes.bucket[1] = 100003;
	p->reader_blocked_ns = 912000000;
	p->futex_calls = 200006;
	p->futex_per_chunk = 2.0;
	p->bottleneck = SUM_WRITER;
	p = &s->pipe[2];
	p->kind = SUM_FIFO;
	p->bytes = 81920;
	p->chunks_written = 20;
	hist_add(&p->chunk_bytes, 4096);
}

__attribute__((unused)) static void fixture_syscall(struct sum_syscall *c, const char *name, int nr,
						    uint64_t calls, uint64_t mean, int err,
						    uint64_t nerr)
{
	*c = (struct sum_syscall){ .name = name, .nr = nr, .calls = calls, .errors = nerr };
	fixture_hist(&c->wall, calls, mean);
	c->cpu_ns = c->wall.sum / 3;
	if (!nerr)
		return;
	c->nby_errno = nerr > 20 ? 2 : 1;
	FIXTURE_ARRAY(c->by_errno, c->nby_errno);
	c->by_errno[0] = (struct sum_errno){ err, nerr > 20 ? nerr - 11 : nerr };
	if (nerr > 20)
		c->by_errno[1] = (struct sum_errno){ ETIMEDOUT, 11 };
}

__attribute__((unused)) static void fixture_syscalls(struct summary *s)
{
	s->nsyscall = 12;
	FIXTURE_ARRAY(s->syscall, s->nsyscall);
	fixture_syscall(&s->syscall[0], "futex", 202, 81322, 15400, EAGAIN, 242);
	fixture_syscall(&s->syscall[1], "read", 0, 119705, 7720, 512, 3);
	fixture_syscall(&s->syscall[2], "write", 1, 119684, 6100, 0, 0);
	fixture_syscall(&s->syscall[3], "wait4", 61, 4, 48000000, ECHILD, 1);
	fixture_syscall(&s->syscall[4], "clone3", 435, 1200, 9300, 0, 0);
	fixture_syscall(&s->syscall[5], "openat", 257, 311, 2100, ENOENT, 12);
	fixture_syscall(&s->syscall[6], "mmap", 9, 1420, 3400, 0, 0);
	fixture_syscall(&s->syscall[7], "munmap", 11, 1203, 2700, 0, 0);
	fixture_syscall(&s->syscall[8], "mprotect", 10, 1240, 2060, 0, 0);
	fixture_syscall(&s->syscall[9], "restart_syscall", 219, 2, 900, EINTR, 1);
	fixture_syscall(&s->syscall[10], "rt_sigprocmask", 14, 3602, 200, 0, 0);
	fixture_syscall(&s->syscall[11], "exit_group", 231, 1, 0, 0, 0);
}

__attribute__((unused)) static void fixture_sched(struct summary *s)
{
	static const struct sum_block blocks[] = {
		{ "futex", 31002, 1290000000 }, { "read", 40024, 921000000 },
		{ "write", 18231, 1213000000 }, { "wait4", 3, 192000000 },
		{ "page fault/other", 61, 2410000 },
	};

	s->sched = (struct sum_sched){ .cpus = 4,
				       .oncpu_ns = 4212000000,
				       .runnable_ns = 311000000,
				       .blocked_ns = 3618000000,
				       .switches = 91234,
				       .voluntary = 89321,
				       .involuntary = 1913,
				       .migrations = 402,
				       .nblock = 5 };
	fixture_hist(&s->sched.runq, 91234, 4100);
	FIXTURE_ARRAY(s->sched.block, 5);
	memcpy(s->sched.block, blocks, sizeof(blocks));
}

__attribute__((unused)) static void fixture_findings(struct summary *s)
{
	static const struct { const char *id, *text, *advice;
	} f[] = {
		{ "contended-lock",
		  "threads waited 1.29 s for queue_lock, 31 µs at the median, in 40,100 waits; 5 "
		  "threads take turns",
		  "hold it for less, or give each worker a queue of its own" },
		{ "tiny-chunks",
		  "parse (4302) sends 100,003 chunks of 1 B to pack (4303) and each costs 2.00 "
		  "futex calls",
		  "collect some KiB before a write" },
		{ "thread-churn",
		  "1,200 threads lived 1.85 ms each and cost 35.7 µs each to make and end", NULL },
	};
	static const struct sum_evidence e[] = { { "wait_ns", 1290000000 }, { "share", 0.535 } };
	size_t i;

	s->nfinding = sizeof(f) / sizeof(*f);
	FIXTURE_ARRAY(s->finding, s->nfinding);
	for (i = 0; i < s->nfinding; i++) {
		s->finding[i].id = f[i].id;
		s->finding[i].text = fixture_str(f[i].text);
		s->finding[i].advice = f[i].advice ? fixture_str(f[i].advice) : NULL;
		s->finding[i].severity = 1.29 / (double)(i + 1);
		s->finding[i].nevidence = 2;
		FIXTURE_ARRAY(s->finding[i].evidence, 2);
		memcpy(s->finding[i].evidence, e, sizeof(e));
	}
}

__attribute__((unused)) static void fixture_command(struct summary *s, const char *const *argv,
						    size_t n)
{
	size_t i;

	FIXTURE_ARRAY(s->command, n + 1);
	for (i = 0; i < n; i++)
		s->command[i] = fixture_str(argv[i]);
}

/* A busy program, all collectors, exact mode. */
__attribute__((unused)) static void fixture_rich(struct summary *s)
{
	static const char *const argv[] = { "/opt/orders/bin/orders", "--workers", "8", "--filter",
					    "status = 'open'", "data/2024.csv" };
	static const struct sum_collector ways[] = {
		{ "syscalls", "raw_tp" }, { "threads", "tp_btf" }, { "futex", "raw_tp" },
		{ "pipes", "raw_tp" }, { "sched", "tp_btf" },
	};

	summary_init(s);
	s->tracer_version = "0.1.0";
	fixture_command(s, argv, 6);
	s->has_exit = true;
	s->exit_code = 3;
	s->mode = SUM_EXACT;
	s->collected = SUM_SYSCALLS | SUM_THREADS | SUM_FUTEX | SUM_PIPES | SUM_SCHED;
	s->duration_ns = 2413000000;
	s->started_realtime_ns = 1700000000123456789;
	s->still_running = 2;
	fixture_findings(s);
	fixture_threads(s);
	fixture_locks(s, 3);
	fixture_pipes(s);
	fixture_syscalls(s);
	fixture_sched(s);
	s->overhead = (struct sum_overhead){ .measured = true, .bare_call_ns = 111,
		.ns_per_syscall = 212, .ns_per_futex = 190, .ns_per_pipe_chunk = 204,
		.consumer_cpu_ns = 18200000 };
	s->loss = (struct sum_loss){ .ring_full = 1200, .unpaired = 1, .total = 1201 };
	s->ncollector = 5;
	FIXTURE_ARRAY(s->collector, 5);
	memcpy(s->collector, ways, sizeof(ways));
}

/* --start-routine: one routine with a name, one in a stripped file, threads not timed. */
__attribute__((unused)) static void fixture_routines(struct summary *s)
{
	struct sum_threads *t = &s->threads;

	t->routines_asked = true;
	t->nroutine = 2;
	t->routine = fixture_array(2, sizeof(*t->routine));
	t->routine[0] = (struct sum_routine){ .symbol = fixture_str("handle_request"),
					      .module = fixture_str("/opt/shop/bin/shop"),
					      .addr = 0x55d0c0de1230, .threads = 3 };
	t->routine[1] = (struct sum_routine){ .module = fixture_str("/usr/lib/libz.so.1"),
					      .addr = 0x7f00c0de4560, .threads = 1 };
	t->by_thread[0].routine = 1;
	t->by_thread[0].stage_ns[SUM_STAGE_ROUTINE] = 4800;
	t->by_thread[0].cost_ns += 4800;
	t->created = 6;
	fixture_hist(&t->stage[SUM_STAGE_ROUTINE], 4, 4800);
	s->overhead.ns_per_start_routine = 5300;
	s->overhead.ns_in_routine_stage = 4400;
}

/* Every string of a rich summary that another process may choose, made hostile. */
__attribute__((unused)) static void fixture_hostile(struct summary *s)
{
	static const char *const argv[] = { FIXTURE_EVIL, "", FIXTURE_TAG };
	static const char comm[] = FIXTURE_TITLE "<b>\xff";	/* 16 bytes and its NUL at most */
	size_t i, j;

	fixture_rich(s);
	for (i = 0; s->command[i]; i++)
		free(s->command[i]);
	free(s->command);
	fixture_command(s, argv, 3);
	for (i = 0; i < s->nfinding; i++) {
		free(s->finding[i].text);
		s->finding[i].text = fixture_str(FIXTURE_EVIL);
		free(s->finding[i].advice);
		s->finding[i].advice = fixture_str(FIXTURE_EVIL);
	}
	for (i = 0; i < s->threads.nby_thread; i++)
		snprintf(s->threads.by_thread[i].comm, SUM_COMM + 1, "%s", comm);
	fixture_routines(s);
	for (i = 0; i < s->threads.nroutine; i++) {
		free(s->threads.routine[i].module);
		s->threads.routine[i].module = fixture_str("/tmp/" FIXTURE_EVIL);
	}
	free(s->threads.routine[0].symbol);
	s->threads.routine[0].symbol = fixture_str(FIXTURE_EVIL);
	for (i = 0; i < s->nlock; i++) {
		struct sum_lock *l = &s->lock[i];

		free(l->symbol);
		l->symbol = fixture_str(FIXTURE_EVIL);
		free(l->module);
		l->module = fixture_str("/tmp/" FIXTURE_EVIL);
		snprintf(l->comm, SUM_COMM + 1, "%s", comm);
		for (j = 0; j < l->nedge; j++) {
			snprintf(l->edge[j].waker_comm, SUM_COMM + 1, "%s", comm);
			snprintf(l->edge[j].waiter_comm, SUM_COMM + 1, "%s", comm);
		}
		for (j = 0; j < l->nsite; j++) {
			struct sum_frame *f = &l->site[j].frame[0];

			free(f->symbol);
			free(f->module);
			free(f->file);
			fixture_frame(f, 0x1234, FIXTURE_EVIL, FIXTURE_EVIL, FIXTURE_EVIL, 7);
		}
	}
	for (i = 0; i < s->npipe; i++) {
		snprintf(s->pipe[i].writer[0].comm, SUM_COMM + 1, "%s", comm);
		snprintf(s->pipe[i].reader[0].comm, SUM_COMM + 1, "%s", comm);
	}
}

/* Figures at their largest. */
__attribute__((unused)) static void fixture_huge(struct summary *s)
{
	size_t i, j;

	fixture_rich(s);
	s->duration_ns = UINT64_MAX;
	fixture_routines(s);
	s->threads.by_thread[0].routine = UINT32_MAX;
	s->threads.routine[0].threads = s->threads.created = UINT64_MAX;
	s->overhead.ns_in_routine_stage = UINT64_MAX;
	s->overhead.ns_per_syscall = INT64_MIN;
	s->overhead.ns_per_futex = INT64_MAX;
	memset(&s->loss, 0xff, sizeof(s->loss));
	memset(&s->threads.cost, 0xff, sizeof(struct hist));
	for (i = 0; i < s->nlock; i++) {
		s->lock[i].waits = s->lock[i].wakes = s->lock[i].wasted_wakes = UINT64_MAX;
		memset(&s->lock[i].wait, 0xff, sizeof(struct hist));
	}
	for (i = 0; i < s->npipe; i++) {
		s->pipe[i].bytes = s->pipe[i].chunks_written = UINT64_MAX;
		s->pipe[i].futex_per_chunk = i ? 1e300 : __builtin_nan("");
	}
	for (i = 0; i < s->nsyscall; i++) {
		s->syscall[i].calls = s->syscall[i].errors = s->syscall[i].cpu_ns = UINT64_MAX;
		memset(&s->syscall[i].wall, 0xff, sizeof(struct hist));
	}
	for (i = 0; i < s->nfinding; i++) {
		s->finding[i].severity = __builtin_inf();
		for (j = 0; j < s->finding[i].nevidence; j++)
			s->finding[i].evidence[j].value = j ? -1e300 : __builtin_nan("");
	}
}

/* An attach that saw nothing; @mode and @collected as given. */
__attribute__((unused)) static void fixture_empty(struct summary *s, enum sum_mode mode,
						  unsigned int collected)
{
	summary_init(s);
	s->tracer_version = "0.1.0";
	s->mode = mode;
	s->collected = collected;
	s->npids = 1;
	FIXTURE_ARRAY(s->pids, 1);
	s->pids[0] = 4210;
}

#endif
