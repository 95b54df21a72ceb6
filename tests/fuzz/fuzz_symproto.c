/* SPDX-License-Identifier: MIT */
/*
 * A stream between tracer and its child that parses ELF files, in both
 * directions: what the decoders take is read in full, so that a sanitizer
 * sees a length that was not checked.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sym/symproto.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t sink;

static void read_bytes(const void *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sink += ((const unsigned char *)p)[i];
}

static void to_child(const struct symp_msg *m)
{
	struct symp_list l;
	struct symp_unwind u;
	const void *stack;
	enum symp_thing what;
	uint32_t file;

	if (!symp_file(m, &file) || !symp_debug(m, &file))
		sink += file;
	if (!symp_forget(m, &what, &file))
		sink += what + file;
	if (!symp_space(m, &l)) {
		uint64_t before = 0;

		for (uint32_t i = 0; i < l.n; i++) {
			struct symp_map e = symp_map_at(&l, i);

			if (e.start < before || e.end <= e.start)
				abort();
			before = e.end;
		}
	}
	if (!symp_name_request(m, &l)) {
		for (uint32_t i = 0; i < l.n; i++) {
			if (symp_addr_at(&l, i).kind >= SYMP_KINDS)
				abort();
		}
	}
	if (!symp_unwind_request(m, &u, &stack)) {
		if (!u.max || u.max > SYM_FRAMES)
			abort();
		read_bytes(stack, u.stack_bytes);
	}
}

static void to_parent(const struct symp_msg *m)
{
	const char *symbol, *source, *link;
	const unsigned char *id;
	struct symp_lack lack;
	struct symp_name n;
	struct symp_names w;
	struct symp_list l;

	if (!symp_stack(m, &l)) {
		if (l.n > SYM_FRAMES)
			abort();
		for (uint32_t i = 0; i < l.n; i++)
			sink += symp_ip_at(&l, i).ip;
	}
	if (symp_names_begin(m, &w))
		return;
	while (w.n && !symp_names_next(&w, &n, &symbol, &source)) {
		read_bytes(symbol, n.symbol_bytes);
		read_bytes(source, n.source_bytes);
	}
	while (w.nlack && !symp_lacks_next(&w, &lack, &id, &link)) {
		read_bytes(id, lack.id_bytes);
		read_bytes(link, lack.link_bytes);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct symp_msg m;
	size_t at = 0;
	long used;

	while (at < size && (used = symp_frame(data + at, size - at, &m)) > 0) {
		if ((size_t)used > size - at)
			abort();
		to_child(&m);
		to_parent(&m);
		at += (size_t)used;
	}
	return 0;
}
