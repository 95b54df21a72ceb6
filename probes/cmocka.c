/* SPDX-License-Identifier: MIT */
/* package: libcmocka-dev */
/* link: -lcmocka */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

int main(void)
{
	return !cmocka_set_message_output;
}
