/* SPDX-License-Identifier: MIT */
#include "rr/gdbpos.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void gdb_pos_release(struct gdb_pos *p)
{
	free(p->link);
	*p = (struct gdb_pos){ 0 };
}

static int grow(struct gdb_pos *p, size_t n)
{
	const size_t cap = n + n / 2 + 4;
	struct gdb_link *at;

	if (n <= p->cap)
		return 0;
	at = realloc(p->link, cap * sizeof(*at));
	if (!at)
		return -ENOMEM;
	p->link = at;
	p->cap = cap;
	return 0;
}

int gdb_pos_copy(struct gdb_pos *to, const struct gdb_pos *from)
{
	if (to == from)
		return 0;
	if (grow(to, from->n))
		return -ENOMEM;
	if (from->n)
		memcpy(to->link, from->link, from->n * sizeof(*to->link));
	to->n = from->n;
	to->event = from->event;
	return 0;
}

int gdb_pos_add(struct gdb_pos *p, const struct gdb_link *l)
{
	if (grow(p, p->n + 1))
		return -ENOMEM;
	p->link[p->n++] = *l;
	return 0;
}

int gdb_pos_add_steps(struct gdb_pos *p, uint64_t steps)
{
	const struct gdb_link l = { .kind = GDB_STEPS, .count = steps };

	if (!steps)
		return 0;
	if (!p->n || p->link[p->n - 1].kind != GDB_STEPS)
		return gdb_pos_add(p, &l);
	p->link[p->n - 1].count += steps;
	return 0;
}
