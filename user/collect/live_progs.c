/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. One object holds all programs; what is not needed is not loaded, and
 * constants in its read-only data let the verifier drop the code of collectors
 * that are off. System calls have two ways to attach, tried in order by really
 * loading.
 */
#include "collect/live_progs.h"

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
#include <unistd.h>

#include "collect/live_state.h"
#include "collect/live_types.h"
#include "collect/privilege.h"
#include "live.skel.h"

const struct live_way live_ways[] = {
	{ "tp_btf", "call_enter_btf", "call_exit_btf" },
	{ "raw_tp", "call_enter_raw", "call_exit_raw" },
};
const size_t live_nways = sizeof(live_ways) / sizeof(live_ways[0]);

#define CALLS	"CONFIG_FTRACE_SYSCALLS"
#define EVENTS	"CONFIG_BPF_EVENTS"

const struct live_prog live_progs[] = {
	{ "learn_self",		NEED_ALWAYS,	HOOK_RUN,	 EVENTS },
	{ "mark_tasks",		NEED_ALWAYS,	HOOK_ITERATOR,	 "CONFIG_BPF_SYSCALL" },
	{ "dump_tasks",		NEED_ALWAYS,	HOOK_ITERATOR,	 "CONFIG_BPF_SYSCALL" },
	{ "forked",		NEED_ALWAYS,	HOOK_TRACEPOINT, EVENTS },
	{ "execed",		NEED_ALWAYS,	HOOK_TRACEPOINT, EVENTS },
	{ "renamed",		NEED_NAMES,	HOOK_TRACEPOINT, EVENTS },
	{ "cgroup_joined",	NEED_FILTER,	HOOK_TRACEPOINT, "CONFIG_CGROUPS" },
	{ "new_woken",		NEED_FILTER,	HOOK_TRACEPOINT, EVENTS },
	{ "sched_switched",	NEED_ALWAYS,	HOOK_TRACEPOINT, EVENTS },
	{ "sched_woken",	NEED_ALWAYS,	HOOK_TRACEPOINT, EVENTS },
	{ "call_exit_btf",	NEED_CALLS,	HOOK_TRACEPOINT, CALLS },
	{ "call_exit_raw",	NEED_CALLS,	HOOK_TRACEPOINT, CALLS },
	{ "call_enter_btf",	NEED_CALLS,	HOOK_TRACEPOINT, CALLS },
	{ "call_enter_raw",	NEED_CALLS,	HOOK_TRACEPOINT, CALLS },
	{ "routine_begins",	NEED_ROUTINES,	HOOK_UPROBE,	 "CONFIG_UPROBE_EVENTS" },
	{ "tape_batch",		NEED_PIPES,	HOOK_TAPE,	 "CONFIG_UPROBE_EVENTS" },
};
const size_t live_nprogs = sizeof(live_progs) / sizeof(live_progs[0]);

const struct live_collector live_collectors[] = {
	{ "syscalls", SUM_SYSCALLS, true },
	{ "threads", SUM_THREADS, false },
	{ "futex", SUM_FUTEX, true },
	{ "pipes", SUM_PIPES, true },
	{ "sched", SUM_SCHED, false },
};
const size_t live_ncollectors = sizeof(live_collectors) / sizeof(live_collectors[0]);

const char *live_collector_way(const struct live_collector *c, enum sum_mode mode,
			       const char *call_way)
{
	return mode == SUM_WAIT ? "tp_btf/sched_switch" : c->by_call ? call_way : "tp_btf";
}

size_t live_prog_way(const struct live_prog *p)
{
	size_t way;

	for (way = 0; way < live_nways; way++)
		if (!strcmp(p->name, live_ways[way].enter) || !strcmp(p->name, live_ways[way].exit))
			break;
	return way;
}

int live_check_way(const char *name, struct err *err)
{
	size_t way;

	for (way = 0; name && way < live_nways; way++)
		if (!strcmp(name, live_ways[way].name))
			return 0;
	return name ? err_set(err, EINVAL, "there is no way to attach called '%s': it is "
			      "tp_btf or raw_tp", name) : 0;
}

/* ---- what is said ---- */

static char said[512];
static bool said_by_verifier;

/* The verifier's reason is the last line of its log but its statistics. */
static void keep_last_line(const char *log)
{
	const char *end = strstr(log, "-- END PROG LOAD LOG --"), *line = log, *next;

	for (; line && *line && line != end; line = next ? next + 1 : NULL) {
		next = strchr(line, '\n');
		if (next == line || !strncmp(line, "processed ", 10) || !next)
			continue;
		snprintf(said, sizeof(said), "%.*s", (int)(next - line), line);
		said_by_verifier = true;
	}
}

/* What libbpf said first, until the verifier itself has a word. */
__attribute__((format(printf, 2, 0)))
static int keep_said(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	const char *begin;
	char *text;

	if (level != LIBBPF_WARN || said_by_verifier || vasprintf(&text, fmt, ap) < 0)
		return 0;
	begin = strstr(text, "-- BEGIN PROG LOAD LOG --\n");
	if (begin)
		keep_last_line(strchr(begin, '\n') + 1);
	else if (!said[0])
		snprintf(said, sizeof(said), "%.*s", (int)strcspn(text, "\n"), text);
	free(text);
	return 0;
}

const char *live_progs_said(void)
{
	return said;
}

/* ---- loading ---- */

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

static int load_once(struct live_bpf **bpf, const struct live_load_opts *o)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .btf_custom_path = live_types_path());
	struct bpf_program *prog;
	struct live_bpf *b;
	size_t i;
	int r;

	b = live_bpf__open_opts(&opts);
	if (!b)
		return -errno;
	memcpy(&b->rodata->cfg, o->cfg, sizeof(*o->cfg));
	live_classes(b->rodata->call_class, b->rodata->call_path_args, b->rodata->call_fd_args,
		     o->calls);
	for (i = 0; i < live_nprogs; i++) {
		prog = bpf_object__find_program_by_name(b->obj, live_progs[i].name);
		if (prog)
			bpf_program__set_autoload(prog, o->wanted(o->ctx, &live_progs[i]));
	}
	bpf_map__set_max_entries(b->maps.rings, (uint32_t)o->ncpus);
	if (o->cfg->watch) {
		bpf_map__set_max_entries(b->maps.seen, o->cfg->watch_rows);
		bpf_map__set_max_entries(b->maps.seen_free, o->cfg->watch_rows);
		bpf_map__set_max_entries(b->maps.ended, o->cfg->watch_rows);
	}
	r = live_bpf__load(b);
	if (r)
		live_bpf__destroy(b);
	else
		*bpf = b;
	return r;
}

/* By the small type information first; whatever ails that, libbpf's own way is left. */
int live_progs_load(struct live_bpf **bpf, const struct live_load_opts *opts)
{
	size_t elf_bytes;
	const void *elf = live_bpf__elf_bytes(&elf_bytes);
	int r;

	libbpf_set_print(keep_said);
	said[0] = '\0';
	said_by_verifier = false;
	r = live_types_begin(elf, elf_bytes);
	if (!r) {
		opts->cfg->switch_has_state = live_types_switch_state();
		r = load_once(bpf, opts);
		live_types_end();
	}
	if (r && r != -EPERM) {
		opts->cfg->switch_has_state = switch_has_state();
		r = load_once(bpf, opts);
	}
	return r;
}

void live_config_user(struct live_config *cfg)
{
	if (!getuid())
		return;
	cfg->uid_filter = 1;
	cfg->uid = getuid();
	cfg->gid = getgid();
	cfg->own_caps = privilege_own();
}

void live_prog_hook(const struct live_prog *p, char *hook, size_t bytes)
{
	struct live_bpf *b = live_bpf__open();
	struct bpf_program *prog = b ? bpf_object__find_program_by_name(b->obj, p->name) : NULL;

	snprintf(hook, bytes, "%s", prog ? bpf_program__section_name(prog) : "");
	live_progs_unload(b);
}

void live_progs_unload(struct live_bpf *bpf)
{
	if (bpf)
		live_bpf__destroy(bpf);
}

struct bpf_program *live_prog_find(struct live_bpf *bpf, const struct live_prog *p)
{
	struct bpf_program *prog = bpf_object__find_program_by_name(bpf->obj, p->name);

	return prog && bpf_program__autoload(prog) ? prog : NULL;
}

int live_prog_attach(struct bpf_program *prog, struct bpf_link **link)
{
	*link = bpf_program__type(prog) == BPF_PROG_TYPE_TRACING ?
		bpf_program__attach_trace(prog) : bpf_program__attach(prog);
	return *link ? 0 : -errno;
}

int live_prog_iterate(struct bpf_program *prog)
{
	struct bpf_link *link = bpf_program__attach_iter(prog, NULL);
	int fd;

	if (!link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(link));
	/* The open iterator keeps what it needs. */
	bpf_link__destroy(link);
	return fd;
}

int live_learn_self(struct live_bpf *bpf, struct err *err)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	struct live_self *self = &bpf->bss->self;
	int fd[2] = { -1, -1 }, event = eventfd(0, EFD_CLOEXEC), r = 0;

	if (event < 0 || pipe2(fd, O_CLOEXEC))
		r = err_sys(err, errno, "cannot make a pipe");
	self->pipe_fd = (uint32_t)fd[0];
	self->event_fd = (uint32_t)event;
	if (!r && bpf_prog_test_run_opts(bpf_program__fd(bpf->progs.learn_self), &opts))
		r = err_sys(err, errno, "cannot learn the tracer's own namespace");
	if (event >= 0)
		close(event);
	if (fd[0] >= 0) {
		close(fd[0]);
		close(fd[1]);
	}
	return r;
}
