/* SPDX-License-Identifier: MIT */
/* A recording's events: read, and written as text, whatever they are; its processes and files. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rr/recdump.h"
#include "rr/recfile.h"
#include "rr/recfiles.h"
#include "rr/recps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char dir[] = "/tmp/fuzz_recording.XXXXXX";

static void clean(void)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/events", dir);
	unlink(path);
	rmdir(dir);
}

static void begin(void)
{
	static bool begun;

	if (begun)
		return;
	if (!mkdtemp(dir))
		abort();
	atexit(clean);
	begun = true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int null = -1;
	struct buf processes = BUF_INIT;
	struct recfiles files = { 0 };
	struct err err = { 0 };
	char path[64];
	int fd, r;

	begin();
	if (null < 0)
		null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "%s/events", dir);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || null < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
	r = recdump(dir, null, &err);
	if (r && !err.msg[0])
		abort();
	err = (struct err){ 0 };
	r = recps(&processes, dir, &err);
	buf_release(&processes);
	if (r && !err.msg[0])
		abort();
	err = (struct err){ 0 };
	r = recfiles_read(&files, dir, &err);
	recfiles_release(&files);
	if (r && !err.msg[0])
		abort();
	return 0;
}
