/* SPDX-License-Identifier: Apache-2.0 */
/* A run of the bench, with a baseline, on a GPU that is not there. */
#ifndef FAKE_BENCH_H
#define FAKE_BENCH_H

#include "bench/bench.h"
#include "fake_gpu.h"

/* Rounds of 1 ms; how many is the caller's to say. */
void fake_bench_open(struct bench *bench, struct bench_options *options, struct fake_gpu gpu);
void fake_bench_close(struct bench *bench);

#endif
