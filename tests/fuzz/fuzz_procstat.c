/* SPDX-License-Identifier: MIT */
/* /proc/PID/stat when the first byte is even, /proc/PID/status when it is odd. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collect/proc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct proc_status status;
	struct proc_stat stat;
	char *text;

	if (!size || !(text = malloc(size)))
		return 0;
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	if (data[0] & 1) {
		if (!proc_parse_status(text, &status) &&
		    (status.pid < 0 || status.tgid < 0 || status.ppid < 0))
			abort();
	} else if (!proc_parse_stat(text, &stat)) {
		if (stat.pid < 0 || strlen(stat.comm) >= PROC_COMM || !stat.state)
			abort();
	}
	free(text);
	return 0;
}
