/* SPDX-License-Identifier: MIT */
#ifndef OUT_HUMAN_H
#define OUT_HUMAN_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Figures for people: three significant digits and a unit, rounded half up in
 * integers, so no locale and no float is involved. They are for columns and
 * have a stated width; stats/units.h is for sentences. Each function fills and
 * returns @out. No result is wider than 8 terminal columns.
 */
#define HUMAN_BYTES 24

/* "0", "812 ns", "1.23 µs" (@ascii: "us"), "45.6 ms", "7.89 s", "16m40s", "2h05m", "3d04h". */
char *human_ns(char out[HUMAN_BYTES], uint64_t ns, bool ascii);
/* "812", "9999" exactly; from 10000 on "12.3k", "4.56M", "7.89G", … */
char *human_count(char out[HUMAN_BYTES], uint64_t n);
/* "812 B", "1.5 KiB", "45.6 MiB"; what a unit divides evenly has no zeros behind it: "64 KiB". */
char *human_bytes(char out[HUMAN_BYTES], uint64_t bytes);
/* A metric's value by its unit: "ns" as human_ns, "B" as human_bytes, any other as a count. */
char *human_value(char out[HUMAN_BYTES], double v, const char *unit);
/* @part of @whole: "100 %", "28.1 %", "2.81 %", "0.02 %"; "0 %", "<0.01 %". */
char *human_percent(char out[HUMAN_BYTES], uint64_t part, uint64_t whole);

#endif
