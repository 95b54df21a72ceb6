/* SPDX-License-Identifier: MIT */
#ifndef COLLECT_LIVE_TYPES_H
#define COLLECT_LIVE_TYPES_H

/*
 * Loads our programs by the small BTF of collect/kbtf.h: libbpf relocates by it,
 * and is told the ids of what programs attach to, so that it never reads the
 * kernel's whole BTF. Between begin and end, for one object at a time.
 */
#include <stdbool.h>
#include <stddef.h>

/* 0, or -errno: then libbpf is left to find all by itself. */
int live_types_begin(const void *elf, size_t elf_bytes);
/* The path for btf_custom_path; NULL when begin has failed. */
const char *live_types_path(void);
/* sched_switch has its fourth argument, the state that the thread leaves in. */
bool live_types_switch_state(void);
void live_types_end(void);
/*
 * Whether the kernel has what a section such as "tp_btf/sys_enter" or
 * "raw_tp/sys_enter" attaches to, as the last begin found; false: it does not say.
 */
bool live_types_hook(const char *section, bool *there);

#endif
