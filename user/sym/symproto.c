/* SPDX-License-Identifier: MIT */
#include "sym/symproto.h"

#include <errno.h>
#include <string.h>

long symp_frame(const void *data, size_t bytes, struct symp_msg *out)
{
	struct symp_head h;

	if (bytes < sizeof(h))
		return 0;
	memcpy(&h, data, sizeof(h));
	if (h.type < SYMP_FILE || h.type >= SYMP_TYPES || h.zero || h.zero2 ||
	    h.bytes > SYMP_BYTES_MAX)
		return -EBADMSG;
	if (bytes - sizeof(h) < h.bytes)
		return 0;
	out->head = h;
	out->body = (const char *)data + sizeof(h);
	return (long)(sizeof(h) + h.bytes);
}

int symp_begin_more(struct buf *b, enum symp_type type, uint32_t seq, size_t *at)
{
	struct symp_head h = { .type = (uint16_t)type, .seq = seq };

	*at = b->len;
	return buf_add(b, &h, sizeof(h));
}

int symp_end_more(struct buf *b, size_t at)
{
	uint32_t bytes = (uint32_t)(b->len - at - sizeof(struct symp_head));

	if (b->failed || bytes > SYMP_BYTES_MAX)
		return -ENOMEM;
	memcpy(b->data + at + offsetof(struct symp_head, bytes), &bytes, sizeof(bytes));
	return 0;
}

int symp_begin(struct buf *b, enum symp_type type, uint32_t seq)
{
	size_t at;

	buf_reset(b);
	b->failed = false;
	return symp_begin_more(b, type, seq, &at);
}

int symp_end(struct buf *b)
{
	return symp_end_more(b, 0);
}

static int file_body(const struct symp_msg *m, unsigned int type, uint32_t *file)
{
	if (m->head.type != type || m->head.bytes != sizeof(*file))
		return -EBADMSG;
	memcpy(file, m->body, sizeof(*file));
	return *file ? 0 : -EBADMSG;
}

int symp_file(const struct symp_msg *m, uint32_t *file)
{
	return file_body(m, SYMP_FILE, file);
}

int symp_debug(const struct symp_msg *m, uint32_t *file)
{
	return file_body(m, SYMP_DEBUG, file);
}

int symp_forget(const struct symp_msg *m, enum symp_thing *what, uint32_t *id)
{
	uint32_t w[2];

	if (m->head.type != SYMP_FORGET || m->head.bytes != sizeof(w))
		return -EBADMSG;
	memcpy(w, m->body, sizeof(w));
	if (w[0] > SYMP_THE_FILE)
		return -EBADMSG;
	*what = (enum symp_thing)w[0];
	*id = w[1];
	return 0;
}

/* Two words and then as many items as one of them says, exactly. */
static int list_body(const struct symp_msg *m, unsigned int type, size_t item_bytes,
		     uint32_t max, uint32_t word[2], uint32_t n_word, struct symp_list *out)
{
	const size_t head = 2 * sizeof(uint32_t);

	if (m->head.type != type || m->head.bytes < head)
		return -EBADMSG;
	memcpy(word, m->body, head);
	out->n = word[n_word];
	out->item = (const char *)m->body + head;
	if (out->n > max || m->head.bytes - head != out->n * item_bytes)
		return -EBADMSG;
	return 0;
}

int symp_space(const struct symp_msg *m, struct symp_list *out)
{
	uint64_t before = 0;
	uint32_t w[2];

	if (list_body(m, SYMP_SPACE, sizeof(struct symp_map), SYMP_MAPS_MAX, w, 1, out))
		return -EBADMSG;
	out->space = w[0];
	for (uint32_t i = 0; i < out->n; i++) {
		struct symp_map e = symp_map_at(out, i);

		if (e.start < before || e.end <= e.start)
			return -EBADMSG;
		before = e.end;
	}
	return 0;
}

int symp_name_request(const struct symp_msg *m, struct symp_list *out)
{
	uint32_t w[2];

	if (list_body(m, SYMP_NAME, sizeof(struct symp_addr), SYMP_NAMES_MAX, w, 1, out))
		return -EBADMSG;
	out->space = w[0];
	for (uint32_t i = 0; i < out->n; i++) {
		if (symp_addr_at(out, i).kind >= SYMP_KINDS)
			return -EBADMSG;
	}
	return 0;
}

int symp_stack(const struct symp_msg *m, struct symp_list *out)
{
	uint32_t w[2];

	if (list_body(m, SYMP_STACK, sizeof(struct symp_ip), SYM_FRAMES, w, 0, out))
		return -EBADMSG;
	out->space = 0;
	for (uint32_t i = 0; i < out->n; i++) {
		if (symp_ip_at(out, i).kind > SYMP_CALL)
			return -EBADMSG;
	}
	return 0;
}

int symp_unwind_request(const struct symp_msg *m, struct symp_unwind *out, const void **stack)
{
	if (m->head.type != SYMP_UNWIND || m->head.bytes < sizeof(*out))
		return -EBADMSG;
	memcpy(out, m->body, sizeof(*out));
	if (out->stack_bytes > SYM_STACK_BYTES ||
	    m->head.bytes - sizeof(*out) != out->stack_bytes || !out->max ||
	    out->max > SYM_FRAMES)
		return -EBADMSG;
	*stack = (const char *)m->body + sizeof(*out);
	return 0;
}

struct symp_map symp_map_at(const struct symp_list *l, uint32_t i)
{
	struct symp_map e;

	memcpy(&e, (const char *)l->item + i * sizeof(e), sizeof(e));
	return e;
}

struct symp_addr symp_addr_at(const struct symp_list *l, uint32_t i)
{
	struct symp_addr e;

	memcpy(&e, (const char *)l->item + i * sizeof(e), sizeof(e));
	return e;
}

struct symp_ip symp_ip_at(const struct symp_list *l, uint32_t i)
{
	struct symp_ip e;

	memcpy(&e, (const char *)l->item + i * sizeof(e), sizeof(e));
	return e;
}

int symp_names_begin(const struct symp_msg *m, struct symp_names *out)
{
	uint32_t w[2];

	if (m->head.type != SYMP_NAMES || m->head.bytes < sizeof(w))
		return -EBADMSG;
	memcpy(w, m->body, sizeof(w));
	if (w[0] > SYMP_NAMES_MAX || w[1] > SYMP_LACKS_MAX)
		return -EBADMSG;
	out->n = w[0];
	out->nlack = w[1];
	out->deep = 0;
	out->p = (const char *)m->body + sizeof(w);
	out->end = (const char *)m->body + m->head.bytes;
	return 0;
}

int symp_names_next(struct symp_names *w, struct symp_name *out,
		    const char **symbol, const char **source)
{
	if (!w->n || (size_t)(w->end - w->p) < sizeof(*out))
		return -EBADMSG;
	memcpy(out, w->p, sizeof(*out));
	w->p += sizeof(*out);
	if (out->symbol_bytes > SYMP_SYMBOL_MAX || out->source_bytes > SYMP_SYMBOL_MAX ||
	    (size_t)(w->end - w->p) < (size_t)out->symbol_bytes + out->source_bytes)
		return -EBADMSG;
	*symbol = w->p;
	*source = w->p + out->symbol_bytes;
	w->p += out->symbol_bytes + out->source_bytes;
	if (out->inlined)
		return ++w->deep > SYMP_INLINED_MAX ? -EBADMSG : 0;
	w->deep = 0;
	w->n--;
	return 0;
}

int symp_lacks_next(struct symp_names *w, struct symp_lack *out,
		    const unsigned char **id, const char **link)
{
	if (w->n || !w->nlack || (size_t)(w->end - w->p) < sizeof(*out))
		return -EBADMSG;
	memcpy(out, w->p, sizeof(*out));
	w->p += sizeof(*out);
	if (out->id_bytes > SYMP_BUILD_ID_MAX || out->link_bytes > SYMP_LINK_MAX ||
	    (size_t)(w->end - w->p) < (size_t)out->id_bytes + out->link_bytes)
		return -EBADMSG;
	*id = (const unsigned char *)w->p;
	*link = w->p + out->id_bytes;
	w->p += out->id_bytes + out->link_bytes;
	w->nlack--;
	return 0;
}

/* The length to send of @s: never more than the limit, never half a character. */
static uint16_t cut_length(const char *s)
{
	size_t n = s ? strnlen(s, SYMP_SYMBOL_MAX + 1) : 0;

	if (n > SYMP_SYMBOL_MAX) {
		n = SYMP_SYMBOL_MAX;
		while (n && ((unsigned char)s[n] & 0xc0) == 0x80)
			n--;
	}
	return (uint16_t)n;
}

int symp_names_add(struct buf *b, struct symp_name n, const char *symbol, const char *source)
{
	n.symbol_bytes = cut_length(symbol);
	n.source_bytes = cut_length(source);
	n.zero = 0;
	if (buf_add(b, &n, sizeof(n)) || buf_add(b, symbol, n.symbol_bytes) ||
	    buf_add(b, source, n.source_bytes))
		return -ENOMEM;
	return 0;
}

int symp_lacks_add(struct buf *b, struct symp_lack l, const unsigned char *id, const char *link)
{
	l.link_bytes = link ? (uint16_t)strlen(link) : 0;
	l.zero = 0;
	if (buf_add(b, &l, sizeof(l)) || buf_add(b, id, l.id_bytes) ||
	    buf_add(b, link, l.link_bytes))
		return -ENOMEM;
	return 0;
}
