/* SPDX-License-Identifier: MIT */
#include "collect/current.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <unistd.h>

/*
 * DESIGN: a raw tracepoint program that is never attached: the kernel runs it
 * on request (BPF_PROG_TEST_RUN), in our own context, and hands back what it
 * returns.
 */
#define INSNS_MAX (3 + 6 * CURRENT_STEPS_MAX)
#define SLOT (-8)	/* on the program's stack: what was read last */

#define MOV_REG(d, s) ((struct bpf_insn){ BPF_ALU64 | BPF_MOV | BPF_X, (d), (s), 0, 0 })
#define MOV_IMM(d, v) ((struct bpf_insn){ BPF_ALU64 | BPF_MOV | BPF_K, (d), 0, 0, (v) })
#define ADD_IMM(d, v) ((struct bpf_insn){ BPF_ALU64 | BPF_ADD | BPF_K, (d), 0, 0, (v) })
#define LOAD(size, d, at) \
	((struct bpf_insn){ BPF_LDX | (size) | BPF_MEM, (d), BPF_REG_10, (at), 0 })
#define CALL(f) ((struct bpf_insn){ BPF_JMP | BPF_CALL, 0, 0, 0, (f) })
#define EXIT() ((struct bpf_insn){ BPF_JMP | BPF_EXIT, 0, 0, 0, 0 })

static int run(const struct bpf_insn *insns, size_t n, uint32_t *value, struct err *err)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	int fd, rc;

	fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "tracer_self", "Dual MIT/GPL", insns, n,
			   NULL);
	if (fd < 0)
		return err_sys(err, -fd, "cannot load a BPF program that looks at ourselves");
	rc = bpf_prog_test_run_opts(fd, &opts);
	close(fd);
	if (rc)
		return err_sys(err, -rc, "cannot run a BPF program that looks at ourselves");
	*value = opts.retval;
	return 0;
}

/* The byte offset of a member that stands in the struct itself; -ENOENT. */
static int offset_of(const struct btf *btf, const struct current_step *step)
{
	int id = btf__find_by_name_kind(btf, step->type, BTF_KIND_STRUCT);
	const struct btf_type *t;
	uint32_t i;

	if (id < 0)
		return -ENOENT;
	t = btf__type_by_id(btf, (uint32_t)id);
	for (i = 0; i < btf_vlen(t); i++) {
		const struct btf_member *m = &btf_members(t)[i];
		const char *name = btf__name_by_offset(btf, m->name_off);

		if (name && !strcmp(name, step->member))
			return (int)(btf_member_bit_offset(t, i) / 8);
	}
	return -ENOENT;
}

int current_read(const struct current_step *steps, size_t n, uint32_t *value, struct err *err)
{
	struct bpf_insn insns[INSNS_MAX];
	struct btf *btf;
	size_t i, k = 0;
	int offset;

	if (!n || n > CURRENT_STEPS_MAX)
		return err_set(err, EINVAL, "cannot follow %zu steps from ourselves", n);
	btf = btf__load_vmlinux_btf();
	if (!btf)
		return err_sys(err, errno, "cannot read the kernel's BTF");
	insns[k++] = CALL(BPF_FUNC_get_current_task);
	insns[k++] = MOV_REG(BPF_REG_3, BPF_REG_0);
	for (i = 0; i < n; i++) {
		offset = offset_of(btf, &steps[i]);
		if (offset < 0) {
			btf__free(btf);
			return err_set(err, ENOENT, "this kernel has no %s in struct %s",
				       steps[i].member, steps[i].type);
		}
		insns[k++] = ADD_IMM(BPF_REG_3, offset);
		insns[k++] = MOV_REG(BPF_REG_1, BPF_REG_10);
		insns[k++] = ADD_IMM(BPF_REG_1, SLOT);
		insns[k++] = MOV_IMM(BPF_REG_2, i + 1 < n ? 8 : 4);
		insns[k++] = CALL(BPF_FUNC_probe_read_kernel);
		insns[k++] = i + 1 < n ? LOAD(BPF_DW, BPF_REG_3, SLOT) :
					 LOAD(BPF_W, BPF_REG_0, SLOT);
	}
	insns[k++] = EXIT();
	btf__free(btf);
	return run(insns, k, value, err);
}
