/* SPDX-License-Identifier: MIT */
/* Who a process is, what it may do, and what it asks of the kernel about itself. */
#include <asm/prctl.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/kcmp.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "rr_calls.h"

static void users(void)
{
	uint32_t r = 9, e = 9, s = 9, groups[64];
	const uint32_t some[] = { 5, 7, 11 };
	int status;
	long n;

	printf("%ld %ld %ld %ld\n", OK(getuid), OK(geteuid), OK(getgid), OK(getegid));
	n = OK(getgroups, 0, NULL);
	CHECK(OK(getgroups, 64, groups) == n);
	SHOW("groups", groups, (size_t)n * 4);
	FAILS(EINVAL, getgroups, -1, groups);
	OK(getresuid, &r, &e, &s);
	OK(getresgid, &r, &e, &s);
	if (!OK(fork)) {
		OK(setgroups, 3L, some);
		CHECK(OK(getgroups, 64, groups) == 3 && groups[2] == 11);
		FAILS(EINVAL, getgroups, 1, groups);
		OK(setgid, 1234);
		OK(setuid, 1234);
		CHECK(OK(getuid) == 1234 && OK(getgid) == 1234);
		FAILS(EPERM, setuid, 0);
		FAILS(EPERM, setgid, 0);
		OK(setfsuid, 1234);
		OK(setreuid, -1, 1234);
		OK(setresuid, -1, -1, -1);
		fflush(stdout);
		_exit(3);
	}
	CHECK(wait(&status) > 0 && status == 3 << 8);
}

static void capabilities(void)
{
	struct __user_cap_header_struct h = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	OK(capget, &h, data);
	SHOW("capabilities", data, sizeof(data));
	OK(capset, &h, data);
	h.version = 1;
	FAILS(EINVAL, capget, &h, data);
	CHECK(h.version == _LINUX_CAPABILITY_VERSION_3);
}

static void asked(void)
{
	char name[16] = "";
	uint64_t fs = 0, auxv[64];
	int v = -1;

	OK(prctl, PR_SET_NAME, "a name");
	OK(prctl, PR_GET_NAME, name);
	CHECK(!strcmp(name, "a name"));
	OK(prctl, PR_SET_PDEATHSIG, SIGUSR1);
	OK(prctl, PR_GET_PDEATHSIG, &v);
	CHECK(v == SIGUSR1);
	OK(prctl, PR_SET_PDEATHSIG, 0);
	OK(prctl, PR_SET_CHILD_SUBREAPER, 1);
	OK(prctl, PR_GET_CHILD_SUBREAPER, &v);
	CHECK(v == 1);
	OK(prctl, PR_GET_DUMPABLE);
	OK(prctl, PR_GET_SECCOMP);
	OK(prctl, PR_GET_TIMERSLACK);
	OK(prctl, PR_GET_TSC, &v);
	OK(prctl, PR_CAPBSET_READ, CAP_SYS_ADMIN);
	OK(prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
	SHOW("auxv", auxv, (size_t)OK(prctl, 0x41555856 /* GET_AUXV */, auxv, sizeof(auxv), 0, 0));
	FAILS(EINVAL, prctl, 9999, 0, 0, 0, 0);
	OK(arch_prctl, ARCH_GET_FS, &fs);
	CHECK(fs == (uint64_t)__builtin_thread_pointer());
	OK(arch_prctl, ARCH_SET_FS, fs);
	OK(arch_prctl, ARCH_SET_GS, 0x1000L);
	OK(arch_prctl, ARCH_GET_GS, &fs);
	CHECK(fs == 0x1000);
	FAILS(EINVAL, arch_prctl, 0x9999, 0L);
	OK(personality, 0xffffffffL);
	OK(kcmp, getpid(), getpid(), KCMP_FILE, 0L, 0L);
	OK(ioprio_get, 1, 0);
}

static void refused(void)
{
	struct { uint16_t request, notify, data; } sizes;
	char buf[64];

	OK(seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes);
	SHOW("sizes", &sizes, sizeof(sizes));
	OK(seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &(uint32_t){ SECCOMP_RET_ERRNO });
	FAILS(EINVAL, seccomp, 77, 0, NULL);
	FAILS(ENOSYS, io_setup, 1, &(long){ 0 });
	FAILS(ENOSYS, io_uring_setup, 1, NULL);
	FAILS(ENOSYS, perf_event_open, NULL, 0, -1, -1, 0L);
	FAILS(EINVAL, bpf, 9999, NULL, 0);
	CHECK(OK(getrandom, buf, 10L, 0) == 10);
	SHOW("random", buf, 10);
	CHECK(OK(getrandom, buf, sizeof(buf), 1 /* nonblock */) == 64);
	FAILS(EINVAL, getrandom, buf, 1L, 0x100);
}

/* In namespaces of its own. */
static void apart(void)
{
	int status;

	const long uts = OK(open, "/proc/self/ns/uts", O_RDONLY);

	if (!OK(fork)) {
		OK(unshare, CLONE_NEWUTS | CLONE_NEWNS);
		OK(sethostname, "apart", 5L);
		OK(setns, uts, CLONE_NEWUTS);
		FAILS(EINVAL, unshare, 0x1);
		fflush(stdout);
		_exit(4);
	}
	CHECK(wait(&status) > 0 && status == 4 << 8);
}

int main(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	users();
	capabilities();
	asked();
	refused();
	apart();
	return 0;
}
