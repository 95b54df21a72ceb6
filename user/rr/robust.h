/* SPDX-License-Identifier: MIT */
#ifndef RR_ROBUST_H
#define RR_ROBUST_H

#include "rr/rthread.h"

/* The thread ends: marks the locks that it holds, as the kernel does (kernel/futex/core.c). */
void robust_die(const struct rthread *t);

#endif
