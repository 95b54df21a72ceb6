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
	size_t i, j;

	for (i = 0; i < d->nsite; i++) {
		for (j = 0; j < d->site[i].nframe; j++) {
			free(d->site[i].frame[j].symbol);
			free(d->site[i].frame[j].module);
			free(d->site[i].frame[j].file);
		}
		free(d->site[i].frame);
	}
	free(d->site);
	free(d->edge);
	free(d->waiter);
}
