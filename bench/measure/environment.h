/* SPDX-License-Identifier: Apache-2.0 */
/* What a results file says of the machine and the day. */
#ifndef BENCH_FACTS_H
#define BENCH_FACTS_H

#include "bench/measure/nvml.h"

/* "580.95.05 (CUDA 13.0)", or "CUDA 13.0" where NVML does not say. */
void environment_driver(char *text, size_t bytes, const struct nvml *nvml, const struct gm_device *device);
/* "2026-01-31", UTC. */
void environment_date(char *text, size_t bytes);

#endif
