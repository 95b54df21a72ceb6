/* SPDX-License-Identifier: MIT */
#include "cmd/replay_pack.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/term.h"
#include "out/human.h"
#include "rr/packer.h"

#define EXIT_PART 1
#define EACH_NS 100000000u	/* between lines of how far it is */

struct telling {
	bool shows, shown;
	uint64_t last_ns;
};

static void clear_line(struct telling *t)
{
	if (t->shown)
		(void)!write(STDERR_FILENO, "\r\033[K", 4);
	t->shown = false;
}

static void on_progress(void *ctx, uint64_t done, uint64_t of, uint64_t bytes)
{
	struct telling *t = ctx;
	char text[HUMAN_BYTES], line[128];
	const uint64_t now = clock_mono_ns();
	int n;

	if (!t->shows || now - t->last_ns < EACH_NS)
		return;
	t->last_ns = now;
	n = snprintf(line, sizeof(line), "\r\033[Kpacking: %" PRIu64 " of %" PRIu64 " files, %s",
		     done, of, human_bytes(text, bytes));
	(void)!write(STDERR_FILENO, line, (size_t)n);
	t->shown = true;
}

static void on_warning(void *ctx, const struct err *why)
{
	clear_line(ctx);
	cli_fail("tracer", why, 0);
}

static void note(const char *dir, const struct packer_result *res)
{
	char bytes[HUMAN_BYTES];
	struct err text = { 0 };

	if (res->failed)
		err_set(&text, 1, "%s is packed in part: %" PRIu64 " files could not be", dir,
			res->failed);
	else if (res->fresh)
		err_set(&text, 1, "packed %" PRIu64 " files of the system, %s, into %s", res->files,
			human_bytes(bytes, res->bytes), dir);
	else
		err_set(&text, 1, "%s has all files that it needs: %" PRIu64 " of the system, %s",
			dir, res->files, human_bytes(bytes, res->bytes));
	if (!res->failed)
		err_hint(&text, "it replays wherever it is copied to, on a processor of the same "
			 "model");
	cli_fail("tracer", &text, 0);
}

int replay_pack(const struct replay_opts *o, struct err *err)
{
	struct telling t = { .shows = !o->quiet && isatty(STDERR_FILENO) };
	const struct packer_opts opts = { .dir = o->dir, .progress = on_progress,
					  .warn = on_warning, .ctx = &t };
	struct packer_result res;
	int r = packer_run(&opts, &res, err);

	clear_line(&t);
	if (r)
		return r;
	if (!o->quiet)
		note(o->dir, &res);
	return res.failed ? EXIT_PART : 0;
}
