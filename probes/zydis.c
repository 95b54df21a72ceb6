/* SPDX-License-Identifier: MIT */
/* package: libzydis-dev */
/* link: -lZydis */
#include <Zydis/Zydis.h>

int main(void)
{
	return !ZydisDecoderInit;
}
