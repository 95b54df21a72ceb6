/* SPDX-License-Identifier: MIT */
/* Memory: mapped, moved, grown, shared, and changed by way of its file. */
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <linux/memfd.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "rr_calls.h"

#define PAGE 4096L

static void *map(long bytes, int prot, int flags, long fd, long off)
{
	return (void *)OK(mmap, NULL, bytes, prot, flags, fd, off);
}

static void mapped(void)
{
	char *p = map(8 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *q;
	unsigned char in[8];

	FAILS(EINVAL, mmap, NULL, 0L, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L);
	FAILS(EBADF, mmap, NULL, PAGE, PROT_READ, MAP_PRIVATE, 999, 0L);
	memset(p, 'a', 8 * PAGE);
	OK(mincore, p, 8 * PAGE, in);
	SHOW("mincore", in, sizeof(in));
	FAILS(EINVAL, mincore, p + 1, PAGE, in);
	OK(mmap, p + 2 * PAGE, 2 * PAGE, PROT_READ | PROT_WRITE,
	   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0L);
	CHECK(p[2 * PAGE] == 0 && p[PAGE] == 'a' && p[4 * PAGE] == 'a');
	FAILS(EEXIST, mmap, p, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
	      -1, 0L);
	OK(mprotect, p, PAGE, PROT_READ);
	FAILS(ENOMEM, mprotect, 0x10000L, PAGE, PROT_READ);
	OK(mprotect, p, PAGE, PROT_READ | PROT_WRITE);
	p[0] = 'b';
	OK(munmap, p + 6 * PAGE, 2 * PAGE);
	FAILS(EINVAL, munmap, p + 1, PAGE);
	OK(madvise, p, PAGE, MADV_DONTNEED);
	CHECK(p[0] == 0);
	OK(madvise, p, PAGE, MADV_WILLNEED);
	FAILS(EINVAL, madvise, p, PAGE, 9999);
	FAILS(EINVAL, madvise, p, PAGE, MADV_FREE);
	q = (char *)OK(mremap, p, 6 * PAGE, 20 * PAGE, MREMAP_MAYMOVE);
	CHECK(q[PAGE] == 'a' && q[19 * PAGE] == 0);
	q[19 * PAGE] = 'c';
	CHECK((char *)OK(mremap, q, 20 * PAGE, 3 * PAGE, 0) == q);
	p = map(20 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK((char *)OK(mremap, q, 3 * PAGE, 4 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, p) == p);
	CHECK(p[PAGE] == 'a');
	q = (char *)OK(mremap, p, 3 * PAGE, 3 * PAGE, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL);
	CHECK(q[PAGE] == 'a' && p[PAGE] == 0);
	FAILS(EFAULT, mremap, 0x10000L, PAGE, PAGE, MREMAP_MAYMOVE);
	OK(mlock, q, PAGE);
	OK(mlock2, q, PAGE, 0);
	OK(munlock, q, PAGE);
}

/* Up, and down again: what was there is gone. */
static void heap(void)
{
	char *was = (char *)OK(brk, 0L), *now;

	now = (char *)OK(brk, was + 5 * PAGE + 10);
	CHECK(now == was + 5 * PAGE + 10);
	memset(was, 'h', 5 * PAGE);
	CHECK((char *)OK(brk, was + PAGE) == was + PAGE);
	CHECK((char *)OK(brk, was + 4 * PAGE) == was + 4 * PAGE);
	CHECK(was[0] == 'h' && was[2 * PAGE] == 0);
	was[3 * PAGE] = 'i';
	CHECK((char *)OK(brk, 1L) == was + 4 * PAGE);
}

/* What is written to the file is seen in memory, and the other way round. */
static void of_files(void)
{
	struct iovec v[2] = { { (char *)"iov", 3 }, { (char *)"ec", 2 } };
	char buf[16] = "", *p, *priv;
	long fd, to;

	calls_make_file("mapped", 3 * PAGE + 100);
	fd = OK(open, "mapped", O_RDWR);
	to = OK(open, "mapped", O_RDWR);
	p = map(4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	priv = map(PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, PAGE);
	priv[0] = 'p';
	OK(write, to, "written", 7L);
	CHECK(!memcmp(p, "written", 7));
	OK(pwrite64, to, "at", 2L, 2 * PAGE - 1);
	CHECK(p[2 * PAGE - 1] == 'a' && p[2 * PAGE] == 't');
	OK(pwritev, to, v, 2, 100L, 0L);
	CHECK(!memcmp(p + 100, "iovec", 5));
	OK(writev, to, v, 2);
	CHECK(!memcmp(p + 7, "iovec", 5));
	OK(pwrite64, to, "late", 4L, 3 * PAGE + 200);
	CHECK(!memcmp(p + 3 * PAGE + 200, "late", 4));
	memcpy(p + 300, "memory", 6);
	OK(pread64, fd, buf, 6L, 300L);
	CHECK(!strcmp(buf, "memory"));
	OK(pread64, fd, p + 400, 6L, 300L);
	CHECK(!memcmp(p + 400, "memory", 6));
	OK(msync, p, PAGE, MS_SYNC);
	FAILS(EINVAL, msync, p, PAGE, 0x40);
	OK(sendfile, to, fd, &(off_t){ 300 }, 6L);
	CHECK(!memcmp(p + 12, "memory", 6));
	OK(copy_file_range, fd, &(off_t){ 300 }, to, &(off_t){ 1000 }, 6L, 0);
	CHECK(!memcmp(p + 1000, "memory", 6));
	OK(fallocate, to, 3 /* punch a hole */, PAGE, PAGE);
	CHECK(p[PAGE + 5] == 0 && priv[0] == 'p');
	OK(ftruncate, to, PAGE + 10);
	CHECK(p[PAGE + 20] == 0);
	OK(close, to);
	OK(munmap, p, 4 * PAGE);
	p = map(PAGE, PROT_READ, MAP_SHARED, fd, 0);
	CHECK(!memcmp(p + 300, "memory", 6));
	OK(close, fd);
}

static sigjmp_buf back;
static volatile int beyond;

static void on_bus(int sig)
{
	beyond += sig == SIGBUS;
	siglongjmp(back, 1);
}

/* Whether there is a page of the file behind @p; what it begins with. */
static int first_byte(const volatile char *p)
{
	return sigsetjmp(back, 1) ? -1 : *p;
}

/* Shrunk and grown, emptied, written by others and while it was not mapped. */
static void changed_file(void)
{
	const long fd = OK(open, "changed", O_RDWR | O_CREAT, 0600);
	const long reads = OK(open, "changed", O_RDONLY), adds = OK(open, "changed",
			      O_WRONLY | O_APPEND);
	char *p, *q;
	int status;

	signal(SIGBUS, on_bus);
	OK(pwrite64, fd, "begin", 5L, 0L);
	p = map(3 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	q = map(3 * PAGE, PROT_READ, MAP_SHARED, reads, 0);
	CHECK(first_byte(p) == 'b' && first_byte(p + PAGE) == -1);
	OK(ftruncate, fd, 2 * PAGE);
	CHECK(first_byte(p + PAGE) == 0 && first_byte(q + 2 * PAGE) == -1);
	OK(write, adds, "added", 5L);
	CHECK(first_byte(q + 2 * PAGE) == 'a');
	OK(pwrite64, adds, "to the end", 10L, 0L);
	CHECK(!memcmp(q + 2 * PAGE, "addedto the end", 15));
	if (!OK(fork)) {
		syscall(SYS_pwrite64, fd, "child", 5L, PAGE);
		_exit(0);
	}
	CHECK(wait(&status) > 0 && !status && !memcmp(q + PAGE, "child", 5));
	OK(truncate, "changed", PAGE + 3);
	CHECK(!memcmp(p + PAGE, "chi\0", 4) && first_byte(p + 2 * PAGE) == -1);
	OK(close, GOT(open, "changed", O_WRONLY | O_TRUNC));
	CHECK(first_byte(p) == -1);
	OK(munmap, p, 3 * PAGE);
	OK(munmap, q, 3 * PAGE);
	OK(pwrite64, fd, "unseen", 6L, 0L);
	p = map(PAGE, PROT_READ, MAP_SHARED, reads, 0);
	CHECK(!memcmp(p, "unseen", 6) && beyond == 4);
}

static void in_memory(void)
{
	const long fd = OK(memfd_create, "name", MFD_ALLOW_SEALING | MFD_CLOEXEC);
	char buf[8] = "", *p, *q;

	FAILS(EINVAL, memfd_create, "name", 0x4000);
	OK(ftruncate, fd, 2 * PAGE);
	p = map(2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	strcpy(p + PAGE, "abc");
	OK(pread64, fd, buf, 4L, PAGE);
	CHECK(!strcmp(buf, "abc"));
	OK(pwrite64, fd, "xyz", 3L, PAGE);
	CHECK(!strcmp(p + PAGE, "xyz"));
	q = map(PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, PAGE);
	CHECK(!strcmp(q, "xyz"));
	q[0] = 'Q';
	CHECK(p[PAGE] == 'Q');
	OK(madvise, p, 2 * PAGE, MADV_REMOVE);
	CHECK(p[PAGE] == 0 && q[0] == 0);
	OK(fcntl, fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
	CHECK(OK(fcntl, fd, F_GET_SEALS) == (F_SEAL_SHRINK | F_SEAL_GROW));
	FAILS(EPERM, ftruncate, fd, PAGE);
	FAILS(EBUSY, fcntl, fd, F_ADD_SEALS, F_SEAL_WRITE);
	OK(close, fd);
}

static void policies(void)
{
	char *p = map(PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned long nodes[16] = { 0 };
	int mode = -1, status[2] = { -1, -1 };
	void *pages[2] = { p, p + PAGE };

	p[0] = 1;
	if (syscall(SYS_get_mempolicy, &mode, nodes, 1024, NULL, 0) && errno == ENOSYS)
		return;
	OK(get_mempolicy, &mode, nodes, 1024, NULL, 0);
	printf("mode %d\n", mode);
	OK(get_mempolicy, &mode, NULL, 0, p, MPOL_F_NODE | MPOL_F_ADDR);
	OK(set_mempolicy, MPOL_DEFAULT, NULL, 0);
	OK(mbind, p, PAGE, MPOL_DEFAULT, NULL, 0, 0);
	OK(move_pages, 0, 1L, pages, NULL, status, 0);
	printf("node %d\n", status[0]);
}

int main(void)
{
	mapped();
	heap();
	of_files();
	changed_file();
	in_memory();
	policies();
	FAILS(ENOSYS, userfaultfd, 0);
	return 0;
}
