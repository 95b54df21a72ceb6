/* SPDX-License-Identifier: MIT */
#include "store/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "store/parts.h"
#include "store/schema.h"

static const char *const sides[] = {
	[STORE_COMMAND] = "command", [STORE_BASELINE] = "baseline", NULL
};

#define BENCH(member) offsetof(struct store_bench, member)
const struct field store_bench_fields[BENCH_FIELDS] = {
	{ "id", FIELD_CHARS, BENCH(id), STORE_ID_LEN + 1, NULL },
	{ "group_id", FIELD_CHARS, BENCH(group), STORE_ID_LEN + 1, NULL },
	{ "side", FIELD_NAME, BENCH(side), 0, sides },
	{ "label", FIELD_TEXT, BENCH(label), 0, NULL },
	{ "argv", FIELD_TEXT, BENCH(argv), 0, NULL },
	{ "cwd", FIELD_TEXT, BENCH(cwd), 0, NULL },
	{ "git_commit", FIELD_TEXT, BENCH(commit), 0, NULL },
	{ "git_dirty", FIELD_BOOL, BENCH(dirty), 0, NULL },
	{ "tracer", FIELD_TEXT, BENCH(tracer), 0, NULL },
	{ "source", FIELD_TEXT, BENCH(source), 0, NULL },
	{ "mode", FIELD_TEXT, BENCH(mode), 0, NULL },
	{ "planned", FIELD_U64, BENCH(planned), 0, NULL },
	{ "when_ns", FIELD_U64, BENCH(when_ns), 0, NULL },
	{ "load_avg", FIELD_REAL, BENCH(load), 0, NULL },
	{ "steal", FIELD_REAL, BENCH(steal), 0, NULL },
	{ "machine", FIELD_I64, BENCH(machine.key), 0, NULL },
};

#define MACHINE(member) offsetof(struct store_machine, member)
const struct field store_machine_fields[MACHINE_FIELDS] = {
	{ "hash", FIELD_CHARS, MACHINE(hash), STORE_HASH_LEN + 1, NULL },
	{ "cpu_model", FIELD_TEXT, MACHINE(cpu_model), 0, NULL },
	{ "cores", FIELD_U64, MACHINE(cores), 0, NULL },
	{ "governor", FIELD_TEXT, MACHINE(governor), 0, NULL },
	{ "kernel", FIELD_TEXT, MACHINE(kernel), 0, NULL },
	{ "memory_bytes", FIELD_U64, MACHINE(memory_bytes), 0, NULL },
	{ "vendor", FIELD_TEXT, MACHINE(vendor), 0, NULL },
};

#define RUN(member) offsetof(struct store_run, member)
const struct field store_run_fields[RUN_FIELDS] = {
	{ "bench", FIELD_I64, RUN(bench_key), 0, NULL },
	{ "run_order", FIELD_U64, RUN(order), 0, NULL },
	{ "start_ns", FIELD_U64, RUN(start_ns), 0, NULL },
	{ "exit_code", FIELD_INT, RUN(exit_code), 0, NULL },
	{ "signal", FIELD_INT, RUN(signal), 0, NULL },
	{ "warmup", FIELD_BOOL, RUN(warmup), 0, NULL },
};

static bool absolute(const char *path)
{
	return path && path[0] == '/';
}

int store_default_path(struct buf *path, struct err *err)
{
	const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");

	if (absolute(data)) {
		buf_adds(path, data);
	} else if (absolute(home)) {
		buf_addf(path, "%s/.local/share", home);
	} else {
		err_set(err, ENOENT, "there is no place for the run store: neither XDG_DATA_HOME "
			"nor HOME is an absolute path");
		err_hint(err, "name a file with --store");
		return -ENOENT;
	}
	buf_adds(path, "/tracer/runs.db");
	return path->failed ? err_sys(err, ENOMEM, "cannot open the run store") : 0;
}

/* All directories above the file at @path. */
static int make_dirs(char *path, struct err *err)
{
	char *slash;

	for (slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		int r;

		*slash = '\0';
		r = mkdir(path, 0700) && errno != EEXIST ? errno : 0;
		if (r)
			err_sys(err, r, "cannot make directory %s", path);
		*slash = '/';
		if (r)
			return -r;
	}
	return 0;
}

static int fill_current(struct db *db, struct err *err)
{
	return schema_upgrade(db, &schema_current, err);
}

static struct db *open_file(const char *path, enum store_mode mode, struct err *err)
{
	struct stat st;

	if (!path[0]) {
		err_set(err, EINVAL, "the store has no name");
		return NULL;
	}
	if (strstr(path, "://")) {
		err_set(err, EINVAL, "a store is a file or a postgresql:// URL, not %.*s://",
			(int)strcspn(path, ":"), path);
		return NULL;
	}
	if (mode == STORE_CREATE && stat(path, &st) && errno == ENOENT &&
	    db_sqlite_create(path, fill_current, err))
		return NULL;
	return db_sqlite_open(path, mode, err);
}

static struct db *open_default(enum store_mode mode, struct err *err)
{
	struct buf path = BUF_INIT;
	struct db *db = NULL;

	if (!store_default_path(&path, err) &&
	    !(mode == STORE_CREATE && make_dirs(path.data, err)))
		db = open_file(path.data, mode, err);
	buf_release(&path);
	return db;
}

struct store *store_open(const char *where, enum store_mode mode, struct err *err)
{
	struct store *s = calloc(1, sizeof(*s));

	if (!s) {
		err_sys(err, ENOMEM, "cannot open the run store");
		return NULL;
	}
	if (!where)
		s->db = open_default(mode, err);
	else if (db_pg_url(where))
		s->db = db_pg_open(where, mode, err);
	else
		s->db = open_file(where, mode, err);
	if (!s->db || schema_settle(s->db, &schema_current, mode, err)) {
		store_close(s);
		return NULL;
	}
	return s;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	metrics_release(&s->metrics);
	db_close(s->db);
	free(s);
}

const char *store_name(const struct store *s)
{
	return s->db->name;
}
