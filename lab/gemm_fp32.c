/* SPDX-License-Identifier: Apache-2.0 */
/* The fp32 GEMM ladder: eleven steps from one thread an element to warp tiles, beside cuBLASLt. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/baseline/baseline.h"
#include "lab/gemm_matrices.h"
#include "lab/gemm_model.h"
#include "lab/gemm_peak.h"

#define ELEMENTS  "gemm_fp32_elements"
#define REGISTERS "gemm_fp32_registers"
#define ASYNC     "gemm_fp32_async"

#define LOADS  "load wavefronts"
#define STORES "store wavefronts"

/* `article`: percent of cuBLAS that the step of an A6000's well-known ladder reached; 0: it has no such step. */
struct step {
    const char *label, *module, *kernel;
    unsigned rows, columns, block_x, block_y; /* of C, and threads, a CTA */
    double article;
    const char *change;
};

static const struct step steps[GEMM_STEPS] = {
    [GEMM_NAIVE] =
        {"naive", ELEMENTS, "lab_gemm_naive", 32, 32, 32, 32, 1.3,
         "One thread an element, a warp down a column of C: every lane reads another row of A, 32 sectors for "
         "32 words."},
    [GEMM_COALESCED] =
        {"coalesced", ELEMENTS, "lab_gemm_coalesced", 32, 32, 32, 32, 8.5,
         "A warp runs along a row of C: its lanes share one word of A and read neighbours of B, 5 sectors "
         "instead of 33."},
    [GEMM_TILED] = {"tiled", ELEMENTS, "lab_gemm_tiled", 32, 32, 32, 32, 12.8,
                    "Tiles of 32 x 32 pass through shared memory: every element is fetched once for 32 multiplications "
                    "instead of once for each (or for a warp's)."},
    [GEMM_TRANSPOSED] =
        {"transposed", ELEMENTS, "lab_gemm_transposed", 32, 32, 32, 32, 0,
         "A's tile is stored by columns, as register tiles will want it: a warp writes 32 words into one "
         "bank, 32 wavefronts for one."},
    [GEMM_PADDED] = {"padded", ELEMENTS, "lab_gemm_padded", 32, 32, 32, 32, 0,
                     "One more word a row of that tile puts the 32 words into 32 banks: no conflicts left."},
    [GEMM_1D] =
        {"1D tile", REGISTERS, "lab_gemm_1d", 64, 64, GEMM_1D_THREADS, 1, 36.5,
         "8 rows of a column a thread: a word of B read once serves 8 multiplications, and a tile of 64 fetches "
         "half as much."},
    [GEMM_2D] = {"2D tile", REGISTERS, "lab_gemm_2d", 128, 128, GEMM_2D_THREADS, 1, 68.7,
                 "8 x 8 elements a thread: 16 words read serve 64 multiplications instead of 9 serving 8."},
    [GEMM_VECTORISED] =
        {"vectorised", REGISTERS, "lab_gemm_vectorised", 128, 128, GEMM_2D_THREADS, 1, 78.4,
         "The same words in float4: a quarter of the load and store instructions. Four words of pad a row "
         "keep A's transposition free of conflicts and its rows on 16 bytes."},
    [GEMM_DOUBLE_BUFFER] = {"double buffer", REGISTERS, "lab_gemm_double_buffer", 128, 128, GEMM_2D_THREADS, 1, 0,
                            "The next k-block is fetched into registers while this one is multiplied, and lands in a "
                            "second buffer: latency hidden, one barrier instead of two."},
    [GEMM_CP_ASYNC] =
        {"cp.async", ASYNC, "lab_gemm_cp_async", 128, 128, GEMM_2D_THREADS, 1, 0,
         "cp.async fills a ring of three stages, past the registers and two k-blocks ahead: B 16 bytes at a time, A "
         "word by word, since only so can it turn A's tile."},
    [GEMM_WARP_TILE] =
        {"warp tile", ASYNC, "lab_gemm_warp_tile", 128, GEMM_WARP_COLUMNS, GEMM_2D_THREADS, 1, 93.7,
         "64 x 64 elements a warp, 8 x 16 a thread: 24 words serve 128 multiplications instead of 16 serving 64, and "
         "are read while those before are multiplied. 128 x 256 elements a CTA: A is copied half as often."},
};

/* Ragged ones first: every step must be exact at all of them. */
enum { SIZES = 6, COUNTED = 4, TIMED = 5 };
static const int sizes[SIZES][3] = {{70, 70, 70}, {1, 1, 1},       {129, 257, 65},
                                    {131, 66, 1}, {512, 512, 512}, {4096, 4096, 4096}};
/* Whole tiles of every step: what a simulated GPU counts instead, unless it stands beside a real one. */
static const int counted_if_simulated[3] = {256, 256, 256};

struct gemm_data {
    struct gemm_matrices sizes[SIZES];
    int size_of[LAB_POINTS_MAX]; /* of every point */
    struct baseline cublaslt;
    void *prepared; /* the timed problem, for cuBLASLt; NULL: there is none */
};

/* ---- points --------------------------------------------------------------------------------------- */

static void set_work(struct lab_point *point, int size) {
    const int *s = sizes[size];
    point->timed = size == TIMED;
    if (point->timed)
        point->flops = 2.0 * s[0] * s[1] * s[2];
}

/* Too large for the simulated GPU. */
static bool is_left_out(const struct lab *lab, int size) {
    return lab->simulated && size == TIMED;
}

/* What the step does not have is not asked for. */
static void expect(struct lab_point *point, const char *name, const char *metric, double predicted) {
    if (!isnan(predicted))
        lab_quantity(point, name, metric, predicted, 0);
}

static int add_step(struct lab *lab, enum gemm_step which, int size) {
    struct gemm_data *data = lab->data;
    const struct step *step = &steps[which];
    const struct gemm_fp32 *problem = &data->sizes[size].problem;
    char label[64];
    snprintf(label, sizeof label, size == TIMED ? "%s" : "%s, %d x %d x %d", step->label, problem->m, problem->n,
             problem->k);
    struct lab_point *point = lab_add(lab, label, size == TIMED ? step->change : "");
    if (!point)
        return -1;
    data->size_of[point - lab->points] = size;
    lab_kernel(point, step->module, step->kernel, ((unsigned)problem->n + step->columns - 1) / step->columns,
               step->block_x);
    point->launch.grid[1] = ((unsigned)problem->m + step->rows - 1) / step->rows;
    point->launch.block[1] = step->block_y;
    LAB_ARGUMENT(point, *problem);
    set_work(point, size);
    point->too_large = is_left_out(lab, size);
    if (size == TIMED)
        gemm_peak_add(lab, point);
    if (size == COUNTED) {
        const struct gemm_counts counts = gemm_predict(which, problem->m);
        expect(point, "load sectors", LAB_SECTORS_LD, counts.sectors);
        expect(point, LOADS, LAB_EXACT_WAVEFRONTS_LD, counts.load.all);
        expect(point, STORES, LAB_EXACT_WAVEFRONTS_ST, counts.store.all);
    }
    return 0;
}

/* cuBLASLt's own first choice, in fp32 throughout: no TF32. */
static int run_baseline(struct lab *lab, const struct lab_point *point) {
    (void)point;
    struct gemm_data *data = lab->data;
    const struct gemm_fp32 *problem = &data->sizes[TIMED].problem;
    const struct gm_gemm_args args = {.size = sizeof args,
                                      .a = (gm_device_ptr)(uintptr_t)problem->a,
                                      .b = (gm_device_ptr)(uintptr_t)problem->b,
                                      .d = (gm_device_ptr)(uintptr_t)problem->c};
    int status = baseline_cublaslt.run(&data->cublaslt, data->prepared, 0, &args, lab->gpu.stream);
    return status == 0 ? 0 : complain("cuBLASLt failed with status %d", status);
}

static int add_baseline(struct lab *lab) {
    struct gemm_data *data = lab->data;
    const struct gemm_fp32 *problem = &data->sizes[TIMED].problem;
    const struct gm_gemm_problem gemm = {.size = sizeof gemm,
                                         .m = problem->m,
                                         .n = problem->n,
                                         .k = problem->k,
                                         .ab_type = GM_FP32,
                                         .d_type = GM_FP32,
                                         .a_major = GM_K_MAJOR,
                                         .b_major = GM_MN_MAJOR,
                                         .lda = problem->a_pitch,
                                         .ldb = problem->b_pitch,
                                         .ldd = problem->c_pitch};
    int ways;
    if (lab->launching_only || lab->simulated || baseline_cublaslt.open(&data->cublaslt, &lab->gpu, NULL) != 0)
        return 0; /* said by now: the ladder stands alone */
    data->prepared = baseline_cublaslt.prepare(&data->cublaslt, &gemm, &ways);
    if (!data->prepared)
        return 0;
    struct lab_point *point = lab_add(lab, "cuBLAS", "cuBLASLt's own first choice, in fp32: no TF32.");
    if (!point)
        return -1;
    data->size_of[point - lab->points] = TIMED;
    point->run = run_baseline;
    set_work(point, TIMED);
    gemm_peak_add(lab, point);
    return 0;
}

static int gemm_setup(struct lab *lab) {
    struct gemm_data *data = lab->data = calloc(1, sizeof *data);
    if (!data)
        return complain("out of host memory");
    for (int i = 0; i < SIZES; i++) {
        const int *s = i == COUNTED && lab->simulated && !lab->launching_only ? counted_if_simulated : sizes[i];
        if (is_left_out(lab, i))
            data->sizes[i].problem = (struct gemm_fp32){.m = s[0], .n = s[1], .k = s[2]};
        else if (gemm_matrices_make(lab, &data->sizes[i], s[0], s[1], s[2]) != 0)
            return -1;
    }
    for (int size = 0; size < SIZES; size++) {
        for (int step = 0; step < GEMM_STEPS; step++) {
            if (add_step(lab, step, size) != 0)
                return -1;
        }
    }
    return add_baseline(lab);
}

static const struct gemm_matrices *matrices_of(struct lab *lab, const struct lab_point *point) {
    struct gemm_data *data = lab->data;
    return &data->sizes[data->size_of[point - lab->points]];
}

static int gemm_prepare(struct lab *lab, struct lab_point *point) {
    return gemm_matrices_poison(lab, matrices_of(lab, point));
}

static int gemm_check(struct lab *lab, struct lab_point *point) {
    return gemm_matrices_check(lab, point, matrices_of(lab, point));
}

/* ---- conclusions ---------------------------------------------------------------------------------- */

static double rate(struct lab *lab, enum gemm_step step) {
    const struct lab_point *point = lab_find(lab, steps[step].label);
    return point ? lab_tflops(point) : NAN;
}

/* Times that differ by no more than this count as equal. */
#define NOISE 0.97

/* Each step against the one before, but for the tile that is turned and padded: that only shows what conflicts cost. */
static void claim_order(struct lab *lab) {
    static const enum gemm_step order[] = {GEMM_NAIVE,      GEMM_COALESCED,     GEMM_TILED,    GEMM_1D,       GEMM_2D,
                                           GEMM_VECTORISED, GEMM_DOUBLE_BUFFER, GEMM_CP_ASYNC, GEMM_WARP_TILE};
    for (size_t i = 1; i < sizeof order / sizeof *order; i++) {
        const struct step *step = &steps[order[i]], *before = &steps[order[i - 1]];
        const double ratio = rate(lab, order[i]) / rate(lab, order[i - 1]);
        if (step->article > 0 && before->article > 0)
            lab_claim(lab, ratio > NOISE, true, "%s: %.2f times the speed of %s (the ladder of an A6000: %.2f)",
                      step->label, ratio, before->label, step->article / before->article);
        else
            lab_claim(lab, ratio > NOISE, true, "%s: %.2f times the speed of %s", step->label, ratio, before->label);
    }
    const double pad = rate(lab, GEMM_PADDED) / rate(lab, GEMM_TRANSPOSED);
    lab_claim(lab, pad > 1, true,
              "padded: %.2f times the speed of transposed (an article on an A100: 3, 4 to 12 TFLOPS)", pad);
}

/* Wavefronts counted beyond those that the step's loads and stores would need without bank conflicts. */
static double conflicts(struct lab *lab, enum gemm_step step) {
    char label[64];
    const int *s = sizes[COUNTED];
    snprintf(label, sizeof label, "%s, %d x %d x %d", steps[step].label, s[0], s[1], s[2]);
    const struct lab_point *point = lab_find(lab, label);
    const struct gemm_counts counts = gemm_predict(step, s[0]);
    return lab_counted(point, LOADS) - counts.load.ideal + lab_counted(point, STORES) - counts.store.ideal;
}

static void claim_conflicts(struct lab *lab) {
    const double turned = conflicts(lab, GEMM_TRANSPOSED), padded = conflicts(lab, GEMM_PADDED);
    double others = 0;
    for (int i = GEMM_TILED; i < GEMM_STEPS; i++)
        others += i == GEMM_TRANSPOSED ? 0 : conflicts(lab, i);
    lab_claim(lab, turned > 0 && padded == 0, false,
              "transposed: %.0f wavefronts more than without bank conflicts; padded: %.0f more", turned, padded);
    lab_claim(lab, others == 0, false, "no other step with a tile has a bank conflict: %.0f wavefronts more", others);
}

static int gemm_conclude(struct lab *lab) {
    if (lab->has_counts)
        claim_conflicts(lab);
    gemm_peak_fill(lab);
    claim_order(lab);
    const struct lab_point *baseline = lab_find(lab, "cuBLAS");
    if (!baseline)
        return 0;
    const double whole = lab_tflops(baseline), last = rate(lab, GEMM_WARP_TILE);
    lab_claim(lab, last >= 0.85 * whole, true, "the last step reaches 85 %% of cuBLAS: %.1f of %.1f TFLOPS, %.1f %%",
              last, whole, 100 * last / whole);
    for (int i = 0; i < GEMM_STEPS; i++) {
        if (steps[i].article == 0)
            continue;
        lab_claim(lab, rate(lab, i) > 0, true, "%s: %.1f %% of cuBLAS (the ladder of an A6000: %.1f %%)",
                  steps[i].label, 100 * rate(lab, i) / whole, steps[i].article);
    }
    return 0;
}

/* Percent of cuBLAS. */
static double gemm_article(const char *step) {
    for (int i = 0; i < GEMM_STEPS; i++) {
        if (strcmp(steps[i].label, step) == 0 && steps[i].article > 0)
            return steps[i].article;
    }
    return NAN;
}

static void gemm_teardown(struct lab *lab) {
    struct gemm_data *data = lab->data;
    if (!data)
        return;
    for (int i = 0; i < SIZES; i++)
        gemm_matrices_free(&data->sizes[i]);
    if (data->prepared)
        baseline_cublaslt.forget(&data->cublaslt, data->prepared);
    baseline_cublaslt.close(&data->cublaslt, &lab->gpu);
}

const struct lab_experiment gemm_fp32 = {
    .name = "gemm-fp32",
    .title = "Matrix multiplication in fp32",
    .question = "How much of cuBLAS does each step of the well-known fp32 ladder reach, and what did it remove?",
    .page = "padding",
    .setup = gemm_setup,
    .prepare = gemm_prepare,
    .check = gemm_check,
    .conclude = gemm_conclude,
    .teardown = gemm_teardown,
    .article = gemm_article,
};
