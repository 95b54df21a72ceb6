/* SPDX-License-Identifier: MIT */
/*
 * Names, order, features and types are those that GDB wants (its manual, "i386 Features"); where
 * the values are is told by <sys/user.h> and by Intel's manual, volume 1, 10.5 and 13.4.
 */
#include "rr/gdbregs.h"

#include <cpuid.h>
#include <stddef.h>
#include <string.h>

#define FXSAVE_TAGS 4
#define FXSAVE_ST 32
#define FXSAVE_XMM 160
#define XSAVE_BV 512
#define XSAVE_AVX 576		/* in the form that ptrace gives, not the compacted one */
#define BIT_X87 1u
#define BIT_SSE 2u
#define BIT_AVX 4u

enum source { GENERAL, FXSAVE, TAGS, AVX };

struct reg {
	const char *name, *type;
	unsigned char bits;
	unsigned char from;	/* enum source */
	unsigned char bytes;	/* of the source; 0: as many as it has */
	unsigned short at;
};

#define G(reg, field, kind, n) { .name = #reg, .type = kind, .bits = n, .from = GENERAL, \
	.at = offsetof(struct user_regs_struct, field) }
#define G64(reg) G(reg, reg, "int64", 64)
#define SEG(reg) G(reg, reg, "int32", 32)
#define F(reg, offset, have) { .name = #reg, .type = "int", .bits = 32, .from = FXSAVE, \
	.bytes = have, .at = offset }
#define ST(n) { .name = "st" #n, .type = "i387_ext", .bits = 80, .from = FXSAVE, \
	.at = FXSAVE_ST + 16 * n }
#define XMM(n) { .name = "xmm" #n, .type = "vec128", .bits = 128, .from = FXSAVE, \
	.at = FXSAVE_XMM + 16 * n }
#define YMM(n) { .name = "ymm" #n "h", .type = "uint128", .bits = 128, .from = AVX, \
	.at = XSAVE_AVX + 16 * n }
#define SIXTEEN(R) R(0), R(1), R(2), R(3), R(4), R(5), R(6), R(7), R(8), R(9), R(10), R(11), \
	R(12), R(13), R(14), R(15)

static const struct reg core[] = {
	G64(rax), G64(rbx), G64(rcx), G64(rdx), G64(rsi), G64(rdi),
	G(rbp, rbp, "data_ptr", 64), G(rsp, rsp, "data_ptr", 64), G64(r8), G64(r9), G64(r10),
	G64(r11), G64(r12), G64(r13), G64(r14), G64(r15), G(rip, rip, "code_ptr", 64),
	G(eflags, eflags, "i386_eflags", 32), SEG(cs), SEG(ss), SEG(ds), SEG(es), SEG(fs),
	SEG(gs), ST(0), ST(1), ST(2), ST(3), ST(4), ST(5), ST(6), ST(7), F(fctrl, 0, 2),
	F(fstat, 2, 2), { .name = "ftag", .type = "int", .bits = 32, .from = TAGS },
	F(fiseg, 12, 2), F(fioff, 8, 4), F(foseg, 20, 2), F(fooff, 16, 4), F(fop, 6, 2),
};

static const struct reg sse[] = {
	SIXTEEN(XMM), { .name = "mxcsr", .type = "i386_mxcsr", .bits = 32, .from = FXSAVE,
			.at = 24 },
};

static const struct reg linux_[] = { G(orig_rax, orig_rax, "int", 64) };
static const struct reg segments[] = { G64(fs_base), G64(gs_base) };
static const struct reg avx[] = { SIXTEEN(YMM) };

/* In each: what its types are made of. */
static const char sse_types[] =
	"<vector id=\"v4f\" type=\"ieee_single\" count=\"4\"/>"
	"<vector id=\"v2d\" type=\"ieee_double\" count=\"2\"/>"
	"<vector id=\"v16i8\" type=\"int8\" count=\"16\"/>"
	"<vector id=\"v8i16\" type=\"int16\" count=\"8\"/>"
	"<vector id=\"v4i32\" type=\"int32\" count=\"4\"/>"
	"<vector id=\"v2i64\" type=\"int64\" count=\"2\"/>"
	"<union id=\"vec128\"><field name=\"v4_float\" type=\"v4f\"/>"
	"<field name=\"v2_double\" type=\"v2d\"/><field name=\"v16_int8\" type=\"v16i8\"/>"
	"<field name=\"v8_int16\" type=\"v8i16\"/><field name=\"v4_int32\" type=\"v4i32\"/>"
	"<field name=\"v2_int64\" type=\"v2i64\"/><field name=\"uint128\" type=\"uint128\"/>"
	"</union><flags id=\"i386_mxcsr\" size=\"4\"><field name=\"IE\" start=\"0\" end=\"0\"/>"
	"<field name=\"DE\" start=\"1\" end=\"1\"/><field name=\"ZE\" start=\"2\" end=\"2\"/>"
	"<field name=\"OE\" start=\"3\" end=\"3\"/><field name=\"UE\" start=\"4\" end=\"4\"/>"
	"<field name=\"PE\" start=\"5\" end=\"5\"/><field name=\"DAZ\" start=\"6\" end=\"6\"/>"
	"<field name=\"IM\" start=\"7\" end=\"7\"/><field name=\"DM\" start=\"8\" end=\"8\"/>"
	"<field name=\"ZM\" start=\"9\" end=\"9\"/><field name=\"OM\" start=\"10\" end=\"10\"/>"
	"<field name=\"UM\" start=\"11\" end=\"11\"/><field name=\"PM\" start=\"12\" end=\"12\"/>"
	"<field name=\"FZ\" start=\"15\" end=\"15\"/></flags>";

static const char core_types[] =
	"<flags id=\"i386_eflags\" size=\"4\"><field name=\"CF\" start=\"0\" end=\"0\"/>"
	"<field name=\"\" start=\"1\" end=\"1\"/><field name=\"PF\" start=\"2\" end=\"2\"/>"
	"<field name=\"AF\" start=\"4\" end=\"4\"/><field name=\"ZF\" start=\"6\" end=\"6\"/>"
	"<field name=\"SF\" start=\"7\" end=\"7\"/><field name=\"TF\" start=\"8\" end=\"8\"/>"
	"<field name=\"IF\" start=\"9\" end=\"9\"/><field name=\"DF\" start=\"10\" end=\"10\"/>"
	"<field name=\"OF\" start=\"11\" end=\"11\"/><field name=\"NT\" start=\"14\" end=\"14\"/>"
	"<field name=\"RF\" start=\"16\" end=\"16\"/></flags>";

#define ROWS(a) (a), sizeof(a) / sizeof((a)[0])
static const struct {
	const char *name, *types;
	const struct reg *regs;
	size_t n;
} features[] = {
	{ "core", core_types, ROWS(core) }, { "sse", sse_types, ROWS(sse) },
	{ "linux", "", ROWS(linux_) }, { "segments", "", ROWS(segments) },
	{ "avx", "", ROWS(avx) },	/* the last: not everywhere */
};

static size_t feature_count(void)
{
	static size_t n;
	unsigned int a, b, c = 0, d;

	if (!n) {
		__get_cpuid(1, &a, &b, &c, &d);
		/* The system has to save it, too. */
		n = sizeof(features) / sizeof(features[0]) - !((c & bit_AVX) && (c & bit_OSXSAVE));
	}
	return n;
}

size_t gdbregs_count(void)
{
	size_t n = 0;

	for (size_t i = 0; i < feature_count(); i++)
		n += features[i].n;
	return n;
}

void gdbregs_describe(struct buf *out)
{
	buf_adds(out, "<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\"><target>"
		 "<architecture>i386:x86-64</architecture><osabi>GNU/Linux</osabi>");
	for (size_t i = 0; i < feature_count(); i++) {
		buf_addf(out, "<feature name=\"org.gnu.gdb.i386.%s\">%s", features[i].name,
			 features[i].types);
		for (size_t k = 0; k < features[i].n; k++)
			buf_addf(out, "<reg name=\"%s\" bitsize=\"%u\" type=\"%s\"/>",
				 features[i].regs[k].name, features[i].regs[k].bits,
				 features[i].regs[k].type);
		buf_adds(out, "</feature>");
	}
	buf_adds(out, "</target>");
}

static const struct reg *find(size_t n)
{
	for (size_t i = 0; i < feature_count(); i++) {
		if (n < features[i].n)
			return &features[i].regs[n];
		n -= features[i].n;
	}
	return NULL;
}

/* FXSAVE has a bit for each register, FSAVE two: 0 valid, 1 zero, 2 special, 3 empty. */
static uint32_t full_tags(const unsigned char *fx)
{
	const unsigned int top = fx[3] >> 3 & 7;
	uint32_t tags = 0;

	for (unsigned int i = 0; i < 8; i++) {
		const unsigned char *st = fx + FXSAVE_ST + 16 * ((i - top) & 7);
		uint64_t mantissa;
		unsigned int exponent = (st[8] | st[9] << 8) & 0x7fff, tag = 3;

		memcpy(&mantissa, st, sizeof(mantissa));
		if (fx[FXSAVE_TAGS] & 1u << i)
			tag = !exponent && !mantissa ? 1 :
			      exponent && exponent != 0x7fff && mantissa >> 63 ? 0 : 2;
		tags |= tag << 2 * i;
	}
	return tags;
}

static const unsigned char *where(const struct gdb_regs *r, const struct reg *reg, size_t bytes)
{
	if (reg->from == GENERAL)
		return (const unsigned char *)&r->general + reg->at;
	return reg->at + bytes <= r->xstate_bytes ? r->xstate + reg->at : NULL;
}

size_t gdbregs_get(const struct gdb_regs *r, size_t n, void *to)
{
	const struct reg *reg = find(n);
	const unsigned char *from;
	uint32_t tags;
	size_t bytes;

	if (!reg)
		return 0;
	bytes = reg->bits / 8;
	memset(to, 0, bytes);
	if (reg->from == TAGS) {
		tags = full_tags(r->xstate);
		memcpy(to, &tags, sizeof(tags));
		return bytes;
	}
	from = where(r, reg, bytes);
	if (from)
		memcpy(to, from, reg->bytes ? reg->bytes : bytes);
	return bytes;
}

bool gdbregs_set(struct gdb_regs *r, size_t n, const void *from, size_t bytes)
{
	static const uint64_t uses[] = { [FXSAVE] = BIT_X87 | BIT_SSE, [AVX] = BIT_AVX };
	const struct reg *reg = find(n);
	unsigned char *to;
	uint64_t used;

	if (!reg || bytes < reg->bits / 8 || reg->from == TAGS)
		return false;
	to = (unsigned char *)(uintptr_t)where(r, reg, reg->bits / 8);
	if (!to)
		return false;
	memcpy(to, from, reg->bytes ? reg->bytes : reg->bits / 8);
	if (reg->from != GENERAL && r->xstate_bytes >= XSAVE_AVX) {
		memcpy(&used, r->xstate + XSAVE_BV, sizeof(used));
		used |= uses[reg->from];
		memcpy(r->xstate + XSAVE_BV, &used, sizeof(used));
	}
	return true;
}
