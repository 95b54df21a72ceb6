/* SPDX-License-Identifier: MIT */
#ifndef RR_RECORDER_STATE_H
#define RR_RECORDER_STATE_H

/* Between recorder.c and recwatch.c: a recording that runs. */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "rr/bulk.h"
#include "rr/confined.h"
#include "rr/filestore.h"
#include "rr/guardian.h"
#include "rr/mapped.h"
#include "rr/recfile.h"
#include "rr/recorder.h"
#include "rr/recqueue.h"
#include "rr/recsignals.h"
#include "rr/replaced.h"
#include "rr/spin.h"

struct rr_bpf;
struct ring_buffer;

/* The processes that we stopped, while the terminal's job is being stopped. */
struct stopped {
	pid_t *at;
	size_t n, cap;
	uint64_t until_ns;	/* we follow then in any case; 0: nothing is stopped */
	bool runs;		/* one does still */
};

struct recorder {
	const struct recorder_opts *opts;
	struct recorder_result *result;
	struct rr_bpf *bpf;
	const struct rr_counts *counts;
	struct ring_buffer *ring;
	int link;		/* of the iterator over what is recorded */
	struct recfile *file;
	struct recqueue *queue;
	struct filestore files;
	struct mapped mapped;
	struct replaced replaced;
	struct bulk bulk;
	struct confined child;
	struct guardian guardian;
	struct recsignals signals;
	struct stopped stopped;
	struct spin spin;
	struct err *err;
	int failed;		/* of the events so far */
	bool ended;		/* the first process has */
	pid_t *held;		/* attached to, for their execve */
	size_t nheld;
	uint32_t ended_call;	/* the thread whose call was the last event, or 0 */
	struct buf sums;	/* of memory behind it */
};

/* Takes what is in the ring; 0, or what the recording has to end for. */
int recorder_drain(struct recorder *rec);
/* The thread is to stop at an instruction that was replaced. */
int recorder_hold_replaced(struct recorder *rec, pid_t tid);
/* Until all that is recorded has ended; 0 or -errno with words. */
int recorder_watch(struct recorder *rec);

#endif
