/* SPDX-License-Identifier: MIT */
#include "cmd/live_opts.h"

#include <errno.h>
#include <string.h>

#include "cmd/live_rows.h"

const char *const live_mode_names[] = {
	[LIVE_MODE_WAIT] = "wait", [LIVE_MODE_EXACT] = "exact", NULL
};

/* In the order of the SUM_ bits of out/summary.h. */
const char *const live_collect_names[] = { "syscalls", "threads", "futex", "pipes", "sched", NULL };

const char *const live_sort_names[] = {
	[LIVE_SORT_TIME] = "time", [LIVE_SORT_CPU] = "cpu", [LIVE_SORT_CALLS] = "calls",
	[LIVE_SORT_ERRORS] = "errors", [LIVE_SORT_MEAN] = "mean", [LIVE_SORT_P50] = "p50",
	[LIVE_SORT_P99] = "p99", [LIVE_SORT_MAX] = "max", [LIVE_SORT_NAME] = "name",
	[LIVE_SORT_NOTHING] = "nothing", NULL
};

/* strace's -S; its min-time is not kept. */
const struct cli_pair live_sort_aliases[] = {
	{ "total-time", "time" }, { "time-total", "time" }, { "time-percent", "time" },
	{ "count", "calls" },
	{ "error", "errors" },
	{ "avg-time", "mean" }, { "time-avg", "mean" },
	{ "max-time", "max" }, { "time-max", "max" }, { "longest", "max" },
	{ "syscall", "name" }, { "syscall-name", "name" },
	{ "none", "nothing" },
	CLI_END_OF_PAIRS
};

const char *const live_color_names[] = {
	[LIVE_COLOR_AUTO] = "auto", [LIVE_COLOR_ALWAYS] = "always", [LIVE_COLOR_NEVER] = "never",
	NULL
};

/* Told with the line, before anything is loaded: "read,,write", ",read", "!". */
static bool has_empty_item(const char *list)
{
	size_t n;

	list += *list == '!';
	for (;; list += n + 1) {
		n = strcspn(list, ",");
		if (!n)
			return true;
		if (!list[n])
			return false;
	}
}

/* "-e trace=read" means "-e read"; strace's other qualifiers print what we do not. */
static int live_cut_trace(struct live_opts *o, struct err *err)
{
	for (size_t i = 0; i < o->calls.n; i++) {
		const char *s = o->calls.item[i], *eq = strchr(s, '=');

		if (!strncmp(s, "trace=", 6) || !strncmp(s, "t=", 2))
			o->calls.item[i] = eq + 1;
		else if (eq)
			return err_set(err, EINVAL, "-e: '%.*s' is not supported, only "
				       "trace=CALLS", (int)(eq - s), s);
		s = o->calls.item[i];
		if (!*s)
			return err_set(err, EINVAL, "-e: no system call is named");
		if (has_empty_item(s))
			return err_set(err, EINVAL, "-e: '%s' has an empty item", s);
	}
	return 0;
}

static int live_operands(struct live_opts *o, const struct cli_cmd *cmd, struct err *err)
{
	int r;

	if (cmd == &run_cmd) {
		if (!o->argc) {
			r = err_set(err, EINVAL, "no command is given");
			err_hint(err, "as in 'tracer run -- ls -l'; 'tracer run --help' "
				 "shows more");
			return r;
		}
		return 0;
	}
	for (int i = 0; i < o->argc; i++) {
		r = cli_pids_add(&o->pids, o->argv[i], err);
		if (r) {
			err_hint(err, "'pidof NAME' or 'pgrep NAME' finds one; to start a program "
				 "under tracer, 'tracer run -- %s'", o->argv[i]);
			return r;
		}
	}
	if (!o->pids.n && !o->cgroup && !o->comm) {
		r = err_set(err, EINVAL, "no process is given");
		err_hint(err, "a PID, --cgroup or --comm says whom to trace");
		return r;
	}
	return 0;
}

int live_opts_parse(struct live_opts *o, const struct cli_cmd *cmd, int argc, char **argv,
		    struct err *err)
{
	int first, r;

	*o = (struct live_opts){
		.mode = cmd == &run_cmd ? LIVE_MODE_EXACT : LIVE_MODE_WAIT,
		.collect = LIVE_COLLECT_ALL,
		.rows = LIVE_ROWS_DEFAULT,
	};
	r = cli_parse(cmd, argc, argv, o, &first, err);
	if (r)
		return r;
	o->argc = argc - first;
	o->argv = argv + first;
	r = live_cut_trace(o, err);
	if (r)
		return r;
	if (o->json + o->csv + o->folded > 1)
		return err_set(err, EINVAL, "--json, --csv and --folded exclude each other");
	if (o->folded && !(o->collect & 1u << LIVE_COLLECT_FUTEX))
		return err_set(err, EINVAL, "--folded: --collect leaves futex out");
	if (o->ring_bytes > LIVE_RING_LARGEST)
		return err_set(err, EINVAL, "--ring: at most 2G");
	return live_operands(o, cmd, err);
}

int live_check(const struct cli_cmd *cmd, int argc, char **argv, struct err *err)
{
	struct live_opts o;
	int r = live_opts_parse(&o, cmd, argc, argv, err);

	live_opts_release(&o);
	return r;
}

void live_opts_release(struct live_opts *o)
{
	cli_pids_release(&o->pids);
	cli_list_release(&o->calls);
	cli_list_release(&o->paths);
}
