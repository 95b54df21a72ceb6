/* SPDX-License-Identifier: MIT */
/* package: systemtap-sdt-dev */
/* for: optional */
#include <sys/sdt.h>

int main(void)
{
	DTRACE_PROBE1(probe, ran, 1);
	return 0;
}
