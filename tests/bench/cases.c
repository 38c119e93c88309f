/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of the benchmark for tests. */
#include "cases.h"

struct gm_gemm_problem *gemm_of(struct bench_case *problem) {
    return (struct gm_gemm_problem *)problem->problem.bytes;
}

struct bench_case gemm_case(int64_t m, int64_t n, int64_t k) {
    struct bench_case made;
    case_start(&made, &gemm_bench);
    gemm_of(&made)->m = m;
    gemm_of(&made)->n = n;
    gemm_of(&made)->k = k;
    return made;
}
