/* SPDX-License-Identifier: MIT */
#include "rr/sharedcopy.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include "rr/inproc.h"
#include "rr/procmaps.h"
#include "rr/tracee.h"

#define BYTES_MAX ((size_t)256 << 20)

static int keep(struct sharedcopy *c, const struct tracee *t, const struct procmap *m)
{
	struct sharedcopy_part part = { .start = m->start, .bytes = m->end - m->start }, *at;
	struct iovec local, remote = { (void *)(uintptr_t)part.start, part.bytes };
	ssize_t got;

	if (part.bytes > BYTES_MAX - c->bytes)
		return 0;
	at = realloc(c->at, (c->n + 1) * sizeof(*at));
	if (!at)
		return -ENOMEM;
	c->at = at;
	part.data = malloc(part.bytes);
	if (!part.data)
		return -ENOMEM;
	local = (struct iovec){ part.data, part.bytes };
	/* Behind the end of its file there is nothing. */
	got = process_vm_readv(t->pid, &local, 1, &remote, 1, 0);
	part.bytes = got > 0 ? (size_t)got : 0;
	c->bytes += part.bytes;
	at[c->n++] = part;
	return 0;
}

int sharedcopy_take(struct sharedcopy *c, const struct tracee *t, struct err *err)
{
	struct procmaps maps;
	int r;

	*c = (struct sharedcopy){ 0 };
	if (!t->shares)
		return 0;
	r = procmaps_read(&maps, t->pid, err);
	if (r)
		return r;
	for (size_t i = 0; !r && i < maps.n; i++)
		if (maps.at[i].shared && maps.at[i].prot & PROT_WRITE &&
		    maps.at[i].start != INPROC_AT)
			r = keep(c, t, &maps.at[i]);
	procmaps_release(&maps);
	if (!r)
		return 0;
	sharedcopy_release(c);
	return err_sys(err, -r, "cannot keep shared memory");
}

int sharedcopy_put(const struct sharedcopy *c, const struct tracee *t, struct err *err)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct sharedcopy_part *p = &c->at[i];

		if (p->bytes && tracee_write(t, p->start, p->data, p->bytes))
			return err_set(err, EIO, "shared memory cannot be put back");
	}
	return 0;
}

void sharedcopy_release(struct sharedcopy *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->at[i].data);
	free(c->at);
	*c = (struct sharedcopy){ 0 };
}
