/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "rr/procmaps.h"
#include "rr/tracee.h"

#define PAGE ((uint64_t)4096)
#define CALL_BYTES 2
#define PASSES_LEAST 4		/* a patch costs as much as some stops */

/* The program may have the processor check that words are where they belong. */
static void align(struct machcode *c)
{
	machcode_put(c, "\xcc\xcc\xcc\xcc\xcc\xcc\xcc", -machcode_here(c) % sizeof(uint64_t));
}

/* What stands in our page: where the jump leads to, the struct it names, the call, the rest. */
static int make_page(struct site *s, uint64_t entry, uint8_t *room)
{
	struct machcode c = { .base = s->page, .at = room, .n = entry - s->page, .cap = 2 * PAGE };
	struct inproc_site in = { .ip = s->ip };
	uint64_t site_at;
	uint32_t traps;
	size_t behind;

	machcode_word(&c, "\x48\xa3", 2, inproc_rax());		/* mov [inproc_rax], rax */
	machcode_word(&c, "\x48\xb8", 2, 0);			/* mov rax, site */
	behind = c.n;
	machcode_put(&c, "\xff\x25", 2);			/* jmp [the word behind traps] */
	traps = (uint32_t)(-(machcode_here(&c) + sizeof(traps)) % sizeof(uint64_t));
	machcode_put(&c, &traps, sizeof(traps));
	align(&c);
	machcode_word(&c, "", 0, inproc_entry());
	in.call = machcode_here(&c);
	machcode_put(&c, "\x0f\x05", CALL_BYTES);		/* syscall */
	in.go_on = machcode_here(&c);
	if (moved_add(&c, &s->moved, in.go_on))
		return -ENOTSUP;
	align(&c);
	site_at = machcode_here(&c);
	machcode_put(&c, &in, sizeof(in));
	if (c.failed)
		return -ENOTSUP;
	memcpy(room + behind - sizeof(site_at), &site_at, sizeof(site_at));
	s->go_on = in.go_on;
	return 0;
}

static int put(struct tracee *t, struct site *s, const uint8_t *room, uint64_t entry,
	       struct err *err)
{
	uint8_t jump[JUMP_BYTES];
	int r = tracee_map(t, s->page, s->page + 2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			   MAP_PRIVATE, NULL, 0, err);

	if (r)
		return r;
	jump_make(jump, s->ip - CALL_BYTES, entry);
	if (tracee_write(t, s->page, room, 2 * PAGE) ||
	    tracee_write(t, s->ip - CALL_BYTES, jump, sizeof(jump)))
		return err_set(err, EFAULT, "cannot write to the replay");
	s->patched = true;
	sites_changed(&t->sites);
	return 0;
}

/*
 * Code that can be written may be another one later, and what has been moved of it would not be;
 * replay_memory.c takes patches away where the program may write from then on.
 */
static bool stays(const struct procmaps *maps, uint64_t at, uint64_t end)
{
	const struct procmap *m = procmaps_find(maps, at);

	while (m && !m->shared && !(m->prot & PROT_WRITE)) {
		if (m->end >= end)
			return true;
		m = procmaps_find(maps, m->end);
	}
	return false;
}

static int patch(struct tracee *t, struct site *s, struct err *err)
{
	struct jump_want w = { .at = s->ip - CALL_BYTES, .inner = 1 << CALL_BYTES,
			       .bytes = 2 * PAGE };
	uint8_t room[2 * PAGE];
	struct procmaps maps;
	uint64_t entry, end;
	int r;

	s->never = true;
	if (tracee_read(t, s->was, w.at, sizeof(s->was)) ||
	    memcmp(s->was, "\x0f\x05", CALL_BYTES) ||
	    moved_look(&s->moved, s->ip, s->was + CALL_BYTES, sizeof(s->was) - CALL_BYTES))
		return 0;
	for (unsigned int i = 1; i < s->moved.n; i++)
		w.inner |= 1u << (CALL_BYTES + s->moved.begin[i]);
	r = procmaps_read(&maps, t->pid, err);
	if (r)
		return r;
	end = s->ip + s->moved.bytes;
	for (unsigned int i = 0; stays(&maps, w.at, end) && jump_find(&w, &maps, i, &entry); i++) {
		memset(room, 0xcc, sizeof(room));
		s->page = entry & ~(PAGE - 1);
		if (make_page(s, entry, room))
			continue;
		s->never = false;
		r = put(t, s, room, entry, err);
		break;
	}
	procmaps_release(&maps);
	return r;
}

int tracee_passed(struct tracee *t, uint64_t ip, struct err *err)
{
	struct site *s = sites_find(&t->sites, ip);

	/* Of more, inproc.h would not know; and each costs two mappings, and time to be found. */
	if (!s && t->sites.n == INPROC_NPLACES / 2)
		return 0;
	if (!s)
		s = sites_add(&t->sites, ip);
	if (!s)
		return err_sys(err, ENOMEM, "cannot replay");
	if (s->patched || s->never || ++s->passes < PASSES_LEAST)
		return 0;
	return patch(t, s, err);
}

int tracee_unpatch(struct tracee *t, uint64_t start, uint64_t end, struct err *err)
{
	for (size_t i = 0; i < t->sites.n; i++) {
		struct site *s = &t->sites.at[i];
		const uint64_t at = s->ip - CALL_BYTES;
		const uint64_t arg[6] = { s->page, 2 * PAGE };
		long ret;
		int r;

		if (!site_in(s, start, end))
			continue;
		if (tracee_write(t, at, s->was, JUMP_BYTES))
			return err_set(err, EFAULT, "cannot write to the replay");
		r = tracee_call(t, &ret, err, SYS_munmap, arg);
		if (r)
			return r;
		s->patched = false;
		s->passes = 0;
		sites_changed(&t->sites);
	}
	return 0;
}

/* <linux/prctl.h>, since Linux 5.11; the C library's may be older. */
#define SET_DISPATCH 59
#define DISPATCH_OFF 0
#define DISPATCH_ON 1

int tracee_block(struct tracee *t, bool on, struct err *err)
{
	const uint64_t arg[6] = { SET_DISPATCH, on ? DISPATCH_ON : DISPATCH_OFF,
				  on ? inproc_code_at() : 0, on ? inproc_code_bytes() : 0,
				  on ? inproc_blocked() : 0 };
	long ret;
	int r = t->blocks == on ? 0 : tracee_call(t, &ret, err, SYS_prctl, arg);

	if (r || t->blocks == on)
		return r;
	if (ret)
		return -ENOSYS;
	t->blocks = on;
	return 0;
}
