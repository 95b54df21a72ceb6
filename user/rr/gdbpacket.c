/* SPDX-License-Identifier: MIT */
#include "rr/gdbpacket.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#define ESCAPE '}'
#define ESCAPED 0x20

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* What is between $ and #, @n bytes, without its escapes. */
static enum gdb_item unescape(const char *in, size_t n, struct buf *out)
{
	buf_reset(out);
	for (size_t i = 0; i < n; i++) {
		if (in[i] != ESCAPE)
			buf_addc(out, in[i]);
		else if (++i < n)
			buf_addc(out, (char)(in[i] ^ ESCAPED));
	}
	/* So that it is a string. */
	if (!out->data)
		buf_addc(out, '\0');
	out->len = n ? out->len : 0;
	return out->failed ? GDB_BROKEN : GDB_PACKET;
}

enum gdb_item gdbpacket_next(const char *in, size_t n, size_t *used, struct buf *out)
{
	const char *end;
	unsigned char sum = 0;
	size_t len;

	*used = n ? 1 : 0;
	if (!n || *in != '$')
		return !n ? GDB_NOTHING : *in == 3 ? GDB_INTERRUPT : GDB_OTHER;
	end = memchr(in, '#', n);
	if (!end || (size_t)(end - in) + 3 > n) {
		if (n > 2 * GDB_PACKET_MAX) {
			*used = n;
			return GDB_BROKEN;
		}
		*used = 0;
		return GDB_NOTHING;
	}
	len = (size_t)(end - in) - 1;
	*used = len + 4;
	for (size_t i = 1; i <= len; i++)
		sum = (unsigned char)(sum + (unsigned char)in[i]);
	if (digit(end[1]) < 0 || digit(end[2]) < 0 || digit(end[1]) * 16 + digit(end[2]) != sum)
		return GDB_BROKEN;
	return unescape(in + 1, len, out);
}

int gdbpacket_add(struct buf *out, const char *data, size_t n)
{
	unsigned char sum = 0;

	buf_addc(out, '$');
	for (size_t i = 0; i < n; i++) {
		char c = data[i];

		if (c == '$' || c == '#' || c == ESCAPE || c == '*') {
			buf_addc(out, ESCAPE);
			sum = (unsigned char)(sum + ESCAPE);
			c ^= ESCAPED;
		}
		buf_addc(out, c);
		sum = (unsigned char)(sum + (unsigned char)c);
	}
	buf_addf(out, "#%02x", sum);
	return out->failed ? -ENOMEM : 0;
}

bool gdb_number(const char **s, uint64_t *v)
{
	const char *at = *s;

	*v = 0;
	for (; digit(*at) >= 0 && at - *s < 16; at++)
		*v = *v << 4 | (uint64_t)digit(*at);
	if (at == *s)
		return false;
	*s = at;
	return true;
}

void gdb_add_hex(struct buf *out, const void *data, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *at = data;

	for (size_t i = 0; i < n; i++) {
		buf_addc(out, digits[at[i] >> 4]);
		buf_addc(out, digits[at[i] & 15]);
	}
}

long gdb_from_hex(void *to, size_t cap, const char *s)
{
	unsigned char *at = to;
	size_t n = 0;

	for (; s[0] && digit(s[0]) >= 0 && digit(s[1]) >= 0; s += 2) {
		if (n == cap)
			return -1;
		at[n++] = (unsigned char)(digit(s[0]) * 16 + digit(s[1]));
	}
	return *s && digit(*s) >= 0 ? -1 : (long)n;
}

static bool id_part(const char **s, int64_t *v)
{
	uint64_t u;

	if ((*s)[0] == '-' && (*s)[1] == '1') {
		*s += 2;
		*v = -1;
		return true;
	}
	if (!gdb_number(s, &u) || u > INT64_MAX)
		return false;
	*v = (int64_t)u;
	return true;
}

bool gdb_thread_id(const char **s, struct gdb_thread *t)
{
	*t = (struct gdb_thread){ 0, -1 };
	if (**s != 'p')
		return id_part(s, &t->tid);
	++*s;
	if (!id_part(s, &t->pid))
		return false;
	if (**s != '.')
		return true;
	++*s;
	return id_part(s, &t->tid);
}

static bool action(const char **s, struct gdb_action *a)
{
	const char kind = **s;
	uint64_t sig;

	*a = (struct gdb_action){ .thread = { 0, -1 } };
	if (!kind || !strchr("cCsSrt", kind))
		return false;
	++*s;
	if ((kind == 'C' || kind == 'S') && !gdb_number(s, &sig))
		return false;
	if (kind == 'r') {
		if (!gdb_number(s, &a->low) || *(*s)++ != ',' || !gdb_number(s, &a->high))
			return false;
	}
	a->kind = kind == 'C' ? 'c' : kind == 'S' ? 's' : kind;
	if (**s != ':')
		return true;
	++*s;
	return gdb_thread_id(s, &a->thread);
}

bool gdb_vcont(const char *s, struct gdb_action *a)
{
	struct gdb_action one;
	bool any = false;

	while (*s == ';') {
		s++;
		if (!action(&s, &one))
			return false;
		if (!any || (a->kind == 'c' && (one.kind == 's' || one.kind == 'r')))
			*a = one;
		any = true;
	}
	return any && !*s;
}

bool gdb_point_id(const char *s, struct gdb_point_id *id)
{
	*id = (struct gdb_point_id){ .type = *s };
	if (*s < '0' || *s > '4' || s[1] != ',')
		return false;
	s += 2;
	return gdb_number(&s, &id->addr) && *s++ == ',' && gdb_number(&s, &id->bytes);
}

bool gdb_range(const char *s, uint64_t *offset, uint64_t *bytes)
{
	return gdb_number(&s, offset) && *s++ == ',' && gdb_number(&s, bytes) && !*s;
}

void gdb_add_part(struct buf *out, const char *data, size_t n, uint64_t offset, uint64_t bytes)
{
	const size_t at = offset < n ? (size_t)offset : n;
	const uint64_t most = bytes < GDB_PACKET_MAX / 2 ? bytes : GDB_PACKET_MAX / 2;
	const size_t part = n - at < most ? n - at : (size_t)most;

	buf_addc(out, at + part < n ? 'm' : 'l');
	if (part)
		buf_add(out, data + at, part);
}

/* Those that are not the same in both; GDB's are System V's where there were such. */
static const unsigned char signals[] = {
	[SIGBUS] = 10, [SIGUSR1] = 30, [SIGUSR2] = 31, [SIGCHLD] = 20, [SIGCONT] = 19,
	[SIGSTOP] = 17, [SIGTSTP] = 18, [SIGURG] = 16, [SIGIO] = 23, [SIGSYS] = 12,
	[SIGPWR] = 32, [SIGSTKFLT] = 143,
};

#define GDB_RT_33 45		/* SIG33 to SIG63 in a row; SIG32 and SIG64 stand apart */
#define GDB_RT_32 77
#define GDB_RT_64 78

unsigned int gdb_signal(int sig)
{
	if (sig == 32 || sig == 64)
		return sig == 32 ? GDB_RT_32 : GDB_RT_64;
	if (sig > 32 && sig < 64)
		return (unsigned int)(GDB_RT_33 + sig - 33);
	if (sig > 0 && (size_t)sig < sizeof(signals) && signals[sig])
		return signals[sig];
	return sig > 0 && sig < 32 ? (unsigned int)sig : 0;
}

int gdb_signal_of(unsigned int gdb)
{
	for (int sig = 1; sig <= 64; sig++)
		if (gdb_signal(sig) == gdb)
			return sig;
	return 0;
}
