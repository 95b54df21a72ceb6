/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. A part is tried alone, so that its failure is its own: the object is
 * loaded once for each program with that one in it. Programs whose code differs
 * by mode are tried in all. Without rings or maps no program can be loaded; then
 * what is left to see is whether the kernel has the hooks at all. Collectors are
 * judged by the parts that they need, in the order in which these are tried.
 */
#include "collect/probe.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collect/launch.h"
#include "collect/live.h"
#include "collect/live_progs.h"
#include "collect/live_tapes.h"
#include "collect/live_types.h"
#include "collect/privilege.h"
#include "collect/probe_record.h"
#include "collect/refusal.h"
#include "collect/startprobe.h"
#include "ring/ring.h"
#include "sym/sym.h"
#include "sym/symkernel.h"

#define PART_RINGS "rings"
#define PART_MAPS "maps"
#define PART_NAMES "tracer-sym"
#define PART_KERNEL "kernel-names"
#define PART_TRACE "trace"
#define PART_RECORD "tracer-record"

struct probe {
	struct checkup *c;
	const struct probe_opts *opts;
	int ncpus;
	bool stuck;			/* no rings or no maps: no program can be loaded */
};

static struct check_part *part_new(struct probe *q, const char *name, const char *what)
{
	struct check_part *p = &q->c->part[q->c->npart++];

	memset(p, 0, sizeof(*p));
	p->name = name;
	p->what = what;
	return p;
}

static struct check_part *part_find(struct checkup *c, const char *name)
{
	size_t i;

	for (i = 0; i < c->npart; i++)
		if (!strcmp(c->part[i].name, name))
			return &c->part[i];
	return NULL;
}

static void fails(struct check_part *p, int code, const char *said, const char *config)
{
	struct refusal r;

	refusal_explain(&r, code, said, config);
	p->state = CHECK_FAILS;
	p->code = code;
	snprintf(p->why, sizeof(p->why), "%s", r.why);
	snprintf(p->fix, sizeof(p->fix), "%s", r.fix);
}

/* The same for what has its words already. */
static void fails_by(struct check_part *p, const struct err *err)
{
	p->state = CHECK_FAILS;
	p->code = err->code;
	snprintf(p->why, sizeof(p->why), "%.*s", CHECK_TEXT - 1, err->msg);
	snprintf(p->fix, sizeof(p->fix), "%.*s", CHECK_TEXT - 1, err->hint);
}

/* ---- what programs need ---- */

static void try_rings(struct probe *q)
{
	struct check_part *p = part_new(q, PART_RINGS, "a buffer for events");
	struct err err = {};
	struct ring *ring = ring_new(1, RING_FLOOR, &err);

	if (!ring)
		fails(p, err.code, "", "CONFIG_BPF_SYSCALL");
	ring_free(ring);
}

static bool no_program(void *ctx, const struct live_prog *p)
{
	(void)ctx;
	(void)p;
	return false;
}

/* All our maps, the task storage among them, without a program. */
static void try_maps(struct probe *q)
{
	struct check_part *p = part_new(q, PART_MAPS, "all maps, the task storage among them");
	struct live_config cfg = {};
	struct live_load_opts opts = { .cfg = &cfg, .ncpus = q->ncpus, .wanted = no_program };
	struct live_bpf *bpf = NULL;
	int r = live_progs_load(&bpf, &opts);

	if (r)
		fails(p, -r, live_progs_said(), NULL);
	else
		live_progs_unload(bpf);
}

/* A function that has a name in any C library, as it is mapped here. */
static void try_names(struct probe *q)
{
	struct check_part *p = part_new(q, PART_NAMES, "names a function of the C library");
	struct sym_opts so = { .libexec_dir = q->opts->libexec_dir };
	struct err err = {};
	struct sym_name name;
	struct sym *sym = sym_new(&so, &err);
	int r = sym ? sym_snapshot(sym, 1, getpid()) : -ENOMEM;

	if (!r)
		r = sym_code(sym, 1, (uintptr_t)&getpid, &name);
	if (r && sym && sym_trouble(sym, &err)) {
		fails_by(p, &err);
	} else if (r) {
		err_sys(&err, -r, "no name is found for a function of the C library");
		fails_by(p, &err);
	}
	if (r && !p->fix[0])
		snprintf(p->fix, sizeof(p->fix), "the installation is not complete: 'make install' "
			 "puts tracer-sym there");
	sym_free(sym);
}

/* Of them addresses stay hidden, so that root alone is given the names. */
static void try_kernel_names(struct probe *q)
{
	struct check_part *p = part_new(q, PART_KERNEL, "functions of the kernel, for its stacks");
	struct err err = {};

	if (getuid()) {
		err_set(&err, EPERM, "where in the kernel a wait is, is told to root alone");
		err_hint(&err, "run it with sudo");
		fails_by(p, &err);
	} else if (!symkernel_visible()) {
		err_set(&err, EPERM, "/proc/kallsyms shows no addresses");
		err_hint(&err, "'sysctl kernel.kptr_restrict=1', and a kernel built with "
			 "CONFIG_KALLSYMS=y");
		fails_by(p, &err);
	}
}

/* Its programs are of an executable of its own. */
static void try_record(struct probe *q)
{
	struct check_part *p = part_new(q, PART_RECORD,
					"its programs, and a process to be recorded");
	struct err err = {};

	if (!probe_record(q->opts->libexec_dir, &err))
		return;
	if (!err.hint[0])
		fails(p, err.code, "", NULL);
	else
		fails_by(p, &err);
}

/* ---- programs ---- */

static bool only(void *ctx, const struct live_prog *p)
{
	return p == ctx;
}

static void read_all(int fd)
{
	char rest[4096];

	while (read(fd, rest, sizeof(rest)) > 0)
		;
	close(fd);
}

/* As a trace does it with each; 0 or -errno with @err. */
static int use(struct live_bpf *bpf, const struct live_prog *p, struct err *err)
{
	struct bpf_program *prog = live_prog_find(bpf, p);
	struct startprobe *probe;
	struct bpf_link *link;
	int r;

	switch (p->hook) {
	case HOOK_TRACEPOINT:
		r = live_prog_attach(prog, &link);
		if (!r)
			bpf_link__destroy(link);
		return r;
	case HOOK_ITERATOR:
		r = live_prog_iterate(prog);
		if (r >= 0)
			read_all(r);
		return r < 0 ? r : 0;
	case HOOK_RUN:
		return live_learn_self(bpf, err);
	case HOOK_UPROBE:
		probe = startprobe_new(prog, err);
		startprobe_free(probe);
		return probe ? 0 : -err->code;
	case HOOK_TAPE:
		r = live_tapes_attach(prog, &link);
		if (!r)
			bpf_link__destroy(link);
		return r;
	}
	return -EINVAL;
}

/* What a program's code depends on. */
enum variant { EXACT, WAIT, WATCH, VARIANTS };

static void try_once(struct probe *q, const struct live_prog *p, enum variant variant,
		     struct check_part *part)
{
	const bool filter = p->need == NEED_FILTER || p->need == NEED_NAMES;
	struct live_config cfg = {
		.collect = SUM_SYSCALLS | SUM_THREADS | SUM_FUTEX | SUM_PIPES | SUM_SCHED,
		.exact = variant == EXACT,
		.watch = variant == WATCH,
		.watch_rows = 2,
		.stacks = 1,
		.kernel_frames = 1,
		.routines = p->need == NEED_ROUTINES,
		.filter = filter,
		.comm_filter = filter,
		.cgroup_filter = filter,
	};
	struct live_load_opts opts = {
		.cfg = &cfg, .ncpus = q->ncpus, .wanted = only, .ctx = (void *)(uintptr_t)p,
	};
	struct live_bpf *bpf = NULL;
	struct err err = {};
	int r;

	live_config_user(&cfg);
	r = live_progs_load(&bpf, &opts);
	if (r) {
		fails(part, -r, live_progs_said(), p->config);
		return;
	}
	r = use(bpf, p, &err);
	if (r && err.hint[0])
		fails_by(part, &err);
	else if (r)
		fails(part, -r, "", p->config);
	live_progs_unload(bpf);
}

static void try_program(struct probe *q, const struct live_prog *p)
{
	struct check_part *part = part_new(q, p->name, NULL);
	enum variant v;

	live_prog_hook(p, part->hook, sizeof(part->hook));
	part->hook_known = live_types_hook(part->hook, &part->hook_there);
	if (q->stuck) {
		part->state = CHECK_UNTRIED;
		return;
	}
	for (v = EXACT; v < VARIANTS && part->state == CHECK_OK; v++)
		if (v == EXACT || p->need == NEED_ALWAYS || p->need == NEED_NAMES)
			try_once(q, p, v, part);
}

/* ---- collectors ---- */

static const struct check_part *broken_of(struct checkup *c, const char *name)
{
	const struct check_part *p = part_find(c, name);

	return p && p->state != CHECK_OK ? p : NULL;
}

/* The first part of those that @need stands for which does not work; of a way for calls. */
static const struct check_part *broken_by(struct checkup *c, enum live_need need, size_t way)
{
	const struct check_part *p = NULL;
	size_t i;

	for (i = 0; i < live_nprogs && !p; i++)
		if (live_progs[i].need == need &&
		    (need != NEED_CALLS || live_prog_way(&live_progs[i]) == way))
			p = broken_of(c, live_progs[i].name);
	return p;
}

static const struct check_part *broken_base(struct checkup *c)
{
	const struct check_part *p = broken_of(c, PART_RINGS);

	if (!p)
		p = broken_of(c, PART_MAPS);
	return p ? p : broken_by(c, NEED_ALWAYS, 0);
}

/* Which of the ways a trace would take: the first that works from the one that is asked for. */
static const char *judge_ways(struct probe *q)
{
	const char *taken = NULL;
	bool from = !q->opts->attach_way;
	size_t i;

	for (i = 0; i < live_nways && i < CHECK_WAYS; i++) {
		struct check_way *w = &q->c->way[q->c->nway++];

		from = from || !strcmp(q->opts->attach_way, live_ways[i].name);
		*w = (struct check_way){ live_ways[i].name, !from,
					 broken_by(q->c, NEED_CALLS, i) };
		if (from && !w->broken && !taken)
			taken = w->name;
	}
	return taken;
}

/* ---- the whole ---- */

/* A trace as `run` begins it; what it adds is measured by its own child. */
static int measure(struct probe *q, struct launch *child, bool exact, bool routines,
		   struct err *err)
{
	struct live_setup setup = {
		.mode = exact ? SUM_EXACT : SUM_WAIT,
		.collect = SUM_SYSCALLS | SUM_THREADS | SUM_FUTEX | SUM_PIPES | SUM_SCHED,
		.stacks = true,
		.targets_only = true,
		.start_routines = routines,
		.libexec_dir = q->opts->libexec_dir,
		.attach_way = q->opts->attach_way,
	};
	struct live *l;
	int r = launch_start(child, &(struct launch_opts){ .argv = NULL }, err);

	if (r)
		return r;
	l = live_open(&setup, err);
	r = l ? live_target(l, child->pid, true, err) : -err->code;
	if (!r && live_start(l, err) < 0)
		r = -err->code;
	if (!r)
		r = launch_measure(child, err);
	if (l)
		r = live_stop(l, err) ? -err->code : r;
	live_free(l);
	return r;
}

/* All parts at once: what each needs by itself may be too much together. */
static void try_trace(struct probe *q, bool exact)
{
	struct check_part *p = part_new(q, PART_TRACE, "all together, as 'tracer run' begins");
	bool routines = !broken_by(q->c, NEED_ROUTINES, 0);
	struct launch child = {};
	struct err err = {};
	struct cost added;

	if (broken_base(q->c)) {
		p->state = CHECK_UNTRIED;
		return;
	}
	if (measure(q, &child, exact, routines, &err)) {
		fails_by(p, &err);
	} else if (exact) {
		cost_added(&child.bare, &child.traced, &added);
		q->c->has_cost = true;
		q->c->ns_per_syscall = added.call_ns;
		q->c->ns_per_futex = added.futex_ns;
		q->c->ns_per_chunk = added.chunk_ns;
		q->c->ns_per_routine = routines ? added.routine_ns : -1;
	}
	launch_release(&child);
	if (child.pid > 0)
		waitpid(child.pid, NULL, 0);
}

static void add_collector(struct checkup *c, struct check_collector row)
{
	row.works = !row.broken;
	c->collector[c->ncollector++] = row;
}

static void judge_collectors(struct probe *q, const char *call_way)
{
	static const char *const what[] = {
		"system calls", "creation and end of threads", "locks and who waits for whom",
		"pipes, sockets and eventfds", "on the CPU, ready, blocked",
	};
	const struct check_part *base = broken_base(q->c), *calls = NULL, *names;
	struct checkup *c = q->c;
	size_t i;

	if (!base)
		base = broken_of(c, PART_TRACE);
	for (i = 0; i < c->nway && !calls && !call_way; i++)
		calls = c->way[i].left_out ? NULL : c->way[i].broken;
	for (i = 0; i < live_ncollectors; i++) {
		const struct live_collector *row = &live_collectors[i];

		/* Exact mode attaches to the calls whatever is collected. */
		add_collector(c, (struct check_collector){
			.name = row->name,
			.what = what[i],
			.wait = base ? NULL : live_collector_way(row, SUM_WAIT, NULL),
			.exact = base || !call_way ? NULL :
				 live_collector_way(row, SUM_EXACT, call_way),
			.has_exact = true,
			.by_call = row->by_call,
			.broken = base ? base : calls,
		});
	}
	names = base ? base : broken_of(c, PART_NAMES);
	add_collector(c, (struct check_collector){
		.name = "stacks", .what = "stacks and the names in them", .broken = names,
		.wait = names ? NULL : "tp_btf/sched_switch, tracer-sym" });
	names = base ? base : broken_of(c, PART_KERNEL);
	add_collector(c, (struct check_collector){
		.name = "kernel-stacks", .what = "where in the kernel a wait is (--stacks)",
		.broken = names, .wait = names ? NULL : "tp_btf/sched_switch, kallsyms" });
	names = base ? base : broken_by(c, NEED_NAMES, 0);
	if (!names)
		names = broken_by(c, NEED_FILTER, 0);
	add_collector(c, (struct check_collector){
		.name = "filters", .what = "--comm, --cgroup", .broken = names,
		.wait = names ? NULL : "tp_btf" });
	names = base ? base : broken_by(c, NEED_NAMES, 0);
	add_collector(c, (struct check_collector){
		.name = "watch", .what = "looks at all threads, for top", .broken = names,
		.wait = names ? NULL : "tp_btf, mapped rows" });
	names = base ? base : broken_by(c, NEED_ROUTINES, 0);
	add_collector(c, (struct check_collector){
		.name = "start-routine", .what = "--start-routine", .broken = names,
		.wait = names ? NULL : "uprobe" });
	names = broken_of(c, PART_RECORD);
	add_collector(c, (struct check_collector){
		.name = "record", .what = "tracer record", .broken = names,
		.wait = names ? NULL : "tp_btf, seccomp, ptrace" });
	for (i = 0, c->works = true; i < c->ncollector; i++)
		c->works = c->works && c->collector[i].works;
}

__attribute__((format(printf, 2, 3)))
static void with_root(struct checkup *c, const char *fmt, ...)
{
	va_list ap;

	if (c->nwith_root == CHECK_ROOT_LINES)
		return;
	va_start(ap, fmt);
	vsnprintf(c->with_root[c->nwith_root++], CHECK_TEXT, fmt, ap);
	va_end(ap);
}

static void say_of_root(struct probe *q)
{
	size_t i, known = 0, there = 0, untried = 0;
	struct checkup *c = q->c;
	struct privilege who;

	privilege_read(&who);
	if (!who.uid)
		return;
	for (i = 0; i < c->npart; i++) {
		untried += c->part[i].state == CHECK_UNTRIED;
		known += c->part[i].hook_known;
		there += c->part[i].hook_known && c->part[i].hook_there;
		if (c->part[i].hook_known && !c->part[i].hook_there)
			with_root(c, "%s would not work: this kernel has no %s", c->part[i].name,
				  c->part[i].hook);
	}
	if (untried && known)
		with_root(c, "the %zu programs are really loaded and attached; of the hooks that "
			  "can be looked up the kernel has %zu of %zu", untried, there, known);
	else if (untried)
		with_root(c, "the %zu programs are really loaded and attached", untried);
	if (!c->has_cost)
		with_root(c, "what tracing adds to a call is measured");
	with_root(c, "processes of all users are traced, not only those of uid %u",
		  (unsigned int)who.uid);
}

int probe_run(struct checkup *c, const struct probe_opts *opts, struct err *err)
{
	struct probe q = { .c = c, .opts = opts, .ncpus = libbpf_num_possible_cpus() };
	const char *call_way;
	size_t i;
	int r = live_check_way(opts->attach_way, err);

	if (r)
		return r;
	if (q.ncpus < 1)
		q.ncpus = 1;
	try_rings(&q);
	try_maps(&q);
	q.stuck = c->part[0].state != CHECK_OK || c->part[1].state != CHECK_OK;
	for (i = 0; i < live_nprogs; i++)
		try_program(&q, &live_progs[i]);
	try_names(&q);
	try_kernel_names(&q);
	try_record(&q);
	call_way = judge_ways(&q);
	try_trace(&q, call_way != NULL);
	judge_collectors(&q, call_way);
	say_of_root(&q);
	return 0;
}
