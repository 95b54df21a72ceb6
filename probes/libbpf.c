/* SPDX-License-Identifier: MIT */
/* package: libbpf-dev */
/* link: -lbpf */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

int main(void)
{
	/* 1.0 and later: the skeleton's options and errors in errno. */
	return libbpf_major_version() < 1 || !bpf_program__set_autoattach;
}
