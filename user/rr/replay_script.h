/* SPDX-License-Identifier: MIT */
#ifndef RR_REPLAY_SCRIPT_H
#define RR_REPLAY_SCRIPT_H

/* The next events of one address space, as steps that its process does by itself: inproc.h. */
#include "rr/replay_state.h"

#define SCRIPT_SLOTS 512

/* As the replayer knows them; the process can write to its own. */
struct script_step {
	const struct rr_head *event;	/* until the next is read */
	uint16_t kind, slot, other;	/* as in struct inproc_step */
};

/* Who is in a slot as of the last step. */
struct script_part {
	uint32_t tid;
	bool born, gone;
};

struct script {
	struct rspace *space;
	struct script_step *step;	/* INPROC_NSTEPS */
	size_t n, most;
	struct rthread *first[SCRIPT_SLOTS];	/* who is in a slot; NULL: nobody as yet */
	struct script_part part[SCRIPT_SLOTS];	/* slot 0: who begins */
	size_t nparts, ngone;
	size_t slot;		/* of who runs */
	size_t threads;		/* of the space */
	uint64_t brk;		/* the same as the space's */
	bool calls;		/* some of the steps make calls */
	bool no_calls;		/* none may */
	bool stop;		/* what is next may not be a call of who runs then */
};

/* -ENOMEM with words. */
int script_new(struct script **out, struct err *err);
void script_free(struct script *s);

/* Whether a script can begin with such an event. */
bool script_begins(const struct rr_head *h);
/*
 * Puts the events from @h on into p->inproc, with the threads that they need; that of @h is
 * running and in its process. Whether there is anything to be gained by them.
 */
bool script_write(struct replayer *p, struct script *s, struct rthread *t,
		  const struct rr_head *h);
/* That many of its steps were done. */
void script_learn(struct script *s, size_t done);
/* Whether calls of that number are ever steps. */
bool script_takes(uint64_t nr);

#endif
