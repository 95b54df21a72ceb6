/* SPDX-License-Identifier: MIT */
#ifndef REPORT_IMPORT_IMPL_H
#define REPORT_IMPORT_IMPL_H

/* What the readers of import.h share. */
#include "out/jread.h"
#include "report/import.h"

/*
 * A new bench of @source ("hyperfine") about which nothing else is known yet; valid
 * until the next one. NULL with @err set: EFBIG, ENOMEM.
 */
struct import_bench *import_add_bench(struct import *imp, const char *source, struct err *err);
/* The next run of @b; valid until the next of the bench. As import_add_bench. */
struct import_run *import_add_run(struct import *imp, struct import_bench *b, struct err *err);
/* A copy of *v, whose texts are the import's or constant. 0, -EFBIG or -ENOMEM. */
int import_add_value(struct import *imp, struct import_run *run, const struct store_value *v,
		     struct err *err);
/* A copy of the @n bytes at @s, which is the import's. 0 or -ENOMEM. */
int import_keep(struct import *imp, const char *s, size_t n, const char **kept, struct err *err);
/* A JSON array of the @n strings at @word, which is the import's. 0, -EFBIG or -ENOMEM. */
int import_keep_argv(struct import *imp, char *const *word, size_t n, const char **kept,
		     struct err *err);
/* Makes the array *rows of @n rows of @size bytes longer when it is full. 0 or -ENOMEM. */
int import_grow(void **rows, size_t n, size_t size, struct err *err);
/* Puts "line 3, column 9: " before the error of @j; returns it. */
int import_where(const struct jread *j, struct err *err);

/*
 * The readers. All: 0 or a negative errno with the place in @err; @imp is released by
 * the caller in both cases.
 */
int import_hyperfine(struct import *imp, const char *text, size_t len, struct err *err);
int import_gobench(struct import *imp, const char *text, size_t len, struct err *err);

#endif
