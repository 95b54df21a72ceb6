/* SPDX-License-Identifier: MIT */
/*
 * Two bytes of options, a list, a pattern and a delimiter that end at newlines, a stream: what
 * a command that gives back each line makes of it is the stream again.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "../unit/tape_through.h"

#define TEXT_MAX 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Cuts off a line into @text; its length. */
static size_t cut(const char **p, const char *end, char *text, size_t cap)
{
	size_t n = 0;

	while (*p < end && **p != '\n' && n < cap - 1)
		text[n++] = *(*p)++;
	text[n] = '\0';
	*p += *p < end;
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char message[TAPE_MESSAGE_BYTES], list[64], pattern[128], delimiter[16];
	const char *p = (const char *)data + 2, *end = (const char *)data + size;
	struct tape_select sel = { .size = sizeof(sel), .list = list, .pattern = pattern,
				   .delimiter = delimiter };
	struct buf out = BUF_INIT;
	struct tape_splitter *s;
	uint64_t seed;
	int r;

	if (size < 2 || size > TEXT_MAX)
		return 0;
	sel.by = (enum tape_by)(data[0] % (TAPE_CSV + 1));
	if (sel.by == TAPE_NUMBERED)
		return 0;
	sel.invert = data[1] & 1;
	sel.whole = sel.nul = data[1] & 2;
	sel.unquote = data[1] & 4;
	sel.header = data[1] >> 3 & 1;
	if (sel.by == TAPE_MATCHING) {
		sel.before = data[1] >> 4 & 3;
		sel.after = data[1] >> 6;
	}
	cut(&p, end, list, sizeof(list));
	sel.pattern_bytes = cut(&p, end, pattern, sizeof(pattern));
	sel.delimiter_bytes = cut(&p, end, delimiter, sizeof(delimiter));
	message[0] = '\0';
	s = tape_splitter_new(&sel, message);
	if (!s) {
		/* A refusal has its words. */
		if (!message[0])
			abort();
		return 0;
	}
	seed = data[0] * 256u + data[1];
	r = through(s, p, (size_t)(end - p), sel.nul ? '\0' : '\n', &seed, &out);
	if (r < 0 ? !tape_splitter_message(s)[0] :
	    out.len != (size_t)(end - p) || (out.len && memcmp(out.data, p, out.len)))
		abort();
	tape_splitter_free(s);
	buf_release(&out);
	return 0;
}
