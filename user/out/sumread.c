/* SPDX-License-Identifier: MIT */
#include "out/sumread.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- memory ---------------------------------------------------------------- */

int sumread_take(struct sumread *r, size_t bytes)
{
	if (bytes > SUMMARY_READ_BYTES - r->f->bytes) {
		r->j.bad_at = r->j.at;
		return err_set(r->err, EFBIG, "what stands there takes more than %zu MiB",
			       SUMMARY_READ_BYTES >> 20);
	}
	r->f->bytes += bytes;
	return 0;
}

int sumread_no_memory(struct sumread *r)
{
	r->j.bad_at = r->j.at;
	return err_sys(r->err, ENOMEM, "cannot keep it");
}

/* Room for one more row, zeroed, in an array of @n rows; grows at each power of two. */
int sumread_grow(struct sumread *r, void **rows, size_t n, size_t size)
{
	size_t cap = n ? n * 2 : 1;
	void *p;
	int e;

	if (n & (n - 1))
		return 0;
	e = sumread_take(r, (cap - n) * size);
	if (e)
		return e;
	p = realloc(*rows, cap * size);
	if (!p)
		return sumread_no_memory(r);
	memset((char *)p + n * size, 0, (cap - n) * size);
	*rows = p;
	return 0;
}

/* The string that was read last. */
int sumread_copy(struct sumread *r, char **out)
{
	int e = sumread_take(r, r->j.n + 1 + 2 * sizeof(void *));

	if (e)
		return e;
	*out = malloc(r->j.n + 1);
	if (!*out)
		return sumread_no_memory(r);
	memcpy(*out, r->j.s, r->j.n);
	(*out)[r->j.n] = '\0';
	return 0;
}

int sumread_keep(struct sumread *r, const char **out)
{
	struct summary_file *f = r->f;
	void *kept = f->kept;
	int e = sumread_grow(r, &kept, f->nkept, sizeof(*f->kept));

	if (e)
		return e;
	f->kept = kept;
	e = sumread_copy(r, &f->kept[f->nkept]);
	if (!e)
		*out = f->kept[f->nkept++];
	return e;
}

/* --- values ---------------------------------------------------------------- */

static void go_in(struct sumread *r, const char *name, size_t index)
{
	r->place[r->nplace++] = (struct sumread_place){ name, index };
}

bool sumread_is(const struct sumread *r, const char *word)
{
	return strlen(word) == r->j.n && !memcmp(word, r->j.s, r->j.n);
}

static int read_word(struct sumread *r, const char *(*word)(int i), int *out)
{
	int i, e = jread_string(&r->j);

	if (e)
		return e;
	for (i = 0; word(i); i++) {
		if (sumread_is(r, word(i))) {
			*out = i;
			return 0;
		}
	}
	return jread_fail(&r->j, "'%.*s' is not known", (int)(r->j.n < 64 ? r->j.n : 64), r->j.s);
}

static int read_hex(struct sumread *r, uint64_t *out)
{
	char text[19], *end;
	int e = jread_string(&r->j);

	if (e)
		return e;
	if (r->j.n > 2 && r->j.n < sizeof(text) && !memcmp(r->j.s, "0x", 2)) {
		memcpy(text, r->j.s, r->j.n);
		text[r->j.n] = '\0';
		/* strtoull would take a sign or blanks behind the 0x. */
		if (strspn(text + 2, "0123456789abcdefABCDEF") == r->j.n - 2) {
			*out = strtoull(text, &end, 16);
			return 0;
		}
	}
	return jread_fail(&r->j, "expected an address as in 0x7f3a6c000b60");
}

/*
 * A thread's name. Each of its bytes that was not UTF-8 went out as U+FFFD, which
 * is longer: where the whole is too long for a name, these become such bytes again.
 */
static int read_comm(struct sumread *r, char comm[SUM_COMM + 1])
{
	static const char replaced[] = "\xef\xbf\xbd";
	size_t i, n = 0;
	int e = jread_string(&r->j);

	if (e)
		return e;
	if (r->j.n <= SUM_COMM) {
		memcpy(comm, r->j.s, r->j.n);
		comm[r->j.n] = '\0';
		return 0;
	}
	for (i = 0; i < r->j.n && n < SUM_COMM; n++) {
		bool bad = r->j.n - i >= 3 && !memcmp(r->j.s + i, replaced, 3);

		comm[n] = bad ? '\xff' : r->j.s[i];
		i += bad ? 3 : 1;
	}
	comm[n] = '\0';
	return i == r->j.n ? 0 : jread_fail(&r->j, "a thread's name has more than %d bytes",
					     SUM_COMM);
}

int sumread_narrow(struct sumread *r, int64_t low, int64_t high, int64_t *v)
{
	int e = jread_i64(&r->j, v);

	if (e)
		return e;
	return *v < low || *v > high ? jread_fail(&r->j, "a number is out of range") : 0;
}

/* --- distributions --------------------------------------------------------- */

/* [[lower edge, count], …], rising. */
static int read_buckets(struct sumread *r)
{
	struct sumread_dist *d = &r->dist;
	int e = jread_array(&r->j), more, next = 0;

	while (!e && (more = jread_element(&r->j)) > 0) {
		uint64_t pair[2];
		size_t n = 0;
		int i;

		e = jread_array(&r->j);
		while (!e && (more = jread_element(&r->j)) > 0) {
			if (n == 2)
				return jread_fail(&r->j, "a bucket is [from, count]");
			e = jread_u64(&r->j, &pair[n++]);
		}
		if (e || more < 0)
			return -EINVAL;
		i = n == 2 ? (int)hist_bucket(pair[0]) : -1;
		if (i < next || hist_lower((unsigned int)i) != pair[0])
			return jread_fail(&r->j, "a bucket is not one of the histogram's, or "
					  "not behind the one before");
		d->bucket[i] = pair[1];
		next = i + 1;
	}
	d->has_buckets = true;
	return e ? e : more;
}

/*
 * Without buckets: as many values in those of the median, of the 99th percentile
 * and of the maximum as must be there for these to come out.
 */
static void guess_buckets(const struct sumread_dist *d, struct hist *h)
{
	uint64_t top = d->count / 100 ? d->count / 100 : 1, low = d->count / 2 + 1;

	if (!d->count)
		return;
	if (low > d->count - top)
		low = d->count - top;
	h->bucket[hist_bucket(d->p50)] += low;
	h->bucket[hist_bucket(d->p99)] += d->count - top - low;
	h->bucket[hist_bucket(d->max)] += top;
}

void sumread_hist(const struct sumread_dist *d, struct hist *h)
{
	memset(h, 0, sizeof(*h));
	h->count = d->count;
	h->sum = d->total;
	h->max = d->max;
	if (d->has_buckets)
		memcpy(h->bucket, d->bucket, sizeof(h->bucket));
	else
		guess_buckets(d, h);
}

static const struct sumread_member dist_members[] = {
	{ "count", M_DIST_U64, SUMREAD_AT(sumread_dist, count) },
	{ "total", M_DIST_U64, SUMREAD_AT(sumread_dist, total) },
	{ "p50", M_DIST_U64, SUMREAD_AT(sumread_dist, p50) },
	{ "p99", M_DIST_U64, SUMREAD_AT(sumread_dist, p99) },
	{ "max", M_DIST_U64, SUMREAD_AT(sumread_dist, max) }, { "buckets", .kind = M_BUCKETS },
	SUMREAD_END
};

static int read_dist(struct sumread *r, struct hist *h)
{
	int e;

	memset(&r->dist, 0, sizeof(r->dist));
	e = sumread_object(r, dist_members, &r->dist);
	if (!e)
		sumread_hist(&r->dist, h);
	return e;
}

/* --- arrays and objects ---------------------------------------------------- */

static int read_rows(struct sumread *r, const struct sumread_member *m, void *base)
{
	void **rows = (void **)((char *)base + m->at);
	size_t *n = (size_t *)((char *)base + m->n_at);
	int more = 0, e = *n ? jread_fail(&r->j, "it stands there twice") : jread_array(&r->j);

	while (!e && (more = jread_element(&r->j)) > 0) {
		void *row;

		go_in(r, NULL, *n);
		e = sumread_grow(r, rows, *n, m->size);
		if (e)
			break;
		row = (char *)*rows + *n * m->size;
		++*n;
		if (m->done)
			memset(&r->dist, 0, sizeof(r->dist));
		e = sumread_object(r, m->of, row);
		if (!e && m->done)
			e = m->done(r, row);
		if (!e)
			r->nplace--;
	}
	return e ? e : more;
}

/* Into .at of @base, by .kind. */
static int read_value(struct sumread *r, const struct sumread_member *m, void *base)
{
	void *at = (char *)base + m->at;
	struct jread *j = &r->j;
	int64_t v;
	int e;

	switch (m->kind) {
	case M_U64:
		return jread_u64(j, at);
	case M_I64:
		return jread_i64(j, at);
	case M_U32:
		e = sumread_narrow(r, 0, UINT32_MAX, &v);
		*(uint32_t *)at = e ? 0 : (uint32_t)v;
		return e;
	case M_INT:
		e = sumread_narrow(r, INT32_MIN, INT32_MAX, &v);
		*(int *)at = e ? 0 : (int)v;
		return e;
	case M_BOOL:
		return jread_bool(j, at);
	case M_REAL:
		return jread_real(j, at);
	case M_HEX:
		return read_hex(r, at);
	case M_STR:
		e = jread_string(j);
		return e ? e : sumread_copy(r, at);
	case M_NAME:
		e = jread_string(j);
		return e ? e : sumread_keep(r, at);
	case M_COMM:
		return read_comm(r, at);
	case M_WORD:
		return read_word(r, m->word, at);
	case M_DIST:
		return read_dist(r, at);
	case M_DIST_U64:
		return jread_u64(j, (uint64_t *)((char *)&r->dist + m->at));
	case M_BUCKETS:
		return read_buckets(r);
	case M_OBJECT:
		return sumread_object(r, m->of, base);
	case M_ROWS:
		return read_rows(r, m, base);
	case M_FN:
		return m->fn(r, base);
	}
	return 0;
}

/* null is what was not known: 0, as it was; of a real what is no number. */
static int read_member(struct sumread *r, const struct sumread_member *m, void *base)
{
	if (jread_peek(&r->j) != JREAD_NULL)
		return read_value(r, m, base);
	if (m->must)
		return jread_skip(&r->j) ? -EINVAL : jread_fail(&r->j, "it is null");
	if (m->kind == M_REAL)
		*(double *)((char *)base + m->at) = NAN;
	return jread_null(&r->j);
}

static const struct sumread_member *find(const struct sumread *r,
					 const struct sumread_member *table, size_t from)
{
	size_t i;

	for (i = from; table[i].name; i++)
		if (sumread_is(r, table[i].name))
			return &table[i];
	for (i = 0; i < from; i++)
		if (sumread_is(r, table[i].name))
			return &table[i];
	return NULL;
}

static int lacks(struct sumread *r, const struct sumread_member *table, uint64_t seen)
{
	size_t i;

	for (i = 0; table[i].name; i++)
		if (table[i].must && !(seen & 1ull << i))
			return jread_fail(&r->j, "'%s' is missing", table[i].name);
	return 0;
}

int sumread_object(struct sumread *r, const struct sumread_member *table, void *base)
{
	int more, e = jread_object(&r->j);
	uint64_t seen = 0;
	size_t next = 0;

	if (e)
		return e;
	while ((more = jread_member(&r->j)) > 0) {
		const struct sumread_member *m = find(r, table, next);

		if (!m) {
			e = jread_skip(&r->j);
			if (e)
				return e;
			continue;
		}
		next = (size_t)(m - table);
		go_in(r, m->name, 0);
		if (seen & 1ull << next)
			return jread_fail(&r->j, "it stands there twice");
		seen |= 1ull << next++;
		e = read_member(r, m, base);
		if (e)
			return e;
		r->nplace--;
	}
	return more ? more : lacks(r, table, seen);
}

/* An object whose names are data: @fn for each, with its value next. */
int sumread_names(struct sumread *r, void *base, int (*fn)(struct sumread *r, void *base))
{
	int more, e = jread_object(&r->j);

	while (!e && (more = jread_member(&r->j)) > 0)
		e = fn(r, base);
	return e ? e : more;
}

/* An array of strings: @fn for each. */
int sumread_strings(struct sumread *r, void *base, int (*fn)(struct sumread *r, void *base))
{
	int more, e = jread_array(&r->j);

	while (!e && (more = jread_element(&r->j)) > 0) {
		e = jread_string(&r->j);
		if (!e)
			e = fn(r, base);
	}
	return e ? e : more;
}
