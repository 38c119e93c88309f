/* SPDX-License-Identifier: Apache-2.0 */
/* What the attention ladder's numbers say together: which step is faster than which, and why. */
#include <math.h>

#include "lab/attention_ladder.h"
#include "lab/kernels/attention.h"

/* Times that differ by no more than this count as equal. */
#define NOISE 0.97

/* The kernels of a step, which run one after another, and the step that it is held against, by its number. */
static const struct step {
    const char *name;
    int count;
    enum attention_kernel kernels[3];
    int before;
} steps[] = {
    {"naive", 3, {ATTENTION_NAIVE_SCORES, ATTENTION_SOFTMAX, ATTENTION_NAIVE_VALUES}, 0},
    {"tiled", 3, {ATTENTION_TILED_SCORES, ATTENTION_SOFTMAX, ATTENTION_TILED_VALUES}, 0},
    {"padded", 3, {ATTENTION_PADDED_SCORES, ATTENTION_SOFTMAX, ATTENTION_TILED_VALUES}, 1},
    {"registers", 3, {ATTENTION_REGISTER_SCORES, ATTENTION_SOFTMAX, ATTENTION_REGISTER_VALUES}, 2},
    {"online 64 x 64", 1, {ATTENTION_ONLINE_64X64}, 3},
    {"online 128 x 64", 1, {ATTENTION_ONLINE_128X64}, 4},
    {"online 128 x 128", 1, {ATTENTION_ONLINE_128X128}, 5},
    {"WGMMA", 1, {ATTENTION_WGMMA}, 5},
};
enum { STEPS = sizeof steps / sizeof *steps, REGISTERS = 3, ONLINE = 4, LARGE = 6, TENSOR = 7 };

/* ---- a step's numbers; NaN: not all of its kernels have them --------------------------------------- */

static double microseconds(struct lab *lab, const struct step *step) {
    double sum = 0;
    for (int i = 0; i < step->count; i++) {
        const struct lab_point *point = attention_point(lab, step->kernels[i], ATTENTION_TIMED);
        sum += point ? point->us : NAN;
    }
    return sum;
}

/* To and from memory. */
static double bytes_of(struct lab *lab, const struct step *step) {
    double sum = 0;
    for (int i = 0; i < step->count; i++) {
        const struct lab_point *point = attention_point(lab, step->kernels[i], ATTENTION_TIMED);
        sum += point ? lab_counted(point, ATTENTION_READ) + lab_counted(point, ATTENTION_WRITTEN) : NAN;
    }
    return sum;
}

/* Per cent of the time that shared memory's pipe, a wavefront a clock on each SM, needs for the step's loads and
 * stores. */
static double busy(struct lab *lab, const struct step *step) {
    const struct attention_size *size = &attention_sizes[ATTENTION_TIMED];
    double wavefronts = 0, clock = NAN;
    for (int i = 0; i < step->count; i++) {
        const struct lab_point *point = attention_point(lab, step->kernels[i], ATTENTION_TIMED);
        const struct attention_counts counts = attention_predict(step->kernels[i], size->heads, size->tokens);
        wavefronts += isnan(counts.load.all) ? 0 : counts.load.all + counts.store.all;
        clock = point ? point->sm_mhz : NAN;
    }
    return 100 * wavefronts / lab->gpu.device.sm_count / clock / microseconds(lab, step);
}

/* ---- claims --------------------------------------------------------------------------------------- */

/* Every step is faster than the one that it is held against, but for the largest tiles. */
static void claim_order(struct lab *lab) {
    for (int i = 1; i < STEPS; i++) {
        const struct step *step = &steps[i], *before = &steps[step->before];
        const double us = microseconds(lab, step), ratio = microseconds(lab, before) / us;
        const double tflops = 2e-6 * attention_product_flops() / us;
        if (isnan(us))
            continue;
        if (i == TENSOR)
            lab_claim(lab, ratio > 1 / NOISE, true, "%s: %.1f times the speed of %s, %.0f TFLOPS", step->name, ratio,
                      before->name, tflops);
        else if (i == LARGE)
            lab_claim(
                lab, ratio < 1 / NOISE, true,
                "%s, one CTA an SM, gains nothing: %.2f times the speed of %s, %.1f TFLOPS, although shared memory "
                "is busy for %.0f %% of the time instead of %.0f %%",
                step->name, ratio, before->name, tflops, busy(lab, step), busy(lab, before));
        else
            lab_claim(lab, ratio > 1 / NOISE, true,
                      "%s: %.2f times the speed of %s, %.1f TFLOPS; shared memory is busy for %.0f %% of the time",
                      step->name, ratio, before->name, tflops, busy(lab, step));
    }
}

/* Wavefronts counted beyond those that the kernel's loads and stores would need without bank conflicts; 0: this GPU has
 * no such kernel. */
static double conflicts(struct lab *lab, enum attention_kernel which) {
    const struct attention_size *size = &attention_sizes[ATTENTION_COUNTED];
    const struct lab_point *point = attention_point(lab, which, ATTENTION_COUNTED);
    const struct attention_counts counts = attention_predict(which, size->heads, size->tokens);
    if (!point)
        return 0;
    return lab_counted(point, ATTENTION_LOADS) - counts.load.ideal + lab_counted(point, ATTENTION_STORES) -
           counts.store.ideal;
}

static void claim_conflicts(struct lab *lab) {
    const double tiled = conflicts(lab, ATTENTION_TILED_SCORES), padded = conflicts(lab, ATTENTION_PADDED_SCORES);
    double others = 0;
    for (int i = ATTENTION_TILED_VALUES; i < ATTENTION_WGMMA; i++)
        others += conflicts(lab, i);
    lab_claim(
        lab, tiled > 0 && padded == 0 && others == 0, false,
        "tiled: %.0f wavefronts more than without bank conflicts, all of them reads of k; padded: %.0f more, and %.0f "
        "in all kernels behind it",
        tiled, padded, others);
}

/* Scores are written and read, and so are weights: all but what L2 holds of them. The online softmax moves q, k, v and
 * out alone; twice that is for what else the memory is asked for. */
static void claim_traffic(struct lab *lab) {
    const struct attention_size *size = &attention_sizes[ATTENTION_TIMED];
    const double rows = (double)size->heads * size->tokens, scores = 4 * rows * size->tokens;
    const double operands = 4 * rows * ATTENTION_ROW_BYTES, l2 = (double)lab->gpu.device.l2_bytes;
    const double before = bytes_of(lab, &steps[REGISTERS]), online = bytes_of(lab, &steps[ONLINE]);
    lab_claim(lab, before > 4 * (scores - l2) && online < 2 * operands, false,
              "registers moves %.0f MB to and from memory, online 64 x 64 %.0f MB; q, k, v and out are %.0f MB",
              before * 1e-6, online * 1e-6, operands * 1e-6);
}

int attention_conclude(struct lab *lab) {
    if (lab->has_counts) {
        claim_conflicts(lab);
        claim_traffic(lab);
    }
    claim_order(lab);
    const struct lab_point *library = attention_point(lab, ATTENTION_KERNELS, ATTENTION_TIMED);
    const struct lab_point *last = attention_point(lab, ATTENTION_WGMMA, ATTENTION_TIMED);
    if (library && last)
        lab_claim(lab, library->us < 1.15 * last->us && last->us < 1.15 * library->us, true,
                  "WGMMA reaches %.0f %% of the library's operation: %.0f of %.0f TFLOPS", 100 * library->us / last->us,
                  lab_tflops(last), lab_tflops(library));
    return 0;
}
