/* SPDX-License-Identifier: MIT */
/*
 * Events of the BPF ring, each as a 16-bit length and its bytes: whatever comes,
 * rows stay bounded, names ended, and a thread's stages are its cost.
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/live_state.h"
#include "out/perfetto.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Each event in memory of its own length: a read past its end is seen. */
static void feed(struct live *l, const uint8_t *data, size_t len)
{
	struct ring_event ev = { .len = (uint32_t)len };
	void *copy = malloc(len ? len : 1);

	if (!copy)
		return;
	memcpy(copy, data, len);
	if (len >= sizeof(struct live_head)) {
		ev.ts = ((struct live_head *)copy)->ts;
		ev.data = copy;
		live_batch(l, &ev, 1);
	}
	free(copy);
}

static void check(const struct live *l)
{
	uint64_t cost;
	size_t i;
	int stage;

	if (l->nthread > LIVE_THREAD_ROWS || l->nsample > LIVE_SAMPLES)
		abort();
	for (i = 0; i < l->nthread; i++) {
		const struct sum_thread *t = &l->thread[i];

		if (!memchr(t->comm, 0, sizeof(t->comm)))
			abort();
		for (cost = 0, stage = 0; stage < SUM_STAGES; stage++)
			cost += t->stage_ns[stage];
		if (t->created && cost != t->cost_ns)
			abort();
	}
	for (i = 0; i < l->nsample; i++)
		if (l->sample[i].bytes > LIVE_STACK_BYTES ||
		    l->sample[i].nkernel > LIVE_KERNEL_FRAMES)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct live l = {};
	struct err err = {};
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	uint16_t len;

	if (!live_init_tables(&l)) {
		l.timeline = size && (data[0] & 1) ? trace_out_new(fd, &err) : NULL;
		while (size >= sizeof(len)) {
			memcpy(&len, data, sizeof(len));
			data += sizeof(len);
			size -= sizeof(len);
			if (len > size)
				len = (uint16_t)size;
			feed(&l, data, len);
			data += len;
			size -= len;
		}
		check(&l);
		trace_close(l.timeline, &err);
	}
	live_release_tables(&l);
	close(fd);
	return 0;
}
