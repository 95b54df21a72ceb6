/* SPDX-License-Identifier: MIT */
#ifndef TUI_TUI_H
#define TUI_TUI_H

/*
 * top's screen on ncursesw: tabs, sorting, filters, drill-downs. It only shows a
 * struct now and reads keys; when to refresh and where figures come from is the
 * caller's. One at a time in a process.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "out/now_cols.h"

struct tui;

/* Asked when the screen needs more than the rows. */
struct tui_source {
	void *ctx;
	/* Fills the row's .symbol and .module where they can be known; may take milliseconds. */
	void (*name_lock)(void *ctx, struct now_lock *lock);
	/* 0, or -errno: nothing is known of it any more. */
	int (*lock_detail)(void *ctx, const struct now_lock *lock, struct now_lock_detail *out);
};

struct tui_opts {
	enum now_tab tab;
	size_t sort;		/* column; now_tabs[].ncol: the tab's own */
	enum out_color color;
	/* What is traced, for the first line: "all processes", "pid 42"; copied. */
	const char *whom;
	uint64_t delay_ns;
	struct tui_source source;
};

/*
 * Whether there can be a screen here: 0, or with @err -ENOTTY when stdin or stdout is no
 * terminal, -EINVAL when TERM is unset, unknown or cannot move the cursor.
 */
int tui_check(struct err *err);
/* Takes the terminal over. NULL and @err: as of tui_check, or ENOMEM. */
struct tui *tui_new(const struct tui_opts *opts, struct err *err);
/* Gives the terminal back as it was. Accepts NULL. */
void tui_free(struct tui *t);
/*
 * Gives the terminal back from a handler of a signal that ends the process: only
 * calls that are safe there. Does nothing when no screen is open.
 */
void tui_restore(void);

/* New figures, valid until the next call; the screen keeps the old ones while it is paused. */
void tui_show(struct tui *t, const struct now *n);
/* True while paused: no refresh is needed. */
bool tui_paused(const struct tui *t);
/* As the user has changed it. */
uint64_t tui_delay_ns(const struct tui *t);

enum tui_wish { TUI_NOTHING, TUI_REFRESH, TUI_QUIT };
/*
 * Takes in all keys that are there (stdin is readable, or the size has changed) without
 * waiting for more, and draws.
 */
enum tui_wish tui_input(struct tui *t);

#endif
