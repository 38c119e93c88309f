/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the SM clock on the stream, between other work: how many clocks went by, whatever their rate was. */
#ifndef BENCH_CLOCK_METER_H
#define BENCH_CLOCK_METER_H

#include <stdint.h>

#include "bench/measure/gpu.h"

struct clock_meter {
    CUlibrary library;
    CUfunction stamp;   /* NULL: the driver refused the kernel, and nothing is read */
    CUdeviceptr stamps; /* of every SM, stamp by stamp */
    size_t room;
};

/* Without the kernel there is a meter that reads zeros; -1: the GPU itself is in error. */
int clock_meter_open(const struct gpu *gpu, struct clock_meter *meter);
void clock_meter_close(const struct gpu *gpu, struct clock_meter *meter);

/* Room for `count` stamps, none of them made yet. */
int clock_meter_clear(const struct gpu *gpu, struct clock_meter *meter, size_t count);
/* Queues a reading into stamp `index`. */
int clock_meter_stamp(const struct gpu *gpu, const struct clock_meter *meter, size_t index);
/* The first `count` stamps, once the stream has come to rest; the caller frees them. NULL: there are none. */
int clock_meter_read(const struct gpu *gpu, const struct clock_meter *meter, size_t count, uint64_t **stamps);
/* Clocks from stamp `begin` to stamp `end`; 0: no SM has made both. Pure. */
double clock_meter_between(const uint64_t *stamps, int sm_count, size_t begin, size_t end);

#endif
