/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: the code is position independent and copied into the area, with its data in front.
 * It uses a stack of its own, since the program's may have a red zone, and changes no
 * register but those that a call changes: rax, rcx and r11.
 */
#include "rr/inproc.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CODE_BYTES 4096
#define STACK_BYTES 4096	/* behind the code */
#define EVENTS_AT (CODE_BYTES + STACK_BYTES)

/* What the code begins with. */
struct data {
	uint64_t next, end;	/* events, as addresses in the processes */
	uint64_t done;
	uint64_t rax, rsp, target, site;
	uint64_t stop;		/* behind the last event; 0: go on to another call */
};

extern const unsigned char inproc_code[], inproc_code_entry[], inproc_code_stop[],
	inproc_code_end[];

/* Offsets of struct rr_ev_call and of struct rr_piece. */
_Static_assert(offsetof(struct rr_ev_call, nr) == 16 && offsetof(struct rr_ev_call, ret) == 24 &&
	       offsetof(struct rr_ev_call, ip) == 32 && offsetof(struct rr_ev_call, arg) == 40 &&
	       sizeof(struct rr_ev_call) == 88 && sizeof(struct rr_piece) == 16 &&
	       offsetof(struct rr_piece, bytes) == 8, "as the code has them");

__asm__(".pushsection .text\n"
	".globl inproc_code, inproc_code_entry, inproc_code_stop, inproc_code_end\n"
	".balign 64\n"
	"inproc_code:\n"
	"1:	.quad 0\n"			/* next */
	"2:	.quad 0\n"			/* end */
	"3:	.quad 0\n"			/* done */
	"4:	.quad 0\n"			/* rax */
	"5:	.quad 0\n"			/* rsp */
	"6:	.quad 0\n"			/* target */
	"7:	.quad 0\n"			/* site */
	"8:	.quad 0\n"			/* stop */
	"inproc_code_entry:\n"
	"	mov %rsp, 5b(%rip)\n"
	"	lea 8192+inproc_code(%rip), %rsp\n"
	"	pushfq\n"
	"	push %rcx\n"
	"	push %rdx\n"
	"	push %rsi\n"
	"	push %rdi\n"
	"	push %rbx\n"
	"	push %r11\n"
	"	cld\n"
	"	mov %rax, 7b(%rip)\n"
	"	mov 1b(%rip), %rbx\n"
	"	cmp 2b(%rip), %rbx\n"
	"	je 20f\n"
	/* The call: number, place, arguments. */
	"	mov 4b(%rip), %rcx\n"
	"	mov 16(%rbx), %edx\n"
	"	cmp %rcx, %rdx\n"
	"	jne 20f\n"
	"	mov (%rax), %rcx\n"
	"	cmp %rcx, 32(%rbx)\n"
	"	jne 20f\n"
	"	cmp %rdi, 40(%rbx)\n"
	"	jne 20f\n"
	"	cmp %rsi, 48(%rbx)\n"
	"	jne 20f\n"
	"	mov 32(%rsp), %rdx\n"
	"	cmp %rdx, 56(%rbx)\n"
	"	jne 20f\n"
	"	cmp %r10, 64(%rbx)\n"
	"	jne 20f\n"
	"	cmp %r8, 72(%rbx)\n"
	"	jne 20f\n"
	"	cmp %r9, 80(%rbx)\n"
	"	jne 20f\n"
	/* Its pieces of memory, each rounded up to a multiple of eight. */
	"	mov (%rbx), %edx\n"
	"	add %rbx, %rdx\n"
	"	lea 88(%rbx), %rsi\n"
	"10:	lea 16(%rsi), %rcx\n"
	"	cmp %rdx, %rcx\n"
	"	ja 11f\n"
	"	mov (%rsi), %rdi\n"
	"	mov 8(%rsi), %ecx\n"
	"	add $16, %rsi\n"
	"	rep movsb\n"
	"	add $7, %rsi\n"
	"	and $-8, %rsi\n"
	"	jmp 10b\n"
	/* Its result; rcx and r11 as the processor leaves them. */
	"11:	mov 24(%rbx), %rcx\n"
	"	mov %rcx, 4b(%rip)\n"
	"	mov %rdx, 1b(%rip)\n"
	"	incq 3b(%rip)\n"
	"	mov (%rax), %rcx\n"
	"	mov %rcx, 40(%rsp)\n"
	"	mov 48(%rsp), %rcx\n"
	"	mov %rcx, (%rsp)\n"
	"	mov 8(%rax), %rcx\n"
	"	cmp 2b(%rip), %rdx\n"
	"	jne 30f\n"
	"	cmpq $0, 8b(%rip)\n"
	"	je 30f\n"
	"	lea 40f(%rip), %rcx\n"
	"	jmp 30f\n"
	/* Another call, or one of which no event is here. */
	"20:	mov 16(%rax), %rcx\n"
	"30:	mov %rcx, 6b(%rip)\n"
	"	pop %r11\n"
	"	pop %rbx\n"
	"	pop %rdi\n"
	"	pop %rsi\n"
	"	pop %rdx\n"
	"	pop %rcx\n"
	"	popfq\n"
	"	mov 5b(%rip), %rsp\n"
	"	mov 4b(%rip), %rax\n"
	"	jmp *6b(%rip)\n"
	"40:	int3\n"
	"inproc_code_stop:\n"
	"inproc_code_end:\n"
	".popsection\n");

static struct data *data_of(const struct inproc *p)
{
	return (struct data *)(void *)p->area;
}

int inproc_new(struct inproc *p, struct err *err)
{
	const size_t n = (size_t)(inproc_code_end - inproc_code);
	void *area = MAP_FAILED;

	*p = (struct inproc){ .fd = memfd_create("replay", MFD_CLOEXEC) };
	if (p->fd >= 0 && !ftruncate(p->fd, (off_t)INPROC_BYTES))
		area = mmap(NULL, INPROC_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, p->fd, 0);
	if (area == MAP_FAILED || n > CODE_BYTES) {
		inproc_release(p);
		return err_sys(err, errno, "cannot share memory with the replay");
	}
	p->area = area;
	memcpy(p->area, inproc_code, n);
	return 0;
}

void inproc_release(struct inproc *p)
{
	if (p->area)
		munmap(p->area, INPROC_BYTES);
	if (p->fd >= 0)
		close(p->fd);
	*p = (struct inproc){ .fd = -1 };
}

void inproc_begin(struct inproc *p)
{
	p->used = p->n = 0;
}

bool inproc_add(struct inproc *p, const struct rr_head *ev)
{
	if (ev->bytes > INPROC_BYTES - EVENTS_AT - p->used)
		return false;
	memcpy(p->area + EVENTS_AT + p->used, ev, ev->bytes);
	p->used += ev->bytes;
	p->n++;
	return true;
}

void inproc_start(struct inproc *p, bool stop)
{
	struct data *d = data_of(p);

	d->next = INPROC_AT + EVENTS_AT;
	d->end = d->next + p->used;
	d->done = 0;
	d->stop = stop;
}

void inproc_end(struct inproc *p)
{
	struct data *d = data_of(p);

	d->next = d->end = 0;
}

size_t inproc_done(const struct inproc *p)
{
	return data_of(p)->done;
}

static uint64_t address_of(const unsigned char *code)
{
	return INPROC_AT + (uint64_t)(code - inproc_code);
}

uint64_t inproc_entry(void)
{
	return address_of(inproc_code_entry);
}

uint64_t inproc_rax(void)
{
	return INPROC_AT + offsetof(struct data, rax);
}

uint64_t inproc_stop(void)
{
	return address_of(inproc_code_stop);
}

uint64_t inproc_last_site(const struct inproc *p)
{
	return data_of(p)->site;
}
