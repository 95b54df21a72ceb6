/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. A trace's set-up as the constants of the BPF programs, its maps, and the
 * programs by the rows of live_progs.c. Births are attached first, then the
 * rest; only then are the targets' threads looked for, so that none slips between.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "collect/cgroup.h"
#include "collect/commre.h"
#include "collect/live_progs.h"
#include "collect/live_routine.h"
#include "collect/proc.h"
#include "collect/refusal.h"
#include "collect/watch_state.h"
#include "live.skel.h"
#include "sym/symkernel.h"

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
	live_config_user(cfg);
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

/* What a trace loads: of the ways to see calls, the one that is tried. */
struct choice { const struct live_setup *setup; bool filter; size_t way; };

static bool wanted(void *ctx, const struct live_prog *p)
{
	const struct choice *c = ctx;

	switch (p->need) {
	case NEED_ALWAYS:
		return true;
	case NEED_CALLS:
		return c->setup->mode == SUM_EXACT && live_prog_way(p) == c->way;
	case NEED_FILTER:
		return c->filter;
	case NEED_ROUTINES:
		return c->setup->start_routines;
	case NEED_NAMES:
		return c->filter || c->setup->watch;
	case NEED_PIPES:
		return (c->setup->collect & SUM_PIPES) && !c->setup->watch &&
		       !c->setup->again;
	}
	return false;
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

/* Read as memory, while the programs write it. */
static int map_seen(struct live *l, uint32_t rows, struct err *err)
{
	void *at = mmap(NULL, rows * sizeof(*l->seen), PROT_READ, MAP_SHARED,
			bpf_map__fd(l->bpf->maps.seen), 0);

	if (at == MAP_FAILED)
		return err_sys(err, errno, "cannot map the threads' rows");
	l->seen = at;
	l->seen_rows = rows;
	return 0;
}

uint32_t live_seen_used(const struct live *l)
{
	uint32_t used = __atomic_load_n(&l->bpf->bss->seen_used, __ATOMIC_RELAXED);

	return used < l->seen_rows ? used : (uint32_t)l->seen_rows - 1;
}

static int attach_all(struct live *l, struct err *err)
{
	struct bpf_program *prog;
	size_t i;
	int r;

	for (i = 0; i < live_nprogs; i++) {
		prog = live_prog_find(l->bpf, &live_progs[i]);
		if (!prog || live_progs[i].hook != HOOK_TRACEPOINT)
			continue;
		r = live_prog_attach(prog, &l->link[l->nlink]);
		if (r)
			return err_sys(err, -r, "cannot attach %s", live_progs[i].name);
		l->nlink++;
	}
	return 0;
}

/* By the ways in their order, from that which was asked for. */
static int load_by_a_way(struct live *l, const struct live_setup *setup, struct live_config *cfg,
			 struct err *err)
{
	struct choice choice = { .setup = setup, .filter = cfg->comm_filter || cfg->cgroup_filter };
	struct live_load_opts opts = {
		.cfg = cfg, .calls = setup->calls, .ncpus = l->ncpus,
		.wanted = wanted, .ctx = &choice,
	};
	int r = -ENOENT;
	size_t *way = &choice.way;

	for (; *way < live_nways; ++*way) {
		if (setup->attach_way && strcmp(setup->attach_way, live_ways[*way].name) && !l->way)
			continue;
		r = live_progs_load(&l->bpf, &opts);
		l->way = live_ways[*way].name;
		if (!r || r == -EPERM)
			break;
	}
	if (!r)
		return 0;
	return refusal_err(err, -r, "cannot load the BPF programs", live_progs_said(), NULL);
}

/* Room for twice the threads that there are, and for a burst of them. */
static uint32_t live_seen_rows(uint64_t threads)
{
	uint64_t rows = 65536;

	while (rows < threads * 2 && rows < 1 << 20)
		rows *= 2;
	return (uint32_t)rows;
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
	int r;

	if (setup->watch) {
		cfg.watch = 1;
		cfg.watch_rows = live_seen_rows(proc_all_threads());
	}
	if (!re)
		return err_sys(err, ENOMEM, "cannot set up the trace");
	if (live_check_way(setup->attach_way, err) || configure_filter(&cfg, setup, re, err) ||
	    configure_paths(&cfg, setup, err)) {
		r = -err->code;
		goto out;
	}
	r = load_by_a_way(l, setup, &cfg, err);
	if (!r)
		r = put_maps(l, re, err);
	if (!r && cfg.watch)
		r = map_seen(l, cfg.watch_rows, err);
	if (!r)
		r = live_learn_self(l->bpf, err);
	if (!r)
		r = attach_all(l, err);
	if (!r && setup->start_routines)
		r = live_routine_open(l, l->bpf->progs.routine_begins, err);
	if (!r && setup->again && live_again_keep(l))
		r = err_sys(err, ENOMEM, "cannot set up the trace");
out:
	free(re);
	return r;
}

void live_detach(struct live *l)
{
	size_t i;

	live_routine_detach(l);
	bpf_link__destroy(l->tape_link);
	l->tape_link = NULL;
	/* Last attached, first off: no call is entered that cannot return. */
	for (i = l->nlink; i-- > 0;)
		bpf_link__destroy(l->link[i]);
	l->nlink = 0;
}

void live_unload(struct live *l)
{
	live_detach(l);
	if (l->seen)
		munmap((void *)l->seen, l->seen_rows * sizeof(*l->seen));
	l->seen = NULL;
	live_progs_unload(l->bpf);
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

void live_moved(struct live *l)
{
	__atomic_fetch_add(&l->bpf->bss->counts.moved, 1, __ATOMIC_RELAXED);
}

void live_forget_full(struct live *l, uint64_t n)
{
	__atomic_fetch_sub(&l->bpf->bss->counts.map_full, n, __ATOMIC_RELAXED);
}

uint64_t live_missed_ever(const struct live *l)
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
		if (l->watch)
			watch_still(l->watch, &row);
		else
			live_still(l, &row);
		at += bytes;
	}
	return at;
}

/* Runs an iterator over all tasks; the dump's output is taken in. */
int live_iterate(struct live *l, bool dump, struct err *err)
{
	int fd = live_prog_iterate(dump ? l->bpf->progs.dump_tasks : l->bpf->progs.mark_tasks);
	char rows[64 * sizeof(struct live_alive)];
	size_t have = 0, used;
	ssize_t n;

	if (fd < 0)
		return err_sys(err, -fd, "cannot look through the threads");
	l->bpf->bss->stopped_ns = l->stopped_ns;
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
	return n < 0 ? err_sys(err, errno, "cannot look through the threads") : 0;
}

int live_peek(struct live *l, const struct live_futex_key *key)
{
	struct err ignored = { 0 };

	l->bpf->bss->peek_addr = key->addr;
	l->bpf->bss->peek_space = key->space;
	return live_iterate(l, true, &ignored);
}
