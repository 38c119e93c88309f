/* SPDX-License-Identifier: Apache-2.0 */
/* multicast: the CTAs of a cluster share their loads. Sectors read from L2 against sectors received. */
#include <math.h>
#include <stdio.h>

#include "lab/tma_stream.h"

enum { SECTOR = 32 };

static const uint32_t clusters[] = {1, 2, 4, 8};
enum { CLUSTERS = sizeof clusters / sizeof *clusters };

/* Loads of their own: SMs that ask for the same lines at the same time may be answered by one read, and nothing says
 * how often that happens; from once a cluster to once a CTA all is possible. NaN: no prediction. */
static double predicted_of_l2(double received, uint32_t cluster, uint32_t multicast) {
    return multicast || cluster == 1 ? received / cluster : NAN;
}

static int add(struct lab *lab, uint32_t cluster, uint32_t multicast) {
    const struct stream_shot shot = {.cluster = cluster, .multicast = multicast, .pitch = STREAM_ROW_BYTES};
    char label[64], change[200];
    snprintf(label, sizeof label, "%u CTA%s, %s", cluster, cluster > 1 ? "s" : "",
             multicast ? "multicast" : "each for itself");
    snprintf(change, sizeof change,
             multicast
                 ? "each CTA loads 1/%u of a box for all: L2 is read once a cluster"
                 : "clusters of %u want the same boxes, and every CTA loads all of them: L2 is read once a CTA at most",
             cluster);
    struct lab_point *point = stream_add(lab, &shot, label, change);
    if (!point)
        return -1;
    /* The received sectors also hold the tensor map that each SM fetches; those read, the constants and the code. */
    const double received = stream_delivered(lab) / SECTOR;
    lab_quantity(point, "sectors received", LAB_SECTORS_TMA_LD, received, 0.005);
    lab_quantity(point, "sectors read of L2", STREAM_READ, predicted_of_l2(received, cluster, multicast), 0.02);
    return 0;
}

static int setup(struct lab *lab) {
    if (stream_open(lab, STREAM_ROW_BYTES) != 0)
        return -1;
    for (size_t i = 0; i < CLUSTERS; i++) {
        if (add(lab, clusters[i], 0) != 0 || (clusters[i] > 1 && add(lab, clusters[i], 1) != 0))
            return -1;
    }
    return 0;
}

/* What was counted, where counters were read. */
static void claim_reads(struct lab *lab, const struct lab_point *alone, const struct lab_point *shared,
                        uint32_t cluster) {
    const double once = stream_delivered(lab) / SECTOR / cluster;
    const double alone_reads = lab_counted(alone, "sectors read of L2");
    const double shared_reads = lab_counted(shared, "sectors read of L2");
    lab_claim(lab, fabs(shared_reads / once - 1) < 0.02, false,
              "Multicast to %u CTAs reads every sector of L2 once a cluster, %.0f sectors, and delivers it %u times.",
              cluster, shared_reads, cluster);
    lab_claim(lab, alone_reads > 0.98 * once && alone_reads < 1.02 * once * cluster, false,
              "%u CTAs that load for themselves read L2 %.2f times as often, %.0f sectors, where %u times would be one "
              "read a "
              "CTA: one read may answer several SMs that ask for the same lines at the same time.",
              cluster, alone_reads / shared_reads, alone_reads, cluster);
}

static int conclude(struct lab *lab) {
    for (size_t i = 1; i < CLUSTERS; i++) {
        const struct lab_point *alone = &lab->points[2 * i - 1], *shared = &lab->points[2 * i];
        if (lab->has_counts)
            claim_reads(lab, alone, shared, clusters[i]);
        lab_claim(lab, lab_gbs(shared) > 0.98 * lab_gbs(alone), true,
                  "Multicast to %u CTAs delivers at least as much: %.0f GB/s, and %.0f GB/s with loads of their own.",
                  clusters[i], lab_gbs(shared), lab_gbs(alone));
    }
    return 0;
}

const struct lab_experiment cluster_multicast = {
    .name = "multicast",
    .title = "Multicast to the CTAs of a cluster",
    .question = "What does multicast save: bytes out of L2, bytes into the SMs, or time?",
    .page = "clusters",
    .hopper = true,
    .setup = setup,
    .prepare = stream_prepare,
    .check = stream_check,
    .conclude = conclude,
    .teardown = stream_close,
};
