/* SPDX-License-Identifier: MIT */
#include "collect/privilege.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"

#ifndef CAP_PERFMON
#define CAP_PERFMON	38
#define CAP_BPF		39
#endif

#define BIT(cap)	((uint64_t)1 << (cap))
/* SYS_ADMIN: the uprobe of --start-routine; SYS_NICE: a consumer that is in time. */
#define FOR_TRACING	(BIT(CAP_BPF) | BIT(CAP_PERFMON) | BIT(CAP_SYS_ADMIN) | BIT(CAP_SYS_NICE))

#define INIT_USER_NS	0xEFFFFFFDu	/* include/linux/proc_ns.h: PROC_USER_INIT_INO */

static struct {
	bool on;			/* there is something to lower */
	uint64_t own, all;
	unsigned int depth;
} now;

static int get(uint64_t *effective, uint64_t *permitted, uint64_t *inheritable)
{
	struct __user_cap_header_struct h = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct d[2] = { { 0 } };

	if (syscall(SYS_capget, &h, d))
		return -errno;
	*effective = d[0].effective | (uint64_t)d[1].effective << 32;
	*permitted = d[0].permitted | (uint64_t)d[1].permitted << 32;
	*inheritable = d[0].inheritable | (uint64_t)d[1].inheritable << 32;
	return 0;
}

static int set(uint64_t effective, uint64_t permitted, uint64_t inheritable)
{
	struct __user_cap_header_struct h = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct d[2] = {
		{ (uint32_t)effective, (uint32_t)permitted, (uint32_t)inheritable },
		{ (uint32_t)(effective >> 32), (uint32_t)(permitted >> 32),
		  (uint32_t)(inheritable >> 32) },
	};

	return syscall(SYS_capset, &h, d) ? -errno : 0;
}

static uint64_t ambient_set(void)
{
	uint64_t all = 0;
	int cap;

	for (cap = 0; cap < 64; cap++)
		if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, cap, 0, 0) == 1)
			all |= BIT(cap);
	return all;
}

/* "Seccomp:\t2" in /proc/self/status: a filter is on. */
static bool has_seccomp(void)
{
	struct buf b = BUF_INIT;
	const char *at = NULL;
	bool on;

	if (!io_read_file("/proc/self/status", &b, (size_t)64 << 10) && b.data)
		at = strstr(b.data, "\nSeccomp:");
	on = at && strtol(at + strlen("\nSeccomp:"), NULL, 10) > 0;
	buf_release(&b);
	return on;
}

void privilege_read(struct privilege *p)
{
	uint64_t inheritable;
	struct stat st;

	memset(p, 0, sizeof(*p));
	p->uid = getuid();
	p->euid = geteuid();
	p->gid = getgid();
	p->egid = getegid();
	(void)get(&p->effective, &p->permitted, &inheritable);
	p->ambient = ambient_set();
	p->no_new_privs = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
	p->seccomp = has_seccomp();
	p->user_namespace = !stat("/proc/self/ns/user", &st) && st.st_ino != INIT_USER_NS;
}

bool privilege_has(const struct privilege *p, int capability)
{
	return p->effective & BIT(capability);
}

int privilege_begin(struct err *err)
{
	uint64_t effective, permitted, inheritable, own, keep;

	if (getuid() != geteuid() || getgid() != getegid()) {
		err_set(err, EPERM, "tracer was started set-uid or set-gid: it is not made for it");
		err_hint(err, "capabilities of the file are: 'setcap cap_bpf,cap_perfmon+ep' on "
			 "tracer-live and tracer-top");
		return -EPERM;
	}
	if (!getuid() || get(&effective, &permitted, &inheritable))
		return 0;
	own = ambient_set();
	keep = permitted & (FOR_TRACING | own);
	if (set(effective & keep, keep, inheritable))
		return err_sys(err, errno, "cannot give up capabilities");
	now.own = own & keep;
	now.all = effective & keep;
	now.on = true;
	return 0;
}

uint64_t privilege_own(void)
{
	return now.own;
}

static void become(uint64_t effective)
{
	uint64_t was, permitted, inheritable;

	if (!get(&was, &permitted, &inheritable))
		(void)set(effective & permitted, permitted, inheritable);
}

void privilege_lower(void)
{
	if (now.on && !now.depth++)
		become(now.own);
}

void privilege_raise(void)
{
	if (now.on && !--now.depth)
		become(now.all);
}

void privilege_suspend(void)
{
	if (now.on && now.depth)
		become(now.all);
}

void privilege_resume(void)
{
	if (now.on && now.depth)
		become(now.own);
}
