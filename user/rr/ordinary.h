/* SPDX-License-Identifier: MIT */
#ifndef RR_ORDINARY_H
#define RR_ORDINARY_H

/* Threads of the recorder that are not to run before the recorded program. */
#include <pthread.h>
#include <sys/types.h>

/* With the ordinary priority, on any CPU, and all signals blocked. 0, or an errno. */
int ordinary_thread(pthread_t *thread, void *(*fn)(void *arg), void *arg);
/*
 * Waits for the end of a child, or of a process that is attached to, by such a thread; the
 * status as wait(2) tells it. To take an ended process, the kernel goes round until nobody holds
 * its directory in /proc: who does may be the recorded program, which would never run again
 * if a real-time thread before it went round.
 */
int ordinary_reap(pid_t pid);

#endif
