/* SPDX-License-Identifier: MIT */
/* package: libelf-dev */
/* link: -lelf */
#include <gelf.h>

int main(void)
{
	return elf_version(EV_CURRENT) == EV_NONE;
}
