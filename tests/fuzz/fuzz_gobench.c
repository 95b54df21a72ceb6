/* SPDX-License-Identifier: MIT */
/* A file for report: Go's benchmark text, all of it and all but its last byte. */
#include "import_promises.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	import_promises((const char *)data, size);
	if (size)
		import_promises((const char *)data, size - 1);
	return 0;
}
