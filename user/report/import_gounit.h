/* SPDX-License-Identifier: MIT */
#ifndef REPORT_IMPORT_GOUNIT_H
#define REPORT_IMPORT_GOUNIT_H

/* The units of a file of Go's benchmark text, and what they say beside the figures. */
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "out/strtab.h"
#include "report/import_slice.h"
#include "store/store.h"

enum gounit_better { GOUNIT_UNKNOWN, GOUNIT_LESS, GOUNIT_MORE };
enum gounit_assume { GOUNIT_UNTOLD, GOUNIT_NOTHING, GOUNIT_EXACT };

/* How its values are stored. */
struct gounit_meaning {
	const char *unit;
	double factor;		/* to it, from the figures in the text */
	enum store_kind kind;
	enum gounit_better better;
};

struct gounit {
	/* What its Unit lines say. */
	enum gounit_better better;
	enum gounit_assume assume;
	struct gounit_meaning meaning;	/* .unit NULL: not asked for yet */
	size_t line;			/* of the last result that has it; 0: none */
};

struct gounits {
	struct strtab names;
	struct gounit *unit;	/* .n of them, by the number of the name */
	size_t n;
};

/* *number gets that of @name, which is text. 0 or -ENOMEM. */
int gounits_number(struct gounits *all, struct slice name, uint32_t *number, struct err *err);
/*
 * Reads @line (its number @at, for messages) when it is one that describes a unit; keys
 * and values that are not known mean nothing. 0; -EINVAL: it contradicts one before; -ENOMEM.
 */
int gounits_read(struct gounits *all, struct slice line, size_t at, struct err *err);
/*
 * Sets .meaning of unit @number: by its own name, and by its Unit lines. @name is that
 * name, and lives as long as the meaning is used.
 */
void gounits_settle(struct gounits *all, uint32_t number, const char *name);
void gounits_release(struct gounits *all);

#endif
