/* SPDX-License-Identifier: MIT */
#ifndef RR_GDB_STATE_H
#define RR_GDB_STATE_H

/* Between the gdb*.c files: a replay under GDB. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rr/checkpoint.h"
#include "rr/gdb.h"
#include "rr/gdbconn.h"
#include "rr/gdbpacket.h"
#include "rr/gdbpos.h"
#include "rr/gdbregs.h"
#include "rr/replay_state.h"
#include "rr/sharedcopy.h"

enum gdb_mode {
	GDB_LIVE,	/* forwards, for GDB */
	GDB_SEEK,	/* to the goal, to stop there */
	GDB_SCAN,	/* to the goal, for the last stop before it */
	GDB_FIND,	/* to the goal, for the last event that a thread ran for */
	GDB_ANCHORS,	/* to the goal, for the last pass of a probable place before it */
	GDB_COUNT,	/* to the goal, instruction by instruction at its end */
};

enum gdb_reason { GDB_TRAP, GDB_AT_BREAK, GDB_AT_WATCH, GDB_AT_SIGNAL, GDB_AT_BEGIN, GDB_AT_END,
		  GDB_EXEC, GDB_EXITED };

struct gdb_stop {
	enum gdb_reason reason;
	char type;		/* of a watchpoint */
	uint64_t addr;		/* the same */
	int sig, status;	/* of a signal; of the end, as wait(2) tells it */
};

#define GDB_WATCHES_MAX 16
#define GDB_WATCH_BYTES 256	/* of one */

/* A breakpoint or watchpoint of GDB's. */
struct gdb_point {
	struct gdb_point_id id;
	bool wanted;		/* else GDB has taken it out, perhaps for a step */
	size_t base;		/* what .hits counts from: so many links of .here */
	uint64_t hits;
	bool known;		/* .was is what was there before the event's effects */
	unsigned char was[GDB_WATCH_BYTES];
};

/* What is watched while a process runs. */
struct gdb_watch {
	struct gdb_point_id id;
	bool known, changed;
	unsigned char was[GDB_WATCH_BYTES];
};

struct gdb_page {
	uint64_t at;
	int prot;		/* as it is without us */
};

#define GDB_ANCHORS_MAX 128
#define GDB_PLACE_CODE 20	/* bytes at a place: a jump of five, over whole instructions */

/* A place that is likely passed shortly before a point: of a call on the stack. */
struct gdb_anchor {
	uint64_t addr, hits;
};

/* A program that a process runs from an event on, by its execve or since a fork. */
struct gdb_image {
	uint64_t event;
	uint32_t pid;
	char *path;		/* of a copy in the recording where it is another; or NULL */
};

#define GDB_FILES_MAX 16

/* A checkpoint that the user asked for: where that was. */
struct gdb_mark {
	unsigned int number;
	struct gdb_pos pos;
};

#define GDB_KEPT_MAX 20		/* of our own: each is a fork of each process */

struct gdb {
	struct replay_debug debug;
	struct tracee_hook hook;
	const struct gdb_opts *opts;
	struct gdbconn conn;
	struct replayer *p;
	struct err *err;

	/* what is shown */
	uint32_t pid;
	bool begun, execed, image_busy, exec_seen, ended, quit;
	struct gdb_image *image;
	size_t nimages;
	uint64_t images_to;		/* the last event that was looked at for them */
	uint64_t start;			/* the event at which it was first shown */
	uint32_t tid_stop, tid_g, tid_c;
	bool owes;			/* GDB waits to be told of a stop */
	bool met;			/* it has been listened to */
	bool after_run;			/* its next packet to resume is a part of "run" */
	struct gdb_stop stop;
	bool multiprocess, exec_events;
	uint64_t pass;			/* signals that GDB does not want to see */

	/* where it is */
	uint64_t event;
	uint32_t event_tid;		/* of the event before */
	struct gdb_pos here;
	uint64_t steps;			/* since .here */
	bool moved, ran_free;		/* since .here: at all, not by steps */
	bool stepped, same;		/* the last run: was a step, did nothing */
	bool step_pending;		/* a step that has met a call or a signal */
	uint64_t died;			/* the event of a death that was told of */
	struct gdb_action want;
	struct gdb_point *point;
	size_t npoints;

	/* what stops it: as it is set up for a run */
	int mem;			/* /proc/PID/mem of .mem_pid */
	pid_t mem_pid;
	uint64_t *armed;
	unsigned char *armed_was;
	size_t narmed, armed_cap;
	uint64_t stop_at;		/* also, for ourselves; 0: nowhere */
	uint64_t place_at;		/* where the replay wants to put code of its own; 0 */
	struct gdb_watch watch[GDB_WATCHES_MAX];	/* and their pages, without writing */
	size_t nwatches;
	struct gdb_page page[2 * GDB_WATCHES_MAX];
	size_t npages;
	pid_t guarded;			/* whose pages they are; 0: nobody's */
	bool guard_by_steps, in_guard;
	bool int3;			/* the last SIGTRAP was one's */

	/* going elsewhere */
	enum gdb_mode mode;
	struct gdb_pos goal, from, found, target;
	size_t at_link;			/* of .goal */
	uint64_t left;
	bool link_done;			/* at this very instant */
	struct gdb_stop goal_stop, found_stop;
	bool found_any, then_back;	/* a step back is made from the goal */
	uint32_t back_tid, found_tid;
	struct gdb_stop back_stop;
	uint64_t ran_event, ran_ip;	/* of .back_tid's last run */
	struct gdb_anchor anchor[GDB_ANCHORS_MAX];
	size_t nanchors, last_anchor;	/* GDB_ANCHORS_MAX: none was passed */
	uint64_t anchor_hits;
	bool counting;
	uint64_t count;
	struct gdb_link near;		/* the goal as a place; then one near to it, .near_used */
	bool near_known, near_used, near_tried;
	uint64_t restored;		/* the event that was gone back to */
	struct gdb_mark *mark;
	size_t nmarks;
	unsigned int last_number;
	struct checkpoint *kept[GDB_KEPT_MAX];	/* in order */
	size_t nkept;
	uint64_t kept_ns, gap_ns;

	/* a call of a function: in a fork that is thrown away */
	struct tracee away;		/* .pid <= 0: there is none */
	struct sharedcopy away_shared;	/* with the process itself, as it was before */
	uint32_t away_tid;
	bool away_idle, away_ran, away_wrote;	/* since it was made; to memory */
	struct gdb_regs regs, away_was;
	struct buf reply;
	int file[GDB_FILES_MAX];	/* that GDB has open, 0: none */
};

/* ---- gdbrun.c: a process runs, with GDB's stops on the way */

int gdb_run(struct tracee_hook *hook, struct tracee *t, bool one, int *sig, struct err *err);
/* A run up to what stops it. 1: a call; 0: what is not ours, in *sig; 2: an instant. */
int gdb_run_once(struct gdb *g, struct tracee *t, bool one, int *sig, struct err *err);
/* Puts it into the process, and takes it out. */
int gdb_arm(struct gdb *g, struct tracee *t, struct err *err);
void gdb_lift(struct gdb *g, struct tracee *t);
/* A run that GDB can break off. As tracee_resume(); SIGSTOP is GDB's wish. */
int gdb_resume(struct gdb *g, struct tracee *t, bool one, int *sig, struct err *err);
struct rthread *gdb_in(const struct tracee *t);

/* ---- gdbguard.c: memory that is watched */

/* Before a run: what is watched, its content, and its pages without the right to write. */
int gdb_guard(struct gdb *g, struct tracee *t, struct err *err);
/* Behind it: what has changed. */
void gdb_guard_seen(struct gdb *g);
void gdb_guard_look(struct gdb *g, const struct tracee *t);
/* A SIGSEGV: by a page of ours, the instruction is made, *step set and *sig what it ended with. */
int gdb_guard_fault(struct gdb *g, struct tracee *t, bool *step, int *sig, struct err *err);
/* The pages as the program has them. */
int gdb_guard_lift(struct gdb *g, struct tracee *t, struct err *err);
/* Before a real call of a process. */
int gdb_on_call(struct tracee_hook *hook, struct tracee *t, struct err *err);

/* ---- gdbplace.c: a process is run to a point between calls */

int gdb_on_place(struct tracee_hook *hook, struct tracee *t, const struct place *p, int *sig,
		 struct err *err);
/* Where a place is next on the way to the goal, runs there: 1. Else 0; -ECANCELED, -errno. */
int gdb_run_to_link(struct gdb *g, struct tracee *t, int *sig, struct err *err);

/* ---- gdbpoint.c: breakpoints and watchpoints */

int gdb_point_set(struct gdb *g, const struct gdb_point_id *id);	/* 0 or -errno */
void gdb_point_clear(struct gdb *g, const struct gdb_point_id *id);
/* What of them is met at the instant before the instruction at @ip; counts. */
const struct gdb_point *gdb_points_see(struct gdb *g, uint64_t ip);
/* What GDB took out is out for good. */
void gdb_points_drop(struct gdb *g);
/* At the beginning of an event: hits are counted from there. */
void gdb_points_restart(struct gdb *g);
/* What the kernel wrote in the event before is a watchpoint's hit: before, and after it. */
void gdb_points_note(struct gdb *g, const struct tracee *t);
const struct gdb_point *gdb_points_changed(struct gdb *g, const struct tracee *t);
bool gdb_watch_hit(const struct gdb *g, const struct gdb_point_id *id);

/* ---- gdbstop.c: where it stops */

/* At each instant at which an instruction is next. 0: on; -ECANCELED, -errno. */
int gdb_instant(struct gdb *g, struct tracee *t);
/* A run is over: what the replay asked for is reached. */
void gdb_ran(struct gdb *g, struct tracee *t, bool call);
bool gdb_wants_step(const struct gdb *g, const struct rthread *t);
void gdb_make_place(struct gdb_link *l, const struct tracee *t);	/* of where it is */
bool gdb_ready(const struct gdb *g);
int gdb_on_event(struct replay_debug *d, struct replayer *p, const struct rr_head *h);
int gdb_on_signal(struct replay_debug *d, struct replayer *p, struct rthread *t, int sig);
int gdb_on_end(struct replay_debug *d, struct replayer *p, struct rthread *t, int status);

/* ---- gdbback.c: to another point */

/* These give -ECANCELED, or -ENOMEM with words. */
int gdb_seek(struct gdb *g, const struct gdb_pos *to, const struct gdb_stop *stop);
int gdb_back_continue(struct gdb *g);
int gdb_back_step(struct gdb *g, uint32_t tid, const struct gdb_stop *stop);
int gdb_back_abort(struct gdb *g);
/* The goal's way, at an instant; at an event's beginning. */
void gdb_cursor_restart(struct gdb *g);
void gdb_cursor_see(struct gdb *g, const struct tracee *t, bool stepped);
bool gdb_at_goal(const struct gdb *g);
const struct gdb_link *gdb_goal_link(const struct gdb *g);	/* what is followed, or NULL */
/* Not live: at an instant, where @hit was met; before an event; at the goal. */
int gdb_back_instant(struct gdb *g, struct rthread *t, const struct gdb_point *hit, bool stepped);
int gdb_back_event(struct gdb *g);
int gdb_arrived(struct gdb *g, struct rthread *t);
int gdb_rewind(struct replay_debug *d, struct replayer *p);

/* ---- gdbnear.c */

/* Brings it near to the place .near, which becomes that where it is then. */
int gdb_near(struct gdb *g, struct tracee *t);

/* ---- gdbmark.c: checkpoints */

int gdb_mark_here(struct gdb *g);		/* its number, or -errno */
bool gdb_mark_delete(struct gdb *g, uint64_t number);
const struct gdb_mark *gdb_mark_find(const struct gdb *g, uint64_t number);
/* One of ours, when it is time for it; where the replay went back for long, at @worth. */
void gdb_mark_event(struct gdb *g, bool worth);
/* The last one not behind @event: NULL is the beginning. */
struct checkpoint *gdb_mark_before(const struct gdb *g, uint64_t event);
void gdb_marks_release(struct gdb *g);

/* ---- gdbimage.c: the programs that the process ran */

void gdb_image_see(struct gdb *g, const struct rr_head *h);	/* each event */
const char *gdb_program(const struct gdb *g);	/* a file to be read; "" when not known */
void gdb_images_release(struct gdb *g);

/* ---- gdbanchor.c */

/* Whether it counts: it does not where the replay wants to put code of its own. */
bool gdb_anchor_counts(const struct gdb *g, size_t n);
/* Of the stack of @t, and @more where it is not 0, into .anchor. */
void gdb_anchors_find(struct gdb *g, const struct rthread *t, uint64_t more);

/* ---- gdbserve.c: GDB's packets */

/* Tells GDB of the stop, and does what it says until the replay is to run. */
int gdb_serve(struct gdb *g, struct rthread *t, const struct gdb_stop *stop);
int gdb_send(struct gdb *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int gdb_unknown(struct gdb *g);		/* what a packet is answered that is not known */
int gdb_send_reply(struct gdb *g);	/* what is in .reply */
int gdb_accept(struct gdb *g);
int gdb_refuse(struct gdb *g, int code);
void gdb_add_thread(const struct gdb *g, struct buf *out, uint32_t tid);
struct rthread *gdb_thread_find(const struct gdb *g, uint32_t tid);	/* of the process */
/* A line on GDB's console. */
int gdb_tell(struct gdb *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- gdbquery.c: packets that begin with q and Q, gdbmonitor.c: qRcmd */

int gdb_query(struct gdb *g, const char *s);
int gdb_add_auxv(struct gdb *g, struct buf *out);	/* the auxiliary vector; 0 or -errno */
int gdb_monitor(struct gdb *g, const char *line);

/* ---- gdbdata.c: packets of registers and memory, behind their names */

int gdb_get_all(struct gdb *g, const char *s);
int gdb_set_all(struct gdb *g, const char *s);
int gdb_get(struct gdb *g, const char *s);
int gdb_set(struct gdb *g, const char *s);
int gdb_get_memory(struct gdb *g, const char *s);
int gdb_set_memory(struct gdb *g, const char *s);
int gdb_set_memory_raw(struct gdb *g, const char *s);

/* ---- gdbfile.c: packets that begin with vFile: */

int gdb_file(struct gdb *g, const char *s);
void gdb_files_release(struct gdb *g);

/* ---- gdblibs.c */

/* Where the library is that GDB knows as @path, into it; another name stays. */
void gdb_library(struct gdb *g, char *path, size_t n);

/* ---- gdbmem.c: memory and registers as GDB sees them */

/* As much as there is: bytes, or -errno. */
long gdb_read(struct gdb *g, uint64_t addr, void *to, size_t n);
/* Of the thread that GDB looks at. */
int gdb_get_regs(struct gdb *g, struct gdb_regs *r);

/* ---- gdbcall.c: writes, and calls of functions */

int gdb_write(struct gdb *g, uint64_t addr, const void *from, size_t n);
int gdb_set_regs(struct gdb *g, const struct gdb_regs *r);
bool gdb_is_away(const struct gdb *g);
/* As GDB asks for; 1: it stopped, and GDB was told; 0: it is over, and the replay runs on. */
int gdb_away_run(struct gdb *g);
void gdb_away_end(struct gdb *g);
/* The same where the replay itself is at its end. */
void gdb_away_drop(struct gdb *g);

#endif
