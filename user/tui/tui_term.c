/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. ncurses gives the terminal back in endwin(), which must not be called
 * from a handler of SIGSEGV: it allocates and writes through a buffer. So what
 * it takes to leave is made up beforehand, as bytes, and tui_restore() needs
 * write() and tcsetattr() alone. initscr() would end the process where a
 * terminal cannot do what is asked: setupterm() and newterm() tell instead.
 */
#include "tui/tui_impl.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

static struct {
	volatile sig_atomic_t open;
	struct termios termios;
	char leave[512];
	size_t leave_len;
} terminal;

/* ncurses takes these for itself; all but the stop key's and the size's are the caller's. */
static const int signals[] = { SIGINT, SIGTERM, SIGTSTP, SIGWINCH };
#define NSIGNALS (sizeof(signals) / sizeof(signals[0]))
static struct sigaction before[NSIGNALS];

static const char hint[] = "'tracer top -b' prints tables instead, --json an object a refresh";
/* From a newer terminal, over ssh: most are like xterm, and ncurses-term knows the others. */
static const char hint_unknown[] = "'TERM=xterm tracer top' will do on most, or install "
	"ncurses-term; 'tracer top -b' prints tables instead";

static int leave_char(int c)
{
	if (terminal.leave_len < sizeof(terminal.leave) && c)
		terminal.leave[terminal.leave_len++] = (char)c;
	return c;
}

static void leave_add(const char *capability)
{
	if (capability && capability != (char *)-1)
		tputs(capability, 1, leave_char);
}

void tui_term_sized(void)
{
	sig_atomic_t was = terminal.open;

	/* A signal while the bytes are made finds none of them. */
	terminal.open = 0;
	terminal.leave_len = 0;
	if (key_mouse && (!strncmp(key_mouse, "\033[M", 3) || !strncmp(key_mouse, "\033[<", 3)))
		leave_add("\033[?1000l\033[?1006l");
	leave_add(exit_attribute_mode);
	leave_add(orig_pair);
	leave_add(keypad_local);
	if (cursor_address)
		leave_add(tparm(cursor_address, LINES - 1, 0));
	leave_add(clr_eol);
	leave_add(exit_ca_mode);
	leave_add(cursor_normal);
	terminal.open = was;
}

void tui_restore(void)
{
	size_t done = 0;
	sigset_t set, old;

	if (!terminal.open)
		return;
	terminal.open = 0;
	while (done < terminal.leave_len) {
		ssize_t n = write(STDOUT_FILENO, terminal.leave + done, terminal.leave_len - done);

		if (n < 0 && errno != EINTR)
			break;
		done += n > 0 ? (size_t)n : 0;
	}
	/* From the background it would stop us instead. */
	sigemptyset(&set);
	sigaddset(&set, SIGTTOU);
	sigprocmask(SIG_BLOCK, &set, &old);
	tcsetattr(STDIN_FILENO, TCSANOW, &terminal.termios);
	sigprocmask(SIG_SETMASK, &old, NULL);
}

int tui_check(struct err *err)
{
	const char *name = getenv("TERM");
	int known = 0, r = 0;

	/* LINES and COLUMNS may be from another time: the terminal knows better. */
	use_env(FALSE);
	use_tioctl(TRUE);
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		err_set(err, ENOTTY, "cannot open the screen: %s is not a terminal",
			isatty(STDIN_FILENO) ? "standard output" : "standard input");
		err_hint(err, "%s", hint);
		return -ENOTTY;
	}
	if (!name || !*name)
		r = err_set(err, EINVAL, "cannot open the screen: TERM is not set");
	else if (setupterm(NULL, STDOUT_FILENO, &known) != OK)
		r = err_set(err, EINVAL, "cannot open the screen: terminal type %s is %s", name,
			    known == 1 ? "a printer" : "not known here");
	else if (!cursor_address || !clear_screen)
		r = err_set(err, EINVAL, "cannot open the screen: terminal type %s cannot move the "
			    "cursor", name);
	/* newterm() reads its own. */
	if (cur_term)
		del_curterm(cur_term);
	if (r)
		err_hint(err, "%s", name && *name && !known ? hint_unknown : hint);
	return r;
}

/* True when text is UTF-8. A locale that is named but not installed still tells what is wanted. */
static bool take_locale(void)
{
	const char *name;

	if (!setlocale(LC_CTYPE, "")) {
		name = getenv("LC_ALL");
		if (!name || !*name)
			name = getenv("LC_CTYPE");
		if (!name || !*name)
			name = getenv("LANG");
		if (name && (strcasestr(name, "utf-8") || strcasestr(name, "utf8")))
			setlocale(LC_CTYPE, "C.UTF-8");
	}
	return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

/* Colours of the terminal's own (-1), of 8, and where there are 256. */
static const struct palette {
	short fg, bg, fg256, bg256;
	attr_t attr;		/* beside colours */
	attr_t mono;		/* without them */
} palette[TUI_STYLES] = {
	[TUI_PLAIN] = { -1, -1, -1, -1, 0, 0 },
	[TUI_BOLD] = { -1, -1, -1, -1, A_BOLD, A_BOLD },
	[TUI_DIM] = { -1, -1, 244, -1, A_DIM, 0 },
	[TUI_GOOD] = { COLOR_GREEN, -1, COLOR_GREEN, -1, 0, 0 },
	[TUI_WARN] = { COLOR_YELLOW, -1, COLOR_YELLOW, -1, 0, A_BOLD },
	[TUI_BAD] = { COLOR_RED, -1, COLOR_RED, -1, A_BOLD, A_BOLD },
	[TUI_LINK] = { COLOR_CYAN, -1, COLOR_CYAN, -1, 0, A_UNDERLINE },
	[TUI_TITLE] = { COLOR_CYAN, -1, COLOR_CYAN, -1, A_BOLD, A_BOLD },
	[TUI_HEADER] = { COLOR_BLACK, COLOR_GREEN, COLOR_BLACK, COLOR_GREEN, 0, A_REVERSE },
	[TUI_HEADER_SORT] = { COLOR_BLACK, COLOR_CYAN, COLOR_BLACK, COLOR_CYAN, 0,
			      A_REVERSE | A_BOLD },
	[TUI_CURSOR] = { COLOR_BLACK, COLOR_CYAN, COLOR_BLACK, COLOR_CYAN, 0, A_REVERSE },
	[TUI_TAGGED] = { COLOR_YELLOW, -1, COLOR_YELLOW, -1, A_BOLD, A_BOLD | A_UNDERLINE },
	[TUI_TAB] = { COLOR_WHITE, COLOR_BLUE, 252, 238, 0, 0 },
	[TUI_TAB_ON] = { COLOR_BLACK, COLOR_GREEN, COLOR_BLACK, COLOR_GREEN, 0,
			 A_REVERSE | A_BOLD },
	[TUI_KEY] = { -1, -1, -1, -1, 0, 0 },
	[TUI_LABEL] = { COLOR_BLACK, COLOR_CYAN, COLOR_BLACK, COLOR_CYAN, 0, A_REVERSE },
	[TUI_STATUS] = { COLOR_YELLOW, -1, COLOR_YELLOW, -1, A_BOLD, A_BOLD },
};

static void take_colors(struct tui *t, enum out_color color)
{
	const char *no = getenv("NO_COLOR");
	bool own = false;
	short i;

	t->color = color == OUT_COLOR_ALWAYS || (color == OUT_COLOR_AUTO && !(no && *no));
	t->color = t->color && has_colors() && start_color() == OK && COLORS >= 8 &&
		   COLOR_PAIRS > TUI_STYLES;
	if (t->color)
		own = use_default_colors() == OK;
	for (i = 0; i < TUI_STYLES; i++) {
		const struct palette *p = &palette[i];
		short fg = COLORS >= 256 ? p->fg256 : p->fg, bg = COLORS >= 256 ? p->bg256 : p->bg;

		t->style[i] = t->color ? p->attr : p->mono;
		if (!t->color || (fg < 0 && bg < 0))
			continue;
		if (!own) {
			fg = fg < 0 ? COLOR_WHITE : fg;
			bg = bg < 0 ? COLOR_BLACK : bg;
		}
		if (init_pair((short)(i + 1), fg, bg) == OK)
			t->style[i] |= COLOR_PAIR(i + 1);
	}
	/* One of 256 colours is a grey; of 8 none is that can be seen on both black and white. */
	if (t->color && COLORS >= 256)
		t->style[TUI_DIM] &= ~A_DIM;
}

int tui_term_open(struct tui *t, enum out_color color, struct err *err)
{
	size_t i;
	int r = tui_check(err);

	if (r)
		return r;
	t->ascii = !take_locale();
	if (tcgetattr(STDIN_FILENO, &terminal.termios))
		return err_sys(err, errno, "cannot open the screen");
	for (i = 0; i < NSIGNALS; i++)
		sigaction(signals[i], NULL, &before[i]);
	set_escdelay(25);
	t->screen = newterm(NULL, stdout, stdin);
	if (!t->screen) {
		err_set(err, EINVAL, "cannot open the screen on terminal type %s", getenv("TERM"));
		err_hint(err, "%s", hint);
		return -EINVAL;
	}
	set_term(t->screen);
	tui_term_sized();
	terminal.open = 1;
	for (i = 0; i < NSIGNALS; i++)
		if (signals[i] == SIGINT || signals[i] == SIGTERM)
			sigaction(signals[i], &before[i], NULL);
	cbreak();
	noecho();
	nonl();
	intrflush(stdscr, FALSE);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	leaveok(stdscr, FALSE);
	curs_set(0);
	take_colors(t, color);
	mousemask(BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
	mouseinterval(0);
	return 0;
}

void tui_term_close(struct tui *t)
{
	size_t i;

	if (!t->screen)
		return;
	mousemask(0, NULL);
	endwin();
	terminal.open = 0;
	/* The modes as they were, to the bit. */
	tcsetattr(STDIN_FILENO, TCSADRAIN, &terminal.termios);
	delscreen(t->screen);
	t->screen = NULL;
	for (i = 0; i < NSIGNALS; i++)
		sigaction(signals[i], &before[i], NULL);
}

void tui_term_size(void)
{
	struct winsize ws;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) || !ws.ws_row || !ws.ws_col)
		return;
	if (ws.ws_row == LINES && ws.ws_col == COLS)
		return;
	resizeterm(ws.ws_row, ws.ws_col);
}

bool tui_term_alive(void)
{
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
	int there = 0;

	if (poll(&p, 1, 0) <= 0)
		return true;
	if (p.revents & (POLLHUP | POLLERR | POLLNVAL))
		return false;
	return !(p.revents & POLLIN) || (!ioctl(STDIN_FILENO, FIONREAD, &there) && there);
}
