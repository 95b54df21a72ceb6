/* SPDX-License-Identifier: MIT */
#ifndef OUT_CHECKUP_H
#define OUT_CHECKUP_H

/*
 * What `tracer doctor` found: filled by user/collect (probe.c tries, host.c
 * looks), written as a table or as JSON by user/out. Texts are escaped there.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "out/out.h"

#define CHECKUP_SCHEMA "tracer.doctor/1"
#define CHECK_TEXT 320

/* CHECK_UNTRIED: something before it failed already, for the same reason. */
enum check_state { CHECK_OK, CHECK_FAILS, CHECK_UNTRIED };
const char *check_state_name(enum check_state s);	/* "ok", "fails", "untried" */

/* A thing that was tried: a BPF program, or what programs need. */
struct check_part {
	const char *name;
	const char *what;		/* of what is no program, else NULL */
	char hook[48];			/* "tp_btf/sched_switch"; "": no program */
	enum check_state state;
	int code;			/* positive errno when it fails */
	bool hook_known, hook_there;	/* by the kernel's type information */
	char why[CHECK_TEXT], fix[CHECK_TEXT];	/* "" when it works */
};

/* A way to see system calls. */
struct check_way { const char *name; bool left_out; const struct check_part *broken; };

/* A collector works when it does in each mode that it has. */
struct check_collector {
	const char *name, *what;
	bool works;
	const char *wait, *exact;	/* the way taken in each mode; NULL: none works */
	bool has_exact, by_call;	/* another way in exact mode; that of the calls */
	const struct check_part *broken;	/* the first part that fails; NULL */
};

enum check_kind { CHECK_STRING, CHECK_NUMBER, CHECK_YES_NO };
enum check_level { CHECK_PLAIN, CHECK_GOOD, CHECK_BAD };

/* Something that was looked at. */
struct check_fact {
	const char *group, *key, *label;	/* .key: of JSON; .label: of the table */
	enum check_kind kind;
	bool known;			/* else the machine does not say */
	int64_t number;			/* CHECK_NUMBER, CHECK_YES_NO */
	char text[CHECK_TEXT];		/* for people; CHECK_STRING: the value as well */
	enum check_level level;
	const char *fix;		/* what would mend it; NULL */
};

#define CHECK_PARTS 24
#define CHECK_COLLECTORS 12
#define CHECK_FACTS 40
#define CHECK_WAYS 2
#define CHECK_ROOT_LINES 6

struct checkup {
	const char *version;
	bool works;			/* all collectors */
	struct check_part part[CHECK_PARTS];
	size_t npart;
	struct check_collector collector[CHECK_COLLECTORS];
	size_t ncollector;
	struct check_way way[CHECK_WAYS];
	size_t nway;
	struct check_fact fact[CHECK_FACTS];
	size_t nfact;
	char with_root[CHECK_ROOT_LINES][CHECK_TEXT];
	size_t nwith_root;
	bool has_cost;			/* added nanoseconds, as a run measures them */
	int64_t ns_per_syscall, ns_per_futex, ns_per_chunk;
	int64_t ns_per_routine;		/* -1: not measured */
};

/* As the summary of struct out_format. */
int checkup_table(const struct checkup *c, const struct out_opts *opts, struct out_stream *o,
		  struct err *err);
int checkup_json(const struct checkup *c, struct out_stream *o, struct err *err);

#endif
