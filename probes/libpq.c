/* SPDX-License-Identifier: MIT */
/* package: libpq-dev */
/* link: -lpq */
#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#else
#include <postgresql/libpq-fe.h>
#endif

int main(void)
{
	return !PQsetSingleRowMode;
}
