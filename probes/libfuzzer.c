/* SPDX-License-Identifier: MIT */
/* package: libclang-rt-14-dev */
/* compiler: clang -fsanitize=fuzzer,address */
/* for: long */
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	return len && data[0] == 0xff ? -1 : 0;
}
