/* SPDX-License-Identifier: MIT */
#ifndef RING_RING_H
#define RING_RING_H

/*
 * Consumer of BPF ring buffers, one a CPU. Producers wake nobody until a ring
 * is a quarter full, so the consumer comes by time; what it finds is handed on
 * in one batch, in the order of the events' times across all CPUs.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct ring;

/*
 * One event of a batch. @data stays valid until the batch function returns. What
 * is too short for a struct live_head is handed on for being counted, with the
 * time of the event before it; a length that the ring cannot hold as 0.
 */
struct ring_event {
	uint64_t ts;
	const void *data;
	uint32_t len;
};

/* Called with @n events in order of time. */
typedef void (*ring_batch_fn)(void *ctx, const struct ring_event *ev, size_t n);

/* Less a CPU holds too few of the largest events, stacks of 4 KiB, to be of use. */
#define RING_FLOOR ((size_t)64 << 10)

/*
 * The bytes to ask ring_new for where @want are wanted: RING_FLOOR for each CPU,
 * unless not even that is wanted over all.
 */
size_t ring_total(unsigned int ncpus, size_t want);
/* Bytes of one ring of @ncpus: the largest power of two of pages that fits, one page at least. */
size_t ring_share(unsigned int ncpus, size_t total_bytes);
/*
 * The CPUs that can come up, by number, so that each has a ring: one more than
 * the highest in @list, as of /sys/devices/system/cpu/present ("0-3,8"); 0: it
 * is no list.
 */
unsigned int ring_cpus_in(const char *list);
/* The same of this machine, which may have room for many more: @possible at most. */
unsigned int ring_cpus(unsigned int possible);

/*
 * Makes @ncpus BPF ring buffers of ring_share bytes each. Events must begin with
 * struct live_head (shared/live.h). NULL and @err: EPERM, ENOMEM, EINVAL.
 */
struct ring *ring_new(unsigned int ncpus, size_t total_bytes, struct err *err);
void ring_free(struct ring *r);

/* One ring as the kernel maps it; @data is its bytes twice in a row. */
struct ring_memory {
	unsigned long *consumer;
	const unsigned long *producer;
	const char *data;
};

/*
 * The same over memory that is the caller's and outlives it: @n rings of @bytes
 * each, a power of two. They have no descriptors, and wake nobody. NULL and
 * @err: ENOMEM.
 */
struct ring *ring_over(const struct ring_memory *memory, unsigned int n, size_t bytes,
		       struct err *err);

unsigned int ring_count(const struct ring *r);
/* The map's descriptor of ring @i, for the outer map; r's own. */
int ring_fd(const struct ring *r, unsigned int i);
/* Bytes of one ring. */
size_t ring_bytes(const struct ring *r);

/*
 * Waits until a producer wakes it, @timeout_ms have passed or the descriptor
 * @other (-1: none) is readable. 1: woken or @other; 0: time; -errno.
 */
int ring_wait(struct ring *r, int timeout_ms, int other);

/*
 * How long a wait may be, from how full the last drain found the rings: 1 to
 * 64 ms. A ring that fills up in between wakes the consumer by itself; after
 * such a wake it is 1 ms, since what it was for may be too young to be drained.
 */
int ring_pause_ms(const struct ring *r);

/*
 * Hands on all events up to @before_ns (CLOCK_MONOTONIC), UINT64_MAX: all there
 * are. What is younger stays for the next call, since an older one may still be
 * on its way on another CPU, and so does what comes meanwhile: producers that
 * are faster than @fn do not keep it from returning. What an event that is still
 * being written holds up stays as well. Returns the number handed on, or -ENOMEM.
 */
long ring_drain(struct ring *r, uint64_t before_ns, ring_batch_fn fn, void *ctx);

#endif
