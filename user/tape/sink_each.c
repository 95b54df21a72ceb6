/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: a command for each hole, in slots of a ring. Their output leaves in the order of
 * the holes: that of the first slot as it comes, that of the others when they are first.
 * Text between holes waits with the slot before it. A record is worked off where it lies: when
 * no slot is free, the commands are waited for right there.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "tape/child.h"
#include "tape/csvquote.h"
#include "tape/sink.h"

#define SLOTS_MAX 64
#define AHEAD_BYTES ((size_t)1 << 20)	/* of output that waits in a slot: no more is read */

struct slot {
	struct child child;
	enum tape_kind kind;
	bool ended;		/* its output has */
	bool line_end;		/* the last byte was one: taken off if it stays the last */
	struct buf input;	/* the hole, of which .input_at were written */
	size_t input_at;
	struct buf output, after;
};

struct each {
	unsigned int nslots, first, used, running;
	size_t after_bytes;	/* of text in slots */
	struct slot slot[SLOTS_MAX];
	char **argv;
	char answer[65536];
};

static struct slot *slot_at(struct each *e, unsigned int i)
{
	return &e->slot[(e->first + i) % e->nslots];
}

static int each_begin(struct tape_runner *run)
{
	struct each *e = calloc(1, sizeof(*e));
	const unsigned int jobs = run->job->parallel;
	size_t words = 0;

	run->state = e;
	while (run->job->command[words])
		words++;
	if (e)
		e->argv = calloc(words + 1, sizeof(*e->argv));
	if (!e || !e->argv)
		return err_sys(run->err, ENOMEM, "cannot begin");
	e->nslots = jobs == 1 ? 1 : jobs * 2 < SLOTS_MAX ? jobs * 2 : SLOTS_MAX;
	for (size_t i = 0; i < SLOTS_MAX; i++)
		e->slot[i].child.in = e->slot[i].child.out = -1;
	return 0;
}

static int out_write(void *arg, const char *data, size_t n)
{
	return tape_out_add(arg, data, n);
}

static int buf_write(void *arg, const char *data, size_t n)
{
	return buf_add(arg, data, n);
}

/* What leaves of a slot, but for a line end that may be its last. */
static int emit(struct tape_runner *run, struct slot *s, const char *data, size_t n)
{
	const char end = run->job->end;
	const bool ends = !run->job->chomp && n && data[n - 1] == end;
	int r = 0;

	if (!n)
		return 0;
	if (s->line_end)
		r = out_write(&run->out, &end, 1);
	s->line_end = ends;
	n -= ends;
	if (r || !n)
		return r;
	if (s->kind == TAPE_QUOTED)
		return csvquote_inside(out_write, &run->out, data, n);
	return out_write(&run->out, data, n);
}

static int emit_field(struct tape_runner *run, struct slot *s)
{
	size_t n = s->output.len;

	if (n && !run->job->chomp && s->output.data[n - 1] == run->job->end)
		n--;
	return csvquote_field(out_write, &run->out, s->output.data, n);
}

/* The first slot's output so far, and of all behind it that ended. */
static int retire(struct tape_runner *run, struct each *e)
{
	int r = 0;

	while (!r && e->used) {
		struct slot *s = slot_at(e, 0);

		if (s->kind != TAPE_BARE) {
			r = s->output.len ? emit(run, s, s->output.data, s->output.len) : 0;
			buf_reset(&s->output);
		}
		if (!s->ended)
			break;
		if (!r && s->kind == TAPE_BARE)
			r = emit_field(run, s);
		if (!r && s->after.len)
			r = out_write(&run->out, s->after.data, s->after.len);
		e->after_bytes -= s->after.len;
		buf_reset(&s->output);
		buf_reset(&s->after);
		buf_reset(&s->input);
		e->first = (e->first + 1) % e->nslots;
		e->used--;
	}
	return r;
}

static int write_input(struct slot *s)
{
	while (s->child.in >= 0 && s->input_at < s->input.len) {
		ssize_t n = write(s->child.in, s->input.data + s->input_at,
				  s->input.len - s->input_at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n < 0)
			break;
		s->input_at += (size_t)n;
	}
	child_close_in(&s->child);
	return 0;
}

static int read_output(struct tape_runner *run, struct each *e, struct slot *s)
{
	ssize_t n = read(s->child.out, e->answer, sizeof(e->answer));
	int status;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n < 0)
		return err_sys(run->err, errno, "cannot read from '%s'", e->argv[0]);
	if (n) {
		if (s == slot_at(e, 0) && s->kind != TAPE_BARE && !s->output.len)
			return emit(run, s, e->answer, (size_t)n);
		if (buf_add(&s->output, e->answer, (size_t)n))
			return err_sys(run->err, ENOMEM, "cannot keep a command's output");
		return 0;
	}
	child_close_in(&s->child);
	child_close_out(&s->child);
	status = child_wait(&s->child);
	if (status)
		run->result->status = status;
	s->ended = true;
	e->running--;
	return retire(run, e);
}

static int each_fds(struct tape_runner *run, struct pollfd *fd)
{
	struct each *e = run->state;
	int n = 0;

	for (unsigned int i = 0; i < e->used; i++) {
		struct slot *s = slot_at(e, i);

		if (s->child.in >= 0)
			fd[n++] = (struct pollfd){ .fd = s->child.in, .events = POLLOUT };
		if (s->child.out >= 0 && (!i || s->output.len < AHEAD_BYTES))
			fd[n++] = (struct pollfd){ .fd = s->child.out, .events = POLLIN };
	}
	return n;
}

static int each_events(struct tape_runner *run, const struct pollfd *fd, int n)
{
	struct each *e = run->state;
	int r = 0;

	for (int i = 0; !r && i < n; i++) {
		if (!fd[i].revents)
			continue;
		for (unsigned int k = 0; !r && k < e->nslots; k++) {
			struct slot *s = &e->slot[k];

			if (s->child.in == fd[i].fd)
				r = write_input(s);
			else if (s->child.out == fd[i].fd) {
				r = read_output(run, e, s);
				break;
			}
		}
	}
	return r;
}

/* Waits for the commands that run, and for nothing else. */
static int pump(struct tape_runner *run)
{
	struct pollfd fd[SINK_FDS];
	const uint64_t start = clock_mono_ns();
	int n = each_fds(run, fd), r = tape_out_flush(&run->out);

	if (r)
		return r;
	if (poll(fd, (nfds_t)n, -1) < 0)
		return errno == EINTR ? 0 : err_sys(run->err, errno, "cannot wait for commands");
	run->result->stats.blocked_command_ns += clock_mono_ns() - start;
	return each_events(run, fd, n);
}

/* @word with the hole in each place of the placeholder; NULL: no memory. */
static char *fill_word(const char *word, const char *placeholder, const struct buf *hole)
{
	const size_t n = strlen(placeholder);
	struct buf b = BUF_INIT;
	const char *at;

	while ((at = strstr(word, placeholder))) {
		buf_add(&b, word, (size_t)(at - word));
		buf_add(&b, hole->data ? hole->data : "", hole->len);
		word = at + n;
	}
	buf_adds(&b, word);
	if (b.failed) {
		buf_release(&b);
		return NULL;
	}
	return b.data;
}

static void free_words(struct each *e)
{
	for (size_t i = 0; e->argv[i]; i++) {
		free(e->argv[i]);
		e->argv[i] = NULL;
	}
}

static int fill_words(struct tape_runner *run, struct each *e, const struct buf *hole)
{
	if (hole->len && memchr(hole->data, 0, hole->len))
		return err_set(run->err, EINVAL, "line %llu: an argument cannot hold a NUL byte",
			       (unsigned long long)tape_splitter_line(run->splitter));
	for (size_t i = 0; run->job->command[i]; i++) {
		e->argv[i] = fill_word(run->job->command[i], run->job->placeholder, hole);
		if (!e->argv[i])
			return err_sys(run->err, ENOMEM, "cannot keep a command's words");
	}
	return 0;
}

static int start_slot(struct tape_runner *run, struct each *e, struct slot *s)
{
	const struct tape_job *job = run->job;
	int r;

	if (job->placeholder) {
		free_words(e);
		r = fill_words(run, e, &s->input);
		r = r ? r : child_start(&s->child, e->argv, false, run->err);
	} else {
		if (!job->chomp)
			buf_addc(&s->input, job->end);
		r = s->input.failed ? err_sys(run->err, ENOMEM, "cannot keep a hole") :
		    child_start(&s->child, job->command, true, run->err);
	}
	if (r)
		return r;
	run->result->stats.commands++;
	run->result->stats.batches++;
	e->running++;
	return write_input(s);
}

static int add_hole(struct tape_runner *run, const char *p, size_t n, enum tape_kind kind)
{
	struct each *e = run->state;
	struct slot *s;
	int r;

	while (e->used == e->nslots || e->running == run->job->parallel) {
		r = pump(run);
		if (r)
			return r;
	}
	s = slot_at(e, e->used);
	s->kind = kind;
	s->ended = s->line_end = false;
	s->input_at = 0;
	r = kind == TAPE_QUOTED ? csvquote_value(buf_write, &s->input, p, n) :
	    buf_add(&s->input, p, n);
	if (r)
		return err_sys(run->err, ENOMEM, "cannot keep a hole");
	e->used++;
	return start_slot(run, e, s);
}

static int add_kept(struct tape_runner *run, const char *p, size_t n)
{
	struct each *e = run->state;

	if (!e->used)
		return tape_out_add(&run->out, p, n);
	e->after_bytes += n;
	if (buf_add(&slot_at(e, e->used - 1)->after, p, n))
		return err_sys(run->err, ENOMEM, "cannot keep text");
	return 0;
}

static int each_record(struct tape_runner *run, const char *rec, size_t bytes)
{
	size_t at = 0;
	int r = sink_walk(run, rec, &at, add_kept, add_hole);

	return r || at == bytes ? r : add_kept(run, rec + at, bytes - at);
}

static bool each_ready(struct tape_runner *run)
{
	const struct each *e = run->state;

	return e->after_bytes < AHEAD_BYTES &&
	       (e->used < e->nslots && e->running < run->job->parallel);
}

static int each_end(struct tape_runner *run)
{
	(void)run;
	return 0;
}

static bool each_done(const struct tape_runner *run)
{
	return !((const struct each *)run->state)->used;
}

static void each_release(struct tape_runner *run)
{
	struct each *e = run->state;

	if (!e)
		return;
	for (unsigned int i = 0; i < SLOTS_MAX; i++) {
		struct slot *s = &e->slot[i];

		child_close_in(&s->child);
		child_close_out(&s->child);
		child_wait(&s->child);
		buf_release(&s->input);
		buf_release(&s->output);
		buf_release(&s->after);
	}
	if (e->argv)
		free_words(e);
	free(e->argv);
	free(e);
}

const struct sink sink_each = {
	.begin = each_begin, .record = each_record, .ready = each_ready, .end = each_end,
	.done = each_done, .fds = each_fds, .events = each_events, .release = each_release,
};
