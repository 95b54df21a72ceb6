/* SPDX-License-Identifier: MIT */
#ifndef OUT_PBUF_H
#define OUT_PBUF_H

/*
 * Protocol buffers' wire format, as far as a profile needs it ("Encoding",
 * protobuf.dev): fields are appended to a buffer, whose .failed says when memory
 * ran out. A number of 0 is the default and is left out.
 */
#include <stdint.h>

#include "base/buf.h"

void pbuf_varint(struct buf *b, uint64_t v);	/* alone, as an element of a packed field */
void pbuf_u64(struct buf *b, unsigned int field, uint64_t v);
/* A string, a message or a packed array; also when it is empty. */
void pbuf_bytes(struct buf *b, unsigned int field, const void *data, size_t len);

#endif
