/* SPDX-License-Identifier: MIT */
/* Schema tracer.doctor/1: docs/formats/doctor-json.md. Names stay, others may join them. */
#include <errno.h>
#include <string.h>

#include "base/errname.h"
#include "out/checkup.h"
#include "out/json.h"

const char *check_state_name(enum check_state s)
{
	static const char *const names[] = {
		[CHECK_OK] = "ok", [CHECK_FAILS] = "fails", [CHECK_UNTRIED] = "untried",
	};

	return names[s];
}

/* "" is what there is not. */
static void put_text(struct json *j, const char *key, const char *s)
{
	json_str(j, key, s && *s ? s : NULL);
}

static void put_collectors(struct json *j, const struct checkup *c)
{
	size_t i;

	json_array(j, "collectors");
	for (i = 0; i < c->ncollector; i++) {
		const struct check_collector *row = &c->collector[i];

		json_object(j, NULL);
		json_str(j, "name", row->name);
		json_bool(j, "works", row->works);
		if (row->has_exact) {
			json_str(j, "wait", row->wait);
			json_str(j, "exact", row->exact);
		} else {
			json_str(j, "way", row->wait);
		}
		json_str(j, "broken", row->broken ? row->broken->name : NULL);
		put_text(j, "why", row->broken ? row->broken->why : NULL);
		put_text(j, "fix", row->broken ? row->broken->fix : NULL);
		json_end(j);
	}
	json_end(j);
	json_array(j, "ways");
	for (i = 0; i < c->nway; i++) {
		json_object(j, NULL);
		json_str(j, "name", c->way[i].name);
		json_bool(j, "left_out", c->way[i].left_out);
		json_bool(j, "works", !c->way[i].broken);
		json_str(j, "broken", c->way[i].broken ? c->way[i].broken->name : NULL);
		json_end(j);
	}
	json_end(j);
}

static void put_parts(struct json *j, const struct checkup *c)
{
	size_t i;

	json_array(j, "parts");
	for (i = 0; i < c->npart; i++) {
		const struct check_part *p = &c->part[i];

		json_object(j, NULL);
		json_str(j, "name", p->name);
		put_text(j, "hook", p->hook);
		json_str(j, "state", check_state_name(p->state));
		if (p->hook_known)
			json_bool(j, "kernel_has_hook", p->hook_there);
		else
			json_null(j, "kernel_has_hook");
		json_str(j, "errno", p->code ? errname(p->code) : NULL);
		put_text(j, "why", p->why);
		put_text(j, "fix", p->fix);
		json_end(j);
	}
	json_end(j);
}

static void put_cost(struct json *j, const struct checkup *c)
{
	if (!c->has_cost) {
		json_null(j, "cost");
		return;
	}
	json_object(j, "cost");
	json_i64(j, "ns_per_syscall", c->ns_per_syscall);
	json_i64(j, "ns_per_futex", c->ns_per_futex);
	json_i64(j, "ns_per_pipe_chunk", c->ns_per_chunk);
	if (c->ns_per_routine < 0)
		json_null(j, "ns_per_start_routine");
	else
		json_i64(j, "ns_per_start_routine", c->ns_per_routine);
	json_end(j);
}

static void put_value(struct json *j, const struct check_fact *f)
{
	if (!f->known)
		json_null(j, f->key);
	else if (f->kind == CHECK_NUMBER)
		json_i64(j, f->key, f->number);
	else if (f->kind == CHECK_YES_NO)
		json_bool(j, f->key, f->number);
	else
		json_str(j, f->key, f->text);
}

static void put_facts(struct json *j, const struct checkup *c)
{
	const char *group = NULL;
	size_t i;

	json_object(j, "system");
	for (i = 0; i < c->nfact; i++) {
		if (!group || strcmp(group, c->fact[i].group)) {
			if (group)
				json_end(j);
			group = c->fact[i].group;
			json_object(j, group);
		}
		put_value(j, &c->fact[i]);
	}
	if (group)
		json_end(j);
	json_end(j);
	json_array(j, "advice");
	for (i = 0; i < c->nfact; i++) {
		if (!c->fact[i].fix)
			continue;
		json_object(j, NULL);
		json_str(j, "about", c->fact[i].key);
		json_str(j, "fix", c->fact[i].fix);
		json_end(j);
	}
	json_end(j);
}

int checkup_json(const struct checkup *c, struct out_stream *o, struct err *err)
{
	struct json j;
	size_t i;

	json_init(&j, o);
	json_object(&j, NULL);
	json_str(&j, "schema", CHECKUP_SCHEMA);
	json_str(&j, "tracer", c->version);
	json_bool(&j, "works", c->works);
	put_collectors(&j, c);
	put_parts(&j, c);
	put_cost(&j, c);
	json_array(&j, "with_root");
	for (i = 0; i < c->nwith_root; i++)
		json_str(&j, NULL, c->with_root[i]);
	json_end(&j);
	put_facts(&j, c);
	json_end(&j);
	return json_finish(&j) ? err_sys(err, ENOMEM, "cannot print what was found") : 0;
}
