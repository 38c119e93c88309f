/* SPDX-License-Identifier: Apache-2.0 */
/* Operands on the GPU: N(0,1) values, as many sets as make a rotation larger than L2. */
#ifndef BENCH_OPERANDS_H
#define BENCH_OPERANDS_H

#include "bench/measure/gpu.h"
#include "bench/suite.h"

/* N(0,1) values of one type on the GPU, made once; every operand is filled from shifted pieces of it. */
struct noise {
    CUdeviceptr values;
    enum gm_type type;
    bool made;
};

struct operands {
    struct gm_gemm_problem problem;
    CUdeviceptr a, b, d;              /* arenas of `sets` operands each */
    size_t a_bytes, b_bytes, d_bytes; /* of one set, rounded up to 256 */
    int sets;
};

int noise_make(const struct gpu *gpu, struct noise *noise, enum gm_type type);
void noise_free(const struct gpu *gpu, struct noise *noise);

/* Allocates and fills enough sets of A, B and D that one round over them touches `rotate_l2` times the L2. D
 * begins as 0xff bytes: NaN in every type, so that what a kernel fails to write shows. */
int operands_make(const struct gpu *gpu, struct operands *operands, const struct gm_gemm_problem *problem,
                  const struct noise *noise, double rotate_l2);
/* Values into any memory, from the `first_piece`-th of the noise's pieces on; on the stream. */
int operands_fill(const struct gpu *gpu, CUdeviceptr arena, size_t bytes, const struct noise *noise,
                  uint64_t first_piece);
void operands_free(const struct gpu *gpu, struct operands *operands);
int operands_spoil(const struct gpu *gpu, const struct operands *operands); /* D of set 0 becomes NaN */

/* Rounding to nearest even, for filling and for comparing. */
uint16_t operands_to_bf16(float value);
uint16_t operands_to_fp16(float value);
float operands_from_bf16(uint16_t bits);
float operands_from_fp16(uint16_t bits);

#endif
