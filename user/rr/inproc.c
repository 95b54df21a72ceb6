/* SPDX-License-Identifier: MIT */
#include "rr/inproc.h"

#include <cpuid.h>
#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#define HWCAP2_FSGSBASE 2	/* <asm/hwcap2.h>, since Linux 5.9 */

extern const unsigned char inproc_code[], inproc_code_entry[], inproc_code_steps[],
	inproc_code_stop[];
/* Of its section, by the linker. */
extern const unsigned char __start_inproc_text[], __stop_inproc_text[];

_Static_assert(INPROC_STEPS - INPROC_PLACES >= INPROC_NPLACES * sizeof(struct inproc_place) &&
	       sizeof(struct inproc_data) <= INPROC_CODE, "they lie behind each other");

struct inproc_data *inproc_data(const struct inproc *p)
{
	return (struct inproc_data *)(void *)p->area;
}

struct inproc_slot *inproc_slot(const struct inproc *p, size_t i)
{
	return (struct inproc_slot *)(void *)(p->area + INPROC_SLOTS +
					      i * p->slot_bytes);
}

unsigned char *inproc_xstate(const struct inproc *p, size_t i)
{
	return (unsigned char *)inproc_slot(p, i) + INPROC_XSTATE;
}

uint64_t inproc_code_bytes(void)
{
	return (uint64_t)(__stop_inproc_text - inproc_code);
}

/* Of all that the system has switched on; 0: it has no such areas. */
static size_t xstate_bytes(void)
{
	unsigned int a, b, c, d;

	return __get_cpuid_count(0xd, 0, &a, &b, &c, &d) ? b : 0;
}

int inproc_new(struct inproc *p, struct err *err)
{
	void *area = MAP_FAILED;

	*p = (struct inproc){ .fd = memfd_create("replay", MFD_CLOEXEC) };
	if (p->fd >= 0 && !ftruncate(p->fd, (off_t)INPROC_BYTES))
		area = mmap(NULL, INPROC_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, p->fd, 0);
	if (area == MAP_FAILED || &__start_inproc_text[0] != &inproc_code[0] ||
	    inproc_code_bytes() > INPROC_STACK - INPROC_CODE) {
		inproc_release(p);
		return err_sys(err, errno, "cannot share memory with the replay");
	}
	p->area = area;
	memcpy(p->area + INPROC_CODE, inproc_code, inproc_code_bytes());
	p->xstate_bytes = xstate_bytes();
	p->slot_bytes = (INPROC_XSTATE + p->xstate_bytes + 63) & ~(size_t)63;
	p->nslots = (INPROC_EVENTS - INPROC_SLOTS) / p->slot_bytes;
	inproc_data(p)->slot_bytes = p->slot_bytes;
	inproc_data(p)->sets_bases = !!(getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE);
	inproc_end(p);
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

struct inproc_step *inproc_add(struct inproc *p, const struct rr_head *ev)
{
	struct inproc_step *s = (struct inproc_step *)(void *)(p->area + INPROC_STEPS) + p->n;

	if (p->n == INPROC_NSTEPS || ev->bytes > INPROC_BYTES - INPROC_EVENTS - p->used)
		return NULL;
	memcpy(p->area + INPROC_EVENTS + p->used, ev, ev->bytes);
	*s = (struct inproc_step){ .event = INPROC_AT + INPROC_EVENTS + p->used };
	p->used += ev->bytes;
	p->n++;
	return s;
}

bool inproc_real(struct inproc *p, struct inproc_step *s, const uint64_t call[7])
{
	const size_t n = 7 * sizeof(call[0]);

	if (n > INPROC_BYTES - INPROC_EVENTS - p->used)
		return false;
	memcpy(p->area + INPROC_EVENTS + p->used, call, n);
	s->real = INPROC_AT + INPROC_EVENTS + p->used;
	p->used += n;
	return true;
}

void inproc_set_places(struct inproc *p, const struct inproc_place *at, size_t n)
{
	struct inproc_place *to = (struct inproc_place *)(void *)(p->area + INPROC_PLACES);

	memset(to, 0, INPROC_NPLACES * sizeof(*to));
	/* One that finds no room costs a stop. */
	for (size_t i = 0; i < n && i < INPROC_NPLACES / 2; i++) {
		uint64_t k = inproc_hash(at[i].ip);

		while (to[k].ip)
			k = (k + 1) % INPROC_NPLACES;
		to[k] = at[i];
	}
}

void inproc_start(struct inproc *p, size_t slot, bool stop)
{
	const struct inproc_slot *s = inproc_slot(p, slot);
	const uint64_t at = INPROC_AT + (uint64_t)((const unsigned char *)s - p->area);
	struct inproc_data *d = inproc_data(p);

	d->next = 0;
	d->end = p->n;
	d->slot = (uint32_t)slot;
	d->top = at + offsetof(struct inproc_slot, regs.ss);
	d->fs = s->regs.fs_base;
	d->gs = s->regs.gs_base;
	d->stop = stop;
}

/* Who comes then makes its call. */
void inproc_end(struct inproc *p)
{
	inproc_begin(p);
	inproc_start(p, 0, true);
}

/* ---- addresses in the processes ------------------------------------------------------------ */

static uint64_t address_of(const unsigned char *code)
{
	return INPROC_AT + INPROC_CODE + (uint64_t)(code - inproc_code);
}

uint64_t inproc_code_at(void)
{
	return INPROC_AT + INPROC_CODE;
}

bool inproc_is_code(uint64_t ip)
{
	return ip - inproc_code_at() < inproc_code_bytes();
}

uint64_t inproc_entry(void)
{
	return address_of(inproc_code_entry);
}

uint64_t inproc_steps(void)
{
	return address_of(inproc_code_steps);
}

uint64_t inproc_stop(void)
{
	return address_of(inproc_code_stop);
}

uint64_t inproc_rax(void)
{
	return INPROC_AT + offsetof(struct inproc_data, rax);
}

uint64_t inproc_blocked(void)
{
	return INPROC_AT + offsetof(struct inproc_data, blocked);
}
