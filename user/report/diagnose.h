/* SPDX-License-Identifier: MIT */
#ifndef REPORT_DIAGNOSE_H
#define REPORT_DIAGNOSE_H

#include "base/err.h"
#include "out/summary.h"

/*
 * Judges a filled summary by a table of rules and puts what they found into
 * s->finding, most severe first, in the place of findings that were there. A
 * healthy program gives none. Severity is in seconds of thread time that the
 * finding says are lost. What rests on counts of which more than 1 % may be
 * missing is withheld; "counts-incomplete" then says so.
 * Allocates with malloc; summary_release frees. Does not block. 0 or -ENOMEM.
 */
int diagnose(struct summary *s, struct err *err);

/*
 * The ids and titles that diagnose can give, in the order of the rule table:
 * NULL when @i is beyond the last.
 */
const char *diagnose_id(size_t i);
const char *diagnose_title(size_t i);

#endif
