/* SPDX-License-Identifier: MIT */
/* package: zlib1g-dev */
/* link: -lz */
#include <zlib.h>

int main(void)
{
	return !zlibVersion();
}
