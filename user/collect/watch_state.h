/* SPDX-License-Identifier: MIT */
#ifndef COLLECT_WATCH_STATE_H
#define COLLECT_WATCH_STATE_H

/* What a watch is made of: for user/collect/watch*.c alone. */
#include "collect/live_state.h"
#include "collect/watch.h"

#define WATCH_NAMES 4096	/* names kept of threads that have ended; a power of two */
#define WATCH_DOOMED 4
#define WATCH_STACKS 256	/* stacks kept, over all locks */
#define WATCH_STACKS_LOCK 16	/* of one lock */

struct watch_name { pid_t tid, tgid; char comm[LIVE_COMM]; };

struct watch_stack {
	struct live_futex_key key;
	pid_t tgid;
	uint64_t ts;
	struct live_sample sample;
};

/* A futex that processes share. .ino 0: none. */
struct watch_file { uint64_t ino, off; uint32_t dev, pad; };

/* What a lock's row does not show. */
struct watch_lock_row {
	struct live_futex_key key;	/* the first that it was known by */
	struct watch_file file;
	struct live_futex_key other;	/* another one, of process .other_tgid */
	pid_t other_tgid;
	bool own_seen;			/* .key, in this refresh */
	struct watch_sums { uint64_t waits, timeouts, wakes, wasted, wait_ns; } sum, was;
	uint64_t back_ns, inside_ns;	/* in waits that came back, and those still on */
	uint64_t active;	/* tick of its last change */
	uint64_t asked;		/* tick of the last asking for its name, + 1 */
	uint64_t peeked;	/* and for its waiters' stacks */
	bool seen, changed, longest;	/* in this refresh; longest: its max_ns rose */
	char *symbol, *module;
	uint64_t module_offset;
	/* Waits by length: those of refreshes before; and of a shared one, whose parts
	 * are summed, in this. NULL: none yet. */
	uint32_t *before, *parts;
};

struct watch_pipe_key { uint64_t id; uint32_t sb; uint16_t kind, pad; };
struct watch_pipe_row { uint64_t active; };	/* tick of its last change */

struct watch {
	struct live *l;
	struct now now;
	uint64_t last_ns;	/* of the refresh before */

	size_t thread_cap;
	uint32_t *row_of;		/* by slot: 1 + its row; 0: none */
	struct map *by_tid;		/* pid_t → size_t, index of a thread */
	struct map *by_tgid;		/* pid_t → size_t, index of a process */
	struct watch_process_row {
		uint64_t sum[6], created;
		bool empty;		/* nobody was left at the last refresh */
	} *process_row;
	size_t process_cap;
	int ended_fd;			/* of map "ended"; -1: without a kernel */
	struct watch_name *name;	/* WATCH_NAMES, by tid */

	/* locks: now.lock and .lock_row go together */
	struct watch_lock_row *lock_row;
	size_t lock_cap;
	struct map *lock_by_key;	/* struct live_futex_key → size_t */
	struct map *lock_by_file;	/* struct watch_file → size_t */

	struct watch_pipe_row *pipe_row;	/* beside now.pipe */
	uint64_t pipe_number;		/* the last one given */
	struct map *pipe_by_key;	/* struct watch_pipe_key → size_t */
	size_t call_cap;
	struct summary calls;		/* as of this refresh */

	struct watch_stack *stack;	/* WATCH_STACKS */
	size_t nstack;
	size_t peeking;			/* stacks that the look at a lock's waiters has given */
	struct map *spaces;		/* uint32_t → uint64_t: tick of its snapshot */
	bool many_edges;
	uint64_t crowded;		/* tick at which rows are counted again */
	uint64_t pruned;	/* threads that had ended at the last pruning */
	uint64_t tidied;	/* the same of processes, at the last refresh or tidying */
	bool half_tidied;		/* the first of two steps was the last */
	/* Keys of rows that go the next time: futexes, edges, ends, ended. */
	struct watch_doomed { char *keys; size_t n, cap; } doomed[WATCH_DOOMED];
};

/* watch.c: of an interval's values, which are at most @max; @h's own is 0 where not known. */
void watch_quantiles(const struct hist *h, uint64_t max, uint64_t *p50, uint64_t *p99);

/*
 * A refresh's threads and processes: begin, each row of map "ended", the slots 1 to
 * @used as of now, end. .tick and .interval_ns are set before.
 */
void watch_processes_begin(struct watch *w);		/* watch_procs.c */
int watch_ended(void *watch, const void *tgid, const void *ended);
int watch_look(struct watch *w, const volatile struct live_seen *seen, uint32_t used,
	       uint64_t now_ns);			/* watch_threads.c */
int watch_processes_end(struct watch *w);
/* The row of @tid; NULL: it is not alive, or not traced. */
const struct now_thread *watch_thread(const struct watch *w, pid_t tid);
/* Its name, or what it was called when it ended; "": not known. @tgid may be NULL. */
const char *watch_comm(const struct watch *w, pid_t tid, pid_t *tgid);
/* How long thread @tid has waited, if it still does, for what it waits for since @since_ns. */
uint64_t watch_still_ns(const struct watch *w, pid_t tid, uint64_t since_ns, uint64_t now_ns);
/* Appends a zeroed element to an array that grows; NULL: no memory. */
void *watch_grow(void *array, size_t *cap, size_t n, size_t bytes);

/* watch_locks.c */
int watch_locks(struct watch *w);
/* Its parts: each row of map "futexes" is handed in, key and value, in between. */
void watch_locks_begin(struct watch *w);
int watch_lock_row(void *watch, const void *key, const void *value);
int watch_locks_end(struct watch *w);
/* Nothing waits there, and nothing has happened for @ticks refreshes. */
bool watch_lock_idle(const struct watch *w, const struct live_futex_key *key, uint64_t ticks);
void watch_locks_free(struct watch *w);
/* watch_pipes.c */
int watch_pipes(struct watch *w);
/* Its part without a kernel: the edges of @s, as of now. */
int watch_take_pipes(struct watch *w, const struct summary *s);
void watch_pipes_free(struct watch *w);
bool watch_pipe_idle(const struct watch *w, const struct live_end_key *key, uint64_t ticks);
/* watch_calls.c */
int watch_calls(struct watch *w);
/* Its part without a kernel: the calls and waits of @s, as of now; those before are in .calls. */
int watch_take_calls(struct watch *w, const struct summary *s);
/* watch_stacks.c */
void watch_stack_came(struct watch *w, const struct live_stack *e);
struct live_still;
void watch_still(struct watch *w, const struct live_still *row);
/* Learns the mappings of process @tgid, while it is there. */
void watch_space(struct watch *w, uint32_t space, pid_t tgid);
/* The stacks kept of lock @index as .site, .nsite and .samples of @out. */
void watch_sites(struct watch *w, size_t index, struct sum_lock *out);
/* watch_prune.c: what has ended leaves the kernel's maps; and what is idle when they fill up. */
int watch_prune(struct watch *w);
void watch_prune_free(struct watch *w);

/* The same of a sum over rows that may have been dropped: it may fall, then its step is lost. */
static inline void watch_sum(struct now_count *c, uint64_t *was, uint64_t sum)
{
	c->step = sum > *was ? sum - *was : 0;
	c->total += c->step;
	*was = sum;
}

/* @c's step to a total of @total, which never falls. */
static inline void watch_count(struct now_count *c, uint64_t total)
{
	c->step = total > c->total ? total - c->total : 0;
	c->total += c->step;
}

#endif
