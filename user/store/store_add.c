/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "store/detail.h"
#include "store/parts.h"

/* Rows that one statement adds at most, a power of two: three parameters each. */
#define VALUE_ROWS 64

/* FNV-1a, 64 bits: http://www.isthe.com/chongo/tech/comp/fnv/ */
static uint64_t fnv(uint64_t hash, const void *data, size_t n)
{
	const unsigned char *p = data;

	while (n--)
		hash = (hash ^ *p++) * 0x100000001b3ULL;
	return hash;
}

void store_machine_hash(const struct store_machine *m, char hash[STORE_HASH_LEN + 1])
{
	const char *const texts[] = { m->cpu_model, m->governor, m->kernel, m->vendor };
	uint64_t h = 0xcbf29ce484222325ULL;
	char numbers[64];
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		h = fnv(h, texts[i], strlen(texts[i]) + 1);
	snprintf(numbers, sizeof(numbers), "%" PRIu64 " %" PRIu64, m->cores,
		 (m->memory_bytes >> 30) + (m->memory_bytes >> 29 & 1));
	h = fnv(h, numbers, strlen(numbers));
	snprintf(hash, STORE_HASH_LEN + 1, "%016" PRIx64, h);
}

static int new_id(char id[STORE_ID_LEN + 1], struct err *err)
{
	uint64_t bits[2];

	if (getrandom(bits, sizeof(bits), 0) != (ssize_t)sizeof(bits))
		return err_sys(err, errno, "cannot get random bits");
	snprintf(id, STORE_ID_LEN + 1, "%016" PRIx64 "%016" PRIx64, bits[0], bits[1]);
	return 0;
}

/* Sets the key of the machine with the hash of @m, which is added when it is new. */
static int intern_machine(struct db *db, struct store_machine *m, struct err *err)
{
	const struct db_value hash = db_value_text(m->hash);
	int r = fields_insert(db, "machine", store_machine_fields, MACHINE_FIELDS, m,
			      "ON CONFLICT (hash) DO NOTHING RETURNING key", &m->key, err);

	if (!r)
		r = db_run_int(db, "SELECT key FROM machine WHERE hash = $1", &hash, 1, &m->key,
			       err);
	return r < 0 ? r : 0;
}

static int insert_bench(struct db *db, struct store_bench *b, struct err *err)
{
	int r = intern_machine(db, &b->machine, err);

	if (!r)
		r = fields_insert(db, "bench", store_bench_fields, BENCH_FIELDS, b,
				  "RETURNING key", &b->key, err);
	return r < 0 ? r : 0;
}

static int check_bench(const struct store_bench *b, struct err *err)
{
	struct db_value v[FIELDS_MAX];
	size_t n = strlen(b->id);
	int r = fields_bind(store_machine_fields, MACHINE_FIELDS, &b->machine, v, err);

	if (!r)
		r = fields_bind(store_bench_fields, BENCH_FIELDS, b, v, err);
	if (!r && !text_is_hex(b->commit))
		r = err_set(err, EINVAL, "commit %s is not of lower-case hex digits", b->commit);
	if (!r && n && n != STORE_ID_LEN)
		r = err_set(err, EINVAL, "a bench's id has %d hex digits, not %zu", STORE_ID_LEN,
			    n);
	return r;
}

/* ---- transactions: one for each addition, or for all between store_begin and store_end ---- */

static int begin(struct store *s, struct err *err)
{
	return s->together ? 0 : db_begin_write(s->db, err);
}

static int commit(struct store *s, struct err *err)
{
	return s->together ? 0 : db_commit(s->db, err);
}

static void roll_back(struct store *s)
{
	if (!s->together)
		db_rollback(s->db);
	/* Metrics that were new are not there after all. */
	s->metrics_known = false;
}

int store_begin(struct store *s, struct err *err)
{
	int r = db_begin_write(s->db, err);

	s->together = !r;
	return r ? err_prefix(err, "cannot write to the store") : 0;
}

int store_end(struct store *s, bool keep, struct err *err)
{
	int r = 0;

	s->together = false;
	if (keep)
		r = db_commit(s->db, err);
	else
		roll_back(s);
	if (r) {
		s->metrics_known = false;
		err_prefix(err, "cannot write to the store");
	}
	return r;
}

static int add_bench(struct store *s, struct store_bench *b, struct err *err)
{
	int r = begin(s, err);

	if (r)
		return r;
	r = insert_bench(s->db, b, err);
	if (!r)
		return commit(s, err);
	roll_back(s);
	return r;
}

int store_add_bench(struct store *s, struct store_bench *b, struct err *err)
{
	int r = check_bench(b, err);

	if (!r && !b->id[0])
		r = new_id(b->id, err);
	if (r)
		return err_prefix(err, "cannot store a bench");
	if (!b->group[0])
		memcpy(b->group, b->id, sizeof(b->group));
	store_machine_hash(&b->machine, b->machine.hash);
	return add_bench(s, b, err) ? err_prefix(err, "cannot store bench %s", b->id) : 0;
}

/* @rows rows of @v, three values each. A statement for each power of two is prepared once. */
static int insert_rows(struct db *db, const struct db_value *v, size_t rows, struct err *err)
{
	char sql[64 + VALUE_ROWS * 20];
	size_t at, i;

	at = (size_t)snprintf(sql, sizeof(sql), "INSERT INTO value (run, metric, value) VALUES ");
	for (i = 0; i < rows; i++)
		at += (size_t)snprintf(sql + at, sizeof(sql) - at, "%s($%zu, $%zu, $%zu)",
				       i ? ", " : "", 3 * i + 1, 3 * i + 2, 3 * i + 3);
	return db_run(db, sql, v, 3 * rows, err);
}

static int insert_values(struct store *s, int64_t run, const struct store_measured *m,
			 struct err *err)
{
	struct db_value v[3 * VALUE_ROWS];
	size_t done = 0, rows, i;
	int r = 0;

	for (rows = VALUE_ROWS; !r && done < m->values; ) {
		while (rows > m->values - done)
			rows /= 2;
		for (i = 0; !r && i < rows; i++) {
			const struct store_value *value = &m->value[done + i];
			const struct metric *metric;

			r = metrics_intern(&s->metrics, s->db, value, &metric, err);
			if (r)
				return r;
			v[3 * i] = db_value_int(run);
			v[3 * i + 1] = db_value_int(metric->key);
			v[3 * i + 2] = db_value_real(value->value);
		}
		r = insert_rows(s->db, v, rows, err);
		done += rows;
	}
	return r;
}

static int insert_detail(struct db *db, int64_t run, const struct buf *packed, size_t bytes,
			 struct err *err)
{
	const struct db_value v[] = { db_value_int(run), db_value_int((int64_t)bytes),
				      db_value_blob(packed->data, packed->len) };

	return db_run(db, "INSERT INTO detail (run, bytes, zstd) VALUES ($1, $2, $3)", v, 3, err);
}

static int insert_run(struct store *s, struct store_run *run, const struct store_measured *m,
		      const struct buf *packed, struct err *err)
{
	int r = fields_insert(s->db, "run", store_run_fields, RUN_FIELDS, run, "RETURNING key",
			      &run->key, err);

	if (r >= 0)
		r = insert_values(s, run->key, m, err);
	if (!r && m->detail)
		r = insert_detail(s->db, run->key, packed, m->detail_len, err);
	return r;
}

static int check_values(const struct store_measured *m, struct err *err)
{
	size_t i;

	for (i = 0; i < m->values; i++)
		if (!isfinite(m->value[i].value))
			return err_set(err, EINVAL, "the value of metric %s is not finite",
				       m->value[i].metric ? m->value[i].metric : "?");
	return 0;
}

static int add_packed(struct store *s, struct store_run *run, const struct store_measured *m,
		      const struct buf *packed, struct err *err)
{
	int r = begin(s, err);

	if (r)
		return r;
	if (!s->metrics_known) {
		r = metrics_read(&s->metrics, s->db, err);
		s->metrics_known = !r;
	}
	if (!r)
		r = insert_run(s, run, m, packed, err);
	if (!r)
		r = commit(s, err);
	else
		roll_back(s);
	if (r)
		s->metrics_known = false;
	return r;
}

int store_add_run(struct store *s, const struct store_bench *b, struct store_run *run,
		  const struct store_measured *m, struct err *err)
{
	struct buf packed = BUF_INIT;
	int r = check_values(m, err);

	run->bench_key = b->key;
	/* Packing takes longest, and is done before the store is locked. */
	if (!r && m->detail)
		r = detail_pack(m->detail, m->detail_len, &packed, err);
	if (!r)
		r = add_packed(s, run, m, &packed, err);
	buf_release(&packed);
	if (r == -EEXIST)
		err_prefix(err, "cannot store run %" PRIu64 " of bench %s", run->order, b->id);
	else if (r == -ENOENT)
		err_set(err, ENOENT, "bench %s is no longer in store %s", b->id, s->db->name);
	else if (r)
		err_prefix(err, "cannot store a run");
	return r;
}
