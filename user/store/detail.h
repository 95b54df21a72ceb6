/* SPDX-License-Identifier: MIT */
#ifndef STORE_DETAIL_H
#define STORE_DETAIL_H

/* A run's summary as it is stored: one Zstandard frame (RFC 8878) with its size and checksum. */
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

/* Appends the frame of @len bytes; -EFBIG above STORE_DETAIL_MAX, -ENOMEM. */
int detail_pack(const void *data, size_t len, struct buf *out, struct err *err);
/*
 * Appends what the @len bytes at @frame, which may be anything, unpack to. It is @bytes
 * long, else -EBADMSG, as for all that is no sound frame; above STORE_DETAIL_MAX too.
 * Takes no more memory than that. @out is as before after an error.
 */
int detail_unpack(const void *frame, size_t len, size_t bytes, struct buf *out, struct err *err);

#endif
