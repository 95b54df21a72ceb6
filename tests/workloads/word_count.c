/* SPDX-License-Identifier: MIT */
/*
 * word_count [THREADS [KIB]]: counts the words of a text by their length. Threads take
 * the text by chunks, count those by themselves and add what they have to the totals,
 * under a lock. With ADD_EACH_LINE they add after each line instead: the same program,
 * a version later (word_count_slow.c), of which docs/regression has the report.
 */
#include <pthread.h>

#include "workload.h"

#ifndef ADD_EACH_LINE
#define ADD_EACH_LINE 0
#endif

enum { CHUNK = 16 << 10, LENGTHS = 16, MOST_THREADS = 64 };

static pthread_mutex_t totals_lock = PTHREAD_MUTEX_INITIALIZER;
static long totals[LENGTHS];
static char *text;
static size_t text_bytes;
static size_t next_chunk;

/* Lines of some 60 letters, the same each time. */
static void make_text(size_t bytes)
{
	uint32_t rng = 12345;
	size_t i, word = 5, line = 0;

	text = malloc(bytes);
	if (!text)
		wl_die("malloc");
	for (i = 0; i < bytes; i++) {
		rng = rng * 1664525 + 1013904223;
		if (word--) {
			text[i] = (char)('a' + (rng >> 24) % 26);
			line++;
			continue;
		}
		word = (rng >> 24) % 9;
		text[i] = line > 60 ? '\n' : ' ';
		line = line > 60 ? 0 : line;
	}
	text_bytes = bytes;
}

static void add(long *counted)
{
	size_t i;

	pthread_mutex_lock(&totals_lock);
	for (i = 0; i < LENGTHS; i++)
		totals[i] += counted[i];
	pthread_mutex_unlock(&totals_lock);
	memset(counted, 0, LENGTHS * sizeof(*counted));
}

static void count_chunk(const char *at, const char *end, long *counted)
{
	size_t length = 0;

	for (; at < end; at++) {
		if (*at != ' ' && *at != '\n') {
			length++;
			continue;
		}
		counted[length < LENGTHS ? length : LENGTHS - 1]++;
		length = 0;
		if (ADD_EACH_LINE && *at == '\n')
			add(counted);
	}
	add(counted);
}

static void *worker(void *arg)
{
	long counted[LENGTHS] = { 0 };
	size_t from;

	(void)arg;
	while ((from = __atomic_fetch_add(&next_chunk, CHUNK, __ATOMIC_RELAXED)) < text_bytes) {
		size_t end = from + CHUNK < text_bytes ? from + CHUNK : text_bytes;

		count_chunk(text + from, text + end, counted);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	long threads = wl_arg(argc, argv, 1, 4), kib = wl_arg(argc, argv, 2, 8192), i, words = 0;
	pthread_t t[MOST_THREADS];

	if (threads < 1 || threads > MOST_THREADS)
		wl_die("threads");
	make_text((size_t)kib << 10);
	for (i = 0; i < threads; i++) {
		errno = pthread_create(&t[i], NULL, worker, NULL);
		if (errno)
			wl_die("pthread_create");
	}
	for (i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	for (i = 0; i < LENGTHS; i++)
		words += totals[i];
	printf("words=%ld\n", words);
	free(text);
	return 0;
}
