/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: one thread. Records are split and handed to the sink as far as there are whole
 * ones and the sink takes them; then what is written so far leaves, and only then is there a
 * wait: nothing stays behind while input blocks. Where nothing but the input can be waited
 * for, reading is the wait, and a batch costs a read and a write.
 */
#include <errno.h>
#include <poll.h>
#include <time.h>

#include "base/clock.h"
#include "tape/sink.h"

static int out_failed(struct tape_runner *run)
{
	const int code = run->out.failed;

	if (code && !run->err->msg[0])
		err_sys(run->err, -code, "cannot write the output");
	return code;
}

static int in_failed(struct tape_runner *run, int code)
{
	return err_sys(run->err, -code, "cannot read the input");
}

static bool record_is_decided(const struct tape_runner *run)
{
	return tape_splitter_decided(run->splitter, tape_splitter_line(run->splitter) + 1);
}

/* No more input comes to the window. */
static bool window_is_last(const struct tape_runner *run)
{
	return run->in.eof && (!run->numbers || number_source_drained(run));
}

static int split_failed_words(struct tape_runner *run, int code)
{
	return err_set(run->err, -code, "%s", tape_splitter_message(run->splitter));
}

/* Records that the window holds, as far as the sink takes them. */
static int process(struct tape_runner *run)
{
	struct tape_in *in = &run->in;
	ptrdiff_t bytes;
	int r;

	while (run->sink->ready(run)) {
		if (run->numbers && !record_is_decided(run))
			break;
		bytes = tape_splitter_record(run->splitter, in->data + in->at, in->end - in->at,
					     window_is_last(run));
		if (bytes < 0)
			return split_failed_words(run, (int)bytes);
		if (!bytes) {
			if (!run->numbers)
				break;
			/* Slices are of the window, which moves. */
			r = tape_out_settle(&run->out);
			r = r ? r : number_source_refill(run);
			if (r < 0)
				return r;
			if (!r)
				break;
			continue;
		}
		run->result->stats.records++;
		r = run->sink->record(run, in->data + in->at, (size_t)bytes);
		if (r)
			return r;
		in->at += (size_t)bytes;
	}
	if (!run->input_ended && window_is_last(run) && in->at == in->end) {
		run->input_ended = true;
		return run->sink->end(run);
	}
	return 0;
}

static int read_input(struct tape_runner *run)
{
	struct tape_in *in = &run->in;
	const size_t waiting = in->end - in->at;
	uint64_t start = clock_mono_ns();
	int r;

	if (run->numbers && waiting) {
		/* Undecided input waits with the numbers, not in the window. */
		char piece[65536];
		struct tape_in direct = *in;

		direct.data = piece;
		direct.at = direct.end = 0;
		direct.cap = sizeof(piece);
		r = tape_in_read(&direct);
		in->eof = direct.eof;
		in->gather = direct.gather;
		in->burst = direct.burst;
		in->burst_ns = direct.burst_ns;
		in->read_ns = direct.read_ns;
		if (r >= 0)
			return number_source_input(run, piece, direct.end);
		return in_failed(run, r);
	}
	r = tape_in_read(in);
	run->result->stats.blocked_in_ns += in->read_ns - start;
	if (r < 0)
		return in_failed(run, r);
	if (run->numbers) {
		const char *from = in->data + in->end;
		size_t n = in->end - in->at;

		from -= n;
		in->end = in->at;
		return number_source_input(run, from, n);
	}
	return 0;
}

static void pause_input(uint64_t ns)
{
	const struct timespec t = { .tv_nsec = (long)ns };

	nanosleep(&t, NULL);
}

static bool wants_input(struct tape_runner *run)
{
	if (run->in.eof)
		return false;
	return run->numbers ? number_source_wants_input(run) : run->sink->ready(run);
}

static void count_blocked(struct tape_runner *run, uint64_t ns, bool input_alone)
{
	struct tape_stats *st = &run->result->stats;

	if (input_alone)
		st->blocked_in_ns += ns;
	else
		st->blocked_command_ns += ns;
}

/* Waits for what is in @fd, of which the first is the input when @input. */
static int wait_events(struct tape_runner *run, struct pollfd *fd, int n, bool input,
		       uint64_t wait_ns)
{
	const uint64_t start = clock_mono_ns();
	const struct timespec t = { .tv_nsec = (long)(wait_ns ? wait_ns : SINK_NAP_NS) };
	const int first = input && wait_ns;
	int r;

	r = ppoll(fd + first, (nfds_t)(n - first),
		  wait_ns || (run->nap && !input) ? &t : NULL, NULL);
	if (first)
		fd[0].revents = 0;
	count_blocked(run, clock_mono_ns() - start, input && n == 1);
	if (r < 0 && errno != EINTR)
		return err_sys(run->err, errno, "cannot wait for input");
	if (r <= 0) {
		for (int i = 0; i < n; i++)
			fd[i].revents = 0;
	}
	return 0;
}

static int wait_and_read(struct tape_runner *run)
{
	struct pollfd fd[2 * SINK_FDS];
	const bool input = wants_input(run);
	const uint64_t wait_ns = input ? tape_in_wait_ns(&run->in, clock_mono_ns()) : 0;
	int n = 0, sink, numbers, r;

	if (input)
		fd[n++] = (struct pollfd){ .fd = run->in.fd, .events = POLLIN };
	numbers = run->numbers ? number_source_fds(run, fd + n) : 0;
	sink = run->sink->fds ? run->sink->fds(run, fd + n + numbers) : 0;
	n += numbers + sink;
	if (!n)
		return 0;
	if (input && n == 1) {
		if (wait_ns)
			pause_input(wait_ns);
		return read_input(run);
	}
	r = wait_events(run, fd, n, input, wait_ns);
	if (!r && numbers)
		r = number_source_events(run, fd + input, numbers);
	if (!r && sink)
		r = run->sink->events(run, fd + input + numbers, sink);
	if (!r && input && fd[0].revents)
		r = read_input(run);
	return r;
}

static int run_loop(struct tape_runner *run)
{
	struct tape_stats *st = &run->result->stats;
	uint64_t chunks = 0;
	int r;

	for (;;) {
		r = process(run);
		/* With a command, the sink counts what it hands over. */
		if (!run->job->command && st->chunks != chunks)
			st->batches++;
		chunks = st->chunks;
		if (!r)
			r = tape_out_settle(&run->out);
		if (r || (run->input_ended && run->sink->done(run)))
			break;
		r = tape_out_flush(&run->out);
		if (r)
			break;
		tape_batch_probe(&run->result->stats);
		r = wait_and_read(run);
		if (r)
			break;
	}
	/* What came before a failure is written all the same. */
	if (!run->out.failed)
		tape_out_flush(&run->out);
	return r && !run->out.failed ? r : out_failed(run);
}

int tape_run(struct tape_splitter *s, const struct tape_job *job, struct tape_result *result,
	     struct err *err)
{
	struct tape_runner run = { .splitter = s, .job = job, .result = result, .err = err };
	int r;

	*result = (struct tape_result){ .stats.version = TAPE_STATS_VERSION };
	run.sink = !job->command ? &sink_show : job->each ? &sink_each : &sink_filter;
	if (tape_in_init(&run.in, job->in, &result->stats) ||
	    tape_out_init(&run.out, job->out, &result->stats)) {
		tape_in_release(&run.in);
		return err_sys(err, ENOMEM, "cannot begin");
	}
	r = job->selector ? number_source_begin(&run) : 0;
	if (!r)
		r = run.sink->begin(&run);
	if (!r)
		r = run_loop(&run);
	run.sink->release(&run);
	number_source_release(&run);
	tape_in_release(&run.in);
	tape_out_release(&run.out);
	tape_batch_probe(&result->stats);
	return r;
}
