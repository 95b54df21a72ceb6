/* SPDX-License-Identifier: MIT */
#ifndef COLLECT_REFUSAL_H
#define COLLECT_REFUSAL_H

/* Why the kernel refused something of ours, in words for people, and what gives it. */
#include "base/err.h"

/* Phrases: lower case, no full stop. */
struct refusal {
	char why[320];
	char fix[256];
};

/*
 * @code is positive; @said what libbpf or the verifier said ("": nothing) and
 * @config the kernel option that the hook is built by (NULL: none is known).
 */
void refusal_explain(struct refusal *r, int code, const char *said, const char *config);
/* "@what: why", with the fix as hint; returns -@code. */
int refusal_err(struct err *err, int code, const char *what, const char *said,
		const char *config);

#endif
