/* SPDX-License-Identifier: MIT */
/* package: libdw-dev */
/* link: -ldw */
#include <elfutils/libdwfl.h>

int main(void)
{
	return !dwfl_begin;
}
