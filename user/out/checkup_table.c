/* SPDX-License-Identifier: MIT */
/* What `tracer doctor` found, for people: what does not work first, and what mends it. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "out/checkup.h"
#include "out/view.h"

#define STATE_COLUMNS 6
#define NAME_COLUMNS 16
#define LABEL_COLUMNS 29

/* "  ok  NAME   text", text being wrapped under itself. */
static void line(struct view *v, enum check_state s, const char *name, struct buf *text)
{
	static const struct { const char *word; enum view_style style; } words[] = {
		[CHECK_OK] = { "  ok  ", VIEW_GREEN }, [CHECK_FAILS] = { "  NO  ", VIEW_RED },
		[CHECK_UNTRIED] = { "  ?   ", VIEW_YELLOW },
	};
	char label[64];

	snprintf(label, sizeof(label), "%s%s ", words[s].word, name);
	view_wrap(v, STATE_COLUMNS + NAME_COLUMNS, label, words[s].style, text);
}

static void fix_line(struct view *v, unsigned int indent, const char *fix)
{
	struct buf b = BUF_INIT;
	char label[48];

	if (!fix || !*fix)
		return;
	snprintf(label, sizeof(label), "%*s%s ", (int)indent, "", v->g->arrow);
	view_esc(v, &b, fix);
	view_wrap(v, indent + 2 + v->ascii, label, VIEW_CYAN, &b);
	buf_release(&b);
}

static const char *ways_beside(const struct checkup *c, const struct check_collector *row)
{
	size_t i;

	for (i = 0; row->by_call && row->exact && i < c->nway; i++)
		if (!c->way[i].broken && strcmp(c->way[i].name, row->exact))
			return c->way[i].name;
	return NULL;
}

static void collector_text(struct view *v, const struct checkup *c,
			   const struct check_collector *row, struct buf *b)
{
	const char *beside = ways_beside(c, row);

	if (row->has_exact && row->wait && row->exact) {
		buf_adds(b, "exact by" VIEW_GLUE);
		view_esc_glued(v, b, row->exact);
		if (beside) {
			buf_adds(b, VIEW_GLUE "(or" VIEW_GLUE);
			view_esc_glued(v, b, beside);
			buf_adds(b, ")");
		}
		buf_adds(b, ", wait by" VIEW_GLUE);
		view_esc_glued(v, b, row->wait);
	} else if (row->wait) {
		buf_adds(b, row->has_exact ? "only wait mode, by" VIEW_GLUE : "by" VIEW_GLUE);
		view_esc_glued(v, b, row->wait);
	} else {
		buf_adds(b, row->what);
	}
}

static void collectors(struct view *v, const struct checkup *c)
{
	const struct check_part *told = NULL;
	struct buf b = BUF_INIT;
	size_t i, broken = 0;

	for (i = 0; i < c->ncollector; i++)
		broken += !c->collector[i].works;
	if (broken)
		buf_addf(&b, "%zu of %zu do not work here", broken, c->ncollector);
	else
		buf_adds(&b, "all work");
	view_wrap(v, 12, "COLLECTORS", VIEW_BOLD, &b);
	for (i = 0; i < c->ncollector; i++) {
		const struct check_collector *row = &c->collector[i];

		collector_text(v, c, row, &b);
		line(v, row->works ? CHECK_OK : CHECK_FAILS, row->name, &b);
		/* One cause, told once. */
		if (!row->broken || row->broken == told)
			continue;
		told = row->broken;
		view_esc(v, &b, row->broken->name);
		buf_adds(&b, ": ");
		view_esc(v, &b, row->broken->why);
		view_wrap(v, 8, "", VIEW_PLAIN, &b);
		fix_line(v, 8, row->broken->fix);
	}
	buf_release(&b);
}

static void parts(struct view *v, const struct checkup *c)
{
	const struct check_part *last = NULL;
	struct buf b = BUF_INIT;
	size_t i, n[3] = { 0 };

	for (i = 0; i < c->npart; i++)
		n[c->part[i].state]++;
	buf_addf(&b, "%zu work", n[CHECK_OK]);
	if (n[CHECK_FAILS])
		buf_addf(&b, ", %zu do not", n[CHECK_FAILS]);
	if (n[CHECK_UNTRIED])
		buf_addf(&b, ", %zu could not be tried", n[CHECK_UNTRIED]);
	view_heading(v, "TRIED", &b);
	for (i = 0; i < c->npart; i++) {
		const struct check_part *p = &c->part[i];
		bool same = last && last->code == p->code && !strcmp(last->why, p->why);

		view_esc_glued(v, &b, p->what ? p->what : p->hook);
		if (p->state == CHECK_UNTRIED && p->hook_known)
			buf_adds(&b, p->hook_there ? ": the kernel has it" :
						     ": not in this kernel");
		if (p->state == CHECK_FAILS) {
			buf_adds(&b, b.len ? ": " : "");
			view_esc(v, &b, same ? "the same" : p->why);
			last = p;
		}
		line(v, p->state, p->name, &b);
	}
	buf_release(&b);
}

static void cost(struct view *v, const struct checkup *c)
{
	const struct { int64_t ns; const char *to; } rows[] = {
		{ c->ns_per_syscall, " to a call" }, { c->ns_per_futex, " to a futex wake" },
		{ c->ns_per_chunk, " to a pipe chunk" },
		{ c->ns_per_routine, " to a thread's start (--start-routine)" },
	};
	struct buf b = BUF_INIT;
	size_t i;

	if (!c->has_cost)
		return;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].ns < 0)
			continue;
		view_sep(v, &b);
		view_ns(v, &b, (uint64_t)rows[i].ns);
		view_glued(&b, rows[i].to);
	}
	buf_adds(&b, ", in exact mode; a call that does not block costs nothing in wait mode");
	view_heading(v, "COST", &b);
	buf_release(&b);
}

static void with_root(struct view *v, const struct checkup *c)
{
	struct buf b = BUF_INIT;
	size_t i;

	if (c->nwith_root)
		out_putc(v->out, '\n');
	for (i = 0; i < c->nwith_root; i++) {
		view_esc(v, &b, c->with_root[i]);
		view_wrap(v, 13, "  with root: ", VIEW_YELLOW, &b);
	}
	buf_release(&b);
}

static void facts(struct view *v, const struct checkup *c)
{
	static const enum view_style styles[] = {
		[CHECK_PLAIN] = VIEW_PLAIN, [CHECK_GOOD] = VIEW_GREEN, [CHECK_BAD] = VIEW_RED,
	};
	const char *group = "";
	struct buf b = BUF_INIT;
	char label[64];
	size_t i;

	for (i = 0; i < c->nfact; i++) {
		const struct check_fact *f = &c->fact[i];
		size_t k;

		if (strcmp(group, f->group)) {
			group = f->group;
			snprintf(label, sizeof(label), "%s", group);
			for (k = 0; label[k]; k++)
				label[k] = (char)toupper((unsigned char)label[k]);
			out_putc(v->out, '\n');
			view_wrap(v, 0, label, VIEW_BOLD, &b);
		}
		view_esc(v, &b, f->known ? f->text : "not known");
		snprintf(label, sizeof(label), "  %s", f->label);
		view_wrap(v, LABEL_COLUMNS, label, styles[f->level], &b);
		fix_line(v, 4, f->fix);
	}
	buf_release(&b);
}

int checkup_table(const struct checkup *c, const struct out_opts *opts, struct out_stream *o,
		  struct err *err)
{
	struct view v;

	view_init(&v, NULL, opts, o);
	collectors(&v, c);
	with_root(&v, c);
	cost(&v, c);
	parts(&v, c);
	facts(&v, c);
	return v.failed ? err_sys(err, ENOMEM, "cannot print what was found") : 0;
}
