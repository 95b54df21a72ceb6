/* SPDX-License-Identifier: MIT */
#ifndef STORE_DB_SQLITE_H
#define STORE_DB_SQLITE_H

/* Between the two files of the SQLite backend; libsqlite3 is seen by these alone. */
#include <sqlite3.h>

#include "store/db.h"

/* "trcr", at offset 68 of the file: https://www.sqlite.org/fileformat.html, 1.3.14 */
#define SQLITE_APPLICATION_ID 1953653618
#define SQLITE_APPLICATION_ID_TEXT "1953653618"

/*
 * Connects to the file at @path, called @name in messages; @flags are SQLite's, @query
 * is "" or parameters of its URI. Reads nothing of it yet. NULL with @err set.
 */
struct db *sqlite_connect(const char *path, const char *name, int flags, const char *query,
			  struct err *err);
bool sqlite_is_read_only(const struct db *db);

#endif
