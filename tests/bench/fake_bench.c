/* SPDX-License-Identifier: Apache-2.0 */
/* A run of the bench on a GPU that is not there. */
#include "fake_bench.h"

#include "bench_tests.h"

void fake_bench_open(struct bench *bench, struct bench_options *options, struct fake_gpu gpu) {
    fake_gpu_install(gpu);
    *options = (struct bench_options){0};
    *bench = (struct bench){.options = options};
    bench->results.meta.round_ms = 1;
    ck_assert_int_eq(gpu_open(&bench->gpu, 0), 0);
    fake_cublaslt(&bench->baselines);
}

void fake_bench_close(struct bench *bench) {
    noise_free(&bench->gpu, &bench->noise);
    gpu_close(&bench->gpu);
    results_free(&bench->results);
    fake_gpu_remove();
}
