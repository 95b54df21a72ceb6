/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: this runs in the replayed processes. All of it is in a section of its own, which is
 * copied into the area; it calls nothing and knows no address but the area's. It uses a stack
 * of its own, since the program's may have a red zone, and no register but general ones: the
 * others are those of the thread that runs. The Makefile compiles it by itself.
 */
#include <asm/prctl.h>
#include <errno.h>
#include <linux/sched.h>
#include <sys/syscall.h>

#include "rr/inproc.h"

#define HERE __attribute__((section("inproc_text"), visibility("hidden")))
#define PART static inline __attribute__((always_inline, section("inproc_text")))
#define STR_(x) #x
#define STR(x) STR_(x)
#define BASE STR(INPROC_BASE)

_Static_assert(offsetof(struct inproc_data, site) == 8 &&
	       offsetof(struct inproc_data, top) == 16 &&
	       offsetof(struct inproc_data, target) == 24, "as the code below has them");
_Static_assert(sizeof(struct inproc_slot) <= INPROC_XSTATE, "the two lie behind each other");

/* Where to go on: with the registers at .regs, at .at. NULL: it stops. */
struct way {
	const struct user_regs_struct *regs;
	uint64_t at;
};

/* The same as that of replayer.c. */
struct birth {
	uint64_t flags, child_tid, parent_tid, stack, tls;
};

struct way inproc_run(bool from_site) HERE;

/* Registers lie in the order of struct user_regs_struct. */
__asm__(".pushsection inproc_text, \"ax\", @progbits\n"
	".globl inproc_code, inproc_code_entry, inproc_code_steps, inproc_code_stop\n"
	".balign 64\n"
	"inproc_code:\n"
	"inproc_code_entry:\n"
	"	movabs %rax, " BASE "+8\n"
	"	movabs " BASE "+16, %rax\n"
	"	xchg %rax, %rsp\n"
	"	push %rax\n"
	"	pushfq\n"
	"	lea -24(%rsp), %rsp\n"
	"	push %rdi\n"
	"	push %rsi\n"
	"	push %rdx\n"
	"	push %rcx\n"
	"	lea -8(%rsp), %rsp\n"
	"	push %r8\n"
	"	push %r9\n"
	"	push %r10\n"
	"	push %r11\n"
	"	push %rbx\n"
	"	push %rbp\n"
	"	push %r12\n"
	"	push %r13\n"
	"	push %r14\n"
	"	push %r15\n"
	"	mov $1, %edi\n"
	"1:	cld\n"
	"	movabs $" BASE "+" STR(INPROC_PLACES) ", %rsp\n"
	"	call inproc_run\n"
	"	test %rax, %rax\n"
	"	jz 2f\n"
	"	movabs $" BASE "+24, %rcx\n"
	"	mov %rdx, (%rcx)\n"
	"	mov %rax, %rsp\n"
	"	pop %r15\n"
	"	pop %r14\n"
	"	pop %r13\n"
	"	pop %r12\n"
	"	pop %rbp\n"
	"	pop %rbx\n"
	"	pop %r11\n"
	"	pop %r10\n"
	"	pop %r9\n"
	"	pop %r8\n"
	"	pop %rax\n"
	"	pop %rcx\n"
	"	pop %rdx\n"
	"	pop %rsi\n"
	"	pop %rdi\n"
	"	lea 24(%rsp), %rsp\n"
	"	popfq\n"
	"	pop %rsp\n"
	/* Through .target: how far it is from here is known. */
	"	.byte 0xff, 0x25\n"		/* jmp *(%rip + the next word) */
	"	.long 24 - " STR(INPROC_CODE) " - (3f - inproc_code)\n"
	"3:\n"
	"2:	int3\n"
	"inproc_code_stop:\n"
	"	ud2\n"
	"inproc_code_steps:\n"
	"	xor %edi, %edi\n"
	"	jmp 1b\n"
	".popsection\n");

/* ---- what others do by the library or the kernel ------------------------------------------- */

PART struct inproc_data *data(void)
{
	return (struct inproc_data *)INPROC_AT;
}

PART struct inproc_slot *slot_at(uint64_t i)
{
	return (struct inproc_slot *)(INPROC_AT + INPROC_SLOTS + i * data()->slot_bytes);
}

PART void copy(void *to, const void *from, uint64_t n)
{
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

PART void save_xstate(struct inproc_slot *s)
{
	__asm__ volatile("xsave64 (%0)" : : "r"((char *)s + INPROC_XSTATE), "a"(-1), "d"(-1) :
			 "memory");
}

PART void load_xstate(const struct inproc_slot *s)
{
	__asm__ volatile("xrstor64 (%0)" : : "r"((const char *)s + INPROC_XSTATE), "a"(-1),
			 "d"(-1) : "memory");
}

PART long real_call(const uint64_t c[7])
{
	register uint64_t r10 __asm__("r10") = c[4];
	register uint64_t r8 __asm__("r8") = c[5];
	register uint64_t r9 __asm__("r9") = c[6];
	long ret = (long)c[0];

	__asm__ volatile("syscall" : "+a"(ret) : "D"(c[1]), "S"(c[2]), "d"(c[3]), "r"(r10),
			 "r"(r8), "r"(r9) : "rcx", "r11", "memory");
	return ret;
}

PART long set_base(uint64_t which, uint64_t base)
{
	const uint64_t c[7] = { SYS_arch_prctl, which, base };

	return real_call(c);
}

/* ---- steps --------------------------------------------------------------------------------- */

/* Memory that the kernel wrote: the pieces behind the first @at bytes of an event. */
PART void put_pieces(const struct rr_head *h, uint64_t at)
{
	while (at + sizeof(struct rr_piece) <= h->bytes) {
		const struct rr_piece *p = (const void *)((const char *)h + at);

		at += sizeof(*p);
		copy((void *)p->addr, (const char *)h + at, p->bytes);
		at += (p->bytes + 7) & ~7u;
	}
}

PART bool is_call(const struct user_regs_struct *g, const struct rr_ev_call *e)
{
	return (uint32_t)g->orig_rax == e->nr && g->rip == e->ip && g->rdi == e->arg[0] &&
	       g->rsi == e->arg[1] && g->rdx == e->arg[2] && g->r10 == e->arg[3] &&
	       g->r8 == e->arg[4] && g->r9 == e->arg[5];
}

PART bool do_call(struct inproc_slot *s, const struct inproc_step *step)
{
	const struct rr_ev_call *e = (const void *)step->event;

	/* One that comes to another result is made again, by the replayer, and told of. */
	if (!is_call(&s->regs, e) ||
	    (step->real && real_call((const uint64_t *)step->real) != e->ret &&
	     !step->any_result))
		return false;
	put_pieces(&e->head, sizeof(*e));
	if (e->nr == SYS_set_robust_list && !e->ret)
		s->robust = e->arg[0];
	if (e->nr == SYS_set_tid_address)
		s->clear_tid = e->arg[0];
	s->regs.rax = (uint64_t)e->ret;
	s->regs.orig_rax = (uint64_t)-1;
	s->state = INPROC_AFTER_CALL;
	return true;
}

/* What the call's arguments say, or clone3's struct of them. */
PART bool read_birth(const struct user_regs_struct *g, struct birth *b)
{
	const uint64_t *a = (const uint64_t *)g->rdi;

	if (g->orig_rax == SYS_clone3) {
		b->flags = a[0];
		b->child_tid = a[2];
		b->parent_tid = a[3];
		b->stack = a[5] ? a[5] + a[6] : 0;
		b->tls = a[7];
	} else if (g->orig_rax == SYS_clone) {
		b->flags = g->rdi;
		b->child_tid = g->r10;
		b->parent_tid = g->rdx;
		b->stack = g->rsi;
		b->tls = g->r8;
	} else {
		return false;
	}
	return b->flags & CLONE_VM;
}

PART bool do_fork(struct inproc_slot *s, const struct inproc_step *step)
{
	const struct rr_ev_fork *e = (const void *)step->event;
	struct inproc_slot *c = slot_at(step->other);
	struct birth b;

	if (!read_birth(&s->regs, &b))
		return false;
	copy(&c->regs, &s->regs, sizeof(c->regs));
	save_xstate(c);
	c->regs.rax = 0;
	c->regs.orig_rax = (uint64_t)-1;
	if (b.stack)
		c->regs.rsp = b.stack;
	if (b.flags & CLONE_SETTLS)
		c->regs.fs_base = b.tls;
	c->clear_tid = b.flags & CLONE_CHILD_CLEARTID ? b.child_tid : 0;
	c->robust = 0;
	c->flags = b.flags;
	c->state = INPROC_RUNS;
	if (b.flags & CLONE_PARENT_SETTID)
		*(uint32_t *)b.parent_tid = e->child_seen;
	if (b.flags & CLONE_CHILD_SETTID)
		*(uint32_t *)b.child_tid = e->child_own;
	return true;
}

/* Locks that it holds are for the replayer to mark. */
PART bool do_exit(struct inproc_slot *s)
{
	const uint64_t *robust = (const uint64_t *)s->robust;

	if (s->regs.orig_rax != SYS_exit || (robust && (robust[0] != s->robust || robust[2])))
		return false;
	if (s->clear_tid)
		*(uint32_t *)s->clear_tid = 0;
	s->state = INPROC_GONE;
	return true;
}

/* False: a base could not be set. */
PART bool set_bases(const struct user_regs_struct *g)
{
	struct inproc_data *d = data();

	if (g->fs_base != d->fs && set_base(ARCH_SET_FS, g->fs_base))
		return false;
	d->fs = g->fs_base;
	if (g->gs_base != d->gs && set_base(ARCH_SET_GS, g->gs_base))
		return false;
	d->gs = g->gs_base;
	return true;
}

PART bool do_switch(struct inproc_slot *s, const struct inproc_step *step)
{
	struct inproc_data *d = data();
	struct inproc_slot *to = slot_at(step->other);

	if (step->kind == INPROC_SWITCH)
		put_pieces((const void *)step->event, RR_SWITCH_SHORT);
	if (!set_bases(&to->regs))
		return false;
	if (s->state != INPROC_GONE)
		save_xstate(s);
	load_xstate(to);
	d->slot = step->other;
	d->top = (uint64_t)&to->regs.ss;
	return true;
}

PART bool is_behind(const struct inproc_slot *s, const struct rr_ev_switch *e)
{
	return s->state == INPROC_AFTER_CALL && s->regs.rip == e->at.ip && s->regs.rsp == e->at.sp;
}

/* Whether the thread is where the step can be done, and did it. */
PART bool do_step(struct inproc_slot *s, const struct inproc_step *step)
{
	const bool at_call = s->state == INPROC_AT_CALL;

	if (step->kind == INPROC_CALL)
		return at_call && do_call(s, step);
	if (step->kind == INPROC_FORK)
		return at_call && do_fork(s, step);
	if (step->kind == INPROC_EXIT)
		return at_call && do_exit(s);
	if (step->kind == INPROC_SWITCH)
		return at_call && do_switch(s, step);
	if (step->kind == INPROC_SWITCH_NEW)
		return do_switch(s, step);
	if (step->kind == INPROC_SWITCH_BEHIND)
		return is_behind(s, (const void *)step->event) && do_switch(s, step);
	return step->kind == INPROC_BORN;
}

/* Whether it is to run to where its step can be done. */
PART bool runs_first(const struct inproc_slot *s, const struct inproc_step *step)
{
	return s->state <= INPROC_AFTER_CALL && step->kind != INPROC_BORN &&
	       step->kind != INPROC_SWITCH_NEW && step->kind != INPROC_SWITCH_BEHIND;
}

PART struct way run_on(struct inproc_slot *s)
{
	const struct inproc_place *p = (const void *)(INPROC_AT + INPROC_PLACES);
	struct way w = { &s->regs, s->regs.rip };

	s->state = INPROC_RUNS;
	for (uint64_t i = inproc_hash(w.at); p[i].ip; i = (i + 1) % INPROC_NPLACES)
		if (p[i].ip == w.at) {
			w.at = p[i].go_on;
			break;
		}
	return w;
}

/* Those that the program may have set by itself. */
PART void note_bases(struct inproc_slot *s)
{
	struct inproc_data *d = data();

	if (!d->sets_bases)
		return;
	__asm__ volatile("rdfsbase %0\n\trdgsbase %1" : "=r"(d->fs), "=r"(d->gs));
	s->regs.fs_base = d->fs;
	s->regs.gs_base = d->gs;
}

PART void note_call(struct inproc_slot *s)
{
	const struct inproc_site *site = (const void *)data()->site;

	s->regs.orig_rax = data()->rax;
	s->regs.rax = (uint64_t)-ENOSYS;
	s->regs.rip = s->regs.rcx = site->ip;
	s->regs.r11 = s->regs.eflags;
	note_bases(s);
	s->state = INPROC_AT_CALL;
}

/* The call is really made, which stops it there. */
PART struct way leave(struct inproc_slot *s)
{
	const struct inproc_site *site = (const void *)data()->site;

	s->regs.rax = s->regs.orig_rax;
	return (struct way){ &s->regs, site->call };
}

struct way inproc_run(bool from_site)
{
	const struct inproc_step *steps = (const void *)(INPROC_AT + INPROC_STEPS);
	struct inproc_data *d = data();
	struct inproc_slot *s = slot_at(d->slot);

	if (from_site)
		note_call(s);
	while (d->next != d->end) {
		const struct inproc_step *step = &steps[d->next];

		if (runs_first(s, step))
			return run_on(s);
		if (step->slot != d->slot || !do_step(s, step))
			break;
		d->next++;
		if (d->slot != step->slot)
			from_site = false;
		s = slot_at(d->slot);
	}
	if (d->next == d->end && !d->stop && s->state <= INPROC_AFTER_CALL)
		return run_on(s);
	return from_site && s->state == INPROC_AT_CALL ? leave(s) : (struct way){ 0 };
}
