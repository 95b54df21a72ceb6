/* SPDX-License-Identifier: MIT */
#include "out/strtab.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"

#define STRTAB_FIRST_SLOTS 256

void strtab_release(struct strtab *t)
{
	buf_release(&t->text);
	free(t->at);
	free(t->slot);
	memset(t, 0, sizeof(*t));
}

const char *strtab_get(const struct strtab *t, uint32_t number)
{
	return t->text.data + t->at[number];
}

/* The slot of @s, or the free one where it belongs. */
static uint32_t *find(const struct strtab *t, const char *s)
{
	uint32_t i = (uint32_t)map_hash(s, strlen(s)) & (t->slots - 1);

	while (t->slot[i] && strcmp(strtab_get(t, t->slot[i] - 1), s))
		i = (i + 1) & (t->slots - 1);
	return &t->slot[i];
}

/* At most half of the slots are taken. */
static bool make_room(struct strtab *t)
{
	uint32_t slots = t->slots ? t->slots * 2 : STRTAB_FIRST_SLOTS, i;
	uint32_t *at, *slot;

	if (t->n < t->slots / 2)
		return true;
	at = slots ? reallocarray(t->at, slots / 2, sizeof(*at)) : NULL;
	if (at)
		t->at = at;
	slot = at ? calloc(slots, sizeof(*slot)) : NULL;
	if (!slot)
		return false;
	free(t->slot);
	t->slot = slot;
	t->slots = slots;
	for (i = 0; i < t->n; i++)
		*find(t, strtab_get(t, i)) = i + 1;
	return true;
}

uint32_t strtab_add(struct strtab *t, const char *s)
{
	uint32_t *slot;

	if (t->failed)
		return 0;
	if (!t->n && *s)
		strtab_add(t, "");
	if (t->failed || !make_room(t))
		goto fail;
	slot = find(t, s);
	if (*slot)
		return *slot - 1;
	t->at[t->n] = (uint32_t)t->text.len;
	if (buf_add(&t->text, s, strlen(s) + 1))
		goto fail;
	t->n++;
	*slot = t->n;
	return t->n - 1;
fail:
	t->failed = true;
	return 0;
}
