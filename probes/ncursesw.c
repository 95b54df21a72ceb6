/* SPDX-License-Identifier: MIT */
/* package: libncurses-dev */
/* link: -lncursesw -ltinfo */
#define _XOPEN_SOURCE_EXTENDED 1
#include <curses.h>

int main(void)
{
	return !add_wch;
}
