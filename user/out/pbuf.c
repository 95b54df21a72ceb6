/* SPDX-License-Identifier: MIT */
#include "out/pbuf.h"

enum { WIRE_VARINT = 0, WIRE_BYTES = 2 };

void pbuf_varint(struct buf *b, uint64_t v)
{
	unsigned char out[10];
	size_t n = 0;

	do {
		out[n] = (unsigned char)((v & 0x7f) | (v > 0x7f ? 0x80 : 0));
		v >>= 7;
		n++;
	} while (v);
	buf_add(b, out, n);
}

void pbuf_u64(struct buf *b, unsigned int field, uint64_t v)
{
	if (!v)
		return;
	pbuf_varint(b, field << 3 | WIRE_VARINT);
	pbuf_varint(b, v);
}

void pbuf_bytes(struct buf *b, unsigned int field, const void *data, size_t len)
{
	pbuf_varint(b, field << 3 | WIRE_BYTES);
	pbuf_varint(b, len);
	buf_add(b, data, len);
}
