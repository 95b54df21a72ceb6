/* SPDX-License-Identifier: MIT */
#ifndef OUT_PERFETTO_H
#define OUT_PERFETTO_H

/*
 * A timeline as Chrome's JSON trace events, which ui.perfetto.dev and
 * chrome://tracing open ("Trace Event Format", object form). Events go out as
 * they come, one a line; nothing is kept but a buffer. Times are nanoseconds
 * since the trace's start. Events may come in any order of time, but the slices
 * of one thread must nest: two of them are either apart or one lies within the
 * other. Viewers drop or mangle what overlaps, and this writer does not check.
 *
 * The file is whole after trace_close. Should the tracer be killed before, its
 * complete lines with "]}" added are a whole file again. When the disk fills up,
 * trace_close cuts a regular file behind the last complete event and ends it.
 */
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct trace_out;

/* Longer strings are cut; an event has at most so many arguments. */
#define TRACE_STRING_BYTES 1024
#define TRACE_ARGS_MAX 8

struct trace_arg {
	const char *key;
	enum { TRACE_U64, TRACE_STR, TRACE_HEX } kind;
	uint64_t u64;		/* TRACE_U64, TRACE_HEX (as a string: 64 bits are kept) */
	const char *str;	/* TRACE_STR; hostile, escaped */
};

/* Begins a trace on @fd, which stays the caller's to close. NULL with @err: no memory. */
struct trace_out *trace_out_new(int fd, struct err *err);
/*
 * Ends the document, flushes and frees. 0, or -errno of the first error there
 * was, with "cannot write to the trace: …" in @err. NULL is 0.
 */
int trace_close(struct trace_out *t, struct err *err);
/* 0, or -errno of the first error so far: a reason to stop early. */
int trace_error(const struct trace_out *t);

/* Names; they may be given again and the last one counts. */
void trace_process(struct trace_out *t, pid_t pid, const char *name);
void trace_thread(struct trace_out *t, pid_t pid, pid_t tid, const char *name);

/* Something that lasted. */
void trace_slice(struct trace_out *t, pid_t pid, pid_t tid, const char *cat, const char *name,
		 uint64_t start_ns, uint64_t dur_ns, const struct trace_arg *arg, size_t narg);
/* Something that happened on a thread. */
void trace_instant(struct trace_out *t, pid_t pid, pid_t tid, const char *cat, const char *name,
		   uint64_t ts_ns, const struct trace_arg *arg, size_t narg);
/* Values of a process from @ts_ns on: a series per argument (TRACE_U64). */
void trace_counter(struct trace_out *t, pid_t pid, const char *name, uint64_t ts_ns,
		   const struct trace_arg *arg, size_t narg);

/* One end of a flow: the slice of the thread that encloses the time. */
struct trace_point {
	pid_t pid, tid;
	uint64_t ts_ns;
};

/* An arrow, such as from a waker to its waiter; @id is unique in the trace. */
void trace_flow(struct trace_out *t, uint64_t id, const char *cat, const char *name,
		struct trace_point from, struct trace_point to);

#endif
