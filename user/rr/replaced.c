/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: a thread that comes to one gets a signal, of which BPF tells before the thread takes it.
 * The recorder attaches itself then, and the thread stops with the signal: it is given the result,
 * and not the signal, and goes on by itself. Files are looked through once (codecache.h).
 */
#include "rr/replaced.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "rr/filestore.h"
#include "rr/insn.h"
#include "rr/place.h"

#define YOUNG_NS ((uint64_t)2000000000)	/* times of files go on by ticks */

void replaced_release(struct replaced *x)
{
	for (size_t i = 0; i < x->n; i++)
		insn_places_release(&x->file[i].places);
	free(x->file);
	*x = (struct replaced){ .file = NULL };
}

/* Those of the mapping's part of the file, NULL with *r set where it is an error. */
static const struct insn_places *places_of(struct replaced *x, pid_t tid, const struct procmap *m,
					   int *r)
{
	const uint64_t bytes = m->end - m->start;
	struct replaced_file *f;
	int fd;

	for (size_t i = 0; i < x->n; i++) {
		f = &x->file[i];
		if (f->ino == m->ino && f->dev == m->dev && f->size == m->size &&
		    f->mtime_ns == m->mtime_ns && f->ctime_ns == m->ctime_ns &&
		    f->offset == m->offset && f->bytes == bytes)
			return &f->places;
	}
	f = realloc(x->file, (x->n + 1) * sizeof(*f));
	if (!f) {
		*r = -ENOMEM;
		return NULL;
	}
	x->file = f;
	f += x->n;
	/* One that is gone by now has been looked at by nobody: it runs as it is. */
	fd = filestore_open(tid, m);
	if (fd < 0)
		return NULL;
	*f = (struct replaced_file){ m->dev, m->ino, m->size, m->mtime_ns, m->ctime_ns, m->offset,
				     bytes, .young = m->ctime_ns + YOUNG_NS > clock_real_ns() };
	*r = insnscan(&f->places, fd, m->offset, bytes);
	close(fd);
	x->n++;
	return &f->places;
}

/* The one at @addr, if it is there: another mapping may be by now. */
static void replace(int mem, uint64_t addr, struct buf *pieces)
{
	uint8_t code[8] = { 0 };
	const struct insn in = pread(mem, code, INSN_MOST, (off_t)addr) != INSN_MOST ?
			       (struct insn){ .kind = INSN_NONE } :
			       insn_at(code, INSN_MOST, false);
	const struct rr_piece p = { .addr = addr, .bytes = in.bytes };

	if (in.kind == INSN_NONE)
		return;
	insn_replace(&in, code);
	if (pwrite(mem, code, in.bytes, (off_t)addr) != (ssize_t)in.bytes)
		return;
	memset(code + in.bytes, 0, sizeof(code) - in.bytes);
	buf_add(pieces, &p, sizeof(p));
	buf_add(pieces, code, sizeof(code));
}

static int add_pieces(struct buf *b, pid_t tid, struct recfile *f, struct err *err)
{
	const struct rr_head h = { .bytes = (uint32_t)b->len, .type = RR_EV_MEMORY,
				   .tid = (uint32_t)tid };

	if (b->failed)
		return err_sys(err, ENOMEM, "cannot record");
	if (b->len == sizeof(h))
		return 0;
	memcpy(b->data, &h, sizeof(h));
	return recfile_add(f, (const void *)b->data, err);
}

int replaced_map(struct replaced *x, pid_t tid, const struct procmap *m, struct recfile *f,
		 struct err *err)
{
	const struct rr_head none = { 0 };
	const struct insn_places *p;
	struct buf b = BUF_INIT;
	char path[64];
	int mem, r = 0;

	/* What others have mapped, too, is theirs. */
	if (!m->ino || m->shared || !(m->prot & PROT_EXEC))
		return 0;
	p = places_of(x, tid, m, &r);
	if (r)
		return err_sys(err, -r, "cannot look through the code of %s", m->path);
	if (!p || !p->n)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)tid);
	mem = open(path, O_RDWR | O_CLOEXEC);
	if (mem < 0)
		return errno == ENOENT || errno == ESRCH ? 0 :
		       err_sys(err, errno, "cannot write to process %d", (int)tid);
	buf_add(&b, &none, sizeof(none));
	for (size_t i = 0; i < p->n; i++)
		replace(mem, m->start + (p->at[i] - m->offset), &b);
	close(mem);
	r = add_pieces(&b, tid, f, err);
	buf_release(&b);
	return r;
}

int replaced_hold(pid_t tid)
{
	return ptrace(PTRACE_SEIZE, tid, 0, PTRACE_O_EXITKILL) ? -errno : 0;
}

static struct insn stands_at(pid_t tid, struct user_regs_struct *regs)
{
	uint8_t code[INSN_MOST];
	struct iovec local = { code, sizeof(code) }, remote;
	ssize_t n = 0;

	if (ptrace(PTRACE_GETREGS, tid, 0, regs) || (long long)regs->orig_rax >= 0)
		return (struct insn){ .kind = INSN_NONE };
	/* Behind its page may be one that is not there. */
	for (; n <= 0 && local.iov_len; local.iov_len--) {
		remote = (struct iovec){ (void *)(uintptr_t)regs->rip, local.iov_len };
		n = process_vm_readv(tid, &local, 1, &remote, 1, 0);
	}
	return n > 0 ? insn_at(code, (size_t)n, true) : (struct insn){ .kind = INSN_NONE };
}

int replaced_meet(pid_t tid, bool with_signal, struct recfile *f, struct err *err)
{
	struct rr_ev_insn e = { .head = { .bytes = sizeof(e), .type = RR_EV_INSN,
					  .tid = (uint32_t)tid } };
	struct user_regs_struct regs;
	const struct insn in = stands_at(tid, &regs);
	uint64_t reg[RR_PLACE_REGS];
	int r;

	if (in.kind == INSN_NONE)
		return 0;
	if (!with_signal)
		return -EAGAIN;
	e.ip = regs.rip;
	place_get(&regs, reg);
	e.changed = insn_do(&in, reg);
	memcpy(&e.then, reg, sizeof(e.then));
	place_set(&regs, reg);
	/* One that has been killed meanwhile did not come so far. */
	if (ptrace(PTRACE_SETREGS, tid, 0, &regs))
		return errno == ESRCH ? 1 :
		       err_sys(err, errno, "cannot set the registers of thread %d", (int)tid);
	r = recfile_add(f, &e.head, err);
	return r ? r : 1;
}
