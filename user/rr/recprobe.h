/* SPDX-License-Identifier: MIT */
#ifndef RR_RECPROBE_H
#define RR_RECPROBE_H

/* Whether programs can be recorded here, by trying. */
#include "base/err.h"

struct recprobe_result {
	int load_error;		/* an errno: the kernel refused the recorder's programs */
};

/*
 * Loads and attaches the recorder's programs, and makes a process as those that are recorded are,
 * attached to, which ends without having run anything. 0 or -errno with words.
 */
int recprobe(struct recprobe_result *result, struct err *err);

#endif
