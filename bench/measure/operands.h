/* SPDX-License-Identifier: Apache-2.0 */
/* Operands on the GPU: N(0,1) values, or uniform integers; as many sets as make a rotation larger than L2. */
#ifndef BENCH_OPERANDS_H
#define BENCH_OPERANDS_H

#include "bench/measure/gpu.h"
#include "bench/operation.h"
#include "host/types.h"

/* N(0,1) values on the GPU, of each type made once; every operand is filled from shifted pieces of them. */
struct noise {
    CUdeviceptr values[GM_TYPE_COUNT]; /* 0: not made yet */
};
void noise_free(const struct gpu *gpu, struct noise *noise);

#define BENCH_ARGS_MAX 256
struct bench_args {
    _Alignas(8) unsigned char bytes[BENCH_ARGS_MAX];
};

/* What the calls of one problem read and write. */
struct operands {
    const struct bench_operation *operation;
    const void *problem;    /* the caller's, which outlives this */
    struct bench_args args; /* without addresses */
    struct bench_operand each[BENCH_OPERANDS_MAX];
    CUdeviceptr arena[BENCH_OPERANDS_MAX]; /* of `sets` arrays */
    size_t bytes[BENCH_OPERANDS_MAX];      /* of one array, rounded up to 256 */
    int64_t pitch[BENCH_OPERANDS_MAX];     /* elements from a row to the next */
    int64_t below[BENCH_OPERANDS_MAX];     /* of its integers */
    int count, sets;
};

/* Allocates and fills enough sets of operands that one round over them touches `rotate_l2` times the L2, and `least_sets`
 * at least. What is only written begins as 0xff bytes: NaN in every type, so that what a kernel fails to write shows. */
int operands_make(const struct gpu *gpu, struct operands *operands, const struct bench_operation *operation,
                  const void *problem, struct noise *noise, double rotate_l2, int least_sets);
void operands_free(const struct gpu *gpu, struct operands *operands);
/* Makes set 0 what it was before any call. */
int operands_renew(const struct gpu *gpu, const struct operands *operands, struct noise *noise);
/* Fills in the operation's argument struct for a set, counted from 0 and over again after the last. */
void operands_args(const struct operands *operands, int set, CUdeviceptr workspace, size_t workspace_bytes,
                   struct bench_args *args);
/* Values into any memory, from the `first_piece`-th of the noise's pieces on; on the stream. */
int operands_fill(const struct gpu *gpu, CUdeviceptr to, size_t bytes, struct noise *noise, enum gm_type type,
                  uint64_t first_piece);

/* Rounding to nearest even, for filling and for comparing. */
uint16_t operands_to_bf16(float value);
uint16_t operands_to_fp16(float value);
float operands_from_bf16(uint16_t bits);
float operands_from_fp16(uint16_t bits);
/* Element `index` of an array of a type. What is put into 8 bits is no larger than their largest number. */
void operands_put(void *array, uint64_t index, enum gm_type type, float value);
float operands_value(const void *array, int64_t index, enum gm_type type);

#endif
