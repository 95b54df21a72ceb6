/* SPDX-License-Identifier: MIT */
/*
 * bench_ring PRODUCERS EVENTS RING_BYTES: that many producer threads, each on
 * its CPU, send that many events each from BPF into the tracer's rings, and one
 * thread takes them out in order, as `tracer run` does. Prints the rate, what
 * was lost, and the consumer's CPU time per event. A first lap, not measured,
 * touches the pages of the rings.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "base/clock.h"
#include "ring/ring.h"
#include "shared/live.h"

/* Last: it names the types of shared/live.h. */
#include "bench_ring.skel.h"

#define CHUNK 2000	/* events a call: a program is not preempted on every kernel */
#define SETTLE_NS 200000

struct producer {
	pthread_t thread;
	int cpu, prog;
	long events;
};

static volatile int running;
static long taken, disorder;
static uint64_t last_ts, bytes;

static void *produce(void *arg)
{
	struct producer *p = arg;
	struct { uint64_t events, pad; } ctx = { CHUNK, 0 };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = &ctx, .ctx_size_in = sizeof(ctx));
	cpu_set_t set;
	long i;

	CPU_ZERO(&set);
	CPU_SET(p->cpu, &set);
	pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
	for (i = 0; i < p->events; i += CHUNK)
		if (bpf_prog_test_run_opts(p->prog, &opts)) {
			perror("bench_ring: test_run");
			exit(1);
		}
	__atomic_fetch_sub(&running, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* Looks at each event as the tracer does: its head and one field of its body. */
static void take(void *ctx, const struct ring_event *ev, size_t n)
{
	size_t i;

	(void)ctx;
	for (i = 0; i < n; i++) {
		const struct live_slice *s = ev[i].data;

		disorder += ev[i].ts < last_ts;
		last_ts = ev[i].ts;
		bytes += s->head.len;
	}
	taken += (long)n;
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int failed(const char *what, const struct err *err)
{
	fprintf(stderr, "bench_ring: %s: %s\n", what, err ? err->msg : "");
	return 1;
}

static int send(int producers, long events, const struct bench_ring *b, struct ring *ring)
{
	struct producer p[64];
	int i;

	running = producers;
	for (i = 0; i < producers; i++) {
		p[i].cpu = i;
		p[i].events = events;
		p[i].prog = bpf_program__fd(b->progs.produce);
		if (pthread_create(&p[i].thread, NULL, produce, &p[i]))
			return failed("pthread_create", NULL);
	}
	while (__atomic_load_n(&running, __ATOMIC_ACQUIRE)) {
		ring_wait(ring, ring_pause_ms(ring), -1);
		ring_drain(ring, clock_mono_ns() - SETTLE_NS, take, NULL);
	}
	ring_drain(ring, UINT64_MAX, take, NULL);
	for (i = 0; i < producers; i++)
		pthread_join(p[i].thread, NULL);
	return 0;
}

static int measure(int producers, long events, const struct bench_ring *b, struct ring *ring)
{
	long lap = (long)(ring_bytes(ring) / sizeof(struct live_slice)) / CHUNK * CHUNK;
	uint64_t t0, c0, lost;

	if (send(producers, lap, b, ring))
		return 1;
	taken = disorder = 0;
	lost = b->bss->counts.ring_full;
	t0 = clock_mono_ns();
	c0 = cpu_ns();
	if (send(producers, events, b, ring))
		return 1;
	printf("events=%ld ns=%llu cpu_ns=%llu lost=%llu disorder=%ld\n", taken,
	       (unsigned long long)(clock_mono_ns() - t0), (unsigned long long)(cpu_ns() - c0),
	       (unsigned long long)(b->bss->counts.ring_full - lost), disorder);
	return 0;
}

int main(int argc, char **argv)
{
	int producers = argc > 1 ? atoi(argv[1]) : 1, cpus = libbpf_num_possible_cpus(), i, fd;
	long events = argc > 2 ? atol(argv[2]) : 1000000;
	size_t ring_size = argc > 3 ? strtoul(argv[3], NULL, 0) : 32 << 20;
	struct bench_ring *b;
	struct err err = {};
	struct ring *ring;

	if (producers < 1 || producers > 64 || producers > cpus)
		return failed("one producer a CPU", NULL);
	events -= events % CHUNK;
	b = bench_ring__open();
	if (!b)
		return failed("open", NULL);
	bpf_map__set_max_entries(b->maps.rings, (uint32_t)cpus);
	if (bench_ring__load(b))
		return failed("load", NULL);
	ring = ring_new((unsigned int)cpus, ring_size, &err);
	if (!ring)
		return failed("ring", &err);
	for (i = 0; i < cpus; i++) {
		fd = ring_fd(ring, (unsigned int)i);
		if (bpf_map__update_elem(b->maps.rings, &i, sizeof(i), &fd, sizeof(fd), 0))
			return failed("rings", NULL);
	}
	b->bss->ring_wake_bytes = ring_bytes(ring) / 4;
	setpriority(PRIO_PROCESS, 0, -20);	/* as run does */
	i = measure(producers, events, b, ring);
	ring_free(ring);
	bench_ring__destroy(b);
	return i;
}
