/* SPDX-License-Identifier: MIT */
/* diag_futex_eagain: FUTEX_WAIT for a value that is not there, 100,000 times or 9,000. */
#include "diag.h"

static uint32_t always_zero;

int main(int argc, char **argv)
{
	int n = diag_trigger(argc, argv) ? 100000 : 9000;

	for (int i = 0; i < n; i++)
		if (wl_futex(&always_zero, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0) != -EAGAIN)
			wl_die("futex wait");
	return 0;
}
