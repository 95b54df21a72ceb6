/* SPDX-License-Identifier: MIT */
#include "report/render.h"

#include <string.h>

const struct render_format *const render_formats[] = {
	&render_text, &render_json, &render_html, &render_markdown, &render_junit,
};
const size_t render_nformats = sizeof(render_formats) / sizeof(render_formats[0]);

const struct render_format *render_find(const char *name)
{
	size_t i;

	for (i = 0; i < render_nformats; i++)
		if (!strcmp(render_formats[i]->name, name))
			return render_formats[i];
	return NULL;
}
