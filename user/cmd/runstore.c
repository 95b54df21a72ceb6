/* SPDX-License-Identifier: MIT */
#include "cmd/runstore.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct kept { const char *name; char *value; };

static void set_aside(struct kept *k, const char *value)
{
	const char *now = getenv(k->name);

	k->value = now ? strdup(now) : NULL;
	if (value)
		setenv(k->name, value, 1);
	else
		unsetenv(k->name);
}

static void put_back(struct kept *k)
{
	if (k->value)
		setenv(k->name, k->value, 1);
	else
		unsetenv(k->name);
	free(k->value);
}

static struct store *open_lowered(const struct caller *c, const char *where,
				  enum store_mode mode, struct err *err)
{
	struct store *s = NULL;
	int r = caller_lower(c);

	if (!r) {
		s = store_open(where, mode, err);
		r = caller_raise(c);
	}
	if (r) {
		err_sys(err, -r, "cannot become the user who called, and back");
		store_close(s);
		s = NULL;
	}
	return s;
}

struct store *runstore_open(const struct caller *c, const char *where, enum store_mode mode,
			    bool *as_root, struct err *err)
{
	const struct caller root = { 0 };
	struct kept home = { .name = "HOME" }, data = { .name = "XDG_DATA_HOME" };
	const bool elsewhere = c->change && !where;
	/* Who may run the tracer by sudo, and nothing else, makes no file as root by it. */
	const bool may_write = mode == STORE_CREATE && !access(where ? where : "", F_OK);
	struct store *s;

	/* A database's password is looked for there, too. */
	if (c->change)
		set_aside(&home, c->home);
	if (elsewhere)
		set_aside(&data, NULL);
	s = open_lowered(c, where, mode, err);
	*as_root = !s && err->code == EACCES && c->change && where &&
		   (mode == STORE_READ || may_write);
	if (*as_root) {
		*err = (struct err){ 0 };
		s = open_lowered(&root, where, mode, err);
	}
	if (elsewhere)
		put_back(&data);
	if (c->change)
		put_back(&home);
	return s;
}
