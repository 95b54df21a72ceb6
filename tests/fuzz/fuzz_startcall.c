/* SPDX-License-Identifier: MIT */
/* A C library of somebody else's making: any bytes. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collect/startcall.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct startcall at[STARTCALL_MAX];
	char path[64];
	int fd = memfd_create("library", MFD_CLOEXEC), n, i;

	if (fd < 0)
		return 0;
	if (write(fd, data, size) == (ssize_t)size) {
		n = startcall_find(fd, at);
		/* A probe is put into this file, or nowhere. */
		for (i = 0; i < n; i++)
			if (at[i].offset >= size || !at[i].field)
				abort();
		n = startcall_interp(fd, path, sizeof(path));
		if (n >= (int)sizeof(path) || (n > 0 && strlen(path) != (size_t)n))
			abort();
	}
	close(fd);
	return 0;
}
