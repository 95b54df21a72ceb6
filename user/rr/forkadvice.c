/* SPDX-License-Identifier: MIT */
#include "rr/forkadvice.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* As the kernel names them in VmFlags of /proc/PID/smaps: proc(5). */
static const struct {
	const char *flag;
	int advice, undo;
} kinds[] = {
	{ " dc", MADV_DONTFORK, MADV_DOFORK },
	{ " wf", MADV_WIPEONFORK, MADV_KEEPONFORK },
};

static int add(struct forkadvice *f, const struct forkadvice_range *r)
{
	struct forkadvice_range *at = realloc(f->at, (f->n + 1) * sizeof(*at));

	if (!at)
		return -ENOMEM;
	f->at = at;
	at[f->n++] = *r;
	return 0;
}

static int add_flags(struct forkadvice *f, struct forkadvice_range range, const char *flags)
{
	int r = 0;

	for (size_t i = 0; !r && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!strstr(flags, kinds[i].flag))
			continue;
		range.advice = kinds[i].advice;
		range.undo = kinds[i].undo;
		r = add(f, &range);
	}
	return r;
}

int forkadvice_read(struct forkadvice *f, pid_t pid, struct err *err)
{
	struct forkadvice_range range = { 0 };
	char path[64], *line = NULL;
	size_t cap = 0;
	FILE *file;
	int r = 0;

	*f = (struct forkadvice){ 0 };
	snprintf(path, sizeof(path), "/proc/%d/smaps", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return err_sys(err, errno, "cannot read %s", path);
	while (!r && getline(&line, &cap, file) > 0) {
		if (!strncmp(line, "VmFlags:", 8))
			r = add_flags(f, range, line + 8);
		else
			sscanf(line, "%" SCNx64 "-%" SCNx64 " ", &range.start, &range.end);
	}
	free(line);
	fclose(file);
	if (!r)
		return 0;
	forkadvice_release(f);
	return err_sys(err, -r, "cannot read %s", path);
}

void forkadvice_release(struct forkadvice *f)
{
	free(f->at);
	*f = (struct forkadvice){ 0 };
}
