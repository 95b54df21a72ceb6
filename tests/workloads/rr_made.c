/* SPDX-License-Identifier: MIT */
/*
 * rr_made HOW: makes code that reads the time stamp counter, and puts out what it read, by a call
 * of HOW's kind. A recording knows nothing of such code.
 */
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* rdtsc; shl $32, %rdx; or %rdx, %rax; ret */
static const unsigned char code[] = { 0x0f, 0x31, 0x48, 0xc1, 0xe2, 0x20, 0x48, 0x09, 0xd0, 0xc3 };

#define BYTES 9001

static char text[BYTES];

int main(int argc, char **argv)
{
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);
	struct iovec v[3] = { { text, 100 }, { text, 0 }, { text + 100, BYTES - 100 } };
	struct mmsghdr m[2] = { { .msg_hdr = { .msg_iov = v, .msg_iovlen = 2 } },
				{ .msg_hdr = { .msg_iov = v + 2, .msg_iovlen = 1 } } };
	unsigned long (*fn)(void), t;

	if (argc != 2 || at == MAP_FAILED)
		return 2;
	memcpy(at, code, sizeof(code));
	memcpy(&fn, &at, sizeof(fn));
	t = fn();
	/* Near the end, where a sum of less than all would not see it. */
	for (int i = 0; i < BYTES; i++)
		text[i] = '.';
	for (int i = 2; i < 22; i++, t /= 10)
		text[BYTES - i] = (char)('0' + t % 10);
	text[BYTES - 1] = '\n';
	switch (argv[1][0]) {
	case 'w': return write(1, text, BYTES) < 0;
	case 'v': return writev(1, v, 3) < 0;
	case 's': return send(1, text, BYTES, 0) < 0;
	case 'm': return sendmmsg(1, m, 2, 0) < 0;
	case 'o': return sendmsg(1, &m[1].msg_hdr, 0) < 0;
	}
	return 2;
}
