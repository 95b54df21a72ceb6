/* SPDX-License-Identifier: MIT */
#ifndef STATS_DIST_H
#define STATS_DIST_H

/*
 * Distribution functions. Tails are computed as such, never as 1 - p, so that
 * small ones keep their digits: relative errors are below 1e-10 down to 1e-100.
 */

/* P(Z > z), Z standard normal. */
double dist_normal_upper(double z);
/* z with P(Z <= z) = p; -INFINITY and INFINITY at 0 and 1. */
double dist_normal_quantile(double p);
/* P(T > t), T of Student's distribution with @df > 0 degrees of freedom, whole or not. */
double dist_t_upper(double t, double df);
/* The regularised incomplete beta function I_x(a, b), a and b > 0, x in [0, 1]. */
double dist_beta(double a, double b, double x);
/*
 * The @p quantile of chi-squared with @df degrees of freedom (Wilson & Hilferty
 * 1931): within 1 % for df >= 3 and p in 0.1 to 0.9, which is what planning needs.
 */
double dist_chi2_quantile(double p, double df);
/* log of the binomial coefficient "n over k". */
double dist_log_choose(double n, double k);

#endif
