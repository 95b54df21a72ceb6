/* SPDX-License-Identifier: MIT */
#ifndef SYM_SYMCLIENT_H
#define SYM_SYMCLIENT_H

/* What the files of the parent's side share; for nobody else. */
#include "base/buf.h"
#include "base/map.h"
#include "sym/sym.h"
#include "sym/symchild.h"
#include "sym/symintern.h"
#include "sym/symkernel.h"

/* A mapped file that holds code. Its number is its index + 1. */
struct symfile {
	int fd;			/* -1: given up to save descriptors, the child has it */
	int debug_fd;		/* its separate debug file; -1: none known */
	uint32_t major, minor;
	uint64_t ino;
	int64_t mtime_ns, size;
	bool perf;		/* a perf map: grows and is the same */
	bool sent;		/* to the child that runs now */
	bool sought;		/* its debug file was looked for */
	bool idle;		/* no space had it the last time they were gone through */
	bool free;		/* the number is another file's to have */
};

void symfile_close(struct symfile *f);

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
	uint64_t cost_ns;	/* CPU time that it took */
	uint64_t text_hash;
	bool no_perf;		/* has code without a file and no perf map (yet) */
	bool missed;		/* code was looked for outside .map since then */
	bool sent;		/* .map, to the child that runs now */
	unsigned int deaths;	/* of the child at a request for this space */
	uint64_t waited_ns;	/* for answers about this space */
};

struct sym {
	char *libexec_dir;
	struct sym_opts opts;
	struct symintern *strings;
	struct map *spaces;	/* uint32_t → struct symspace */
	size_t nmap;		/* mappings of all spaces */
	struct map *file_ids;	/* struct symsnap_key → uint32_t, the newest file */
	struct symfile *file;
	size_t nfile, cap_file;
	size_t nfree;		/* of .file, those that are .free */
	uint32_t forgotten;	/* spaces, since what they leave was last swept up */
	struct map *names;	/* symlook.c's */
	struct map *stacks;	/* struct stack_key → struct symstack */
	struct symkernel *kernel;	/* NULL: not read, or not shown to us */
	bool kernel_read;
	struct symchild child;
	struct buf out;
	uint32_t seq;
	uint64_t waited_ns, waited_at_ns;	/* for answers, and when that was last paid back */
	uint32_t deaths;	/* of the child, lately */
	uint64_t death_ns;	/* CLOCK_MONOTONIC of the last one */
	uint64_t fetched_ns;	/* with debuginfod */
	uint64_t debt_ns, debt_at_ns;	/* CPU time of snapshots not yet paid for, and when */
	int no_child;		/* errno: there is no tracer-sym to run */
	bool no_map_files;	/* the kernel does not let us */
	struct sym_stats stats;
};

/* A stack as the child unwound it. */
struct symstack {
	struct symp_ip *ip;
	uint32_t n;
};

/* symstack.c: the cache of them */
struct map *symstack_new(void);
void symstack_forget(struct sym *s);

/* symlook.c: names of addresses, and the cache of them */
struct map *symlook_new(void);
void symlook_free(struct sym *s);
void symlook_forget(struct sym *s);
/* Asks for the names of @st that are not known. 0; -EIO, -ENOMEM. */
int symlook_ask(struct sym *s, struct symspace *sp, const struct symstack *st);
/* The same for many: add each, then end; @rc is handed on. */
struct symlook_many;
struct symlook_many *symlook_many_new(struct sym *s, struct symspace *sp);
int symlook_many_add(struct symlook_many *m, const struct symstack *st);
int symlook_many_end(struct symlook_many *m, int rc);
/* Writes its frames, those inlined too; their number, @max at most. */
int symlook_frames(const struct sym *s, const struct symspace *sp, const struct symstack *st,
		   struct sym_frame *out, int max);

/*
 * symseek.c: looks for the debug files of what lacks symbols by the rest of an
 * answer, and gives them to the child. Returns how many were found; -EBADMSG.
 */
int symseek_lacks(struct sym *s, const struct symspace *sp, struct symp_names *w);

/* The mapping of @sp that holds @addr, or NULL. */
const struct symspace_map *symsnap_find(const struct symspace *sp, uint64_t addr);
/* symsnap.c: @f, file @id, is not to be found any more by what maps says of it. */
void symsnap_drop_file(struct sym *s, const struct symfile *f, uint32_t id);

/* What a request says behind its head, in two parts. */
struct sym_request {
	enum symp_type type, answer;
	const void *part[2];
	size_t bytes[2];
};

/*
 * Asks the child, started and told of @sp before where necessary. *@answer is
 * valid until the next asking. 0; -ENOMEM; -EIO, after which the child is gone.
 */
int sym_ask(struct sym *s, struct symspace *sp, const struct sym_request *r,
	    struct symp_msg *answer);
/*
 * Asks for all of r[0..n) before the first answer is waited for: SYM_BUNCH_BYTES and
 * SYM_BUNCH of them at most. @fn takes each answer, in order; -EBADMSG from it means
 * that it made no sense, -ENOMEM is passed on. Returns as sym_ask.
 */
int sym_ask_all(struct sym *s, struct symspace *sp, const struct sym_request *r, size_t n,
		int (*fn)(void *ctx, size_t i, const struct symp_msg *m), void *ctx);
#define SYM_BUNCH 16
#define SYM_BUNCH_BYTES 65536
/* Sends @type, DEBUG or FORGET, to the child that runs; it is ended when it takes none. */
int sym_tell(struct sym *s, enum symp_type type, uint32_t a, uint32_t b, int fd);
/* The answer made no sense: ends the child that gave it. */
void sym_bad_answer(struct sym *s, struct symspace *sp);
/*
 * Hands all files to the child and closes ours, as descriptors run out: they
 * are then lost when the child dies.
 */
void sym_shed_files(struct sym *s);

/*
 * symopen.c: opens a debug file by a path of ours, without following links; root
 * takes only what everybody may read, since an answer of the child names it.
 */
int symopen_debug(const char *path);
/* Opens what a line of /proc/PID/maps maps, @proc being /proc/PID. */
struct stat;
struct symmaps_line;
int symopen_mapped(struct sym *s, int proc, const struct symmaps_line *l, struct stat *st);
/*
 * Opens the perf map that a JIT of the process writes, in its own mount and pid
 * namespaces; its path, as seen there, comes to @path. -ENOENT: has none, or one
 * of another owner.
 */
#define SYMOPEN_PERF_BYTES 48
int symopen_perf(int proc, char path[SYMOPEN_PERF_BYTES], struct stat *st);

#endif
