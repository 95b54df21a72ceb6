/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. libbpf looks up the type that a tp_btf or iter program attaches to in
 * the kernel's whole BTF, which it reads, copies and indexes for that. Programs
 * with a handler of ours are of a type that needs no look-up until just before
 * they are loaded; there the handler gives them their own, with the id.
 */
#include "collect/live_types.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/btf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/kbtf.h"

#define VMLINUX_BTF "/sys/kernel/btf/vmlinux"

static struct kbtf_id ids[] = {
	{ "btf_trace_sched_process_fork", BTF_KIND_TYPEDEF, 0 },
	{ "btf_trace_sched_process_exec", BTF_KIND_TYPEDEF, 0 },
	{ "btf_trace_sched_switch", BTF_KIND_TYPEDEF, 0 },
	{ "btf_trace_sched_waking", BTF_KIND_TYPEDEF, 0 },
	{ "btf_trace_sched_wakeup_new", BTF_KIND_TYPEDEF, 0 },
	{ "btf_trace_task_rename", BTF_KIND_TYPEDEF, 0 },
	{ "btf_trace_cgroup_attach_task", BTF_KIND_TYPEDEF, 0 },
	{ "btf_trace_sys_enter", BTF_KIND_TYPEDEF, 0 },
	{ "btf_trace_sys_exit", BTF_KIND_TYPEDEF, 0 },
	{ "bpf_iter_task", BTF_KIND_FUNC, 0 },
};
#define NIDS (sizeof(ids) / sizeof(ids[0]))

static char path[64];
static int fd = -1, tp_handler = -1, iter_handler = -1;
static bool switch_state, looked;

static uint32_t id_of(const char *prefix, const char *name)
{
	size_t len = strlen(prefix), i;

	for (i = 0; i < NIDS; i++)
		if (!strncmp(ids[i].name, prefix, len) && !strcmp(ids[i].name + len, name))
			return ids[i].id;
	return 0;
}

static int prepare(struct bpf_program *prog, struct bpf_prog_load_opts *opts, long cookie)
{
	const char *section = strchr(bpf_program__section_name(prog), '/');
	enum bpf_attach_type attach = (enum bpf_attach_type)cookie;

	opts->attach_btf_id = !section ? 0 : id_of(attach == BPF_TRACE_ITER ? "bpf_iter_" :
								     "btf_trace_", section + 1);
	if (!opts->attach_btf_id)
		return -ESRCH;
	opts->expected_attach_type = attach;
	bpf_program__set_expected_attach_type(prog, attach);
	return bpf_program__set_type(prog, BPF_PROG_TYPE_TRACING);
}

/*
 * libbpf before 1.3 frees its list of handlers twice when the last one goes and
 * another comes later: one that matches nothing stays in it for good.
 */
static void keep_list(void)
{
	static bool kept;

	if (!kept)
		kept = libbpf_register_prog_handler("tracer_no_such_section",
						    BPF_PROG_TYPE_RAW_TRACEPOINT, 0, NULL) >= 0;
}

static int handle(const char *section, enum bpf_attach_type attach)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .cookie = attach,
		    .prog_prepare_load_fn = prepare);

	return libbpf_register_prog_handler(section, BPF_PROG_TYPE_RAW_TRACEPOINT, 0, &opts);
}

int live_types_begin(const void *elf, size_t elf_bytes)
{
	struct kbtf *k = kbtf_open(VMLINUX_BTF);
	size_t i;
	int r;

	if (!k)
		return -errno;
	for (i = 0; i < NIDS; i++)
		ids[i].id = 0;
	fd = kbtf_reduce(k, elf, elf_bytes, ids, NIDS);
	looked = fd >= 0;
	switch_state = kbtf_prototype_args(k, id_of("btf_trace_", "sched_switch")) >= 5;
	kbtf_close(k);
	if (fd < 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	keep_list();
	tp_handler = handle("tp_btf+", BPF_TRACE_RAW_TP);
	iter_handler = handle("iter+", BPF_TRACE_ITER);
	r = tp_handler < 0 ? tp_handler : iter_handler < 0 ? iter_handler : 0;
	if (r)
		live_types_end();
	return r;
}

bool live_types_hook(const char *section, bool *there)
{
	const char *name = strchr(section, '/');

	if (!looked || !name)
		return false;
	*there = id_of(!strncmp(section, "iter/", 5) ? "bpf_iter_" : "btf_trace_", name + 1);
	return true;
}

const char *live_types_path(void)
{
	return fd >= 0 ? path : NULL;
}

bool live_types_switch_state(void)
{
	return switch_state;
}

void live_types_end(void)
{
	if (tp_handler >= 0)
		libbpf_unregister_prog_handler(tp_handler);
	if (iter_handler >= 0)
		libbpf_unregister_prog_handler(iter_handler);
	if (fd >= 0)
		close(fd);
	tp_handler = iter_handler = fd = -1;
}
