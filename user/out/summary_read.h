/* SPDX-License-Identifier: MIT */
#ifndef OUT_SUMMARY_READ_H
#define OUT_SUMMARY_READ_H

/*
 * A summary out of what `--json` wrote (docs/formats/summary-json.md). What went
 * out comes back: written as JSON again it is the same, byte by byte. The text is
 * hostile; see also out/jread.h.
 */
#include "base/err.h"
#include "out/summary.h"

/* The most memory that a summary may take, whatever its text promises. */
#define SUMMARY_READ_BYTES ((size_t)512 << 20)

struct summary_file {
	struct summary s;
	/* What .s only borrows. */
	char **kept;
	size_t nkept;
	const char **paths;
	size_t bytes;		/* taken so far */
};

/*
 * Members that are not known are skipped, those that are missing are 0 or NULL,
 * save the few without which a row is none. Quantiles of a distribution without
 * "buckets" are read back to within a bucket of the histogram.
 *
 * Returns 0; -EINVAL for what is no JSON or no summary, with the line, the column
 * and the member in @err; -EPROTO for another version of the schema; -EFBIG beyond
 * SUMMARY_READ_BYTES; -ENOMEM. Then there is nothing to release.
 */
int summary_read(struct summary_file *f, const char *text, size_t len, struct err *err);
void summary_file_release(struct summary_file *f);

#endif
