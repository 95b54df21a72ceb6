/* SPDX-License-Identifier: MIT */
/*
 * The table of rules. A threshold says from where on a person would want to
 * know: .cost is what the finding may win at least, the others tell the
 * pattern from ordinary work. The order is that of docs/findings.md.
 */
#include "report/rule.h"

const struct rule rule_table[] = {
	{
		.id = "tiny-chunks",
		.title = "A pipe moves chunks so small that the calls dominate",
		.advice = "Collect output into a buffer of 64 KiB and write it at once "
			  "(setvbuf(3), or writev(2) for what lies scattered); read with a buffer "
			  "as large.",
		.needs = SUM_PIPES,
		.exact = true,
		.limit = {
			.count = 10000,	/* about 10 ms of calls; fewer are lost in the noise */
			.bytes = 512,	/* copying this takes a tenth of what a call costs */
			.cost = 0.05,
			.other = 0.5,	/* as .part of fd-ping-pong: whose case it is then */
		},
		.judge = rule_tiny_chunks,
	},
	{
		.id = "futex-per-chunk",
		.title = "A queue calls futex for each chunk of its pipe",
		.advice = "One of the two is enough: let readers wait in the pipe itself (read or "
			  "poll), or pass pointers through a queue in memory and drop the pipe.",
		.needs = SUM_PIPES | SUM_FUTEX,
		.exact = true,
		.limit = {
			.count = 5000,
			.ratio = 0.9,	/* one each, less the few that found the other awake */
			.cost = 0.02,	/* with large chunks a futex more does not matter */
		},
		.judge = rule_futex_per_chunk,
	},
	{
		.id = "starved-reader",
		.title = "A stage waits at its input because the stage before is too slow",
		.advice = "The writing stage sets the pace: make it faster or run several of it; "
			  "more readers or larger pipes win nothing.",
		.needs = SUM_PIPES | SUM_THREADS | SUM_SCHED,
		.exact = true,
		.limit = {
			.count = 50,		/* chunks: a few are a start-up, not a stream */
			.bytes = 64 << 10,	/* one pipe buffer: less never filled it */
			.ns = 200000000,	/* under 0.2 s nobody waits for the result */
			.part = 0.6,		/* clearly more than the half of an even split */
			.other = 0.1,
			.ratio = 0.7,		/* else it waits elsewhere itself */
		},
		.judge = rule_starved_reader,
	},
	{
		.id = "blocked-writer",
		.title = "A stage waits at its full output because the stage behind is too slow",
		.advice = "The reading stage sets the pace: make it faster or run several of it; a "
			  "faster writer wins nothing.",
		.needs = SUM_PIPES | SUM_THREADS | SUM_SCHED,
		.exact = true,
		.limit = {	/* as starved-reader, from the other end */
			.count = 50,
			.bytes = 64 << 10,
			.ns = 200000000,
			.part = 0.6,
			.other = 0.1,
			.ratio = 0.7,
		},
		.judge = rule_blocked_writer,
	},
	{
		.id = "fd-ping-pong",
		.title = "Two threads pass small messages to and fro, one always asleep",
		.advice = "Send several requests before waiting for the first answer, or do the "
			  "other thread's work in place: a hand-over and back costs more than most "
			  "work.",
		.needs = SUM_PIPES | SUM_SCHED,
		.exact = true,
		.limit = {
			.count = 5000,
			.bytes = 512,	/* larger messages carry work of their own */
			.part = 0.5,	/* every other message finds the receiver asleep */
			.cost = 0.1,
		},
		.judge = rule_fd_ping_pong,
	},
	{
		.id = "contended-lock",
		.title = "Threads wait for a lock instead of working",
		.advice = "Do less while holding it (no system calls, no allocation), split it by "
			  "key, or give each thread its own copy and merge at the end; --stacks "
			  "shows who takes it.",
		.needs = SUM_FUTEX | SUM_SCHED,
		.limit = {
			.count = 100,	/* waits: fewer long ones are a hand-over, not a fight */
			.ns = 50000,	/* a turn: shorter ones are a convoy's */
			.part = 0.2,	/* waiting against waiting and running: a fifth is lost */
			.other = 0.1,	/* who waits with a timeout mostly waits for time to pass */
			.ratio = 0.3,	/* holder ready but not running: preempted, not busy */
		},
		.judge = rule_contended_lock,
	},
	{
		.id = "stuck-lock",
		.title = "Threads wait for a lock that nobody gives back",
		.advice = "See what its holder does (gdb -p PID, thread apply all bt; a mutex of "
			  "glibc holds its owner's tid): when it waits for a lock of one of these "
			  "threads, it is a deadlock: take locks in the same order everywhere.",
		.needs = SUM_FUTEX,
		.limit = {
			.count = 1,
			.ns = 500000000,	/* a mutex is held for milliseconds at most */
		},
		.judge = rule_stuck_lock,
	},
	{
		.id = "convoy",
		.title = "A lock is handed from sleeper to sleeper for short sections",
		.advice = "Take the lock less often: batch the work of several turns, keep counts "
			  "per thread, or use an atomic; a fair or priority-inheriting lock makes "
			  "it worse.",
		.needs = SUM_FUTEX | SUM_SCHED,
		.limit = {
			.count = 5000,
			.ns = 50000,	/* a turn: some ten times what sleeping and waking takes */
			.part = 0.2,
			.other = 0.1,
		},
		.judge = rule_convoy,
	},
	{
		.id = "lock-step",
		.title = "Two threads wake each other by turns",
		.advice = "Let the first go on before the second has answered: a queue of more "
			  "than one place, or several items a turn; or do both halves in one "
			  "thread.",
		.needs = SUM_FUTEX | SUM_SCHED,
		.exact = true,
		.limit = {
			.count = 2500,	/* wakes each way: 10 ms and more of switching */
			.part = 0.8,	/* equal numbers both ways: turns, not a queue */
			.cost = 0.1,
		},
		.judge = rule_lock_step,
	},
	{
		.id = "thundering-herd",
		.title = "Each wake wakes many threads that mostly sleep again",
		.advice = "Wake one: pthread_cond_signal instead of broadcast when any waiter will "
			  "do, a condition of its own for each kind of waiter.",
		.needs = SUM_FUTEX | SUM_SCHED | SUM_THREADS,
		.exact = true,
		.limit = {
			.count = 5000,	/* threads woken */
			.ratio = 3,	/* woken by a wake: two may be right */
			.part = 0.8,	/* of the woken wait again */
			.other = 0.1,	/* requeued: then the kernel lets them go one by one */
			.ns = 50000,	/* CPU between waits: longer, and they were woken to work */
			.cost = 0.05,
		},
		.judge = rule_thundering_herd,
	},
	{
		.id = "wasted-wakes",
		.title = "Most futex wakes wake nobody",
		.advice = "Count waiters next to the word and call wake only when there are some, "
			  "as pthread mutexes do; signal once after a batch instead of for each "
			  "item.",
		.needs = SUM_FUTEX,
		.exact = true,
		.limit = {
			.count = 10000,
			.part = 0.5,	/* a mutex wastes few, a bare wake most */
			.cost = 0.02,	/* saved by one comparison, so little is enough */
		},
		.judge = rule_wasted_wakes,
	},
	{
		.id = "futex-eagain",
		.title = "Most futex waits return at once because the word has changed",
		.advice = "The word changes faster than a thread can go to sleep: spin a little "
			  "before the wait, or give waiters a word that changes only for them.",
		.needs = SUM_FUTEX,
		.exact = true,
		.limit = {
			.count = 10000,
			.part = 0.5,
			.cost = 0.02,
		},
		.judge = rule_futex_eagain,
	},
	{
		.id = "short-lived-threads",
		.title = "Threads live hardly longer than it costs to make them",
		.advice = "Keep a pool of as many threads as CPUs and hand them the work; under "
			  "about 100 µs of work a hand-over costs less than a thread.",
		.needs = SUM_THREADS,
		.exact = true,
		.limit = {
			.count = 500,
			.ratio = 3,	/* lifetime to cost: the work is at most twice the making */
			.cost = 0.1,
		},
		.judge = rule_short_lived_threads,
	},
	{
		.id = "thread-stack-churn",
		.title = "Stacks are mapped and unmapped for each thread",
		.advice = "Ask for smaller stacks (pthread_attr_setstacksize) so that glibc's "
			  "cache of 40 MiB holds them, enlarge it "
			  "(GLIBC_TUNABLES=glibc.pthread.stack_cache_size=N), or keep the threads.",
		.needs = SUM_THREADS | SUM_SYSCALLS,
		.exact = true,
		.limit = {
			.count = 200,	/* stacks unmapped: a pool made once frees none */
			.part = 0.5,	/* of the threads: the cache serves the others */
			.cost = 0.03,
		},
		.judge = rule_thread_stack_churn,
	},
	{
		.id = "slow-wakeup",
		.title = "New threads wait for a CPU before they begin",
		.advice = "There are more ready threads than CPUs: limit how many run at once to "
			  "the number of CPUs (sched_getaffinity), or create them before the load "
			  "begins.",
		.needs = SUM_THREADS | SUM_SCHED,
		.limit = {
			.count = 50,
			.ns = 500000,	/* an idle CPU takes a new thread in 10 to 100 µs */
			.part = 0.5,
			.cost = 0.05,
		},
		.judge = rule_slow_wakeup,
	},
	{
		.id = "cpu-starved",
		.title = "Threads that are ready wait for a CPU",
		.advice = "More threads want to run than CPUs are given: run fewer, look for a CPU "
			  "quota (cpu.max, taskset) or for another load on the machine.",
		.needs = SUM_SCHED,
		.limit = {
			.ns = 200000000,
			.part = 0.4,	/* of wanting to run: two on one CPU have 0.5 */
			.ratio = 0.5,	/* half a CPU is missing all the time */
		},
		.judge = rule_cpu_starved,
	},
	{
		.id = "failing-calls",
		.title = "A system call fails most of the time",
		.advice = "See what is asked for in vain (strace -Z -e trace=NAME) and ask once, "
			  "or elsewhere.",
		.needs = SUM_SYSCALLS,
		.exact = true,
		.limit = {
			.count = 1000,
			.part = 0.6,	/* reading until EAGAIN fails every other call by design */
			.cost = 0.01,
		},
		.judge = rule_failing_calls,
	},
	{
		.id = "busy-poll",
		.title = "Waiting by asking again and again",
		.advice = "Give the poll a timeout, or none, and let what is waited for make a "
			  "file descriptor ready (eventfd, timerfd, signalfd).",
		.needs = SUM_SYSCALLS,
		.exact = true,
		.limit = {
			.count = 5000,
			.ratio = 3,	/* polls for each read or write: an event loop has one */
			.cost = 0.05,
		},
		.judge = rule_busy_poll,
	},
	{
		.id = "tiny-io",
		.title = "Very many short calls on files",
		.advice = "Read and write through a buffer of 64 KiB (stdio, BufReader), or map "
			  "the file; pread(2) saves the lseek.",
		.needs = SUM_SYSCALLS | SUM_PIPES,
		.exact = true,
		.limit = {
			.count = 100000,
			.ns = 1000,	/* with the trace, a page of the cache takes longer */
			.cost = 0.1,
		},
		.judge = rule_tiny_io,
	},
	{
		.id = "memory-churn",
		.title = "Memory is taken from the kernel and given back again and again",
		.advice = "Keep large buffers for the next use, or let malloc keep them: "
			  "mallopt(3) with M_MMAP_THRESHOLD and M_TRIM_THRESHOLD, or another "
			  "allocator.",
		.needs = SUM_SYSCALLS,
		.exact = true,
		.limit = {
			.count = 5000,
			.cost = 0.05,
		},
		.judge = rule_memory_churn,
	},
};

const size_t rule_count = sizeof(rule_table) / sizeof(rule_table[0]);
