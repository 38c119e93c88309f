/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels on one buffer of 4096 bytes: what the tests of loads, stores and atomics share. */
#ifndef SIM_BUFFER_KERNEL_H
#define SIM_BUFFER_KERNEL_H

#include "run_ptx.h"

/* A kernel's registers: .pred p, q   .b16 h, i   .b32 a, b, c, d, lane, at   .f32 f   .f64 g   .b64 to, mine, s, t, u
 * `lane` is the thread, `to` the buffer's address, `mine` that of the thread's own 32 bytes. Its body begins at line 9.
 */
extern uint8_t buffer[4096];

/* Runs it with `before` at the top of the module: nothing may be wrong with it. All CTAs are one cluster. */
void buffer_kernel_runs(const char *before, const char *body, uint32_t threads, uint32_t ctas);
/* There is one report, of this kind, and its sentence contains `words`. */
void buffer_kernel_reports(const char *body, uint32_t threads, enum gm_sim_report_kind kind, const char *words);

/* Eight bytes of the buffer. */
uint64_t buffer_word(size_t index);
void buffer_set(size_t index, uint64_t value);

#endif
