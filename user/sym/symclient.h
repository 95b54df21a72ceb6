/* SPDX-License-Identifier: MIT */
#ifndef SYM_SYMCLIENT_H
#define SYM_SYMCLIENT_H

/* What sym.c and symsnap.c share; for nobody else. */
#include "base/buf.h"
#include "base/map.h"
#include "sym/sym.h"
#include "sym/symchild.h"
#include "sym/symintern.h"

/* A mapped file that holds code. Its number is its index + 1. */
struct symfile {
	int fd;			/* -1: given up to save descriptors, the child has it */
	uint32_t major, minor;
	uint64_t ino;
	int64_t mtime_ns, size;
	bool sent;		/* to the child that runs now */
};

struct symspace_map {
	uint64_t start, end, offset;
	unsigned int prot;
	uint32_t file;		/* 0: none */
	const char *path;	/* NULL: anonymous code */
};

struct symspace {
	uint32_t space;
	uint32_t gen;		/* of .map; part of the cache keys */
	struct symspace_map *map;	/* ascending */
	size_t n;
	uint64_t read_ns;	/* CLOCK_MONOTONIC of the last reading */
	uint64_t text_hash;
	bool missed;		/* code was looked for outside .map since then */
	bool sent;		/* .map, to the child that runs now */
	unsigned int deaths;	/* of the child at a request for this space */
};

struct sym {
	char *libexec_dir;
	struct sym_opts opts;
	struct symintern *strings;
	struct map *spaces;	/* uint32_t → struct symspace */
	struct map *file_ids;	/* struct symsnap_key → uint32_t, the newest file */
	struct symfile *file;
	size_t nfile, cap_file;
	struct map *names;	/* struct name_key → struct name_entry */
	struct map *stacks;	/* struct stack_key → struct stack_entry */
	struct symchild child;
	struct buf out;
	uint32_t seq;
	bool no_map_files;	/* the kernel does not let us */
	struct sym_stats stats;
};

/* The mapping of @sp that holds @addr, or NULL. */
const struct symspace_map *symsnap_find(const struct symspace *sp, uint64_t addr);
/*
 * Hands all files to the child and closes ours, when descriptors run out.
 * Returns whether any was closed.
 */
bool sym_shed_files(struct sym *s);

#endif
