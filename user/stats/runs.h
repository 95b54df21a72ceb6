/* SPDX-License-Identifier: MIT */
#ifndef STATS_RUNS_H
#define STATS_RUNS_H

#include <stddef.h>
#include <stdint.h>

/*
 * How many runs a side would decide. Planning rests on the spread seen so far as the
 * standard deviation of one run, which must be positive. All are at least 2 and at
 * most RUNS_MOST, which also stands for what no number of runs decides.
 */
#define RUNS_MOST 1000000000ULL

/*
 * That the rank test finds the difference @effect at level @alpha, two-sided, with
 * probability @power: its efficiency is 3 / pi of the t test's for normal values.
 */
uint64_t runs_to_find(double sd, double effect, double alpha, double power);
/*
 * That the interval at @level of the difference of medians lies within +-@margin,
 * where the true difference is 0, with probability @power: the variance of a median
 * of n is pi / 2 times that of a mean.
 */
uint64_t runs_to_bound(double sd, double margin, double level, double power);
/* The fewest with which complete separation of the sides is significant at @alpha. */
uint64_t runs_to_separate(double alpha);
/*
 * What the standard deviation is at most, with 80 % confidence, when @sd was seen
 * with @df degrees of freedom: planning with @sd itself falls short half of the time.
 */
double runs_upper_sd(double sd, double df);
/*
 * The standard deviation of one value that gives an interval at @level of the
 * difference of the medians of @na and @nb the width @width, by the same variance.
 */
double runs_sd_of_interval(double width, double level, size_t na, size_t nb);

#endif
