/* SPDX-License-Identifier: MIT */
#ifndef COLLECT_HOST_H
#define COLLECT_HOST_H

/* What can be seen of the machine and of us without trying anything. */
#include "out/checkup.h"

/* Appends the facts. @libexec_dir is where the other executables are. */
void host_look(struct checkup *c, const char *libexec_dir);

#endif
