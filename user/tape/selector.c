/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: a command that tells the numbers of records, from a copy of the input. A record
 * goes on when a number at or past it was told, or when the command has ended. Until then it
 * waits in a queue that goes to a file when it grows.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tape/child.h"
#include "tape/sink.h"
#include "tape/spill.h"

#define MEMORY_BYTES ((size_t)2 << 20)
#define COPY_BYTES ((uint64_t)256 << 10)	/* not read by the command: no more input past it */

struct number_source {
	struct child child;
	struct spill held;	/* input that the window has not */
	struct spill copy;	/* for the command */
	bool ended;		/* the input has */
	/* A line of its output while it is read. */
	uint64_t number;
	bool digits, overflow, past;
	char text[64];
	size_t ntext;
};

int number_source_begin(struct tape_runner *run)
{
	struct number_source *src = calloc(1, sizeof(*src));
	int r;

	run->numbers = src;
	if (!src)
		return err_sys(run->err, ENOMEM, "cannot begin");
	src->child.in = src->child.out = -1;
	spill_init(&src->held, MEMORY_BYTES);
	spill_init(&src->copy, MEMORY_BYTES);
	r = child_start(&src->child, run->job->selector, true, run->err);
	if (!r)
		run->result->stats.commands++;
	return r;
}

static int queue_failed(struct tape_runner *run, int code)
{
	return err_sys(run->err, -code, "cannot keep input in a temporary file");
}

static int feed(struct tape_runner *run, struct number_source *src)
{
	while (src->child.in >= 0) {
		const char *data;
		ptrdiff_t n = spill_peek(&src->copy, &data);
		ssize_t did;

		if (n < 0)
			return queue_failed(run, (int)n);
		if (!n) {
			if (src->ended)
				child_close_in(&src->child);
			return 0;
		}
		did = write(src->child.in, data, (size_t)n);
		if (did < 0 && errno == EAGAIN)
			return 0;
		if (did < 0 && errno == EINTR)
			continue;
		if (did < 0) {
			child_close_in(&src->child);
			spill_release(&src->copy);
			spill_init(&src->copy, MEMORY_BYTES);
			return 0;
		}
		spill_take(&src->copy, (size_t)did);
	}
	return 0;
}

int number_source_input(struct tape_runner *run, const char *data, size_t n)
{
	struct number_source *src = run->numbers;
	int r = n ? spill_add(&src->held, data, n) : 0;

	if (!r && n && src->child.in >= 0)
		r = spill_add(&src->copy, data, n);
	if (r)
		return queue_failed(run, r);
	src->ended = run->in.eof;
	return feed(run, src);
}

int number_source_refill(struct tape_runner *run)
{
	const char *data;
	ptrdiff_t n = spill_peek(&run->numbers->held, &data);
	int r;

	if (n < 0)
		return queue_failed(run, (int)n);
	if (!n)
		return 0;
	n = n < 65536 ? n : 65536;
	r = tape_in_add(&run->in, data, (size_t)n);
	if (r)
		return err_sys(run->err, -r, "cannot hold a line");
	spill_take(&run->numbers->held, (size_t)n);
	return 1;
}

bool number_source_wants_input(struct tape_runner *run)
{
	return run->sink->ready(run) && spill_bytes(&run->numbers->copy) < COPY_BYTES;
}

bool number_source_drained(const struct tape_runner *run)
{
	return run->numbers->ended && !spill_bytes(&run->numbers->held);
}

static void bad_number(struct tape_runner *run)
{
	struct number_source *src = run->numbers;

	if (!run->result->bad_numbers++)
		memcpy(run->result->bad_number, src->text, sizeof(src->text));
}

static int number_ends(struct tape_runner *run)
{
	struct number_source *src = run->numbers;
	int r = 0;

	if (!src->digits || src->overflow) {
		/* An empty line is nothing said. */
		if (src->ntext)
			bad_number(run);
	} else {
		r = tape_splitter_number(run->splitter, src->number);
		if (r == -EINVAL && src->number) {
			bad_number(run);
			r = 0;
		}
		r = src->number ? r : 0;
	}
	src->digits = src->overflow = src->past = false;
	src->number = 0;
	src->ntext = 0;
	memset(src->text, 0, sizeof(src->text));
	return r ? err_sys(run->err, -r, "cannot keep the numbers") : 0;
}

/* Digits at a line's start are its number; what is behind them, as of grep -n, is not read. */
static int take(struct tape_runner *run, char c)
{
	struct number_source *src = run->numbers;

	if (c == run->job->number_end)
		return number_ends(run);
	if (src->ntext + 1 < sizeof(src->text))
		src->text[src->ntext++] = c;
	if (src->past)
		return 0;
	if (c < '0' || c > '9') {
		src->past = true;
		return 0;
	}
	src->digits = true;
	if (__builtin_mul_overflow(src->number, (uint64_t)10, &src->number) ||
	    __builtin_add_overflow(src->number, (uint64_t)(c - '0'), &src->number) ||
	    src->number == UINT64_MAX)
		src->overflow = true;
	return 0;
}

/* Its output has ended: so has it, but for what it does without input. */
static int must_have_succeeded(struct tape_runner *run)
{
	struct number_source *src = run->numbers;
	const char *name = run->job->selector[0];
	int status, r;

	child_close_in(&src->child);
	status = child_wait(&src->child);
	if (!status)
		return 0;
	if (WIFSIGNALED(status))
		r = err_set(run->err, ECHILD, "'%s' was ended by signal %d (%s)", name,
			    WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		r = err_set(run->err, ECHILD, "'%s' failed with status %d", name,
			    WEXITSTATUS(status));
	err_hint(run->err, "what it had not decided was not written");
	return r;
}

static int listen_once(struct tape_runner *run)
{
	struct number_source *src = run->numbers;
	char piece[16384];
	ssize_t n = read(src->child.out, piece, sizeof(piece));
	int r = 0;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n < 0)
		return err_sys(run->err, errno, "cannot read from '%s'", run->job->selector[0]);
	for (ssize_t i = 0; i < n && !r; i++)
		r = take(run, piece[i]);
	if (n || r)
		return r;
	r = number_ends(run);
	child_close_out(&src->child);
	if (!r && run->job->selector_must_succeed)
		r = must_have_succeeded(run);
	return r ? r : tape_splitter_number(run->splitter, UINT64_MAX);
}

int number_source_fds(struct tape_runner *run, struct pollfd *fd)
{
	struct number_source *src = run->numbers;
	int n = 0;

	if (src->child.in >= 0 && spill_bytes(&src->copy))
		fd[n++] = (struct pollfd){ .fd = src->child.in, .events = POLLOUT };
	if (src->child.out >= 0)
		fd[n++] = (struct pollfd){ .fd = src->child.out, .events = POLLIN };
	return n;
}

int number_source_events(struct tape_runner *run, const struct pollfd *fd, int n)
{
	struct number_source *src = run->numbers;
	int r = 0;

	for (int i = 0; !r && i < n; i++) {
		if (!fd[i].revents)
			continue;
		if (fd[i].fd == src->child.out)
			r = listen_once(run);
		else if (fd[i].fd == src->child.in)
			r = feed(run, src);
	}
	return r;
}

void number_source_release(struct tape_runner *run)
{
	struct number_source *src = run->numbers;

	if (!src)
		return;
	child_close_in(&src->child);
	child_close_out(&src->child);
	child_wait(&src->child);
	spill_release(&src->held);
	spill_release(&src->copy);
	free(src);
	run->numbers = NULL;
}
