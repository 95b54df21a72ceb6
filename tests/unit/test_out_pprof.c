/* SPDX-License-Identifier: MIT */
/* The profile is read back by a decoder of the wire format that shares nothing with the encoder. */
#include "out_text.h"

#include <zlib.h>

struct field {
	unsigned int number;
	uint64_t v;		/* of a number */
	const uint8_t *at;	/* of a string, a message or an array */
	size_t len;
};

static uint64_t varint(const uint8_t **p, const uint8_t *end)
{
	unsigned int shift = 0;
	uint64_t v = 0;

	for (;;) {
		assert_true(*p < end && shift < 64);
		v |= (uint64_t)(**p & 0x7f) << shift;
		shift += 7;
		if (!(*(*p)++ & 0x80))
			return v;
	}
}

static bool next_field(const uint8_t **p, const uint8_t *end, struct field *f)
{
	uint64_t key;

	if (*p == end)
		return false;
	key = varint(p, end);
	*f = (struct field){ .number = (unsigned int)(key >> 3) };
	if ((key & 7) == 0) {
		f->v = varint(p, end);
		return true;
	}
	assert_int_equal(key & 7, 2);
	f->len = varint(p, end);
	assert_true(f->len <= (size_t)(end - *p));
	f->at = *p;
	*p += f->len;
	return true;
}

struct profile {
	uint8_t *data;
	size_t len;
	const char *string[512];
	size_t nstring, functions, locations, mappings, samples;
	uint64_t sum[3];	/* of the samples' values */
	uint64_t time_ns, duration_ns, default_type;
};

static void unzip(const struct buf *text, struct profile *p)
{
	z_stream z = { .next_in = (uint8_t *)text->data, .avail_in = (unsigned int)text->len };

	p->data = malloc(1 << 22);
	assert_non_null(p->data);
	z.next_out = p->data;
	z.avail_out = 1 << 22;
	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	p->len = z.total_out;
	inflateEnd(&z);
}

static void read_string(struct profile *p, const struct field *f)
{
	char *s = malloc(f->len + 1);

	assert_true(s && p->nstring < 512);
	memcpy(s, f->at, f->len);
	s[f->len] = '\0';
	assert_int_equal(strlen(s), f->len);
	p->string[p->nstring++] = s;
}

/* A location's, function's or mapping's id, which is the next one. */
static void check_id(const struct field *f, size_t *n)
{
	const uint8_t *at = f->at;
	struct field in;

	assert_true(next_field(&at, f->at + f->len, &in));
	assert_int_equal(in.number, 1);
	assert_int_equal(in.v, ++*n);
}

static void read_sample(struct profile *p, const struct field *f)
{
	const uint8_t *at = f->at, *end = at + f->len, *values;
	size_t labels = 0;
	struct field in;
	int i;

	while (next_field(&at, end, &in)) {
		values = in.at;
		if (in.number == 1) {
			assert_true(in.len > 0);
			while (values < in.at + in.len)
				assert_in_range(varint(&values, in.at + in.len), 1, p->locations);
		} else if (in.number == 2) {
			for (i = 0; i < 3; i++)
				p->sum[i] += varint(&values, in.at + in.len);
			assert_ptr_equal(values, in.at + in.len);
		} else {
			assert_int_equal(in.number, 3);
			labels++;
		}
	}
	assert_in_range(labels, 3, 4);
	p->samples++;
}

static void read_profile(const struct buf *text, struct profile *p)
{
	const uint8_t *at;
	struct field f;

	memset(p, 0, sizeof(*p));
	unzip(text, p);
	at = p->data;
	while (next_field(&at, p->data + p->len, &f)) {
		switch (f.number) {
		case 2: read_sample(p, &f); break;
		case 3: check_id(&f, &p->mappings); break;
		case 4: check_id(&f, &p->locations); break;
		case 5: check_id(&f, &p->functions); break;
		case 6: read_string(p, &f); break;
		case 9: p->time_ns = f.v; break;
		case 10: p->duration_ns = f.v; break;
		case 14: p->default_type = f.v; break;
		default: break;
		}
	}
	assert_string_equal(p->string[0], "");
}

static size_t find_string(const struct profile *p, const char *s)
{
	size_t i;

	for (i = 0; i < p->nstring; i++)
		if (!strcmp(p->string[i], s))
			return i;
	fail_msg("'%s' is not among the strings", s);
	return 0;
}

static void release(struct profile *p)
{
	size_t i;

	for (i = 0; i < p->nstring; i++)
		free((char *)(uintptr_t)p->string[i]);
	free(p->data);
}

static void values_add_up_to_the_summary_s(void **state)
{
	uint64_t waits = 0, wait_ns = 0, samples = 0;
	struct profile p;
	struct summary s;
	struct buf text;
	size_t i, k;

	(void)state;
	fixture_rich(&s);
	for (i = 0; i < s.nlock; i++) {
		waits += s.lock[i].waits;
		wait_ns += s.lock[i].wait.sum;
		for (k = 0; k < s.lock[i].nsite; k++)
			samples += s.lock[i].site[k].samples;
	}
	out_text("pprof", &s, &(struct out_opts){ 0 }, &text);
	read_profile(&text, &p);
	assert_int_equal(p.sum[0], waits);
	assert_int_equal(p.sum[1], wait_ns);
	assert_int_equal(p.sum[2], samples);
	/* Two sites of the first lock, and the two locks without. */
	assert_int_equal(p.samples, 4);
	/* Six frames and one; and one for all without a stack. */
	assert_int_equal(p.locations, 8);
	assert_int_equal(p.functions, 7);
	assert_int_equal(p.mappings, 2);
	assert_int_equal(p.time_ns, s.started_realtime_ns);
	assert_int_equal(p.duration_ns, s.duration_ns);
	assert_int_equal(p.default_type, find_string(&p, "delay"));
	find_string(&p, "queue_lock");
	find_string(&p, "/src/orders/queue.c");
	find_string(&p, "[no stack]");
	/* The program is the first mapping, by which readers call the profile. */
	assert_true(find_string(&p, "/opt/orders/bin/orders") < find_string(&p, "queue_pop"));
	release(&p);
	buf_release(&text);
	summary_release(&s);
}

static void inlined_functions_share_a_location(void **state)
{
	struct profile p;
	struct summary s;
	struct buf text;
	struct sum_frame *f;

	(void)state;
	fixture_rich(&s);
	f = s.lock[0].site[0].frame;
	f[2].inlined = true;
	f[2].ip = f[3].ip;
	out_text("pprof", &s, &(struct out_opts){ 0 }, &text);
	read_profile(&text, &p);
	assert_int_equal(p.locations, 7);
	assert_int_equal(p.functions, 7);
	release(&p);
	buf_release(&text);
	/* Not where the next frame is of another address, or there is none. */
	f[5].inlined = true;
	f[2].ip++;
	out_text("pprof", &s, &(struct out_opts){ 0 }, &text);
	read_profile(&text, &p);
	assert_int_equal(p.locations, 8);
	release(&p);
	buf_release(&text);
	summary_release(&s);
}

/* Without addresses, and one without a name: locations all the same. */
static void kernel_frames_are_locations_too(void **state)
{
	struct profile p;
	struct summary s;
	struct buf text;
	size_t locations;

	(void)state;
	fixture_rich(&s);
	out_text("pprof", &s, &(struct out_opts){ 0 }, &text);
	read_profile(&text, &p);
	locations = p.locations;
	release(&p);
	buf_release(&text);
	fixture_kernel(&s.lock[0]);
	out_text("pprof", &s, &(struct out_opts){ 0 }, &text);
	read_profile(&text, &p);
	assert_int_equal(p.locations, locations + 2);
	release(&p);
	buf_release(&text);
	summary_release(&s);
}

static void hostile_names_are_made_printable(void **state)
{
	struct profile p;
	struct summary s;
	struct buf text;
	size_t i;

	(void)state;
	fixture_hostile(&s);
	out_text("pprof", &s, &(struct out_opts){ 0 }, &text);
	read_profile(&text, &p);
	assert_true(p.nstring > 10);
	for (i = 0; i < p.nstring; i++) {
		const struct buf one = { .data = (char *)(uintptr_t)p.string[i],
					 .len = strlen(p.string[i]) };

		assert_harmless(&one);
		assert_null(strchr(p.string[i], '\n'));
	}
	release(&p);
	buf_release(&text);
	summary_release(&s);
}

static void the_smallest_and_the_largest_are_profiles(void **state)
{
	struct profile p;
	struct summary s;
	struct buf text;

	(void)state;
	fixture_empty(&s, SUM_WAIT, SUM_FUTEX);
	out_text("pprof", &s, &(struct out_opts){ 0 }, &text);
	read_profile(&text, &p);
	assert_int_equal(p.samples, 0);
	release(&p);
	buf_release(&text);
	summary_release(&s);
	fixture_huge(&s);
	out_text("pprof", &s, &(struct out_opts){ 0 }, &text);
	read_profile(&text, &p);
	assert_int_equal(p.samples, 4);
	release(&p);
	buf_release(&text);
	summary_release(&s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_add_up_to_the_summary_s),
		cmocka_unit_test(inlined_functions_share_a_location),
		cmocka_unit_test(kernel_frames_are_locations_too),
		cmocka_unit_test(hostile_names_are_made_printable),
		cmocka_unit_test(the_smallest_and_the_largest_are_profiles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
