/* SPDX-License-Identifier: MIT */
/* What comes over gdb's connection: packets, and all that is read out of one. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rr/gdbpacket.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void parse(const char *s)
{
	struct gdb_thread thread;
	struct gdb_action action;
	struct gdb_point_id id;
	uint64_t a, b;
	char hex[64];
	const char *at = s;

	if (gdb_number(&at, &a) && (at <= s || at > s + 16))
		abort();
	at = s;
	if (gdb_thread_id(&at, &thread) && at > s + strlen(s))
		abort();
	if (gdb_vcont(s, &action) && !strchr("csrt", action.kind))
		abort();
	if (gdb_point_id(s, &id) && (id.type < '0' || id.type > '4'))
		abort();
	gdb_range(s, &a, &b);
	if (gdb_from_hex(hex, sizeof(hex), s) > (long)sizeof(hex))
		abort();
}

/* What was read goes out as it came. */
static void send_back(const struct buf *packet)
{
	struct buf out = BUF_INIT, again = BUF_INIT;
	size_t used;

	if (gdbpacket_add(&out, packet->data, packet->len) ||
	    gdbpacket_next(out.data, out.len, &used, &again) != GDB_PACKET ||
	    used != out.len || again.len != packet->len ||
	    memcmp(again.data, packet->data, packet->len))
		abort();
	buf_release(&out);
	buf_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf packet = BUF_INIT;
	const char *in = (const char *)data;
	size_t used;

	while (size) {
		const enum gdb_item item = gdbpacket_next(in, size, &used, &packet);

		if (used > size || (!used && item != GDB_NOTHING))
			abort();
		if (item == GDB_NOTHING)
			break;
		if (item == GDB_PACKET) {
			/* From each place in it, as packets' functions do. */
			for (size_t i = 0; i <= packet.len && i < 16; i++)
				parse(packet.data + i);
			send_back(&packet);
		}
		in += used;
		size -= used;
	}
	buf_release(&packet);
	return 0;
}
