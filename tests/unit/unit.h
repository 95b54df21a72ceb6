/* SPDX-License-Identifier: MIT */
#ifndef UNIT_H
#define UNIT_H

/* cmocka with what it wants to be included first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#endif
