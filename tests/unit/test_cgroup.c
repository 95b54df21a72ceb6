/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/io.h"
#include "collect/cgroup.h"

#define UNIFIED "30 22 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
#define HYBRID                                                                        \
	"30 22 0:27 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"         \
	"31 30 0:28 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n"        \
	"40 30 0:37 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n"

static struct cgroup_mount m;

static void assert_first(const char *text, const char *point, const char *root)
{
	assert_int_equal(cgroup_next_mount(&text, &m), 1);
	assert_string_equal(m.point, point);
	assert_string_equal(m.root, root);
}

static void mounts_are_found_on_any_kind_of_machine(void **state)
{
	const char *text = HYBRID UNIFIED;

	(void)state;
	assert_first(UNIFIED, "/sys/fs/cgroup", "/");
	assert_first(HYBRID, "/sys/fs/cgroup/unified", "/");
	/* Both, one after the other, and the end. */
	assert_int_equal(cgroup_next_mount(&text, &m), 1);
	assert_int_equal(cgroup_next_mount(&text, &m), 1);
	assert_string_equal(m.point, "/sys/fs/cgroup");
	assert_int_equal(cgroup_next_mount(&text, &m), 0);
	assert_int_equal(cgroup_next_mount(&text, &m), 0);
	/* Several optional fields, none, and no newline at the end. */
	assert_first("1 2 0:3 /a /b rw shared:1 master:2 unbindable - cgroup2 x rw", "/b", "/a");
	assert_first("1 2 0:3 /../.. /b rw - cgroup2 x rw", "/b", "/../..");
}

static void escapes_are_undone(void **state)
{
	(void)state;
	assert_first("1 2 0:3 /a\\040b /x\\011y\\134z\\012 rw - cgroup2 x rw\n", "/x\ty\\z\n",
		     "/a b");
	/* What is no escape stays. */
	assert_first("1 2 0:3 / /x\\04 rw - cgroup2 x rw\n", "/x\\04", "/");
	assert_first("1 2 0:3 / /x\\999\\ rw - cgroup2 x rw\n", "/x\\999\\", "/");
}

static void malformed_lines_are_passed_over(void **state)
{
	static const char *const bad[] = {
		"", "\n\n", "x",
		"1 2 0:3 / /b rw - cgroup x rw\n", "1 2 0:3 / /b rw cgroup2 x rw\n",
		"1 2 0:3 / /b rw -", "1 2 0:3 / /b rw - ", "1 2 0:3 - cgroup2 x rw\n",
		"1 2 0:3 / /b - cgroup2 x rw\n", "1 2 0:3  / rw - cgroup2 x rw\n",
		"1 2 0:3 / /b\\000 rw - cgroup2 x rw\n", "1 2 0:3 / /b rw - cgroup22 x rw\n",
	};
	char *text = malloc(2 * PATH_MAX);
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		const char *at = bad[i];

		assert_int_equal(cgroup_next_mount(&at, &m), 0);
	}
	/* A path too long to hold, then a line that is right. */
	strcpy(text, "1 2 0:3 / /");
	memset(text + 11, 'a', PATH_MAX);
	strcpy(text + 11 + PATH_MAX, " rw - cgroup2 x rw\n" UNIFIED);
	assert_first(text, "/sys/fs/cgroup", "/");
	free(text);
}

static void depth_counts_components(void **state)
{
	(void)state;
	assert_int_equal(cgroup_depth("/"), 0);
	assert_int_equal(cgroup_depth(""), 0);
	assert_int_equal(cgroup_depth("/a"), 1);
	assert_int_equal(cgroup_depth("//a/./b/"), 2);
	assert_int_equal(cgroup_depth("/.."), -1);
	assert_int_equal(cgroup_depth("/../../a"), -1);
	assert_int_equal(cgroup_depth("/..a/.b"), 2);
}

static void without_a_mount_it_says_so(void **state)
{
	struct err err = { 0 };
	uint64_t id;
	int level;

	(void)state;
	assert_int_equal(cgroup_find_in("1 2 0:3 / / rw - ext4 x rw\n", "a", &id, &level, &err),
			 -ENODEV);
	assert_non_null(strstr(err.msg, "cannot trace cgroup a: no cgroup version 2 is mounted"));
	assert_non_null(strstr(err.hint, "mount -t cgroup2"));
}

/* ---- on this machine ---- */

static char *mountinfo;

static int have_cgroup2(void)
{
	struct buf b = BUF_INIT;
	const char *at;

	if (!mountinfo && !io_read_file("/proc/self/mountinfo", &b, 1 << 22))
		mountinfo = b.data;
	at = mountinfo;
	return at && cgroup_next_mount(&at, &m) && !strcmp(m.root, "/");
}

static void wrong_places_have_their_errors(void **state)
{
	struct err err = { 0 };
	struct cgroup_target cg;
	char path[PATH_MAX + 32];

	(void)state;
	if (!have_cgroup2())
		skip();
	assert_int_equal(cgroup_find("no/such/group", &cg, &err), -ENOENT);
	assert_string_equal(err.msg, "cannot trace cgroup no/such/group: no such cgroup");
	assert_non_null(strstr(err.hint, m.point));
	assert_int_equal(cgroup_find("/no/such/group", &cg, &err), -ENOENT);
	assert_int_equal(cgroup_find("/proc/self", &cg, &err), -ENOTDIR);
	assert_non_null(strstr(err.msg, "not a directory of cgroup version 2"));
	assert_int_equal(cgroup_find("cgroup.procs", &cg, &err), -ENOTDIR);
	assert_non_null(strstr(err.msg, "a file of a cgroup"));
	assert_int_equal(cgroup_find("", &cg, &err), -EINVAL);
	snprintf(path, sizeof(path), "%s/nope", m.point);
	assert_int_equal(cgroup_find(path, &cg, &err), -ENOENT);
}

static void the_root_has_its_id_and_level(void **state)
{
	struct err err = { 0 };
	struct cgroup_target a = { .level = 9 }, b = { .level = 9 };

	(void)state;
	if (!have_cgroup2())
		skip();
	if (cgroup_find("/", &a, &err) == -EPERM)
		skip();	/* in a namespace and without the privilege to look */
	assert_int_equal(cgroup_find(m.point, &b, &err), 0);
	assert_int_equal(a.id, b.id);
	assert_int_equal(a.level, b.level);
	assert_true(a.id > 0);
}

/* The kernel's id by another way than the code's: a file handle. */
static uint64_t id_by_handle(const char *path)
{
	union {
		struct file_handle h;
		char room[sizeof(struct file_handle) + 8];
	} u;
	uint64_t id = 0;
	int mount;

	u.h.handle_bytes = 8;
	if (!name_to_handle_at(AT_FDCWD, path, &u.h, &mount, 0))
		memcpy(&id, u.h.f_handle, sizeof(id));
	return id;
}

static void groups_are_found_by_every_path(void **state)
{
	char dir[PATH_MAX + 64], sub[PATH_MAX + 80], name[64], below[80];
	struct cgroup_target root, cg;
	struct err err = { 0 };

	(void)state;
	if (!have_cgroup2())
		skip();
	snprintf(name, sizeof(name), "tracer test %d", (int)getpid());
	snprintf(below, sizeof(below), "/%s/sub", name);
	snprintf(dir, sizeof(dir), "%s/%s", m.point, name);
	snprintf(sub, sizeof(sub), "%s/sub", dir);
	if (mkdir(dir, 0755))
		skip();	/* not root, or read-only */
	assert_int_equal(mkdir(sub, 0755), 0);
	assert_int_equal(cgroup_find("/", &root, &err), 0);

	assert_int_equal(cgroup_find(dir, &cg, &err), 0);
	assert_int_equal(cg.level, root.level + 1);
	assert_int_equal(cg.id, id_by_handle(dir));
	assert_int_equal(cgroup_find(sub, &cg, &err), 0);
	assert_int_equal(cg.level, root.level + 2);
	assert_int_equal(cg.id, id_by_handle(sub));
	assert_int_equal(cgroup_find(below, &cg, &err), 0);
	assert_int_equal(cg.id, id_by_handle(sub));
	assert_int_equal(cgroup_find(below + 1, &cg, &err), 0);
	assert_int_equal(cg.id, id_by_handle(sub));
	assert_int_equal(cg.level, root.level + 2);

	rmdir(sub);
	rmdir(dir);
	assert_int_equal(cgroup_find(sub, &cg, &err), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mounts_are_found_on_any_kind_of_machine),
		cmocka_unit_test(escapes_are_undone),
		cmocka_unit_test(malformed_lines_are_passed_over),
		cmocka_unit_test(depth_counts_components),
		cmocka_unit_test(without_a_mount_it_says_so),
		cmocka_unit_test(wrong_places_have_their_errors),
		cmocka_unit_test(the_root_has_its_id_and_level),
		cmocka_unit_test(groups_are_found_by_every_path),
	};
	int rc = cmocka_run_group_tests(tests, NULL, NULL);

	free(mountinfo);
	return rc;
}
