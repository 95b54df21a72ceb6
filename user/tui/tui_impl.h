/* SPDX-License-Identifier: MIT */
#ifndef TUI_TUI_IMPL_H
#define TUI_TUI_IMPL_H

/*
 * What the files of the screen share: its state and who draws what. Inside
 * user/tui only, which is why <curses.h> with its many macros may stand here.
 *
 * What is shown is a level: the list of a tab, or above it what Enter opened, a
 * list of one process's threads or a page about one row. A list is an array of
 * row pointers of which only the lines on the screen are ever brought into
 * order; a page is made of lines of text. Both have a cursor.
 */
#ifndef _XOPEN_SOURCE_EXTENDED
#define _XOPEN_SOURCE_EXTENDED 1
#endif
#include <curses.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/map.h"
#include "tui/tui.h"

enum tui_style {
	TUI_PLAIN, TUI_BOLD, TUI_DIM, TUI_GOOD, TUI_WARN, TUI_BAD, TUI_LINK, TUI_TITLE,
	TUI_HEADER, TUI_HEADER_SORT, TUI_CURSOR, TUI_TAGGED, TUI_TAB, TUI_TAB_ON, TUI_KEY,
	TUI_LABEL, TUI_STATUS,
	TUI_STYLES
};

/* A key of <curses.h>, apart from the characters of the same number. */
#define TUI_FN(k) ((int)(k) | 0x1000000)
#define TUI_CTRL(c) ((c) & 0x1f)
#define TUI_ESC 27

/* Two words by which a row is found again; those of a process's sums end in TUI_SUMS. */
struct tui_id { uint64_t word[2]; };
#define TUI_SUMS UINT64_MAX

enum tui_kind { TUI_LIST, TUI_THREAD, TUI_LOCK, TUI_PIPE, TUI_CALL };

#define TUI_TITLE_BYTES 160
#define TUI_NAMES 1000
#define TUI_INPUT_BYTES 64

/*
 * Where the cursor is after rows have moved: on its line, on its row, or on its
 * row with the rows moved below it so that this has its line.
 */
enum tui_keep { TUI_STAY, TUI_FIND, TUI_HOLD };

struct tui_level {
	enum tui_kind kind;
	enum now_tab tab;	/* of the list, or whose row the page is about */
	struct tui_id id;	/* of that row */
	pid_t tgid;		/* LIST: only this process's threads; 0: all rows */
	bool gone;		/* that row is no more */
	char title[TUI_TITLE_BYTES];	/* escaped */
	char filter[TUI_INPUT_BYTES];
	size_t sel, top;	/* the cursor's line, the first one on the screen */
	size_t left;		/* of a page: columns out of sight */
	struct tui_id sel_id;
	bool sel_known;
};
#define TUI_LEVELS 16
#define TUI_COLS_MAX 32

/* What the user chose for a tab. */
struct tui_tab {
	size_t sort;
	bool reverse, only_tagged;
	struct map *tagged;	/* struct tui_id → nothing */
	unsigned int wide[TUI_COLS_MAX];	/* columns that left cells have needed so far */
};

/* The rows of the list on the screen. */
struct tui_rows {
	const void **row;
	size_t n, cap;
	size_t all;		/* before filters */
	size_t sort;		/* column */
	size_t from, to;	/* those that are in their final places */
	/* As a tree: what .row is made from, and the processes in it. */
	bool tree;
	const void **thread;
	uint32_t *group_of;	/* of each of .thread */
	size_t nthread, thread_cap;
	struct tui_group *group;	/* one for each of the sums */
	const void **head;	/* the lines of the processes that are shown */
	size_t nhead, group_cap;
};

/* A process in the tree. */
struct tui_group {
	const void *head;	/* its line: a row of sums, or its only thread */
	size_t threads;		/* of .thread */
	size_t lines, start;	/* in .row; no line: not shown */
	size_t filled;
};

/* A process as a row of the list of threads: its threads added up. */
struct tui_sum {
	struct now_thread row;
	uint32_t threads;	/* that are among the rows */
};

/* Text to be scrolled through. */
struct tui_link { enum tui_kind kind; uint64_t a; uint32_t b; bool is; };
struct tui_page_line {
	size_t at, len;
	enum tui_style style;
	struct tui_link link;
};
struct tui_page {
	struct buf text;
	struct tui_page_line *line;
	size_t n, cap;
};

/* Where a click means something: a key, a tab, a heading, a line, one of the menu. */
enum tui_zone_kind { TUI_ZONE_KEY, TUI_ZONE_TAB, TUI_ZONE_COL, TUI_ZONE_ROW, TUI_ZONE_ITEM };
struct tui_zone {
	int y, x0, x1;
	enum tui_zone_kind what;
	int arg;		/* which */
};
#define TUI_ZONES 1024

enum tui_ask { TUI_ASK_SEARCH, TUI_ASK_FILTER, TUI_ASK_DELAY };
enum tui_mode { TUI_NORMAL, TUI_INPUT, TUI_MENU, TUI_HELP };

struct tui {
	const struct now *now;	/* NULL: nothing yet */
	struct tui_source source;
	char whom[TUI_TITLE_BYTES];
	uint64_t delay_ns;
	bool ascii, color, totals, paused, follow, tree, hide, quit, refresh;
	SCREEN *screen;
	int lines, cols;	/* as drawn last */
	attr_t style[TUI_STYLES];

	enum now_tab tab;
	struct tui_tab per[NOW_TABS];
	struct tui_level base[NOW_TABS], level[TUI_LEVELS];
	size_t depth;
	uint64_t moved_ns;	/* when the cursor was last moved */

	struct tui_rows rows;
	struct tui_sum *sums;	/* made when asked for */
	size_t nsums, sums_cap;
	bool sums_made;
	struct map *sums_of;	/* tgid → index in .sums */
	struct map *closed;	/* tgid → nothing: closed in the tree */

	struct tui_page page, help;
	size_t page_of;		/* the depth whose level .page is of */
	bool page_shown;	/* before it was built anew */
	struct now_lock_detail lock;	/* of the page on the screen */
	bool lock_known;

	enum tui_mode mode;
	enum tui_ask ask;
	char input[TUI_INPUT_BYTES];
	unsigned int names_left;	/* locks to be named for a filter, in this refresh */
	size_t input_len;
	size_t before_sel;
	char found[TUI_INPUT_BYTES];	/* what was searched for last */
	size_t menu_sel, menu_top, help_top;
	char message[TUI_TITLE_BYTES];
	uint64_t said_ns;

	struct tui_zone zone[TUI_ZONES];
	size_t nzone;
	struct buf cell, text;	/* scratch */
};

/* --- the terminal (tui_term.c) --- */
int tui_term_open(struct tui *t, enum out_color color, struct err *err);
void tui_term_close(struct tui *t);
/* Makes up what tui_restore writes; it depends on the size. */
void tui_term_sized(void);
/* Takes over a size that the terminal has and ncurses has not seen. */
void tui_term_size(void);
/* False when the terminal was closed by its other end. */
bool tui_term_alive(void);

/* --- text on the screen (tui_text.c) --- */
/* Columns that @n bytes take. */
int tui_width(const char *s, size_t n);
/* Bytes of @s that take @columns, which may end inside the last one. */
size_t tui_skip(const char *s, size_t n, int columns);
/* Writes what fits of @s into @width columns at @y, @x; returns the columns used. */
int tui_put(struct tui *t, int y, int x, int width, enum tui_style style, const char *s, size_t n);
int tui_puts(struct tui *t, int y, int x, int width, enum tui_style style, const char *s);
/* The same, padded to all of @width; what does not fit ends in an ellipsis. */
void tui_cell(struct tui *t, int y, int x, int width, bool left, enum tui_style style,
	      const char *s, size_t n);
void tui_fill(struct tui *t, int y, int x, int width, enum tui_style style);
/* Appends hostile text. */
void tui_esc(const struct tui *t, struct buf *b, const char *s);
/* Copies the buffer, cut at whole characters. */
void tui_copy(char *out, size_t size, const struct buf *b);

/* --- levels (tui_level.c) --- */
struct tui_level *tui_level(struct tui *t);
/* True when a list is on the screen, not a page. */
bool tui_is_list(struct tui *t);
void tui_level_tab(struct tui *t, enum now_tab tab);
/* Enter: what the cursor stands on. */
void tui_level_open(struct tui *t);
/* False when there is nothing to go back to. */
bool tui_level_back(struct tui *t);
/* Makes what is shown anew: after new figures, or another level. */
void tui_level_build(struct tui *t, enum tui_keep keep);
/* Opens what the link leads to. */
void tui_level_follow(struct tui *t, const struct tui_link *link);
/* NULL: not among the rows. */
const struct now_lock *tui_lock_find(const struct tui *t, uint64_t addr, uint32_t space);
/* Asks for its name if it has none. */
void tui_lock_name(struct tui *t, const struct now_lock *lock);
/* Its name, or its place in its file; false, and nothing, where neither is known. */
bool tui_put_lock(const struct tui *t, struct buf *b, const struct now_lock *l);
void tui_say(struct tui *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* --- the list (tui_list.c) --- */
const struct now_tab_desc *tui_desc(struct tui *t);
struct now_view tui_view(const struct tui *t);
/* Lines on the screen for rows or a page. */
size_t tui_lines(struct tui *t);
/* Rows or lines that there are. */
size_t tui_count(struct tui *t);
struct tui_id tui_row_id(struct tui *t, const void *row);
/* Takes the rows that pass the filters anew, and finds the cursor's place among them. */
void tui_list_build(struct tui *t, enum tui_keep keep);
/* Brings rows @from to @from + @count into their places. */
void tui_list_order(struct tui *t, size_t from, size_t count);
/* The row on line @i; NULL: there is none. */
const void *tui_list_row(struct tui *t, size_t i);
/* Keeps the cursor inside the list and on the screen. */
void tui_list_settle(struct tui *t);
void tui_list_move(struct tui *t, size_t line);
/* The row's text has one of the words, which "|" parts. */
bool tui_list_matches(struct tui *t, const void *row, const char *words);
/* Not held back by the level, the filter or the tags. */
bool tui_list_passes(struct tui *t, const void *row);
/* Text of @line of the list or page has @word. */
bool tui_line_matches(struct tui *t, size_t line, const char *word);
void tui_list_free(struct tui *t);

/* --- processes in the list of threads (tui_tree.c) --- */
/* True for a row that is a process's sums. */
bool tui_is_sums(const struct tui *t, const void *row);
int tui_sums_make(struct tui *t);
void tui_tree_build(struct tui *t);
void tui_tree_order(struct tui *t, size_t from, size_t count);
/* The line of @id in the tree; .n: none. */
size_t tui_tree_find(struct tui *t, struct tui_id id);
/* Appends what stands before a name: "├─ ". */
void tui_tree_prefix(struct tui *t, struct buf *b, size_t line);

/* Order of the list: < 0 when @a stands before @b. */
int tui_order(struct tui *t, const void *a, const void *b);

/* --- pages (tui_page.c, tui_detail.c, tui_help.c) --- */
void tui_page_reset(struct tui_page *p);
void tui_page_release(struct tui_page *p);
/* Adds the buffer as a line and empties it. */
void tui_page_add(struct tui_page *p, struct buf *b, enum tui_style style,
		  const struct tui_link *link);
void tui_page_adds(struct tui_page *p, const char *s, enum tui_style style);
/* From .top, .left and with the cursor of @at. */
void tui_page_draw(struct tui *t, const struct tui_page *p, int y, size_t lines,
		   const struct tui_level *at);
/* The page of the level on the screen. */
void tui_detail_build(struct tui *t);
/* The row that the level is about; NULL: gone. */
const void *tui_detail_row(struct tui *t, const struct tui_level *l);
void tui_help_build(struct tui *t);

/* --- drawing (tui_draw.c, tui_table.c) --- */
void tui_draw(struct tui *t);
/* At once in the last line, before something that takes a while; the next drawing ends it. */
void tui_draw_note(struct tui *t, const char *text);
void tui_table_draw(struct tui *t, int y, size_t lines);
void tui_zone_add(struct tui *t, int y, int x0, int x1, enum tui_zone_kind what, int arg);
#define TUI_MIN_COLS 24
#define TUI_MIN_LINES 8

/* --- keys (tui_keys.c, tui_line.c, tui_menu.c, tui_mouse.c) --- */
struct tui_key {
	int key[4];		/* 0: no more */
	const char *names;	/* as help shows them */
	const char *help;
	const char *label;	/* at the bottom, with its F key; NULL */
	const char *group;	/* heading in help */
	bool list;		/* only where there is a list */
	void (*act)(struct tui *t, int key);
};
extern const struct tui_key tui_keys[];
extern const size_t tui_nkeys;
void tui_keys_take(struct tui *t, int key);
void tui_line_open(struct tui *t, enum tui_ask ask);
void tui_line_take(struct tui *t, int key);
void tui_line_draw(struct tui *t, int y);
/* Within its bounds, and says so. */
void tui_delay_set(struct tui *t, uint64_t ns);
/* The next line from the cursor on that has the word. */
void tui_line_next(struct tui *t, bool back);
void tui_menu_open(struct tui *t);
void tui_menu_take(struct tui *t, int key);
void tui_menu_draw(struct tui *t, int y, size_t lines);
void tui_mouse_take(struct tui *t);
/* The column that the list is sorted by: the chosen one, if it says something now. */
size_t tui_sort_col(struct tui *t);
void tui_sort_by(struct tui *t, size_t col);
/* A column that is shown in this mode. */
bool tui_col_shown(const struct tui *t, const struct now_col *c);
/* Moves by keys that lists and pages have in common; false: no such key. */
bool tui_scroll_key(int key, size_t *sel, size_t n, size_t page);

#endif
