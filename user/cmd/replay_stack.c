/* SPDX-License-Identifier: MIT */
#include "cmd/replay_stack.h"

#include <inttypes.h>
#include <string.h>
#include <sys/uio.h>

#include "base/selfdir.h"
#include "cli/term.h"
#include "sym/sym.h"

#define FRAMES 32
#define PAGE ((size_t)4096)
#define SPACE 1		/* there is one */
#define ANSWER_MS 3000

static struct sym_regs regs_of(const struct user_regs_struct *r)
{
	return (struct sym_regs){
		.ax = r->rax, .dx = r->rdx, .cx = r->rcx, .bx = r->rbx, .si = r->rsi,
		.di = r->rdi, .bp = r->rbp, .sp = r->rsp, .r8 = r->r8, .r9 = r->r9,
		.r10 = r->r10, .r11 = r->r11, .r12 = r->r12, .r13 = r->r13, .r14 = r->r14,
		.r15 = r->r15, .ip = r->rip,
	};
}

/* As much of it as there is, page by page: how much. */
static size_t read_stack(unsigned char *to, size_t n, pid_t pid, uint64_t at)
{
	size_t have = 0;
	ssize_t got = 1;

	while (have < n && got > 0) {
		const size_t page = PAGE - (at + have) % PAGE;
		struct iovec local = { to + have, page < n - have ? page : n - have };
		struct iovec remote = { (void *)(uintptr_t)(at + have), local.iov_len };

		got = process_vm_readv(pid, &local, 1, &remote, 1, 0);
		have += got > 0 ? (size_t)got : 0;
	}
	return have;
}

static void add_frame(struct buf *b, int i, const struct sym_frame *f)
{
	struct buf line = BUF_INIT;

	buf_addf(&line, "    #%-2d %#" PRIx64, i, f->ip);
	if (f->symbol && !f->inlined)
		buf_addf(&line, " %s+%#" PRIx64, f->symbol, f->offset);
	else if (f->symbol)
		buf_addf(&line, " %s", f->symbol);
	if (f->file)
		buf_addf(&line, " at %s:%" PRIu32, f->file, f->line);
	else if (f->module)
		buf_addf(&line, " (%s+%#" PRIx64 ")", f->module, f->module_offset);
	if (line.len)
		cli_line_text(b, line.data);
	buf_release(&line);
}

void replay_stack_add(struct buf *b, pid_t pid, const struct user_regs_struct *regs)
{
	static unsigned char stack[SYM_STACK_BYTES];
	const struct sym_regs r = regs_of(regs);
	struct sym_frame frame[FRAMES] = { { .ip = regs->rip } };
	struct sym_opts opts = { .answer_ms = ANSWER_MS };
	char dir[4096];
	struct err err;
	struct sym *s = NULL;
	int n = 0;

	opts.libexec_dir = dir;
	if (!selfdir(dir, sizeof(dir), &err))
		s = sym_new(&opts, &err);
	if (s && !sym_snapshot(s, SPACE, pid))
		n = sym_unwind(s, SPACE, &r, stack, read_stack(stack, sizeof(stack), pid, r.sp),
			       frame, FRAMES);
	for (int i = 0; i < (n > 0 ? n : 1); i++)
		add_frame(b, i, &frame[i]);
	sym_free(s);
}
