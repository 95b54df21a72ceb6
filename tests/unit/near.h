/* SPDX-License-Identifier: MIT */
#ifndef NEAR_H
#define NEAR_H

/* Figures that agree to so many digits. */
#include <math.h>
#include <stdio.h>

#include "unit.h"

/* |got - want| <= part * |want|; infinities must be the same one. */
#define assert_near(got, want, part) do { \
	double got_ = (got), want_ = (want); \
	if (!(got_ == want_ || fabs(got_ - want_) <= (part) * fabs(want_))) \
		fail_msg("%s is %.17g, not %.17g", #got, got_, want_); \
} while (0)

#endif
