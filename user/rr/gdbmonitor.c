/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rr/gdb_state.h"

static void when(struct gdb *g, struct buf *out, const char *arg)
{
	(void)arg;
	buf_addf(out, "event %llu, thread %u of process %u\n", (unsigned long long)g->event,
		 g->tid_stop, g->pid);
}

static void checkpoint(struct gdb *g, struct buf *out, const char *arg)
{
	const int n = gdb_mark_here(g);

	(void)arg;
	if (n < 0)
		buf_adds(out, "there is no memory for a checkpoint\n");
	else
		buf_addf(out, "checkpoint %d at event %llu\n", n, (unsigned long long)g->event);
}

static void list(struct gdb *g, struct buf *out, const char *arg)
{
	(void)arg;
	if (!g->nmarks)
		buf_adds(out, "no checkpoints\n");
	for (size_t i = 0; i < g->nmarks; i++)
		buf_addf(out, "%u\tevent %llu\n", g->mark[i].number,
			 (unsigned long long)g->mark[i].pos.event);
}

static void forget(struct gdb *g, struct buf *out, const char *arg)
{
	if (!gdb_mark_delete(g, strtoull(arg, NULL, 10)))
		buf_addf(out, "there is no checkpoint %s\n", arg);
}

static void help(struct gdb *g, struct buf *out, const char *arg)
{
	(void)g;
	(void)arg;
	buf_adds(out, "when                 the event that is replayed\n"
		 "checkpoint           remember this point; 'restart N' goes back to it\n"
		 "checkpoints          list them\n"
		 "delete checkpoint N  forget one\n"
		 "'run N' goes to event N, 'run' to the beginning.\n");
}

static const struct {
	const char *name;
	void (*run)(struct gdb *g, struct buf *out, const char *arg);
} commands[] = {
	{ "when", when }, { "checkpoints", list }, { "checkpoint", checkpoint },
	{ "delete checkpoint ", forget }, { "help", help },
};

int gdb_monitor(struct gdb *g, const char *line)
{
	struct buf text = BUF_INIT;

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		const size_t n = strlen(commands[i].name);

		if (strncmp(line, commands[i].name, n))
			continue;
		commands[i].run(g, &text, line + n);
		buf_reset(&g->reply);
		gdb_add_hex(&g->reply, text.data, text.len);
		buf_release(&text);
		return g->reply.len ? gdb_send_reply(g) : gdb_accept(g);
	}
	buf_adds(&text, "no such command; 'monitor help' lists them\n");
	buf_reset(&g->reply);
	gdb_add_hex(&g->reply, text.data, text.len);
	buf_release(&text);
	return gdb_send_reply(g);
}
