/* SPDX-License-Identifier: MIT */
/* Frames and locks without a name, and inlined frames, as each format shows them. */
#include "out_text.h"

/* A lock without a name, and the stack: inlined, its function, one without a name. */
static void summary_of(struct summary *s, bool placed)
{
	struct sum_lock *l;
	struct sum_frame *f;

	fixture_rich(s);
	l = &s->lock[0];
	free(l->symbol);
	l->symbol = NULL;
	l->module_offset = placed ? 0x4060 : 0;
	f = l->site[0].frame;
	for (size_t i = 0; i < 3; i++) {
		free(f[i].symbol);
		free(f[i].module);
		free(f[i].file);
	}
	fixture_frame(&f[0], 0x1000, "lock_guard", "/opt/orders/bin/orders",
		      "/usr/include/c++/12/mutex", 229);
	fixture_frame(&f[1], 0x1000, "drain", "/opt/orders/bin/orders", "/src/orders/q.cc", 31);
	fixture_frame(&f[2], 0x55d1a40bf3a1, NULL, "/opt/orders/bin/orders", NULL, 0);
	f[0].inlined = f[1].inlined = true;
	f[0].offset = f[1].offset = 0;
	f[2].module_offset = placed ? 0xbf3a1 : 0;
	fixture_kernel(l);
}

static void expect(const char *format, const struct summary *s, bool stacks, const char *want,
		   bool there)
{
	struct buf text;

	out_text(format, s, &(struct out_opts){ .stacks = stacks, .rows = 10, .width = 200 },
		 &text);
	if (!strstr(text.data, want) == there) {
		print_message("%s\n", text.data);
		fail_msg("'%s' is %s", want, there ? "missing" : "there");
	}
	buf_release(&text);
}

static void tables(void **state)
{
	struct summary s;

	(void)state;
	summary_of(&s, true);
	expect("table", &s, true, "lock_guard (inlined) mutex:229 (orders)", true);
	expect("table", &s, true, "orders+0xbf3a1\n", true);
	expect("table", &s, true, "  orders+0x4060", true);
	expect("table", &s, true, "futex_do_wait+0x46 [kernel]\n", true);
	expect("table", &s, true, " ? [kernel]\n", true);
	expect("table", &s, false, "[kernel]", false);
	/* In brief: not what is inlined from a header of the system's. */
	expect("table", &s, false, "drain q.cc:31", true);
	expect("table", &s, false, "(inlined)", false);
	expect("table", &s, false, "lock_guard", false);
	expect("table", &s, false, "0x55d1a40bf3a1", false);
	free(s.lock[0].site[0].frame[0].file);
	s.lock[0].site[0].frame[0].file =
		fixture_str("/usr/bin/../lib/gcc/x86_64-linux-gnu/12/../../include/c++/12/mutex");
	expect("table", &s, false, "lock_guard", false);
	summary_release(&s);
	summary_of(&s, false);
	expect("table", &s, true, "0x55d1a40bf3a1 (orders)", true);
	summary_release(&s);
}

static void folded(void **state)
{
	struct summary s;

	(void)state;
	summary_of(&s, true);
	expect("folded", &s, false, ";[orders+0xbf3a1];drain_[i];lock_guard_[i];[kernel]_[k];"
	       "futex_do_wait_[k];lock orders+0x4060 ", true);
	summary_release(&s);
	summary_of(&s, false);
	expect("folded", &s, false, ";[orders];drain_[i];lock_guard_[i];", true);
	summary_release(&s);
}

static void json(void **state)
{
	struct summary s;

	(void)state;
	summary_of(&s, true);
	expect("json", &s, false, "{\"ip\": \"0x55d1a40bf3a1\", \"symbol\": null, "
	       "\"offset\": null, \"inlined\": false, \"kernel\": false, "
	       "\"module\": \"/opt/orders/bin/orders\", "
	       "\"module_offset\": \"0xbf3a1\", \"file\": null, \"line\": null}", true);
	expect("json", &s, false, "\"symbol\": \"drain\", \"offset\": null, \"inlined\": true",
	       true);
	expect("json", &s, false, "\"symbol\": null, \"module\": \"/opt/orders/bin/orders\", "
	       "\"module_offset\": \"0x4060\"", true);
	/* Addresses of the kernel are not told. */
	expect("json", &s, false, "\"site\": [{\"ip\": null, \"symbol\": \"futex_do_wait\", "
	       "\"offset\": 70, \"inlined\": false, \"kernel\": true, "
	       "\"module\": \"[kernel]\", \"module_offset\": null, \"file\": null, "
	       "\"line\": null}, {\"ip\": null", true);
	summary_release(&s);
	summary_of(&s, false);
	expect("json", &s, false, "\"module_offset\": null, \"file\": null", true);
	summary_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables),
		cmocka_unit_test(folded),
		cmocka_unit_test(json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
