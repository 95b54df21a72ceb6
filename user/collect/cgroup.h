/* SPDX-License-Identifier: MIT */
#ifndef COLLECT_CGROUP_H
#define COLLECT_CGROUP_H

/* Control groups (version 2) by path, as the kernel side knows them. */
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct cgroup_target {
	uint64_t id;	/* of its kernfs node: what bpf_get_current_cgroup_id() returns */
	uint32_t level;	/* in the kernel's hierarchy; the root has 0 */
};

/*
 * Finds the group @path: a directory of a cgroup2 file system, or a path below
 * the group root as in /proc/PID/cgroup ("system.slice/x.service", with or
 * without a leading /). Reads /proc/self/mountinfo; in a cgroup namespace it
 * also loads a BPF program of a few instructions to learn the namespace's own
 * level. Returns 0; -ENODEV when no cgroup2 is mounted; -ENOENT for no such
 * group; -ENOTDIR when @path is something else; -errno.
 */
int cgroup_find(const char *path, struct cgroup_target *cg, struct err *err);

/* A cgroup2 mount: where, and which group (from the namespace's root) is there. */
struct cgroup_mount {
	char point[PATH_MAX], root[PATH_MAX];
};

/*
 * The next cgroup2 mount of a mountinfo text (proc(5)), NUL-terminated, *text
 * moving on behind it: 1, or 0 at the end. Lines that are malformed, or whose
 * paths are PATH_MAX and longer, are passed over. \040 and its like are undone.
 */
int cgroup_next_mount(const char **text, struct cgroup_mount *m);

/*
 * cgroup_find() with that text; the level is counted from the namespace's root,
 * and negative for a group outside it.
 */
int cgroup_find_in(const char *mountinfo, const char *path, uint64_t *id, int *level,
		   struct err *err);
/* How deep a group path is: "/" 0, "/a/b" 2, "/.." -1. */
int cgroup_depth(const char *path);

#endif
