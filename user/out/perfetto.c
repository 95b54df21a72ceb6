/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: events are put together in the stream's buffer, without printf, as
 * there are millions of them. The buffer is flushed between events only, so what
 * is known to be on disk always ends with a complete one.
 */
#include "out/perfetto.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "out/escape.h"
#include "out/outstream.h"

#define TRACE_BUF_BYTES (256 * 1024)
/* The most one event takes: each byte of its strings may become \u00XX. */
#define TRACE_EVENT_BYTES ((2 + 2 * TRACE_ARGS_MAX) * (6 * TRACE_STRING_BYTES + 8) + 512)
_Static_assert(TRACE_EVENT_BYTES < TRACE_BUF_BYTES / 2, "an event fits");

struct trace_out {
	struct out_stream o;
	struct buf text;	/* for strings that need escaping */
	bool any;
	off_t start;		/* of the document in a regular file, else -1 */
	uint64_t whole;		/* bytes on disk that end with a complete event */
};

#define PUT(t, literal) put(t, literal, sizeof(literal) - 1)

static void put(struct trace_out *t, const char *s, size_t n)
{
	memcpy(t->o.buf + t->o.len, s, n);
	t->o.len += n;
}

static void put_u64(struct trace_out *t, uint64_t v)
{
	char digits[20];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	put(t, digits + at, sizeof(digits) - at);
}

static void put_i64(struct trace_out *t, int64_t v)
{
	if (v < 0)
		PUT(t, "-");
	put_u64(t, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

static void put_hex(struct trace_out *t, uint64_t v)
{
	char digits[16];
	size_t at = sizeof(digits);

	do {
		digits[--at] = "0123456789abcdef"[v & 15];
		v >>= 4;
	} while (v);
	PUT(t, "\"0x");
	put(t, digits + at, sizeof(digits) - at);
	PUT(t, "\"");
}

/* Microseconds, as the format wants them, with the nanoseconds behind the point. */
static void put_time(struct trace_out *t, uint64_t ns)
{
	unsigned int rest = (unsigned int)(ns % 1000);
	const char tail[4] = { '.', (char)('0' + rest / 100), (char)('0' + rest / 10 % 10),
			       (char)('0' + rest % 10) };

	put_u64(t, ns / 1000);
	put(t, tail, sizeof(tail));
}

static void put_str(struct trace_out *t, const char *s)
{
	size_t n = strnlen(s ? s : "", TRACE_STRING_BYTES), i = 0;

	PUT(t, "\"");
	while (i < n && s[i] >= 0x20 && s[i] < 0x7f && s[i] != '"' && s[i] != '\\')
		i++;
	if (i == n) {
		put(t, n ? s : "", n);
	} else {
		buf_reset(&t->text);
		escape_json(&t->text, s, n);
		if (t->text.failed && !t->o.error)
			t->o.error = ENOMEM;
		put(t, t->text.data ? t->text.data : "", t->text.len);
	}
	PUT(t, "\"");
}

static int flush(struct trace_out *t)
{
	int r = out_flush(&t->o);

	if (!r)
		t->whole = t->o.bytes;
	return r;
}

/* Up to and with the thread: {"ph":"X","pid":1,"tid":2 */
static void begin(struct trace_out *t, char ph, pid_t pid, pid_t tid)
{
	if (t->o.len > TRACE_BUF_BYTES / 2)
		flush(t);
	if (t->any)
		PUT(t, ",\n");
	t->any = true;
	PUT(t, "{\"ph\":\"");
	put(t, &ph, 1);
	PUT(t, "\",\"pid\":");
	put_i64(t, pid);
	PUT(t, ",\"tid\":");
	put_i64(t, tid);
}

static void put_name(struct trace_out *t, const char *cat, const char *name)
{
	if (cat) {
		PUT(t, ",\"cat\":");
		put_str(t, cat);
	}
	PUT(t, ",\"name\":");
	put_str(t, name);
}

static void put_ts(struct trace_out *t, uint64_t ns)
{
	PUT(t, ",\"ts\":");
	put_time(t, ns);
}

static void end(struct trace_out *t, const struct trace_arg *arg, size_t narg)
{
	size_t i;

	assert(narg <= TRACE_ARGS_MAX);
	for (i = 0; i < narg; i++) {
		if (i)
			PUT(t, ",");
		else
			PUT(t, ",\"args\":{");
		put_str(t, arg[i].key);
		PUT(t, ":");
		if (arg[i].kind == TRACE_STR)
			put_str(t, arg[i].str);
		else if (arg[i].kind == TRACE_HEX)
			put_hex(t, arg[i].u64);
		else
			put_u64(t, arg[i].u64);
	}
	if (narg)
		PUT(t, "}");
	PUT(t, "}");
}

struct trace_out *trace_out_new(int fd, struct err *err)
{
	struct trace_out *t = calloc(1, sizeof(*t));
	struct stat st;

	if (!t) {
		err_sys(err, ENOMEM, "cannot write to the trace");
		return NULL;
	}
	if (out_stream_init(&t->o, fd, "the trace", TRACE_BUF_BYTES, err)) {
		free(t);
		return NULL;
	}
	t->start = -1;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		t->start = lseek(fd, 0, SEEK_CUR);
	PUT(t, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
	return t;
}

/*
 * Takes off the part of a buffer that a full disk let through, and ends the
 * document behind the last complete event.
 */
static void mend(struct trace_out *t)
{
	static const char tail[] = "\n]}\n";
	off_t whole = t->start + (off_t)t->whole;

	/* Best effort: the error is reported in any case. */
	if (t->start < 0 || !t->whole || ftruncate(t->o.fd, whole))
		return;
	if (pwrite(t->o.fd, tail, sizeof(tail) - 1, whole) < 0)
		return;
}

int trace_close(struct trace_out *t, struct err *err)
{
	int r;

	if (!t)
		return 0;
	PUT(t, "\n]}\n");
	if (flush(t))
		mend(t);
	r = out_stream_close(&t->o, err);
	buf_release(&t->text);
	free(t);
	return r;
}

int trace_error(const struct trace_out *t)
{
	return -t->o.error;
}

static void name_of(struct trace_out *t, pid_t pid, pid_t tid, const char *what, const char *name)
{
	const struct trace_arg arg = { .key = "name", .kind = TRACE_STR, .str = name };

	begin(t, 'M', pid, tid);
	put_name(t, NULL, what);
	end(t, &arg, 1);
}

void trace_process(struct trace_out *t, pid_t pid, const char *name)
{
	name_of(t, pid, pid, "process_name", name);
}

void trace_thread(struct trace_out *t, pid_t pid, pid_t tid, const char *name)
{
	name_of(t, pid, tid, "thread_name", name);
}

void trace_slice(struct trace_out *t, pid_t pid, pid_t tid, const char *cat, const char *name,
		 uint64_t start_ns, uint64_t dur_ns, const struct trace_arg *arg, size_t narg)
{
	begin(t, 'X', pid, tid);
	put_ts(t, start_ns);
	PUT(t, ",\"dur\":");
	put_time(t, dur_ns);
	put_name(t, cat, name);
	end(t, arg, narg);
}

void trace_instant(struct trace_out *t, pid_t pid, pid_t tid, const char *cat, const char *name,
		   uint64_t ts_ns, const struct trace_arg *arg, size_t narg)
{
	begin(t, 'i', pid, tid);
	put_ts(t, ts_ns);
	PUT(t, ",\"s\":\"t\"");
	put_name(t, cat, name);
	end(t, arg, narg);
}

void trace_counter(struct trace_out *t, pid_t pid, const char *name, uint64_t ts_ns,
		   const struct trace_arg *arg, size_t narg)
{
	begin(t, 'C', pid, pid);
	put_ts(t, ts_ns);
	put_name(t, NULL, name);
	end(t, arg, narg);
}

static void flow_end(struct trace_out *t, char ph, uint64_t id, const char *cat, const char *name,
		     struct trace_point p)
{
	begin(t, ph, p.pid, p.tid);
	put_ts(t, p.ts_ns);
	PUT(t, ",\"id\":");
	put_hex(t, id);
	/* Bound to the slice around the time, not to the next one to begin. */
	if (ph == 'f')
		PUT(t, ",\"bp\":\"e\"");
	put_name(t, cat, name);
	end(t, NULL, 0);
}

void trace_flow(struct trace_out *t, uint64_t id, const char *cat, const char *name,
		struct trace_point from, struct trace_point to)
{
	flow_end(t, 's', id, cat, name, from);
	flow_end(t, 'f', id, cat, name, to);
}
