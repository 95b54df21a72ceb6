/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. The kernel says a number, and the verifier a line of its log. What they
 * mean depends on who asks and where: rows are tried in order, each with its own
 * test, and the first that applies has the word.
 */
#include "collect/refusal.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/errname.h"
#include "base/io.h"
#include "collect/privilege.h"

#ifndef CAP_PERFMON
#define CAP_PERFMON	38
#define CAP_BPF		39
#endif

#define VMLINUX_BTF	"/sys/kernel/btf/vmlinux"
#define LOCKDOWN	"/sys/kernel/security/lockdown"
#define KERNEL_MAJOR	5
#define KERNEL_MINOR	17
#define SUDO_OR_CAPS	"run it with sudo, or give it CAP_BPF and CAP_PERFMON"

struct asked {
	int code;
	const char *said, *config;
	struct privilege who;
	struct utsname un;
};

static bool denied(const struct asked *a)
{
	return a->code == EPERM || a->code == EACCES;
}

static bool lacks(const struct asked *a)
{
	return !privilege_has(&a->who, CAP_SYS_ADMIN) &&
	       (!privilege_has(&a->who, CAP_BPF) || !privilege_has(&a->who, CAP_PERFMON));
}

static bool in_user_namespace(const struct asked *a)
{
	return denied(a) && a->who.user_namespace;
}

static bool no_new_privileges(const struct asked *a)
{
	return denied(a) && lacks(a) && a->who.no_new_privs;
}

static bool no_privilege(const struct asked *a)
{
	return denied(a) && lacks(a);
}

/* A verifier's refusal comes as EACCES, a capability's as EPERM. */
static bool refused_to_all(const struct asked *a)
{
	return a->code == EPERM;
}

static bool confidential(const struct asked *a)
{
	struct buf b = BUF_INIT;
	bool is = refused_to_all(a) && !io_read_file(LOCKDOWN, &b, 4096) && b.data &&
		  strstr(b.data, "[confidentiality]");

	buf_release(&b);
	return is;
}

static bool filtered(const struct asked *a)
{
	return refused_to_all(a) && a->who.seccomp;
}

static bool no_bpf(const struct asked *a)
{
	return a->code == ENOSYS;
}

static bool few_descriptors(const struct asked *a)
{
	/* libbpf tries again without type information, and tells of that. */
	return a->code == EMFILE || a->code == ENFILE ||
	       strstr(a->said, "Too many open files");
}

static bool no_memory(const struct asked *a)
{
	return a->code == ENOMEM;
}

static bool no_btf(const struct asked *a)
{
	(void)a;
	return access(VMLINUX_BTF, R_OK);
}

static bool no_hook(const struct asked *a)
{
	return (a->code == ESRCH || a->code == ENOENT) && a->config;
}

static bool old_kernel(const struct asked *a)
{
	int major = 0, minor = 0;

	return sscanf(a->un.release, "%d.%d", &major, &minor) == 2 &&
	       (major < KERNEL_MAJOR || (major == KERNEL_MAJOR && minor < KERNEL_MINOR));
}

static bool anything(const struct asked *a)
{
	(void)a;
	return true;
}

/* The last has its words from the kernel, "no privilege" from what is there. */
static const struct {
	bool (*applies)(const struct asked *a);
	const char *why, *fix;
} rows[] = {
	{ in_user_namespace, "permission denied: this is a user namespace, where not even its "
	  "root may load BPF programs", "run it with sudo outside of the namespace" },
	{ no_new_privileges, "permission denied: no_new_privs is set, under which neither sudo "
	  "nor capabilities of a file give anything", "start it as root, outside of whatever set "
	  "that" },
	{ no_privilege, "permission denied", SUDO_OR_CAPS },
	{ few_descriptors, "too many open files", "64 file descriptors are needed: raise the "
	  "limit, as in 'ulimit -n 1024'" },
	{ no_memory, "cannot allocate memory", "a smaller --ring, or a higher memory.max of the "
	  "control group, leaves room for it" },
	{ no_bpf, "the kernel has no bpf(2)", "it needs a kernel built with CONFIG_BPF_SYSCALL=y" },
	{ no_btf, "the kernel has no type information (" VMLINUX_BTF ")", "it needs a kernel built "
	  "with CONFIG_DEBUG_INFO_BTF=y, as Debian's are" },
	{ no_hook, "this kernel has no such hook", NULL },
	{ confidential, "operation not permitted: the kernel is locked down (confidentiality), and "
	  "BPF may not read its memory", "boot with lockdown=integrity, or without lockdown" },
	{ filtered, "operation not permitted: a seccomp filter, of a container or a service "
	  "manager, forbids it", "in a container, allow bpf and perf_event_open in its seccomp "
	  "profile" },
	{ refused_to_all, "operation not permitted, although the capabilities are there",
	  "a security module may forbid it: see 'dmesg' and the audit log" },
	{ old_kernel, NULL, "Linux 5.17 or newer is needed" },
	{ anything, NULL, "please report this, with what 'sudo tracer doctor --json' prints" },
};

/* What is missing of the two, as a person would say it. */
static void add_missing(struct refusal *r, const struct privilege *who)
{
	bool bpf = privilege_has(who, CAP_BPF), perfmon = privilege_has(who, CAP_PERFMON);
	size_t len = strlen(r->why);

	snprintf(r->why + len, sizeof(r->why) - len, ": %s",
		 bpf ? "CAP_PERFMON is missing" : perfmon ? "CAP_BPF is missing" :
		 "CAP_BPF and CAP_PERFMON are missing");
}

static void say(struct refusal *r, const struct asked *a)
{
	const char *name = errname(a->code);

	if (a->said[0])
		snprintf(r->why, sizeof(r->why), "Linux %.64s refuses it: %.200s (%s)",
			 a->un.release, a->said, name ? name : "error");
	else
		snprintf(r->why, sizeof(r->why), "Linux %.64s refuses it: %s", a->un.release,
			 strerror(a->code));
}

void refusal_explain(struct refusal *r, int code, const char *said, const char *config)
{
	struct asked a = { .code = code, .said = said, .config = config };
	size_t i = 0;

	privilege_read(&a.who);
	uname(&a.un);
	while (!rows[i].applies(&a))
		i++;
	snprintf(r->fix, sizeof(r->fix), "%s", rows[i].fix ? rows[i].fix : "");
	if (!rows[i].fix)
		snprintf(r->fix, sizeof(r->fix), "it needs a kernel built with %s=y", config);
	if (!rows[i].why) {
		say(r, &a);
		return;
	}
	snprintf(r->why, sizeof(r->why), "%s", rows[i].why);
	if (rows[i].applies == no_privilege)
		add_missing(r, &a.who);
}

int refusal_err(struct err *err, int code, const char *what, const char *said, const char *config)
{
	struct refusal r;

	refusal_explain(&r, code, said, config);
	err_set(err, code, "%s: %s", what, r.why);
	err_hint(err, "%s", r.fix);
	return -code;
}
