/* SPDX-License-Identifier: MIT */
#ifndef RR_RECFILE_H
#define RR_RECFILE_H

/*
 * The events of a recording on disk: independent chunks of them, each compressed by itself
 * (docs/formats/recording.md).
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "rr/recqueue.h"
#include "shared/rr.h"

/* ---- writing -------------------------------------------------------------- */

struct recfile;

/*
 * Makes @path, which must not be there; -EEXIST, -ENOSPC, ... with words. Chunks are written by
 * @queue, which outlives the file, or where it is NULL at once.
 */
int recfile_create(struct recfile **out, const char *path, struct recqueue *queue,
		   struct err *err);
/* An event, whose head says how long it is. -ENOMEM, or what writing a chunk failed with. */
int recfile_add(struct recfile *f, const struct rr_head *ev, struct err *err);
/* Hands over what there is as a chunk, without waiting for it to be written. */
int recfile_push(struct recfile *f, struct err *err);
/* Writes what is left; the file is whole up to here. */
int recfile_flush(struct recfile *f, struct err *err);
uint64_t recfile_events(const struct recfile *f);
uint64_t recfile_bytes(const struct recfile *f);	/* on disk by now */
void recfile_close(struct recfile *f);

/* The events of the whole chunks of @path, which may be written to; 0 where it is none. */
uint64_t recfile_count(const char *path);

/* ---- reading -------------------------------------------------------------- */

struct recread;

/* -ENOENT, -EINVAL when it is no recording, -ENOTSUP for a version not known, with words. */
int recread_open(struct recread **out, const char *path, struct err *err);
void recread_close(struct recread *r);
/*
 * The next event, valid until the next call, its length and its head checked, not what is in
 * it: 1; 0 at the end; -EBADMSG with words where the file is damaged. A file that was cut
 * ends at its last whole chunk: recread_cut().
 */
int recread_next(struct recread *r, const struct rr_head **ev, struct err *err);
/*
 * The event behind @ev, which recread_next() gave last or this function since; NULL: it is in
 * another chunk, or is damaged.
 */
const struct rr_head *recread_behind(const struct recread *r, const struct rr_head *ev);
bool recread_cut(const struct recread *r);
/* The number of the event that recread_next() gave last, from 1. */
uint64_t recread_number(const struct recread *r);

/* A place in the file: behind the event that was read last. */
struct recread_place {
	int64_t chunk;		/* where its chunk begins, -1: before the first */
	size_t at;
	uint64_t sequence, event, in_chunk;
};

struct recread_place recread_tell(const struct recread *r);
/* Back, or forward, to a place that recread_tell() gave. -EBADMSG, -EIO, ... with words. */
int recread_seek(struct recread *r, const struct recread_place *to, struct err *err);

#endif
