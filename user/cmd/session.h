/* SPDX-License-Identifier: MIT */
#ifndef CMD_SESSION_H
#define CMD_SESSION_H

/*
 * What `run` and `attach` have in common: the options as a trace's set-up, the
 * files that it writes, signals as a descriptor, and the printing at the end.
 */
#include <signal.h>

#include "base/buf.h"
#include "cmd/live_opts.h"
#include "collect/live.h"
#include "out/outstream.h"
#include "out/perfetto.h"

struct session {
	const struct live_opts *opts;
	struct live *live;
	struct sysname_set calls;
	struct buf calls_text;	/* -e, all of them as one list */
	char libexec[4096];
	struct out_stream out;
	bool out_open;
	int trace_fd;
	struct trace_out *trace;
	sigset_t watched, old_mask;
	int signal_fd, epoll_fd;
	int interrupts;		/* ctrl-C so far */
	bool watch;		/* for watch.h; set before session_open, as the next two */
	bool resizes;		/* the window's size matters */
	const char *user;	/* only this user's processes; NULL */
	bool warned;		/* of names that are missing */
};

/* What session_wait saw. */
enum session_event {
	SESSION_NOTHING, SESSION_FD, SESSION_INTERRUPT, SESSION_TERMINATE, SESSION_RESIZE,
	SESSION_CONTINUE
};

/* Opens the files to be written, so that a bad name is told before anything runs. */
int session_init(struct session *s, const struct live_opts *opts, int default_fd, struct err *err);
/* Opens the trace; @targets_only: comm and cgroup narrow what is targeted. */
int session_open(struct session *s, bool targets_only, struct err *err);
/* From here on INT, TERM, QUIT and, unless ignored, HUP are told by session_wait; and @fd. */
int session_watch(struct session *s, int fd, struct err *err);
/* Takes in events for at most @timeout_ms; what happened, or -errno. */
int session_wait(struct session *s, int timeout_ms);
/*
 * Once detached: what is left may last as long as a reader likes, so signals act
 * at once again, each ending tracer with 128+N. As long as @command, which runs
 * on, is still waited for (0: it is not), TERM is passed on to it, QUIT is its
 * own, and of INT and HUP the second since session_watch ends tracer with 130.
 */
void session_unwatch(struct session *s, pid_t command);
/* Back to session_wait, behind the printing. */
void session_rewatch(struct session *s);
/* Ends the trace, judges and prints @sum. */
int session_print(struct session *s, struct summary *sum, struct err *err);
void session_release(struct session *s);

/* Prints an error and its hint to stderr; returns @code. */
int session_fail(const struct err *err, int code);
/* Prints the command's help in this program's place; does not return but by exit code. */
int session_help(const char *command);
/* A note to stderr, unless --quiet. */
void session_note(const struct session *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

int run_main(int argc, char **argv);
int attach_main(int argc, char **argv);
int top_main(int argc, char **argv);
int doctor_main(int argc, char **argv);

#endif
