/* SPDX-License-Identifier: MIT */
#include "cli/term.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/io.h"
#include "cli/value.h"

bool cli_term_color(int fd)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (no && *no)
		return false;
	if (!term || !strcmp(term, "dumb"))
		return false;
	return isatty(fd);
}

unsigned int cli_term_width(int fd, unsigned int otherwise)
{
	const char *columns;
	struct winsize ws;
	uint64_t v;

	if (!ioctl(fd, TIOCGWINSZ, &ws) && ws.ws_col)
		return ws.ws_col;
	columns = getenv("COLUMNS");
	if (columns && !cli_value_uint(columns, &v) && v && v < 10000)
		return (unsigned int)v;
	return otherwise;
}

static void add_safe(struct buf *b, const char *s)
{
	for (const unsigned char *p = (const unsigned char *)s; *p; p++) {
		/* The C1 controls, CSI among them, are two bytes in UTF-8. */
		bool c1 = *p == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0;

		if (*p < 0x20 || *p == 0x7f || c1)
			buf_addf(b, "\\x%02x", *p);
		else
			buf_addc(b, (char)*p);
		if (c1)
			buf_addf(b, "\\x%02x", *++p);
	}
}

void cli_err_text(struct buf *b, const char *program, const struct err *err)
{
	buf_addf(b, "%s: ", program);
	add_safe(b, err->msg[0] ? err->msg : "unknown error");
	buf_addc(b, '\n');
	if (err->hint[0]) {
		buf_addf(b, "%s: ", program);
		add_safe(b, err->hint);
		buf_addc(b, '\n');
	}
}

void cli_line_text(struct buf *b, const char *line)
{
	add_safe(b, line);
	buf_addc(b, '\n');
}

int cli_fail(const char *program, const struct err *err, int code)
{
	struct buf b = BUF_INIT;

	cli_err_text(&b, program, err);
	if (b.len)
		io_write_all(STDERR_FILENO, b.data, b.len);
	buf_release(&b);
	return code;
}

void cli_vnote(const char *program, const char *fmt, va_list ap)
{
	struct err text = { 0 };

	vsnprintf(text.msg, sizeof(text.msg), fmt, ap);
	cli_fail(program, &text, 0);
}
