/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
/*
 * Births, new images, and which threads are traced at all: children of traced
 * threads, targets found by the iterator, and processes that come to match a
 * filter by their name or cgroup.
 */
#include "lib/events.bpf.h"
#include "lib/filter.bpf.h"
#include "lib/futex.bpf.h"
#include "lib/pipe.bpf.h"
#include "lib/seen.bpf.h"

/* A birth and the iterator may meet at a thread: only one of them adds it to those alive. */
static __always_inline bool taken_first(struct task_state *st)
{
	return !__sync_fetch_and_or(&st->taken, 1);
}

static __always_inline void born(struct task_state *st)
{
	u64 live;

	if (!(st->flags & ST_MUTED))
		__sync_fetch_and_add(st->flags & ST_PROCESS ? &counts.procs_created :
							      &counts.threads_created, 1);
	if (!taken_first(st))
		return;
	live = __sync_fetch_and_add(&counts.live, 1) + 1;
	raise_max(&counts.live_peak, live);
}

static __always_inline u32 new_space(void)
{
	return __sync_fetch_and_add(&counts.last_space, 1) + 1;
}

static __always_inline void emit_birth(struct task_state *st, struct task_struct *task, u64 now)
{
	struct live_birth *e;
	void *ring;

	if (!RING_RESERVE(ring, e))
		return;
	event_head(&e->head, EV_BIRTH, sizeof(*e), st->tid, now);
	e->tgid = st->tgid;
	e->parent = st->parent;
	e->flags = st->flags & ST_PROCESS ? THREAD_PROCESS : 0;
	e->space = st->space;
	bpf_probe_read_kernel(e->comm, sizeof(e->comm), task->comm);
	ring_submit(ring, e);
}

/* The creator's part of a thread's cost ends here; its calls so far were on the way. */
static __always_inline void creator_paid(struct task_state *ps, struct task_state *cs, u64 now)
{
	u32 mask_nr = 14;	/* rt_sigprocmask */
	struct live_call *call;

	if (!cfg.exact)
		return;
	if (ps->in_call == 1)
		cs->stage_ns[STAGE_CLONE] = now - ps->enter_ns;
	if (ps->flags & ST_PREP)
		cs->stage_ns[STAGE_STACK] = ps->prep_ns;
	ps->flags &= ~ST_PREP;
	ps->flags |= ST_AFTER_CLONE;
	ps->prep_ns = 0;
	if (ps->mask_ns) {
		call = bpf_map_lookup_elem(&calls, &mask_nr);
		if (call) {
			call->way++;
			call->way_ns += ps->mask_ns;
		}
		ps->mask_ns = 0;
	}
}

/*
 * posix_spawn maps a stack too, for its child until the exec: that was no thread's
 * way. The sum over the CPUs is right though one CPU's part may wrap below zero.
 */
static __always_inline void spawn_is_no_thread(struct task_state *ps)
{
	u32 mmap_nr = 9;
	struct live_call *call;

	if (!(ps->flags & ST_PREP))
		return;
	ps->flags &= ~ST_PREP;
	call = bpf_map_lookup_elem(&calls, &mmap_nr);
	if (call) {
		call->way--;
		call->way_ns -= ps->prep_ns;
	}
	ps->prep_ns = 0;
}

/* Run once by the tracer: who is asking? And what do a pipe and an eventfd look like? */
SEC("raw_tp")
int learn_self(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	struct pid_namespace *ns = NULL;
	struct file *file;
	u32 level;

	self.tgid = task->tgid;
	self.since_ns = bpf_ktime_get_ns();
	self.user_ns = (u64)BPF_CORE_READ(task, real_cred, user_ns);
	file = fd_file_probed(task, self.pipe_fd);
	self.pipe_sb = (u64)BPF_CORE_READ(file, f_inode, i_sb);
	file = fd_file_probed(task, self.event_fd);
	self.event_fops = (u64)BPF_CORE_READ(file, f_op);
	if (!pid)
		return 0;
	level = BPF_CORE_READ(pid, level);
	bpf_probe_read_kernel(&ns, sizeof(ns),
			      (void *)pid + bpf_core_field_offset(struct pid, numbers) +
			      level * bpf_core_type_size(struct upid) +
			      bpf_core_field_offset(struct upid, ns));
	self.ns_level = level;
	self.ns_inum = ns ? BPF_CORE_READ(ns, ns.inum) : 0;
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(forked, struct task_struct *parent, struct task_struct *child)
{
	struct task_state *ps = state_of(parent), *cs;
	u64 now;

	if (!ps || counts.closing || (ps->flags & ST_WAIT_EXEC))
		return 0;
	/* What a set-uid program starts is nobody's business but its own. */
	if (cfg.uid_filter && (ps->flags & ST_MUTED) && !uid_matches(child))
		return 0;
	cs = bpf_task_storage_get(&tasks, child, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!cs) {
		count_loss(&counts.map_full);
		return 0;
	}
	now = bpf_ktime_get_ns();
	cs->tid = task_tid(child);
	cs->parent = ps->tid;
	cs->flags = ST_FRESH | ST_CREATED | (ps->flags & ST_MUTED ? ST_MUTED : ST_COUNTED);
	cs->start_ns = now;
	cs->created_ns = now;
	cs->space = ps->space;
	if (child->tgid == parent->tgid) {
		cs->tgid = ps->tgid;
		creator_paid(ps, cs, now);
	} else {
		cs->flags |= ST_PROCESS;
		cs->tgid = cs->tid;
		if (BPF_CORE_READ(child, mm) != BPF_CORE_READ(parent, mm))
			cs->space = new_space();
		if (cfg.exact && ps->in_call == 1)
			cs->stage_ns[STAGE_CLONE] = now - ps->enter_ns;
		spawn_is_no_thread(ps);
	}
	born(cs);
	seen_begin(cs, child);
	if (cfg.timeline || cfg.routines)
		emit_birth(cs, child, now);
	return 0;
}

/*
 * A thread counts from here on: run's child has become the command, and all
 * before was the tracer's own, or a thread has come to match a filter. One that
 * counted before, until a filter left it out, goes on from there.
 */
static __always_inline void begin_account(struct task_state *st, u64 now)
{
	bool anew = !(st->flags & ST_COUNTED);

	st->flags = (st->flags & ~(ST_SILENT | ST_CALIB | ST_FRESH)) | ST_COUNTED;
	if (st->out_ns)		/* asleep, when somebody else renamed it or moved its group */
		st->out_ns = now;
	else
		st->in_ns = now;
	st->comm[0] = '\0';
	raise_max(&counts.live_peak, counts.live);
	if (!anew)
		return;
	st->start_ns = now;
	st->calls = 0;
	st->futex_calls = 0;
	st->futex_at_end = 0;
	st->futex_wait_ns = 0;
	st->oncpu_ns = 0;
	st->runnable_ns = 0;
	st->blocked_ns = 0;
	st->lock_ns = 0;
	st->enter_off = 0;
	st->enter_blocked = 0;
	st->enter_voluntary = 0;
	st->voluntary = 0;
	st->involuntary = 0;
}

/* With one CPU only, it is the tracer who runs. */
static __always_inline bool is_running(struct task_struct *task)
{
	return bpf_core_field_exists(task->on_cpu) && task->on_cpu;
}

/* What a thread has used until @now, a wait that is still on included. */
static __always_inline void close_account(struct task_state *st, struct task_struct *task, u64 now)
{
	u64 woken;

	if (st->in_ns && now > st->in_ns) {
		st->oncpu_ns += now - st->in_ns;
		st->in_ns = now;
	} else if (st->out_ns && now > st->out_ns) {
		woken = woken_since(st, now);
		*(is_running(task) ? &st->oncpu_ns : &st->runnable_ns) += now - woken;
		st->blocked_ns += woken - st->out_ns;
		st->out_ns = now;
	}
}

/* A filter leaves a thread out from here on; what it was until now keeps its name. */
static __always_inline void mute(struct task_state *st, struct task_struct *task, u64 now)
{
	if (!(st->flags & ST_SILENT)) {
		close_account(st, task, now);
		bpf_probe_read_kernel(st->comm, sizeof(st->comm), task->comm);
	}
	st->flags = (st->flags & ~(ST_WAIT_EXEC | ST_CALIB)) | ST_MUTED;
	seen_put(st);
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(execed, struct task_struct *task)
{
	bool hidden = cfg.uid_filter && !uid_matches(task);
	struct task_state *st = state_of(task);
	struct live_exec *e;
	u64 now;
	void *ring;

	if (!st) {
		if (!cfg.filter || cfg.targets_only || !filter_matches(task))
			return 0;
		st = bpf_task_storage_get(&tasks, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
		if (!st)
			return 0;
		st->tid = task_tid(task);
		st->flags = ST_FRESH | ST_PROCESS | ST_COUNTED;
		st->start_ns = st->in_ns = bpf_ktime_get_ns();
		if (taken_first(st))
			__sync_fetch_and_add(&counts.live, 1);
	}
	now = bpf_ktime_get_ns();
	st->space = new_space();
	/* A set-uid program is not for everybody's eyes: it is followed, and left out. */
	if (hidden && !(st->flags & ST_MUTED))
		count_loss(&counts.hidden);
	if (hidden || (cfg.filter && !filter_matches(task)))
		mute(st, task, now);
	else if (st->flags & ST_SILENT)
		begin_account(st, now);
	/* A thread that execs takes its leader's id, and begins a life under it. */
	if (st->tid != task_tid(task))
		st->start_ns = now;
	st->tid = task_tid(task);
	st->tgid = st->tid;
	seen_begin(st, task);
	seen_put(st);
	if (hidden || cfg.watch || !RING_RESERVE(ring, e))
		return 0;
	event_head(&e->head, EV_EXEC, sizeof(*e), st->tid, now);
	e->tgid = st->tgid;
	e->space = st->space;
	bpf_probe_read_kernel(e->comm, sizeof(e->comm), task->comm);
	ring_submit(ring, e);
	return 0;
}

/*
 * A thread that sleeps in a call when it is taken up: the call began before the
 * trace, and is counted from now on when it comes back.
 */
static __always_inline void note_call_in_flight(struct task_state *st, struct task_struct *task,
						u64 now)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	u8 class;
	u32 nr;

	st->out_ns = now;
	st->flags |= ST_BLOCKED;
	st->block_nr = LIVE_NR_OTHER;
	if (task->__state & (TASK_STOPPED | TASK_TRACED)) {
		st->block_nr = LIVE_NR_STOPPED;
		return;
	}
	if ((long)regs->ax != AX_IN_CALL || (task->thread_info.status & 2))
		return;
	nr = call_slot(regs->orig_ax);
	st->block_nr = st->nr = nr;
	st->class = call_class[nr & (LIVE_NR_CALLS - 1)];
	class = st->class & 0x3f;
	/* futex_waitv's addresses are in the task's memory, which is not ours here. */
	if (class == CALL_FUTEX || (class == CALL_FUTEX2 && nr != 449 && nr != 456))
		futex_note(st, class, nr, regs);
	else if (class == CALL_READ || class == CALL_WRITE)
		end_resolve(class == CALL_READ || !cfg.exact ? &st->in : &st->out,
			    fd_file_probed(task, regs->di), class == CALL_WRITE);
	else if (class < CALL_CLONE)
		st->class &= 0xc0;
	if (cfg.exact) {
		st->in_call = 1;
		st->enter_ns = now;
		st->flags &= ~ST_FRESH;
	}
}

/*
 * The number of a process's address space is with its first thread. One that a filter
 * does not choose, or that is not ours to see, is followed for it and left out.
 */
static __always_inline struct task_state *take_leader(struct task_struct *leader)
{
	struct task_state *st = state_of(leader);

	if (st)
		return st;
	st = bpf_task_storage_get(&tasks, leader, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!st || !taken_first(st))
		return st;
	st->tid = st->tgid = task_tid(leader);
	st->flags = ST_FRESH | ST_PROCESS | ST_MUTED;
	st->start_ns = bpf_ktime_get_ns();
	st->space = new_space();
	if (leader->exit_state)
		st->flags |= ST_GONE;
	else
		__sync_fetch_and_add(&counts.live, 1);
	return st;
}

/* On the CPU or waiting for one. A switch meanwhile knows better, and sets both anew. */
static __always_inline void note_on_cpu(struct task_state *st, struct task_struct *task, u64 now)
{
	if (!is_running(task)) {
		st->out_ns = now;
		return;
	}
	st->in_ns = now;
	barrier();
	if (!is_running(task))
		st->in_ns = 0;
}

/* A first thread, taken before its turn: one of its threads has a lower id and needed it. */
static __always_inline bool was_lent(const struct task_state *st, bool first, u32 flags)
{
	return first && !(flags & ST_SILENT) && (st->flags & ST_MUTED) &&
	       !(st->flags & (ST_COUNTED | ST_GONE));
}

/* A thread is taken up while it runs. */
static __always_inline struct task_state *take_up(struct task_struct *task,
						 struct task_struct *leader, u32 flags)
{
	struct task_state *st = state_of(task), *ls = NULL;
	bool lent = st && was_lent(st, leader == task, flags);
	u64 now;

	if (st && !lent)
		return NULL;
	if (leader && leader != task)
		ls = take_leader(leader);
	if (!st && (!leader || leader == task || ls))
		st = bpf_task_storage_get(&tasks, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!st) {
		count_loss(&counts.map_full);
		return NULL;
	}
	if (!lent && !taken_first(st))
		return NULL;
	now = bpf_ktime_get_ns();
	st->tid = task_tid(task);
	st->tgid = leader ? task_tid(leader) : st->tid;
	st->flags = flags | ST_FRESH | (leader == task ? ST_PROCESS : 0);
	if (!(flags & ST_SILENT))
		st->flags |= ST_COUNTED;
	st->start_ns = now;
	if (!lent)
		st->space = ls ? ls->space : new_space();
	/*
	 * A leader may be dead while its threads run: it lends them its number only.
	 * One that is just dying is not among those alive when it is gone.
	 */
	if (task->exit_state) {
		st->flags |= ST_GONE;
		return NULL;
	}
	if (task->__state)
		note_call_in_flight(st, task, now);
	else
		note_on_cpu(st, task, now);
	if (!lent)
		__sync_fetch_and_add(&counts.live, 1);
	if (!(flags & ST_SILENT))
		raise_max(&counts.live_peak, counts.live);
	seen_begin(st, task);
	if (cfg.watch && st->out_ns && (st->flags & ST_BLOCKED))
		end_waits(st, now);
	return st;
}

/*
 * With a filter a thread may come to match, or to match no longer, under its
 * new name or in its new cgroup. With targets only theirs are asked.
 */
static __always_inline void refilter(struct task_struct *task, bool matches)
{
	struct task_state *st = state_of(task);
	u64 now = bpf_ktime_get_ns();

	if (!st) {
		if (matches && !cfg.targets_only)
			take_up(task, task->group_leader, 0);
	} else if (!(st->flags & ST_WAIT_EXEC)) {
		if (!matches) {
			mute(st, task, now);
		} else if (st->flags & ST_MUTED) {
			begin_account(st, now);
			st->enter_ns = now;	/* of a call in flight */
			seen_begin(st, task);
			seen_put(st);
		}
	}
}

SEC("iter/task")
int mark_tasks(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task, *leader;
	struct task_state *st;
	u32 pid, *target, flags = 0;

	if (!task || (task->flags & 0x00200000))	/* PF_KTHREAD */
		return 0;
	/* A second look: processes have moved between cgroups, or become another user's. */
	st = (cfg.cgroup_filter || cfg.user_filter) && counts.moved ? state_of(task) : NULL;
	if (st && !(st->flags & (ST_CALIB | ST_GONE))) {
		refilter(task, filter_matches(task));
		return 0;
	}
	leader = task->group_leader;
	if (!leader)
		return 0;
	pid = task_tid(leader);
	target = pid ? bpf_map_lookup_elem(&targets, &pid) : NULL;
	if (target) {
		if (!in_namespace(task))
			return 0;
		if (*target & LIVE_TARGET_OWN)	/* our own code, perhaps not dumpable */
			flags = ST_WAIT_EXEC | ST_CALIB;
		else if (cfg.uid_filter && !uid_matches(task))
			return 0;
		else if (cfg.filter && !filter_matches(task))
			flags = ST_MUTED;
	} else if (!cfg.filter || cfg.targets_only || !filter_matches(task)) {
		return 0;
	}
	/* The first thread of a target is taken for what it is, when it is its turn. */
	if (target && leader != task && !cfg.uid_filter && !state_of(leader)) {
		count_loss(&counts.map_full);
		return 0;
	}
	take_up(task, leader, flags);
	return 0;
}

/* A wait that is still on when the trace ends counts for what it has lasted. */
static __always_inline void still_waits(struct task_state *st, u64 ns)
{
	u8 class = st->class & 0x3f;

	count_blocked(st, st->block_nr, ns);
	if (class < CALL_READ || class > CALL_SENDFILE || (cfg.exact && st->in_call != 1))
		return;
	if (st->in.kind || st->out.kind)
		end_blocked(st, !st->in.kind, ns);
}

/* Exact mode: so does a call that has not returned. */
static __always_inline void still_calls(struct task_state *st, u64 now)
{
	u64 ns = now > st->enter_ns ? now - st->enter_ns : 0;
	u32 nr = st->nr;
	struct live_call *call = bpf_map_lookup_elem(&calls, &nr);

	st->calls++;
	if (!call || !call_wanted(st, nr))
		return;
	call->calls++;
	call->total_ns += ns;
	call->off_ns += call_off(st, ns);
	raise_max(&call->max_ns, ns);
	hist_count(call->hist, ns);
}

/* When the trace ended: what is alive then has lasted to there, not until it is looked at. */
u64 stopped_ns __weak = 0;

/* A live view asks for those who wait at this futex; nothing ends by it. */
u64 peek_addr __weak = 0;
u32 peek_space __weak = 0;

struct kernel_frames { u64 ip[LIVE_KERNEL_FRAMES]; };

/* A program's own stack has no room for them. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct kernel_frames);
} kernel_frames __weak SEC(".maps");

/* A futex wait's registers, and where in the kernel it is. */
static __always_inline int tell_alive(struct seq_file *seq, struct task_struct *task,
				      struct live_alive *e)
{
	struct kernel_frames *frames;
	u32 zero = 0;

	frames = bpf_map_lookup_elem(&kernel_frames, &zero);
	if (e->thread.flags & THREAD_IN_CALL && e->thread.call_addr) {
		copy_regs(&e->regs, (struct pt_regs *)bpf_task_pt_regs(task));
		if (frames && !is_running(task))
			e->nkernel = kernel_stack(task, frames->ip);
	}
	bpf_seq_write(seq, e, sizeof(*e));
	if (frames && e->nkernel)
		bpf_seq_write(seq, frames, sizeof(*frames));
	return 0;
}

static __always_inline bool waits_at_peek(struct task_struct *task, const struct task_state *st)
{
	return !st->in_ns && !(st->flags & ST_SILENT) && (st->flags & ST_WAITING) &&
	       st->fx_addr == peek_addr && st->space == peek_space && !is_running(task);
}

/* What it does at the end counts to there; since when it has been blocked, 0: it is not. */
static __always_inline u64 end_account(struct task_struct *task, struct task_state *st, u64 now)
{
	u64 since = 0;

	if (st->flags & ST_SILENT)
		return 0;
	if (!st->in_ns && (st->flags & ST_BLOCKED) && now > st->out_ns && !is_running(task))
		since = st->out_ns;
	if (since)
		still_waits(st, woken_since(st, now) - since);
	close_account(st, task, now);
	if (cfg.exact && st->in_call == 1)
		still_calls(st, now);
	return since;
}

/* The threads that are still there when the trace ends; of a live view, a lock's waiters. */
SEC("iter/task")
int dump_tasks(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct live_alive e = {};
	struct task_state *st;
	u64 now, since;

	if (!task)
		return 0;
	st = state_of(task);
	if (!st || task->exit_state || (cfg.watch && !waits_at_peek(task, st)))
		return 0;
	now = cfg.watch ? bpf_ktime_get_ns() :
	      stopped_ns > st->start_ns ? stopped_ns : st->start_ns;
	since = cfg.watch ? st->out_ns : end_account(task, st, now);
	fill_thread(&e.thread, st, task, now, false);
	if (st->flags & ST_SILENT)
		e.thread.call_addr = 0;	/* its stack is not ours to read */
	if (!cfg.watch)
		st->flags |= ST_GONE;	/* it is not to be told of again, should it end meanwhile */
	/* In wait mode calls are not seen, but what blocks is. */
	if ((!cfg.exact || cfg.watch) && since) {
		e.thread.flags |= THREAD_IN_CALL;
		e.thread.call_enter_ns = since;
		e.thread.call_nr = st->block_nr;
	}
	return tell_alive(ctx->meta->seq, task, &e);
}

SEC("tp_btf/task_rename")
int BPF_PROG(renamed, struct task_struct *task, const char *comm)
{
	struct commre *re;
	char name[LIVE_COMM] = {};
	u32 zero = 0;

	/* The name is set after this tracepoint: match and show the one that comes. */
	seen_name(state_of(task), comm);
	re = bpf_map_lookup_elem(&comm_dfa, &zero);
	if (!cfg.comm_filter || !re)
		return 0;
	bpf_probe_read_kernel(name, sizeof(name), comm);
	refilter(task, commre_match(re, name) && filter_matches_but_comm(task));
	seen_name(state_of(task), comm);	/* it may have a row only now */
	return 0;
}

SEC("tp_btf/cgroup_attach_task")
int BPF_PROG(cgroup_joined, struct cgroup *to, const char *path, struct task_struct *task,
	     bool threadgroup)
{
	if (!cfg.cgroup_filter)
		return 0;
	refilter(task, filter_matches(task));
	/* Of a process's move only its first thread is told: the others are looked for. */
	if (threadgroup && state_of(task))
		__sync_fetch_and_add(&counts.moved, 1);
	return 0;
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(new_woken, struct task_struct *task)
{
	/* A child may be born into a cgroup (CLONE_INTO_CGROUP) that its parent is not in. */
	if (cfg.cgroup_filter)
		refilter(task, filter_matches(task));
	return 0;
}

char LICENSE[] __weak SEC("license") = "Dual MIT/GPL";
