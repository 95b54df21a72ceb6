/* SPDX-License-Identifier: MIT */
#include "rr/refused.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *const names[RR_NR_CALLS] = {
#define RR_CALL(nr, name, ...) [nr] = #name,
#include "shared/rr_calls.def"
#undef RR_CALL
};

/* What can be done about it, by the call. */
static const struct { uint32_t nr; const char *hint; } hints[] = {
	{ SYS_ptrace, "record what the debugger or tracer runs, without it" },
	{ SYS_bpf, "BPF programs and their maps change unseen; record without them" },
	{ SYS_ioctl, "what this command of a device writes is not known; please report it, with "
		     "the device" },
};

/* "thread TID (its command)"; it stands behind the call, or has ended. */
static void who(char *text, size_t n, uint32_t tid)
{
	char path[64], comm[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/comm", tid);
	f = fopen(path, "re");
	if (f && !fgets(comm, sizeof(comm), f))
		*comm = '\0';
	if (f)
		fclose(f);
	comm[strcspn(comm, "\n")] = '\0';
	snprintf(text, n, *comm ? "thread %u (%s)" : "thread %u", tid, comm);
}

static void set_hint(struct err *err, uint64_t nr)
{
	err_hint(err, "what it writes is not known; please report it, with the program");
	for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++)
		if (hints[i].nr == nr)
			err_hint(err, "%s", hints[i].hint);
}

#define RECORD_64 "record a 64-bit build of the program"

int refused_program(struct err *err, const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	unsigned char ident[EI_NIDENT] = "";
	const ssize_t n = fd < 0 ? 0 : read(fd, ident, sizeof(ident));

	if (fd >= 0)
		close(fd);
	if (n != sizeof(ident) || memcmp(ident, ELFMAG, SELFMAG) ||
	    ident[EI_CLASS] != ELFCLASS32)
		return 0;
	err_set(err, ENOTSUP, "%s is a 32-bit program, which cannot be recorded", path);
	err_hint(err, RECORD_64);
	return -ENOTSUP;
}

int refused_set(struct err *err, const struct rr_counts *c)
{
	const char *name = c->refused_nr < RR_NR_CALLS ? names[c->refused_nr] : NULL;
	char text[64];

	who(text, sizeof(text), c->refused_tid);
	switch (c->refused_why) {
	case RR_REFUSED_COMPAT:
		err_set(err, ENOTSUP, "%s made a call of 32-bit code, which cannot be recorded",
			text);
		err_hint(err, RECORD_64);
		break;
	case RR_REFUSED_MEMORY:
		err_set(err, ENOTSUP, "%s wrote into memory by way of /proc/PID/mem, which cannot "
			"be recorded", text);
		err_hint(err, "process_vm_writev(2) is recorded");
		break;
	default:
		err_set(err, ENOTSUP, "%s made a call that cannot be recorded: %s, number %llu, "
			"argument 2 %#llx", text, name ? name : "without a name",
			(unsigned long long)c->refused_nr, (unsigned long long)c->refused_arg);
		set_hint(err, c->refused_nr);
	}
	return -ENOTSUP;
}
