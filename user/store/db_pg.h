/* SPDX-License-Identifier: MIT */
#ifndef STORE_DB_PG_H
#define STORE_DB_PG_H

/* Between the two files of the PostgreSQL backend; libpq is seen by these alone. */
#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#else
#include <postgresql/libpq-fe.h>	/* Debian */
#endif

#include "base/buf.h"
#include "store/db.h"

#define PG_PARAMS_MAX 256

struct pg {
	struct db db;
	PGconn *conn;
	PGresult *row;		/* the one that was stepped to */
	bool lost;		/* the connection is, by the last error */
	unsigned int prepared;	/* statements so far: their names */
};

/*
 * The connection to @url, ready for our statements, and its name for people, which
 * has no password. NULL with @err set, where no password is either.
 */
PGconn *pg_connect(const char *url, char **name, struct err *err);
/* The same after the connection was lost. */
int pg_connect_again(PGconn *conn, const char *name, struct err *err);
/* The first line of a server's or libpq's text, without control characters. */
void pg_clean(struct buf *b, const char *text);

#endif
