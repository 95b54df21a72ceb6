/* SPDX-License-Identifier: MIT */
#ifndef STORE_STORE_H
#define STORE_STORE_H

/*
 * The run store of bench and report: benches, the runs of each, a value for each
 * metric of a run, and the run's summary. It is a file of SQLite or a database of
 * PostgreSQL; both have the schema of docs/formats/store.md and behave alike.
 *
 * What adds or takes away is one transaction. Once it has returned 0 all of it is
 * stored for good: a SIGKILL, or with SQLite a power cut, loses nothing of it. When
 * it fails, nothing of it is there. What reads sees one state of the store, also
 * while others write.
 *
 * Text is UTF-8 on both backends, at most STORE_TEXT_MAX bytes; other text is -EINVAL.
 * Bytes of others (arguments, paths) are escaped by who stores them (out/escape.h).
 *
 * A store is one thread's, and does not outlive a fork. A call waits for writers of
 * other processes up to STORE_WAIT_MS, and for a server that is silent up to 30 s.
 *
 * Errors that all calls give, with words: -EBUSY (locked for too long), -ENOSPC,
 * -EACCES, -EROFS, -EBADMSG (damaged, or no store), -ECONNRESET (the server is gone;
 * the next transaction that writes connects anew), -ENOMEM, and -EIO for the rest.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

#define STORE_TEXT_MAX ((size_t)4 << 20)
#define STORE_DETAIL_MAX ((size_t)256 << 20)
#define STORE_WAIT_MS 10000
#define STORE_ID_LEN 32		/* 128 random bits as hex digits: stores can be merged */
#define STORE_HASH_LEN 16

struct store;
struct text_block;

enum store_mode {
	STORE_READ,	/* must exist; is never changed */
	STORE_WRITE,	/* must exist */
	STORE_CREATE,	/* made when it is not there */
};

enum store_side { STORE_COMMAND, STORE_BASELINE };
enum store_kind { STORE_COUNT, STORE_TIME };

/* Where it ran. Text that is not known is "", a number 0. */
struct store_machine {
	const char *cpu_model, *governor, *kernel;
	const char *vendor;		/* of the hypervisor, else of the hardware */
	uint64_t cores, memory_bytes;
	int64_t key;			/* in this store alone; set by store_add_bench */
	char hash[STORE_HASH_LEN + 1];	/* store_machine_hash(), set by store_add_bench */
};

/*
 * An invocation of bench, or one that was imported. With --vs it is two benches, the
 * command and the baseline, each with its own label and arguments, of one group.
 */
struct store_bench {
	int64_t key;			/* in this store alone; set by store_add_bench */
	char id[STORE_ID_LEN + 1];	/* set by store_add_bench when it is "" */
	char group[STORE_ID_LEN + 1];	/* that of the other side; "": the bench's own id */
	enum store_side side;
	const char *label;		/* may be "" */
	const char *argv;		/* a JSON array of strings */
	const char *cwd;
	const char *commit;		/* lower-case hex digits; "" where there is none */
	bool dirty;			/* the tree had changes that are not in .commit */
	const char *tracer;		/* version of the tracer that measured */
	const char *source;		/* "bench", or of imports "hyperfine", "benchstat" */
	const char *mode;		/* "exact", "wait" or "times"; of imports "" */
	uint64_t planned;		/* runs, warm-ups too; fewer: broken off; 0: not known */
	uint64_t when_ns;		/* since 1970 */
	double load;			/* load average at the start; NAN: not known */
	double steal;			/* of CPU time, 0..1; NAN: not known */
	struct store_machine machine;
	uint64_t runs;			/* set by store_select */
};

struct store_value {
	const char *metric;	/* "futex.wait", "time.wall"; not "" */
	const char *unit;	/* "ns", "B" for bytes, "" for a number */
	enum store_kind kind;
	double value;		/* finite */
};

struct store_run {
	int64_t key, bench_key;	/* in this store alone; set by store_add_run */
	size_t bench;		/* store_load: index of its bench in what was asked for */
	uint64_t order;		/* from 0 in order of running, over both sides of a group */
	uint64_t start_ns;	/* since 1970 */
	int exit_code;		/* 0 when .signal is set */
	int signal;		/* that ended it, or 0 */
	bool warmup;
};

/* What store_add_run stores with a run; all is borrowed. */
struct store_measured {
	const struct store_value *value;
	size_t values;		/* a metric at most once */
	const char *detail;	/* the summary as JSON, any bytes; NULL: none */
	size_t detail_len;
};

/* Which benches. What is NULL holds for all. */
struct store_query {
	const char *label;	/* the whole label; "": those without */
	const char *commit;	/* how it begins, hex digits */
	const char *id;		/* how it begins, hex digits */
	const char *group;	/* the whole id of the group */
	bool oldest_first;	/* else the newest */
	size_t limit;		/* 0: all */
};

struct store_benches {
	struct store_bench *bench;	/* .n of them; their text is the list's */
	size_t n;
	struct text_block *text;
};

struct store_label {
	const char *name;		/* the list's */
	uint64_t benches, last_ns;
};

struct store_labels {
	struct store_label *label;
	size_t n;
	struct text_block *text;
};

struct store_column {
	const char *metric, *unit;	/* the columns' */
	enum store_kind kind;
	double *value;		/* of each run; NAN: it has none */
	size_t known;		/* values that are there */
};

struct store_columns {
	struct store_run *run;		/* .runs of them */
	size_t runs;
	struct store_column *column;	/* .columns of them, sorted by metric */
	size_t columns;
	struct text_block *text;
};

/*
 * The file that is taken when none is named, into @path: tracer/runs.db in
 * $XDG_DATA_HOME, or in $HOME/.local/share where that is not set or, as the XDG base
 * directory specification wants it, is relative. -ENOENT: HOME is no path either.
 */
int store_default_path(struct buf *path, struct err *err);

/*
 * @where is a file, or a URL that begins with postgresql:// or postgres://; NULL is
 * store_default_path(), whose directories STORE_CREATE makes (0700). A file is made with
 * mode 0600, all at once: there is none that is half made. STORE_WRITE and
 * STORE_CREATE bring a store of an older tracer up to date.
 *
 * NULL with @err set: ENOENT (there is none), EINVAL (the URL), ECONNREFUSED (no server,
 * database or right to log in), ENOTSUP (the database's encoding, a server before 10),
 * EPROTO (a newer tracer wrote it, or STORE_READ of an older one's), and those above. A
 * file that is no sound store is left as it is. No message has the password of a URL.
 */
struct store *store_open(const char *where, enum store_mode mode, struct err *err);
void store_close(struct store *s);	/* NULL: nothing */
/* For people, without a password; the store's. */
const char *store_name(const struct store *s);

/* Sets .key, .machine.hash and, where "", .id and .group of @b. -EEXIST: its id is there. */
int store_add_bench(struct store *s, struct store_bench *b, struct err *err);
/*
 * Adds @run to @b, and sets its .key. -EEXIST: the bench has a run of this order;
 * -EINVAL also when the store knows a metric by another unit or kind; -EFBIG: the
 * detail is above STORE_DETAIL_MAX; -ENOENT: the bench was deleted meanwhile.
 */
int store_add_run(struct store *s, const struct store_bench *b, struct store_run *run,
		  const struct store_measured *m, struct err *err);

/*
 * What is added between the two is one transaction: all of it is stored by store_end
 * with @keep, or nothing. After an error in between store_end without @keep is what is left.
 */
int store_begin(struct store *s, struct err *err);
int store_end(struct store *s, bool keep, struct err *err);

/* Into @list, which is released by the caller after success; none found is success. */
int store_select(struct store *s, const struct store_query *q, struct store_benches *list,
		 struct err *err);
void store_benches_release(struct store_benches *list);
/* All labels, the one that was used last first. As store_select. */
int store_labels(struct store *s, struct store_labels *list, struct err *err);
void store_labels_release(struct store_labels *list);

/*
 * The runs of @n benches, each given once: in the order of @bench, and of a bench in
 * order of running, warm-ups too. A column for each metric that any of them has, or for
 * @metric alone.
 * The history of a metric is this over store_select(.label, .oldest_first). @c is
 * released by the caller after success.
 */
int store_load(struct store *s, const struct store_bench *bench, size_t n, const char *metric,
	       struct store_columns *c, struct err *err);
void store_columns_release(struct store_columns *c);

/* Appends the detail of the run @key to @out; -ENOENT: it has none. */
int store_detail(struct store *s, int64_t key, struct buf *out, struct err *err);

/*
 * Deletes the benches that @q names with all their runs; *benches gets how many there
 * were. .limit and .oldest_first do not count; -EINVAL for a @q that would be all.
 */
int store_forget(struct store *s, const struct store_query *q, uint64_t *benches,
		 struct err *err);

/* Of all but the exact memory, which varies from boot to boot: it counts in whole GiB. */
void store_machine_hash(const struct store_machine *m, char hash[STORE_HASH_LEN + 1]);

#endif
