/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
#ifndef LIB_FUTEX_BPF_H
#define LIB_FUTEX_BPF_H

/*
 * Futex accounts, by address. Threads on several CPUs share a row, so it is
 * counted with atomic adds; .wait_max alone may lose one of two that race.
 */
#include "lib/events.bpf.h"

enum { FX_OTHER, FX_WAIT, FX_WAKE, FX_REQUEUE };

#define FUTEX_PRIVATE	128
#define EAGAIN		11
#define ETIMEDOUT	110
#define ERESTART_RESTARTBLOCK 516
#define VM_SHARED	8UL

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct live_futex_key);
	__type(value, struct live_futex);
} futexes __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct live_edge_key);
	__type(value, u64);
} edges __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, LIVE_FUTEX_OPS);
	__type(key, u32);
	__type(value, struct live_futex_op);
} futex_ops __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct live_futex);
} futex_zero __weak SEC(".maps");

/* Up to when a CPU's time for sampling stacks is spent. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} stack_spent __weak SEC(".maps");

/* The time that a sample takes of its CPU's; a lock's first one. */
#define SAMPLE_NS	5000000
#define SAMPLE_FIRST_NS	500000
#define SAMPLE_LONG_NS	1000000	/* such waits are few, and may come five times as close */
/* Saved up at most, for the first waits at a few locks: they may come at once, and be the last. */
#define SAMPLE_SAVED_NS	5000000

/* Whether the CPU has the time for a sample; takes it. */
static __always_inline bool sample_paid(u64 *spent, bool first, u64 gap, u64 now)
{
	u64 at = *spent;

	if (at + SAMPLE_SAVED_NS + gap < now)
		at = now - SAMPLE_SAVED_NS - gap;
	if (at + gap + (first ? 0 : SAMPLE_SAVED_NS) > now)
		return false;
	*spent = at + gap;
	return true;
}

struct user_waitv { u64 val, uaddr; u32 flags, reserved; };

/* futex(2)'s operations: what each is to us. */
static __always_inline u8 futex_kind(u32 cmd)
{
	switch (cmd) {
	case 0: case 6: case 8: case 9: case 11: case 13:	/* wait, lock_pi, … */
		return FX_WAIT;
	case 1: case 5: case 7: case 10:	/* wake, wake_op, unlock_pi, wake_bitset */
		return FX_WAKE;
	case 3: case 4: case 12:		/* requeue, cmp_requeue, cmp_requeue_pi */
		return FX_REQUEUE;
	}
	return FX_OTHER;
}

/* Notes what a futex call is about, from its registers. */
static __always_inline void futex_note(struct task_state *st, u8 class, u32 nr,
				       struct pt_regs *regs)
{
	struct user_waitv first = {};
	u32 op;

	st->waker = 0;
	st->dead = 0;
	st->woke = 0;
	st->flags &= ~(ST_RESTART | ST_WAITING);
	if (class == CALL_FUTEX) {
		op = regs->si;
		st->fx_addr = regs->di;
		st->fx_op = op & 127;
		if (st->fx_op >= LIVE_FUTEX_WAITV)
			st->fx_op = 2;	/* not an operation: ENOSYS, counted beside fd */
		st->fx_kind = futex_kind(op & 127);
		st->fx_shared = !(op & FUTEX_PRIVATE);
		st->fx_val = regs->dx;
	} else if (nr == 449 || nr == 456) {	/* futex_waitv, futex_requeue */
		bpf_probe_read_user(&first, sizeof(first), (void *)regs->di);
		st->fx_addr = first.uaddr;
		st->fx_op = nr == 449 ? LIVE_FUTEX_WAITV : LIVE_FUTEX2_REQUEUE;
		st->fx_kind = nr == 449 ? FX_WAIT : FX_REQUEUE;
		st->fx_shared = !(first.flags & FUTEX_PRIVATE);
		st->fx_val = regs->dx;
		st->arg = regs->di;
	} else {				/* futex_wake 454, futex_wait 455 */
		st->fx_addr = regs->di;
		st->fx_op = nr == 455 ? LIVE_FUTEX2_WAIT : LIVE_FUTEX2_WAKE;
		st->fx_kind = nr == 455 ? FX_WAIT : FX_WAKE;
		st->fx_shared = !(regs->r10 & FUTEX_PRIVATE);
		st->fx_val = regs->dx;
	}
	if (st->fx_kind == FX_WAIT)
		st->flags |= ST_WAITING;
}

struct vma_ctx { u64 addr, ino, off; u32 dev, pad; };

static long futex_vma(struct task_struct *task, struct vm_area_struct *vma, void *data)
{
	struct vma_ctx *out = data;
	struct file *file = vma->vm_file;

	if (!file || !(vma->vm_flags & VM_SHARED))
		return 0;
	out->ino = BPF_CORE_READ(file, f_inode, i_ino);
	out->dev = BPF_CORE_READ(file, f_inode, i_sb, s_dev);
	out->off = out->addr - vma->vm_start + (vma->vm_pgoff << 12);
	return 0;
}

/* A shared futex is one lock in every process that maps it: find its file. */
static __always_inline void futex_resolve(struct live_futex *fx, u64 addr)
{
	struct vma_ctx ctx = { .addr = addr };

	if (!bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_find_vma))
		return;
	if (bpf_find_vma(bpf_get_current_task_btf(), addr, futex_vma, &ctx, 0))
		return;	/* mmap_lock is taken: the next wait tries again */
	fx->off = ctx.off;
	fx->dev = ctx.dev;
	fx->ino = ctx.ino;
	fx->flags |= 1U << 31;	/* looked up */
}

static __always_inline struct live_futex *futex_row(struct live_futex_key *key)
{
	struct live_futex *fx = bpf_map_lookup_elem(&futexes, key);
	u32 zero = 0;
	void *init;

	if (fx)
		return fx;
	init = bpf_map_lookup_elem(&futex_zero, &zero);
	if (!init)
		return NULL;
	bpf_map_update_elem(&futexes, key, init, BPF_NOEXIST);
	fx = bpf_map_lookup_elem(&futexes, key);
	if (!fx)
		count_loss(&counts.map_full);
	return fx;
}

static __always_inline void edge_put(u64 addr, u32 space, u32 waker, u32 waiter)
{
	struct live_edge_key key = { .addr = addr, .space = space, .waker = waker,
				     .waiter = waiter };
	u64 *n = bpf_map_lookup_elem(&edges, &key), one = 1;

	if (!n) {
		if (!bpf_map_update_elem(&edges, &key, &one, BPF_NOEXIST))
			return;
		n = bpf_map_lookup_elem(&edges, &key);
	}
	if (n)
		__sync_fetch_and_add(n, 1);
	else
		count_loss(&counts.map_full);
}

static __always_inline void edge_add(struct task_state *st)
{
	edge_put(st->fx_addr, st->space, st->waker, st->tid);
}

/*
 * A waiter that sees its wake before it sleeps returns at once, and the kernel has
 * nobody to wake and nothing to tell: neither side knows of the other but by the
 * word. Whoever returns first from its call leaves its id with the word, and the
 * other ties them: the edge that was counted as nobody's becomes the waker's. Private
 * words alone: all their threads are traced.
 */
__weak __noinline int edge_settle(struct task_state *st, struct live_futex *fx, bool waker)
{
	struct live_edge_key key = {};
	u32 mine, open, other;
	int tries;
	u64 *n;

	if (!st || !fx)
		return 0;
	mine = st->tid | (waker ? OPEN_WAKER : 0);
	for (tries = 0; tries < 3; tries++) {
		open = fx->open;
		if (!open && !__sync_val_compare_and_swap(&fx->open, 0, mine))
			return 0;
		if (!open || !((open ^ mine) & OPEN_WAKER))
			continue;
		if (__sync_val_compare_and_swap(&fx->open, open, 0) != open)
			continue;
		other = open & ~OPEN_WAKER;
		key.addr = st->fx_addr;
		key.space = st->space;
		key.waiter = waker ? other : st->tid;
		n = bpf_map_lookup_elem(&edges, &key);
		if (!n)
			return 0;
		__sync_fetch_and_add(n, (u64)-1);
		edge_put(key.addr, key.space, waker ? st->tid : other, key.waiter);
		return 0;
	}
	return 0;
}

/*
 * A wait that a stop or a signal without a handler broke off goes on in
 * restart_syscall: with the same word, and whoever wakes it now.
 */
static __always_inline void futex_again(struct task_state *st)
{
	st->waker = 0;
	st->dead = 0;
	st->flags |= ST_WAITING;
}

/* Its first part was counted as a wait that nobody ended: the whole will be one. */
__weak __noinline int futex_take_back(struct task_state *st, struct live_futex *fx)
{
	struct live_edge_key key = {};
	u64 *n;
	u32 b;

	if (!st || !fx)
		return 0;
	b = hist_slot(st->fx_before);
	__sync_fetch_and_add(&fx->waits, -1);
	if (st->fx_blocked)
		__sync_fetch_and_add(&fx->blocked, -1);
	__sync_fetch_and_add(&fx->wait_ns, -st->fx_before);
	if (b < HIST_BUCKETS)
		__sync_fetch_and_add(&fx->hist[b], -1);
	st->futex_wait_ns -= st->fx_before;
	key.addr = st->fx_addr;
	key.space = st->space;
	key.waiter = st->tid;
	n = bpf_map_lookup_elem(&edges, &key);
	if (n && *n > 1)
		__sync_fetch_and_add(n, -1);
	else if (n)
		bpf_map_delete_elem(&edges, &key);
	return 0;
}

static __always_inline void copy_regs(struct live_regs *to, struct pt_regs *regs)
{
	to->ax = regs->ax; to->bx = regs->bx; to->cx = regs->cx;
	to->dx = regs->dx; to->si = regs->si; to->di = regs->di;
	to->bp = regs->bp; to->r8 = regs->r8; to->r9 = regs->r9;
	to->r10 = regs->r10; to->r11 = regs->r11; to->r12 = regs->r12;
	to->r13 = regs->r13; to->r14 = regs->r14; to->r15 = regs->r15;
	to->ip = regs->ip;
	to->sp = regs->sp;
}

/*
 * Where in the kernel @task is: the number of addresses. Of a thread that runs only
 * the way into this program would be seen, but for the current one at its switch.
 */
static __always_inline u32 kernel_stack(struct task_struct *task, u64 *to)
{
	long n;

	if (!cfg.kernel_frames ||
	    !bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_get_task_stack))
		return 0;
	n = bpf_get_task_stack(task, to, LIVE_KERNEL_FRAMES * sizeof(*to), 0);
	return n > 0 ? n / sizeof(*to) : 0;
}

/*
 * A stack is sampled for the first wait at each lock and then some every 5 ms
 * a CPU: enough to tell the sites of a lock apart by share, and bounded. @blocks: it
 * is about to wait, so that the kernel's part of its stack says where.
 */
__weak __noinline int stack_sample(struct task_state *st, struct live_futex *fx, u64 wait_ns,
				   u64 now, u32 blocks)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
	u32 zero = 0;
	u64 *spent = bpf_map_lookup_elem(&stack_spent, &zero);
	struct live_stack *e;
	bool first;
	void *ring;
	u64 sp, gap;

	if (!st || !fx)
		return 0;
	first = !fx->samples;
	gap = first ? SAMPLE_FIRST_NS : SAMPLE_NS;
	if (wait_ns >= SAMPLE_LONG_NS)
		gap /= 5;
	if (!spent || !sample_paid(spent, first, gap, now))
		return 0;
	/* A sample is large: where the ring is filling up, what was not asked for waits. */
	ring = ring_mine();
	if (!ring || bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) > ring_wake_bytes)
		return 0;
	if (!RING_RESERVE(ring, e))
		return 0;
	event_head(&e->head, EV_STACK, sizeof(*e), st->tid, now);
	e->tgid = st->tgid;
	e->space = st->space;
	e->addr = st->fx_addr;
	e->wait_ns = wait_ns;
	e->woke = st->fx_kind != FX_WAIT;
	copy_regs(&e->regs, regs);
	e->nkernel = blocks ? kernel_stack(bpf_get_current_task_btf(), e->kernel) : 0;
	e->pad = 0;
	sp = regs->sp;
	e->bytes = LIVE_STACK_BYTES;
	/* Near its top a stack is shorter: then the part up to the page's end. */
	if (bpf_probe_read_user(e->stack, LIVE_STACK_BYTES, (void *)sp)) {
		u32 part = LIVE_STACK_BYTES - (sp & (LIVE_STACK_BYTES - 1));

		part &= LIVE_STACK_BYTES - 1;
		e->bytes = part;
		if (!part || bpf_probe_read_user(e->stack, part, (void *)sp)) {
			e->bytes = 0;
			count_loss(&counts.stacks);
		}
	}
	first = !__sync_fetch_and_add(&fx->samples, 1);
	/* Its process may end soon, and must be looked at before that; a view shows the living. */
	bpf_ringbuf_submit(e, first && !cfg.watch ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
	return 0;
}

/* Which thread a joiner waited for: the edges have its process alone. */
static __always_inline void join_event(struct task_state *st, u64 now)
{
	struct live_join *e;
	void *ring;

	if (!RING_RESERVE(ring, e))
		return;
	event_head(&e->head, EV_JOIN, sizeof(*e), st->tid, now);
	e->dead = st->dead;
	e->space = st->space;
	e->addr = st->fx_addr;
	e->latency_ns = st->wake_ns && st->wake_ns < now ? now - st->wake_ns : 0;
	ring_submit(ring, e);
}

#define WAIT_BLOCKED	1
#define WAIT_SAMPLE	2	/* the thread is the current one: its stack can be read */

/*
 * Exact mode: a lock's first sample, and with kernel frames each fourth, is taken as a
 * wait begins, where the kernel's part can be seen; the others know how long it took.
 */
static __always_inline bool begins_next(struct live_futex *fx)
{
	return !fx->samples || (cfg.kernel_frames && !(fx->samples & 3));
}

/* One wait is over: the row, the edge, the sample. */
__weak __noinline int futex_waited(struct task_state *st, struct live_futex *fx, u64 wait_ns,
				   u32 how, u64 now)
{
	if (!st || !fx)
		return 0;
	__sync_fetch_and_add(&fx->waits, 1);
	if (how & WAIT_BLOCKED)
		__sync_fetch_and_add(&fx->blocked, 1);
	__sync_fetch_and_add(&fx->wait_ns, wait_ns);
	raise_max(&fx->wait_max, wait_ns);
	hist_count_shared(fx->hist, wait_ns);
	st->futex_wait_ns += wait_ns;
	if (st->dead)
		fx->flags |= FUTEX_IS_JOIN;
	edge_add(st);
	if (st->dead && !cfg.watch && !(st->flags & ST_CALIB))
		join_event(st, now);
	if (cfg.stacks && (how & WAIT_SAMPLE) &&
	    !(how & WAIT_BLOCKED && fx->samples && begins_next(fx)))
		stack_sample(st, fx, wait_ns, now, 0);
	return 0;
}

static __always_inline void futex_op_count(struct task_state *st, s64 ret)
{
	u32 op = st->fx_op;
	struct live_futex_op *row = bpf_map_lookup_elem(&futex_ops, &op);

	if (!row)
		return;
	row->calls++;
	if (ret < 0)
		row->errors++;
}

/*
 * unlock_pi returns 0 whether or not somebody waited. Who gets the lock is in
 * its word at once, and need not have slept yet.
 */
static __always_inline bool pi_handed_over(u64 addr)
{
	u32 word = 0;

	return !bpf_probe_read_user(&word, sizeof(word), (void *)addr) && (word & 0x3fffffff);
}

static __always_inline void futex_woke(struct task_state *st, struct live_futex *fx, s64 ret,
				       u64 now)
{
	u64 woken = ret;

	if (ret < 0) {
		if (ret == -EAGAIN)
			__sync_fetch_and_add(&fx->eagain, 1);
		return;
	}
	if (st->fx_op == 7)
		woken = st->woke || pi_handed_over(st->fx_addr);
	if (st->fx_kind == FX_REQUEUE && woken > st->fx_val) {
		__sync_fetch_and_add(&fx->requeued, woken - st->fx_val);
		woken = st->fx_val;
	}
	/* Nobody waits here, perhaps never: let the process be looked at for names. */
	if (cfg.stacks && !fx->samples)
		stack_sample(st, fx, 0, now, 0);
	if (!st->fx_shared && st->fx_kind == FX_WAKE && st->fx_op != 7 && woken == st->woke + 1)
		edge_settle(st, fx, true);
	__sync_fetch_and_add(&fx->wakes, 1);
	if (woken)
		__sync_fetch_and_add(&fx->woken, woken);
	if (!woken && !ret)
		__sync_fetch_and_add(&fx->wasted, 1);
}

/* A futex call returned (exact mode). */
__weak __noinline int futex_return(struct task_state *st, s64 ret, u64 dur, u64 now)
{
	struct live_futex_key key = {};
	struct user_waitv one = {};
	bool again = st && st->flags & ST_RESTART, slept;
	struct live_futex *fx;

	if (!st)
		return 0;
	key.space = st->space;
	st->flags &= ~(ST_WAITING | ST_RESTART);
	if (st->flags & ST_CALIB)
		key.space = ~0U;
	else if (!again)
		futex_op_count(st, ret);
	if (!again)
		st->futex_calls++;
	if (st->fx_op == LIVE_FUTEX_WAITV && ret > 0 && ret < 128 &&
	    !bpf_probe_read_user(&one, sizeof(one), (void *)(st->arg + ret * sizeof(one))))
		st->fx_addr = one.uaddr;
	if (st->fx_kind == FX_OTHER)
		return 0;
	key.addr = st->fx_addr;
	fx = futex_row(&key);
	if (!fx)
		return 0;
	if (!fx->tgid)
		fx->tgid = st->tgid;
	if (st->fx_op == 6 || st->fx_op == 7 || st->fx_op == 8 || st->fx_op >= 11)
		if (st->fx_op <= 13)
			fx->flags |= FUTEX_IS_PI;
	if (st->fx_shared) {
		fx->flags |= FUTEX_IS_SHARED;
		if (!(fx->flags >> 31))
			futex_resolve(fx, st->fx_addr);
	}
	if (st->fx_kind != FX_WAIT) {
		futex_woke(st, fx, ret, now);
		return 0;
	}
	slept = st->voluntary != st->enter_voluntary;
	if (again) {
		futex_take_back(st, fx);
		dur += st->fx_before;
		slept |= st->fx_blocked;
	}
	if (ret == -EAGAIN) {
		__sync_fetch_and_add(&fx->eagain, 1);
		return 0;
	}
	/* 0 and an index: woken. ETIMEDOUT, EINTR and the restarts: waited too. */
	if (ret < 0 && ret != -ETIMEDOUT && ret != -4 && ret > -512)
		return 0;
	if (ret < 0)
		st->waker = 0;
	if (ret == -ETIMEDOUT)
		__sync_fetch_and_add(&fx->timeouts, 1);
	if (ret == -ERESTART_RESTARTBLOCK) {
		st->fx_before = dur;
		st->fx_blocked = slept;
		st->flags |= ST_RESTART;
	}
	futex_waited(st, fx, dur, WAIT_SAMPLE | (slept ? WAIT_BLOCKED : 0), now);
	if (ret >= 0 && !st->waker && !st->fx_shared)
		edge_settle(st, fx, false);
	return 0;
}

#endif
