/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
/*
 * Empty programs at the tracepoints of the tracer: what the kernel takes for
 * calling a program at all. Those of system calls read the clock once each when
 * asked to, which is the least that the time of a call takes.
 */
#include <vmlinux.h>
#include <bpf/bpf_helpers.h>

const volatile bool read_clock = false;

SEC("tp_btf/sched_process_fork")
int floor_fork(void *ctx)
{
	return 0;
}

SEC("tp_btf/sched_process_exec")
int floor_exec(void *ctx)
{
	return 0;
}

SEC("tp_btf/sched_switch")
int floor_switch(void *ctx)
{
	return 0;
}

SEC("tp_btf/sched_waking")
int floor_waking(void *ctx)
{
	return 0;
}

SEC("tp_btf/sys_enter")
int floor_enter(void *ctx)
{
	if (read_clock)
		bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/sys_exit")
int floor_exit(void *ctx)
{
	if (read_clock)
		bpf_ktime_get_ns();
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
