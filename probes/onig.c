/* SPDX-License-Identifier: MIT */
/* package: libonig-dev */
/* link: -lonig */
/* for: optional */
#include <oniguruma.h>

int main(void)
{
	return !onig_set_retry_limit_in_match;
}
