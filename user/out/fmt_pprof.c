/* SPDX-License-Identifier: MIT */
/*
 * The places that wait for locks as a profile for pprof: docs/formats/pprof.md.
 * The message is profile.proto's of github.com/google/pprof, whose field numbers
 * stand in the enums below; its sample types are those of Go's profiles of
 * contention, which pprof and its readers know.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/map.h"
#include "out/escape.h"
#include "out/out.h"
#include "out/pbuf.h"
#include "out/strtab.h"

enum profile_field {
	PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLE = 2, PROFILE_MAPPING = 3, PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5, PROFILE_STRING = 6, PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS = 10, PROFILE_PERIOD_TYPE = 11, PROFILE_PERIOD = 12,
	PROFILE_COMMENT = 13, PROFILE_DEFAULT_TYPE = 14,
};
enum type_field { TYPE_TYPE = 1, TYPE_UNIT = 2 };
enum sample_field { SAMPLE_LOCATION = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3 };
enum label_field { LABEL_KEY = 1, LABEL_STR = 2, LABEL_NUM = 3 };
enum mapping_field {
	MAPPING_ID = 1, MAPPING_FILENAME = 5, MAPPING_HAS_FUNCTIONS = 7,
	MAPPING_HAS_FILENAMES = 8, MAPPING_HAS_LINES = 9, MAPPING_HAS_INLINED = 10,
};
enum location_field {
	LOCATION_ID = 1, LOCATION_MAPPING = 2, LOCATION_ADDRESS = 3, LOCATION_LINE = 4,
};
enum line_field { LINE_FUNCTION = 1, LINE_LINE = 2 };
enum function_field {
	FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_SYSTEM_NAME = 3, FUNCTION_FILENAME = 4,
};

static const struct { const char *type, *unit; } sample_types[] = {
	{ "contentions", "count" },
	{ "delay", "nanoseconds" },
	{ "samples", "count" },
};

/* What makes two of them the same; strings by their number, others by their id. */
struct function_key { uint32_t name, file; };
struct chain_key { uint32_t before, function, line; };
struct location_key { uint64_t ip; uint32_t chain, mapping; };

struct profile {
	struct buf out;		/* the message so far */
	struct buf part, sub, lines, ids, name;
	struct strtab strings;
	/* Key → uint32_t id, from 1. A chain is the functions of one address. */
	struct map *functions, *chains, *locations, *mappings;
	bool failed;
};

/* The id of @key; *fresh: it is new and must be written. */
static uint32_t id_of(struct profile *p, struct map *m, const void *key, bool *fresh)
{
	uint32_t *id = map_put(m, key);

	if (!id) {
		p->failed = true;
		*fresh = false;
		return 0;
	}
	*fresh = !*id;
	if (*fresh)
		*id = (uint32_t)map_count(m);
	return *id;
}

/* Names are hostile: made printable as on terminals, which is where pprof prints them. */
static uint32_t string_of(struct profile *p, const char *s)
{
	buf_reset(&p->name);
	escape_term(&p->name, s, strlen(s), false);
	if (p->name.failed)
		p->failed = true;
	return strtab_add(&p->strings, p->name.data ? p->name.data : "");
}

/* .part as @field of the profile. */
static void end_part(struct profile *p, enum profile_field field)
{
	pbuf_bytes(&p->out, field, p->part.data, p->part.len);
	p->failed |= p->part.failed;
	buf_reset(&p->part);
}

static void put_type(struct profile *p, enum profile_field field, const char *type,
		     const char *unit)
{
	pbuf_u64(&p->part, TYPE_TYPE, strtab_add(&p->strings, type));
	pbuf_u64(&p->part, TYPE_UNIT, strtab_add(&p->strings, unit));
	end_part(p, field);
}

static uint32_t mapping_of(struct profile *p, const char *module)
{
	uint32_t name, id;
	bool fresh;

	if (!module || !*module)
		return 0;
	name = string_of(p, module);
	id = id_of(p, p->mappings, &name, &fresh);
	if (!fresh)
		return id;
	pbuf_u64(&p->part, MAPPING_ID, id);
	pbuf_u64(&p->part, MAPPING_FILENAME, name);
	/* What could be named is named: pprof need not look for the file. */
	pbuf_u64(&p->part, MAPPING_HAS_FUNCTIONS, 1);
	pbuf_u64(&p->part, MAPPING_HAS_FILENAMES, 1);
	pbuf_u64(&p->part, MAPPING_HAS_LINES, 1);
	pbuf_u64(&p->part, MAPPING_HAS_INLINED, 1);
	end_part(p, PROFILE_MAPPING);
	return id;
}

static uint32_t function_of(struct profile *p, const char *symbol, const char *file)
{
	struct function_key key = { 0 };
	bool fresh;
	uint32_t id;

	if (!symbol || !*symbol)
		return 0;
	key.name = string_of(p, symbol);
	key.file = file ? string_of(p, file) : 0;
	id = id_of(p, p->functions, &key, &fresh);
	if (!fresh)
		return id;
	pbuf_u64(&p->part, FUNCTION_ID, id);
	pbuf_u64(&p->part, FUNCTION_NAME, key.name);
	pbuf_u64(&p->part, FUNCTION_SYSTEM_NAME, key.name);
	pbuf_u64(&p->part, FUNCTION_FILENAME, key.file);
	end_part(p, PROFILE_FUNCTION);
	return id;
}

/* The function of @f, as a line of the location that is being put together. */
static void add_line(struct profile *p, const struct sum_frame *f, uint32_t *chain)
{
	struct chain_key key = { *chain, function_of(p, f->symbol, f->file), f->line };
	bool fresh;

	if (!key.function)
		return;
	*chain = id_of(p, p->chains, &key, &fresh);
	pbuf_u64(&p->sub, LINE_FUNCTION, key.function);
	pbuf_u64(&p->sub, LINE_LINE, f->line);
	pbuf_bytes(&p->lines, LOCATION_LINE, p->sub.data, p->sub.len);
	p->failed |= p->sub.failed;
	buf_reset(&p->sub);
}

/*
 * The location of the first of @n frames and of those that it is inlined into:
 * they have one address. *used: how many these are.
 */
static uint32_t location_of(struct profile *p, const struct sum_frame *f, size_t n, size_t *used)
{
	struct location_key key = { .ip = f->ip };
	bool fresh;
	uint32_t id;
	size_t i = 0;

	buf_reset(&p->lines);
	do
		add_line(p, &f[i], &key.chain);
	while (f[i++].inlined && i < n && f[i].ip == f->ip);
	*used = i;
	key.mapping = mapping_of(p, f->module);
	id = id_of(p, p->locations, &key, &fresh);
	if (!fresh)
		return id;
	pbuf_u64(&p->part, LOCATION_ID, id);
	pbuf_u64(&p->part, LOCATION_MAPPING, key.mapping);
	pbuf_u64(&p->part, LOCATION_ADDRESS, key.ip);
	buf_add(&p->part, p->lines.data, p->lines.len);
	p->failed |= p->lines.failed;
	end_part(p, PROFILE_LOCATION);
	return id;
}

static void put_label(struct profile *p, const char *key, uint32_t str, uint64_t num)
{
	buf_reset(&p->sub);
	pbuf_u64(&p->sub, LABEL_KEY, strtab_add(&p->strings, key));
	pbuf_u64(&p->sub, LABEL_STR, str);
	pbuf_u64(&p->sub, LABEL_NUM, num);
	pbuf_bytes(&p->part, SAMPLE_LABEL, p->sub.data, p->sub.len);
	p->failed |= p->sub.failed;
	buf_reset(&p->sub);
}

static void put_labels(struct profile *p, const struct sum_lock *l)
{
	const char *use = sum_lock_use_name(sum_lock_use(l));

	buf_reset(&p->lines);
	out_lock_name(&p->lines, l);
	p->failed |= p->lines.failed;
	put_label(p, "lock", string_of(p, p->lines.data ? p->lines.data : ""), 0);
	if (*use)
		put_label(p, "use", string_of(p, use), 0);
	if (l->comm[0])
		put_label(p, "process", string_of(p, l->comm), 0);
	if (l->tgid > 0)
		put_label(p, "pid", 0, (uint64_t)l->tgid);
}

/* Values are signed there. */
static uint64_t at_most(uint64_t v)
{
	return v > INT64_MAX ? INT64_MAX : v;
}

static void put_sample(struct profile *p, const struct sum_lock *l, const struct sum_site *site,
		       uint64_t waits, uint64_t wait_ns)
{
	static const struct sum_frame none = { .symbol = (char *)(uintptr_t)"[no stack]" };
	size_t i, used;

	buf_reset(&p->ids);
	for (i = 0; site && i < site->nkernel; i += used)
		pbuf_varint(&p->ids, location_of(p, &site->kernel[i], site->nkernel - i, &used));
	for (i = 0; site && i < site->nframe; i += used)
		pbuf_varint(&p->ids, location_of(p, &site->frame[i], site->nframe - i, &used));
	if (!p->ids.len)
		pbuf_varint(&p->ids, location_of(p, &none, 1, &used));
	pbuf_bytes(&p->part, SAMPLE_LOCATION, p->ids.data, p->ids.len);
	p->failed |= p->ids.failed;
	buf_reset(&p->ids);
	pbuf_varint(&p->ids, at_most(waits));
	pbuf_varint(&p->ids, at_most(wait_ns));
	pbuf_varint(&p->ids, site ? at_most(site->samples) : 0);
	pbuf_bytes(&p->part, SAMPLE_VALUE, p->ids.data, p->ids.len);
	p->failed |= p->ids.failed;
	put_labels(p, l);
	end_part(p, PROFILE_SAMPLE);
}

static void put_lock(struct profile *p, const struct sum_lock *l)
{
	struct sum_shares shares = sum_lock_shares(l);
	uint64_t waits, wait_ns;
	size_t i;

	if (!l->waits && !l->wait.sum)
		return;
	for (i = 0; i < l->nsite && shares.all; i++) {
		sum_lock_share(&shares, &l->site[i], &waits, &wait_ns);
		if (l->site[i].samples)
			put_sample(p, l, &l->site[i], waits, wait_ns);
	}
	if (!shares.all)
		put_sample(p, l, NULL, l->waits, l->wait.sum);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Readers call a profile by its first mapping: the program's own, where a stack has it. */
static void put_program(struct profile *p, const struct summary *s)
{
	const char *program = s->command && s->command[0] ? base_name(s->command[0]) : NULL;
	size_t i, j, k;

	for (i = 0; program && i < s->nlock; i++) {
		for (j = 0; j < s->lock[i].nsite; j++) {
			const struct sum_site *site = &s->lock[i].site[j];

			for (k = 0; k < site->nframe; k++) {
				const char *module = site->frame[k].module;

				if (module && !strcmp(base_name(module), program)) {
					mapping_of(p, module);
					return;
				}
			}
		}
	}
}

static void put_profile(struct profile *p, const struct summary *s)
{
	char comment[160];
	size_t i;

	for (i = 0; i < sizeof(sample_types) / sizeof(*sample_types); i++)
		put_type(p, PROFILE_SAMPLE_TYPE, sample_types[i].type, sample_types[i].unit);
	put_program(p, s);
	for (i = 0; i < s->nlock && !p->failed && !p->out.failed; i++)
		put_lock(p, &s->lock[i]);
	pbuf_u64(&p->out, PROFILE_TIME_NANOS, at_most(s->started_realtime_ns));
	pbuf_u64(&p->out, PROFILE_DURATION_NANOS, at_most(s->duration_ns));
	put_type(p, PROFILE_PERIOD_TYPE, sample_types[0].type, sample_types[0].unit);
	pbuf_u64(&p->out, PROFILE_PERIOD, 1);
	pbuf_u64(&p->out, PROFILE_DEFAULT_TYPE, strtab_add(&p->strings, "delay"));
	snprintf(comment, sizeof(comment), "tracer %s: waits for locks, %s mode, %" PRIu64
		 " events and stacks lost", s->tracer_version ? s->tracer_version : "",
		 s->mode == SUM_EXACT ? "exact" : "wait", s->loss.total);
	pbuf_u64(&p->out, PROFILE_COMMENT, string_of(p, comment));
	for (i = 0; i < p->strings.n; i++) {
		const char *text = strtab_get(&p->strings, (uint32_t)i);

		pbuf_bytes(&p->out, PROFILE_STRING, text, strlen(text));
	}
	p->failed |= p->strings.failed || p->out.failed;
}

/* As gzip(1) makes it, without a name or a time: the same profile is the same file. */
static int put_gzip(struct out_stream *o, const struct buf *b, struct err *err)
{
	z_stream z = { .next_in = (unsigned char *)b->data, .avail_in = (unsigned int)b->len };
	unsigned char out[16384];
	int r;

	if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY))
		return err_sys(err, ENOMEM, "cannot compress the profile");
	do {
		z.next_out = out;
		z.avail_out = sizeof(out);
		r = deflate(&z, Z_FINISH);
		out_write(o, out, sizeof(out) - z.avail_out);
	} while (r == Z_OK && !o->error);
	deflateEnd(&z);
	return 0;
}

static int pprof_summary(const struct summary *s, const struct out_opts *opts,
			 struct out_stream *o, struct err *err)
{
	struct profile p = {
		.functions = map_new(sizeof(struct function_key), sizeof(uint32_t)),
		.chains = map_new(sizeof(struct chain_key), sizeof(uint32_t)),
		.locations = map_new(sizeof(struct location_key), sizeof(uint32_t)),
		.mappings = map_new(sizeof(uint32_t), sizeof(uint32_t)),
	};
	int r;

	(void)opts;
	p.failed = !p.functions || !p.chains || !p.locations || !p.mappings;
	if (!p.failed)
		put_profile(&p, s);
	r = p.failed ? err_sys(err, ENOMEM, "cannot print the profile") : put_gzip(o, &p.out, err);
	map_free(p.functions);
	map_free(p.chains);
	map_free(p.locations);
	map_free(p.mappings);
	strtab_release(&p.strings);
	buf_release(&p.out);
	buf_release(&p.part);
	buf_release(&p.sub);
	buf_release(&p.lines);
	buf_release(&p.ids);
	buf_release(&p.name);
	return r;
}

const struct out_format out_format_pprof = { "pprof", pprof_summary };
