/* SPDX-License-Identifier: MIT */
#ifndef CMD_RECORD_PROBE_H
#define CMD_RECORD_PROBE_H

#include "base/err.h"

/* That we have the capabilities that a recorder needs: 0 or -EPERM with words. */
int record_privilege(struct err *err);
/*
 * For `tracer doctor`, which has not all that the recorder links: tries to record, and prints why
 * it cannot: an errno, the reason and what would mend it, a line each. The exit code.
 */
int record_probe(void);

#endif
