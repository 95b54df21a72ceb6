/* SPDX-License-Identifier: MIT */
#ifndef RR_CPUID_H
#define RR_CPUID_H

/*
 * What programs learn of the processor by cpuid, which cannot be recorded: they, and the dynamic
 * linker, choose code by it.
 */
#include <stdint.h>

#define CPUID_WORDS 14

/* Vendor, model and features; zeros for what the processor does not tell. */
void cpuid_read(uint32_t word[CPUID_WORDS]);

#endif
