/* SPDX-License-Identifier: MIT */
/* What is known of files from earlier recordings, as bytes of anybody. */
#include <stdlib.h>
#include <string.h>

#include "rr/codecache.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct replaced x = { .file = NULL };
	struct buf b = BUF_INIT, sound = BUF_INIT;
	uint64_t sum;

	(void)codecache_parse(&x, data, size);
	replaced_release(&x);
	/* And with the right sum. */
	buf_add(&sound, data, size);
	if (size >= 16) {
		sum = codecache_sum(data + 16, size - 16);
		memcpy(sound.data + 8, &sum, sizeof(sum));
	}
	if (!codecache_parse(&x, sound.data, sound.len) && codecache_format(&b, &x))
		abort();
	buf_release(&sound);
	buf_release(&b);
	replaced_release(&x);
	return 0;
}
