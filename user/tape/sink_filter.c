/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: one command for all holes. What it is to read, what it wrote and what waits for it
 * are three queues that go to files when they grow, so that no side ever waits for another
 * that waits for it: its output is read whenever there is some, its input is written when it
 * reads, and input is taken while there is room for more. Lines beyond the holes fill later
 * ones; of those that none is left for, the end is counted, not kept.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tape/child.h"
#include "tape/csvquote.h"
#include "tape/sink.h"
#include "tape/spill.h"

#define MEMORY_BYTES ((size_t)2 << 20)		/* of each queue */
#define HOLES_BYTES ((uint64_t)512 << 10)	/* for the command: no more input past it */
#define WAITING_BYTES ((uint64_t)1 << 20)	/* of text for answers: no haste past it */
#define EARLY_BYTES ((uint64_t)64 << 20)	/* of lines without a hole: the same */
#define ANSWER_BYTES ((size_t)64 << 10)
#define PIPE_BYTES (256 << 10)

struct filter {
	struct child child;
	struct tape_joiner *joiner;
	struct spill holes;	/* lines for the command */
	bool deaf;		/* it reads no more */
	bool mute;		/* it writes no more */
	uint64_t late_bytes;	/* without a hole, after the input's end */
	unsigned int nbatch;
	char batch[16384];	/* lines on their way to .holes */
	char answer[ANSWER_BYTES];
};

static int out_write(void *arg, const char *data, size_t n)
{
	return tape_out_add(arg, data, n);
}

static int filter_begin(struct tape_runner *run)
{
	struct filter *f = calloc(1, sizeof(*f));
	int r;

	run->state = f;
	if (!f)
		return err_sys(run->err, ENOMEM, "cannot begin");
	spill_init(&f->holes, MEMORY_BYTES);
	f->child.in = f->child.out = -1;
	f->joiner = tape_joiner_new(out_write, &run->out, run->job->end, MEMORY_BYTES);
	if (!f->joiner)
		return err_sys(run->err, ENOMEM, "cannot begin");
	r = child_start(&f->child, run->job->command, true, run->err);
	if (r)
		return r;
	run->result->stats.commands++;
	(void)fcntl(f->child.in, F_SETPIPE_SZ, PIPE_BYTES);
	(void)fcntl(f->child.out, F_SETPIPE_SZ, PIPE_BYTES);
	return 0;
}

static int queue_failed(struct tape_runner *run, int code)
{
	/* The output says itself what failed, and so does a pattern. */
	if (run->out.failed || run->err->msg[0])
		return code;
	return err_sys(run->err, -code, "cannot keep what waits for '%s' in a temporary file",
		       run->job->command[0]);
}

static int flush_batch(struct filter *f)
{
	int r = f->nbatch ? spill_add(&f->holes, f->batch, f->nbatch) : 0;

	f->nbatch = 0;
	return r;
}

static int add_bytes(struct filter *f, const char *p, size_t n)
{
	int r;

	if (sizeof(f->batch) - f->nbatch < n) {
		r = flush_batch(f);
		if (r)
			return r;
	}
	if (n > sizeof(f->batch))
		return spill_add(&f->holes, p, n);
	memcpy(f->batch + f->nbatch, p, n);
	f->nbatch += (unsigned int)n;
	return 0;
}

static int value_write(void *arg, const char *p, size_t n)
{
	return add_bytes(arg, p, n);
}

static int add_hole(struct tape_runner *run, const char *p, size_t n, enum tape_kind kind)
{
	struct filter *f = run->state;
	int r = tape_joiner_hole(f->joiner, kind);

	if (r || f->deaf)
		return r;
	if (n < sizeof(f->batch) - f->nbatch && kind != TAPE_QUOTED) {
		memcpy(f->batch + f->nbatch, p, n);
		f->nbatch += (unsigned int)n;
		f->batch[f->nbatch++] = run->job->end;
		return 0;
	}
	r = kind == TAPE_QUOTED ? csvquote_value(value_write, f, p, n) : add_bytes(f, p, n);
	return r ? r : add_bytes(f, &run->job->end, 1);
}

static int add_kept(struct tape_runner *run, const char *p, size_t n)
{
	const struct filter *f = run->state;

	if (!tape_joiner_open(f->joiner))
		return tape_out_slice(&run->out, p, n);
	return tape_joiner_keep(f->joiner, p, n);
}

static int ran_short(struct tape_runner *run, struct filter *f)
{
	const char *name = run->job->command[0];
	const uint64_t open = tape_joiner_open(f->joiner);
	int r;

	child_close_in(&f->child);
	child_close_out(&f->child);
	run->result->status = child_wait(&f->child);
	r = err_set(run->err, ENODATA, "the output of '%s' ran short: %s%llu hole%s "
		    "had no line left",
		    name, run->input_ended ? "" : "at least ", (unsigned long long)open,
		    open == 1 ? "" : "s");
	if (WIFSIGNALED(run->result->status))
		err_hint(run->err, "it was ended by signal %d (%s)", WTERMSIG(run->result->status),
			 strsignal(WTERMSIG(run->result->status)));
	else
		err_hint(run->err, "a command is to print a line for each line that it reads; "
			 "-s runs one for each hole");
	return r;
}

static int filter_record(struct tape_runner *run, const char *rec, size_t bytes)
{
	struct filter *f = run->state;
	size_t at = 0;
	int r = sink_walk(run, rec, &at, add_kept, add_hole);

	if (!r && at < bytes)
		r = add_kept(run, rec + at, bytes - at);
	r = r ? r : tape_joiner_settle(f->joiner);
	if (r)
		return queue_failed(run, r);
	return f->mute && tape_joiner_open(f->joiner) ? ran_short(run, f) : 0;
}

static bool early(const struct filter *f)
{
	return !tape_joiner_open(f->joiner) &&
	       tape_joiner_surplus_bytes(f->joiner) >= EARLY_BYTES;
}

/* Whether the command has left something in its pipe. */
static bool unread(int fd)
{
	int n = 0;

	return !ioctl(fd, FIONREAD, &n) && n > 0;
}

static bool filter_ready(struct tape_runner *run)
{
	const struct filter *f = run->state;

	run->nap = false;
	if (early(f))
		return true;
	if (spill_bytes(&f->holes) >= HOLES_BYTES)
		return false;
	if (tape_joiner_waiting_bytes(f->joiner) < WAITING_BYTES || f->child.in < 0)
		return true;
	/* Text piles up: is the command slow, or does it read all before it prints? */
	run->nap = spill_bytes(&f->holes) || unread(f->child.in);
	return !run->nap;
}

/* Writes as much as the command takes. */
static int feed(struct tape_runner *run, struct filter *f)
{
	int r = flush_batch(f);

	while (!r && f->child.in >= 0) {
		const char *data;
		ptrdiff_t n = spill_peek(&f->holes, &data);
		ssize_t did;

		if (n < 0)
			return queue_failed(run, (int)n);
		if (!n) {
			if (run->input_ended)
				child_close_in(&f->child);
			return 0;
		}
		did = write(f->child.in, data, (size_t)n);
		if (did < 0 && errno == EAGAIN)
			return 0;
		if (did < 0 && errno == EINTR)
			continue;
		if (did < 0) {
			/* It wants no more; what it has said still counts. */
			f->deaf = true;
			child_close_in(&f->child);
			spill_release(&f->holes);
			spill_init(&f->holes, MEMORY_BYTES);
			return 0;
		}
		spill_take(&f->holes, (size_t)did);
		run->result->stats.batches++;
	}
	return r ? queue_failed(run, r) : 0;
}

static void count_surplus(struct tape_runner *run, struct filter *f, const char *data, size_t n)
{
	const char *p = data, *end = data + n;

	f->late_bytes += n;
	while (p < end && (p = memchr(p, run->job->end, (size_t)(end - p)))) {
		run->result->surplus++;
		p++;
	}
}

/* Reads what there is; 0 also when there is none as yet. */
static int listen_once(struct tape_runner *run, struct filter *f)
{
	const bool late = run->input_ended && !tape_joiner_open(f->joiner);
	ssize_t n = read(f->child.out, f->answer, sizeof(f->answer));
	int r;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n < 0)
		return err_sys(run->err, errno, "cannot read from '%s'", run->job->command[0]);
	if (late && n) {
		count_surplus(run, f, f->answer, (size_t)n);
		if (f->late_bytes < EARLY_BYTES)
			return 0;
		run->result->surplus_cut = true;
		n = 0;
	}
	r = tape_joiner_answer(f->joiner, f->answer, (size_t)n);
	if (r)
		return queue_failed(run, r);
	if (n)
		return 0;
	f->mute = true;
	child_close_out(&f->child);
	return tape_joiner_open(f->joiner) ? ran_short(run, f) : 0;
}

static int filter_end(struct tape_runner *run)
{
	return feed(run, run->state);
}

static bool filter_done(const struct tape_runner *run)
{
	const struct filter *f = run->state;

	return f->mute && !tape_joiner_open(f->joiner) && (f->deaf || f->child.in < 0);
}

static int filter_fds(struct tape_runner *run, struct pollfd *fd)
{
	struct filter *f = run->state;
	int n = 0;

	if (f->child.in >= 0 && (f->nbatch || spill_bytes(&f->holes)))
		fd[n++] = (struct pollfd){ .fd = f->child.in, .events = POLLOUT };
	if (f->child.out >= 0 && (run->input_ended || !early(f)))
		fd[n++] = (struct pollfd){ .fd = f->child.out, .events = POLLIN };
	return n;
}

static int filter_events(struct tape_runner *run, const struct pollfd *fd, int n)
{
	struct filter *f = run->state;
	int r = 0;

	for (int i = 0; !r && i < n; i++) {
		if (!fd[i].revents)
			continue;
		if (fd[i].fd == f->child.out)
			r = listen_once(run, f);
		else if (fd[i].fd == f->child.in)
			r = feed(run, f);
	}
	return r;
}

static void filter_release(struct tape_runner *run)
{
	struct filter *f = run->state;

	if (!f)
		return;
	child_close_in(&f->child);
	child_close_out(&f->child);
	if (f->child.pid > 0)
		run->result->status = child_wait(&f->child);
	if (f->joiner) {
		run->result->surplus += tape_joiner_drop(f->joiner);
		run->result->stats.spilled_bytes = f->holes.most_bytes +
						   tape_joiner_spilled_bytes(f->joiner);
	}
	tape_joiner_free(f->joiner);
	spill_release(&f->holes);
	free(f);
}

const struct sink sink_filter = {
	.begin = filter_begin, .record = filter_record, .ready = filter_ready,
	.end = filter_end, .done = filter_done, .fds = filter_fds, .events = filter_events,
	.release = filter_release,
};
