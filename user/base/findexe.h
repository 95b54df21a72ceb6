/* SPDX-License-Identifier: MIT */
#ifndef BASE_FINDEXE_H
#define BASE_FINDEXE_H

#include <stdbool.h>
#include <stddef.h>

/* The file that execvp(3) would run for @command, into @path; false: there is none. */
bool findexe(char *path, size_t n, const char *command);

#endif
