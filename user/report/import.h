/* SPDX-License-Identifier: MIT */
#ifndef REPORT_IMPORT_H
#define REPORT_IMPORT_H

/*
 * Results that other tools have measured, as the run store has them: hyperfine's
 * JSON, Go's benchmark text, and a summary that tracer itself wrote. Which it is is
 * seen from the content. docs/formats/import.md says what is taken from each.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "out/summary_read.h"
#include "store/store.h"

/* The most that is read. */
#define IMPORT_FILE_BYTES STORE_DETAIL_MAX
#define IMPORT_BENCHES ((size_t)10000)
#define IMPORT_RUNS ((size_t)1000000)		/* of all benches */
#define IMPORT_VALUES ((size_t)4000000)		/* of all runs */
#define IMPORT_TEXT_BYTES ((size_t)256 << 10)	/* a command */
#define IMPORT_NAME_BYTES ((size_t)4096)	/* a benchmark's name, a unit */

struct import_run {
	struct store_run run;		/* .start_ns 0: not known */
	struct store_value *value;	/* .values of them, a metric at most once */
	size_t values;
	const char *detail;		/* as in struct store_measured */
	size_t detail_len;
};

struct import_bench {
	struct store_bench bench;	/* neither stored nor selected: no key, no id */
	struct import_run *run;		/* .runs of them, in order of running */
	size_t runs;
};

/* All strings are the import's. */
struct import {
	struct import_bench *bench;	/* .benches of them, at least one */
	size_t benches;
	size_t runs, values;		/* of all benches */
	/*
	 * Of a summary alone. Its run has no values yet: these are the metrics of
	 * what is in here, by the mapping that bench has for its own runs.
	 */
	struct summary_file *summary;
	/* Lines of Go's text that look as if they counted and were not taken, or not wholly. */
	size_t skipped, skipped_line;	/* the first one's number, from 1 */
	const char *skipped_why;	/* and what is wrong with it */
	struct text_block *text;
};

/*
 * Reads @path into @imp, which is released by the caller after success. A bench whose
 * file has no date has that of the file's last change. Blocks for the file.
 *
 * 0; -EINVAL: no format that is known, or damaged, with the place in @err; -EPROTO:
 * another version of tracer's summary; -EFBIG: more than the limits above; -ENOMEM; or
 * that of open(2) or read(2).
 */
int import_file(const char *path, struct import *imp, struct err *err);
/* The same of @len bytes at @text, which are not needed any more afterwards. */
int import_text(const char *text, size_t len, struct import *imp, struct err *err);
void import_release(struct import *imp);

#endif
