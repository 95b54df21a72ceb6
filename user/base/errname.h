/* SPDX-License-Identifier: MIT */
#ifndef BASE_ERRNAME_H
#define BASE_ERRNAME_H

#include <stddef.h>

/*
 * The name of positive errno @code: "ENOENT"; the kernel's own from 512 on
 * too, "ERESTARTSYS". NULL when it has none (0 among them); lives for ever.
 */
const char *errname(int code);
/* The code that has this name (@n bytes, no NUL needed); 0: none has. */
int errname_find(const char *name, size_t n);

#endif
