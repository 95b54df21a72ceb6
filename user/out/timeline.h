/* SPDX-License-Identifier: MIT */
#ifndef OUT_TIMELINE_H
#define OUT_TIMELINE_H

/*
 * A timeline that out/perfetto.h wrote, as text from a file: docs/formats/timeline.md.
 * The text is hostile; see also out/jread.h.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "out/outstream.h"

struct timeline {
	size_t first, end;	/* the events: from there to there, with what parts them */
	uint64_t events;
	bool cut;		/* the file ends too soon: what is there of the last event is out */
};

/* Whether @text begins as one. */
bool timeline_is(const char *text, size_t len);
/*
 * Goes over all events. 0; -EINVAL with the line and column for what is no
 * timeline; -ENOMEM. That a file is cut, as when tracer was killed, is no error.
 */
int timeline_check(struct timeline *t, const char *text, size_t len, struct err *err);
/* Writes the text that was checked: as it is, or its whole events with an end. */
void timeline_write(const struct timeline *t, const char *text, size_t len,
		    struct out_stream *o);

#endif
