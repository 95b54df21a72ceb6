/* SPDX-License-Identifier: MIT */
/* `tracer tape` and `tape`: options into a selection and a job, and what is said of its end. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "cli/term.h"
#include "cli/tool.h"
#include "cmd/tape_opts.h"
#include "tape/child.h"
#include "tape/engine.h"
#include "tracer/version.h"

#define EXIT_FAILED 1
#define EXIT_USAGE 2
#define PROGRAM "tape"

/* As teip has it: cyan brackets around bold red. */
#define MARK_BEFORE "\033[36m[\033[0m\033[01;31m"
#define MARK_AFTER "\033[0m\033[36m]\033[0m"

struct selector_words {
	char *argv[8];
	char *text;
};

static bool sigpipe_ignored;

static int print_help(void)
{
	static const struct cli_cmd *const cmds[] = { &tape_cmd, NULL };
	const struct cli_tool tool = { .name = "tracer", .version = TRACER_VERSION, .cmds = cmds };
	const struct cli_style style = { cli_term_color(STDOUT_FILENO),
					 cli_term_width(STDOUT_FILENO, 80) };
	struct buf b = BUF_INIT;
	int r;

	cli_help_command(&b, &tool, &tape_cmd, style);
	r = b.failed ? -ENOMEM : io_write_all(STDOUT_FILENO, b.data, b.len);
	buf_release(&b);
	return r ? EXIT_FAILED : 0;
}

/* A regex's error has lines of its own. */
static int fail_lines(const char *message, int code)
{
	struct buf b = BUF_INIT;
	const char *line = message;

	for (bool first = true; line; first = false) {
		const char *end = strchr(line, '\n');
		const int n = end ? (int)(end - line) : (int)strlen(line);
		struct err part = { 0 };

		snprintf(part.msg, sizeof(part.msg), "%.*s", n, line);
		if (first)
			cli_err_text(&b, PROGRAM, &part);
		else if (n)
			cli_line_text(&b, part.msg);
		line = end ? end + 1 : NULL;
	}
	if (b.len)
		io_write_all(STDERR_FILENO, b.data, b.len);
	buf_release(&b);
	return code;
}

static int parse_marks(char **before, char **after)
{
	const char *env = getenv("TEIP_HIGHLIGHT"), *first, *second;

	*before = *after = NULL;
	if (!env) {
		*before = strdup(MARK_BEFORE);
		*after = strdup(MARK_AFTER);
		return *before && *after ? 0 : -ENOMEM;
	}
	first = strstr(env, "{}");
	if (!first)
		return -EINVAL;
	second = strstr(first + 2, "{}");
	*before = strndup(env, (size_t)(first - env));
	*after = second ? strndup(first + 2, (size_t)(second - first - 2)) : strdup(first + 2);
	return *before && *after ? 0 : -ENOMEM;
}

/* --sed and --awk run without a shell; -e is one. */
static int selector_argv(const struct tape_opts *o, struct selector_words *w)
{
	const char *sed = getenv("TEIP_SED_PATH"), *awk = getenv("TEIP_AWK_PATH");
	unsigned int n = 0;
	int r;

	if (o->sed) {
		r = asprintf(&w->text, "%s=", o->sed);
		w->argv[n++] = (char *)(uintptr_t)(sed && *sed ? sed : "sed");
		w->argv[n++] = (char *)(uintptr_t)"-n";
		if (o->nul)
			w->argv[n++] = (char *)(uintptr_t)"-z";
		w->argv[n++] = (char *)(uintptr_t)"-e";
	} else if (o->awk) {
		r = asprintf(&w->text, "%s{print NR}", o->awk);
		w->argv[n++] = (char *)(uintptr_t)(awk && *awk ? awk : "awk");
		if (o->nul) {
			w->argv[n++] = (char *)(uintptr_t)"-v";
			w->argv[n++] = (char *)(uintptr_t)"RS=\\0";
		}
	} else {
		r = asprintf(&w->text, "%s", o->external);
		w->argv[n++] = (char *)(uintptr_t)"sh";
		w->argv[n++] = (char *)(uintptr_t)"-c";
	}
	if (r < 0)
		return -ENOMEM;
	w->argv[n] = w->text;
	return 0;
}

static bool given(uint64_t n)
{
	return n != UINT64_MAX;
}

/* Which of the selectors counts, by the order that the help has. */
static enum tape_by choose(const struct tape_opts *o)
{
	const bool around = given(o->before) || given(o->after) || given(o->context);

	if (o->lines)
		return TAPE_LINES;
	if (o->pattern && (!o->only_matching || around || o->external || o->sed || o->awk))
		return TAPE_MATCHING;
	if (o->external || o->sed || o->awk)
		return TAPE_NUMBERED;
	if (o->csv && o->fields)
		return TAPE_CSV;
	if (o->pattern || o->onig)
		return TAPE_MATCHES;
	if (o->chars)
		return TAPE_CHARS;
	return o->delimiter ? TAPE_FIELDS_AT : o->delimiter_re ? TAPE_FIELDS_MATCHING :
	       TAPE_FIELDS;
}

static void selection(const struct tape_opts *o, struct tape_select *sel)
{
	const uint64_t context = given(o->context) ? o->context : 0;

	*sel = (struct tape_select){
		.size = sizeof(*sel), .by = choose(o), .invert = o->invert, .nul = o->nul,
		.whole = o->each || o->nul, .unquote = o->unquote, .header = o->header,
		.before = given(o->before) ? o->before : context,
		.after = given(o->after) ? o->after : context,
	};
	sel->list = sel->by == TAPE_LINES ? o->lines : sel->by == TAPE_CHARS ? o->chars : o->fields;
	if (sel->by == TAPE_FIELDS_MATCHING) {
		sel->pattern = o->delimiter_re;
	} else {
		sel->pattern = o->pattern ? o->pattern : "";
		sel->oniguruma = o->onig;
	}
	sel->pattern_bytes = sel->pattern ? strlen(sel->pattern) : 0;
	sel->delimiter = o->delimiter;
	sel->delimiter_bytes = o->delimiter ? strlen(o->delimiter) : 0;
}

static void note(const struct tape_opts *o, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void note(const struct tape_opts *o, const char *fmt, ...)
{
	va_list ap;

	if (o->quiet)
		return;
	va_start(ap, fmt);
	cli_vnote(PROGRAM, fmt, ap);
	va_end(ap);
}

static void print_stats(const struct tape_stats *s)
{
	char text[1024];
	int n = snprintf(text, sizeof(text),
			 "{\"schema\":\"tracer.tape/1\",\"bytes_in\":%" PRIu64 ",\"bytes_out\":%"
			 PRIu64 ",\"records\":%" PRIu64 ",\"chunks\":%" PRIu64 ",\"chunk_bytes\":%"
			 PRIu64 ",\"batches\":%" PRIu64 ",\"reads\":%" PRIu64 ",\"writes\":%" PRIu64
			 ",\"blocked_in_ns\":%" PRIu64 ",\"blocked_command_ns\":%" PRIu64
			 ",\"blocked_out_ns\":%" PRIu64 ",\"commands\":%" PRIu64
			 ",\"spilled_bytes\":%" PRIu64 "}\n",
			 s->bytes_in, s->bytes_out, s->records, s->chunks, s->chunk_bytes,
			 s->batches, s->reads, s->writes, s->blocked_in_ns, s->blocked_command_ns,
			 s->blocked_out_ns, s->commands, s->spilled_bytes);

	io_write_all(STDERR_FILENO, text, (size_t)n);
}

static int command_status(int status)
{
	if (WIFSIGNALED(status))
		return 128 + WTERMSIG(status);
	return WEXITSTATUS(status);
}

/* Nobody reads: end as a filter does, by the signal, unless the caller had it ignored. */
static int output_closed(const struct err *err)
{
	if (!sigpipe_ignored) {
		signal(SIGPIPE, SIG_DFL);
		raise(SIGPIPE);
	}
	return cli_fail(PROGRAM, err, EXIT_FAILED);
}

static int finish(const struct tape_opts *o, const struct tape_result *res, int r,
		  const struct err *err)
{
	if (o->stats)
		print_stats(&res->stats);
	if (res->bad_numbers)
		note(o, "%" PRIu64 " line%s of the selector %s no number that ascends: '%s'",
		     res->bad_numbers, res->bad_numbers == 1 ? "" : "s",
		     res->bad_numbers == 1 ? "is" : "are", res->bad_number);
	if (res->surplus)
		note(o, "the command printed %s%" PRIu64 " line%s more than there were holes",
		     res->surplus_cut ? "at least " : "", res->surplus,
		     res->surplus == 1 ? "" : "s");
	if (r == -EPIPE)
		return output_closed(err);
	if (r)
		return cli_fail(PROGRAM, err, EXIT_FAILED);
	return o->status ? command_status(res->status) : 0;
}

static int run(const struct tape_opts *o, const struct tape_select *sel, struct tape_job *job)
{
	char message[TAPE_MESSAGE_BYTES];
	struct selector_words words = { 0 };
	struct tape_splitter *s = tape_splitter_new(sel, message);
	struct tape_result res;
	struct err err = { 0 };
	int r = 0;

	if (!s)
		return fail_lines(message, EXIT_USAGE);
	if (sel->by == TAPE_NUMBERED) {
		r = selector_argv(o, &words);
		job->selector = words.argv;
		/* A typo is not to pass what was to be masked; -e may be a grep that finds none. */
		job->selector_must_succeed = o->sed || o->awk;
		/* sed and awk print lines; -e prints what it is to read. */
		job->number_end = o->nul && !o->sed && !o->awk ? '\0' : '\n';
	}
	if (r)
		r = cli_fail(PROGRAM, &err, EXIT_FAILED);
	else
		r = finish(o, &res, tape_run(s, job, &res, &err), &err);
	tape_splitter_free(s);
	free(words.text);
	return r;
}

static int tape(const struct tape_opts *o)
{
	struct tape_select sel;
	char *before, *after;
	int r = parse_marks(&before, &after);
	struct tape_job job = {
		.in = STDIN_FILENO, .out = STDOUT_FILENO, .command = o->command,
		.mark_before = before, .mark_after = after, .each = o->each,
		.placeholder = o->placeholder, .chomp = o->chomp,
		.parallel = (unsigned int)o->jobs, .end = o->nul ? '\0' : '\n',
	};

	if (r == -EINVAL) {
		r = fail_lines("Invalid format in TEIP_HIGHLIGHT variable", EXIT_USAGE);
	} else if (r) {
		r = fail_lines("out of memory", EXIT_FAILED);
	} else {
		selection(o, &sel);
		r = run(o, &sel, &job);
	}
	free(before);
	free(after);
	return r;
}

#define VERSION_LINE "tape (tracer) " TRACER_VERSION "\n"

/* Run as `tracer tape ...` or, by its other name, as `tape ...`. */
static bool called_by_tracer(int argc, char **argv)
{
	const char *name = argc ? strrchr(argv[0], '/') : NULL;

	name = name ? name + 1 : argc ? argv[0] : "";
	return strcmp(name, "tape") && argc > 1 && !strcmp(argv[1], "tape");
}

int main(int argc, char **argv)
{
	struct sigaction old;
	struct tape_opts o;
	struct err err = { 0 };
	int shift, r;

	io_hold_standard_fds();
	sigaction(SIGPIPE, &(struct sigaction){ .sa_handler = SIG_IGN }, &old);
	sigpipe_ignored = old.sa_handler == SIG_IGN;
	child_keep_sigpipe(sigpipe_ignored);
	signal(SIGXFSZ, SIG_IGN);
	shift = called_by_tracer(argc, argv);
	if (!shift && argc == 2 && !strcmp(argv[1], "--version"))
		return io_write_all(STDOUT_FILENO, VERSION_LINE, sizeof(VERSION_LINE) - 1) ?
		       EXIT_FAILED : 0;
	r = tape_opts_parse(&o, argc - shift, argv + shift, &err);
	if (r == CLI_WANTS_HELP)
		return print_help();
	return r ? cli_fail(PROGRAM, &err, EXIT_USAGE) : tape(&o);
}
