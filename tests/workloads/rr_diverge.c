/* SPDX-License-Identifier: MIT */
/*
 * rr_diverge FILE: maps it, and makes calls with its first byte and with a number that stands in
 * the program's own code.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	const int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;
	const unsigned char *at;
	long ret;

	if (fd < 0)
		return 2;
	at = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED)
		return 2;
	for (int i = 0; i < 20; i++) {
		lseek(fd, at[0] + i, SEEK_SET);
		__asm__ volatile("mov %1, %%eax\n\tsyscall" : "=a"(ret) : "i"(SYS_getppid) :
				 "rcx", "r11", "memory");
	}
	return 0;
}
