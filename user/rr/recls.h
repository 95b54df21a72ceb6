/* SPDX-License-Identifier: MIT */
#ifndef RR_RECLS_H
#define RR_RECLS_H

/* The recordings there are. */
#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "out/outstream.h"

/*
 * Those of this user, the newest first: when each began, its size on disk, events, how the
 * program ended, directory and command. As JSON: an object each, in an array. 0: there are none,
 * and words say so; 1: there are; -errno with words.
 */
int recls(struct out_stream *out, bool json, struct err *err);

#endif
