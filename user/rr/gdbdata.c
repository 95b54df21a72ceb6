/* SPDX-License-Identifier: MIT */
/* Packets of registers and memory. */
#include <errno.h>
#include <stdlib.h>

#include "rr/gdb_state.h"

int gdb_get_all(struct gdb *g, const char *s)
{
	unsigned char value[16];
	int r = gdb_get_regs(g, &g->regs);

	(void)s;
	if (r)
		return gdb_refuse(g, r);
	buf_reset(&g->reply);
	for (size_t i = 0; i < gdbregs_count(); i++)
		gdb_add_hex(&g->reply, value, gdbregs_get(&g->regs, i, value));
	return gdb_send_reply(g);
}

int gdb_get(struct gdb *g, const char *s)
{
	unsigned char value[16];
	uint64_t n;
	size_t bytes;
	int r = gdb_get_regs(g, &g->regs);

	if (r || !gdb_number(&s, &n))
		return gdb_refuse(g, r ? r : EINVAL);
	bytes = gdbregs_get(&g->regs, (size_t)n, value);
	if (!bytes)
		return gdb_refuse(g, EINVAL);
	buf_reset(&g->reply);
	gdb_add_hex(&g->reply, value, bytes);
	return gdb_send_reply(g);
}

int gdb_set_all(struct gdb *g, const char *s)
{
	unsigned char all[GDB_REGS_BYTES], value[16];
	const long n = gdb_from_hex(all, sizeof(all), s);
	long at = 0;
	int r = gdb_get_regs(g, &g->regs);

	for (size_t i = 0; !r && i < gdbregs_count(); i++) {
		const size_t bytes = gdbregs_get(&g->regs, i, value);

		if (at + (long)bytes > n)
			break;
		gdbregs_set(&g->regs, i, all + at, bytes);
		at += (long)bytes;
	}
	r = r ? r : gdb_set_regs(g, &g->regs);
	return r ? gdb_refuse(g, r) : gdb_accept(g);
}

int gdb_set(struct gdb *g, const char *s)
{
	unsigned char value[64];
	uint64_t n;
	long bytes;
	int r = gdb_get_regs(g, &g->regs);

	if (r || !gdb_number(&s, &n) || *s++ != '=')
		return gdb_refuse(g, r ? r : EINVAL);
	bytes = gdb_from_hex(value, sizeof(value), s);
	if (bytes < 0 || !gdbregs_set(&g->regs, (size_t)n, value, (size_t)bytes))
		return gdb_refuse(g, EINVAL);
	r = gdb_set_regs(g, &g->regs);
	return r ? gdb_refuse(g, r) : gdb_accept(g);
}

int gdb_get_memory(struct gdb *g, const char *s)
{
	uint64_t addr, n;
	char *data;
	long got;

	if (!gdb_range(s, &addr, &n) || n > GDB_PACKET_MAX / 2)
		return gdb_refuse(g, EINVAL);
	data = malloc(n + 1);
	got = data ? gdb_read(g, addr, data, (size_t)n) : -ENOMEM;
	buf_reset(&g->reply);
	if (got >= 0)
		gdb_add_hex(&g->reply, data, (size_t)got);
	free(data);
	return got < 0 ? gdb_refuse(g, (int)got) : gdb_send_reply(g);
}

/* "ADDR,BYTES:" of both forms of a write; what follows into *s. */
static bool write_head(const char **s, uint64_t *addr, uint64_t *n)
{
	return gdb_number(s, addr) && *(*s)++ == ',' && gdb_number(s, n) && *(*s)++ == ':';
}

int gdb_set_memory(struct gdb *g, const char *s)
{
	uint64_t addr, n;
	char *data;
	int r;

	if (!write_head(&s, &addr, &n) || n > GDB_PACKET_MAX / 2)
		return gdb_refuse(g, EINVAL);
	data = malloc(n + 1);
	r = !data ? -ENOMEM : gdb_from_hex(data, (size_t)n, s) != (long)n ? -EINVAL : 0;
	if (!r && n)
		r = gdb_write(g, addr, data, (size_t)n);
	free(data);
	return r ? gdb_refuse(g, r) : gdb_accept(g);
}

int gdb_set_memory_raw(struct gdb *g, const char *s)
{
	uint64_t addr, n;
	int r = 0;

	if (!write_head(&s, &addr, &n) ||
	    n > (size_t)(g->conn.packet.data + g->conn.packet.len - s))
		return gdb_refuse(g, EINVAL);
	if (n)
		r = gdb_write(g, addr, s, (size_t)n);
	return r ? gdb_refuse(g, r) : gdb_accept(g);
}
