/* SPDX-License-Identifier: MIT */
/* A file that --store names: all of it is read, and a bench is added. */
#include <fcntl.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "store/store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char dir[] = "/tmp/tracer-fuzz-XXXXXX";
static char path[64];

static void remove_files(void)
{
	static const char *const ends[] = { "", "-wal", "-shm", "-journal" };
	char name[80];
	size_t i;

	for (i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		snprintf(name, sizeof(name), "%s%s", path, ends[i]);
		unlink(name);
	}
}

static void remove_dir(void)
{
	remove_files();
	rmdir(dir);
}

static void write_input(const uint8_t *data, size_t size)
{
	int fd;

	if (!path[0]) {
		if (!mkdtemp(dir))
			abort();
		snprintf(path, sizeof(path), "%s/runs.db", dir);
		atexit(remove_dir);
	}
	remove_files();
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || io_write_all(fd, data, size))
		abort();
	close(fd);
}

static void want_words(const struct err *err)
{
	if (!err->code || !err->msg[0])
		abort();
}

static void check_columns(const struct store_columns *c)
{
	size_t i, k, known;

	for (i = 0; i < c->columns; i++) {
		if (i && strcmp(c->column[i - 1].metric, c->column[i].metric) >= 0)
			abort();
		for (known = k = 0; k < c->runs; k++)
			known += !isnan(c->column[i].value[k]);
		if (known > c->column[i].known)
			abort();
	}
}

static void load(struct store *s, const struct store_benches *list)
{
	struct store_columns c;
	struct buf detail = BUF_INIT;
	struct err err = { 0 };
	size_t i;

	if (store_load(s, list->bench, list->n, NULL, &c, &err)) {
		want_words(&err);
		return;
	}
	check_columns(&c);
	for (i = 0; i < c.runs && i < 100; i++) {
		if (c.run[i].bench >= list->n)
			abort();
		buf_reset(&detail);
		if (store_detail(s, c.run[i].key, &detail, &err))
			want_words(&err);
	}
	buf_release(&detail);
	store_columns_release(&c);
}

static void add(struct store *s)
{
	struct store_bench b = {
		.label = "new", .argv = "[]", .cwd = "/", .commit = "", .tracer = "0", .source = "",
		.mode = "",
		.machine = { .cpu_model = "", .governor = "", .kernel = "", .vendor = "" },
	};
	const struct store_value v = { "time.wall", "ns", STORE_TIME, 1 };
	const struct store_measured m = { &v, 1, "{}", 2 };
	struct store_run run = { 0 };
	struct err err = { 0 };

	if (store_add_bench(s, &b, &err) || store_add_run(s, &b, &run, &m, &err))
		want_words(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct store_query all = { .limit = 1000 };
	struct store_benches list;
	struct store_labels labels;
	struct err err = { 0 };
	struct store *s;

	write_input(data, size);
	s = store_open(path, STORE_WRITE, &err);
	if (!s) {
		want_words(&err);
		return 0;
	}
	if (store_labels(s, &labels, &err))
		want_words(&err);
	else
		store_labels_release(&labels);
	if (store_select(s, &all, &list, &err)) {
		want_words(&err);
	} else {
		load(s, &list);
		store_benches_release(&list);
	}
	add(s);
	store_close(s);
	return 0;
}
