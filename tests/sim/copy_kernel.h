/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of the copy tests: PTX text, run to its end on a simulated H100 with memory of its own. */
#ifndef SIM_COPY_KERNEL_H
#define SIM_COPY_KERNEL_H

#include "sim/machine/machine.h"

#include <check.h>

/* Fixtures. */
void kernel_begin(void);
void kernel_end(void);

/* Global memory: with these bytes, or (NULL) as it comes; and the host's view of it. */
uint64_t kernel_memory(const void *bytes, uint64_t count);
void *kernel_view(uint64_t address, uint64_t count);

struct kernel_launch {
    const char *body;       /* the kernel's text, after "{" */
    const char *parameters; /* between "(" and ")" */
    const void *arguments[12];
    uint32_t threads, ctas, shared_bytes; /* ctas: one cluster */
    uint64_t seed;
    int count;
};
/* The CUresult. */
int kernel_run(const struct kernel_launch *launch);

/* There was no report since the last call; or there was one of this kind whose sentence contains `words`. */
void kernel_clean(void);
void kernel_reported(enum gm_sim_report_kind kind, const char *words);

/* Text between others: the result is free()d by kernel_end(). */
const char *kernel_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What the texts below are made of: labels and registers of their own. Thread 0 of a CTA is its leader. (A format: "%%"
 * is one.) */
#define KERNEL_REGISTERS                                                                                               \
    ".reg .pred more, leader, done; .reg .b16 h0, h1, h2; .reg .b32 thread, step, at, base, bar, a, b, c, d, rank;\n"  \
    ".reg .b64 map_at, to, from, image_at, source_at, size, policy;\n"                                                 \
    "mov.u32 thread, %%tid.x; mov.u32 step, %%ntid.x; shl.b32 step, step, 2; mov.u32 rank, %%cluster_ctarank;\n"       \
    "setp.eq.u32 leader, thread, 0; mov.u32 base, dynamic; mov.u32 bar, barrier; mov.b64 policy, 0;\n"

#endif
