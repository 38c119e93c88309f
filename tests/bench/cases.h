/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of the benchmark for tests. */
#ifndef CASES_H
#define CASES_H

#include "bench/suite.h"
#include "gristmill/gristmill.h"

/* gemm bf16 bf16 bf16 tn */
struct bench_case gemm_case(int64_t m, int64_t n, int64_t k);
/* The library's problem in it. */
struct gm_gemm_problem *gemm_of(struct bench_case *problem);

#endif
