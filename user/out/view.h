/* SPDX-License-Identifier: MIT */
#ifndef OUT_VIEW_H
#define OUT_VIEW_H

/*
 * What the sections of the table format share: where they write, how wide, in
 * which characters, and the few ways in which a line of text is laid out.
 * Inside user/out, and for the text format of user/report.
 */
#include "out/human.h"
#include "out/out.h"

enum view_style { VIEW_PLAIN, VIEW_BOLD, VIEW_DIM, VIEW_RED, VIEW_YELLOW, VIEW_GREEN, VIEW_CYAN,
		  VIEW_STYLES };

/* Characters that differ between UTF-8 and ASCII. */
struct view_glyphs {
	const char *arrow;	/* " → " without its blanks */
	const char *times;	/* before a count: "×" */
	const char *dot;	/* between items */
	const char *ellipsis;	/* one column */
	const char *dots;	/* the same in a sentence */
	const char *under;	/* called by: "←" */
	const char *rule;	/* one column of a horizontal line */
	const char *bar[8];	/* one column, an eighth to full height */
	const char *block[8];	/* one column, an eighth to full width */
};

struct view {
	const struct summary *s;
	const struct out_opts *opts;
	struct out_stream *out;
	const struct view_glyphs *g;
	unsigned int width;
	bool color, ascii;
	bool failed;		/* memory ran out */
	uint64_t whole_ns;	/* what the shares in the table at hand are parts of */
};

/* Rows of a table that have lines below them, unless all is asked for. */
#define VIEW_DETAILS 3

/* Settles width, colour and characters for the stream's descriptor. */
void view_init(struct view *v, const struct summary *s, const struct out_opts *opts,
	       struct out_stream *o);

/* A blank that no line is broken at; becomes a blank when written. */
#define VIEW_GLUE "\x01"

/* Starts or ends (VIEW_PLAIN) a colour; nothing without colour. */
void view_style(struct view *v, enum view_style style);
/* Escaped text with glue turned into blanks. */
void view_put(struct view *v, const char *text, size_t len);
/*
 * Lays @text (already escaped; broken at blanks) behind @label within the
 * width: the label takes @indent columns and the further lines start there.
 * Empties the buffer.
 */
void view_wrap(struct view *v, unsigned int indent, const char *label, enum view_style style,
	       struct buf *text);
/* A section's heading in capitals, and behind it @text, wrapped; an empty line before. */
void view_heading(struct view *v, const char *title, struct buf *text);

/* Appends hostile text in the view's characters. */
void view_esc(const struct view *v, struct buf *b, const char *s);
/* The same, with glue for its blanks. */
void view_esc_glued(const struct view *v, struct buf *b, const char *s);
/* Appends our own words @s with their blanks glued. */
void view_glued(struct buf *b, const char *s);
/* Appends " · " between items: nothing at the start of @b. */
void view_sep(const struct view *v, struct buf *b);
/* Appends figures, glued to their units. */
void view_ns(const struct view *v, struct buf *b, uint64_t ns);
void view_bytes(const struct view *v, struct buf *b, uint64_t bytes);
void view_percent(const struct view *v, struct buf *b, uint64_t part, uint64_t whole);
/* "1,234 things", "1 thing": @one is the singular, @many the plural. */
void view_things(struct buf *b, uint64_t n, const char *one, const char *many);
/* A horizontal bar of @part / @whole over @columns columns. */
void view_bar(const struct view *v, struct buf *b, uint64_t part, uint64_t whole,
	      unsigned int columns);
/* "COMM (TID)" or "thread TID", glued; "unseen" for tid 0. */
void view_thread(const struct view *v, struct buf *b, pid_t tid, const char *comm);

/* The sections, in the order in which they are printed; nothing when not collected. */
void view_head(struct view *v);
void view_loss(struct view *v);
void view_findings(struct view *v);
void view_threads(struct view *v);
void view_locks(struct view *v);
void view_pipes(struct view *v);
void view_syscalls(struct view *v);
void view_sched(struct view *v);

#endif
