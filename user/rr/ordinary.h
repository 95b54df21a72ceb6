/* SPDX-License-Identifier: MIT */
#ifndef RR_ORDINARY_H
#define RR_ORDINARY_H

/* Threads of the recorder that are not to run before the recorded program. */
#include <pthread.h>

/* With the ordinary priority, on any CPU, and all signals blocked. 0, or an errno. */
int ordinary_thread(pthread_t *thread, void *(*fn)(void *arg), void *arg);

#endif
