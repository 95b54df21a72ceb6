/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "rr/gdb_state.h"

/* What a packet's function gives, besides -errno with words: GDB's next packet, or a run. */
#define NEXT 1
#define RUN 0

int gdb_send(struct gdb *g, const char *fmt, ...)
{
	struct buf b = BUF_INIT;
	va_list ap;
	int r;

	va_start(ap, fmt);
	buf_vaddf(&b, fmt, ap);
	va_end(ap);
	r = b.failed ? err_sys(g->err, ENOMEM, "cannot serve gdb") :
	    gdbconn_write(&g->conn, b.data ? b.data : "", b.len, g->err);
	buf_release(&b);
	return r ? r : NEXT;
}

int gdb_unknown(struct gdb *g)
{
	const int r = gdbconn_write(&g->conn, "", 0, g->err);

	return r ? r : NEXT;
}

int gdb_tell(struct gdb *g, const char *fmt, ...)
{
	struct buf b = BUF_INIT;
	char text[400];
	va_list ap;
	int r;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	buf_addc(&b, 'O');
	gdb_add_hex(&b, text, strlen(text));
	r = gdbconn_write(&g->conn, b.data, b.len, g->err);
	buf_release(&b);
	return r;
}

int gdb_send_reply(struct gdb *g)
{
	const int r = g->reply.failed ? err_sys(g->err, ENOMEM, "cannot serve gdb") :
		      gdbconn_write(&g->conn, g->reply.data ? g->reply.data : "", g->reply.len,
				    g->err);

	return r ? r : NEXT;
}

void gdb_add_thread(const struct gdb *g, struct buf *out, uint32_t tid)
{
	if (g->multiprocess)
		buf_addf(out, "p%x.%x", g->pid, tid);
	else
		buf_addf(out, "%x", tid);
}

struct rthread *gdb_thread_find(const struct gdb *g, uint32_t tid)
{
	struct rthread *any = NULL;

	tid = tid ? tid : g->tid_stop;
	for (size_t i = 0; i < g->p->all.n; i++) {
		struct rthread *t = g->p->all.at[i];

		if (t->pid != g->pid)
			continue;
		if (t->tid == tid)
			return t;
		any = any ? any : t;
	}
	return tid == g->tid_stop ? any : NULL;
}

/* ---- stops -------------------------------------------------------------------- */

static void add_program(struct gdb *g, struct buf *out)
{
	const char *path = gdb_program(g);

	gdb_add_hex(out, path, strlen(path));
}

static int send_stop(struct gdb *g)
{
	const struct gdb_stop *s = &g->stop;
	struct buf *b = &g->reply;

	buf_reset(b);
	if (s->reason == GDB_EXITED) {
		buf_addf(b, WIFSIGNALED(s->status) ? "X%02x" : "W%02x", WIFSIGNALED(s->status) ?
			 gdb_signal(WTERMSIG(s->status)) : (unsigned int)WEXITSTATUS(s->status));
		if (g->multiprocess)
			buf_addf(b, ";process:%x", g->pid);
		return gdb_send_reply(g);
	}
	buf_addf(b, "T%02xthread:", gdb_signal(s->reason == GDB_AT_SIGNAL ? s->sig : SIGTRAP));
	gdb_add_thread(g, b, gdb_is_away(g) ? g->away_tid : g->tid_stop);
	buf_addc(b, ';');
	switch (s->reason) {
	case GDB_AT_BREAK: buf_adds(b, "swbreak:;"); break;
	case GDB_AT_WATCH:
		buf_addf(b, "%swatch:%llx;", s->type == '2' ? "" : s->type == '3' ? "r" : "a",
			 (unsigned long long)s->addr);
		break;
	case GDB_AT_BEGIN: buf_adds(b, "replaylog:begin;"); break;
	case GDB_AT_END: buf_adds(b, "replaylog:end;"); break;
	case GDB_EXEC:
		buf_adds(b, "exec:");
		add_program(g, b);
		buf_addc(b, ';');
		break;
	default: break;
	}
	return gdb_send_reply(g);
}

/* ---- packets -------------------------------------------------------------------- */

int gdb_accept(struct gdb *g)
{
	return gdb_send(g, "OK");
}

int gdb_refuse(struct gdb *g, int code)
{
	return gdb_send(g, "E%02x", (unsigned int)(code < 0 ? -code : code) & 0xff);
}

static int on_stop_asked(struct gdb *g, const char *s)
{
	(void)s;
	return send_stop(g);
}

static int on_thread(struct gdb *g, const char *s)
{
	const char which = *s++;
	struct gdb_thread id;
	uint32_t tid;

	if ((which != 'g' && which != 'c') || !gdb_thread_id(&s, &id))
		return gdb_refuse(g, EINVAL);
	tid = id.tid > 0 ? (uint32_t)id.tid : g->tid_stop;
	if (!g->ended && !gdb_thread_find(g, tid))
		return gdb_refuse(g, ESRCH);
	*(which == 'g' ? &g->tid_g : &g->tid_c) = tid;
	return gdb_accept(g);
}

static int on_alive(struct gdb *g, const char *s)
{
	struct gdb_thread id;

	if (!gdb_thread_id(&s, &id) || id.tid <= 0 || !gdb_thread_find(g, (uint32_t)id.tid))
		return gdb_refuse(g, ESRCH);
	return gdb_accept(g);
}

static int on_point_set(struct gdb *g, const char *s)
{
	struct gdb_point_id id;
	int r;

	if (!gdb_point_id(s, &id))
		return gdb_refuse(g, EINVAL);
	/* Only what changes is seen. */
	if (id.type > '2')
		return gdb_unknown(g);
	r = gdb_point_set(g, &id);
	return r ? gdb_refuse(g, r) : gdb_accept(g);
}

static int on_point_clear(struct gdb *g, const char *s)
{
	struct gdb_point_id id;

	if (!gdb_point_id(s, &id))
		return gdb_refuse(g, EINVAL);
	gdb_point_clear(g, &id);
	return gdb_accept(g);
}

/* The thread that GDB has step, or what it does not say. */
static int resume(struct gdb *g, const struct gdb_action *a)
{
	int r;

	/* gdb's run goes on as soon as there is a process; what it is asked for here is a place. */
	if (g->after_run) {
		g->after_run = false;
		g->stop = (struct gdb_stop){ .reason = GDB_AT_SIGNAL };
		return send_stop(g);
	}
	g->want = *a;
	if (a->thread.tid > 0)
		g->tid_c = (uint32_t)a->thread.tid;
	if (a->kind == 'c')
		gdb_points_drop(g);
	r = gdb_away_run(g);
	if (r)
		return r < 0 ? r : send_stop(g);
	g->owes = true;
	g->step_pending = g->stepped = false;
	return RUN;
}

static int on_vcont(struct gdb *g, const char *s)
{
	struct gdb_action a;

	if (*s == '?')
		return gdb_send(g, "vCont;c;C;s;S;r");
	if (!gdb_vcont(s, &a) || a.kind == 't')
		return gdb_refuse(g, EINVAL);
	return resume(g, &a);
}

static int on_continue(struct gdb *g, const char *s)
{
	(void)s;
	return resume(g, &(struct gdb_action){ .kind = 'c' });
}

static int on_step(struct gdb *g, const char *s)
{
	(void)s;
	return resume(g, &(struct gdb_action){ .kind = 's' });
}

static int on_back(struct gdb *g, const char *s)
{
	const struct gdb_stop stop = { .reason = GDB_TRAP };

	gdb_away_end(g);
	g->owes = true;
	gdb_points_drop(g);
	if (*s == 's')
		return gdb_back_step(g, g->tid_c, &stop);
	if (*s == 'c')
		return gdb_back_continue(g);
	return gdb_unknown(g);
}

static int quit(struct gdb *g)
{
	g->quit = true;
	return -ECANCELED;
}

static int on_kill(struct gdb *g, const char *s)
{
	(void)s;
	return quit(g);
}

static int on_detach(struct gdb *g, const char *s)
{
	const int r = gdb_accept(g);

	(void)s;
	return r < 0 ? r : quit(g);
}

/* The process has gone, for GDB; the connection stays, for a run. */
static int on_vkill(struct gdb *g, const char *s)
{
	(void)s;
	g->ended = true;
	return gdb_accept(g);
}

/* "FILE;ARG;...", in hex: the first argument is an event, or c and a checkpoint's number. */
static int on_vrun(struct gdb *g, const char *s)
{
	const struct gdb_stop stop = { .reason = GDB_TRAP };
	struct gdb_pos to = { .event = g->start };
	char arg[64] = "";
	const struct gdb_mark *m;
	long n = 0;

	s = strchr(s, ';');
	s = s ? strchr(s + 1, ';') : NULL;
	if (s)
		n = gdb_from_hex(arg, sizeof(arg) - 1, s + 1);
	if (n < 0)
		return gdb_refuse(g, EINVAL);
	arg[n] = '\0';
	gdb_away_end(g);
	if (*arg == 'c') {
		m = gdb_mark_find(g, strtoull(arg + 1, NULL, 10));
		if (!m)
			return gdb_refuse(g, ENOENT);
		to = m->pos;
	} else if (*arg && strtoull(arg, NULL, 10) > g->start) {
		to.event = strtoull(arg, NULL, 10);
	}
	g->owes = g->after_run = true;
	g->back_tid = 0;
	return gdb_seek(g, &to, &stop);
}

static int on_extended(struct gdb *g, const char *s)
{
	(void)s;
	return gdb_accept(g);
}

static int on_query(struct gdb *g, const char *s)
{
	return gdb_query(g, s);
}

/* The longest name first where one begins another. */
static const struct {
	const char *name;
	int (*run)(struct gdb *g, const char *s);
	bool process;		/* it has to be there */
} packets[] = {
	{ "vCont", on_vcont, true }, { "vKill", on_vkill, false }, { "vRun", on_vrun, false },
	{ "vFile:", gdb_file, false },
	{ "?", on_stop_asked, false }, { "!", on_extended, false }, { "q", on_query, false },
	{ "Q", on_query, false }, { "H", on_thread, false }, { "T", on_alive, true },
	{ "g", gdb_get_all, true }, { "G", gdb_set_all, true }, { "p", gdb_get, true },
	{ "P", gdb_set, true }, { "m", gdb_get_memory, true }, { "M", gdb_set_memory, true },
	{ "X", gdb_set_memory_raw, true }, { "Z", on_point_set, false },
	{ "z", on_point_clear, false }, { "c", on_continue, true }, { "s", on_step, true },
	{ "b", on_back, true }, { "k", on_kill, false }, { "D", on_detach, false },
};

static int on_packet(struct gdb *g, const char *s)
{
	for (size_t i = 0; i < sizeof(packets) / sizeof(packets[0]); i++) {
		const size_t n = strlen(packets[i].name);

		if (strncmp(s, packets[i].name, n))
			continue;
		if (packets[i].process && g->ended)
			return gdb_refuse(g, ESRCH);
		return packets[i].run(g, packets[i].name[0] == 'q' || packets[i].name[0] == 'Q' ?
				      s : s + n);
	}
	return gdb_unknown(g);
}

int gdb_serve(struct gdb *g, struct rthread *t, const struct gdb_stop *stop)
{
	int r = NEXT;

	t = t ? t : gdb_thread_find(g, 0);
	if (t)
		g->tid_stop = g->tid_g = g->tid_c = t->tid;
	g->stop = *stop;
	g->met = true;
	if (g->owes)
		r = send_stop(g);
	g->owes = false;
	g->conn.interrupt = false;
	g->step_pending = g->stepped = false;
	while (r == NEXT) {
		r = gdbconn_read(&g->conn, g->err);
		if (r <= 0)
			return r ? r : quit(g);
		r = on_packet(g, g->conn.packet.data);
	}
	return r;
}
