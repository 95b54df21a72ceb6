/* SPDX-License-Identifier: MIT */
/* word_count_slow [THREADS [KIB]]: word_count.c a version later, slower. */
#define ADD_EACH_LINE 1
#include "word_count.c"
