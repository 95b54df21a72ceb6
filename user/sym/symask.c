/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. Everything that the child was told can be told again, so it may die:
 * it is started anew at the next request, RESTARTS_MAX times within a while and
 * once for a space that killed it. Waiting for it is bounded, too. Files and
 * mappings are sent when a request needs them, before it, and are not answered.
 * Stacks are asked for in bunches, so that not each is waited for. A bunch is so
 * small that all its answers fit into the socket: the child can always go on, and
 * so neither side can wait for the other to read.
 */
#include "sym/symclient.h"

#include <errno.h>
#include <unistd.h>

#include "base/clock.h"

#define RESTARTS_MAX 3
#define DEATHS_NS (600 * (uint64_t)1000000000)	/* so long a death is held against it */
#define SPACE_DEATHS_MAX 2
#define WAIT_PART 100	/* of the time that passes, is given back */

static int answer_ms(const struct sym *s)
{
	return s->opts.answer_ms ? (int)s->opts.answer_ms : SYM_TIMEOUT_MS;
}

static int need_child(struct sym *s)
{
	size_t it = 0;
	const void *key;
	void *value;

	if (s->child.pid)
		return 0;
	if (s->no_child)
		return -s->no_child;
	if (s->deaths > RESTARTS_MAX && clock_mono_ns() - s->death_ns > DEATHS_NS)
		s->deaths = 0;
	if (s->deaths > RESTARTS_MAX)
		return -EIO;
	for (size_t i = 0; i < s->nfile; i++)
		s->file[i].sent = false;
	while (map_next(s->spaces, &it, &key, &value))
		((struct symspace *)value)->sent = false;
	return symchild_start(&s->child, &s->opts);
}

static void child_failed(struct sym *s)
{
	symchild_stop(&s->child);
	s->stats.restarts++;
	s->deaths++;
	s->death_ns = clock_mono_ns();
}

/* One or two words, with a descriptor where @fd is one. */
static int send_words(struct sym *s, enum symp_type type, const uint32_t *word, size_t n, int fd)
{
	int rc = symp_begin(&s->out, type, 0);

	if (!rc)
		rc = buf_add(&s->out, word, n * sizeof(*word));
	if (!rc)
		rc = symp_end(&s->out);
	return rc ? rc : symchild_send(&s->child, &s->out, fd, answer_ms(s));
}

static int send_file(struct sym *s, uint32_t id)
{
	struct symfile *f = &s->file[id - 1];
	int rc;

	if (f->sent || f->fd < 0)
		return 0;
	rc = send_words(s, SYMP_FILE, &id, 1, f->fd);
	if (!rc && f->debug_fd >= 0)
		rc = send_words(s, SYMP_DEBUG, &id, 1, f->debug_fd);
	f->sent = !rc;
	return rc;
}

int sym_tell(struct sym *s, enum symp_type type, uint32_t a, uint32_t b, int fd)
{
	const uint32_t word[2] = { a, b };
	int rc;

	if (!s->child.pid)
		return 0;
	rc = send_words(s, type, word, type == SYMP_FORGET ? 2 : 1, fd);
	if (rc)
		child_failed(s);
	return rc;
}

void sym_shed_files(struct sym *s)
{
	if (need_child(s))
		return;
	for (uint32_t id = 1; id <= s->nfile; id++) {
		struct symfile *f = &s->file[id - 1];

		if (send_file(s, id)) {
			child_failed(s);
			return;
		}
		symfile_close(f);
	}
}

static int send_space(struct sym *s, struct symspace *sp)
{
	uint32_t head[2] = { sp->space, (uint32_t)sp->n };
	int rc = 0;

	if (sp->sent)
		return 0;
	for (size_t i = 0; i < sp->n && !rc; i++) {
		if (sp->map[i].file)
			rc = send_file(s, sp->map[i].file);
	}
	if (!rc)
		rc = symp_begin(&s->out, SYMP_SPACE, 0);
	if (!rc)
		rc = buf_add(&s->out, head, sizeof(head));
	for (size_t i = 0; i < sp->n && !rc; i++) {
		const struct symspace_map *m = &sp->map[i];
		struct symp_map e = { .start = m->start, .end = m->end, .offset = m->offset,
				      .file = m->file, .prot = m->prot };

		rc = buf_add(&s->out, &e, sizeof(e));
	}
	if (!rc)
		rc = symp_end(&s->out);
	if (!rc)
		rc = symchild_send(&s->child, &s->out, -1, answer_ms(s));
	sp->sent = !rc;
	return rc;
}

/* Adds a request to what is to be sent. */
static int add_request(struct sym *s, const struct sym_request *r)
{
	size_t at;
	int rc = symp_begin_more(&s->out, r->type, ++s->seq, &at);

	for (int i = 0; i < 2 && !rc; i++)
		rc = buf_add(&s->out, r->part[i], r->bytes[i]);
	return rc ? rc : symp_end_more(&s->out, at);
}

/* The next of the @n answers to what was sent goes to @fn. */
static int take_answers(struct sym *s, const struct sym_request *r, size_t n,
			int (*fn)(void *ctx, size_t i, const struct symp_msg *m), void *ctx)
{
	uint32_t first = s->seq - (uint32_t)n + 1;
	struct symp_msg m;
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++) {
		rc = symchild_recv(&s->child, r[i].answer, first + (uint32_t)i, answer_ms(s),
				   &m);
		if (!rc)
			rc = fn(ctx, i, &m);
	}
	return rc;
}

void sym_bad_answer(struct sym *s, struct symspace *sp)
{
	sp->deaths++;
	child_failed(s);
}

static bool out_of_patience(struct sym *s, const struct symspace *sp)
{
	uint64_t ms = s->opts.patience_ms ? s->opts.patience_ms : SYM_PATIENCE_MS;
	uint64_t now_ns = clock_mono_ns(), back_ns = (now_ns - s->waited_at_ns) / WAIT_PART;

	s->waited_ns -= back_ns < s->waited_ns ? back_ns : s->waited_ns;
	s->waited_at_ns = now_ns;

	return s->waited_ns >= ms * 1000000 || sp->waited_ns >= ms * 500000;
}

int sym_ask_all(struct sym *s, struct symspace *sp, const struct sym_request *r, size_t n,
		int (*fn)(void *ctx, size_t i, const struct symp_msg *m), void *ctx)
{
	uint64_t begin_ns = clock_mono_ns(), ns;
	int rc;

	if (sp->deaths >= SPACE_DEATHS_MAX || out_of_patience(s, sp) || need_child(s))
		return -EIO;
	rc = send_space(s, sp);
	buf_reset(&s->out);
	s->out.failed = false;
	for (size_t i = 0; i < n && !rc; i++)
		rc = add_request(s, &r[i]);
	if (!rc)
		rc = symchild_send(&s->child, &s->out, -1, answer_ms(s));
	if (!rc)
		rc = take_answers(s, r, n, fn, ctx);
	ns = clock_mono_ns() - begin_ns;
	s->waited_ns += ns;
	sp->waited_ns += ns;
	/* Answers that nobody took are in the way of all later ones. */
	if (rc == -ENOMEM && n > 1)
		child_failed(s);
	if (!rc || rc == -ENOMEM)
		return rc;
	sym_bad_answer(s, sp);
	return -EIO;
}

static int keep_answer(void *ctx, size_t i, const struct symp_msg *m)
{
	(void)i;
	*(struct symp_msg *)ctx = *m;
	return 0;
}

int sym_ask(struct sym *s, struct symspace *sp, const struct sym_request *r,
	    struct symp_msg *answer)
{
	return sym_ask_all(s, sp, r, 1, keep_answer, answer);
}
