/* SPDX-License-Identifier: MIT */
#ifndef COLLECT_COMMRE_H
#define COLLECT_COMMRE_H

#include "base/err.h"
#include "shared/commre.h"

/*
 * Compiles a POSIX extended regular expression over bytes: literals, . * + ?
 * {m,n} | () ^ $, [] with ranges, negation and [:classes:], \ before
 * punctuation, \w \W \s \S. It is searched for anywhere in the name, as grep
 * does. Not there: back-references, word boundaries, [=x=] and [.x.]; an
 * unmatched ) and a repeated anchor (^*) are errors.
 * Returns 0; -EINVAL with a message that names the pattern and the place;
 * -E2BIG when it needs more than COMMRE_STATES_MAX states or is otherwise too
 * large; -ENOMEM. Takes well under a millisecond for patterns of common size.
 */
int commre_compile(struct commre *re, const char *pattern, struct err *err);

#endif
