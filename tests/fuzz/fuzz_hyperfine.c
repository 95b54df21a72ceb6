/* SPDX-License-Identifier: MIT */
/* A file for report: JSON, of hyperfine or of tracer itself. */
#include "import_promises.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	import_promises((const char *)data, size);
	return 0;
}
