/* SPDX-License-Identifier: MIT */
#include "stats/rng.h"

static uint64_t rotate(uint64_t x, unsigned int by)
{
	return x << by | x >> (64 - by);
}

/* SplitMix64: a counter whose bits are mixed. */
static uint64_t split_next(uint64_t *counter)
{
	uint64_t z = *counter += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

void rng_seed(struct rng *r, uint64_t seed)
{
	unsigned int i;

	for (i = 0; i < 4; i++)
		r->s[i] = split_next(&seed);
}

uint64_t rng_next(struct rng *r)
{
	uint64_t *s = r->s;
	uint64_t out = rotate(s[1] * 5, 7) * 9, t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate(s[3], 45);
	return out;
}

double rng_unit(struct rng *r)
{
	return (double)(rng_next(r) >> 11) * 0x1p-53;
}

/*
 * The high half of a 128-bit product (Lemire 2019, "Fast random integer generation in
 * an interval"): the results are even when products whose low half is below 2^64 mod n
 * are drawn again, and that remainder is needed only where the low half is below n.
 */
uint64_t rng_below(struct rng *r, uint64_t n)
{
	unsigned __int128 product = (unsigned __int128)rng_next(r) * n;

	if ((uint64_t)product < n) {
		uint64_t again = -n % n;

		while ((uint64_t)product < again)
			product = (unsigned __int128)rng_next(r) * n;
	}
	return (uint64_t)(product >> 64);
}
