/* SPDX-License-Identifier: MIT */
#ifndef REPORT_RENDER_JSON_H
#define REPORT_RENDER_JSON_H

#include "out/json.h"
#include "report/regress.h"

/* The whole document of docs/formats/report-json.md; the page has it too. In user/report. */
void render_json_document(struct json *j, const struct regress *r);

#endif
