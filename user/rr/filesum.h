/* SPDX-License-Identifier: MIT */
#ifndef RR_FILESUM_H
#define RR_FILESUM_H

/* A sum of a file's bytes, by which damage is found. It is no defence against who wants it. */
#include <stdint.h>

/* Of all that is behind @fd's beginning; blocks as reading does. 0 or -errno. */
int filesum(int fd, uint64_t *sum);

#endif
