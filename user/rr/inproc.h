/* SPDX-License-Identifier: MIT */
#ifndef RR_INPROC_H
#define RR_INPROC_H

/*
 * What a replayed process does by itself: an area that all processes of a replay share holds
 * the next events of one address space, as steps, and the registers of the threads that take
 * part. Code in it compares a call with the next step and does what it did, puts one thread in
 * another's place, makes a thread and ends one (inproc_code.c). It stops behind the last step,
 * or where a call is another one.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

#include "base/err.h"
#include "shared/rr.h"

/* Between the mappings that the kernel chooses from above and the stack, in a gap it leaves. */
#define INPROC_BASE	0x7ffffa000000
#define INPROC_AT	((uint64_t)INPROC_BASE)
#define INPROC_BYTES	((uint64_t)2 << 20)

/* The area, from its beginning on: struct inproc_data, then */
#define INPROC_CODE	4096
#define INPROC_STACK	20480		/* of the code; it ends where the next begins */
#define INPROC_PLACES	32768		/* struct inproc_place */
#define INPROC_STEPS	49152		/* struct inproc_step */
#define INPROC_SLOTS	262144		/* struct inproc_slot, .slot_bytes each */
#define INPROC_EVENTS	1048576

#define INPROC_NPLACES	1024		/* a power of two */
#define INPROC_NSTEPS	((INPROC_SLOTS - INPROC_STEPS) / sizeof(struct inproc_step))

/* Of a patched call; the processes read it. */
struct inproc_site {
	uint64_t ip;		/* behind the call */
	uint64_t go_on;		/* where the instructions behind it have been moved to */
	uint64_t call;		/* a call that is really made, then .go_on */
};

/* The same for one who comes from elsewhere: found by .ip, hashed. */
struct inproc_place {
	uint64_t ip, go_on;	/* .ip 0: there is none */
};

/* Where to look for it first. */
static inline __attribute__((always_inline)) uint64_t inproc_hash(uint64_t ip)
{
	return (ip ^ ip >> 12) % INPROC_NPLACES;
}

/* A thread while it does not run, and of who runs what registers do not say. */
struct inproc_slot {
	struct user_regs_struct regs;
	uint64_t clear_tid, robust;	/* as in struct rthread */
	uint64_t flags;		/* of the clone that made it */
	uint64_t state;		/* enum inproc_state */
};

enum inproc_state {
	INPROC_RUNS,		/* on from .regs */
	INPROC_AFTER_CALL,	/* the same, and has not run since its call */
	INPROC_AT_CALL,
	INPROC_GONE,		/* it has ended */
};

#define INPROC_XSTATE	256		/* in a slot, behind that: an XSAVE area */

enum inproc_kind {
	INPROC_CALL,		/* .slot's call returned */
	INPROC_BORN,		/* the same of a call that made the thread: nothing is left to do */
	INPROC_FORK,		/* .slot's call made the thread of slot .other */
	INPROC_EXIT,		/* .slot's call ended it */
	INPROC_SWITCH,		/* .other runs in place of .slot, which is in a call, */
	INPROC_SWITCH_NEW,	/* has not run yet or has ended, */
	INPROC_SWITCH_BEHIND,	/* is behind a call */
};

/* Addresses are those in the processes. */
struct inproc_step {
	uint64_t event;
	uint64_t real;		/* 0, or uint64_t[7]: a call to be made, its number and arguments */
	uint16_t kind, slot, other;
	uint16_t any_result;	/* of the call that is made */
};

struct inproc_data {
	uint64_t rax, site;	/* of who comes from a patched call */
	uint64_t top;		/* behind .regs.rsp of the slot of who runs */
	uint64_t target;	/* where it goes on */
	uint64_t next, end;	/* steps: .next of them are done */
	uint64_t fs, gs;	/* bases that are in the processor */
	uint64_t slot_bytes;
	uint32_t slot;		/* of who runs */
	uint8_t stop;		/* behind the last step; 0: it goes on to its next call */
	uint8_t blocked;	/* what the kernel asks: whether calls are signals (SIGSYS) */
	uint8_t sets_bases;	/* programs set their bases without a call: wrfsbase */
};

struct inproc {
	int fd;			/* of the area */
	unsigned char *area;	/* here */
	size_t xstate_bytes;
	size_t nslots, slot_bytes;	/* not as the area has it: processes can write there */
	size_t used;		/* of its room for events */
	size_t n;		/* steps */
	uint64_t places;	/* of which patches the places are: sites.h, .version */
};

int inproc_new(struct inproc *p, struct err *err);
void inproc_release(struct inproc *p);

struct inproc_data *inproc_data(const struct inproc *p);
struct inproc_slot *inproc_slot(const struct inproc *p, size_t i);
unsigned char *inproc_xstate(const struct inproc *p, size_t i);

/* Forgets the steps of before. */
void inproc_begin(struct inproc *p);
/* A step of that event, for the others to fill in. NULL: there is no room for it. */
struct inproc_step *inproc_add(struct inproc *p, const struct rr_head *ev);
/* It is to make a call. False: there is no room for it. */
bool inproc_real(struct inproc *p, struct inproc_step *s, const uint64_t call[7]);
/* What to do when a thread is to go on behind a patched call; all those of @at. */
void inproc_set_places(struct inproc *p, const struct inproc_place *at, size_t n);
/* Lets steps be done from now on, by who is in @slot, with a stop behind the last or not. */
void inproc_start(struct inproc *p, size_t slot, bool stop);
/* No more. */
void inproc_end(struct inproc *p);

/* Addresses: where code of a site jumps to, with rax kept at inproc_rax() and a site in it. */
uint64_t inproc_entry(void);
uint64_t inproc_rax(void);
/* Where the steps of who runs begin, whose registers are in its slot; where a stop has ended. */
uint64_t inproc_steps(void);
uint64_t inproc_stop(void);
/* The code, of which calls are never signals; and what the kernel asks for the others. */
uint64_t inproc_code_at(void);
uint64_t inproc_code_bytes(void);
bool inproc_is_code(uint64_t ip);
uint64_t inproc_blocked(void);

#endif
