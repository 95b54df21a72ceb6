/* SPDX-License-Identifier: MIT */
#include "rr/filesum.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PART_BYTES ((size_t)1 << 18)
#define LANES 4		/* the processor works at so many at a time */
#define STEP (LANES * sizeof(uint64_t))

static uint64_t turn(uint64_t x, int by)
{
	return x << by | x >> (64 - by);
}

/* Each step can be undone, so that a byte that is another always makes another sum. */
static void add(uint64_t lane[LANES], const unsigned char *data, size_t n)
{
	const uint64_t odd = 0x9e3779b97f4a7c15ull;
	uint64_t w[LANES];

	for (size_t i = 0; i < n; i += STEP) {
		memcpy(w, data + i, STEP);
		for (int k = 0; k < LANES; k++)
			lane[k] = turn((lane[k] ^ w[k]) * odd, 29);
	}
}

static uint64_t finish(const uint64_t lane[LANES], uint64_t bytes)
{
	const uint64_t odd = 0x9e3779b97f4a7c15ull;
	uint64_t all = bytes * odd;

	for (int k = 0; k < LANES; k++)
		all = (turn(all, 17) ^ lane[k]) * odd;
	return all ^ all >> 32;
}

/* Fills @part, unless the file ends before: how much, or -errno. */
static ssize_t read_part(int fd, unsigned char *part, uint64_t at)
{
	size_t have = 0;
	ssize_t n;

	while (have < PART_BYTES &&
	       (n = pread(fd, part + have, PART_BYTES - have, (off_t)(at + have))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		have += (size_t)n;
	}
	return (ssize_t)have;
}

int filesum(int fd, uint64_t *sum)
{
	unsigned char *part = malloc(PART_BYTES);
	uint64_t lane[LANES] = { 1, 2, 3, 4 }, bytes = 0;
	ssize_t n;

	if (!part)
		return -ENOMEM;
	while ((n = read_part(fd, part, bytes)) > 0) {
		/* The last step is filled up with zeros; the length tells them from the file's. */
		memset(part + n, 0, -(size_t)n % STEP);
		add(lane, part, (size_t)n);
		bytes += (uint64_t)n;
	}
	free(part);
	*sum = finish(lane, bytes);
	return n < 0 ? (int)n : 0;
}
