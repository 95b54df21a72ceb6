/* SPDX-License-Identifier: MIT */
#include "out/now.h"

#include <stdlib.h>

const char *now_state_name(enum now_state s)
{
	static const char *const names[] = {
		[NOW_RUNNING] = "run", [NOW_RUNNABLE] = "queue", [NOW_BLOCKED] = "wait",
	};

	return names[s];
}

void now_lock_detail_release(struct now_lock_detail *d)
{
	size_t i;

	for (i = 0; i < d->nsite; i++)
		sum_site_release(&d->site[i]);
	free(d->site);
	free(d->edge);
	free(d->waiter);
}
