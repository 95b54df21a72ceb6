/* SPDX-License-Identifier: MIT */
#include "collect/cgroup.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include "base/io.h"
#include "collect/current.h"

#define MOUNTINFO_MAX	((size_t)4 << 20)	/* bytes */
#define INIT_CGROUP_NS	0xeffffffbUL		/* include/linux/proc_ns.h: PROC_CGROUP_INIT_INO */

/* ---- mountinfo ---- */

static bool octal(const char *s)
{
	return s[0] >= '0' && s[0] <= '3' && s[1] >= '0' && s[1] <= '7' && s[2] >= '0' &&
	       s[2] <= '7';
}

/* Undoes the escapes of field @s of @len bytes; false when it does not fit. */
static bool unescape(const char *s, size_t len, char out[PATH_MAX])
{
	size_t i, n = 0;

	for (i = 0; i < len; i++) {
		char c = s[i];

		if (c == '\\' && i + 3 < len && octal(s + i + 1)) {
			c = (char)((s[i + 1] - '0') << 6 | (s[i + 2] - '0') << 3 |
				   (s[i + 3] - '0'));
			i += 3;
		}
		if (!c || n == PATH_MAX - 1)
			return false;
		out[n++] = c;
	}
	out[n] = '\0';
	return n > 0;
}

/* The field at *at, before @end; its length, 0 at the end. Moves behind its blank. */
static size_t field(const char **at, const char *end, const char **start)
{
	const char *s = *at;
	size_t len = 0;

	while (s + len < end && s[len] != ' ')
		len++;
	*start = s;
	*at = s + len + (s + len < end);
	return len;
}

static bool parse_line(const char *line, const char *end, struct cgroup_mount *m)
{
	const char *root = NULL, *point = NULL, *f;
	size_t nroot = 0, npoint = 0, len, i;

	/* ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [OPTIONAL…] - TYPE SOURCE … */
	for (i = 0;; i++) {
		len = field(&line, end, &f);
		if (!len)
			return false;
		if (i == 3) {
			root = f;
			nroot = len;
		} else if (i == 4) {
			point = f;
			npoint = len;
		} else if (i > 5 && len == 1 && *f == '-') {
			break;
		}
	}
	len = field(&line, end, &f);
	return len == 7 && !memcmp(f, "cgroup2", 7) && unescape(root, nroot, m->root) &&
	       unescape(point, npoint, m->point);
}

int cgroup_next_mount(const char **text, struct cgroup_mount *m)
{
	while (**text) {
		const char *line = *text, *end = strchrnul(line, '\n');

		*text = end + (*end == '\n');
		if (parse_line(line, end, m))
			return 1;
	}
	return 0;
}

int cgroup_depth(const char *path)
{
	int depth = 0;

	while (*path) {
		size_t len = strcspn(path, "/");

		if (len == 2 && !memcmp(path, "..", 2))
			depth--;
		else if (len && !(len == 1 && *path == '.'))
			depth++;
		path += len + (path[len] == '/');
	}
	return depth;
}

/* ---- groups ---- */

static bool on_cgroup2(const char *path)
{
	struct statfs fs;

	return !statfs(path, &fs) && fs.f_type == CGROUP2_SUPER_MAGIC;
}

/* What of @path is below the directory @dir; NULL when it is not in it. */
static const char *below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	if (n == 1)	/* mounted on / */
		return path;
	if (strncmp(path, dir, n) || (path[n] && path[n] != '/'))
		return NULL;
	return path + n;
}

/* The level of the real path @path, by the mount that it is deepest below. */
static int level_of(const char *mountinfo, const char *path, int *level)
{
	struct cgroup_mount *m = malloc(sizeof(*m));
	size_t longest = 0;
	const char *rest;

	if (!m)
		return -ENOMEM;
	while (cgroup_next_mount(&mountinfo, m)) {
		rest = below(path, m->point);
		/* The same length again is a mount on top of the other: the later one. */
		if (rest && strlen(m->point) >= longest) {
			longest = strlen(m->point);
			*level = cgroup_depth(m->root) + cgroup_depth(rest);
		}
	}
	free(m);
	return longest ? 0 : -ENOENT;
}

/* The mount whose root is ours, where there are several; 0: none at all. */
static int main_mount(const char *text, struct cgroup_mount *m)
{
	const char *at = text;

	while (cgroup_next_mount(&at, m))
		if (!strcmp(m->root, "/"))
			return 1;
	return cgroup_next_mount(&text, m);
}

/* The first of the places that @path can mean which exists on a cgroup2, as a real path. */
static char *resolve(const struct cgroup_mount *m, const char *path)
{
	char *below_root = NULL, *found = NULL;
	const char *places[2];
	int i;

	if (asprintf(&below_root, "%s/%s", m->point, path) < 0)
		return NULL;
	/* /sys/fs/cgroup/x is a file's name first, x is a group's first. */
	places[0] = path[0] == '/' ? path : below_root;
	places[1] = path[0] == '/' ? below_root : path;
	for (i = 0; i < 2 && !found; i++)
		if (on_cgroup2(places[i]))
			found = realpath(places[i], NULL);
	free(below_root);
	return found;
}

static int not_found(const struct cgroup_mount *m, const char *path, struct err *err)
{
	struct stat st;

	if (stat(path, &st)) {
		if (path[0] == '/' && errno != ENOENT && errno != ENOTDIR)
			return err_sys(err, errno, "cannot trace cgroup %s", path);
		err_set(err, ENOENT, "cannot trace cgroup %s: no such cgroup", path);
	} else if (path[0] == '/') {
		err_set(err, ENOTDIR, "cannot trace cgroup %s: not a directory of cgroup version 2",
			path);
	} else {
		err_set(err, ENOENT, "cannot trace cgroup %s: no such cgroup", path);
	}
	err_hint(err, "groups are the directories below %.256s", m->point);
	return -err->code;
}

static int find_below(const struct cgroup_mount *m, const char *mountinfo, const char *path,
		      uint64_t *id, int *level, struct err *err)
{
	char *real = resolve(m, path);
	struct stat st;
	int rc;

	if (!real)
		return not_found(m, path, err);
	if (stat(real, &st)) {
		rc = err_sys(err, errno, "cannot trace cgroup %s", path);
	} else if (!S_ISDIR(st.st_mode)) {
		rc = err_set(err, ENOTDIR,
			     "cannot trace cgroup %s: a file of a cgroup, not a cgroup", path);
	} else {
		/* On 64-bit machines the inode number is the whole id (Linux 5.5). */
		*id = st.st_ino;
		rc = level_of(mountinfo, real, level);
		if (rc)
			err_sys(err, -rc, "cannot trace cgroup %s: no mount for it", path);
	}
	free(real);
	return rc;
}

int cgroup_find_in(const char *mountinfo, const char *path, uint64_t *id, int *level,
		   struct err *err)
{
	struct cgroup_mount *m;
	int rc;

	if (!path[0])
		return err_set(err, EINVAL, "cannot trace a cgroup: its path is empty");
	m = malloc(sizeof(*m));
	if (!m)
		return err_sys(err, ENOMEM, "cannot trace cgroup %s", path);
	if (!main_mount(mountinfo, m)) {
		rc = err_set(err, ENODEV,
			     "cannot trace cgroup %s: no cgroup version 2 is mounted here", path);
		err_hint(err, "mount one with: mount -t cgroup2 cgroup2 DIRECTORY");
	} else {
		rc = find_below(m, mountinfo, path, id, level, err);
	}
	free(m);
	return rc;
}

/* ---- levels in a namespace ---- */

/* Our own group's depth from the namespace's root. */
static int own_depth(int *depth, struct err *err)
{
	struct buf b = BUF_INIT;
	const char *line;
	int rc = io_read_file("/proc/self/cgroup", &b, 1 << 16);

	line = rc || !b.data ? NULL : strstr(b.data, "0::");
	while (line && line != b.data && line[-1] != '\n')
		line = strstr(line + 1, "0::");
	if (line) {
		b.data[strcspn(line, "\n") + (size_t)(line - b.data)] = '\0';
		*depth = cgroup_depth(line + 3);
	}
	buf_release(&b);
	if (!line)
		return err_sys(err, rc ? -rc : ENOENT, "cannot read our own cgroup");
	return 0;
}

/* The kernel's level of the root of our cgroup namespace. */
static int namespace_level(int *level, struct err *err)
{
	static const struct current_step steps[] = {
		{ "task_struct", "cgroups" },
		{ "css_set", "dfl_cgrp" },
		{ "cgroup", "level" },
	};
	struct stat st;
	uint32_t ours;
	int depth = 0, rc;

	*level = 0;
	if (stat("/proc/self/ns/cgroup", &st) || st.st_ino == INIT_CGROUP_NS)
		return 0;
	rc = own_depth(&depth, err);
	if (!rc)
		rc = current_read(steps, 3, &ours, err);
	if (!rc)
		*level = (int)ours - depth;
	return rc;
}

int cgroup_find(const char *path, struct cgroup_target *cg, struct err *err)
{
	struct buf b = BUF_INIT;
	int rc, root, level = 0;

	rc = io_read_file("/proc/self/mountinfo", &b, MOUNTINFO_MAX);
	if (rc) {
		buf_release(&b);
		return err_sys(err, -rc, "cannot read /proc/self/mountinfo");
	}
	rc = cgroup_find_in(b.data ? b.data : "", path, &cg->id, &level, err);
	buf_release(&b);
	if (rc)
		return rc;
	rc = namespace_level(&root, err);
	if (rc)
		return err_prefix(err, "cannot trace cgroup %s", path);
	if (root + level < 0)
		return err_set(err, EINVAL, "cannot trace cgroup %s: it is above the root", path);
	cg->level = (uint32_t)(root + level);
	return 0;
}
