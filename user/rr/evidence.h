/* SPDX-License-Identifier: MIT */
#ifndef RR_EVIDENCE_H
#define RR_EVIDENCE_H

/* What memory held at a place, word by word, beside what it holds at a replay's passes there. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/err.h"
#include "rr/place.h"

struct evidence_word {
	uint64_t addr, want, now;
	uint32_t equal;		/* looks at which it was as wanted */
	bool seen, changes;	/* it could be read; it was not the same at all looks */
};

struct evidence {
	struct evidence_word *word;
	size_t n;
	struct iovec *range;	/* the same addresses, for one read of them all */
	size_t nrange;
	uint64_t *room;
	size_t looks;
	bool learnt;		/* at the last look, of one more word that it changes */
};

/* -ENOMEM with words. A piece that is no whole one ends them. */
int evidence_new(struct evidence *e, const struct place *p, struct err *err);
void evidence_release(struct evidence *e);
/* Reads them; how many are as wanted. */
size_t evidence_look(struct evidence *e, const struct tracee *t);

#endif
