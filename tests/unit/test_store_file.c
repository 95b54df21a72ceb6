/* SPDX-License-Identifier: MIT */
/* The file of a SQLite store: where it is, who may have it, and what is no store. */
#include "fixture_store.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

#include <sqlite3.h>

#include "base/io.h"

static void fill(const struct fixture_store *f, uint64_t runs)
{
	struct store *s = fixture_store_open(f, STORE_CREATE);
	struct store_bench b = fixture_bench("kept");
	uint64_t i;

	fixture_add_bench(s, &b);
	for (i = 0; i < runs; i++)
		fixture_add_run(s, &b, i);
	store_close(s);
}

static void read_file(const char *path, struct buf *b)
{
	buf_reset(b);
	assert_int_equal(io_read_file(path, b, (size_t)64 << 20), 0);
}

static void write_file(const char *path, const char *data, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, data, n), 0);
	close(fd);
}

static void check_same(const char *path, const char *data, size_t n)
{
	struct buf b = BUF_INIT;

	read_file(path, &b);
	assert_int_equal(b.len, n);
	assert_memory_equal(b.data, data, n);
	buf_release(&b);
}

/* Every mode refuses it with @code and @words, and leaves its bytes as they are. */
static void check_refused(const struct fixture_store *f, int code, const char *words)
{
	static const enum store_mode modes[] = { STORE_READ, STORE_WRITE, STORE_CREATE };
	struct buf before = BUF_INIT;
	struct err err = { 0 };
	size_t i;

	read_file(f->where, &before);
	for (i = 0; i < 3; i++) {
		assert_null(store_open(f->where, modes[i], &err));
		assert_int_equal(err.code, code);
		assert_non_null(strstr(err.msg, f->where));
		if (!strstr(err.msg, words))
			fail_msg("'%s' is not in '%s'", words, err.msg);
		assert_true(err.hint[0]);
		check_same(f->where, before.data ? before.data : "", before.len);
	}
	buf_release(&before);
}

static void a_new_store_is_its_owners_and_whole(void **state)
{
	struct fixture_store *f = fixture_store(state);
	struct buf b = BUF_INIT;
	struct stat st;
	struct err err = { 0 };
	struct store *s;
	mode_t mask = umask(0);
	DIR *d;
	int files = 0;

	s = fixture_store_open(f, STORE_CREATE);
	umask(mask);
	assert_int_equal(stat(f->where, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_string_equal(store_name(s), f->where);
	store_close(s);
	read_file(f->where, &b);
	assert_memory_equal(b.data, "SQLite format 3", 16);
	assert_memory_equal(b.data + 68, "trcr", 4);
	assert_int_equal(b.data[18], 2);	/* a write-ahead log, by the file format */
	assert_int_equal(b.data[19], 2);
	buf_release(&b);
	d = opendir(f->dir);
	while (readdir(d))
		files++;
	closedir(d);
	assert_int_equal(files, 3);	/* itself, . and .. */
	assert_null(store_open("", STORE_CREATE, &err));
	assert_int_equal(err.code, EINVAL);
	assert_null(store_open("mysql://db/runs", STORE_CREATE, &err));
	assert_int_equal(err.code, EINVAL);
	assert_non_null(strstr(err.msg, "not mysql://"));
}

static void any_path_is_a_path(void **state)
{
	static const char *const names[] = { "a?mode=memory", "b#c", "100%41", ":memory:", "file:x",
					     "\xff\xfe", " ", "it's; DROP TABLE" };
	struct fixture_store *f = fixture_store(state);
	struct err err = { 0 };
	struct stat st;
	char path[128], old[256];
	size_t i;

	assert_non_null(getcwd(old, sizeof(old)));
	assert_int_equal(chdir(f->dir), 0);
	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s/%s", f->dir, names[i]);
		store_close(store_open(names[i], STORE_CREATE, &err));
		assert_int_equal(stat(path, &st), 0);
		assert_true(st.st_size > 0);
		store_close(store_open(path, STORE_WRITE, &err));
		assert_int_equal(err.code, 0);
	}
	assert_int_equal(chdir(old), 0);
}

static void what_is_no_store_is_refused_and_kept(void **state)
{
	struct fixture_store *f = fixture_store(state);
	struct buf good = BUF_INIT;
	struct err err = { 0 };
	sqlite3 *h;

	fill(f, 3);
	read_file(f->where, &good);

	write_file(f->where, "", 0);
	check_refused(f, EBADMSG, "it is empty");
	write_file(f->where, "time.wall,1.5\n", 14);
	check_refused(f, EBADMSG, "is damaged or no store");
	write_file(f->where, good.data, 60);	/* not even its header */
	check_refused(f, EBADMSG, "is damaged");
	write_file(f->where, good.data, 4096);	/* its first page alone */
	check_refused(f, EBADMSG, "is damaged");
	memset(good.data + 100, 0xff, 3000);
	write_file(f->where, good.data, good.len);
	check_refused(f, EBADMSG, "is damaged");
	unlink(f->where);

	assert_int_equal(sqlite3_open(f->where, &h), SQLITE_OK);
	assert_int_equal(sqlite3_exec(h, "CREATE TABLE meta (name, value);"
				      "INSERT INTO meta VALUES ('schema', '1')", NULL, NULL, NULL),
			 SQLITE_OK);
	sqlite3_close(h);
	check_refused(f, EBADMSG, "a SQLite file of another program");
	unlink(f->where);

	assert_int_equal(mkdir(f->where, 0700), 0);
	assert_null(store_open(f->where, STORE_CREATE, &err));
	assert_int_equal(err.code, EBADMSG);
	assert_non_null(strstr(err.msg, "is no store but a directory"));
	rmdir(f->where);
	assert_int_equal(mkfifo(f->where, 0600), 0);
	assert_null(store_open(f->where, STORE_READ, &err));
	assert_non_null(strstr(err.msg, "is no store but a pipe"));
	buf_release(&good);
}

/* All that can be asked; errors must have words, and nothing more is wanted. */
static void use_all(const char *path)
{
	struct store_query q = { 0 };
	struct store_benches list;
	struct store_labels labels;
	struct store_columns c;
	struct buf out = BUF_INIT;
	struct err err = { 0 };
	struct store *s = store_open(path, STORE_WRITE, &err);
	struct store_bench b = fixture_bench("more");
	size_t i;

	if (!s) {
		assert_true(err.msg[0]);
		return;
	}
	if (!store_labels(s, &labels, &err))
		store_labels_release(&labels);
	if (!store_select(s, &q, &list, &err)) {
		if (!store_load(s, list.bench, list.n, NULL, &c, &err)) {
			for (i = 0; i < c.runs; i++)
				store_detail(s, c.run[i].key, &out, &err);
			store_columns_release(&c);
		}
		store_benches_release(&list);
	}
	if (!store_add_bench(s, &b, &err))
		fixture_try_run(s, &b, 0, &err);
	assert_true(!err.code || err.msg[0]);
	buf_release(&out);
	store_close(s);
}

static void damage_anywhere_is_an_error_and_no_crash(void **state)
{
	struct fixture_store *f = fixture_store(state);
	struct buf good = BUF_INIT;
	uint64_t x = 88172645463325252u;
	char *bad;
	size_t i, k;

	fill(f, 50);
	read_file(f->where, &good);
	bad = malloc(good.len);
	for (i = 0; i < 150; i++) {
		size_t at, n;

		memcpy(bad, good.data, good.len);
		for (k = 0; k < 4; k++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			at = x % good.len;
			n = x >> 40 & 127;
			memset(bad + at, (int)(x >> 56), n < good.len - at ? n : good.len - at);
		}
		write_file(f->where, bad, i % 3 ? good.len : x % good.len);
		use_all(f->where);
	}
	free(bad);
	buf_release(&good);
}

/* Runs @check in a child that is nobody, whom modes keep out. */
static int as_nobody(void (*check)(void *arg), void *arg)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		if (!geteuid() && (setgroups(0, NULL) || setgid(65534) || setuid(65534)))
			_exit(9);
		check(arg);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

static void expect_refused(void *arg)
{
	struct err err = { 0 };

	if (store_open(arg, STORE_READ, &err) || err.code != EACCES || !strstr(err.msg, arg))
		_exit(1);
	if (store_open(arg, STORE_CREATE, &err) || err.code != EACCES)
		_exit(2);
}

static void expect_to_read_only(void *arg)
{
	struct store_query q = { .label = "kept" };
	struct store_benches list;
	struct store_columns c;
	struct err err = { 0 };
	struct store *s = store_open(arg, STORE_READ, &err);

	if (!s || store_select(s, &q, &list, &err) || list.n != 1 ||
	    store_load(s, list.bench, 1, NULL, &c, &err) || c.runs != 3) {
		fprintf(stderr, "# %s\n", err.msg);
		_exit(1);
	}
	store_columns_release(&c);
	store_benches_release(&list);
	store_close(s);
	if (store_open(arg, STORE_CREATE, &err) || err.code != EACCES)
		_exit(2);
}

static void expect_no_new_one(void *arg)
{
	struct err err = { 0 };

	if (store_open(arg, STORE_CREATE, &err) || err.code != EACCES || !strstr(err.msg, arg))
		_exit(1);
}

static void modes_of_file_and_directory_are_kept(void **state)
{
	struct fixture_store *f = fixture_store(state);

	fill(f, 3);
	chmod(f->dir, 0755);
	if (!geteuid())
		assert_int_equal(as_nobody(expect_refused, f->where), 0);
	/* A store to be read by all, in a directory that only its owner writes. */
	chmod(f->where, 0444);
	chmod(f->dir, 0555);
	assert_int_equal(as_nobody(expect_to_read_only, f->where), 0);
	/* The file may be written, the directory not: no log can be made. */
	chmod(f->where, 0666);
	strcat(f->where, ".new");
	assert_int_equal(as_nobody(expect_no_new_one, f->where), 0);
	*strrchr(f->where, '.') = '\0';
	chmod(f->dir, 0700);
	if (!geteuid())
		assert_int_equal(as_nobody(expect_refused, f->where), 0);
}

static void fail_without_room(const struct fixture_store *f)
{
	struct store *s = fixture_store_open(f, STORE_CREATE);
	struct store_bench b = fixture_bench("filled");
	struct err err = { 0 };
	uint64_t order = 0;
	static char noise[50000];
	int r, fd = open("/dev/urandom", O_RDONLY);

	assert_int_equal(read(fd, noise, sizeof(noise)), sizeof(noise));
	close(fd);
	fixture_add_bench(s, &b);
	do {
		struct store_run run = { .order = order };
		struct store_value v = { "time.wall", "ns", STORE_TIME, 1 };
		struct store_measured m = { &v, 1, noise, sizeof(noise) };

		noise[0]++;
		r = store_add_run(s, &b, &run, &m, &err);
	} while (!r && ++order < 1000);
	assert_in_range(order, 1, 999);
	assert_true(r == -ENOSPC || r == -EFBIG);
	assert_non_null(strstr(err.msg, "cannot store a run: store"));
	assert_non_null(strstr(err.msg, f->where));
	store_close(s);
	/* Those before are there, the one that failed is not. */
	s = fixture_store_open(f, STORE_READ);
	{
		struct store_query q = { .label = "filled" };
		struct store_benches list;
		struct store_columns c;
		struct buf out = BUF_INIT;
		size_t i;

		assert_int_equal(store_select(s, &q, &list, &err), 0);
		assert_int_equal(store_load(s, list.bench, 1, NULL, &c, &err), 0);
		assert_int_equal(c.runs, order);
		assert_int_equal(c.column[0].known, order);
		for (i = 0; i < c.runs; i++)
			assert_int_equal(store_detail(s, c.run[i].key, &out, &err), 0);
		buf_release(&out);
		store_columns_release(&c);
		store_benches_release(&list);
	}
	store_close(s);
}

static void add_one(const struct fixture_store *f)
{
	struct store *s = fixture_store_open(f, STORE_WRITE);
	struct store_bench b = fixture_bench("after");

	fixture_add_bench(s, &b);
	fixture_add_run(s, &b, 0);
	store_close(s);
}

static void a_file_that_may_not_grow_loses_one_run(void **state)
{
	struct fixture_store *f = fixture_store(state);
	struct rlimit old, small;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	small = old;
	small.rlim_cur = 1 << 20;
	setrlimit(RLIMIT_FSIZE, &small);
	fail_without_room(f);
	setrlimit(RLIMIT_FSIZE, &old);
	signal(SIGXFSZ, SIG_DFL);
	add_one(f);
}

static void a_full_disk_loses_one_run(void **state)
{
	struct fixture_store *f = fixture_store(state);
	static bool own;

	if (!own && (geteuid() || unshare(CLONE_NEWNS))) {
		print_message("# mounting a small disk wants root\n");
		skip();
	}
	own = true;
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("small", f->dir, "tmpfs", 0, "size=1m")) {
		print_message("# a small disk cannot be mounted: %s\n", strerror(errno));
		skip();
	}
	fail_without_room(f);
	assert_int_equal(mount("small", f->dir, "tmpfs", MS_REMOUNT, "size=8m"), 0);
	add_one(f);
	assert_int_equal(umount(f->dir), 0);
}

static void set_or_unset(const char *name, const char *value)
{
	if (value)
		setenv(name, value, 1);
	else
		unsetenv(name);
}

static void the_default_is_where_xdg_says(void **state)
{
	struct fixture_store *f = fixture_store(state);
	static const struct {
		const char *data, *home, *want;
	} cases[] = {
		{ "/data", "/home/u", "/data/tracer/runs.db" },
		{ NULL, "/home/u", "/home/u/.local/share/tracer/runs.db" },
		{ "", "/home/u", "/home/u/.local/share/tracer/runs.db" },
		{ "data", "/home/u", "/home/u/.local/share/tracer/runs.db" },
		{ "data", NULL, NULL },
		{ NULL, "", NULL },
		{ NULL, "u", NULL },
	};
	struct buf path = BUF_INIT;
	struct err err = { 0 };
	char data[128];
	struct store *s;
	struct stat st;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		set_or_unset("XDG_DATA_HOME", cases[i].data);
		set_or_unset("HOME", cases[i].home);
		buf_reset(&path);
		assert_int_equal(store_default_path(&path, &err), cases[i].want ? 0 : -ENOENT);
		if (cases[i].want)
			assert_string_equal(path.data, cases[i].want);
		else
			assert_non_null(strstr(err.msg, "neither XDG_DATA_HOME nor HOME"));
	}
	assert_null(store_open(NULL, STORE_CREATE, &err));
	assert_int_equal(err.code, ENOENT);
	buf_release(&path);

	/* Directories are made, but not to read. */
	snprintf(data, sizeof(data), "%s/a/b", f->dir);
	setenv("XDG_DATA_HOME", data, 1);
	assert_null(store_open(NULL, STORE_READ, &err));
	assert_int_equal(err.code, ENOENT);
	assert_int_equal(stat(data, &st), -1);
	s = store_open(NULL, STORE_CREATE, &err);
	assert_non_null(s);
	store_close(s);
	strcat(data, "/tracer");
	assert_int_equal(stat(data, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	/* A file stands where a directory should. */
	strcat(data, "/runs.db");
	setenv("XDG_DATA_HOME", data, 1);
	assert_null(store_open(NULL, STORE_CREATE, &err));
	assert_int_equal(err.code, ENOTDIR);
	assert_non_null(strstr(err.msg, data));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_STORE_SQLITE(a_new_store_is_its_owners_and_whole),
		FIXTURE_STORE_SQLITE(any_path_is_a_path),
		FIXTURE_STORE_SQLITE(what_is_no_store_is_refused_and_kept),
		FIXTURE_STORE_SQLITE(damage_anywhere_is_an_error_and_no_crash),
		FIXTURE_STORE_SQLITE(modes_of_file_and_directory_are_kept),
		FIXTURE_STORE_SQLITE(a_file_that_may_not_grow_loses_one_run),
		FIXTURE_STORE_SQLITE(a_full_disk_loses_one_run),
		FIXTURE_STORE_SQLITE(the_default_is_where_xdg_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
