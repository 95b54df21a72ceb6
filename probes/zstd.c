/* SPDX-License-Identifier: MIT */
/* package: libzstd-dev */
/* link: -lzstd */
#include <zstd.h>

int main(void)
{
	return !ZSTD_compress2;
}
