/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs of any type, as the benchmark knows them: the operands of operations that have struct gm_out. */
#ifndef BENCH_OUT_H
#define BENCH_OUT_H

#include "bench/operation.h"
#include "host/out.h"

/* Out, at offset `out` of the arguments, and its scales, at offset `scales`, where it has some: as many operands as it returns. */
int bench_out_operands(const struct gm_out *out, size_t out_argument, size_t scales_argument,
                       struct bench_operand found[2]);

/* Scales alone, however many there are. */
struct bench_operand bench_scales(const struct gm_out *out, size_t argument, enum bench_access access);

/* Two roundings here or there are two units in the last place, of which an input's type has one of `unit`. */
struct bench_tolerance bench_out_tolerance(const struct bench_operand *operand, double unit);

#endif
