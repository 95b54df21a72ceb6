/* SPDX-License-Identifier: MIT */
/* getppid_loop N: N getppid calls; prints nanoseconds a call. The cheapest call there is. */
#include "workload.h"

int main(int argc, char **argv)
{
	long n = wl_arg(argc, argv, 1, 1000003);
	uint64_t t0 = wl_now_ns(), ns;

	for (long i = 0; i < n; i++)
		syscall(SYS_getppid);
	ns = wl_now_ns() - t0;
	printf("calls=%ld ns=%llu ns_per_call=%.1f\n", n, (unsigned long long)ns,
	       n ? (double)ns / (double)n : 0);
	return 0;
}
