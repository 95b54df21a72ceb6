/* SPDX-License-Identifier: MIT */
#ifndef CMD_LIVE_ROWS_H
#define CMD_LIVE_ROWS_H

/* Option rows that `run` and `attach` have in common, as initialisers. */
#include <stddef.h>

#include "cmd/live_opts.h"

extern const char *const live_mode_names[], *const live_collect_names[], *const live_sort_names[],
	*const live_color_names[];
extern const struct cli_pair live_sort_aliases[];

/* A paragraph for the text of both. */
#define LIVE_TEXT_LOCKS										\
	"Locks are shown by the time waited for them. Behind the others stand those that are "	\
	"parked: each thread waited once (an idle worker; at a mutex or rwlock that is a long "	\
	"hold, and stays in front), a join, or waits that only a timeout ended; then, with "	\
	"-n 0, those that nobody waited for. JSON and CSV keep the order by time alone."

#define LIVE_TEXT_LIMITS									\
	"Mode wait reads what a thread blocks in from its registers, and nothing else: a "	\
	"thread that waits in poll, select or epoll before it reads waits in that call, "	\
	"and its pipe shows no \"r wait\"; a word that processes share at two addresses "	\
	"is two locks; a priority-inheriting mutex is of kind private. Mode exact knows "	\
	"the last two.\n"									\
	"\n"											\
	"In neither mode is what io_uring reads and writes an edge between a pipe's ends, "	\
	"nor what is sent to a datagram socket by its address. Of eventfds those made "		\
	"before the trace, and in mode wait all, are told apart only while they are open "	\
	"together."

#define LIVE_AT(field) .offset = offsetof(struct live_opts, field)

#define LIVE_GROUP_WHAT "What is traced"
#define LIVE_GROUP_WHICH "Whom and which calls"
#define LIVE_GROUP_SHOW "What is shown"
#define LIVE_GROUP_WHERE "Where it goes"
#define LIVE_GROUP_OTHER "Other"

#define LIVE_ROWS_WHAT(mode_default)								\
	{ .name = "mode", .kind = CLI_ENUM, .arg = "MODE", .group = LIVE_GROUP_WHAT,		\
	  .help = "wait: only waits that really block, at no cost to system calls; exact: "	\
		  "every call counted and timed (default: " mode_default ")",			\
	  .values = live_mode_names, LIVE_AT(mode) },						\
	{ .name = "collect", .kind = CLI_SET, .arg = "LIST", .group = LIVE_GROUP_WHAT,		\
	  .help = "any of syscalls,threads,futex,pipes,sched (default: all)",			\
	  .values = live_collect_names, LIVE_AT(collect) },					\
	{ .name = "start-routine", .kind = CLI_FLAG, .group = LIVE_GROUP_WHAT,			\
	  .help = "also say what threads begin with and when, by a uprobe in the C library, "	\
		  "which costs each new thread, also of other processes, about 5 us; of "	\
		  "glibc's threads, not of musl's or Go's own", LIVE_AT(start_routine) },	\
	{ .name = "ring", .kind = CLI_SIZE, .arg = "SIZE", .group = LIVE_GROUP_WHAT,		\
	  .help = "size of the ring buffers for events, all CPUs together; unless it is less " \
		  "than 64K, each CPU has at least that; larger when the summary reports lost " \
		  "events (as in 32M; default: 1M)", LIVE_AT(ring_bytes) }

#define LIVE_ROWS_WHICH										\
	{ .name = "calls", .letter = 'e', .kind = CLI_LIST, .arg = "CALLS",			\
	  .group = LIVE_GROUP_WHICH,								\
	  .help = "only these system calls in the table of calls: names, classes or extended "	\
		  "regular expressions by comma (read,%file,/^p?write), all others after a "	\
		  "!; trace=CALLS is understood",						\
	  LIVE_AT(calls) },									\
	{ .name = "path", .letter = 'P', .kind = CLI_LIST, .arg = "PATH",			\
	  .group = LIVE_GROUP_WHICH,								\
	  .help = "only calls on this file, by path or by a descriptor that is open on it; "	\
		  "up to 4 may be given", LIVE_AT(paths) },					\
	{ .name = "comm", .kind = CLI_STRING, .arg = "REGEX", .group = LIVE_GROUP_WHICH,	\
	  .help = "only threads whose name matches this extended regular expression",		\
	  LIVE_AT(comm) },									\
	{ .name = "cgroup", .kind = CLI_FILE, .arg = "PATH", .group = LIVE_GROUP_WHICH,		\
	  .help = "only processes in this control group (version 2) and below", LIVE_AT(cgroup) }

#define LIVE_ROWS_SHOW										\
	{ .name = "stacks", .kind = CLI_FLAG, .group = LIVE_GROUP_SHOW,				\
	  .help = "the stacks that wait for each lock", LIVE_AT(stacks) },			\
	{ .name = "debuginfod", .kind = CLI_FLAG, .group = LIVE_GROUP_SHOW,			\
	  .help = "ask the servers of DEBUGINFOD_URLS for debug files that are not here, as "	\
		  "the user who calls, with debuginfod-find and its cache", LIVE_AT(debuginfod) }, \
	{ .name = "threads", .kind = CLI_FLAG, .group = LIVE_GROUP_SHOW,			\
	  .help = "a row for each thread", LIVE_AT(threads) },					\
	{ .name = "sort", .letter = 'S', .kind = CLI_ENUM, .arg = "COLUMN",			\
	  .group = LIVE_GROUP_SHOW,								\
	  .help = "order of the system calls: time, cpu, calls, errors, mean, p50, p99, max, "	\
		  "name or nothing (default: time); strace's names mean the same",		\
	  .values = live_sort_names, .aliases = live_sort_aliases, LIVE_AT(sort) },		\
	{ .name = "rows", .letter = 'n', .kind = CLI_UINT, .arg = "N", .group = LIVE_GROUP_SHOW, \
	  .help = "most rows of a table; 0: all, and of who wakes whom at a lock the first 20 "	\
		  "(default: 10)", LIVE_AT(rows) },		\
	{ .name = "color", .kind = CLI_ENUM, .arg = "WHEN", .group = LIVE_GROUP_SHOW,		\
	  .help = "auto, always or never (default: auto: on a terminal, unless NO_COLOR is set)", \
	  .values = live_color_names, LIVE_AT(color) }

#define LIVE_ROWS_WHERE(stream)									\
	{ .name = "json", .kind = CLI_FLAG, .group = LIVE_GROUP_WHERE,				\
	  .help = "the whole summary as JSON instead of tables", LIVE_AT(json) },		\
	{ .name = "csv", .kind = CLI_FLAG, .group = LIVE_GROUP_WHERE,				\
	  .help = "the tables as CSV", LIVE_AT(csv) },						\
	{ .name = "folded", .kind = CLI_FLAG, .group = LIVE_GROUP_WHERE,			\
	  .help = "the stacks that wait for locks, a line each with its microseconds, for flame " \
		  "graphs", LIVE_AT(folded) },							\
	{ .name = "trace", .kind = CLI_FILE, .arg = "FILE", .group = LIVE_GROUP_WHERE,		\
	  .help = "also write a timeline for ui.perfetto.dev or chrome://tracing",		\
	  LIVE_AT(trace) },									\
	{ .name = "output", .letter = 'o', .kind = CLI_FILE, .arg = "FILE",			\
	  .group = LIVE_GROUP_WHERE,								\
	  .help = "write the summary to FILE instead of " stream, LIVE_AT(output) },		\
	{ .name = "quiet", .letter = 'q', .kind = CLI_FLAG, .group = LIVE_GROUP_WHERE,		\
	  .help = "the summary alone: no notes, no progress", LIVE_AT(quiet) }

#define LIVE_ROWS_OTHER										\
	{ .letter = 'f', .kind = CLI_NOOP, .group = LIVE_GROUP_OTHER,				\
	  .help = "accepted for strace's users: threads and children are always followed" },	\
	{ .letter = 'c', .kind = CLI_NOOP, .group = LIVE_GROUP_OTHER,				\
	  .help = "accepted for strace's users: a summary is always printed" },			\
	{ .name = "help", .letter = 'h', .kind = CLI_HELP, .group = LIVE_GROUP_OTHER,		\
	  .help = "print this help" }

#endif
