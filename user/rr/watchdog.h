/* SPDX-License-Identifier: MIT */
#ifndef RR_WATCHDOG_H
#define RR_WATCHDOG_H

/*
 * A thread in real time that does not come to rest takes its CPU from all others. The kernel
 * counts how long it ran without sleep (RLIMIT_RTTIME, setrlimit(2)) and tells it.
 */
#include "base/err.h"

/*
 * Past @seconds the process leaves real time, and @fn is called in a signal's handler: system
 * calls alone, and it does not come back. Where the signal is not taken, since the thread is in
 * the kernel, guardian.h helps. Processes that are begun later inherit the limit. 0 or -errno
 * with words.
 */
int watchdog_start(unsigned int seconds, void (*fn)(void), struct err *err);
/* No limit until the other, which sleeps for a moment so that the count begins anew. */
void watchdog_pause(void);
void watchdog_go_on(void);

#endif
