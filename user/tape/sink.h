/* SPDX-License-Identifier: MIT */
#ifndef TAPE_SINK_H
#define TAPE_SINK_H

/*
 * Between engine.c and what is done with holes: shown, sent through one command, or each
 * through its own. All functions return 0 or a negative errno, with words in run->err but
 * for what tape_out has to say.
 */
#include <poll.h>

#include "tape/engine.h"
#include "tape/split.h"
#include "tape/tapeio.h"

#define SINK_SPANS 256

struct tape_runner {
	struct tape_splitter *splitter;
	const struct tape_job *job;
	struct tape_result *result;
	struct err *err;
	struct tape_in in;
	struct tape_out out;
	bool input_ended;
	bool nap;		/* wait no longer than SINK_NAP_NS */
	const struct sink *sink;
	void *state;		/* the sink's */
	struct number_source *numbers;	/* NULL: none */
};

struct sink {
	int (*begin)(struct tape_runner *run);
	/* Takes the record at hand, of @bytes with its end. */
	int (*record)(struct tape_runner *run, const char *rec, size_t bytes);
	/* Whether it takes records; sets run->nap when it is to be asked again soon. */
	bool (*ready)(struct tape_runner *run);
	int (*end)(struct tape_runner *run);	/* no more records come; called once */
	bool (*done)(const struct tape_runner *run);	/* after the end: all is written */
	/* Descriptors to wait for, at most SINK_FDS of them; how many. */
	int (*fds)(struct tape_runner *run, struct pollfd *fd);
	int (*events)(struct tape_runner *run, const struct pollfd *fd, int n);
	void (*release)(struct tape_runner *run);
};

#define SINK_FDS 256
#define SINK_NAP_NS 1000000u

extern const struct sink sink_show, sink_filter, sink_each;

/* What a sink does with text between holes, and with a hole. */
typedef int sink_keep_fn(struct tape_runner *run, const char *p, size_t n);
typedef int sink_hole_fn(struct tape_runner *run, const char *p, size_t n, enum tape_kind kind);

/*
 * The holes of the record at hand and the text before each, in their order. Behind *at no hole
 * follows. Inline, so that both functions are, too: it is the loop over a million holes.
 */
static inline int sink_walk(struct tape_runner *run, const char *rec, size_t *at,
			    sink_keep_fn *keep, sink_hole_fn *hole)
{
	struct tape_span span[SINK_SPANS];
	struct tape_stats *st = &run->result->stats;
	ptrdiff_t n;

	while ((n = tape_splitter_holes(run->splitter, span, SINK_SPANS)) > 0) {
		for (ptrdiff_t i = 0; i < n; i++) {
			const size_t len = span[i].end - span[i].start;
			int r = span[i].start > *at ?
				keep(run, rec + *at, span[i].start - *at) : 0;

			r = r ? r : hole(run, rec + span[i].start, len, span[i].kind);
			if (r)
				return r;
			*at = span[i].end;
			st->chunk_bytes += len;
		}
		st->chunks += (uint64_t)n;
		if (run->splitter->done)
			break;
	}
	return n < 0 ? err_set(run->err, (int)-n, "%s", tape_splitter_message(run->splitter)) : 0;
}

/* Numbers of records from a command that has a copy of the input; selector.c. */
struct number_source;
int number_source_begin(struct tape_runner *run);
/* A copy of what was read; input that is not decided is kept there. @n 0: the end. */
int number_source_input(struct tape_runner *run, const char *data, size_t n);
/* Moves input that waits to the window when that has no whole record: 1, or 0. */
int number_source_refill(struct tape_runner *run);
bool number_source_wants_input(struct tape_runner *run);
bool number_source_drained(const struct tape_runner *run);
int number_source_fds(struct tape_runner *run, struct pollfd *fd);
int number_source_events(struct tape_runner *run, const struct pollfd *fd, int n);
void number_source_release(struct tape_runner *run);

#endif
