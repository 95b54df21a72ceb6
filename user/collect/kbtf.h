/* SPDX-License-Identifier: MIT */
#ifndef COLLECT_KBTF_H
#define COLLECT_KBTF_H

/*
 * The part of the kernel's type information (BTF) that our programs need. A
 * library that indexes and copies all of it takes longer than all the rest of
 * the start; this looks through it once, where the kernel keeps it, and makes a
 * small BTF of the types whose names a BPF object mentions, with the types
 * within them. Pointers in it point to void: relocations do not follow them.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kbtf;

/* A type that is looked for by name, and its id in the kernel's BTF (0: there is none). */
struct kbtf_id { const char *name; uint32_t kind, id; };

/* The kernel's BTF, or @path's in raw form. NULL and errno: ENOENT, ENOMEM, EINVAL (malformed). */
struct kbtf *kbtf_open(const char *path);
void kbtf_close(struct kbtf *k);

/*
 * Fills .id of the @n entries of @ids, and returns a descriptor of a new
 * anonymous file with the small BTF: of the named types in the BTF section of
 * the ELF object @elf, flavours (___x) taken for their type. The descriptor is
 * the caller's. -EINVAL: one of the two is malformed or of a later version.
 */
int kbtf_reduce(struct kbtf *k, const void *elf, size_t elf_bytes, struct kbtf_id *ids, size_t n);

/* Number of parameters of the prototype that @id, a typedef of a pointer to it, means. */
int kbtf_prototype_args(const struct kbtf *k, uint32_t id);

#endif
