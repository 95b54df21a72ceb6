/* SPDX-License-Identifier: MIT */
#include "rr/gdb.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "rr/gdb_state.h"

static void release(struct gdb *g)
{
	gdb_away_drop(g);
	gdb_marks_release(g);
	gdb_images_release(g);
	gdb_files_release(g);
	gdb_pos_release(&g->here);
	gdb_pos_release(&g->goal);
	gdb_pos_release(&g->from);
	gdb_pos_release(&g->found);
	free(g->point);
	free(g->armed);
	free(g->armed_was);
	buf_release(&g->reply);
	if (g->mem_pid)
		close(g->mem);
	gdbconn_release(&g->conn);
	free(g);
}

/* What ended the replay: on GDB's console, which else hears of no more than a lost connection. */
static void say_why(struct gdb *g)
{
	if (g->owes)
		gdb_tell(g, g->err->hint[0] ? "tracer: %s\ntracer: %s\n" : "tracer: %s%s\n",
			 g->err->msg, g->err->hint);
}

int gdb_replay(const struct gdb_opts *opts, int fd, struct err *err)
{
	struct gdb *g = aligned_alloc(64, (sizeof(*g) + 63) / 64 * 64);
	struct replayer_opts how = { .dir = opts->dir, .output = opts->output };
	struct replayer_result res;
	int r;

	if (!g) {
		close(fd);
		return err_sys(err, ENOMEM, "cannot serve gdb");
	}
	*g = (struct gdb){ .opts = opts, .err = err, .pid = opts->pid, .away = { .pid = -1 },
			   .debug = { gdb_on_event, gdb_on_signal, gdb_on_end, gdb_rewind },
			   .hook = { gdb_run, gdb_on_call, gdb_on_place },
			   .want = { .kind = 'c' } };
	how.debug = &g->debug;
	r = gdbconn_init(&g->conn, fd, err);
	r = r ? r : replayer_run(&how, &res, err);
	if (r)
		say_why(g);
	else if (!g->begun)
		r = err_set(err, ESRCH, "the recording has no process %u", opts->pid);
	release(g);
	return r;
}
