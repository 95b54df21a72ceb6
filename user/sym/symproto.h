/* SPDX-License-Identifier: MIT */
#ifndef SYM_SYMPROTO_H
#define SYM_SYMPROTO_H

/*
 * What libexec/tracer-sym and its parent say to each other over a stream
 * socket pair. Both ends are the same build on the same machine, so fields
 * are in native order; but the child has read hostile files and may say
 * anything, so each length is checked on both sides.
 *
 * A message is a struct symp_head and .bytes bytes. FILE and DEBUG carry one
 * descriptor. UNWIND is answered by STACK, NAME by NAMES, with the same .seq;
 * nothing else is answered.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "sym/sym.h"

enum symp_type {
	SYMP_FILE = 1,	/* u32 file */
	SYMP_SPACE,	/* u32 space, u32 n, n × struct symp_map ascending */
	SYMP_UNWIND,	/* struct symp_unwind, then the stack */
	SYMP_NAME,	/* u32 space, u32 n, n × struct symp_addr */
	SYMP_STACK,	/* u32 n, u32 0, n × struct symp_ip */
	/*
	 * u32 n, u32 nlack; n times the names of an address, which are a struct
	 * symp_name, symbol and source for each inlined function and for the one that
	 * holds them; then nlack × (struct symp_lack, build id, name)
	 */
	SYMP_NAMES,
	SYMP_DEBUG,	/* u32 file: its separate debug file comes with this message */
	SYMP_FORGET,	/* u32 enum symp_thing, u32 id: it does not come up again */
	SYMP_TYPES
};

enum symp_thing { SYMP_THE_SPACE, SYMP_THE_FILE };

#define SYMP_BYTES_MAX (4u << 20)	/* of a message's body */
#define SYMP_MAPS_MAX 65536u		/* of a space; the kernel's default limit is 65530 */
#define SYMP_NAMES_MAX 256u		/* of a request */
#define SYMP_SYMBOL_MAX 1024u		/* bytes of a symbol or source path */
#define SYMP_INLINED_MAX 16u		/* inlined functions of one address */
#define SYMP_LACKS_MAX 64u		/* of an answer */
#define SYMP_BUILD_ID_MAX 64u
#define SYMP_LINK_MAX 255u		/* bytes of a debug link's file name */

struct symp_head {
	uint32_t bytes;		/* that follow */
	uint16_t type;		/* enum symp_type */
	uint16_t zero;
	uint32_t seq;
	uint32_t zero2;
};

struct symp_map {
	uint64_t start, end, offset;
	uint32_t file;		/* 0: none */
	uint32_t prot;		/* SYMMAPS_* */
};

struct symp_unwind {
	uint32_t space;
	uint32_t max;		/* frames wanted, 1..SYM_FRAMES */
	struct sym_regs regs;
	uint32_t stack_bytes;
	uint32_t zero;
};

enum symp_kind {
	SYMP_CODE,	/* a function, at the address itself */
	SYMP_CALL,	/* a function, by the call before the address */
	SYMP_DATA,
	SYMP_KINDS
};

struct symp_addr {
	uint64_t addr;
	uint32_t kind;		/* enum symp_kind */
	uint32_t zero;
};

struct symp_ip {
	uint64_t ip;
	uint32_t kind;		/* SYMP_CODE or SYMP_CALL */
	uint32_t zero;
};

struct symp_name {
	uint64_t offset;
	uint64_t vaddr;		/* of the address in its file; 0: unknown */
	uint32_t file;		/* that the address lies in; 0: none */
	uint32_t line;
	uint16_t symbol_bytes;	/* 0: unknown */
	uint16_t source_bytes;
	uint16_t inlined;	/* not 0: what this is inlined into comes next */
	uint16_t zero;
};

/* A file without symbols of its own whose debug file the child may not look for. */
struct symp_lack {
	uint32_t file;
	uint32_t crc;		/* of the debug file, where there is a link */
	uint16_t id_bytes;	/* 0: it has no build id */
	uint16_t link_bytes;	/* 0: it has no debug link */
	uint32_t zero;
};

_Static_assert(sizeof(struct symp_head) == 16, "head");
_Static_assert(sizeof(struct symp_map) == 32, "map");
_Static_assert(sizeof(struct symp_unwind) == 16 + 8 * SYM_REGS, "unwind");
_Static_assert(sizeof(struct symp_addr) == 16 && sizeof(struct symp_ip) == 16, "addresses");
_Static_assert(sizeof(struct symp_name) == 32 && sizeof(struct symp_lack) == 16, "names");

/* A message in the receiver's buffer. */
struct symp_msg {
	struct symp_head head;
	const void *body;
};

/*
 * The first message of @bytes bytes at @data. Returns the bytes that it
 * takes, 0 when more are needed, -EBADMSG when it is none.
 */
long symp_frame(const void *data, size_t bytes, struct symp_msg *out);

/* Starts a message in @b, which it is alone in, and completes it; return 0 or -ENOMEM. */
int symp_begin(struct buf *b, enum symp_type type, uint32_t seq);
int symp_end(struct buf *b);
/* The same behind what is in @b, from @at on; *@at comes from symp_begin_more. */
int symp_begin_more(struct buf *b, enum symp_type type, uint32_t seq, size_t *at);
int symp_end_more(struct buf *b, size_t at);

/*
 * Decoders. Each returns 0, or -EBADMSG when the body is not exactly what the
 * type says. Pointers lead into the body and are not aligned: read elements
 * by the symp_*_at functions.
 */
struct symp_list {
	uint32_t space;		/* SPACE and NAME */
	uint32_t n;
	const void *item;
};
int symp_file(const struct symp_msg *m, uint32_t *file);
int symp_debug(const struct symp_msg *m, uint32_t *file);
int symp_forget(const struct symp_msg *m, enum symp_thing *what, uint32_t *id);
int symp_space(const struct symp_msg *m, struct symp_list *out);
int symp_name_request(const struct symp_msg *m, struct symp_list *out);
int symp_stack(const struct symp_msg *m, struct symp_list *out);
int symp_unwind_request(const struct symp_msg *m, struct symp_unwind *out, const void **stack);

struct symp_map symp_map_at(const struct symp_list *l, uint32_t i);
struct symp_addr symp_addr_at(const struct symp_list *l, uint32_t i);
struct symp_ip symp_ip_at(const struct symp_list *l, uint32_t i);

/*
 * Walks a NAMES body: names_begin gives the counts, names_next goes on until .n
 * addresses are through, lacks_next until .nlack is 0.
 */
struct symp_names {
	const char *p, *end;
	uint32_t n, nlack;
	uint32_t deep;		/* inlined functions of this address so far */
};
int symp_names_begin(const struct symp_msg *m, struct symp_names *out);
/*
 * 0 with *symbol and *source set (not NUL-terminated), or -EBADMSG. .n counts down
 * behind the last name of an address.
 */
int symp_names_next(struct symp_names *w, struct symp_name *out,
		    const char **symbol, const char **source);
int symp_lacks_next(struct symp_names *w, struct symp_lack *out,
		    const unsigned char **id, const char **link);
/* Adds a name; overlong strings are cut at a character's start. */
int symp_names_add(struct buf *b, struct symp_name n, const char *symbol, const char *source);
/* Behind all names. @link is shorter than SYMP_LINK_MAX or NULL. */
int symp_lacks_add(struct buf *b, struct symp_lack l, const unsigned char *id, const char *link);

#endif
