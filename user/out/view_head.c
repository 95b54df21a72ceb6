/* SPDX-License-Identifier: MIT */
/* The head of the tables: what was traced, what was lost, what was found. */
#include "out/view.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "out/escape.h"
#include "out/utf8.h"
#include "stats/units.h"

#define HEAD_INDENT 8
/* Columns after which what was traced is cut: a heading, not a record (JSON holds all). */
#define HEAD_TARGET 200

static bool is_plain_word(const char *s)
{
	return *s && !s[strcspn(s, " \t\n\"'\\$`*?[]{}()<>|&;!#~")];
}

/* One argument as a person would type it; unsafe bytes stay visible escapes. */
static void add_word(const struct view *v, struct buf *b, const char *word)
{
	if (is_plain_word(word)) {
		view_esc_glued(v, b, word);
		return;
	}
	if (strchr(word, '\'') && !word[strcspn(word, "\"\\$`!")]) {
		buf_addc(b, '"');
		view_esc(v, b, word);
		buf_addc(b, '"');
		return;
	}
	buf_addc(b, '\'');
	for (;;) {
		size_t n = strcspn(word, "'");

		escape_term(b, word, n, v->ascii);
		if (!word[n])
			break;
		buf_adds(b, "'\\''");
		word += n + 1;
	}
	buf_addc(b, '\'');
}

/* " (COMM)" where the thread is among those kept. */
static void add_name_of(const struct view *v, struct buf *b, pid_t pid)
{
	const struct sum_threads *t = &v->s->threads;
	size_t i;

	for (i = 0; i < t->nby_thread; i++) {
		if (t->by_thread[i].tid != pid)
			continue;
		buf_adds(b, VIEW_GLUE "(");
		view_esc_glued(v, b, t->by_thread[i].comm);
		buf_addc(b, ')');
		return;
	}
}

/* "threads named RE in control group PATH": what chose them, or narrowed the choice. */
static void add_filter(const struct view *v, struct buf *b, const char *threads)
{
	buf_adds(b, threads);
	if (v->s->comm) {
		buf_adds(b, " named" VIEW_GLUE);
		add_word(v, b, v->s->comm);
	}
	if (v->s->cgroup) {
		buf_adds(b, " in control" VIEW_GLUE "group" VIEW_GLUE);
		add_word(v, b, v->s->cgroup);
	}
}

/* More bytes than the columns that are shown can need. */
static bool is_enough(const struct buf *b)
{
	return b->len > HEAD_TARGET * 8;
}

/* Also one word may be a whole script, as behind sh -c. */
static void cut_target(const struct view *v, struct buf *b, bool more)
{
	if (utf8_width(b->data, b->len) > HEAD_TARGET)
		b->len = utf8_fit(b->data, b->len, HEAD_TARGET, NULL);
	else if (!more)
		return;
	buf_adds(b, v->g->dots);
}

static void add_command(const struct view *v, struct buf *b)
{
	char **arg = v->s->command;

	for (; *arg && !is_enough(b); arg++) {
		if (b->len)
			buf_addc(b, ' ');
		add_word(v, b, *arg);
	}
	cut_target(v, b, *arg != NULL);
}

static void add_pids(const struct view *v, struct buf *b)
{
	const struct summary *s = v->s;
	size_t i;

	buf_adds(b, s->npids == 1 ? "pid" : "pids");
	for (i = 0; i < s->npids && !is_enough(b); i++) {
		buf_addf(b, " %d", (int)s->pids[i]);
		add_name_of(v, b, s->pids[i]);
	}
	cut_target(v, b, i < s->npids);
}

static void add_target(const struct view *v, struct buf *b)
{
	const struct summary *s = v->s;

	if (s->command) {
		add_command(v, b);
	} else if (s->npids) {
		add_pids(v, b);
	} else {
		add_filter(v, b, "threads");
		return;
	}
	if (s->comm || s->cgroup)
		add_filter(v, b, ", of it threads");
}

static void add_exit(struct buf *b, const struct summary *s)
{
	const char *name;

	if (!s->has_exit)
		return;
	if (!s->exit_signal) {
		buf_addf(b, ", exit code %d", s->exit_code);
		return;
	}
	name = sigabbrev_np(s->exit_signal);
	if (name)
		buf_addf(b, ", killed by SIG%s", name);
	else
		buf_addf(b, ", killed by signal %d", s->exit_signal);
}

static void head_result(struct view *v, struct buf *b)
{
	const struct summary *s = v->s;
	bool bad = s->has_exit && (s->exit_signal || s->exit_code);

	view_ns(v, b, s->duration_ns);
	add_exit(b, s);
	buf_adds(b, s->mode == SUM_EXACT ? ", exact mode: every call is counted" :
					   ", wait mode: only what blocked is counted");
	view_wrap(v, HEAD_INDENT, "", bad ? VIEW_RED : VIEW_PLAIN, b);
}

static void head_size(struct view *v, struct buf *b)
{
	const struct summary *s = v->s;

	if (s->threads.live_peak)
		view_things(b, s->threads.live_peak, "thread at most", "threads at most");
	if (s->threads.processes_created) {
		view_sep(v, b);
		view_things(b, s->threads.processes_created, "process forked", "processes forked");
	}
	if (s->still_running) {
		view_sep(v, b);
		view_things(b, s->still_running, "thread still running", "threads still running");
	}
	if (s->compat_calls) {
		view_sep(v, b);
		view_things(b, s->compat_calls, "32-bit call not named", "32-bit calls not named");
	}
	if (b->len)
		view_wrap(v, HEAD_INDENT, "", VIEW_PLAIN, b);
	if (s->hidden) {
		view_things(b, s->hidden, "program was left out, having rights",
			    "programs were left out, having rights");
		buf_adds(b, " that this user has not (set-uid, set-gid or capabilities); root "
			 "sees all");
		view_wrap(v, HEAD_INDENT, "", VIEW_YELLOW, b);
	}
	if (summary_is_empty(s)) {
		buf_adds(b, s->comm || s->cgroup ? "nothing was traced: no thread matched" :
						   "nothing was traced");
		view_wrap(v, HEAD_INDENT, "", VIEW_YELLOW, b);
	}
}

/* What noise hides is left out: 0 ns would be a claim. */
static void add_cost(const struct view *v, struct buf *b, int64_t ns, const char *to)
{
	if (ns <= 0)
		return;
	if (b->len)
		view_sep(v, b);
	else
		buf_adds(b, "tracing adds ");
	view_ns(v, b, (uint64_t)ns);
	view_glued(b, to);
}

static void add_ways(const struct view *v, struct buf *b)
{
	const struct sum_collector *c = v->s->collector;
	size_t i, same = 0;

	for (i = 0; i < v->s->ncollector; i++)
		same += !strcmp(c[i].way, c[0].way);
	if (same > 1 && same == v->s->ncollector) {
		buf_adds(b, "all collectors by ");
		view_esc(v, b, c[0].way);
		return;
	}
	for (i = 0; i < v->s->ncollector; i++) {
		view_sep(v, b);
		view_esc_glued(v, b, c[i].name);
		buf_adds(b, VIEW_GLUE "by" VIEW_GLUE);
		view_esc_glued(v, b, c[i].way);
	}
}

/* What tracing itself cost, and the way each collector took. */
static void head_overhead(struct view *v, struct buf *b)
{
	const struct sum_overhead *o = &v->s->overhead;

	if (v->s->mode == SUM_WAIT) {
		/* No program runs at a call: what was measured is the machine's noise. */
		buf_adds(b, "tracing adds nothing to a call that does not block");
		if (o->measured && v->s->threads.routines_asked)
			add_cost(v, b, o->ns_per_start_routine, " to a thread's start");
	} else if (o->measured) {
		add_cost(v, b, o->ns_per_syscall, " to a call");
		if (v->s->collected & SUM_FUTEX)
			add_cost(v, b, o->ns_per_futex, " to a futex wake");
		if (v->s->collected & SUM_PIPES)
			add_cost(v, b, o->ns_per_pipe_chunk, " to a pipe chunk");
		if (v->s->threads.routines_asked)
			add_cost(v, b, o->ns_per_start_routine, " to a thread's start");
		if (!b->len)
			buf_adds(b, "tracing adds nothing that could be measured to a call");
	}
	if (o->consumer_cpu_ns) {
		view_sep(v, b);
		view_ns(v, b, o->consumer_cpu_ns);
		buf_adds(b, " CPU by tracer itself");
	}
	if (b->len)
		view_wrap(v, HEAD_INDENT, "  cost  ", VIEW_DIM, b);
	add_ways(v, b);
	if (b->len)
		view_wrap(v, HEAD_INDENT, "  ways  ", VIEW_DIM, b);
}

void view_head(struct view *v)
{
	struct buf b = BUF_INIT;

	add_target(v, &b);
	view_wrap(v, HEAD_INDENT, "TRACED", VIEW_BOLD, &b);
	head_result(v, &b);
	head_size(v, &b);
	head_overhead(v, &b);
	buf_release(&b);
}

static const struct loss_row {
	size_t offset;
	const char *one, *many;
	const char *hint;	/* NULL: nothing to be done */
} loss_rows[] = {
	{ offsetof(struct sum_loss, ring_full), "event found the ring full",
	  "events found the ring full", "a larger --ring takes more" },
	{ offsetof(struct sum_loss, map_full), "key found its map full",
	  "keys found their map full", "-p, --comm or --collect leave more room" },
	{ offsetof(struct sum_loss, recursion), "probe run was skipped by the kernel",
	  "probe runs were skipped by the kernel", NULL },
	{ offsetof(struct sum_loss, unpaired), "return had no enter",
	  "returns had no enter", NULL },
	{ offsetof(struct sum_loss, stacks), "stack could not be read",
	  "stacks could not be read", NULL },
	{ offsetof(struct sum_loss, unknown), "event was of an unknown kind",
	  "events were of an unknown kind", NULL },
};

void view_loss(struct view *v)
{
	struct buf b = BUF_INIT;
	size_t i;

	if (!v->s->loss.total)
		return;
	view_things(&b, v->s->loss.total, "event or stack is missing from the figures below:",
		    "events or stacks are missing from the figures below:");
	out_putc(v->out, '\n');
	view_wrap(v, HEAD_INDENT, "LOST", VIEW_RED, &b);
	for (i = 0; i < sizeof(loss_rows) / sizeof(*loss_rows); i++) {
		const struct loss_row *r = &loss_rows[i];
		uint64_t n = *(const uint64_t *)((const char *)&v->s->loss + r->offset);

		if (!n)
			continue;
		view_things(&b, n, r->one, r->many);
		if (r->hint)
			buf_addf(&b, " (%s)", r->hint);
		view_wrap(v, HEAD_INDENT, "", VIEW_PLAIN, &b);
	}
	buf_release(&b);
}

/* Our sentences hold a few characters that ASCII has words for. */
static void add_prose(const struct view *v, struct buf *b, const char *s)
{
	static const struct { const char *utf8, *ascii; } same[] = {
		{ "µ", "u" }, { "→", "->" }, { "×", "x" }, { "…", "..." },
	};
	size_t i, n;

	while (v->ascii && *s) {
		n = strcspn(s, "\xc2\xc3\xe2");
		escape_term(b, s, n, true);
		s += n;
		for (i = 0; i < sizeof(same) / sizeof(*same); i++)
			if (!strncmp(s, same[i].utf8, strlen(same[i].utf8)))
				break;
		if (i < sizeof(same) / sizeof(*same)) {
			buf_adds(b, same[i].ascii);
			s += strlen(same[i].utf8);
		} else if (*s) {
			uint32_t cp;

			n = utf8_decode(s, strlen(s), &cp);
			n = n ? n : 1;
			escape_term(b, s, n, true);
			s += n;
		}
	}
	view_esc(v, b, s);
}

static bool is_unit(const char *s)
{
	static const char *const units[] = {
		"ns", "µs", "us", "ms", "s", "%", "B", "KiB", "MiB", "GiB", "TiB",
	};
	size_t i, n;

	for (i = 0; i < sizeof(units) / sizeof(*units); i++) {
		n = strlen(units[i]);
		if (!strncmp(s, units[i], n) && !isalnum((unsigned char)s[n]))
			return true;
	}
	return false;
}

/* Keeps "24.0 ms" and "worker (4212)" on one line. */
static void glue_figures(struct buf *b)
{
	size_t i;

	for (i = 1; i + 1 < b->len; i++) {
		if (b->data[i] != ' ')
			continue;
		if ((isdigit((unsigned char)b->data[i - 1]) && is_unit(b->data + i + 1)) ||
		    (b->data[i + 1] == '(' && isdigit((unsigned char)b->data[i + 2])))
			b->data[i] = VIEW_GLUE[0];
	}
}

/* Nothing found is worth as much as what could be looked for. */
static void add_none(struct buf *b, const struct sum_judged *j)
{
	buf_adds(b, "none: no rule found anything worth your time");
	if (j->judged == j->rules)
		return;
	buf_addf(b, "; only %u of %u rules could be judged, ", j->judged, j->rules);
	if (j->by_mode)
		buf_adds(b, "--mode" VIEW_GLUE "exact");
	if (j->by_mode && j->by_collect)
		buf_adds(b, " without ");
	else if (j->by_collect)
		buf_adds(b, "a trace without ");
	if (j->by_collect)
		buf_adds(b, "--collect");
	buf_adds(b, " allows the rest");
}

void view_findings(struct view *v)
{
	struct buf b = BUF_INIT;
	char label[32];
	size_t i;

	if (!v->s->nfinding && summary_is_empty(v->s))
		buf_adds(&b, "none: nothing was traced");
	else if (!v->s->nfinding)
		add_none(&b, &v->s->judged);
	else
		buf_addf(&b, "%zu%s", v->s->nfinding,
			 v->s->nfinding > 1 ? ", the dearest first" : "");
	view_heading(v, "FINDINGS", &b);
	for (i = 0; i < v->s->nfinding; i++) {
		const struct sum_finding *f = &v->s->finding[i];

		snprintf(label, sizeof(label), "%3zu", i + 1);
		add_prose(v, &b, f->text ? f->text : f->id);
		glue_figures(&b);
		view_wrap(v, 5, label, VIEW_YELLOW, &b);
		if (!f->advice)
			continue;
		snprintf(label, sizeof(label), "     %s ", v->g->arrow);
		add_prose(v, &b, f->advice);
		glue_figures(&b);
		view_wrap(v, v->ascii ? 8 : 7, label, VIEW_CYAN, &b);
	}
	buf_release(&b);
}
