/* SPDX-License-Identifier: MIT */
#ifndef TRACER_VERSION_H
#define TRACER_VERSION_H

#define TRACER_VERSION "0.1.0"

#endif
