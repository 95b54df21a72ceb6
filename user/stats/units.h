/* SPDX-License-Identifier: MIT */
#ifndef STATS_UNITS_H
#define STATS_UNITS_H

#include <stdint.h>

/*
 * Figures for people, in about three significant digits. Each returns its text by
 * value, so that it stands in an argument list: printf("%s", units_time(t).s).
 */
struct units_text { char s[32]; };

/* "640 ns", "31.2 µs", "1.50 ms", "2.00 s", "340 s"; negative as 0. */
struct units_text units_time(double ns);
/* "512 B", "1.50 KiB", "20.0 MiB"; powers of 1024. */
struct units_text units_bytes(double bytes);
/* "1,234,567". */
struct units_text units_count(uint64_t n);
/* A part of one: "34 %", "3.4 %", "0.03 %". */
struct units_text units_percent(double part);

#endif
