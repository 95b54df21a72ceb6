/* SPDX-License-Identifier: MIT */
#ifndef RR_PACKED_H
#define RR_PACKED_H

/*
 * What `tracer pack` put into a recording: copies of files that it knew by name and time alone,
 * packed/NUMBER, and sums of these and of the copies it had: packed/index, JSON.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "rr/recfiles.h"

struct packed_file {
	struct recfiles_id id;
	uint32_t number;	/* of packed/NUMBER, or of files/NUMBER; 0: it is where it was */
	bool copy;		/* the latter */
	bool checked;		/* its sum has been, by packed_check() */
	uint64_t sum;
	char *path;		/* where it was; for people */
};

struct packed {
	struct packed_file *at;
	size_t n;
	uint64_t missing;	/* files that could not be packed */
	bool there;		/* it has been packed at all */
};

#define PACKED_INDEX "packed/index"
#define PACKED_SUMS "sums"	/* of the same form: of files where they are, without numbers */

/* 0 also where there is no such index; -EBADMSG, ... with words. Release in any case. */
int packed_read(struct packed *p, const char *dir, const char *name, struct err *err);
/* The same of the text of an index; whether its files are @numbered. */
int packed_parse(struct packed *p, const char *text, size_t n, bool numbered, struct err *err);
int packed_write(const struct packed *p, const char *dir, const char *name, struct err *err);
void packed_release(struct packed *p);
/* The one of the file @id, or of the recording's @copy where that is not 0; NULL: none. */
struct packed_file *packed_find(const struct packed *p, const struct recfiles_id *id,
				uint32_t copy);
/* A new one, zeros; NULL without memory. */
struct packed_file *packed_add(struct packed *p);
/* Where @f is, into @path. */
void packed_path(char *path, size_t n, const char *dir, const struct packed_file *f);
/* That @f is whole, the first time that it is asked: 0, or -errno with words. */
int packed_check(struct packed_file *f, const char *dir, struct err *err);

#endif
