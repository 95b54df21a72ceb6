/* SPDX-License-Identifier: MIT */
#ifndef COLLECT_LIVE_TIMELINE_H
#define COLLECT_LIVE_TIMELINE_H

#include "collect/live_state.h"

/* Draws one event of the ring on the timeline of @l, if it is one to draw. */
void live_timeline(struct live *l, const struct live_head *head);

#endif
