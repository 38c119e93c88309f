/* SPDX-License-Identifier: Apache-2.0 */
/* A histogram whose 512 KB of bins outgrow an SM: spread over the CTAs of a cluster, against atomics on global memory. The
 * library's operation `histogram` has neither: its CTAs read all values once for each SM's worth of bins (docs/HISTOGRAM.md). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/kernels/histogram.h"
#include "lab/ladders.h"

enum {
    LARGEST = 1 << 27, /* values: 512 MiB */
    RAGGED = 1000003,
    ONE_BIN = 1 << 22, /* values of the points where all are one: every atomic waits for the one before */
    ONE_VALUE = 0xab,  /* of each of their bytes */
    GLOBAL_CTAS_PER_SM = 2,
    BYTES = HISTOGRAM_LARGE_BINS * 4,
};

struct large_data {
    CUdeviceptr uniform, one_bin, bins;
    struct {
        bool one_bin;
        uint32_t count;
    } of_point[LAB_POINTS_MAX];
    uint32_t *counted, *expected; /* bins */
    unsigned clusters;            /* that run at the same time; 0: not asked yet */
};

/* ---- points --------------------------------------------------------------------------------------- */

/* As many clusters as run at the same time, no more: they stay, and one that had to wait for another to end would begin
 * its share when that is done. A cluster lies in one GPC, so a few SMs have no work (lab cluster-limits). */
static int launch(struct lab *lab, struct lab_point *point, bool clusters) {
    const unsigned sms = (unsigned)lab->gpu.device.sm_count;
    struct large_data *data = lab->data;
    if (!clusters) {
        lab_kernel(point, "histogram", "lab_histogram_large_global", sms * GLOBAL_CTAS_PER_SM, HISTOGRAM_LARGE_THREADS);
        return 0;
    }
    lab_kernel(point, "histogram_cluster", "lab_histogram_large_cluster", sms, HISTOGRAM_LARGE_THREADS);
    point->launch.cluster[0] = HISTOGRAM_LARGE_CLUSTER;
    point->launch.shared_bytes = HISTOGRAM_LARGE_BYTES;
    if (!data->clusters && ladder_resident_clusters(lab, &point->launch, &data->clusters) != 0)
        return -1;
    point->launch.grid[0] = data->clusters * HISTOGRAM_LARGE_CLUSTER;
    return 0;
}

static struct lab_point *add(struct lab *lab, bool clusters, bool one_bin, uint32_t count) {
    struct large_data *data = lab->data;
    char label[64];
    snprintf(label, sizeof label, "%s, %s %u", clusters ? "cluster" : "global", one_bin ? "one bin" : "uniform", count);
    struct lab_point *point = lab_add(
        lab, label,
        clusters ? "The bins lie in the shared memory of 4 CTAs, 128 KB each; a value is counted by an atomic on "
                   "the one that keeps its bin. The operation `histogram` does without: docs/HISTOGRAM.md."
                 : "One atomic on global memory a value, over 512 KB of L2.");
    if (!point)
        return NULL;
    data->of_point[ladder_index(lab, point)].one_bin = one_bin;
    data->of_point[ladder_index(lab, point)].count = count;
    point->bytes = (double)count * sizeof(uint32_t);
    if (launch(lab, point, clusters) != 0)
        return NULL;
    LAB_ARGUMENT(point, *(one_bin ? &data->one_bin : &data->uniform));
    LAB_ARGUMENT(point, count);
    LAB_ARGUMENT(point, data->bins);
    return point;
}

static int large_setup(struct lab *lab) {
    const size_t largest = lab->simulated ? RAGGED : LARGEST;
    struct large_data *data = lab->data = calloc(1, sizeof *data);
    if (!data || !(data->counted = malloc(BYTES)) || !(data->expected = malloc(BYTES)))
        return complain("out of host memory");
    if (lab_alloc(lab, &data->uniform, largest * sizeof(uint32_t), 0) != 0 ||
        lab_alloc(lab, &data->one_bin, ONE_BIN * sizeof(uint32_t), ONE_VALUE) != 0 ||
        lab_alloc(lab, &data->bins, BYTES, 0) != 0)
        return -1;
    if (!lab->launching_only && ladder_fill(lab, data->uniform, largest, ladder_hash) != 0)
        return -1;
    for (int clusters = 0; clusters < 2; clusters++) {
        struct lab_point *one = add(lab, clusters, false, 1), *ragged = add(lab, clusters, false, RAGGED);
        struct lab_point *uniform = add(lab, clusters, false, LARGEST), *hot = add(lab, clusters, true, ONE_BIN);
        if (!one || !ragged || !uniform || !hot)
            return -1;
        uniform->timed = hot->timed = true;
        uniform->too_large = hot->too_large = lab->simulated;
    }
    return 0;
}

/* ---- results -------------------------------------------------------------------------------------- */

static int large_prepare(struct lab *lab, struct lab_point *point) {
    const struct large_data *data = lab->data;
    (void)point;
    GPU_TRY(&lab->gpu, cuMemsetD8Async, data->bins, 0, BYTES, lab->gpu.stream);
    return 0;
}

static int large_check(struct lab *lab, struct lab_point *point) {
    const struct large_data *data = lab->data;
    const size_t at = ladder_index(lab, point);
    const uint32_t count = data->of_point[at].count;
    if (lab_download(lab, data->counted, data->bins, BYTES) != 0)
        return -1;
    memset(data->expected, 0, BYTES);
    for (uint32_t k = 0; k < count; k++)
        data->expected[HISTOGRAM_LARGE_BIN(data->of_point[at].one_bin ? ONE_VALUE * 0x01010101u : ladder_hash(k))]++;
    lab_correct(point);
    for (uint32_t b = 0; b < HISTOGRAM_LARGE_BINS && point->result == LAB_CORRECT; b++) {
        if (data->counted[b] != data->expected[b])
            lab_wrong(point, "bin %u of %u values has %u, not %u", b, count, data->counted[b], data->expected[b]);
    }
    return 0;
}

static int large_conclude(struct lab *lab) {
    char size[32], hot[32];
    snprintf(size, sizeof size, "uniform %u", LARGEST);
    snprintf(hot, sizeof hot, "one bin %u", ONE_BIN);
    const double global = ladder_gbs(lab, "global", size), cluster = ladder_gbs(lab, "cluster", size);
    const double global_hot = ladder_gbs(lab, "global", hot), cluster_hot = ladder_gbs(lab, "cluster", hot);
    lab_claim(lab, fabs(cluster / global - 1) < 0.1, true,
              "uniform values: bins spread over a cluster are as fast as atomics on L2, %.0f and %.0f GB/s", cluster,
              global);
    lab_claim(lab, cluster_hot >= 10 * global_hot, true,
              "all values in one bin: the cluster is %.0f times as fast, %.0f and %.1f GB/s, for each has a bin of its "
              "own",
              cluster_hot / global_hot, cluster_hot, global_hot);
    return 0;
}

static void large_teardown(struct lab *lab) {
    struct large_data *data = lab->data;
    if (data) {
        free(data->counted);
        free(data->expected);
    }
}

const struct lab_experiment histogram_large = {
    .name = "histogram-large",
    .title = "Histogram of 131072 bins",
    .question = "When the bins outgrow an SM, is a cluster's shared memory a better place for them than L2?",
    .page = "clusters",
    .hopper = true,
    .setup = large_setup,
    .prepare = large_prepare,
    .check = large_check,
    .conclude = large_conclude,
    .teardown = large_teardown,
};
