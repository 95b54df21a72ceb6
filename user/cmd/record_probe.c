/* SPDX-License-Identifier: MIT */
#include "cmd/record_probe.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>

#include "collect/privilege.h"
#include "collect/refusal.h"
#include "rr/recprobe.h"

#ifndef CAP_PERFMON
#define CAP_PERFMON	38
#define CAP_BPF		39
#endif

static const struct { int cap; const char *name; } needed[] = {
	{ CAP_BPF, "CAP_BPF" },			/* what is recorded */
	{ CAP_PERFMON, "CAP_PERFMON" },		/* the same */
	{ CAP_SYS_NICE, "CAP_SYS_NICE" },	/* a recorder that is in time */
	{ CAP_SYS_PTRACE, "CAP_SYS_PTRACE" },	/* new images */
	{ CAP_SYS_ADMIN, "CAP_SYS_ADMIN" },	/* calls that are filtered, mapped files */
};

int record_privilege(struct err *err)
{
	struct privilege who;
	char list[128] = "";

	privilege_read(&who);
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		if (privilege_has(&who, needed[i].cap))
			continue;
		if (*list)
			strcat(list, ", ");
		strcat(list, needed[i].name);
	}
	if (!*list)
		return 0;
	err_set(err, EPERM, "cannot record without privilege: %s %s missing", list,
		strchr(list, ',') ? "are" : "is");
	err_hint(err, "run it with sudo; the program itself runs as you");
	return -EPERM;
}

int record_probe(void)
{
	struct recprobe_result res = { 0 };
	struct err err = { 0 };
	int r = record_privilege(&err);

	r = r ? r : recprobe(&res, &err);
	if (!r)
		return 0;
	if (res.load_error)
		refusal_err(&err, res.load_error, "cannot load the recorder's programs", "", NULL);
	printf("%d\n%s\n%s\n", err.code, err.msg, err.hint);
	return 1;
}
