/* SPDX-License-Identifier: MIT */
/* package: libpcre2-dev */
/* link: -lpcre2-8 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

/* 10.40: \p{Alphabetic}. */
#if PCRE2_MAJOR < 10 || (PCRE2_MAJOR == 10 && PCRE2_MINOR < 40)
#error "older than 10.40"
#endif

int main(void)
{
	return !pcre2_jit_match_8;
}
