/* SPDX-License-Identifier: MIT */
#ifndef BASE_SELFDIR_H
#define BASE_SELFDIR_H

#include <stddef.h>

#include "base/err.h"

/* The directory of the running executable, where tracer's others are: into @to. -errno. */
int selfdir(char *to, size_t bytes, struct err *err);

#endif
