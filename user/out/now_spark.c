/* SPDX-License-Identifier: MIT */
#include "out/now_cols.h"

static const char *const blocks[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
static const char *const marks[] = { " ", ".", ":", "-", "=", "+", "*", "#" };

/* As many parts of @most as it reaches into: 0 for nothing alone, and for what is no number. */
static unsigned int level_of(float x, float scale, unsigned int most)
{
	float level;

	if (!(x > 0))
		return 0;
	level = x / scale * (float)most;
	if (!(level < (float)most))
		return most;
	return (unsigned int)level + ((float)(unsigned int)level < level);
}

/* The interval that was @ago before the last one; 0 before there was one. */
static float past_at(const struct now_view *v, const float *past, unsigned int ago)
{
	return ago < NOW_PAST ? past[(v->now->tick - ago) % NOW_PAST] : 0;
}

void now_spark(struct buf *b, const struct now_view *v, const float *past, unsigned int cells,
	       float scale)
{
	const unsigned int most = v->ascii ? sizeof(marks) / sizeof(*marks) - 1 :
					     sizeof(blocks) / sizeof(*blocks) - 1;
	unsigned int i;

	/* Of what is shown: what has moved out of it must not flatten the rest. */
	if (!(scale > 0))
		for (i = 0, scale = 0; i < cells; i++)
			scale = past_at(v, past, i) > scale ? past_at(v, past, i) : scale;
	for (i = cells; i-- > 0;) {
		unsigned int level = level_of(past_at(v, past, i), scale, most);

		buf_adds(b, v->ascii ? marks[level] : blocks[level]);
	}
}
