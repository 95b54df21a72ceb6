/* SPDX-License-Identifier: MIT */
#include "base/err.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static size_t err_used(int n, size_t room)
{
	if (n < 0)
		return 0;
	return (size_t)n < room ? (size_t)n : room - 1;
}

int err_set(struct err *err, int code, const char *fmt, ...)
{
	va_list ap;

	assert(code > 0);
	err->code = code;
	err->hint[0] = '\0';
	va_start(ap, fmt);
	vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
	return -code;
}

int err_sys(struct err *err, int code, const char *fmt, ...)
{
	va_list ap;
	size_t n;
	const char *words;

	assert(code > 0);
	words = strerrordesc_np(code);
	err->code = code;
	err->hint[0] = '\0';
	va_start(ap, fmt);
	n = err_used(vsnprintf(err->msg, sizeof(err->msg), fmt, ap), sizeof(err->msg));
	va_end(ap);
	if (!words)
		snprintf(err->msg + n, sizeof(err->msg) - n, ": error %d", code);
	else if (words[0] >= 'A' && words[0] <= 'Z' && words[1] >= 'a' && words[1] <= 'z')
		/* Lower case as all messages are; "RFS specific error" keeps its capitals. */
		snprintf(err->msg + n, sizeof(err->msg) - n, ": %c%s", words[0] - 'A' + 'a',
			 words + 1);
	else
		snprintf(err->msg + n, sizeof(err->msg) - n, ": %s", words);
	return -code;
}

int err_prefix(struct err *err, const char *fmt, ...)
{
	char old[sizeof(err->msg)];
	va_list ap;
	size_t n;

	memcpy(old, err->msg, sizeof(old));
	va_start(ap, fmt);
	n = err_used(vsnprintf(err->msg, sizeof(err->msg), fmt, ap), sizeof(err->msg));
	va_end(ap);
	/* A long prefix may cut the end of the message: stated in the header. */
	if (n + 3 < sizeof(err->msg)) {
		size_t room = sizeof(err->msg) - n - 3;
		size_t len = strlen(old);

		if (len > room)
			len = room;
		memcpy(err->msg + n, ": ", 2);
		memcpy(err->msg + n + 2, old, len);
		err->msg[n + 2 + len] = '\0';
	}
	return -err->code;
}

void err_hint(struct err *err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err->hint, sizeof(err->hint), fmt, ap);
	va_end(ap);
}
