/* SPDX-License-Identifier: MIT */
#include "rr/recprobe.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <sched.h>
#include <sys/ptrace.h>

#include "shared/rr.h"
#include "rr.skel.h"
#include "rr/confined.h"

#define CANNOT_LOAD "cannot load the recorder's programs"

static int try_programs(struct recprobe_result *result, struct err *err)
{
	struct rr_bpf *bpf;
	int r;

	libbpf_set_print(NULL);
	bpf = rr_bpf__open();
	if (!bpf)
		return err_sys(err, errno, CANNOT_LOAD);
	r = rr_bpf__load(bpf);
	r = r ? r : rr_bpf__attach(bpf);
	rr_bpf__destroy(bpf);
	result->load_error = -r;
	return r ? err_sys(err, -r, CANNOT_LOAD) : 0;
}

static int try_child(struct err *err)
{
	struct caller who;
	struct confined child;
	struct confined_opts opts = { .who = &who, .cpu = sched_getcpu() };
	int r;

	caller_find(&who);
	r = confined_start(&child, &opts, err);
	if (r)
		return r;
	if (ptrace(PTRACE_SEIZE, child.pid, 0, 0))
		r = err_sys(err, errno, "cannot attach to what is recorded");
	confined_release(&child);
	return r;
}

int recprobe(struct recprobe_result *result, struct err *err)
{
	int r;

	*result = (struct recprobe_result){ 0 };
	r = try_programs(result, err);
	return r ? r : try_child(err);
}
