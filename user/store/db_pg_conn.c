/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/db_pg.h"

#define OLDEST_SERVER 100000	/* 10: identity columns */

/* Ours, which lie alone in a schema, before any of the user's. */
static const char session[] =
	"SET search_path TO tracer;"
	"SET idle_in_transaction_session_timeout = 0;"
	"SET client_min_messages = warning";

bool db_pg_url(const char *where)
{
	return !strncmp(where, "postgresql://", 13) || !strncmp(where, "postgres://", 11);
}

void pg_clean(struct buf *b, const char *text)
{
	for (; *text && *text != '\n'; text++)
		buf_addc(b, (unsigned char)*text < ' ' || *text == 0x7f ? ' ' : *text);
	while (b->len && b->data[b->len - 1] == ' ')
		b->data[--b->len] = '\0';
}

static const char *option(const PQconninfoOption *o, const char *keyword)
{
	for (; o->keyword; o++)
		if (!strcmp(o->keyword, keyword))
			return o->val ? o->val : "";
	return "";
}

/* A password with an '@' or '/' that is not written %XX ends up in one of these. */
static bool spilled(const PQconninfoOption *o)
{
	const char *port = option(o, "port");

	return strchr(option(o, "host"), '@') || strchr(option(o, "dbname"), '@') ||
	       port[strspn(port, "0123456789,")];
}

static void add_name(struct buf *b, const PQconninfoOption *o)
{
	const char *host = option(o, "host"), *user = option(o, "user"), *port = option(o, "port");

	if (!host[0])
		host = option(o, "hostaddr");
	buf_adds(b, "postgresql://");
	if (user[0])
		buf_addf(b, "%s@", user);
	if (host[0] != '/')
		buf_adds(b, host);
	if (port[0])
		buf_addf(b, ":%s", port);
	buf_addf(b, "/%s", option(o, "dbname"));
	if (host[0] == '/')
		buf_addf(b, "?host=%s", host);
}

/* What libpq says of a URL that it cannot read quotes all of it, so it is not passed on. */
static char *name_of(const char *url, struct err *err)
{
	struct buf b = BUF_INIT;
	char *words = NULL;
	PQconninfoOption *o = PQconninfoParse(url, &words);

	PQfreemem(words);
	if (!o || spilled(o)) {
		PQconninfoFree(o);
		err_set(err, EINVAL, "the store's URL cannot be read");
		err_hint(err, "as in postgresql://USER@HOST:PORT/DATABASE; a character that is "
			 "special in URLs is written %%XX, as %%40 for @");
		return NULL;
	}
	add_name(&b, o);
	PQconninfoFree(o);
	if (b.failed) {
		buf_release(&b);
		err_sys(err, ENOMEM, "cannot open the store");
		return NULL;
	}
	return b.data;
}

static int refused(PGconn *conn, const char *name, struct err *err)
{
	struct buf b = BUF_INIT;

	pg_clean(&b, PQerrorMessage(conn));
	err_set(err, ECONNREFUSED, "cannot open store %s: %s", name, b.data ? b.data : "");
	buf_release(&b);
	if (PQconnectionNeedsPassword(conn))
		err_hint(err, "its password is taken from ~/.pgpass or PGPASSWORD");
	return -ECONNREFUSED;
}

static int settle(PGconn *conn, const char *name, struct err *err)
{
	const char *encoding = PQparameterStatus(conn, "server_encoding");
	PGresult *r;

	if (PQstatus(conn) != CONNECTION_OK)
		return refused(conn, name, err);
	if (PQserverVersion(conn) < OLDEST_SERVER)
		return err_set(err, ENOTSUP, "store %s: its PostgreSQL is older than version 10",
			       name);
	if (!encoding || strcmp(encoding, "UTF8")) {
		err_set(err, ENOTSUP, "store %s: the database's encoding is %s, not UTF8", name,
			encoding ? encoding : "not known");
		err_hint(err, "as in createdb --encoding=UTF8 --template=template0 NAME");
		return -ENOTSUP;
	}
	r = PQexec(conn, session);
	if (PQresultStatus(r) == PGRES_COMMAND_OK) {
		PQclear(r);
		return 0;
	}
	PQclear(r);
	return refused(conn, name, err);
}

/* libpq would print these to stderr. */
static void ignore_notice(void *arg, const PGresult *r)
{
	(void)arg;
	(void)r;
}

PGconn *pg_connect(const char *url, char **name, struct err *err)
{
	/* Those before dbname can be set otherwise by the URL, those behind it cannot. */
	const char *const keywords[] = { "connect_timeout", "tcp_user_timeout",
					 "fallback_application_name", "dbname", "client_encoding",
					 NULL };
	const char *const values[] = { "10", "30000", "tracer", url, "UTF8", NULL };
	PGconn *conn;

	*name = name_of(url, err);
	if (!*name)
		return NULL;
	conn = PQconnectdbParams(keywords, values, 1);
	if (!conn) {
		err_sys(err, ENOMEM, "cannot open store %s", *name);
		goto fail;
	}
	PQsetNoticeReceiver(conn, ignore_notice, NULL);
	if (!settle(conn, *name, err))
		return conn;
	PQfinish(conn);
fail:
	free(*name);
	*name = NULL;
	return NULL;
}

int pg_connect_again(PGconn *conn, const char *name, struct err *err)
{
	PQreset(conn);
	return settle(conn, name, err);
}
