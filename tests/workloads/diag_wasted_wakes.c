/* SPDX-License-Identifier: MIT */
/* diag_wasted_wakes: FUTEX_WAKE where nobody waits, 100,000 times or 9,000. */
#include "diag.h"

static uint32_t nobody_waits;

int main(int argc, char **argv)
{
	int n = diag_trigger(argc, argv) ? 100000 : 9000;

	for (int i = 0; i < n; i++)
		wl_futex(&nobody_waits, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	return 0;
}
