/* SPDX-License-Identifier: MIT */
#ifndef COLLECT_LIVE_PROGS_H
#define COLLECT_LIVE_PROGS_H

/*
 * The BPF programs as rows: when each is needed, how it meets the kernel and
 * what the kernel must be built with. A trace loads those that it needs
 * (live_load.c), `tracer doctor` each by itself (probe.c), by the same rows and
 * the same functions. For user/collect alone.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "collect/sysnames.h"
#include "out/summary.h"
#include "shared/live.h"

struct live_bpf;	/* the skeleton */
struct bpf_link;
struct bpf_program;

/* The ways to see system calls, best first: typed registers, or looked up. */
struct live_way { const char *name, *enter, *exit; };
extern const struct live_way live_ways[];
extern const size_t live_nways;

/* NEED_CALLS: exact mode, by one of the ways; NEED_NAMES: a filter, or a watch. */
enum live_need { NEED_ALWAYS, NEED_CALLS, NEED_FILTER, NEED_ROUTINES, NEED_NAMES,
		 NEED_PIPES };
/* Attached to a tracepoint; read by us; run once by us; put by startprobe.c; by
 * live_tapes.c. */
enum live_hook { HOOK_TRACEPOINT, HOOK_ITERATOR, HOOK_RUN, HOOK_UPROBE, HOOK_TAPE };

/* In the order in which they are attached. */
struct live_prog {
	const char *name;
	enum live_need need;
	enum live_hook hook;
	const char *config;	/* kernel option without which it has no such hook */
};
extern const struct live_prog live_progs[];
extern const size_t live_nprogs;

/* The way of @p, a NEED_CALLS program: index of .live_ways. */
size_t live_prog_way(const struct live_prog *p);

/* Collectors, and whether exact mode does them by the calls. */
struct live_collector { const char *name; unsigned int bit; bool by_call; };
extern const struct live_collector live_collectors[];
extern const size_t live_ncollectors;
/* "tp_btf/sched_switch": how @c is done in @mode when calls are seen by @call_way. */
const char *live_collector_way(const struct live_collector *c, enum sum_mode mode,
			       const char *call_way);

/* Whether @name is one of the ways; NULL is all of them. */
int live_check_way(const char *name, struct err *err);

struct live_load_opts {
	struct live_config *cfg;	/* .switch_has_state is found out */
	const struct sysname_set *calls;	/* -e; NULL: all */
	int ncpus;			/* possible ones */
	bool (*wanted)(void *ctx, const struct live_prog *p);
	void *ctx;
};
/*
 * Makes the maps and loads the programs that are wanted. 0 and *bpf, which
 * live_progs_unload() takes; or -errno, and live_progs_said() tells more.
 */
int live_progs_load(struct live_bpf **bpf, const struct live_load_opts *opts);
void live_progs_unload(struct live_bpf *bpf);
/* What libbpf and the verifier said of the last load that failed: a line, or "". */
const char *live_progs_said(void);

/* Without real uid 0: whose processes may be traced. */
void live_config_user(struct live_config *cfg);
/* What @p attaches to, as in "tp_btf/sched_switch"; "" when nobody knows. */
void live_prog_hook(const struct live_prog *p, char *hook, size_t bytes);

/* NULL: it is not there or was not loaded. */
struct bpf_program *live_prog_find(struct live_bpf *bpf, const struct live_prog *p);
/* Attaches a HOOK_TRACEPOINT program; 0 or -errno. */
int live_prog_attach(struct bpf_program *prog, struct bpf_link **link);
/* Opens what a HOOK_ITERATOR program says of all tasks: a descriptor, or -errno. */
int live_prog_iterate(struct bpf_program *prog);
/* Runs the HOOK_RUN program: the kernel's side learns who we are. */
int live_learn_self(struct live_bpf *bpf, struct err *err);

#endif
