/* SPDX-License-Identifier: Apache-2.0 */
/* How many blocks of a kernel an SM holds at once: on paper, and as the driver says. */
#ifndef LAB_RESIDENCY_H
#define LAB_RESIDENCY_H

#include "lab/lab.h"

/* What a block takes of an SM. */
struct residency {
    int threads, registers; /* of a block, and of each of its threads */
    size_t shared_bytes;    /* static and dynamic */
};

/* The smallest of what threads, registers, shared memory and the number of blocks allow. 0: not even one. The units of
 * allocation are those of cuda_occupancy.h of the toolkit for 7.0 to 12.0: registers of a warp in 256, each quarter of
 * the SM by itself; shared memory in 128 bytes, with 1 KB more a block from 8.0 on. */
int residency_model(const struct gm_device *device, const struct residency *block);

/* A module loaded for questions, beside what the runner loads for launches: cuLibraryUnload() is due. */
int residency_open(struct lab *lab, const char *module, CUlibrary *library);
/* Its kernel, allowed `dynamic_bytes` of shared memory where that is more than 48 KB. */
int residency_function(struct lab *lab, CUlibrary library, const char *kernel, size_t dynamic_bytes,
                       CUfunction *function);
/* The kernel prefers the largest carve-out, so that not the driver's choice of one decides how many blocks fit. Launches say so
 * by `carve_out`. */
int residency_prefer_shared(struct lab *lab, CUfunction function);
enum { RESIDENCY_CARVE_OUT = 1 + 100 };

/* What a block of this launch takes, by the driver. */
int residency_of(struct lab *lab, CUfunction function, int threads, size_t dynamic_bytes, struct residency *block);
/* How many of them the driver says an SM holds. */
int residency_by_driver(struct lab *lab, CUfunction function, int threads, size_t dynamic_bytes, int *blocks);

/* The number that no profiler counts, where it belongs: on a GPU counted, on the simulated one simulated. */
void residency_answer(const struct lab *lab, struct lab_quantity *quantity, double value);

#endif
