/* SPDX-License-Identifier: MIT */
#include "sym/symd.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOBODY 65534
#define MEMORY_BYTES ((rlim_t)4 << 30)
#define CPU_ALL_S 600
#define CPU_REQUEST_S 10
#define FILES 65536

#if defined(__has_feature)
#define CLANG_HAS(x) __has_feature(x)
#else
#define CLANG_HAS(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
	CLANG_HAS(address_sanitizer) || CLANG_HAS(thread_sanitizer)
#define SANITIZED true
#else
#define SANITIZED false
#endif

static void limit(__rlimit_resource_t what, rlim_t most)
{
	struct rlimit r;

	if (getrlimit(what, &r))
		return;
	if (r.rlim_max != RLIM_INFINITY && r.rlim_max < most)
		most = r.rlim_max;
	r.rlim_cur = r.rlim_max = most;
	setrlimit(what, &r);
}

static void set_limits(void)
{
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_FSIZE, 0);
	limit(RLIMIT_NPROC, 0);
	limit(RLIMIT_NOFILE, FILES);
	limit(RLIMIT_CPU, CPU_ALL_S);
	/* A sanitizer's shadow alone takes terabytes of addresses. */
	if (!SANITIZED)
		limit(RLIMIT_AS, MEMORY_BYTES);
}

void symd_box_request(void)
{
	struct rusage u;
	struct rlimit r;

	if (getrusage(RUSAGE_SELF, &u) || getrlimit(RLIMIT_CPU, &r))
		return;
	r.rlim_cur = (rlim_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + CPU_REQUEST_S;
	if (r.rlim_max != RLIM_INFINITY && r.rlim_cur > r.rlim_max)
		r.rlim_cur = r.rlim_max;
	setrlimit(RLIMIT_CPU, &r);
}

static int drop_capabilities(void)
{
	struct __user_cap_header_struct h = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct d[2] = { { 0 } };

	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return syscall(SYS_capset, &h, d) ? -errno : 0;
}

/*
 * In a user namespace the other id may not exist; then being its root without
 * capabilities is being nobody in particular outside of it.
 */
static int drop_user(uid_t uid, gid_t gid)
{
	if (geteuid() && getuid())
		return 0;
	if (!uid)
		uid = gid = NOBODY;
	if (setgroups(0, NULL) && errno != EPERM)
		return -errno;
	if (setresgid(gid, gid, gid) && errno != EINVAL)
		return -errno;
	if (setresuid(uid, uid, uid) && errno != EINVAL)
		return -errno;
	return 0;
}

/* A file that is made to need much memory shall cost nobody else's. */
static void die_first(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, "1000", 4) < 0)
		errno = 0;	/* then it is an ordinary process */
	close(fd);
}

/* Debug files by build id are all that is opened here; nothing else can be. */
static void only_debug_files(void)
{
	struct landlock_ruleset_attr all = {
		.handled_access_fs = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1,
	};
	struct landlock_path_beneath_attr debug = {
		.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR,
	};
	int rules = (int)syscall(SYS_landlock_create_ruleset, &all, sizeof(all), 0);

	if (rules < 0)
		return;
	debug.parent_fd = open("/usr/lib/debug", O_PATH | O_CLOEXEC);
	if (debug.parent_fd >= 0) {
		syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &debug, 0);
		close(debug.parent_fd);
	}
	syscall(SYS_landlock_restrict_self, rules, 0);
	close(rules);
}

int symd_box(uid_t uid, gid_t gid)
{
	int rc;

	syscall(SYS_close_range, SYMD_FD + 1, ~0u, 0);
	if (chdir("/"))
		return -errno;
	die_first();
	rc = drop_user(uid, gid);
	if (rc)
		return rc;
	rc = drop_capabilities();
	if (rc)
		return rc;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	/* Else the user whose id it has could read its memory, and its files. */
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	only_debug_files();
	set_limits();
	return 0;
}
