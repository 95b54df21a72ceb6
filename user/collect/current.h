/* SPDX-License-Identifier: MIT */
#ifndef COLLECT_CURRENT_H
#define COLLECT_CURRENT_H

/*
 * Fields of the kernel's own record of this process, which no file shows.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct current_step {
	const char *type, *member;
};

#define CURRENT_STEPS_MAX 4

/*
 * Follows pointers from the calling thread's task_struct, each step a member of
 * a struct by name; the last is a 32-bit value. Loads a BPF program of a few
 * instructions, runs it once and leaves nothing behind; needs CAP_BPF and
 * CAP_PERFMON, BTF, and Linux 5.10. Takes as long as reading the kernel's BTF:
 * some ten milliseconds. -errno with a message.
 */
int current_read(const struct current_step *steps, size_t n, uint32_t *value, struct err *err);

#endif
