#pragma once

/// Asks the processor to load the memory at an address into its caches, and does not wait for it. Any address is allowed, also one
/// behind the end of a table. Swift has no name for this instruction.
static inline void rouse_prefetch(const void *address) { __builtin_prefetch(address); }
