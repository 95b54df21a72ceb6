/* SPDX-License-Identifier: MIT */
#include "sym/symd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define FDS_WAITING 64
#define RECEIVE_BYTES 65536
#define SEND_BYTES 32768
/* With so many bytes of an answer written, the rest of it has no inlined frames. */
#define INLINED_ROOM (2u << 20)

struct serve {
	int sock;
	bool lines;
	struct symd_spaces *spaces;
	struct buf in;
	struct buf out;		/* answers, sent when no more requests have come */
	size_t answer_at;	/* in .out, of the one that is being written */
	int fd[FDS_WAITING];	/* received, in order, for FILE messages to come */
	unsigned int nfd;
};

static int send_answers(struct serve *s)
{
	size_t done = 0;

	while (done < s->out.len) {
		ssize_t n = send(s->sock, s->out.data + done, s->out.len - done, MSG_NOSIGNAL);

		if (n >= 0)
			done += (size_t)n;
		else if (errno != EINTR)
			return -errno;
	}
	buf_reset(&s->out);
	return 0;
}

/* The descriptor that came with the message, -1 when it was lost; -2: none came. */
static int next_fd(struct serve *s)
{
	int fd;

	if (!s->nfd)
		return -2;
	fd = s->fd[0];
	memmove(s->fd, s->fd + 1, --s->nfd * sizeof(s->fd[0]));
	return fd;
}

static int on_file(struct serve *s, const struct symp_msg *m)
{
	uint32_t id;
	int fd = next_fd(s);

	if (fd == -2 || symp_file(m, &id))
		return -EBADMSG;
	return symd_spaces_file(s->spaces, id, fd);
}

static int on_debug(struct serve *s, const struct symp_msg *m)
{
	uint32_t id;
	int fd = next_fd(s);

	if (fd == -2 || symp_debug(m, &id))
		return -EBADMSG;
	return symd_spaces_debug(s->spaces, id, fd);
}

static int on_forget(struct serve *s, const struct symp_msg *m)
{
	enum symp_thing what;
	uint32_t id;

	if (symp_forget(m, &what, &id))
		return -EBADMSG;
	symd_spaces_forget(s->spaces, what, id);
	return 0;
}

static int on_space(struct serve *s, const struct symp_msg *m)
{
	struct symp_list l;

	if (symp_space(m, &l))
		return -EBADMSG;
	return symd_spaces_set(s->spaces, &l);
}

static int on_unwind(struct serve *s, const struct symp_msg *m)
{
	struct symp_ip ip[SYM_FRAMES];
	struct symp_unwind u;
	const void *stack;
	uint32_t head[2] = { 0 };
	size_t at;

	if (symp_unwind_request(m, &u, &stack))
		return -EBADMSG;
	head[0] = symd_unwind(s->spaces, &u, stack, ip);
	if (symp_begin_more(&s->out, SYMP_STACK, m->head.seq, &at) ||
	    buf_add(&s->out, head, sizeof(head)) ||
	    buf_add(&s->out, ip, head[0] * sizeof(ip[0])) || symp_end_more(&s->out, at))
		return -ENOMEM;
	return 0;
}

/*
 * Names what is inlined at @at. Each inlined function's line is where its frame
 * stands: *@source and @n's line, which then become the place that it is inlined into.
 */
static int add_inlined(struct serve *s, const struct symd_place *at, struct symp_name *n,
		       const char **source)
{
	struct symd_inline in[SYMP_INLINED_MAX];
	uint32_t count;

	if (at->file->perf || s->out.len - s->answer_at > INLINED_ROOM)
		return 0;
	count = symd_inline(at->file, at->vaddr, in, SYMP_INLINED_MAX);
	for (uint32_t i = 0; i < count; i++) {
		char name[SYMP_SYMBOL_MAX + 1] = "";
		int rc;

		if (in[i].name)
			symd_name(in[i].name, name, sizeof(name));
		n->inlined = 1;
		rc = symp_names_add(&s->out, *n, name, *source);
		n->inlined = 0;
		if (rc)
			return rc;
		*source = in[i].source;
		n->line = in[i].line;
	}
	return 0;
}

/* *@file: the file that the address is in, 0 for none. */
static int add_name(struct serve *s, uint32_t space, struct symp_addr a, uint32_t *file)
{
	char name[SYMP_SYMBOL_MAX + 1] = "";
	const char *source = NULL;
	const struct symd_sym *sym;
	struct symp_name n = { 0 };
	struct symd_place at;
	bool data = a.kind == SYMP_DATA;
	uint64_t back = a.kind == SYMP_CALL;

	*file = 0;
	if (!symd_spaces_find(s->spaces, space, a.addr - back, data, &at) || !at.file)
		return symp_names_add(&s->out, n, NULL, NULL);
	*file = n.file = at.id;
	if (!at.file->perf)
		n.vaddr = at.vaddr + back;
	if (!data && s->lines) {
		int rc;

		symd_line(at.file, at.vaddr, &source, &n.line);
		rc = add_inlined(s, &at, &n, &source);
		if (rc)
			return rc;
	}
	sym = symd_table_find(at.file, at.vaddr, data);
	if (sym) {
		/* A JIT's names are as they should be shown. */
		if (at.file->perf)
			snprintf(name, sizeof(name), "%s", sym->name);
		else
			symd_name(sym->name, name, sizeof(name));
		n.offset = at.vaddr + back - sym->addr;
	}
	return symp_names_add(&s->out, n, name, source);
}

/* The files of an answer that lack symbols and were not told of yet. */
static int add_lacks(struct serve *s, const uint32_t *file, uint32_t n, uint32_t *told)
{
	for (uint32_t i = 0; i < n && *told < SYMP_LACKS_MAX; i++) {
		struct symd_file *f = symd_spaces_file_at(s->spaces, file[i]);
		struct symp_lack l = { .file = file[i] };

		if (!f || !f->lack.wanted || f->lack.told)
			continue;
		f->lack.told = true;
		l.crc = f->lack.crc;
		l.id_bytes = (uint16_t)f->lack.id_bytes;
		if (symp_lacks_add(&s->out, l, f->lack.id, f->lack.link))
			return -ENOMEM;
		++*told;
	}
	return 0;
}

static int on_name(struct serve *s, const struct symp_msg *m)
{
	uint32_t head[2] = { 0 }, file[SYMP_NAMES_MAX], nfile = 0;
	struct symp_list l;

	if (symp_name_request(m, &l))
		return -EBADMSG;
	head[0] = l.n;
	if (symp_begin_more(&s->out, SYMP_NAMES, m->head.seq, &s->answer_at) ||
	    buf_add(&s->out, head, sizeof(head)))
		return -ENOMEM;
	for (uint32_t i = 0; i < l.n; i++) {
		int rc = add_name(s, l.space, symp_addr_at(&l, i), &file[nfile]);

		if (rc)
			return rc;
		nfile += file[nfile] != 0;
	}
	if (add_lacks(s, file, nfile, &head[1]))
		return -ENOMEM;
	memcpy(s->out.data + s->answer_at + sizeof(struct symp_head), head, sizeof(head));
	return symp_end_more(&s->out, s->answer_at);
}

static int dispatch(struct serve *s, const struct symp_msg *m)
{
	static int (*const on[])(struct serve *, const struct symp_msg *) = {
		[SYMP_FILE] = on_file,
		[SYMP_SPACE] = on_space,
		[SYMP_UNWIND] = on_unwind,
		[SYMP_NAME] = on_name,
		[SYMP_DEBUG] = on_debug,
		[SYMP_FORGET] = on_forget,
	};

	if (m->head.type >= sizeof(on) / sizeof(on[0]) || !on[m->head.type])
		return -EBADMSG;
	symd_inline_request();
	return on[m->head.type](s, m);
}

/* Keeps the descriptors of a message; a lost one keeps its place. */
static int take_fds(struct serve *s, struct msghdr *m)
{
	for (struct cmsghdr *h = CMSG_FIRSTHDR(m); h; h = CMSG_NXTHDR(m, h)) {
		if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS ||
		    h->cmsg_len != CMSG_LEN(sizeof(int)))
			continue;
		if (s->nfd == FDS_WAITING)
			return -EBADMSG;
		memcpy(&s->fd[s->nfd++], CMSG_DATA(h), sizeof(int));
		return 0;
	}
	if (m->msg_flags & MSG_CTRUNC) {
		if (s->nfd == FDS_WAITING)
			return -EBADMSG;
		s->fd[s->nfd++] = -1;
	}
	return 0;
}

/* 1; 0 at the end; -errno. The kernel never joins two messages' descriptors. */
static int receive(struct serve *s)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(int))];
	} ctl;
	struct iovec iov;
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = ctl.space,
			    .msg_controllen = sizeof(ctl.space) };
	ssize_t n;
	int rc;

	if (buf_grow(&s->in, RECEIVE_BYTES))
		return -ENOMEM;
	iov = (struct iovec){ .iov_base = s->in.data + s->in.len, .iov_len = RECEIVE_BYTES };
	do {
		n = recvmsg(s->sock, &m, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n ? -errno : 0;
	rc = take_fds(s, &m);
	s->in.len += (size_t)n;
	return rc ? rc : 1;
}

static int handle_received(struct serve *s)
{
	size_t at = 0;
	struct symp_msg m;
	long used;
	int rc;

	symd_box_request();
	while (at < s->in.len && (used = symp_frame(s->in.data + at, s->in.len - at, &m))) {
		rc = used < 0 ? (int)used : dispatch(s, &m);
		if (rc)
			return rc;
		at += (size_t)used;
		/* So that there is never so much unsent that it could not be taken. */
		if (s->out.len > SEND_BYTES && (rc = send_answers(s)))
			return rc;
	}
	memmove(s->in.data, s->in.data + at, s->in.len - at);
	s->in.len -= at;
	return send_answers(s);
}

int symd_serve(int sock, bool lines)
{
	struct serve s = { .sock = sock, .lines = lines, .spaces = symd_spaces_new() };
	int rc = s.spaces ? 1 : -ENOMEM;

	while (rc > 0) {
		rc = receive(&s);
		if (rc > 0) {
			int bad = handle_received(&s);

			if (bad)
				rc = bad;
		}
	}
	while (s.nfd) {
		int fd = s.fd[--s.nfd];

		if (fd >= 0)
			close(fd);
	}
	symd_spaces_free(s.spaces);
	buf_release(&s.in);
	buf_release(&s.out);
	return rc;
}
