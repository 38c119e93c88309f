/* SPDX-License-Identifier: Apache-2.0 */
/* wgmma-tile: the same tile in none, 32B, 64B and 128B, and everything else equal (ptx/wgmma_tile.ptx). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/cuda_abi.h"
#include "lab/lab.h"
#include "bench/measure/operands.h"

enum { A_ROWS = 64, B_ROWS = 128, K = 64, K_STEPS = 4, NARROW = 32, TURNS = 1000, LOADS = 100, MODES = 4 };

/* What a launch leaves in global memory. */
struct tile_result {
    uint64_t cycles, load_cycles;
    uint32_t never, unused[11];
    float d[A_ROWS][B_ROWS];
};

enum task { MULTIPLY_WIDE, MULTIPLY_NARROW, LOAD, TASKS };

struct tile_study {
    CUdeviceptr a, b, result;
    uint16_t a_values[A_ROWS][K], b_values[B_ROWS][K]; /* bf16 */
    enum task tasks[LAB_POINTS_MAX];
    struct tile_result fetched;
};

static const char *const mode_names[MODES] = {"none", "32B", "64B", "128B"};

/* ---- operands ------------------------------------------------------------------------------------- */

static int small_number(uint32_t row, uint32_t k) {
    return (int)((row * 7 + k * 11 + row * k) % 5) - 2;
}

/* B's numbers are another part of the same sequence. */
enum { B_SHIFT = 3 };

static float predicted_d(uint32_t m, uint32_t n, uint32_t turns) {
    int sum = 0;
    for (uint32_t k = 0; k < K; k++)
        sum += small_number(m, k) * small_number(n + B_SHIFT, k);
    return (float)sum * (float)turns;
}

static int fill_operands(struct lab *lab, struct tile_study *study) {
    for (uint32_t row = 0; row < B_ROWS; row++) {
        for (uint32_t k = 0; k < K; k++) {
            if (row < A_ROWS)
                study->a_values[row][k] = operands_to_bf16((float)small_number(row, k));
            study->b_values[row][k] = operands_to_bf16((float)small_number(row + B_SHIFT, k));
        }
    }
    if (lab_alloc(lab, &study->a, sizeof study->a_values, 0) != 0 ||
        lab_alloc(lab, &study->b, sizeof study->b_values, 0) != 0 ||
        lab_alloc(lab, &study->result, sizeof study->fetched, 0) != 0 ||
        lab_upload(lab, study->a, study->a_values, sizeof study->a_values) != 0)
        return -1;
    return lab_upload(lab, study->b, study->b_values, sizeof study->b_values);
}

/* ---- one operand in one mode ---------------------------------------------------------------------- */

/* Without a swizzle a box is one column of core matrices, 8 elements wide; with one, a box is as wide as the span. */
struct side {
    struct lab_map map;
    uint32_t steps[K_STEPS]; /* where k step i begins, in units of 16 bytes */
    uint64_t descriptor;
};

static int make_side(struct lab *lab, enum gm_swizzle_mode mode, CUdeviceptr address, uint32_t rows,
                     struct side *side) {
    const uint32_t span = gm_swizzle_span_bytes(mode), box_bytes = rows * span;
    const struct gm_tensor_map_request map = {.size = sizeof map,
                                              .type = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
                                              .rank = 2,
                                              .address = address,
                                              .dims = {K, rows},
                                              .strides = {K * 2},
                                              .box = {span / 2, rows},
                                              .swizzle = mode};
    const struct gm_matrix_descriptor descriptor = {.size = sizeof descriptor,
                                                    .leading_bytes = mode == GM_SWIZZLE_NONE ? box_bytes : 0,
                                                    .stride_bytes = 8 * span,
                                                    .swizzle = mode};
    for (uint32_t step = 0; step < K_STEPS; step++) {
        const uint32_t byte = step * 32;
        side->steps[step] = (byte / span * box_bytes + byte % span) / 16;
    }
    if (lab_tensor_map(lab, &map, &side->map) != 0)
        return -1;
    enum gm_status status = gm_matrix_descriptor_encode(&descriptor, &side->descriptor);
    return status == GM_OK ? 0 : gpu_fail_library(status, "gm_matrix_descriptor_encode");
}

/* ---- points --------------------------------------------------------------------------------------- */

/* A core matrix, 8 rows of 16 bytes, is one wavefront; k 16 of 64 rows is 16 of them. The tensor core takes N / 2
 * cycles for an instruction: 2048 multiplications a cycle and SM, 64 * N * 16 of them. */
static void predict(struct lab_point *point, uint32_t columns) {
    const double instructions = (double)TURNS * K_STEPS, wavefronts = 16 + columns / 4.0, math = columns / 2.0;
    lab_quantity(point, "conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_gmma.sum", 0, 0);
    lab_quantity(point, "wavefronts", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_gmma.sum",
                 instructions * wavefronts, 0);
    point->cycles_predicted = instructions * fmax(wavefronts, math);
    point->cycles_tolerance = 0.15;
}

static int add_point(struct lab *lab, enum gm_swizzle_mode mode, enum task task) {
    static const struct {
        const char *name, *change;
        uint32_t turns, loads, narrow;
    } tasks[TASKS] = {
        {"m64n128k16", "the tensor core takes longer than the reads", TURNS, 1, 0},
        {"m64n32k16", "the reads take longer than the tensor core", TURNS, 1, 1},
        {"TMA load", "24 KB, again and again: the narrower the box, the more of them", 1, LOADS, 0},
    };
    struct tile_study *study = lab->data;
    const uint32_t box_elements = gm_swizzle_span_bytes(mode) / 2;
    struct side a, b;
    char label[sizeof((struct lab_point *)0)->label];
    snprintf(label, sizeof label, "%s, %s", tasks[task].name, mode_names[mode]);
    struct lab_point *point = lab_add(lab, label, tasks[task].change);
    if (!point || make_side(lab, mode, study->a, A_ROWS, &a) != 0 || make_side(lab, mode, study->b, B_ROWS, &b) != 0)
        return -1;
    study->tasks[point - lab->points] = task;
    lab_kernel(point, "wgmma_tile", "lab_wgmma_tile", 1, 128);
    point->launch.shared_bytes = (A_ROWS + B_ROWS) * K * 2 + 1024;
    LAB_ARGUMENT(point, a.map);
    LAB_ARGUMENT(point, b.map);
    LAB_ARGUMENT(point, a.steps);
    LAB_ARGUMENT(point, b.steps);
    LAB_ARGUMENT(point, a.descriptor);
    LAB_ARGUMENT(point, b.descriptor);
    LAB_ARGUMENT(point, study->result);
    LAB_ARGUMENT(point, box_elements);
    LAB_ARGUMENT(point, tasks[task].loads);
    LAB_ARGUMENT(point, tasks[task].turns);
    LAB_ARGUMENT(point, tasks[task].narrow);
    point->clock = study->result + (task == LOAD ? offsetof(struct tile_result, load_cycles) : 0);
    if (task == LOAD) /* TMA does not go through the unit that these counters watch */
        lab_quantity(point, "conflicts of all kinds", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", 0, 0);
    else
        predict(point, task == MULTIPLY_NARROW ? NARROW : B_ROWS);
    return 0;
}

static int setup(struct lab *lab) {
    struct tile_study *study = calloc(1, sizeof *study);
    lab->data = study;
    if (!study)
        return complain("out of host memory");
    if (fill_operands(lab, study) != 0)
        return -1;
    for (int task = 0; task < TASKS; task++) {
        for (int mode = GM_SWIZZLE_NONE; mode <= GM_SWIZZLE_128B; mode++) {
            if (add_point(lab, (enum gm_swizzle_mode)mode, (enum task)task) != 0)
                return -1;
        }
    }
    return 0;
}

/* ---- the result ----------------------------------------------------------------------------------- */

static int prepare(struct lab *lab, struct lab_point *point) {
    struct tile_study *study = lab->data;
    (void)point;
    memset(&study->fetched, 0xff, sizeof study->fetched);
    return lab_upload(lab, study->result, &study->fetched, sizeof study->fetched);
}

static int check(struct lab *lab, struct lab_point *point) {
    struct tile_study *study = lab->data;
    const enum task task = study->tasks[point - lab->points];
    const uint32_t columns = task == MULTIPLY_NARROW ? NARROW : B_ROWS, turns = task == LOAD ? 1 : TURNS;
    if (lab_download(lab, &study->fetched, study->result, sizeof study->fetched) != 0)
        return -1;
    if (study->fetched.never) {
        lab_wrong(point, "a TMA load never completed");
        return 0;
    }
    for (uint32_t i = 0; i < A_ROWS * columns; i++) {
        const uint32_t m = i / columns, n = i % columns;
        if (study->fetched.d[m][n] != predicted_d(m, n, turns)) {
            lab_wrong(point, "D[%u][%u] is %g, not %g", m, n, (double)study->fetched.d[m][n],
                      (double)predicted_d(m, n, turns));
            return 0;
        }
    }
    lab_correct(point);
    return 0;
}

/* ---- conclusions ---------------------------------------------------------------------------------- */

static double spread(const struct lab *lab, enum task task) {
    double least = INFINITY, most = 0;
    for (int mode = 0; mode < MODES; mode++) {
        const double cycles = lab->points[(int)task * MODES + mode].cycles;
        least = fmin(least, cycles);
        most = fmax(most, cycles);
    }
    return most / least;
}

static int conclude(struct lab *lab) {
    const struct lab_point *load = &lab->points[LOAD * MODES];
    double conflicts = 0;
    for (int i = 0; i < LOAD * MODES; i++)
        conflicts += lab_counted(&lab->points[i], "conflicts");
    if (lab->has_counts)
        lab_claim(lab, conflicts == 0, false,
                  "WGMMA reads its operands without conflicts in every mode: %.0f are counted in all.", conflicts);
    lab_claim(
        lab, spread(lab, MULTIPLY_WIDE) < 1.03 && spread(lab, MULTIPLY_NARROW) < 1.03, true,
        "So to WGMMA all modes are alike: the slowest takes %.3f times as long as the fastest at N = 128, %.3f times "
        "where the reads are the limit.",
        spread(lab, MULTIPLY_WIDE), spread(lab, MULTIPLY_NARROW));
    lab_claim(
        lab, load[GM_SWIZZLE_128B].cycles < load[GM_SWIZZLE_NONE].cycles, true,
        "It is TMA that wants wide rows: %.0f cycles a load without a swizzle, %.0f, %.0f and %.0f in the modes 32B, "
        "64B and 128B.",
        load[0].cycles / LOADS, load[1].cycles / LOADS, load[2].cycles / LOADS, load[3].cycles / LOADS);
    return 0;
}

const struct lab_experiment wgmma_tile = {
    .name = "wgmma-tile",
    .title = "One tile in four swizzle modes",
    .question = "Which swizzle mode should a tile have, everything else being equal?",
    .page = "wgmma-descriptors",
    .hopper = true,
    .setup = setup,
    .prepare = prepare,
    .check = check,
    .conclude = conclude,
};
