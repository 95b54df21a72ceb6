/* SPDX-License-Identifier: MIT */
/* package: clang */
/* compiler: clang -target bpf -g -O2 -c */
struct task { int pid; } __attribute__((preserve_access_index));

int pid_of(struct task *t)
{
	return t->pid;
}
