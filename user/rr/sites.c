/* SPDX-License-Identifier: MIT */
#include "rr/sites.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PAGE ((uint64_t)4096)
#define CALL_BYTES 2

struct site *sites_find(const struct sites *s, uint64_t ip)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->at[i].ip == ip)
			return &s->at[i];
	return NULL;
}

struct site *sites_add(struct sites *s, uint64_t ip)
{
	struct site *more = realloc(s->at, (s->n + 1) * sizeof(*more));

	if (!more)
		return NULL;
	s->at = more;
	s->at[s->n] = (struct site){ .ip = ip };
	return &s->at[s->n++];
}

int sites_copy(struct sites *to, const struct sites *from)
{
	*to = (struct sites){ .n = from->n, .version = from->version };
	if (!from->n)
		return 0;
	to->at = malloc(from->n * sizeof(*to->at));
	if (!to->at) {
		*to = (struct sites){ .n = 0 };
		return -ENOMEM;
	}
	memcpy(to->at, from->at, from->n * sizeof(*to->at));
	return 0;
}

void sites_release(struct sites *s)
{
	free(s->at);
	*s = (struct sites){ .at = NULL };
}

bool sites_any(const struct sites *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->at[i].patched)
			return true;
	return false;
}

const struct site *sites_of_page(const struct sites *s, uint64_t ip)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->at[i].patched && ip - s->at[i].page < 2 * PAGE)
			return &s->at[i];
	return NULL;
}

void sites_changed(struct sites *s)
{
	static uint64_t last;

	s->version = ++last;
}

static bool overlap(uint64_t a, uint64_t an, uint64_t b, uint64_t bn)
{
	return a < bn && b < an;
}

bool site_in(const struct site *s, uint64_t start, uint64_t end)
{
	const uint64_t at = s->ip - CALL_BYTES;

	/* Behind the jump may be more of the last instruction that was moved. */
	return s->patched && (overlap(at, s->ip + s->moved.bytes, start, end) ||
			      overlap(s->page, s->page + 2 * PAGE, start, end));
}

bool sites_in(const struct sites *s, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < s->n; i++)
		if (site_in(&s->at[i], start, end))
			return true;
	return false;
}

uint64_t sites_moved(const struct sites *s, uint64_t ip)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct site *p = &s->at[i];

		for (unsigned int k = 0; p->patched && k < p->moved.n; k++)
			if (ip == p->ip + p->moved.begin[k] + 1 &&
			    p->moved.begin[k] < JUMP_BYTES - CALL_BYTES)
				return p->moved.now[k];
	}
	return 0;
}

void sites_hide(const struct sites *s, void *data, uint64_t addr, size_t n)
{
	for (size_t i = 0; i < s->n; i++) {
		const uint64_t at = s->at[i].ip - CALL_BYTES;

		for (uint64_t k = 0; s->at[i].patched && k < JUMP_BYTES; k++)
			if (at + k - addr < n)
				((uint8_t *)data)[at + k - addr] = s->at[i].was[k];
	}
}
