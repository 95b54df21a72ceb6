/* SPDX-License-Identifier: MIT */
/* Writes to memory in the instructions next to each call. */
#include <stdint.h>
#include <sys/syscall.h>

static volatile uint64_t at[8192];

int main(void)
{
	for (uint64_t i = 0; i < 2000; i++) {
		long ret = SYS_getppid;

		__asm__ volatile("syscall\n\tmovq %1, %2" : "+a"(ret)
				 : "r"(i), "m"(at[i * 4 % 8192]) : "rcx", "r11", "memory");
		at[i] += (uint64_t)ret;
	}
	return 0;
}
