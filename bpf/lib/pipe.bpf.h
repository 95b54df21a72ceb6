/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
#ifndef LIB_PIPE_BPF_H
#define LIB_PIPE_BPF_H

/*
 * Pipes, FIFOs, connected unix sockets and eventfds as edges between threads.
 * Descriptors are looked up when the call begins: by its end another thread
 * may have closed them. A row is one thread's end of one pipe, so nothing in
 * it is shared and nothing needs an atomic.
 */
#include "lib/events.bpf.h"

#define S_IFMT		0170000
#define S_IFIFO		0010000
#define S_IFSOCK	0140000
#define AF_UNIX		1

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct live_end_key);
	__type(value, struct live_end);
} ends __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct live_end);
} end_zero __weak SEC(".maps");

/*
 * Which eventfd a context is: it holds nothing that another one at the same
 * address could not have, not even its id. Those made while traced are numbered.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);	/* addresses, not eventfds; those past it may merge */
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, u64);
	__type(value, u32);
} event_numbers __weak SEC(".maps");

u32 events_made __weak = 0;

/*
 * Out of a call's way, where a few nanoseconds matter less than the start: for
 * each typed load of a pointer the verifier looks through the kernel's types.
 */
static __always_inline struct file *fd_file_probed(struct task_struct *task, u32 fd)
{
	struct fdtable *fdt = BPF_CORE_READ(task, files, fdt);
	struct file **fds = BPF_CORE_READ(fdt, fd), *file = NULL;

	if (fd < BPF_CORE_READ(fdt, max_fds))
		bpf_probe_read_kernel(&file, sizeof(file), fds + fd);
	return file;
}

static __always_inline struct file *fd_file(struct task_struct *task, u32 fd)
{
	struct files_struct *files = task->files;
	struct fdtable *fdt;
	struct file *file = NULL;

	if (!files)
		return NULL;
	fdt = files->fdt;
	if (!fdt || fd >= fdt->max_fds)
		return NULL;
	bpf_probe_read_kernel(&file, sizeof(file), fdt->fd + fd);
	return file;
}

/* A socket's inode number; 0: its file is not there yet, or no more. */
static __always_inline u32 socket_inode(struct sock *sk)
{
	struct socket *sock = BPF_CORE_READ(sk, sk_socket);

	return sock ? BPF_CORE_READ((struct socket_alloc *)sock, vfs_inode.i_ino) : 0;
}

/*
 * Both sides name a connection by the socket that receives. Before it is
 * accepted it has no inode: a writer that is so early leaves its own instead.
 */
static __always_inline void end_of_socket(struct end_ref *ref, struct file *file,
					  struct inode *inode, bool write)
{
	struct socket *sock = BPF_CORE_READ(file, private_data);
	struct sock *sk = sock ? BPF_CORE_READ(sock, sk) : NULL;

	if (!bpf_core_type_exists(struct unix_sock) || !sk ||
	    BPF_CORE_READ(sk, __sk_common.skc_family) != AF_UNIX)
		return;
	if (write)	/* what is written here arrives at the peer */
		sk = BPF_CORE_READ((struct unix_sock *)sk, peer);
	if (!sk)
		return;
	ref->sb = write ? socket_inode(sk) : BPF_CORE_READ(inode, i_ino);
	ref->ahead = !ref->sb;
	if (ref->ahead)
		ref->sb = BPF_CORE_READ(inode, i_ino);
	ref->id = (u64)sk;
	ref->kind = END_SOCKET;
}

static __always_inline void end_of_eventfd(struct end_ref *ref, struct file *file)
{
	u64 ctx = (u64)BPF_CORE_READ(file, private_data);
	u32 *number = bpf_map_lookup_elem(&event_numbers, &ctx);

	ref->id = ctx;
	ref->sb = number ? *number : 0;
	ref->kind = END_EVENTFD;
}

/* The current thread has made eventfd @fd. */
__weak __noinline int event_made(u32 fd)
{
	struct file *file = fd_file(bpf_get_current_task_btf(), fd);
	u32 number;
	u64 ctx;

	/* Another thread may have put something else there by now. */
	if (!file || (u64)BPF_CORE_READ(file, f_op) != self.event_fops)
		return 0;
	ctx = (u64)BPF_CORE_READ(file, private_data);
	number = __sync_fetch_and_add(&events_made, 1) + 1;
	bpf_map_update_elem(&event_numbers, &ctx, &number, BPF_ANY);
	return 0;
}

static __always_inline void end_resolve(struct end_ref *ref, struct file *file, bool write)
{
	struct inode *inode;
	u32 type;

	ref->kind = 0;
	ref->ahead = 0;
	ref->write = write;
	if (!file)
		return;
	inode = BPF_CORE_READ(file, f_inode);
	type = BPF_CORE_READ(inode, i_mode) & S_IFMT;
	if (type == S_IFIFO) {
		struct super_block *sb = BPF_CORE_READ(inode, i_sb);

		ref->id = BPF_CORE_READ(inode, i_ino);
		ref->sb = (u64)sb >> 6;
		ref->fifo = (u64)sb != self.pipe_sb;
		ref->kind = END_PIPE;
	} else if (type == S_IFSOCK) {
		end_of_socket(ref, file, inode, write);
	} else if (!type || type == 0100000) {	/* anonymous inodes: none, or a file's */
		if ((u64)BPF_CORE_READ(file, f_op) != self.event_fops)
			return;
		end_of_eventfd(ref, file);
	}
}

/* What a person would look for in /proc: read once, when a row is made. */
static __always_inline void end_describe(struct live_end *end, struct end_ref *ref,
					 struct task_state *st)
{
	struct eventfd_ctx *ctx = (struct eventfd_ctx *)ref->id;
	struct sock *sk = (struct sock *)ref->id;

	end->tgid = st->tgid;
	if (ref->kind == END_EVENTFD) {
		end->inode = BPF_CORE_READ(ctx, id);
		return;
	}
	if (ref->kind == END_SOCKET) {
		sk = BPF_CORE_READ((struct unix_sock *)sk, peer);
		end->inode = sk ? socket_inode(sk) : 0;
		return;
	}
	end->inode = ref->id;
	end->fifo = ref->fifo;
}

static __always_inline struct live_end *end_row(struct end_ref *ref, struct task_state *st)
{
	struct live_end_key key = { .id = ref->id, .sb = ref->sb, .tid = st->tid,
				    .kind = ref->kind,
				    .dir = ref->write ? END_WRITE : END_READ };
	struct live_end *end;
	u32 zero = 0;
	void *init;

	if (ref->ahead)
		key.dir |= END_AHEAD;
	if (st->flags & ST_CALIB)
		key.dir |= END_CALIB;
	end = bpf_map_lookup_elem(&ends, &key);
	if (end)
		return end;
	init = bpf_map_lookup_elem(&end_zero, &zero);
	if (!init)
		return NULL;
	bpf_map_update_elem(&ends, &key, init, BPF_NOEXIST);
	end = bpf_map_lookup_elem(&ends, &key);
	if (end)
		end_describe(end, ref, st);
	else
		count_loss(&counts.map_full);
	return end;
}

/* A read or write of @bytes (or -errno) on one end returned (exact mode). */
__weak __noinline int end_moved(struct task_state *st, bool out, s64 ret, u64 blocked_ns)
{
	struct live_end *end;

	if (!st)
		return 0;
	end = end_row(out ? &st->out : &st->in, st);
	if (!end)
		return 0;
	if (blocked_ns) {
		end->blocked++;
		end->blocked_ns += blocked_ns;
	}
	if (ret == -11)
		end->eagain++;
	if (ret <= 0)
		return 0;
	end->chunks++;
	end->bytes += ret;
	raise_max(&end->chunk_max, ret);
	end->futex_calls += st->futex_calls - st->futex_at_end;
	st->futex_at_end = st->futex_calls;
	hist_count(end->hist, ret);
	return 0;
}

/* Live view: the current thread begins (@since) or ends (0) to wait for an end. */
__weak __noinline int end_waits(struct task_state *st, u64 since)
{
	struct live_end *end;
	u8 class;

	if (!st)
		return 0;
	class = st->class & 0x3f;
	if (class < CALL_READ || class > CALL_SENDFILE || (cfg.exact && st->in_call != 1) ||
	    (st->flags & (ST_SILENT | ST_CALIB)) || !(st->in.kind || st->out.kind))
		return 0;
	end = end_row(st->in.kind ? &st->in : &st->out, st);
	if (end)
		end->since_ns = since;
	return 0;
}

/* A thread waited for one end, and no call's end tells: wait mode, or the end of the trace. */
__weak __noinline int end_blocked(struct task_state *st, bool out, u64 ns)
{
	struct live_end *end;

	if (!st)
		return 0;
	end = end_row(out ? &st->out : &st->in, st);
	if (end) {
		end->blocked++;
		end->blocked_ns += ns;
	}
	return 0;
}

/* What the current thread's descriptor @fd is: kept in .out or .in of its state. */
__weak __noinline int end_find(struct task_state *st, u32 fd, bool write)
{
	if (st)
		end_resolve(write ? &st->out : &st->in,
			    fd_file(bpf_get_current_task_btf(), fd), write);
	return 0;
}

/* struct mmsghdr of the ABI: struct msghdr, then how long the message was. */
#define MMSG_BYTES	64
#define MMSG_LEN	56
#define MMSG_MAX	1024	/* the kernel's UIO_MAXIOV */

struct many { u64 at, bytes; };

static long add_message(u32 i, void *ctx)
{
	struct many *m = ctx;
	u32 len = 0;

	bpf_probe_read_user(&len, sizeof(len), (void *)(m->at + (u64)i * MMSG_BYTES));
	m->bytes += len;
	return 0;
}

/* What sendmmsg or recvmmsg moved, when it returns: the bytes of its @n messages at @vec. */
__weak __noinline u64 many_bytes(u64 vec, u64 n)
{
	struct many m = { .at = vec + MMSG_LEN };

	if (n <= MMSG_MAX)
		bpf_loop(n, add_message, &m, 0);
	return m.bytes;
}

static __always_inline bool pipe_is_empty(struct file *file)
{
	struct pipe_inode_info *pipe = BPF_CORE_READ(file, private_data);

	return BPF_CORE_READ(pipe, head) == BPF_CORE_READ(pipe, tail);
}

/*
 * Wait mode: the end that a call has blocked on. One that moves from end to end
 * waits for its input while that is empty, and then for room in its output.
 */
static __always_inline void end_waited_for(struct end_ref *ref, struct task_struct *task, u8 class,
					   struct pt_regs *regs)
{
	struct file *file = fd_file_probed(task, regs->di);
	u32 out = class == CALL_SPLICE ? regs->dx : regs->si;

	end_resolve(ref, file, class == CALL_WRITE || class == CALL_WRITE_MANY ||
			       class == CALL_SENDFILE);
	if (class != CALL_SPLICE && class != CALL_TEE)
		return;
	if (ref->kind == END_SOCKET || (ref->kind == END_PIPE && pipe_is_empty(file)))
		return;
	end_resolve(ref, fd_file_probed(task, out), true);
}

/* Notes the ends that a call works on. */
static __always_inline void pipe_note(struct task_state *st, u8 class, struct pt_regs *regs)
{
	u32 in = regs->di, out = regs->di;

	st->in.kind = 0;
	st->out.kind = 0;
	if (class == CALL_SPLICE)
		out = regs->dx;
	else if (class == CALL_TEE)
		out = regs->si;
	else if (class == CALL_SENDFILE)
		in = regs->si;
	if (class != CALL_WRITE && class != CALL_WRITE_MANY)
		end_find(st, in, false);
	if (class != CALL_READ && class != CALL_READ_MANY)
		end_find(st, out, true);
}

#endif
