/* SPDX-License-Identifier: Apache-2.0 */
/* torch, opened at run time: its operators, called through the C functions of its stable ABI (torch 2.10 and newer). A
 * value of an operator's arguments is 64 bits: a tensor or a list by its handle, a number by its bits. */
#ifndef BENCH_TORCH_H
#define BENCH_TORCH_H

#include "bench/baseline/baseline.h"

struct torch;

/* A baseline's open() and close(). `path` is the folder of torch's libraries; NULL: GM_TORCH, or where Python has it. */
int torch_open(struct baseline *baseline, const struct gpu *gpu, const char *path);
void torch_close(struct baseline *baseline, const struct gpu *gpu);

/* A baseline's prepare() and forget() of operators that need a copy of the problem only. `takes`: there is one. */
void *torch_prepare(const void *problem, size_t bytes, bool takes, int *ways);
void torch_forget(const struct baseline *baseline, void *prepared);

/* Values, each for one call. A value that torch refuses makes the call fail. */
uint64_t torch_tensor(struct torch *torch, gm_device_ptr address, enum gm_type type, int rank, const int64_t *sizes);
/* Of any strides, in elements. */
uint64_t torch_strided(struct torch *torch, gm_device_ptr address, enum gm_type type, int rank, const int64_t *sizes,
                       const int64_t *strides);
uint64_t torch_ints(struct torch *torch, int count, const int64_t *values);
uint64_t torch_int(int64_t value);
uint64_t torch_bool(bool value);
uint64_t torch_double(double value);
uint64_t torch_type(const struct torch *torch, enum gm_type type);
uint64_t torch_contiguous(const struct torch *torch); /* the memory format of packed tensors */
uint64_t torch_optional(uint64_t value);              /* of an argument that may be missing */

/* Calls an operator, "aten::relu" or with its overload "aten::sum.dim_IntList", on the stream, with its arguments in `stack`,
 * where its `results` tensors take their place. The first result is copied to `to`, unless the stream is captured: what is
 * timed is the operator alone. So that results do not stay in L2, as many of them are kept as are larger than 3 times L2.
 * 0, or -1: torch refused. */
int torch_call(struct torch *torch, CUstream stream, const char *name, uint64_t *stack, int results, gm_device_ptr to,
               size_t bytes);

#endif
