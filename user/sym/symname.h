/* SPDX-License-Identifier: MIT */
#ifndef SYM_SYMNAME_H
#define SYM_SYMNAME_H

#include <stddef.h>

/*
 * The length of the part of linker symbol @name that its author wrote: without
 * the version (@GLIBC_2.2.5) and without what compilers append to clones and
 * static locals (.lto_priv.0, .constprop.0, .isra.0, .part.0, .cold, .llvm.1,
 * .0). Never 0 for a non-empty name.
 */
size_t symname_base_length(const char *name);

/*
 * Readable form of a Rust symbol: v0 (_R…) and the legacy form that a C++
 * demangler has turned to a::b::h0123456789abcdef. Writes at most @bytes with
 * the NUL. Returns the length, or -EINVAL when @name is of neither form or
 * does not fit.
 */
int symname_rust_v0(const char *name, char *out, size_t bytes);
int symname_rust_legacy(const char *demangled, char *out, size_t bytes);

#endif
