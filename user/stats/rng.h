/* SPDX-License-Identifier: MIT */
#ifndef STATS_RNG_H
#define STATS_RNG_H

#include <stdint.h>

/*
 * Random numbers that a seed decides, so that the same data give the same figures
 * on every machine: xoshiro256** (Blackman & Vigna 2021, "Scrambled linear
 * pseudorandom number generators"), seeded by SplitMix64 (Steele, Lea & Flood
 * 2014). Not for secrets. A state belongs to one thread.
 */
struct rng { uint64_t s[4]; };

/* Any @seed is good, 0 too. */
void rng_seed(struct rng *r, uint64_t seed);
/* All 64 bits. */
uint64_t rng_next(struct rng *r);
/* In [0, 1), a multiple of 2^-53. */
double rng_unit(struct rng *r);
/* In [0, n), without bias; @n > 0. */
uint64_t rng_below(struct rng *r, uint64_t n);

#endif
