/* SPDX-License-Identifier: MIT */
#ifndef COLLECT_PROBE_RECORD_H
#define COLLECT_PROBE_RECORD_H

#include "base/err.h"

/*
 * Asks tracer-record in @libexec_dir whether it can record here, which it says by trying. 0, or
 * -errno with why not, and what would mend it as the hint.
 */
int probe_record(const char *libexec_dir, struct err *err);

#endif
