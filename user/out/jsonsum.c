/* SPDX-License-Identifier: MIT */
#include "out/jsonsum.h"

#include <stddef.h>

void jsonsum_mode(struct json *j, enum sum_mode mode, unsigned int collected)
{
	static const struct { unsigned int bit; const char *name; } rooms[] = {
		{ SUM_SYSCALLS, "syscalls" }, { SUM_THREADS, "threads" }, { SUM_FUTEX, "futex" },
		{ SUM_PIPES, "pipes" }, { SUM_SCHED, "sched" },
	};
	size_t i;

	json_str(j, "mode", mode == SUM_EXACT ? "exact" : "wait");
	json_array(j, "collected");
	for (i = 0; i < sizeof(rooms) / sizeof(*rooms); i++)
		if (collected & rooms[i].bit)
			json_str(j, NULL, rooms[i].name);
	json_end(j);
}

void jsonsum_exact(struct json *j, bool exact, const char *key, uint64_t v)
{
	if (exact)
		json_u64(j, key, v);
	else
		json_null(j, key);
}

void jsonsum_overhead(struct json *j, const struct sum_overhead *o, bool routines)
{
	const struct { const char *name; int64_t ns; bool off; } rows[] = {
		{ "bare_call_ns", o->bare_call_ns, false },
		{ "ns_per_syscall", o->ns_per_syscall, false },
		{ "ns_per_futex", o->ns_per_futex, false },
		{ "ns_per_pipe_chunk", o->ns_per_pipe_chunk, false },
		{ "ns_per_start_routine", o->ns_per_start_routine, !routines },
		{ "ns_in_routine_stage", (int64_t)o->ns_in_routine_stage, !routines },
	};
	size_t i;

	json_object(j, "overhead");
	json_bool(j, "measured", o->measured);
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (o->measured && !rows[i].off)
			json_i64(j, rows[i].name, rows[i].ns);
		else
			json_null(j, rows[i].name);
	}
	json_u64(j, "consumer_cpu_ns", o->consumer_cpu_ns);
	json_end(j);
}

void jsonsum_loss(struct json *j, const struct sum_loss *l)
{
	json_object(j, "loss");
	json_u64(j, "ring_full", l->ring_full);
	json_u64(j, "map_full", l->map_full);
	json_u64(j, "recursion", l->recursion);
	json_u64(j, "unpaired", l->unpaired);
	json_u64(j, "stacks", l->stacks);
	json_u64(j, "unknown", l->unknown);
	json_u64(j, "total", l->total);
	json_end(j);
}
