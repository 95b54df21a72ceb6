/* SPDX-License-Identifier: MIT */
#ifndef RR_REPLAY_STATE_H
#define RR_REPLAY_STATE_H

/* Between replayer.c, replay_calls.c and replay_signals.c: a replay that runs. */
#include <stdbool.h>
#include <stdint.h>

#include "rr/inproc.h"
#include "rr/packed.h"
#include "rr/recfile.h"
#include "rr/replayer.h"
#include "rr/rthread.h"
#include "rr/sysfiles.h"

#define PAGE ((uint64_t)4096)

/* A file of shared mappings, by what it was when it was recorded. */
struct shared_file {
	uint64_t dev, ino;
	uint32_t copy;		/* of the recording's, that it was last made from */
	int fd;
	bool written;		/* or may have been */
	bool stale;		/* the replay went back to before it was first mapped */
};

struct replayer;
struct script;

/*
 * Who looks on, and may stop a replay for as long as it likes. All but the last may give
 * -ECANCELED: what is being done is given up, and rewind() puts the replay elsewhere.
 */
struct replay_debug {
	/* Before the event @h, or with NULL at the recording's end. */
	int (*event)(struct replay_debug *d, struct replayer *p, const struct rr_head *h);
	/* @t stands where signal @sig meets it. */
	int (*signal)(struct replay_debug *d, struct replayer *p, struct rthread *t, int sig);
	/* @t stands where it ends; the status as wait(2) tells it. */
	int (*end)(struct replay_debug *d, struct replayer *p, struct rthread *t, int status);
	/* 1, or -errno with words. */
	int (*rewind)(struct replay_debug *d, struct replayer *p);
};

struct replayer {
	const struct replayer_opts *opts;
	struct replayer_result *result;
	struct recread *file;
	struct rthreads all;
	struct tracee seed;	/* an empty process, of which those of new images are made */
	uint32_t first, running;	/* thread ids */
	struct shared_file *shared;
	size_t nshared;
	struct packed packed;	/* copies of the files that it maps */
	struct sysfiles system;	/* those that it maps from where they are */
	struct recread_place before;	/* the event at hand */
	uint64_t shown;		/* the last event whose output was given */
	bool makes_code;	/* the program does, as it runs: nobody looked through that */
	bool stop;		/* by who looks on: there is no more to do */
	struct inproc inproc;
	struct script *script;	/* what was written into it last */
	size_t ahead;		/* events to come that a process has done already */
	struct err *err;
};

/* "event N, thread T: " and what is wrong; -code. @t may be NULL. */
int replay_fail(const struct replayer *p, const struct rthread *t, int code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* The event at hand is no whole one: -EBADMSG. */
int replay_damaged(const struct replayer *p, const char *what);
const char *replay_call_name(uint64_t nr);

/* Runs the thread to its next call, unless it stands at one. */
int replay_to_call(struct replayer *p, struct rthread *t);
/* An event of a call, or a part of one: compares, and does what the call did. */
int replay_call(struct replayer *p, struct rthread *t, const struct rr_head *h);
/* Runs the thread to the point @at of an event, of which pieces follow the first @bytes. */
int replay_to_place(struct replayer *p, struct rthread *t, const struct rr_head *h,
		    const struct rr_place *at, size_t bytes);
/*
 * Has the process do this event and those behind it by itself. 1: this one is done, and .ahead
 * more; 0: it is to be done; -errno.
 */
int replay_batch(struct replayer *p, struct rthread *t, const struct rr_head *h);
/* The thread stands at a call: its place is patched, if that is worth it. */
int replay_passed(struct replayer *p, struct rthread *t);
/* Whether the event is of a call that needs nothing but that memory and a result are written. */
bool replay_is_plain(const struct rr_head *h);
bool replay_is_emulated(uint64_t nr);	/* such calls need no more */
/* Whether it is of one that changes what is mapped, without a file. */
bool replay_is_memory(const struct rr_head *h);
/* Advice that the program cannot tell from none, and that may be taken or not. */
bool replay_is_hint(uint64_t advice);
/* What a thread's end means for the whole. */
void replay_note_exit(struct replayer *p, const struct rthread *t, const struct rr_ev_exit *e);
/* What a call means for what comes: where its thread ends, what its process is. */
void replay_note(struct replayer *p, struct rthread *t, const struct rr_ev_call *e);
int replay_signal(struct replayer *p, struct rthread *t, const struct rr_head *h);
/* Over returns from handlers. 1: to its next call; 0: to signal *sig; -errno. */
int replay_run_on(struct replayer *p, struct rthread *t, int *sig);
/* An instruction that was replaced when the program was recorded: it gets its result. */
int replay_insn(struct replayer *p, struct rthread *t, const struct rr_head *h);
/* Whether one is at @ip; and a point that is there. */
bool replay_is_replaced(const struct rthread *t, uint64_t ip);
int replay_to_insn(struct replayer *p, struct rthread *t, const struct rr_place *at);
/* A call that changes what is mapped, or the CPU's state. */
int replay_memory_call(struct replayer *p, struct rthread *t, const struct rr_ev_call *e);
/* A process_vm_writev: into the memory of another thread's process. */
int replay_write_across(struct replayer *p, struct rthread *t, const struct rr_ev_call *e);
/* What the call put out, if anything: compared with what it put out then, and given once. */
int replay_output(struct replayer *p, const struct rthread *t, const struct rr_ev_call *e);
/* A call that limits a stack; it is done. */
bool replay_is_limit(const struct rr_ev_call *e);
int replay_limit(struct replayer *p, struct rthread *t, const struct rr_ev_call *e);
/* An RR_EV_FILE: what a call changed in a file that is mapped shared. */
int replay_file(struct replayer *p, const struct rr_head *h);
/* For who looks on: to where the thread ended, also by a signal. */
int replay_to_end(struct replayer *p, struct rthread *t, const struct rr_ev_exit *e);
/* The mapping of an RR_EV_MAP; the pieces behind the first @at bytes of an event. */
/* Our pages make way for what the program maps there, and patches go with what it unmaps. */
int replay_make_way(struct replayer *p, struct rthread *t, uint64_t start, uint64_t bytes);
int replay_map(struct replayer *p, struct rthread *t, const struct rr_head *h);
int replay_pieces(struct replayer *p, struct rthread *t, const struct rr_head *h, size_t at);
/* The sums of memory behind the call that ended last. */
int replay_sums(struct replayer *p, struct rthread *t, const struct rr_head *h);

#endif
