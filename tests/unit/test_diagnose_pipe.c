/* SPDX-License-Identifier: MIT */
#include "diagnose_fixture.h"

/* An edge from thread @w to thread @r. */
static struct sum_pipe *add_pipe(struct summary *s, pid_t w, pid_t r, uint64_t chunks,
				 uint64_t size)
{
	struct sum_pipe *p;

	s->pipe = realloc(s->pipe, (s->npipe + 1) * sizeof(*s->pipe));
	assert_non_null(s->pipe);
	p = &s->pipe[s->npipe++];
	memset(p, 0, sizeof(*p));
	p->kind = SUM_PIPE;
	p->inode = 4000 + s->npipe;
	p->writer = FIX_ARRAY(1, struct sum_pipe_end);
	p->reader = FIX_ARRAY(1, struct sum_pipe_end);
	p->nwriter = p->nreader = 1;
	p->writer[0].tid = w;
	p->reader[0].tid = r;
	strcpy(p->writer[0].comm, "left");
	strcpy(p->reader[0].comm, "right");
	p->chunks_written = p->chunks_read = chunks;
	p->bytes = p->bytes_read = chunks * size;
	return p;
}

static void set_chunks(struct sum_pipe *p, uint64_t chunks)
{
	p->chunks_written = p->chunks_read = chunks;
}

/* --- tiny-chunks: 10,000 chunks under 512 bytes, 5 % of the CPU time --- */

static void tiny(struct summary *s)
{
	add_pipe(s, 11, 12, 10000, 511);
	/* 10,000 × 2 × 2.5 µs = 50 ms of one second */
	fix_call(s, "write", 10000, 2500);
	fix_call(s, "read", 10000, 2500);
}

static void fewer_chunks(struct summary *s)
{
	set_chunks(&s->pipe[0], 9999);
	s->syscall[0].cpu_ns *= 2;	/* the cost stays high enough */
}

static void larger_chunks(struct summary *s) { s->pipe[0].bytes = 512 * 10000; }
static void an_eventfd(struct summary *s) { s->pipe[0].kind = SUM_EVENTFD; }
static void cheaper_calls(struct summary *s) { s->syscall[0].cpu_ns -= 10000; }
static void more_cpu(struct summary *s) { s->sched.oncpu_ns += 1 * MS; }
static void wait_mode(struct summary *s) { s->mode = SUM_WAIT; }
static void no_pipes(struct summary *s) { s->collected &= ~(unsigned int)SUM_PIPES; }
static void losses(struct summary *s) { s->loss.total = s->loss.ring_full = 101; }
static void few_losses(struct summary *s) { s->loss.total = s->loss.ring_full = 100; }
static void stacks_lost(struct summary *s) { s->loss.total = s->loss.stacks = 100000; }

static void answered_in_turn(struct summary *s)
{
	struct sum_pipe *back = add_pipe(s, 12, 11, 10000, 1);

	back->reader[0].blocked = 5000;
	s->pipe[0].reader[0].blocked = 5000;
}

static void answered_without_sleep(struct summary *s)
{
	struct sum_pipe *back = add_pipe(s, 12, 11, 10000, 1);

	back->reader[0].blocked = 4999;
	s->pipe[0].reader[0].blocked = 5000;
}

static void only_read_side_traced(struct summary *s)
{
	s->pipe[0].nwriter = 0;
	s->pipe[0].chunks_written = s->pipe[0].bytes = 0;
	s->syscall[1].cpu_ns *= 2;
}

static void tiny_chunks(void **state)
{
	static const struct fix_knob knobs[] = {
		{ "9,999 chunks", fewer_chunks },
		{ "512 bytes a chunk", larger_chunks },
		{ "being an eventfd", an_eventfd },
		{ "a cost under 5 %", cheaper_calls },
		{ "more CPU time used", more_cpu },
		{ "wait mode", wait_mode },
		{ "pipes not collected", no_pipes },
		{ "1.01 % lost", losses },
		{ "being a ping-pong", answered_in_turn },
	};

	(void)state;
	FIX_BOTH_SIDES("tiny-chunks", tiny, knobs);
	fix_still("tiny-chunks", tiny, few_losses);
	fix_still("tiny-chunks", tiny, stacks_lost);
	fix_still("tiny-chunks", tiny, answered_without_sleep);
	fix_still("tiny-chunks", tiny, only_read_side_traced);
}

static void tiny_chunks_says_which_pipe_and_how_much(void **state)
{
	const struct sum_finding *f;
	struct summary s;

	(void)state;
	fix_quiet(&s);
	tiny(&s);
	f = fix_judge(&s, "tiny-chunks");
	assert_non_null(f);
	assert_string_equal(f->text, "pipe 4001 from left (11) to right (12) moves 4.87 MiB in "
			    "10,000 chunks of 511 B on average: the calls take about 50.0 ms, "
			    "5.0 % of the CPU time used");
	assert_true(f->severity > 0.0499 && f->severity < 0.0501);
	assert_true(fix_evidence(f, "chunks") == 10000);
	assert_true(fix_evidence(f, "mean_bytes") == 511);
	assert_non_null(f->advice);
	summary_release(&s);
}

/* --- futex-per-chunk: 5,000 chunks, 0.9 futex calls each, 2 % --- */

static void doubled_queue(struct summary *s)
{
	struct sum_pipe *p = add_pipe(s, 11, 12, 5000, 100000);

	p->futex_calls = 4500;
	p->futex_per_chunk = 0.9;
	fix_call(s, "futex", 4500, 4445);	/* 20.0 ms */
}

static void fewer_queue_chunks(struct summary *s) { set_chunks(&s->pipe[0], 4999); }
static void fewer_futexes(struct summary *s) { s->pipe[0].futex_per_chunk = 0.899; }
static void cheaper_futexes(struct summary *s) { s->syscall[0].cpu_ns = 199 * MS / 10; }
static void no_futex(struct summary *s) { s->collected &= ~(unsigned int)SUM_FUTEX; }

static void futex_per_chunk(void **state)
{
	static const struct fix_knob knobs[] = {
		{ "4,999 chunks", fewer_queue_chunks },
		{ "0.899 calls a chunk", fewer_futexes },
		{ "a cost under 2 %", cheaper_futexes },
		{ "futexes not collected", no_futex },
		{ "wait mode", wait_mode },
	};

	(void)state;
	FIX_BOTH_SIDES("futex-per-chunk", doubled_queue, knobs);
}

/* --- starved-reader and blocked-writer --- */

static void slow_writer(struct summary *s)
{
	struct sum_pipe *p = add_pipe(s, 11, 12, 50, 1311);	/* 65,550 bytes */

	p->reader[0].blocked_ns = 600 * MS;
	p->writer[0].blocked_ns = 100 * MS;
	fix_thread(s, 11, 700 * MS);
	fix_thread(s, 12, 100 * MS);
}

static void slow_reader(struct summary *s)
{
	struct sum_pipe *p = add_pipe(s, 11, 12, 50, 1311);

	p->writer[0].blocked_ns = 600 * MS;
	p->reader[0].blocked_ns = 100 * MS;
	fix_thread(s, 12, 700 * MS);
	fix_thread(s, 11, 100 * MS);
}

static void reader_waits_less(struct summary *s) { s->pipe[0].reader[0].blocked_ns -= MS; }
static void writer_waits_less(struct summary *s) { s->pipe[0].writer[0].blocked_ns -= MS; }
static void reader_waits_more(struct summary *s) { s->pipe[0].reader[0].blocked_ns += MS; }
static void writer_waits_more(struct summary *s) { s->pipe[0].writer[0].blocked_ns += MS; }
static void first_works_less(struct summary *s) { s->threads.by_thread[0].oncpu_ns -= MS; }
static void first_unknown(struct summary *s) { s->threads.by_thread[0].tid = 99; }
static void few_chunks(struct summary *s) { set_chunks(&s->pipe[0], 49); }
static void few_bytes(struct summary *s) { s->pipe[0].bytes = s->pipe[0].bytes_read = 65535; }
static void end_untraced(struct summary *s) { s->pipe[0].nwriter = 0; }
static void one_thread(struct summary *s) { s->pipe[0].reader[0].tid = 11; }

/* All shares as before, but over @ms. */
static void last(struct summary *s, uint64_t ms)
{
	struct sum_pipe *p = &s->pipe[0];
	size_t i;

	s->duration_ns = ms * MS;
	p->reader[0].blocked_ns = p->reader[0].blocked_ns * ms / 1000;
	p->writer[0].blocked_ns = p->writer[0].blocked_ns * ms / 1000;
	for (i = 0; i < 2; i++) {
		s->threads.by_thread[i].lifetime_ns = s->duration_ns;
		s->threads.by_thread[i].oncpu_ns =
			(s->threads.by_thread[i].oncpu_ns * ms + 999) / 1000;
	}
}

static void shorter(struct summary *s) { last(s, 333); }		/* 199.8 ms of waiting */
static void just_long_enough(struct summary *s) { last(s, 334); }	/* 200.4 ms */

/* Wanting to run is work, too: the stage is no less the bottleneck on a busy machine. */
static void first_waits_for_a_cpu(struct summary *s)
{
	s->threads.by_thread[0].oncpu_ns = 200 * MS;
	s->threads.by_thread[0].runnable_ns = 500 * MS;
}

/* Nor is the held-up stage less held up when it queues for a CPU after each chunk. */
static void second_waits_for_a_cpu(struct summary *s)
{
	s->pipe[0].reader[0].blocked_ns /= 2;
	s->pipe[0].writer[0].blocked_ns /= 2;
	s->threads.by_thread[1].runnable_ns = 500 * MS;
}

static void starved_reader(void **state)
{
	static const struct fix_knob knobs[] = {
		{ "59.9 % waiting", reader_waits_less },
		{ "a writer that waits 10.1 %", writer_waits_more },
		{ "a writer that works 69.9 %", first_works_less },
		{ "a writer that is not known", first_unknown },
		{ "49 chunks", few_chunks },
		{ "under a pipe of bytes", few_bytes },
		{ "no traced writer", end_untraced },
		{ "one thread at both ends", one_thread },
		{ "199.8 ms of waiting", shorter },
		{ "wait mode", wait_mode },
	};

	(void)state;
	FIX_BOTH_SIDES("starved-reader", slow_writer, knobs);
	fix_still("starved-reader", slow_writer, first_waits_for_a_cpu);
	fix_still("starved-reader", slow_writer, just_long_enough);
	fix_still("starved-reader", slow_writer, second_waits_for_a_cpu);
}

static void blocked_writer(void **state)
{
	static const struct fix_knob knobs[] = {
		{ "59.9 % waiting", writer_waits_less },
		{ "a reader that waits 10.1 %", reader_waits_more },
		{ "a reader that works 69.9 %", first_works_less },
		{ "a reader that is not known", first_unknown },
		{ "49 chunks", few_chunks },
		{ "under a pipe of bytes", few_bytes },
		{ "199.8 ms of waiting", shorter },
	};

	(void)state;
	FIX_BOTH_SIDES("blocked-writer", slow_reader, knobs);
	fix_still("blocked-writer", slow_reader, first_waits_for_a_cpu);
	fix_still("blocked-writer", slow_reader, just_long_enough);
	fix_still("blocked-writer", slow_reader, second_waits_for_a_cpu);
}

/* Threads that write into one pipe are a pool: "run several of it" is no advice. */
static void a_pool_sets_no_pace(void **state)
{
	struct summary s;
	struct sum_pipe *p;

	(void)state;
	fix_quiet(&s);
	slow_writer(&s);
	p = &s.pipe[0];
	free(p->writer);
	p->writer = FIX_ARRAY(2, struct sum_pipe_end);
	p->writer[0] = (struct sum_pipe_end){ .tid = 11, .chunks = 50, .blocked_ns = 100 * MS };
	p->writer[1] = (struct sum_pipe_end){ .tid = 13, .chunks = 5 };
	p->nwriter = 2;
	assert_null(fix_judge(&s, "starved-reader"));
	summary_release(&s);
	fix_quiet(&s);
	slow_writer(&s);
	p = &s.pipe[0];
	free(p->writer);
	p->writer = FIX_ARRAY(2, struct sum_pipe_end);
	p->writer[0] = (struct sum_pipe_end){ .tid = 11, .chunks = 50, .blocked_ns = 100 * MS };
	p->writer[1] = (struct sum_pipe_end){ .tid = 13, .chunks = 4 };
	p->nwriter = 2;
	assert_non_null(fix_judge(&s, "starved-reader"));
	summary_release(&s);
}

/* A stage that is held up from both sides is the fault of neither edge alone. */
static void each_stage_rule_blames_one_side(void **state)
{
	struct summary s;

	(void)state;
	fix_quiet(&s);
	slow_writer(&s);
	assert_null(fix_judge(&s, "blocked-writer"));
	assert_non_null(strstr(s.finding[0].text, "right (12) waits for left (11)"));
	summary_release(&s);
	fix_quiet(&s);
	slow_reader(&s);
	assert_null(fix_judge(&s, "starved-reader"));
	assert_non_null(strstr(s.finding[0].text, "left (11) waits for right (12)"));
	summary_release(&s);
}

/* --- fd-ping-pong: 5,000 each way, half of the reads asleep, 10 % --- */

static void ping_pong(struct summary *s)
{
	struct sum_pipe *there = add_pipe(s, 11, 12, 5000, 511);
	struct sum_pipe *back = add_pipe(s, 12, 11, 5000, 8);

	s->pipe[0].kind = SUM_SOCKETPAIR;
	back->kind = SUM_EVENTFD;
	there = &s->pipe[0];	/* the second may have moved the first */
	there->reader[0].blocked = 2500;
	back->reader[0].blocked = 2500;
	s->sched.oncpu_ns = 100 * MS;	/* 5,000 × 2 µs = 10 ms */
}

static void fewer_there(struct summary *s) { set_chunks(&s->pipe[0], 4999); }
static void fewer_back(struct summary *s) { set_chunks(&s->pipe[1], 4999); }

static void awake(struct summary *s, size_t i)
{
	s->pipe[i].reader[0].blocked = 2499;
	s->sched.oncpu_ns = 90 * MS;	/* the cost stays high enough */
}

static void awake_there(struct summary *s) { awake(s, 0); }
static void awake_back(struct summary *s) { awake(s, 1); }
static void large_there(struct summary *s) { s->pipe[0].bytes = 512 * 5000; }
static void large_back(struct summary *s) { s->pipe[1].bytes = 512 * 5000; }
static void someone_else_answers(struct summary *s) { s->pipe[1].writer[0].tid = 13; }
static void more_work(struct summary *s) { s->sched.oncpu_ns = 101 * MS; }

static void many_there(struct summary *s)
{
	set_chunks(&s->pipe[0], 10001);
	s->pipe[0].reader[0].blocked = 10001;
}

static void fd_ping_pong(void **state)
{
	static const struct fix_knob knobs[] = {
		{ "4,999 messages", fewer_there },
		{ "4,999 answers", fewer_back },
		{ "a receiver mostly awake", awake_there },
		{ "an asker mostly awake", awake_back },
		{ "large messages", large_there },
		{ "large answers", large_back },
		{ "answers from another thread", someone_else_answers },
		{ "twice as many messages as answers", many_there },
		{ "a cost under 10 %", more_work },
	};

	(void)state;
	FIX_BOTH_SIDES("fd-ping-pong", ping_pong, knobs);
}

static void a_ping_pong_is_found_once(void **state)
{
	struct summary s;
	size_t i, n = 0;

	(void)state;
	fix_quiet(&s);
	ping_pong(&s);
	assert_non_null(fix_judge(&s, "fd-ping-pong"));
	for (i = 0; i < s.nfinding; i++)
		n += !strcmp(s.finding[i].id, "fd-ping-pong");
	assert_int_equal(n, 1);
	summary_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tiny_chunks),
		cmocka_unit_test(tiny_chunks_says_which_pipe_and_how_much),
		cmocka_unit_test(futex_per_chunk),
		cmocka_unit_test(starved_reader),
		cmocka_unit_test(blocked_writer),
		cmocka_unit_test(each_stage_rule_blames_one_side),
		cmocka_unit_test(a_pool_sets_no_pace),
		cmocka_unit_test(fd_ping_pong),
		cmocka_unit_test(a_ping_pong_is_found_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
