/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "collect/live_state.h"

/* Calls that mean more to a collector than their count and time. */
static const struct { const char *name; uint8_t class; } class_rows[] = {
	{ "futex",		CALL_FUTEX },
	{ "futex_waitv",	CALL_FUTEX2 },
	{ "futex_wake",		CALL_FUTEX2 },
	{ "futex_wait",		CALL_FUTEX2 },
	{ "futex_requeue",	CALL_FUTEX2 },
	{ "read",		CALL_READ },
	{ "readv",		CALL_READ },
	{ "preadv2",		CALL_READ },
	{ "recvfrom",		CALL_READ },
	{ "recvmsg",		CALL_READ },
	{ "write",		CALL_WRITE },
	{ "writev",		CALL_WRITE },
	{ "pwritev2",		CALL_WRITE },
	{ "sendto",		CALL_WRITE },
	{ "sendmsg",		CALL_WRITE },
	{ "recvmmsg",		CALL_READ_MANY },
	{ "sendmmsg",		CALL_WRITE_MANY },
	{ "eventfd",		CALL_EVENTFD },
	{ "eventfd2",		CALL_EVENTFD },
	{ "vmsplice",		CALL_WRITE },
	{ "splice",		CALL_SPLICE },
	{ "tee",		CALL_TEE },
	{ "sendfile",		CALL_SENDFILE },
	{ "clone",		CALL_CLONE | CALL_ON_WAY },
	{ "clone3",		CALL_CLONE | CALL_ON_WAY },
	{ "fork",		CALL_CLONE },
	{ "vfork",		CALL_CLONE },
	{ "mmap",		CALL_STACK | CALL_ON_WAY },
	{ "mprotect",		CALL_STACK | CALL_ON_WAY },
	{ "munmap",		CALL_STACK | CALL_ON_WAY },
	{ "madvise",		CALL_STACK | CALL_ON_WAY },
	{ "rt_sigprocmask",	CALL_MASK | CALL_ON_WAY },
	{ "rseq",		CALL_SETUP | CALL_ON_WAY },
	{ "set_robust_list",	CALL_SETUP | CALL_ON_WAY },
	{ "exit",		CALL_EXIT | CALL_ON_WAY },
	{ "exit_group",		CALL_EXIT },
	{ "restart_syscall",	CALL_RESTART },
};

void live_classes(uint8_t class[LIVE_NR_CALLS], uint8_t paths[LIVE_NR_CALLS],
		  uint8_t fds[LIVE_NR_CALLS], const struct sysname_set *only)
{
	unsigned int nr;
	size_t i;

	memset(class, CALL_PLAIN, LIVE_NR_CALLS);
	for (i = 0; i < sizeof(class_rows) / sizeof(class_rows[0]); i++) {
		int at = sysname_find(class_rows[i].name);

		if (at >= 0 && at < LIVE_NR_CALLS)
			class[at] = class_rows[i].class;
	}
	for (nr = 0; nr < LIVE_NR_CALLS; nr++) {
		if (only && nr != LIVE_NR_CALIB && !sysname_set_has(only, nr))
			class[nr] |= CALL_OFF;
		paths[nr] = sysname_table[nr].paths;
		fds[nr] = sysname_table[nr].fds;
	}
}
