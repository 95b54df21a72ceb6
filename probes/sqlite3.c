/* SPDX-License-Identifier: MIT */
/* package: libsqlite3-dev */
/* link: -lsqlite3 */
#include <sqlite3.h>

/* 3.37: STRICT tables. */
#if SQLITE_VERSION_NUMBER < 3037000
#error "older than 3.37"
#endif

int main(void)
{
	return sqlite3_libversion_number() < 3037000;
}
