/* SPDX-License-Identifier: MIT */
#include "out/timeline.h"

#include <errno.h>
#include <string.h>

#include "out/jread.h"

static bool is_key(const struct jread *j, const char *key)
{
	return j->n == strlen(key) && !memcmp(j->s, key, j->n);
}

bool timeline_is(const char *text, size_t len)
{
	struct err err = { 0 };
	struct jread j;
	bool is;

	jread_init(&j, text, len, &err);
	is = !jread_object(&j) && jread_member(&j) > 0 &&
	     (is_key(&j, "traceEvents") || is_key(&j, "displayTimeUnit"));
	jread_release(&j);
	return is;
}

static int read_event(struct jread *j)
{
	bool has_phase = false;
	int more, r = jread_object(j);
	double number;

	while (!r && (more = jread_member(j)) > 0) {
		if (is_key(j, "ts") || is_key(j, "dur")) {
			r = jread_real(j, &number);
		} else if (is_key(j, "ph")) {
			r = jread_string(j);
			if (!r && j->n != 1)
				r = jread_fail(j, "\"ph\" is not one letter");
			has_phase = true;
		} else {
			r = jread_skip(j);
		}
	}
	if (r || more < 0)
		return r ? r : more;
	return has_phase ? 0 : jread_fail(j, "an event without \"ph\"");
}

static int read_events(struct jread *j, struct timeline *t)
{
	int more, r = jread_array(j);

	t->first = t->end = j->at;
	while (!r && (more = jread_element(j)) > 0) {
		r = read_event(j);
		if (r)
			break;
		t->events++;
		t->end = j->at;
	}
	return r ? r : more;
}

static int read_all(struct jread *j, struct timeline *t)
{
	bool has_events = false;
	int more, r = jread_object(j);

	while (!r && (more = jread_member(j)) > 0) {
		if (!is_key(j, "traceEvents")) {
			r = jread_skip(j);
		} else if (has_events) {
			r = jread_fail(j, "\"traceEvents\" stands there twice");
		} else {
			has_events = true;
			r = read_events(j, t);
		}
	}
	if (r || more < 0)
		return r ? r : more;
	return has_events ? jread_end(j) : jread_fail(j, "\"traceEvents\" is missing");
}

int timeline_check(struct timeline *t, const char *text, size_t len, struct err *err)
{
	size_t line, column;
	struct jread j;
	int r;

	memset(t, 0, sizeof(*t));
	jread_init(&j, text, len, err);
	r = read_all(&j, t);
	if (r == -EINVAL && j.cut && t->first) {
		t->cut = true;
		r = 0;
	} else if (r) {
		jread_where(&j, &line, &column);
		err_prefix(err, "line %zu, column %zu", line, column);
	}
	jread_release(&j);
	return r;
}

void timeline_write(const struct timeline *t, const char *text, size_t len, struct out_stream *o)
{
	if (!t->cut) {
		out_write(o, text, len);
		return;
	}
	out_puts(o, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
	out_write(o, text + t->first, t->end - t->first);
	out_puts(o, "\n]}\n");
}
