/* SPDX-License-Identifier: MIT */
#ifndef CLI_VALUE_H
#define CLI_VALUE_H

#include <stdint.h>

/*
 * Values as people write them on a command line. All return 0, -EINVAL for
 * what is no such value, or -ERANGE for one too large; *out is set on 0 only.
 */

/* Bytes: digits, then K, M, G or T (powers of 1024; "KiB", "kb" and "B" too). */
int cli_value_size(const char *s, uint64_t *out);
/* Nanoseconds, at least one: a decimal number, then ns, us, ms, s (also when absent), m or h. */
int cli_value_duration(const char *s, uint64_t *out_ns);
/* Digits alone: no sign, no blanks. */
int cli_value_uint(const char *s, uint64_t *out);

#endif
