/* SPDX-License-Identifier: MIT */
#ifndef BASE_ERR_H
#define BASE_ERR_H

/*
 * An error on its way up to the command that prints it. Library rooms append
 * here and never print. Lower case, subject in the middle, no full stop:
 * "cannot attach to pid 4242: no such process"; the hint is the next step a
 * person can take. Both are always NUL-terminated and cut, never overrun.
 */
struct err {
	int code;	/* positive errno, 0 when nothing was set */
	char msg[512];
	char hint[512];
};

/* Sets the message; returns -code so that `return err_set(...)` reads well. */
int err_set(struct err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* As err_set, with ": " and the words for @code (strerror) appended. */
int err_sys(struct err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Puts "fmt: " before the message there is; returns -err->code. */
int err_prefix(struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Sets the hint, the next step to take. */
void err_hint(struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
