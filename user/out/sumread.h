/* SPDX-License-Identifier: MIT */
#ifndef OUT_SUMREAD_H
#define OUT_SUMREAD_H

/* What summary_read.c's tables of members are made of, and what reads by them. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "out/jread.h"
#include "out/summary_read.h"

/* A distribution as it is read; it becomes a struct hist when all of it is there. */
struct sumread_dist {
	uint64_t count, total, p50, p99, max;
	bool has_buckets;
	uint64_t bucket[HIST_BUCKETS];
};

/* Where the reader is, for messages: a member, or an element of one. */
struct sumread_place {
	const char *name;	/* NULL: an element */
	size_t index;
};

struct sumread {
	struct jread j;
	struct summary_file *f;
	struct err *err;
	struct sumread_dist dist;
	struct sumread_place place[JREAD_DEPTH * 2];
	size_t nplace;
};

enum sumread_kind {
	M_U64, M_U32, M_I64, M_INT, M_BOOL, M_REAL,
	M_HEX,		/* uint64_t, a string "0x…" */
	M_STR,		/* char *, its own */
	M_NAME,		/* const char *, kept by the file */
	M_COMM,		/* char[SUM_COMM + 1] */
	M_WORD,		/* int: one of .word */
	M_DIST,		/* struct hist */
	M_DIST_U64,	/* a figure of the row's own distribution: offset in struct sumread_dist */
	M_BUCKETS,	/* its buckets */
	M_OBJECT,	/* by .of, into the same struct */
	M_ROWS,		/* array of objects by .of; .at is its pointer, .n_at its length */
	M_FN,		/* by .fn */
};

struct sumread_member {
	const char *name;
	enum sumread_kind kind;
	bool must;		/* without it, or null, the object is none */
	size_t at;
	union {
		const char *(*word)(int i);	/* the @i-th, from 0; NULL behind the last */
		const struct sumread_member *of;	/* end with a NULL name */
		int (*fn)(struct sumread *r, void *base);
	};
	size_t n_at, size;	/* M_ROWS: where its length stands; of a row */
	int (*done)(struct sumread *r, void *row);	/* M_ROWS: when a row was read */
};

#define SUMREAD_AT(type, field) .at = offsetof(struct type, field)
#define SUMREAD_ROWS(type, field, count, row, table) \
	.kind = M_ROWS, SUMREAD_AT(type, field), .n_at = offsetof(struct type, count), \
	.size = sizeof(struct row), .of = table
#define SUMREAD_END { .name = NULL }

/* Rows of a summary's lists, and objects that are read into the summary itself. */
extern const struct sumread_member sumread_lock[], sumread_pipe[], sumread_syscall[];
extern const struct sumread_member sumread_futex[], sumread_sched[], sumread_overhead[],
	sumread_loss[];
/* When all of a system call is read. */
int sumread_syscall_done(struct sumread *r, void *row);

/* All: 0 or a negative errno; the error is in .err, the place in .place. */

/* An object by @table into the struct at @base. */
int sumread_object(struct sumread *r, const struct sumread_member *table, void *base);
/* An object whose names are data: @fn for each, with the name in .j.s and its value next. */
int sumread_names(struct sumread *r, void *base, int (*fn)(struct sumread *r, void *base));
/* An array of strings: @fn for each, in .j.s. */
int sumread_strings(struct sumread *r, void *base, int (*fn)(struct sumread *r, void *base));
/* An integer from @low to @high. */
int sumread_narrow(struct sumread *r, int64_t low, int64_t high, int64_t *v);

/* Whether the string read last is @word. */
bool sumread_is(const struct sumread *r, const char *word);
/* A copy of it, the caller's or the file's. */
int sumread_copy(struct sumread *r, char **out);
int sumread_keep(struct sumread *r, const char **out);
/* Room for one more row, zeroed, in an array of @n rows that is doubled when full. */
int sumread_grow(struct sumread *r, void **rows, size_t n, size_t size);
/* Counts @bytes against SUMMARY_READ_BYTES; -EFBIG. */
int sumread_take(struct sumread *r, size_t bytes);
/* -ENOMEM with the message. */
int sumread_no_memory(struct sumread *r);
/* What a row's own distribution, read into .dist, came to. */
void sumread_hist(const struct sumread_dist *d, struct hist *h);

#endif
