/* SPDX-License-Identifier: MIT */
#include "report_text.h"

#include "json_check.h"
#include "out/jread.h"

static struct fixture_regress f;

static void any_report_is_json(void **state)
{
	struct buf text;
	size_t i, where;

	(void)state;
	for (i = 0; i < FIXTURE_R_ROWS; i++) {
		fixture_regress_rows[i].fill(&f);
		report_text("json", &f.r, NULL, &text);
		if (!json_check(text.data, text.len, &where))
			fail_msg("%s: no JSON at byte %zu", fixture_regress_rows[i].name, where);
		assert_harmless(&text);
		buf_release(&text);
	}
}

static void what_is_no_number_is_null(void **state)
{
	struct buf text;

	(void)state;
	fixture_regress_edges(&f);
	report_text("json", &f.r, NULL, &text);
	assert_has(&text, "\"name\": \"one.run\", \"kind\": \"time\", \"unit\": \"ns\", "
			  "\"base\": 5, \"new\": 5, \"ratio\": 1, \"ci\": [0, null], "
			  "\"p\": 0.00001");
	assert_has(&text, "\"name\": \"from.nothing\", \"kind\": \"time\", \"unit\": \"ns\", "
			  "\"base\": 0, \"new\": 7, \"ratio\": null");
	assert_has(&text, "\"unit\": \"\", \"base\": null, \"new\": null, \"ratio\": null, "
			  "\"ci\": [null, null], \"p\": null, \"q\": null, "
			  "\"verdict\": \"inconclusive\", \"runs_needed\": null, \"notes\": [], "
			  "\"values\": {\"base\": [], \"new\": []}");
	assert_has(&text, "\"base\": 9100000000000000, \"new\": 17000000000000000000");
	assert_has(&text, "\"notes\": [\"few-runs\"], \"values\": {\"base\": [5], \"new\": [5]}");
	assert_has(&text, "\"part\": \"lock\", \"name\": \"gone\", \"what\": \"waits\", "
			  "\"unit\": \"\", \"base\": 7, \"new\": null, "
			  "\"stack_base\": null, \"stack_new\": null");
	assert_has(&text, "\"label\": null,\n    \"commit\": null,\n    \"dirty\": false,\n");
	buf_release(&text);
}

/* The names of docs/formats/report-json.md, in their order. */
static void the_document_has_its_members(void **state)
{
	static const char *const top[] = {
		"schema", "verdict", "runs_needed", "base", "new", "differences", "metrics",
		"contributors", "stacks",
	};
	struct err err = { 0 };
	struct jread j;
	struct buf text;
	size_t i = 0;

	(void)state;
	fixture_regress(&f);
	report_text("json", &f.r, NULL, &text);
	jread_init(&j, text.data, text.len, &err);
	assert_int_equal(jread_object(&j), 0);
	while (jread_member(&j) == 1) {
		assert_true(i < sizeof(top) / sizeof(top[0]));
		assert_int_equal(j.n, strlen(top[i]));
		assert_memory_equal(j.s, top[i++], j.n);
		assert_int_equal(jread_skip(&j), 0);
	}
	assert_int_equal(i, sizeof(top) / sizeof(top[0]));
	assert_int_equal(jread_end(&j), 0);
	jread_release(&j);
	assert_has(&text, "\"schema\": \"tracer.report/1\"");
	assert_has(&text, "\"verdict\": \"worse\",\n  \"runs_needed\": 24");
	assert_has(&text, "\"notes\": [\"drift-hides\", \"drift-new\"]");
	assert_int_equal(times_in(text.data, "\"kind\":"), f.r.nmetric);
	assert_int_equal(times_in(text.data, "\"folded\":"), f.r.nstack);
	assert_golden("tests/golden/report.json", &text);
	buf_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_report_is_json),
		cmocka_unit_test(what_is_no_number_is_null),
		cmocka_unit_test(the_document_has_its_members),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
