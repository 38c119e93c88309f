/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is freed all at once: everything a module owns. Zeroed, and bounded, so that hostile text cannot ask for
 * more than a fixed amount. */
#ifndef SIM_PTX_ARENA_H
#define SIM_PTX_ARENA_H

#include <stddef.h>

struct ptx_arena;

/* NULL: out of memory. */
struct ptx_arena *ptx_arena_new(size_t limit);
void ptx_arena_free(struct ptx_arena *arena);
/* 16-byte aligned zeroes. NULL: the limit or the host's memory is exhausted. 0 bytes: some address, not NULL. */
void *ptx_arena_take(struct ptx_arena *arena, size_t bytes);
/* A copy of `length` characters with a NUL behind them, or NULL. */
char *ptx_arena_text(struct ptx_arena *arena, const char *text, size_t length);

#endif
