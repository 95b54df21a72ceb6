/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
/*
 * What record needs of the kernel: each call's result and what it wrote, signals, and who runs.
 * What is recorded runs on one CPU, so that one scratch is enough and the ring's order is that
 * of the events.
 */
#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#define RR_PEEK(dst, n, at) bpf_probe_read_user(dst, n, (const void *)(at))
#include "lib/insn.bpf.h"
#include "lib/mapped.bpf.h"
#include "lib/recorded.bpf.h"
#include "shared/rr_outs.inc"
#include "shared/rr_sum.h"

#define CHUNK_BYTES	16384u		/* of a piece, at most */
#define EVENT_FULL	32768u		/* an event that is longer leaves */
#define SCRATCH_BYTES	(1u << 17)
#define PAGE		4096u
#define CHUNKS_MAX	(1u << 20)	/* in a call: 16 GiB */
#define NR_MMAP		9
#define NR_IOCTL	16
#define NR_SHMAT	30
#define NR_TRUNCATE	76
#define NR_FUTEX	202
#define O_TRUNC		01000
#define MAP_SHARED	1
#define PROT_EXEC	4
#define FMODE_WRITE	2
#define TS_COMPAT	2
#define NR_OPENAT2	437
#define FICLONE		0x40049409	/* include/uapi/linux/fs.h */
#define FICLONERANGE	0x4020940d
#define NR_RESTART	219
#define NOSYS		-38
#define FLAG_MEMORY	0x8000	/* of a call, here alone: it wrote to /proc/PID/mem */
#define PROC_SUPER_MAGIC 0x9fa0
#define AT_ONCE_NS	20000	/* more than an interrupt takes */

/*
 * The call at hand: where its walk is, and its event so far. In a map, of whose values the
 * verifier keeps no account, it can see that the loop over the pieces ends.
 */
struct scratch {
	struct rr_walk walk;
	struct rr_range left;	/* of the range at hand */
	u32 used;		/* of .at */
	u32 room;		/* of the ring, for this call */
	u16 flags;		/* of the event at hand */
	u32 summing;		/* what is walked over is summed */
	struct rr_sum sum;
	u64 part[RR_SUM_PART / 8];	/* of what is summed */
	u8 at[SCRATCH_BYTES];
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct scratch);
} scratch SEC(".maps");

/* Where the next piece goes. */
static __always_inline struct rr_piece *next_piece(struct scratch *s)
{
	return (void *)(s->at + (s->used & (EVENT_FULL * 2 - 1)));
}

/* What is left of the range takes much of the room: who reads the ring reads it, too. */
static __always_inline void add_bulk(struct scratch *s)
{
	*next_piece(s) = (struct rr_piece){ .addr = s->left.addr, .bytes = s->left.bytes,
					    .elsewhere = 1 };
	s->used += sizeof(struct rr_piece);
	s->flags |= RR_FLAG_BULK;
	s->left.bytes = 0;
}

/* Sends off what the scratch holds of the call; the rest comes in events of their own. */
static __always_inline void send(struct scratch *s, u16 type, u64 flags)
{
	struct rr_ev_call *e = (void *)s->at;

	e->head.type = type;
	e->head.flags = s->flags;
	e->head.bytes = s->used;
	submit(s->at, s->used & (SCRATCH_BYTES - 1), flags);
	s->room -= s->used < s->room ? s->used : s->room;
	s->used = sizeof(*e);
}

/* Adds up to @n bytes at s->left.addr as a piece; how many it got. */
static __always_inline u32 add_piece(struct scratch *s, u32 n)
{
	const u32 at = s->used & (EVENT_FULL * 2 - 1);
	struct rr_piece *p = (void *)(s->at + at);
	u32 room = (n + 7) & ~7u;

	/* What the compiler knows already, the verifier may have forgotten. */
	barrier_var(n);
	n &= 2 * CHUNK_BYTES - 1;
	room &= 2 * CHUNK_BYTES - 1;
	if (room >= 8)
		*(u64 *)(s->at + at + sizeof(*p) + room - 8) = 0;
	if (bpf_probe_read_user(s->at + at + sizeof(*p), n, (const void *)s->left.addr))
		return 0;
	*p = (struct rr_piece){ .addr = s->left.addr, .bytes = n };
	s->used = at + sizeof(*p) + room;
	return n;
}

/* Adds @n bytes of the part to the sum. A function of its own, verified once. */
__attribute__((noinline)) int sum_part(u32 n);
__attribute__((noinline)) int sum_part(u32 n)
{
	u32 zero = 0;
	struct scratch *s = bpf_map_lookup_elem(&scratch, &zero);

	if (s)
		rr_sum_add(&s->sum, s->part, n);
	return 0;
}

/* A part of the range is summed: whether the walk ends with it. */
static __always_inline long sum_some(struct scratch *s)
{
	const u32 n = s->left.bytes < RR_SUM_PART ? s->left.bytes : RR_SUM_PART;
	u64 *end = s->part + (n / 8 & (RR_SUM_PART / 8 - 1) & ~3u);

	end[0] = end[1] = end[2] = end[3] = 0;
	if (bpf_probe_read_user(s->part, n, (const void *)s->left.addr))
		return 1;
	sum_part(n);
	s->left.addr += n;
	s->left.bytes -= n;
	return 0;
}

/* A chunk of the range is read, or what can be. */
static __always_inline long read_some(struct scratch *s)
{
	const u32 n = s->left.bytes < CHUNK_BYTES ? s->left.bytes : CHUNK_BYTES;
	/* What is there up to the page's end; the rest is not. */
	const u32 page = PAGE - (s->left.addr & (PAGE - 1));
	u32 got;

	if (s->used > EVENT_FULL)
		send(s, RR_EV_PIECES, BPF_RB_NO_WAKEUP);
	if (s->left.bytes > s->room / 4) {
		add_bulk(s);
		return 0;
	}
	got = add_piece(s, n);
	if (!got && page < n)
		got = add_piece(s, page);
	if (!got) {
		__sync_fetch_and_add(&counts.unread, 1);
		s->left.bytes = 0;
		return 0;
	}
	s->left.addr += got;
	s->left.bytes -= got;
	return 0;
}

/* A step of the walk: a range is asked for, or some of it is done. */
static long step(u64 i, void *ctx)
{
	u32 zero = 0;
	struct scratch *s = bpf_map_lookup_elem(&scratch, &zero);

	if (!s)
		return 1;
	if (s->left.bytes)
		return s->summing ? sum_some(s) : read_some(s);
	if (!rr_next(&s->walk, &s->left))
		return 1;
	/* Nobody asked for it: to find that NULL cannot be read takes a fault. */
	if (!s->left.addr && !s->summing)
		s->left.bytes = 0;
	return 0;
}

/* The walk, for all that walk: whether it was cut. A function of its own, verified once. */
__attribute__((noinline)) int walk_on(u32 summing);
__attribute__((noinline)) int walk_on(u32 summing)
{
	u32 zero = 0;
	struct scratch *s = bpf_map_lookup_elem(&scratch, &zero);

	if (!s)
		return 0;
	s->summing = summing;
	return bpf_loop(CHUNKS_MAX, step, NULL, 0) == CHUNKS_MAX;
}

static __always_inline void add_outputs(struct scratch *s, u32 nr, const u64 arg[6], s64 ret)
{
	rr_begin(&s->walk, nr, arg, ret);
	s->left = (struct rr_range){ 0, 0 };
	walk_on(0);
}

/* The sum of what the call put out; 0: it cannot be had. */
static __always_inline u32 sum_output(struct scratch *s, u32 nr, const u64 arg[6], s64 ret)
{
	s->left = rr_begin_put(&s->walk, nr, arg, ret < RR_SUM_MOST ? ret : RR_SUM_MOST);
	rr_sum_begin(&s->sum);
	return walk_on(1) || s->left.bytes ? 0 : rr_sum_end(&s->sum);
}

static __always_inline bool is_output(u32 i, const struct file *file, u64 ino, u32 dev)
{
	return (u64)file == counts.out_file[i] ||
	       (cfg.out_ino[i] && ino == cfg.out_ino[i] && dev == cfg.out_dev[i]);
}

static __always_inline struct inode *inode_of(u32 fd)
{
	struct file *file = file_at(bpf_get_current_task_btf(), fd);

	return file ? BPF_CORE_READ(file, f_inode) : NULL;
}

/* Of a call that wrote to @inode, which may be NULL: that the file is in somebody's memory. */
static __always_inline u16 mapped_of(struct inode *inode)
{
	if (!inode || (BPF_CORE_READ(inode, i_mode) & S_IFMT) != S_IFREG)
		return 0;
	return BPF_CORE_READ(inode, i_mapping, i_mmap.rb_root.rb_node) ? RR_FLAG_WROTE : 0;
}

static __always_inline u16 output_of(const struct file *file, struct inode *inode, u32 fd)
{
	u64 ino;
	u32 dev;

	if (!inode)
		return 0;
	ino = BPF_CORE_READ(inode, i_ino);
	dev = BPF_CORE_READ(inode, i_sb, s_dev);
	if (fd == 2 && is_output(1, file, ino, dev))
		return RR_FLAG_STDERR;
	if (is_output(0, file, ino, dev))
		return RR_FLAG_STDOUT;
	return is_output(1, file, ino, dev) ? RR_FLAG_STDERR : 0;
}

/* /proc/PID/mem, of whatever process. */
static __always_inline u16 memory_of(struct file *file, struct inode *inode)
{
	char name[4];

	if (BPF_CORE_READ(inode, i_sb, s_magic) != PROC_SUPER_MAGIC ||
	    bpf_probe_read_kernel_str(name, sizeof(name), BPF_CORE_READ(file, f_path.dentry,
									d_name.name)) != 4)
		return 0;
	return name[0] == 'm' && name[1] == 'e' && name[2] == 'm' ? FLAG_MEMORY : 0;
}

static __always_inline u16 wrote_of(u32 fd)
{
	struct file *file = file_at(bpf_get_current_task_btf(), fd);
	struct inode *inode = file ? BPF_CORE_READ(file, f_inode) : NULL;

	if (!inode)
		return 0;
	return output_of(file, inode, fd) | mapped_of(inode) | memory_of(file, inode);
}

static __always_inline u16 flags_of(u32 nr, const u64 arg[6], s64 ret)
{
	if (ret < 0 && ret > -4096)
		return 0;
	switch (nr) {
	case 1: case 18: case 20: case 296: case 328: case 44: case 46: case 278: case 307:
		return ret ? wrote_of((u32)arg[0]) : 0;
	/* sendfile, splice and copy_file_range; ftruncate and fallocate */
	case 40:
		return ret ? mapped_of(inode_of((u32)arg[0])) : 0;
	case 275: case 326:
		return ret ? mapped_of(inode_of((u32)arg[2])) : 0;
	case 77: case 285:
		return mapped_of(inode_of((u32)arg[0]));
	/* open, openat, openat2 and creat, where they empty the file */
	case 2:
		return arg[1] & O_TRUNC ? mapped_of(inode_of((u32)ret)) : 0;
	case 257:
		return arg[2] & O_TRUNC ? mapped_of(inode_of((u32)ret)) : 0;
	case NR_OPENAT2:
		return rr_peek64(arg[2]) & O_TRUNC ? mapped_of(inode_of((u32)ret)) : 0;
	case NR_IOCTL:
		return (u32)arg[1] == FICLONE || (u32)arg[1] == FICLONERANGE ?
		       mapped_of(inode_of((u32)arg[0])) : 0;
	case 85:
		return mapped_of(inode_of((u32)ret));
	case NR_TRUNCATE:
		return RR_FLAG_WROTE;
	case NR_MMAP:
		/* MAP_ANONYMOUS */
		return arg[3] & 0x20 ? 0 : RR_FLAG_FILE;
	case NR_SHMAT:
		return RR_FLAG_FILE;
	}
	return 0;
}

/* Those of mappings of @file that are shared and can be written, this one aside. */
static __always_inline u32 writers_of(struct file *file)
{
	int n;

	if (!file)
		return 0;
	n = BPF_CORE_READ(file, f_inode, i_mapping, i_mmap_writable.counter);
	n -= (BPF_CORE_READ(file, f_mode) & FMODE_WRITE) != 0;
	return n > 0 ? n : 0;	/* below zero: nobody may write */
}

static __always_inline void check_understood(u32 nr, const u64 arg[6], s64 ret, u16 flags,
					     u32 tid)
{
	const u32 compat = bpf_get_current_task_btf()->thread_info.status & TS_COMPAT;
	const bool memory = flags & FLAG_MEMORY;

	if (counts.refused_tid || (!compat && !memory && rr_understood(nr, arg, ret)))
		return;
	counts.refused_why = compat ? RR_REFUSED_COMPAT : memory ? RR_REFUSED_MEMORY :
			     RR_REFUSED_CALL;
	counts.refused_nr = nr;
	counts.refused_arg = arg[1];
	counts.refused_tid = tid;
}

/* Of the file that the call mapped; whether it has to be looked at. */
static __always_inline bool note_mapped(struct task_struct *task, struct rr_ev_call *e)
{
	struct file *file;

	if (e->nr != NR_MMAP)
		return true;
	file = file_at(task, (u32)e->arg[4]);
	/* What may be run is looked through. */
	if (!(e->arg[3] & MAP_SHARED))
		return send_mapped(file, e->head.tid) != RR_MAPPED_SYSTEM ||
		       e->arg[2] & PROT_EXEC;
	e->told = writers_of(file);
	send_mapped(file, e->head.tid);
	return true;
}

static __always_inline u64 wakeup_of(const struct scratch *s, bool look)
{
	/* A file, or memory, is looked at before the program runs on; or the recording ends. */
	if (look || s->flags & RR_FLAG_BULK || cfg.wake_each || counts.refused_tid)
		return BPF_RB_FORCE_WAKEUP;
	return s->room < RR_RING_BYTES / 2 ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
}

/* The result is also what the kernel has in its place while a call is made: see is_in_call(). */
static __always_inline void note_nosys(struct rr_task *t, struct pt_regs *regs, s64 ret)
{
	t->nosys_ns = 0;
	if (ret != NOSYS)
		return;
	t->nosys_nr = regs->orig_ax;
	t->nosys_ip = regs->ip;
	t->nosys_sp = regs->sp;
	t->nosys_ns = bpf_ktime_get_ns();
}

/*
 * Whether the thread that loses the CPU is in a call. Behind one that returned -ENOSYS all is as
 * if it were, or as in the next call of a loop: that one does not wait either, and is not there at
 * once.
 */
static __always_inline bool is_in_call(const struct rr_task *t, const struct task_struct *task,
				       struct pt_regs *regs, bool preempt)
{
	if ((s64)regs->orig_ax < 0 || (s64)regs->ax != NOSYS)
		return false;
	if (!t->nosys_ns || t->nosys_nr != regs->orig_ax || t->nosys_ip != regs->ip ||
	    t->nosys_sp != regs->sp || task->__state)
		return true;
	return preempt && bpf_ktime_get_ns() - t->nosys_ns > AT_ONCE_NS;
}

/*
 * A sigreturn has an event of its own, and leaves -1 for its number; but so does a call of that
 * number, behind which all is as behind a sigreturn to where such a call ended.
 */
static __always_inline bool is_sigreturn(struct rr_task *t, const struct pt_regs *regs, s64 ret)
{
	if ((s64)regs->orig_ax != -1)
		return false;
	if (ret != NOSYS || regs->cx != regs->ip)
		return true;
	if (t->met_ip != regs->ip || t->met_sp != regs->sp)
		return false;
	t->met_ip = 0;
	return true;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(rr_sys_exit, struct pt_regs *regs, long ret)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct rr_task *t = bpf_task_storage_get(&tasks, task, NULL, 0);
	const u64 arg[6] = { regs->di, regs->si, regs->dx, regs->r10, regs->r8, regs->r9 };
	/* The kernel looks at no more of it. Read as that, the verifier follows its bounds. */
	const u32 nr = *(const u32 *)&regs->orig_ax;
	struct rr_ev_call *e;
	struct scratch *s;
	bool look = false;
	u32 zero = 0;
	u16 flags;

	if (!t || is_sigreturn(t, regs, ret))
		return 0;
	s = bpf_map_lookup_elem(&scratch, &zero);
	if (!s)
		return 0;
	flags = flags_of(nr, arg, ret);
	e = (void *)s->at;
	*e = (struct rr_ev_call){
		.head = { .tid = t->tid }, .nr = nr, .ret = ret, .ip = regs->ip,
		.arg = { arg[0], arg[1], arg[2], arg[3], arg[4], arg[5] },
	};
	if (flags & (RR_FLAG_FILE | RR_FLAG_WROTE))
		look = flags & RR_FLAG_WROTE || note_mapped(task, e);
	if (flags & (RR_FLAG_STDOUT | RR_FLAG_STDERR))
		e->told = sum_output(s, nr, arg, ret);
	s->used = sizeof(*e);
	s->flags = flags & ~FLAG_MEMORY;
	s->room = RR_RING_BYTES - bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA);
	check_understood(nr, arg, ret, flags, t->tid);
	if (nr == NR_RESTART) {
		add_outputs(s, t->broken_nr, t->broken_arg, ret);
	} else {
		add_outputs(s, nr, arg, ret);
		if (rr_interrupted(ret)) {
			t->broken_nr = nr;
			__builtin_memcpy(t->broken_arg, arg, sizeof(arg));
		}
	}
	send(s, RR_EV_CALL, wakeup_of(s, look));
	note_nosys(t, regs, ret);
	return 0;
}

/*
 * An event of a point between calls, in the making: what ran last, and a signal. An event and
 * its pieces, of blocks that are each taken once.
 */
#define CODE_BYTES	256	/* around the instruction */
#define DISP_NEAR	(1 << 24)
#define STACK_WORDS	((RR_STACK_BYTES - RR_STACK_BELOW) / 8)

struct point {
	u8 at[2 * RR_POINT_BYTES];
	u32 used, blocks;
	u64 block[RR_BLOCKS];
	u64 reg[RR_PLACE_REGS];
	u64 ip, sp;
	u8 code[CODE_BYTES];
	u64 stack[RR_STACK_BYTES / 8];
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, POINTS);
	__type(key, u32);
	__type(value, struct point);
} points SEC(".maps");

static __always_inline struct point *point_of(u32 which)
{
	return bpf_map_lookup_elem(&points, &which);
}

/* [addr, addr + n) as a piece; it is as long as can be read. */
static __always_inline void add_block(struct point *p, u64 addr, u32 n)
{
	const u32 at = p->used & (RR_POINT_BYTES - 1);
	struct rr_piece *piece = (void *)(p->at + at);

	if (p->used + sizeof(*piece) + n > RR_POINT_BYTES ||
	    bpf_probe_read_user(p->at + at + sizeof(*piece), n, (void *)addr))
		return;
	*piece = (struct rr_piece){ .addr = addr, .bytes = n };
	p->used = at + sizeof(*piece) + n;
}

/* A word that may be a pointer: the block it points to. */
static __always_inline void add_pointed(struct point *p, u64 word)
{
	const u64 block = word & ~(u64)(RR_BLOCK - 1);
	u32 i;

	/* The code itself is the same each time, and a replay's has a patch. */
	if (word < 65536 || word >> 47 || p->blocks >= RR_BLOCKS ||
	    word + RR_BLOCK - p->ip <= 2 * RR_BLOCK || word + RR_STACK_BYTES - p->sp <=
	    2 * RR_STACK_BYTES)
		return;
	for (i = 0; i < RR_BLOCKS; i++) {
		if (i >= p->blocks)
			break;
		if (p->block[i] == block)
			return;
	}
	if (p->blocks < RR_BLOCKS)
		p->block[p->blocks++] = block;
	add_block(p, block, RR_BLOCK);
}

/*
 * Pointers, the likely first: registers, then what code nearby reads or writes by its distance
 * (a ModRM byte of mod 0 and rm 5, and 32 bits), then words of the stack.
 */
static long look_at(u64 i, void *ctx)
{
	struct point *p = point_of(*(u32 *)ctx);
	s32 near;

	if (!p)
		return 1;
	if (i < RR_PLACE_REGS) {
		add_pointed(p, p->reg[i]);
		return 0;
	}
	i -= RR_PLACE_REGS;
	if (i < CODE_BYTES - 5) {
		if ((p->code[i] & 0xc7) != 5)
			return 0;
		__builtin_memcpy(&near, p->code + i + 1, sizeof(near));
		if (near > -DISP_NEAR && near < DISP_NEAR)
			add_pointed(p, p->ip - CODE_BYTES / 2 + i + 5 + near);
		return 0;
	}
	i -= CODE_BYTES - 5;
	if (i >= STACK_WORDS)
		return 1;
	add_pointed(p, p->stack[RR_STACK_BELOW / 8 + i]);
	return 0;
}

/* What tells this round of a loop from others, behind the event's @bytes. */
static __always_inline void add_evidence(u32 which, struct point *p, u32 bytes)
{
	p->used = bytes;
	p->blocks = 0;
	if (bpf_probe_read_user(p->code, CODE_BYTES, (void *)(p->ip - CODE_BYTES / 2)))
		__builtin_memset(p->code, 0, CODE_BYTES);
	if (bpf_probe_read_user(p->stack, RR_STACK_BYTES, (void *)(p->sp - RR_STACK_BELOW)))
		__builtin_memset(p->stack, 0, RR_STACK_BYTES);
	else
		add_block(p, p->sp - RR_STACK_BELOW, RR_STACK_BYTES);
	bpf_loop(RR_PLACE_REGS + CODE_BYTES - 5 + STACK_WORDS, look_at, &which, 0);
}

static __always_inline void fill_place(u32 which, struct point *p, struct rr_place *at,
				       struct pt_regs *r, u32 bytes)
{
	*at = (struct rr_place){
		.r15 = r->r15, .r14 = r->r14, .r13 = r->r13, .r12 = r->r12, .bp = r->bp,
		.bx = r->bx, .r11 = r->r11, .r10 = r->r10, .r9 = r->r9, .r8 = r->r8, .ax = r->ax,
		.cx = r->cx, .dx = r->dx, .si = r->si, .di = r->di, .ip = r->ip,
		.flags = r->flags, .sp = r->sp,
	};
	p->ip = r->ip;
	p->sp = r->sp;
	p->used = bytes;
	/*
	 * Behind a call, the kernel's path out of it has not been left yet; and where a thread is
	 * stopped by an instruction, a replay is so, too.
	 */
	if ((s64)r->orig_ax >= 0 || is_replaced(r->ip))
		return;
	__builtin_memcpy(p->reg, at, sizeof(*at));
	add_evidence(which, p, bytes);
}

static __always_inline void send_point(struct point *p)
{
	((struct rr_head *)p->at)->bytes = p->used;
	submit(p->at, p->used & (2 * RR_POINT_BYTES - 1), BPF_RB_NO_WAKEUP);
}

SEC("tp_btf/signal_deliver")
int BPF_PROG(rr_signal, int sig, struct kernel_siginfo *info, struct k_sigaction *ka)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct rr_task *t = bpf_task_storage_get(&tasks, task, NULL, 0);
	struct point *p = point_of(POINT_SIGNAL);
	struct rr_ev_signal *e;
	struct pt_regs *regs;

	if (t && is_of_insn(task, sig, info))
		counts.missed_tid = t->tid;
	/* SIG_DFL ends it, or does nothing. */
	if (!t || !p || (u64)BPF_CORE_READ(ka, sa.sa_handler) < 2)
		return 0;
	regs = (void *)bpf_task_pt_regs(task);
	if ((s64)regs->ax == NOSYS) {
		t->met_ip = regs->ip;
		t->met_sp = regs->sp;
	}
	e = (void *)p->at;
	e->head = (struct rr_head){ .type = RR_EV_SIGNAL, .tid = t->tid };
	e->sig = sig;
	fill_place(POINT_SIGNAL, p, &e->at, regs, sizeof(*e));
	e->handler = (u64)BPF_CORE_READ(ka, sa.sa_handler);
	e->sa_flags = BPF_CORE_READ(ka, sa.sa_flags);
	e->restorer = (u64)BPF_CORE_READ(ka, sa.sa_restorer);
	e->sa_mask = BPF_CORE_READ(ka, sa.sa_mask.sig[0]);
	e->blocked = BPF_CORE_READ_BITFIELD_PROBED(task, restore_sigmask) ?
		    BPF_CORE_READ(task, saved_sigmask.sig[0]) : BPF_CORE_READ(task, blocked.sig[0]);
	e->alt_sp = BPF_CORE_READ(task, sas_ss_sp);
	e->alt_size = BPF_CORE_READ(task, sas_ss_size);
	e->alt_flags = BPF_CORE_READ(task, sas_ss_flags);
	e->cr2 = BPF_CORE_READ(task, thread.cr2);
	e->trap = BPF_CORE_READ(task, thread.trap_nr);
	e->error = BPF_CORE_READ(task, thread.error_code);
	bpf_probe_read_kernel(e->info, sizeof(e->info), info);
	send_point(p);
	return 0;
}

/*
 * A thread in a call. Before it waits for a lock that lends its priority, the kernel marks the
 * lock, for others to see: the word of these, in the eight bytes that it lies in.
 */
static __always_inline void fill_waiting(struct point *p, struct pt_regs *regs)
{
	const u32 op = (u32)regs->si & 0x7f;

	p->used = RR_SWITCH_SHORT;
	if (regs->orig_ax != NR_FUTEX)
		return;
	/* LOCK_PI, UNLOCK_PI, TRYLOCK_PI, LOCK_PI2; WAIT_REQUEUE_PI, CMP_REQUEUE_PI */
	if ((op >= 6 && op <= 8) || op == 13)
		add_block(p, regs->di & ~7ul, 8);
	else if (op == 11 || op == 12)
		add_block(p, regs->r8 & ~7ul, 8);
}

/* The point of the thread that ran last is kept until it is known who runs next. */
SEC("tp_btf/sched_switch")
int BPF_PROG(rr_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct rr_task *t = bpf_task_storage_get(&tasks, prev, NULL, 0);
	struct point *p = point_of(POINT_SWITCH);
	struct rr_ev_switch *last;
	struct pt_regs *regs;

	if (!p)
		return 0;
	last = (void *)p->at;
	if (t) {
		regs = (void *)bpf_task_pt_regs(prev);
		last->head = (struct rr_head){ .type = RR_EV_SWITCH, .tid = t->tid };
		last->in_call = is_in_call(t, prev, regs, preempt);
		counts.stands = (s64)regs->orig_ax >= 0 && !last->in_call ? t->tid : 0;
		if (last->in_call)
			fill_waiting(p, regs);
		else
			fill_place(POINT_SWITCH, p, &last->at, regs, sizeof(*last));
		counts.place_tid = t->tid;
		counts.place_bytes = last->in_call ? 0 : p->used;
	}
	t = bpf_task_storage_get(&tasks, next, NULL, 0);
	if (t)
		counts.runs++;
	if (!t || !last->head.tid || last->head.tid == t->tid)
		return 0;
	last->next = t->tid;
	send_point(p);
	return 0;
}

char LICENSE[] __weak SEC("license") = "Dual MIT/GPL";
