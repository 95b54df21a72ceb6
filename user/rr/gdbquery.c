/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rr/gdb_state.h"

#define AUXV_MAX 64		/* entries */
#define WORDS_MAX 65536		/* of arguments and environment before them */

/* ---- qXfer ---------------------------------------------------------------------- */

static int add_features(struct gdb *g, struct buf *out)
{
	(void)g;
	gdbregs_describe(out);
	return 0;
}

/* The auxiliary vector is behind the arguments and the environment, on the first stack. */
int gdb_add_auxv(struct gdb *g, struct buf *out)
{
	const struct rthread *t = gdb_thread_find(g, 0);
	uint64_t at, word[2];

	if (!t)
		return -ESRCH;
	at = t->space->args;
	if (gdb_read(g, at, word, 8) != 8)
		return -EFAULT;
	at += 8 * (word[0] + 2);
	for (int i = 0; i < WORDS_MAX; i++, at += 8)
		if (gdb_read(g, at, word, 8) != 8 || !word[0])
			break;
	at += 8;
	for (int i = 0; i < AUXV_MAX; i++, at += 16) {
		if (gdb_read(g, at, word, 16) != 16)
			return -EFAULT;
		buf_add(out, word, sizeof(word));
		if (word[0] == AT_NULL)
			break;
	}
	return 0;
}

static int add_exec_file(struct gdb *g, struct buf *out)
{
	return buf_adds(out, gdb_program(g));
}

static int add_threads(struct gdb *g, struct buf *out)
{
	buf_adds(out, "<threads>");
	for (size_t i = 0; i < g->p->all.n; i++) {
		const struct rthread *t = g->p->all.at[i];
		const struct user_regs_struct *r;

		if (g->ended || t->pid != g->pid)
			continue;
		r = t->space->in == t ? &t->space->t.regs : &t->regs;
		buf_adds(out, "<thread id=\"");
		gdb_add_thread(g, out, t->tid);
		buf_addf(out, "\" core=\"0\">%s%s</thread>", t->tid == g->tid_stop ? "runs" :
			 t->at_call ? "in " : "may run",
			 t->tid != g->tid_stop && t->at_call ? replay_call_name(r->orig_rax) : "");
	}
	return buf_adds(out, "</threads>");
}

static const struct {
	const char *name;
	int (*add)(struct gdb *g, struct buf *out);
} objects[] = {
	{ "features:read:target.xml:", add_features }, { "auxv:read::", gdb_add_auxv },
	{ "exec-file:read:", add_exec_file }, { "threads:read::", add_threads },
};

static int on_xfer(struct gdb *g, const char *s)
{
	struct buf all = BUF_INIT;
	uint64_t offset, bytes;
	const char *range = strrchr(s, ':');
	int r = -EINVAL;

	for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++) {
		if (strncmp(s, objects[i].name, strlen(objects[i].name)))
			continue;
		if (range && gdb_range(range + 1, &offset, &bytes))
			r = objects[i].add(g, &all);
		buf_reset(&g->reply);
		if (!r)
			gdb_add_part(&g->reply, all.data, all.len, offset, bytes);
		buf_release(&all);
		return r ? gdb_send(g, "E%02x", (unsigned int)-r & 0xff) : gdb_send_reply(g);
	}
	return gdb_unknown(g);
}

/* ---- others -------------------------------------------------------------------- */

static int on_supported(struct gdb *g, const char *s)
{
	g->multiprocess = strstr(s, "multiprocess+");
	g->exec_events = strstr(s, "exec-events+");
	return gdb_send(g, "PacketSize=%zx;QStartNoAckMode+;multiprocess+;exec-events+;"
			"vContSupported+;swbreak+;hwbreak+;ReverseStep+;ReverseContinue+;"
			"QPassSignals+;qXfer:features:read+;qXfer:auxv:read+;"
			"qXfer:exec-file:read+;qXfer:threads:read+", GDB_PACKET_MAX);
}

static int on_no_ack(struct gdb *g, const char *s)
{
	const int r = gdb_send(g, "OK");

	(void)s;
	g->conn.no_ack = true;
	return r;
}

static int on_pass(struct gdb *g, const char *s)
{
	uint64_t n;

	g->pass = 0;
	while (gdb_number(&s, &n)) {
		const int sig = gdb_signal_of((unsigned int)n);

		if (sig)
			g->pass |= 1ull << (sig - 1);
		s += *s == ';';
	}
	return gdb_send(g, "OK");
}

static int on_current(struct gdb *g, const char *s)
{
	(void)s;
	buf_reset(&g->reply);
	buf_adds(&g->reply, "QC");
	gdb_add_thread(g, &g->reply, g->tid_stop);
	return gdb_send_reply(g);
}

static int on_first_threads(struct gdb *g, const char *s)
{
	char sep = 'm';

	(void)s;
	buf_reset(&g->reply);
	for (size_t i = 0; i < g->p->all.n; i++) {
		if (g->ended || g->p->all.at[i]->pid != g->pid)
			continue;
		buf_addc(&g->reply, sep);
		gdb_add_thread(g, &g->reply, g->p->all.at[i]->tid);
		sep = ',';
	}
	return g->reply.len ? gdb_send_reply(g) : gdb_send(g, "l");
}

static int on_more_threads(struct gdb *g, const char *s)
{
	(void)s;
	return gdb_send(g, "l");
}

/* Started by us: GDB ends it when it goes, and may have it run again. */
static int on_attached(struct gdb *g, const char *s)
{
	(void)s;
	return gdb_send(g, "0");
}

static int on_fine(struct gdb *g, const char *s)
{
	(void)s;
	return gdb_send(g, "OK");
}

static int on_command(struct gdb *g, const char *s)
{
	char line[512];
	const long n = gdb_from_hex(line, sizeof(line) - 1, s);

	if (n < 0)
		return gdb_send(g, "E%02x", EINVAL);
	line[n] = '\0';
	return gdb_monitor(g, line);
}

static const struct {
	const char *name;
	int (*run)(struct gdb *g, const char *s);
} queries[] = {
	{ "qSupported", on_supported }, { "QStartNoAckMode", on_no_ack },
	{ "QPassSignals:", on_pass }, { "qXfer:", on_xfer }, { "qRcmd,", on_command },
	{ "qfThreadInfo", on_first_threads }, { "qsThreadInfo", on_more_threads },
	{ "qAttached", on_attached }, { "qSymbol:", on_fine }, { "QProgramSignals:", on_fine },
	{ "qC", on_current },
};

int gdb_query(struct gdb *g, const char *s)
{
	for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
		const size_t n = strlen(queries[i].name);

		if (!strncmp(s, queries[i].name, n))
			return queries[i].run(g, s + n);
	}
	return gdb_unknown(g);
}
