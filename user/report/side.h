/* SPDX-License-Identifier: MIT */
#ifndef REPORT_SIDE_H
#define REPORT_SIDE_H

/* One side of a report: the runs that a name on the command line stands for. */
#include "report/import.h"
#include "report/regress.h"

struct side {
	const char *name;		/* as it was given; borrowed */
	struct store *store;		/* borrowed; NULL: from a file */
	struct store_benches list;
	struct import imp;
	bool from_file;
	struct store_bench *bench;	/* the one that was chosen */
	struct store_columns columns;
	char *label;			/* @name without what is behind ~ */
};

/*
 * Finds what @name means. One with a '/' or ending in .json or .txt is a file (FILE#N: its
 * N-th bench), any other the newest bench, that has runs, of that label (LABEL~N: N
 * before it), else of the id or commit that begins so, else a file. @store NULL: there
 * is none, and only files are. 0; -ENOENT with what to do; -EINVAL: several benches and
 * none is named; as import_file and store_load. side_release() in every case.
 */
int side_find(struct side *s, struct store *store, const char *name, struct err *err);
/* As regress_build takes it, borrowed from @s. */
struct regress_input side_input(struct side *s);
void side_release(struct side *s);

/* What a bench that was imported is worth in runs and columns; as store_load gives them. */
int side_columns(const struct import_bench *b, struct store_columns *c, struct err *err);
/* A run of a summary: its values by values_of(). 0 or -ENOMEM. */
int side_measure(struct import *imp, struct err *err);

#endif
