/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. A fact is a row with a function that reads it. What the machine does
 * not say stays unknown: in a container files of /proc and /sys may be missing.
 */
#include "collect/host.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/io.h"
#include "collect/cgroup.h"
#include "collect/privilege.h"

#ifndef CAP_PERFMON
#define CAP_PERFMON	38
#define CAP_BPF		39
#endif

#define VMLINUX_BTF	"/sys/kernel/btf/vmlinux"
#define DEBUG_FILES	"/usr/lib/debug/.build-id"
#define INIT_PID_NS	0xEFFFFFFCu	/* include/linux/proc_ns.h: PROC_PID_INIT_INO */
#define FILE_MAX	((size_t)1 << 20)
#define FILES_NEEDED	64

struct host {
	struct privilege who;
	const char *libexec_dir;
};

__attribute__((format(printf, 2, 3)))
static void text(struct check_fact *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(f->text, sizeof(f->text), fmt, ap);
	va_end(ap);
	f->known = true;
}

static void yes_no(struct check_fact *f, bool yes)
{
	f->kind = CHECK_YES_NO;
	f->number = yes;
	text(f, "%s", yes ? "yes" : "no");
}

static void number(struct check_fact *f, int64_t n)
{
	f->kind = CHECK_NUMBER;
	f->number = n;
	text(f, "%lld", (long long)n);
}

/* What follows the value, for people alone. */
__attribute__((format(printf, 2, 3)))
static void remark(struct check_fact *f, const char *fmt, ...)
{
	size_t len = strlen(f->text);
	va_list ap;

	len += (size_t)snprintf(f->text + len, sizeof(f->text) - len, ": ");
	if (len >= sizeof(f->text))
		return;
	va_start(ap, fmt);
	vsnprintf(f->text + len, sizeof(f->text) - len, fmt, ap);
	va_end(ap);
}

static void bad(struct check_fact *f, const char *fix)
{
	f->level = CHECK_BAD;
	f->fix = fix;
}

static void good_or(struct check_fact *f, bool good, const char *fix)
{
	if (good)
		f->level = CHECK_GOOD;
	else
		bad(f, fix);
}

/* The first line of a small file; false: it is not there. */
static bool read_line(const char *path, char *to, size_t bytes)
{
	struct buf b = BUF_INIT;
	bool read = !io_read_file(path, &b, 4096) && b.len;

	if (read)
		snprintf(to, bytes, "%.*s", (int)strcspn(b.data, "\n"), b.data);
	buf_release(&b);
	return read;
}

static bool read_number(struct check_fact *f, const char *path)
{
	char line[64];

	if (!read_line(path, line, sizeof(line)))
		return false;
	number(f, strtol(line, NULL, 10));
	return true;
}

/* ---- the kernel ---- */

static void kernel_release(const struct host *h, struct check_fact *f)
{
	struct utsname un;

	(void)h;
	if (!uname(&un))
		text(f, "%s", un.release);
}

static void kernel_machine(const struct host *h, struct check_fact *f)
{
	struct utsname un;

	(void)h;
	if (uname(&un))
		return;
	text(f, "%s", un.machine);
	good_or(f, !strcmp(un.machine, "x86_64"), "tracer is made for x86_64");
}

static void kernel_btf(const struct host *h, struct check_fact *f)
{
	(void)h;
	yes_no(f, !access(VMLINUX_BTF, R_OK));
	good_or(f, f->number, "a kernel built with CONFIG_DEBUG_INFO_BTF=y has it, as Debian's do; "
		"in a container, mount /sys");
}

static void kernel_lockdown(const struct host *h, struct check_fact *f)
{
	char line[128], *at, *end;

	(void)h;
	if (!read_line("/sys/kernel/security/lockdown", line, sizeof(line)))
		return;
	at = strchr(line, '[');
	end = at ? strchr(at, ']') : NULL;
	if (!end)
		return;
	text(f, "%.*s", (int)(end - at - 1), at + 1);
	if (!strcmp(f->text, "confidentiality"))
		bad(f, "under it no BPF program may read memory: boot with lockdown=integrity");
}

static void kernel_unprivileged_bpf(const struct host *h, struct check_fact *f)
{
	(void)h;
	if (read_number(f, "/proc/sys/kernel/unprivileged_bpf_disabled"))
		remark(f, f->number ? "BPF is for those with CAP_BPF" :
				      "some of BPF is for all, but nothing that tracing needs");
}

static void kernel_perf_paranoid(const struct host *h, struct check_fact *f)
{
	(void)h;
	if (read_number(f, "/proc/sys/kernel/perf_event_paranoid"))
		remark(f, "no matter to tracer, which has CAP_PERFMON or nothing");
}

static void kernel_kptr(const struct host *h, struct check_fact *f)
{
	(void)h;
	if (read_number(f, "/proc/sys/kernel/kptr_restrict"))
		remark(f, f->number == 0 ? "kernel addresses are shown to root" :
			  f->number == 1 ? "kernel addresses are shown to CAP_SYSLOG" :
					   "kernel addresses are shown to nobody");
}

static void kernel_ptrace(const struct host *h, struct check_fact *f)
{
	(void)h;
	if (read_number(f, "/proc/sys/kernel/yama/ptrace_scope"))
		remark(f, "tracer does not attach by ptrace");
}

/* ---- privileges ---- */

static void privilege_uid(const struct host *h, struct check_fact *f)
{
	number(f, h->who.uid);
	if (h->who.uid)
		remark(f, "only this user's own processes are traced");
	else
		remark(f, "processes of all users are traced");
}

static void capability(const struct host *h, struct check_fact *f, int cap, const char *fix)
{
	bool has = privilege_has(&h->who, cap);

	yes_no(f, has);
	if (!fix)
		return;
	if (!has && privilege_has(&h->who, CAP_SYS_ADMIN)) {
		remark(f, "CAP_SYS_ADMIN stands for it");
		return;
	}
	good_or(f, has, fix);
}

static void cap_bpf(const struct host *h, struct check_fact *f)
{
	capability(h, f, CAP_BPF, "'sudo tracer ...', or docs/privileges.md for a group's members");
}

static void cap_perfmon(const struct host *h, struct check_fact *f)
{
	capability(h, f, CAP_PERFMON,
		   "'sudo tracer ...', or docs/privileges.md for a group's members");
}

static void cap_admin(const struct host *h, struct check_fact *f)
{
	capability(h, f, CAP_SYS_ADMIN, NULL);
	remark(f, "for --start-routine on newer kernels");
}

static void cap_ptrace(const struct host *h, struct check_fact *f)
{
	capability(h, f, CAP_SYS_PTRACE, NULL);
	remark(f, "for names and stacks of others' processes");
}

static void cap_nice(const struct host *h, struct check_fact *f)
{
	capability(h, f, CAP_SYS_NICE, NULL);
	remark(f, "for 'tracer record'");
}

static void cap_resource(const struct host *h, struct check_fact *f)
{
	capability(h, f, CAP_SYS_RESOURCE, NULL);
	remark(f, "not needed");
}

static void no_new_privs(const struct host *h, struct check_fact *f)
{
	yes_no(f, h->who.no_new_privs);
	if (h->who.no_new_privs && h->who.uid)
		bad(f, "under it neither sudo nor capabilities of a file give anything");
}

static void user_namespace(const struct host *h, struct check_fact *f)
{
	yes_no(f, h->who.user_namespace);
	if (h->who.user_namespace)
		bad(f, "its root is nobody to the kernel: run tracer outside of it");
}

static void seccomp(const struct host *h, struct check_fact *f)
{
	yes_no(f, h->who.seccomp);
	if (h->who.seccomp)
		remark(f, "it may forbid bpf and perf_event_open");
}

static void limit(struct check_fact *f, __rlimit_resource_t what)
{
	struct rlimit r;

	if (getrlimit(what, &r))
		return;
	if (r.rlim_cur == RLIM_INFINITY) {
		text(f, "unlimited");
		return;
	}
	number(f, (int64_t)r.rlim_cur);
}

static void limit_memlock(const struct host *h, struct check_fact *f)
{
	(void)h;
	limit(f, RLIMIT_MEMLOCK);
	if (f->known)
		remark(f, "BPF does not count against it since Linux 5.11");
}

static void limit_files(const struct host *h, struct check_fact *f)
{
	(void)h;
	limit(f, RLIMIT_NOFILE);
	if (f->kind == CHECK_NUMBER)
		good_or(f, f->number >= FILES_NEEDED,
			"64 are needed: 'ulimit -n 1024'");
}

/* ---- the machine ---- */

static void machine_cpus(const struct host *h, struct check_fact *f)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	(void)h;
	if (n > 0)
		number(f, n);
}

static void machine_cgroup(const struct host *h, struct check_fact *f)
{
	struct cgroup_mount *m = malloc(sizeof(*m));
	struct buf b = BUF_INIT;
	const char *at;

	(void)h;
	if (m && !io_read_file("/proc/self/mountinfo", &b, FILE_MAX) && b.data) {
		at = b.data;
		if (cgroup_next_mount(&at, m))
			text(f, "%.*s", CHECK_TEXT - 1, m->point);
		else
			f->fix = "--cgroup needs it: mount -t cgroup2 none /sys/fs/cgroup";
	}
	buf_release(&b);
	free(m);
}

static void machine_pid_namespace(const struct host *h, struct check_fact *f)
{
	struct stat st;

	(void)h;
	if (stat("/proc/self/ns/pid", &st))
		return;
	yes_no(f, st.st_ino != INIT_PID_NS);
	if (f->number)
		remark(f, "only what runs in it can be traced, by its own pids");
}

static bool says(const char *path, const char *word)
{
	struct buf b = BUF_INIT;
	bool has = !io_read_file(path, &b, FILE_MAX) && b.data && strstr(b.data, word);

	buf_release(&b);
	return has;
}

static void machine_container(const struct host *h, struct check_fact *f)
{
	static const struct { const char *path, *word, *name; } hints[] = {
		{ "/.dockerenv", NULL, "docker" },
		{ "/run/.containerenv", NULL, "podman" },
		{ "/run/systemd/container", NULL, "by systemd" },
		{ "/proc/1/cgroup", "kubepods", "kubernetes" },
		{ "/proc/1/cgroup", "docker", "docker" },
		{ "/proc/1/cgroup", "lxc", "lxc" },
	};
	size_t i;

	(void)h;
	text(f, "none seen");
	for (i = 0; i < sizeof(hints) / sizeof(hints[0]); i++) {
		if (hints[i].word ? !says(hints[i].path, hints[i].word) :
				    access(hints[i].path, F_OK))
			continue;
		text(f, "%s", hints[i].name);
		return;
	}
}

static void machine_pmu(const struct host *h, struct check_fact *f)
{
	(void)h;
	yes_no(f, !access("/sys/bus/event_source/devices/cpu", F_OK) ||
		  !access("/sys/bus/event_source/devices/cpu_core", F_OK));
	remark(f, "not needed");
}

/* ---- names and terminal ---- */

static void names_debug_files(const struct host *h, struct check_fact *f)
{
	(void)h;
	yes_no(f, !access(DEBUG_FILES, R_OK));
	if (!f->number)
		remark(f, "packages named -dbgsym bring lines and static functions");
}

static void names_debuginfod(const struct host *h, struct check_fact *f)
{
	const char *urls = secure_getenv("DEBUGINFOD_URLS");

	(void)h;
	yes_no(f, urls && *urls);
	if (f->number)
		remark(f, "asked with --debuginfod");
}

static void terminal_term(const struct host *h, struct check_fact *f)
{
	const char *term = getenv("TERM");

	(void)h;
	if (term && *term)
		text(f, "%.64s", term);
	if (!f->known || !strcmp(term, "dumb"))
		f->fix = "top's screen wants a terminal; 'tracer top -b' does without";
}

static void terminal_is(const struct host *h, struct check_fact *f)
{
	(void)h;
	yes_no(f, isatty(STDOUT_FILENO));
}

static void terminal_colors(const struct host *h, struct check_fact *f)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	(void)h;
	yes_no(f, !(no && *no) && term && *term && strcmp(term, "dumb"));
	if (no && *no)
		remark(f, "NO_COLOR is set");
}

static void terminal_utf8(const struct host *h, struct check_fact *f)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
	const char *value = NULL;
	size_t i;

	(void)h;
	for (i = 0; i < sizeof(names) / sizeof(names[0]) && !(value && *value); i++)
		value = getenv(names[i]);
	yes_no(f, value && (strcasestr(value, "UTF-8") || strcasestr(value, "UTF8")));
	if (!f->number)
		remark(f, "tables are printed in ASCII");
}

/* ---- what is installed ---- */

static void installed(const struct host *h, struct check_fact *f, const char *name,
		      const char *fix)
{
	char path[4096];

	if (snprintf(path, sizeof(path), "%s/%s", h->libexec_dir, name) >= (int)sizeof(path))
		return;
	yes_no(f, !access(path, X_OK));
	if (!f->number)
		bad(f, fix);
}

static void installed_live(const struct host *h, struct check_fact *f)
{
	installed(h, f, "tracer-live", "'make install' puts it there");
}

static void installed_sym(const struct host *h, struct check_fact *f)
{
	installed(h, f, "tracer-sym", "names need it: 'make install' puts it there");
}

static void installed_top(const struct host *h, struct check_fact *f)
{
	installed(h, f, "tracer-top", "'tracer top' needs it: 'make install' puts it there");
	f->level = CHECK_PLAIN;
}

static void installed_export(const struct host *h, struct check_fact *f)
{
	installed(h, f, "tracer-export", "'tracer export' needs it: 'make install' puts it there");
	f->level = CHECK_PLAIN;
}

static void installed_record(const struct host *h, struct check_fact *f)
{
	installed(h, f, "tracer-record", "'tracer record' needs it: 'make install' puts it there");
	f->level = CHECK_PLAIN;
}

static void installed_replay(const struct host *h, struct check_fact *f)
{
	installed(h, f, "tracer-replay", "'tracer replay' needs it: 'make install' puts it there");
	f->level = CHECK_PLAIN;
}

static void installed_libbpf(const struct host *h, struct check_fact *f)
{
	(void)h;
	text(f, "%s", libbpf_version_string());
}

static const struct {
	const char *group, *key, *label;
	void (*read)(const struct host *h, struct check_fact *f);
} rows[] = {
	{ "kernel", "release", "release", kernel_release },
	{ "kernel", "machine", "machine", kernel_machine },
	{ "kernel", "btf", "type information (BTF)", kernel_btf },
	{ "kernel", "lockdown", "lockdown", kernel_lockdown },
	{ "kernel", "unprivileged_bpf_disabled", "unprivileged_bpf_disabled",
	  kernel_unprivileged_bpf },
	{ "kernel", "perf_event_paranoid", "perf_event_paranoid", kernel_perf_paranoid },
	{ "kernel", "kptr_restrict", "kptr_restrict", kernel_kptr },
	{ "kernel", "ptrace_scope", "yama.ptrace_scope", kernel_ptrace },
	{ "privileges", "uid", "user id", privilege_uid },
	{ "privileges", "cap_bpf", "CAP_BPF", cap_bpf },
	{ "privileges", "cap_perfmon", "CAP_PERFMON", cap_perfmon },
	{ "privileges", "cap_sys_admin", "CAP_SYS_ADMIN", cap_admin },
	{ "privileges", "cap_sys_ptrace", "CAP_SYS_PTRACE", cap_ptrace },
	{ "privileges", "cap_sys_nice", "CAP_SYS_NICE", cap_nice },
	{ "privileges", "cap_sys_resource", "CAP_SYS_RESOURCE", cap_resource },
	{ "privileges", "no_new_privs", "no_new_privs", no_new_privs },
	{ "privileges", "user_namespace", "user namespace", user_namespace },
	{ "privileges", "seccomp", "seccomp filter", seccomp },
	{ "privileges", "memlock_bytes", "locked memory, bytes", limit_memlock },
	{ "privileges", "open_files", "open files", limit_files },
	{ "machine", "cpus", "CPUs", machine_cpus },
	{ "machine", "cgroup2", "cgroup2 mount", machine_cgroup },
	{ "machine", "pid_namespace", "pid namespace, nested", machine_pid_namespace },
	{ "machine", "container", "container", machine_container },
	{ "machine", "hardware_pmu", "hardware counters", machine_pmu },
	{ "names", "debug_files", "debug files", names_debug_files },
	{ "names", "debuginfod", "DEBUGINFOD_URLS is set", names_debuginfod },
	{ "terminal", "term", "TERM", terminal_term },
	{ "terminal", "is_terminal", "output is a terminal", terminal_is },
	{ "terminal", "colors", "colours", terminal_colors },
	{ "terminal", "utf8", "UTF-8", terminal_utf8 },
	{ "installed", "tracer_live", "tracer-live", installed_live },
	{ "installed", "tracer_sym", "tracer-sym", installed_sym },
	{ "installed", "tracer_top", "tracer-top", installed_top },
	{ "installed", "tracer_export", "tracer-export", installed_export },
	{ "installed", "tracer_record", "tracer-record", installed_record },
	{ "installed", "tracer_replay", "tracer-replay", installed_replay },
	{ "installed", "libbpf", "libbpf", installed_libbpf },
};
_Static_assert(sizeof(rows) / sizeof(rows[0]) <= CHECK_FACTS, "a place for each fact");

void host_look(struct checkup *c, const char *libexec_dir)
{
	struct host h = { .libexec_dir = libexec_dir };
	size_t i;

	privilege_read(&h.who);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct check_fact *f = &c->fact[c->nfact++];

		memset(f, 0, sizeof(*f));
		f->group = rows[i].group;
		f->key = rows[i].key;
		f->label = rows[i].label;
		rows[i].read(&h, f);
	}
}
