/* SPDX-License-Identifier: MIT */
#ifndef COLLECT_LIVE_STATE_H
#define COLLECT_LIVE_STATE_H

/* What a live trace is made of: for user/collect/live_*.c alone. */
#include "base/map.h"
#include "collect/cost.h"
#include "collect/live.h"
#include "ring/ring.h"
#include "shared/live.h"
#include "sym/sym.h"

struct live_bpf;	/* the skeleton */
struct live_routines;	/* live_routine.c */
struct watch;		/* watch.c */
struct bpf_link;

#define LIVE_LINKS 16

#define LIVE_THREAD_ROWS 65536	/* most threads kept one by one */
#define LIVE_JOIN_EDGES 4096	/* most joins whose ended thread is named */
#define LIVE_SAMPLES 1024	/* most stacks kept, over all locks */
#define LIVE_SAMPLES_LOCK 16	/* most stacks kept of one lock */
#define LIVE_WAITS 32768	/* most locks with waits that never came back: as BPF's map */

/* Who a thread id was, the latest to have it. */
struct live_who {
	pid_t tgid;
	uint32_t row;		/* of .thread, UINT32_MAX: not kept */
	char comm[LIVE_COMM];
};

/* A join that came before its thread's end. */
struct live_joined { uint64_t woken_ns, latency_ns; };

/* Stacks kept of one lock: a uniform choice of those that came. */
struct live_reservoir {
	uint32_t seen, kept;
	uint32_t slot[LIVE_SAMPLES_LOCK];
};

struct live_sample {
	uint64_t wait_ns;
	uint32_t space, bytes;
	uint32_t nkernel;
	uint64_t kernel[LIVE_KERNEL_FRAMES];
	struct live_regs regs;
	uint8_t stack[LIVE_STACK_BYTES];
};

struct live_still {
	struct live_alive alive;
	uint64_t kernel[LIVE_KERNEL_FRAMES];
};

struct live {
	struct live_bpf *bpf;
	void *fresh_bss;		/* as it was after loading, for live_again; NULL */
	struct bpf_link *link[LIVE_LINKS];
	size_t nlink;
	struct bpf_link *tape_link;	/* NULL: no tape was looked for */
	bool tapes_tried;
	struct ring *ring;
	struct sym *sym;
	struct sym_opts sym_opts;
	struct trace_out *timeline;
	uint64_t flows;			/* arrows drawn so far */
	struct map *tracks;		/* of the timeline: tid → its tgid; NULL: none yet */
	bool named_oncpu;
	enum sum_mode mode;
	unsigned int collect;
	bool stopped;
	bool hurries;			/* until it has detached; then .nice_before again */
	int nice_before;
	const char *way;		/* taken by the system call collector */
	int ncpus;			/* possible CPUs: values of a per-CPU map */
	pid_t own;			/* the tracer's own child, and then run's command */
	uint64_t started_ns, stopped_ns, found_ns;	/* .found_ns: all that were there */
	uint64_t command_ns, last_exit_ns;	/* the command's exec; 0: none */
	uint64_t started_real_ns, cpu_at_start_ns;

	struct live_routines *routines;	/* NULL: not asked for */
	struct watch *watch;		/* takes the events; NULL: they become a summary */
	const volatile struct live_seen *seen;	/* .seen_rows, of a live view */
	size_t seen_rows;

	struct sum_thread *thread;
	size_t nthread, thread_cap;
	uint64_t thread_cut;
	struct hist cost, lifetime, stage[SUM_STAGES];
	uint64_t oncpu_ns, runnable_ns, blocked_ns, voluntary, involuntary;
	struct map *who;		/* tid → struct live_who */
	struct map *reservoirs;		/* struct live_futex_key → struct live_reservoir */
	struct map *joined;		/* thread id → struct live_joined */
	struct map *joins;		/* struct live_edge_key → uint64_t, times */
	struct map *waiting;		/* the same → struct live_pending: waits at the end */
	struct live_sample *sample;
	size_t nsample;
	struct live_still *still;	/* LIVE_SAMPLES; NULL: none */
	size_t nstill;
	uint64_t rng;

	uint64_t moved;			/* of struct live_counts, as of the last look */
	bool by_user;			/* only one user's processes, who may change */
	uint64_t unknown, stacks_lost, waits_lost;
	uint64_t missed_before;		/* of live_missed_ever, when the trace began */
	bool has_cost;
	struct cost bare, traced;
	uint64_t still_running;
	bool called[LIVE_NR_CALLS];	/* rows of map "calls" that are not zero, by the summary */
};

/* A wait that had not come back when the trace ended. */
struct live_pending {
	uint64_t count, wait_ns;
	pid_t tgid;
};

/* live.c: what live_batch fills, without any BPF */
int live_init_tables(struct live *l);
void live_release_tables(struct live *l);

/* live_load.c */
int live_load(struct live *l, const struct live_setup *setup, struct err *err);
void live_unload(struct live *l);
void live_detach(struct live *l);
int live_map_fd(const struct live *l, const char *name);
const struct live_counts *live_counts(const struct live *l);
void live_close(struct live *l);	/* no further births */
void live_moved(struct live *l);	/* who matches may be others: the next tick looks */
void live_forget_full(struct live *l, uint64_t n);	/* losses that were made good */
uint64_t live_missed_ever(const struct live *l);	/* program runs the kernel skipped */
int live_target_put(struct live *l, uint32_t pid, bool own, struct err *err);
int live_iterate(struct live *l, bool dump, struct err *err);

/* live_again.c: keeps what live_again puts back. 0 or -ENOMEM. */
int live_again_keep(struct live *l);

/* In a live view: who waits at @key now is handed to watch_still(). */
int live_peek(struct live *l, const struct live_futex_key *key);

uint32_t live_seen_used(const struct live *l);	/* rows of .seen, from 1, that may be anybody's */

/* live_events.c */
void live_batch(void *ctx, const struct ring_event *ev, size_t n);
void live_thread_event(struct live *l, const struct live_thread *e);
const char *live_comm(const struct live *l, pid_t tid, pid_t *tgid);
/* Without root only one's own processes are looked at in /proc, as proc_look has it. */
bool live_may_look(pid_t tgid);
/* For names: what process @tgid maps, asked while it is there; as sym_snapshot. */
int live_snapshot(struct live *l, uint32_t space, pid_t tgid);
/* Where the next stack of a lock goes, by reservoir sampling (Vitter's R); NULL: nowhere. */
struct live_sample *live_sample_slot(struct live *l, const struct live_futex_key *key);

/* live_still.c: a thread that is alive at the end; then the stacks of what such wait in */
void live_still(struct live *l, const struct live_still *row);
/* Reads its stack from outside, with lowered privileges; false: it is not there any more. */
bool live_still_sample(struct live *l, const struct live_still *still, struct live_sample *out);
void live_still_read(struct live *l);

/* live_summary.c */
void live_fill_loss(const struct live *l, struct sum_loss *loss);
void live_fill_overhead(const struct live *l, struct sum_overhead *o);

/* live_maps.c: the maps into the summary */
/* What a thread is blocked in, by the number that BPF gives it. */
const char *live_block_name(uint32_t nr);
int live_fill_calls(struct live *l, struct summary *s);
int live_fill_futexes(struct live *l, struct summary *s);
int live_fill_pipes(struct live *l, struct summary *s);
int live_fill_sched(struct live *l, struct summary *s);

/* The kernel's part of a stack into a sample; @n is what came, and not believed. */
void live_sample_kernel(struct live_sample *s, const uint64_t *ip, uint32_t n);

/* live_futexes.c */
enum sum_lock_kind live_lock_kind(const struct live_futex *v);

/* live_sites.c: all kept stacks at once; then they and lock names into the summary's locks */
void live_sites_prepare(struct live *l);
void live_fill_sites(struct live *l, struct sum_lock *lock, const struct live_futex_key *keys,
		     size_t nkeys);
/* One sample into its site; then each site's share of the lock's waits, most samples first. */
void live_site_add(struct live *l, struct sum_lock *lock, const struct live_sample *s);
void live_sites_end(struct sum_lock *lock);

/*
 * Calls @fn for each entry of a hash map; @value holds one value, or one for
 * each possible CPU in a per-CPU map. 0, or -errno.
 */
int live_map_each(int fd, size_t key_bytes, size_t value_bytes,
		  int (*fn)(void *ctx, const void *key, const void *value), void *ctx);

/* live_classes.c: what each call is to the BPF side, by number. */
void live_classes(uint8_t class[LIVE_NR_CALLS], uint8_t paths[LIVE_NR_CALLS],
		  uint8_t fds[LIVE_NR_CALLS], const struct sysname_set *only);

#endif
