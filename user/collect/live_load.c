/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. One object holds all programs; what a trace does not need is not
 * loaded, and constants in its read-only data let the verifier drop the code of
 * collectors that are off. System calls have two ways to attach, tried in order
 * by really loading. Births are attached first, then the rest; only then are
 * the targets' threads looked for, so that none slips between.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "collect/cgroup.h"
#include "collect/commre.h"
#include "collect/live_routine.h"
#include "collect/live_state.h"
#include "collect/live_types.h"
#include "live.skel.h"
#include "sym/symkernel.h"

#define VMLINUX_BTF "/sys/kernel/btf/vmlinux"

/* The ways to see system calls, best first: typed registers, or looked up. */
static const struct { const char *name, *enter, *exit; } call_ways[] = {
	{ "tp_btf", "call_enter_btf", "call_exit_btf" },
	{ "raw_tp", "call_enter_raw", "call_exit_raw" },
};
#define NWAYS (sizeof(call_ways) / sizeof(call_ways[0]))

/* When a program is needed, and in which order they are attached. */
enum need { NEED_ALWAYS, NEED_EXACT, NEED_FILTER, NEED_ROUTINES, NEED_WATCH };
static const struct { const char *name; enum need need; } attach_order[] = {
	{ "forked",		NEED_ALWAYS },
	{ "execed",		NEED_ALWAYS },
	{ "renamed",		NEED_FILTER },
	{ "cgroup_joined",	NEED_FILTER },
	{ "new_woken",		NEED_FILTER },
	{ "sched_switched",	NEED_ALWAYS },
	{ "sched_woken",	NEED_ALWAYS },
	{ "call_exit_btf",	NEED_EXACT },
	{ "call_exit_raw",	NEED_EXACT },
	{ "call_enter_btf",	NEED_EXACT },
	{ "call_enter_raw",	NEED_EXACT },
	{ "watch_tasks",	NEED_WATCH },		/* an iterator: opened at each look */
	{ "routine_begins",	NEED_ROUTINES },	/* a uprobe: live_routine.c attaches it */
};
#define NATTACH (sizeof(attach_order) / sizeof(attach_order[0]))

/* What libbpf said last: the verifier's reason, when a load fails. */
static char libbpf_said[512];

__attribute__((format(printf, 2, 0)))
static int keep_said(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	if (level == LIBBPF_WARN && !libbpf_said[0])
		vsnprintf(libbpf_said, sizeof(libbpf_said), fmt, ap);
	return 0;
}

static int explain(int code, struct err *err)
{
	struct utsname un;
	size_t len;

	if (code == EPERM) {
		err_set(err, EPERM, "cannot load the BPF programs: permission denied");
		err_hint(err, "run it with sudo, or give it CAP_BPF and CAP_PERFMON");
		return -EPERM;
	}
	if (access(VMLINUX_BTF, R_OK)) {
		err_set(err, ENOENT, "cannot load the BPF programs: the kernel has no type "
			"information (%s)", VMLINUX_BTF);
		err_hint(err, "it needs a kernel built with CONFIG_DEBUG_INFO_BTF=y, as "
			 "Debian's are");
		return -ENOENT;
	}
	len = strcspn(libbpf_said, "\n");
	libbpf_said[len] = '\0';
	uname(&un);
	err_sys(err, code, "cannot load the BPF programs on Linux %s", un.release);
	if (code == EMFILE) {
		err_hint(err, "64 file descriptors are needed: raise the limit, as in "
			 "'ulimit -n 1024'");
		return -code;
	}
	err_hint(err, "Linux 5.17 or newer is needed%s%s", len ? "; libbpf says: " : "",
		 libbpf_said);
	return -code;
}

/* sched_switch grew the state it switches out with in 5.18. */
static bool switch_has_state(void)
{
	struct btf *btf = btf__load_vmlinux_btf();
	const struct btf_type *t;
	bool has = false;
	int id;

	if (libbpf_get_error(btf))
		return false;
	id = btf__find_by_name_kind(btf, "btf_trace_sched_switch", BTF_KIND_TYPEDEF);
	if (id > 0) {
		t = btf__type_by_id(btf, btf__type_by_id(btf, (__u32)id)->type);
		t = t ? btf__type_by_id(btf, t->type) : NULL;
		has = t && btf_is_func_proto(t) && btf_vlen(t) >= 5;
	}
	btf__free(btf);
	return has;
}

static int configure_filter(struct live_config *cfg, const struct live_setup *setup,
			    struct commre *re, struct err *err)
{
	struct cgroup_target cg;

	if (setup->comm) {
		if (commre_compile(re, setup->comm, err))
			return err_prefix(err, "--comm");
		cfg->comm_filter = 1;
	}
	if (setup->cgroup) {
		if (cgroup_find(setup->cgroup, &cg, err))
			return err_prefix(err, "--cgroup");
		cfg->cgroup_filter = 1;
		cfg->cgroup_id = cg.id;
		cfg->cgroup_level = cg.level;
	}
	if (setup->user) {
		cfg->user_filter = 1;
		cfg->user = setup->uid;
	}
	cfg->filter = setup->comm || setup->cgroup || setup->user || !setup->targets_only;
	cfg->targets_only = setup->targets_only;
	if (getuid()) {
		cfg->uid_filter = 1;
		cfg->uid = getuid();
		cfg->gid = getgid();
	}
	return 0;
}

static int configure_paths(struct live_config *cfg, const struct live_setup *setup, struct err *err)
{
	struct stat st;
	size_t i;

	if (setup->npaths > LIVE_PATHS)
		return err_set(err, E2BIG, "too many -P paths: %d at most", LIVE_PATHS);
	for (i = 0; i < setup->npaths; i++) {
		if (strlen(setup->paths[i]) >= LIVE_PATH_BYTES)
			return err_set(err, ENAMETOOLONG, "-P path is longer than %d bytes: %s",
				       LIVE_PATH_BYTES - 1, setup->paths[i]);
		strcpy(cfg->path[i], setup->paths[i]);
		if (!stat(setup->paths[i], &st)) {
			cfg->path_ino[i] = st.st_ino;
			/* The kernel's own device numbers: 12 bits major, 20 minor. */
			cfg->path_dev[i] = major(st.st_dev) << 20 | minor(st.st_dev);
		}
	}
	cfg->npaths = (uint32_t)setup->npaths;
	cfg->path_filter = setup->npaths > 0;
	return 0;
}

static bool wanted(const char *name, const struct live_setup *setup, bool filter, size_t way)
{
	size_t i, w;

	for (w = 0; w < NWAYS; w++)
		if (w != way && (!strcmp(name, call_ways[w].enter) ||
				 !strcmp(name, call_ways[w].exit)))
			return false;
	for (i = 0; i < NATTACH; i++)
		if (!strcmp(name, attach_order[i].name))
			return attach_order[i].need == NEED_ALWAYS ||
			       (attach_order[i].need == NEED_EXACT && setup->mode == SUM_EXACT) ||
			       (attach_order[i].need == NEED_FILTER && filter) ||
			       (attach_order[i].need == NEED_ROUTINES && setup->start_routines) ||
			       (attach_order[i].need == NEED_WATCH && setup->watch);
	return true;	/* the iterators */
}

static int put_maps(struct live *l, const struct commre *re, struct err *err)
{
	struct live_bpf *b = l->bpf;
	uint32_t zero = 0, cpu;
	int fd;

	for (cpu = 0; cpu < ring_count(l->ring); cpu++) {
		fd = ring_fd(l->ring, cpu);
		if (bpf_map__update_elem(b->maps.rings, &cpu, sizeof(cpu), &fd, sizeof(fd), 0))
			return err_sys(err, errno, "cannot set up the event ring of CPU %u", cpu);
	}
	b->bss->ring_wake_bytes = ring_bytes(l->ring) / 4;
	if (b->rodata->cfg.comm_filter &&
	    bpf_map__update_elem(b->maps.comm_dfa, &zero, sizeof(zero), re, sizeof(*re), 0))
		return err_sys(err, errno, "cannot set up the filter by name");
	return 0;
}

static int load_by(struct live *l, const struct live_setup *setup, const struct live_config *cfg,
		   size_t way)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .btf_custom_path = live_types_path());
	struct bpf_program *prog;
	struct live_bpf *b;
	int r;

	b = live_bpf__open_opts(&opts);
	if (!b)
		return -errno;
	l->bpf = b;
	memcpy(&b->rodata->cfg, cfg, sizeof(*cfg));
	live_classes(b->rodata->call_class, b->rodata->call_path_args, b->rodata->call_fd_args,
		     setup->calls);
	bpf_object__for_each_program(prog, b->obj)
		bpf_program__set_autoload(prog, wanted(bpf_program__name(prog), setup,
						       cfg->comm_filter || cfg->cgroup_filter,
						       way));
	bpf_map__set_max_entries(b->maps.rings, (uint32_t)l->ncpus);
	r = live_bpf__load(b);
	if (r) {
		live_bpf__destroy(b);
		l->bpf = NULL;
	}
	return r;
}

/* By the small type information first; whatever ails that, libbpf's own way is left. */
static int load_way(struct live *l, const struct live_setup *setup, struct live_config *cfg,
		    size_t way)
{
	size_t elf_bytes;
	const void *elf = live_bpf__elf_bytes(&elf_bytes);
	int r = live_types_begin(elf, elf_bytes);

	if (!r) {
		cfg->switch_has_state = live_types_switch_state();
		r = load_by(l, setup, cfg, way);
		live_types_end();
	}
	if (r && r != -EPERM) {
		cfg->switch_has_state = switch_has_state();
		r = load_by(l, setup, cfg, way);
	}
	return r;
}

static int learn_self(struct live *l, struct err *err)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	struct live_self *self = &l->bpf->bss->self;
	int fd[2] = { -1, -1 }, event = eventfd(0, EFD_CLOEXEC), r = 0;

	if (event < 0 || pipe2(fd, O_CLOEXEC))
		r = err_sys(err, errno, "cannot make a pipe");
	self->pipe_fd = (uint32_t)fd[0];
	self->event_fd = (uint32_t)event;
	if (!r && bpf_prog_test_run_opts(bpf_program__fd(l->bpf->progs.learn_self), &opts))
		r = err_sys(err, errno, "cannot learn the tracer's own namespace");
	if (event >= 0)
		close(event);
	if (fd[0] >= 0) {
		close(fd[0]);
		close(fd[1]);
	}
	return r;
}

static int attach_all(struct live *l, struct err *err)
{
	struct bpf_program *prog;
	struct bpf_link *link;
	size_t i;

	for (i = 0; i < NATTACH; i++) {
		prog = bpf_object__find_program_by_name(l->bpf->obj, attach_order[i].name);
		if (!prog || !bpf_program__autoload(prog) ||
		    attach_order[i].need == NEED_ROUTINES || attach_order[i].need == NEED_WATCH)
			continue;
		link = bpf_program__type(prog) == BPF_PROG_TYPE_TRACING ?
			bpf_program__attach_trace(prog) : bpf_program__attach(prog);
		if (!link)
			return err_sys(err, errno, "cannot attach %s", attach_order[i].name);
		l->link[l->nlink++] = link;
	}
	return 0;
}

static int check_way(const char *name, struct err *err)
{
	size_t way;

	for (way = 0; name && way < NWAYS; way++)
		if (!strcmp(name, call_ways[way].name))
			return 0;
	return name ? err_set(err, EINVAL, "there is no way to attach called '%s': it is "
			      "tp_btf or raw_tp", name) : 0;
}

int live_load(struct live *l, const struct live_setup *setup, struct err *err)
{
	struct live_config cfg = {
		.collect = setup->collect,
		.exact = setup->mode == SUM_EXACT,
		.timeline = setup->timeline != NULL,
		.stacks = setup->stacks,
		.kernel_frames = setup->kernel_stacks && !getuid() && symkernel_visible(),
		.routines = setup->start_routines,
		.slice_min_ns = setup->slice_min_ns,
	};
	struct commre *re = calloc(1, sizeof(*re));
	int r = -ENOMEM;
	size_t way;

	if (!re)
		return err_sys(err, ENOMEM, "cannot set up the trace");
	libbpf_set_print(keep_said);
	libbpf_said[0] = '\0';
	if (check_way(setup->attach_way, err) || configure_filter(&cfg, setup, re, err) ||
	    configure_paths(&cfg, setup, err)) {
		r = -err->code;
		goto out;
	}
	for (way = 0; way < NWAYS; way++) {
		if (setup->attach_way && strcmp(setup->attach_way, call_ways[way].name) && !l->way)
			continue;
		r = load_way(l, setup, &cfg, way);
		l->way = call_ways[way].name;
		if (!r || r == -EPERM)
			break;
	}
	if (r) {
		r = explain(-r, err);
		goto out;
	}
	r = put_maps(l, re, err);
	if (!r)
		r = learn_self(l, err);
	if (!r)
		r = attach_all(l, err);
	if (!r && setup->start_routines)
		r = live_routine_open(l, l->bpf->progs.routine_begins, err);
out:
	free(re);
	return r;
}

void live_detach(struct live *l)
{
	size_t i;

	live_routine_detach(l);
	/* Last attached, first off: no call is entered that cannot return. */
	for (i = l->nlink; i-- > 0;)
		bpf_link__destroy(l->link[i]);
	l->nlink = 0;
}

void live_unload(struct live *l)
{
	live_detach(l);
	bpf_link__destroy(l->watch_link);
	l->watch_link = NULL;
	if (l->bpf)
		live_bpf__destroy(l->bpf);
	l->bpf = NULL;
}

int live_map_fd(const struct live *l, const char *name)
{
	return bpf_object__find_map_fd_by_name(l->bpf->obj, name);
}

const struct live_counts *live_counts(const struct live *l)
{
	return &l->bpf->bss->counts;
}

void live_close(struct live *l)
{
	__atomic_store_n(&l->bpf->bss->counts.closing, 1, __ATOMIC_RELAXED);
}

void live_forget_full(struct live *l, uint64_t n)
{
	__atomic_fetch_sub(&l->bpf->bss->counts.map_full, n, __ATOMIC_RELAXED);
}

uint64_t live_missed(const struct live *l)
{
	struct bpf_program *prog;
	uint64_t missed = 0;

	bpf_object__for_each_program(prog, l->bpf->obj) {
		struct bpf_prog_info info = {};
		__u32 len = sizeof(info);

		if (bpf_program__fd(prog) >= 0 &&
		    !bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &len))
			missed += info.recursion_misses;
	}
	return missed;
}

int live_target_put(struct live *l, uint32_t pid, bool own, struct err *err)
{
	uint32_t flags = own ? LIVE_TARGET_OWN : 0;

	if (bpf_map__update_elem(l->bpf->maps.targets, &pid, sizeof(pid), &flags, sizeof(flags), 0))
		return err_sys(err, errno, "cannot trace pid %u", pid);
	return 0;
}

int live_watch_open(struct live *l, uint64_t since_ns)
{
	if (!l->watch_link)
		l->watch_link = bpf_program__attach_iter(l->bpf->progs.watch_tasks, NULL);
	if (!l->watch_link)
		return -errno;
	l->bpf->bss->watched_ns = since_ns;
	return bpf_iter_create(bpf_link__fd(l->watch_link));
}

/* Takes in the rows that are there as a whole; the bytes that they are. */
static size_t take_alive(struct live *l, const char *rows, size_t have)
{
	size_t at = 0;

	while (have - at >= sizeof(struct live_alive)) {
		struct live_still row = { 0 };
		size_t bytes = sizeof(row.alive);

		memcpy(&row.alive, rows + at, bytes);
		if (row.alive.nkernel)
			bytes = sizeof(row);
		if (have - at < bytes)
			break;
		memcpy(&row, rows + at, bytes);
		live_still(l, &row);
		at += bytes;
	}
	return at;
}

/* Runs an iterator over all tasks; the dump's output is taken in. */
int live_iterate(struct live *l, bool dump, struct err *err)
{
	struct bpf_link *link = bpf_program__attach_iter(dump ? l->bpf->progs.dump_tasks :
							 l->bpf->progs.mark_tasks, NULL);
	char rows[64 * sizeof(struct live_alive)];
	size_t have = 0, used;
	ssize_t n;
	int fd;

	l->bpf->bss->stopped_ns = l->stopped_ns;
	if (!link)
		return err_sys(err, errno, "cannot look through the threads");
	fd = bpf_iter_create(bpf_link__fd(link));
	if (fd < 0) {
		bpf_link__destroy(link);
		return err_sys(err, -fd, "cannot look through the threads");
	}
	for (;;) {
		n = read(fd, rows + have, sizeof(rows) - have);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0)
			break;
		have += (size_t)n;
		used = take_alive(l, rows, have);
		memmove(rows, rows + used, have - used);
		have -= used;
	}
	close(fd);
	bpf_link__destroy(link);
	return n < 0 ? err_sys(err, errno, "cannot look through the threads") : 0;
}
