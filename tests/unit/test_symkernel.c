/* SPDX-License-Identifier: MIT */
/* The kernel's symbols: from text as /proc/kallsyms has it, and this kernel's own. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "sym/sym.h"
#include "sym/symkernel.h"

static struct symkernel *parse(const char *text)
{
	return symkernel_parse(text, strlen(text));
}

static void expect(const struct symkernel *k, uint64_t ip, const char *symbol, const char *module,
		   uint64_t offset)
{
	struct symkernel_name n;

	assert_true(symkernel_find(k, ip, &n));
	assert_string_equal(n.symbol, symbol);
	assert_string_equal(n.module, module);
	assert_int_equal(n.offset, offset);
}

static void names(void **state)
{
	static const char text[] =
		"0000000000000000 A fixed_percpu_data\n"
		"ffffffff81000000 T _stext\n"
		"ffffffff81000000 T _text\n"
		"ffffffff81000100 t inner\n"
		"ffffffff81000180 D data_is_no_code\n"
		"ffffffff81000200 W weak\n"
		"nonsense\n"
		"ffffffff81000300\n"
		"ffffffff81000300 T\n"
		"ffffffffc0000000 t load\t[nf_tables]\n"
		"ffffffffc0000040 t next\t[nf_tables]\n"
		"ffffffffc0001000 t bpf_prog_1_x\t[bpf]\n"
		"ffffffff81000400 T cut_off";
	struct symkernel *k = parse(text);
	struct symkernel_name n;

	(void)state;
	assert_non_null(k);
	expect(k, 0xffffffff81000010, "_stext", "[kernel]", 0x10);
	expect(k, 0xffffffff810001ff, "inner", "[kernel]", 0xff);
	/* The address is behind a call: at the start of the next, the call was the last of this. */
	expect(k, 0xffffffff81000200, "inner", "[kernel]", 0x100);
	expect(k, 0xffffffff81000201, "weak", "[kernel]", 1);
	expect(k, 0xffffffff81000450, "weak", "[kernel]", 0x250);
	expect(k, 0xffffffffc0000005, "load", "[nf_tables]", 5);
	expect(k, 0xffffffffc0000045, "next", "[nf_tables]", 5);
	expect(k, 0xffffffffc0001005, "bpf_prog_1_x", "[bpf]", 5);
	assert_false(symkernel_find(k, 0, &n));
	assert_false(symkernel_find(k, 0xffffffff81000000, &n));
	/* Far behind the last of them is not in it. */
	assert_false(symkernel_find(k, 0xffffffff90000000, &n));
	symkernel_free(k);
}

/* To those who may not know them the kernel shows all addresses as 0. */
static void hidden(void **state)
{
	(void)state;
	assert_null(parse(""));
	assert_null(parse("0000000000000000 T _stext\n0000000000000000 t inner\n"));
}

static void many(void **state)
{
	char *text = malloc(64 * 300000), *p = text;
	struct symkernel *k;

	(void)state;
	assert_non_null(text);
	for (unsigned int i = 1; i <= 300000; i++)
		p += sprintf(p, "%x000 t function_%u\t[module_%u]\n", i, i, i / 100);
	k = symkernel_parse(text, (size_t)(p - text));
	free(text);
	assert_non_null(k);
	expect(k, 0x1001, "function_1", "[module_0]", 1);
	expect(k, 0x493e0fff, "function_300000", "[module_3000]", 0xfff);
	symkernel_free(k);
}

static void this_kernel(void **state)
{
	uint64_t ip[4] = { 0, 0, 0x1000, 0 };
	struct sym_opts o = { .libexec_dir = "/nonexistent" };
	struct sym_frame f[4];
	struct err e = { 0 };
	unsigned long addr = 0;
	char line[256], name[200];
	struct sym *s;
	FILE *k;

	(void)state;
	s = sym_new(&o, &e);
	assert_non_null(s);
	assert_int_equal(sym_kernel(s, ip, 0, f), 0);
	if (geteuid() || !symkernel_visible()) {
		assert_int_equal(sym_kernel(s, ip, 4, f), 0);
		sym_free(s);
		skip();
	}
	k = fopen("/proc/kallsyms", "r");
	assert_non_null(k);
	while (fgets(line, sizeof(line), k) && (!ip[1] || !ip[3])) {
		if (sscanf(line, "%lx %*c %199s", &addr, name) != 2)
			continue;
		if (!strcmp(name, "bpf_get_task_stack"))
			ip[1] = addr + 1;
		if (!strcmp(name, "do_futex"))
			ip[3] = addr + 7;
	}
	fclose(k);
	assert_true(ip[1] && ip[3]);
	/* What is inside the tracing is left out; what has no name is there, without. */
	assert_int_equal(sym_kernel(s, ip, 4, f), 2);
	assert_null(f[0].symbol);
	assert_string_equal(f[1].symbol, "do_futex");
	assert_string_equal(f[1].module, "[kernel]");
	assert_int_equal(f[1].offset, 7);
	for (int i = 0; i < 2; i++) {
		assert_true(f[i].kernel);
		assert_int_equal(f[i].ip, 0);
	}
	sym_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(hidden),
		cmocka_unit_test(many),
		cmocka_unit_test(this_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
