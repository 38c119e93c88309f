/* SPDX-License-Identifier: Apache-2.0 */
/* A chain of layers, each reading what the one before wrote: what programmatic dependent launch is for. */
#ifndef BENCH_CHAIN_H
#define BENCH_CHAIN_H

#include "bench/measure/timing.h"

#define CHAIN_LAYERS_MAX 64
#define CHAIN_SIZES_MAX  8

/* Who runs the chain: our plans without overlap, with it, and with B said to be constant; the baseline with the
 * fastest heuristic of every layer, and with its first. */
enum chain_way { CHAIN_NO_OVERLAP, CHAIN_OVERLAP, CHAIN_CONSTANT_B, CHAIN_BEST, CHAIN_DEFAULT, CHAIN_WAYS };

extern const char *const chain_way_names[CHAIN_WAYS]; /* as in the results */

struct chain_options {
    enum gm_type type;
    int64_t m;
    int sizes[CHAIN_SIZES_MAX]; /* layer i takes sizes[i % count] values and gives sizes[(i + 1) % count] */
    int size_count, layers;
    int rounds;
    double round_ms, warmup_s;
    size_t workspace_bytes;
};

struct chain_result {
    struct chain_options options;
    struct bench_samples samples[CHAIN_WAYS]; /* of the whole chain; count 0: it did not run */
    double difference; /* of the last layer's values from the baseline's, root mean square over theirs; NaN: none */
};

/* Every layer has weights of its own. `baselines` may have none. -1 with a printed sentence; a wrong result is one, too. */
int chain_run(const struct gpu *gpu, const struct baselines *baselines, struct noise *noise,
              const struct chain_options *options, struct chain_result *result);

#endif
