/* SPDX-License-Identifier: Apache-2.0 */
/* The attention ladder: scores in global memory, tiles, registers, the online softmax, all of an SM's shared memory,
 * tensor cores; beside the library's operation `attention`, which came of it (docs/ATTENTION.md). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/cuda_abi.h"
#include "lab/attention_heads.h"
#include "lab/attention_ladder.h"
#include "lab/attention_library.h"
#include "lab/ladders.h"

#define ELEMENTS  "attention_elements"
#define REGISTERS "attention_registers"

#define DRAM_READ        "dram__bytes_read.sum"
#define DRAM_WRITTEN     "dram__bytes_write.sum"
#define WGMMA_WAVEFRONTS "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_gmma.sum"

/* Rows and, where a kernel's grid has them, tokens or columns of a CTA; 0: it takes all. */
static const struct kernel {
    const char *label, *module, *kernel;
    enum attention_result result;
    int rows, across, block_x, block_y;
    const char *change;
} kernels[ATTENTION_KERNELS] = {
    [ATTENTION_NAIVE_SCORES] =
        {"naive: scores", ELEMENTS, "lab_attention_naive_scores", ATTENTION_SCORES, 8, 32, 32, 8,
         "One thread a score: the lanes of a warp read 32 rows of k, 32 sectors for 32 elements."},
    [ATTENTION_SOFTMAX] =
        {"softmax", ELEMENTS, "lab_attention_softmax", ATTENTION_WEIGHTS, 8, 0, 32, 8,
         "One warp a row, which it reads three times. All scores pass through memory, there and back."},
    [ATTENTION_NAIVE_VALUES] = {"naive: values", ELEMENTS, "lab_attention_naive_values", ATTENTION_OUT, 8, 32, 32, 8,
                                "One thread an element: lanes read neighbours of v, 3 sectors for 33 words, but every "
                                "row reads all of v."},
    [ATTENTION_TILED_SCORES] =
        {"tiled: scores", ELEMENTS, "lab_attention_tiled_scores", ATTENTION_SCORES, 32, 32, 32, 32,
         "Tiles of 32 rows pass through shared memory; k is read down a column there, 8 lanes at "
         "a time in 4 banks."},
    [ATTENTION_PADDED_SCORES] = {"padded: scores", ELEMENTS, "lab_attention_padded_scores", ATTENTION_SCORES, 32, 32,
                                 32, 32, "Four words more a row of k's tile put the 8 lanes into 32 banks."},
    [ATTENTION_TILED_VALUES] = {"tiled: values", ELEMENTS, "lab_attention_tiled_values", ATTENTION_OUT, 32, 0, 32, 32,
                                "v is read along its rows: no pad."},
    [ATTENTION_REGISTER_SCORES] = {"registers: scores", REGISTERS, "lab_attention_register_scores", ATTENTION_SCORES,
                                   64, 64, 256, 1,
                                   "4 x 4 scores a thread: 8 loads of 16 bytes feed 64 FFMA, where 2 fed 4."},
    [ATTENTION_REGISTER_VALUES] = {"registers: values", REGISTERS, "lab_attention_register_values", ATTENTION_OUT, 64,
                                   0, 256, 1, "4 x 4 outputs a thread."},
    [ATTENTION_ONLINE_64X64] =
        {"online 64 x 64", REGISTERS, "lab_attention_online_64x64", ATTENTION_OUT, 64, 0, 256, 1,
         "The online softmax: both products and it in one kernel, block by block of tokens; scores "
         "never leave the SM."},
    [ATTENTION_ONLINE_128X64] =
        {"online 128 x 64", REGISTERS, "lab_attention_online_128x64", ATTENTION_OUT, 128, 0, 256, 1,
         "Twice the rows: k and v are fetched half as often, a word of them read serves 8 rows. "
         "Two CTAs an SM instead of three."},
    [ATTENTION_ONLINE_128X128] = {"online 128 x 128", REGISTERS, "lab_attention_online_128x128", ATTENTION_OUT, 128, 0,
                                  256, 1,
                                  "Twice the tokens: 170 KB of shared memory, fewer reads of it, and one CTA an "
                                  "SM, beside which nobody works while it waits."},
    [ATTENTION_WGMMA] = {"WGMMA", "attention_wgmma", "lab_attention_wgmma", ATTENTION_OUT, 64, 0, 128, 1,
                         "TMA and tensor cores: tiles stay bf16 and swizzled, weights stay in registers."},
};

const struct attention_size attention_sizes[ATTENTION_SIZES] = {{2, 384, 384}, {16, 4096, 16}};

struct ladder_data {
    struct attention_heads sizes[ATTENTION_SIZES];
    struct attention_library library;
    int kernel_of[LAB_POINTS_MAX], size_of[LAB_POINTS_MAX]; /* of every point; ATTENTION_KERNELS: the library */
};

/* ---- points --------------------------------------------------------------------------------------- */

/* Rows of all heads, 64 elements each. */
static int make_map(struct lab *lab, const struct attention_heads *heads, const uint16_t *from, int rows,
                    struct lab_map *map) {
    const struct gm_tensor_map_request request = {
        .size = sizeof request,
        .type = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
        .rank = 2,
        .address = (uint64_t)(uintptr_t)from,
        .dims = {ATTENTION_HEAD, (uint64_t)heads->heads * (uint64_t)heads->problem.tokens},
        .strides = {ATTENTION_ROW_BYTES},
        .box = {ATTENTION_HEAD, (uint32_t)rows},
        .swizzle = GM_SWIZZLE_128B,
        .l2_promotion = CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
    };
    return lab_tensor_map(lab, &request, map);
}

static int add_maps(struct lab *lab, struct lab_point *point, const struct attention_heads *heads) {
    const struct attention *p = &heads->problem;
    struct lab_map q, k, v;
    if (make_map(lab, heads, p->q, ATTENTION_WGMMA_ROWS, &q) != 0 ||
        make_map(lab, heads, p->k, ATTENTION_WGMMA_TOKENS, &k) != 0 ||
        make_map(lab, heads, p->v, ATTENTION_WGMMA_TOKENS, &v) != 0)
        return -1;
    LAB_ARGUMENT(point, q);
    LAB_ARGUMENT(point, k);
    LAB_ARGUMENT(point, v);
    return 0;
}

static int set_launch(struct lab *lab, struct lab_point *point, enum attention_kernel which,
                      const struct attention_heads *heads) {
    const struct kernel *kernel = &kernels[which];
    const int tokens = heads->problem.tokens, width = kernel->result == ATTENTION_OUT ? ATTENTION_HEAD : tokens;
    const unsigned rows = (unsigned)(tokens / kernel->rows);
    const unsigned across = kernel->across ? (unsigned)(width / kernel->across) : 1;
    lab_kernel(point, kernel->module, kernel->kernel, kernel->across ? across : rows, (unsigned)kernel->block_x);
    point->launch.grid[1] = kernel->across ? rows : 1;
    point->launch.grid[2] = (unsigned)heads->heads;
    point->launch.block[1] = (unsigned)kernel->block_y;
    point->launch.shared_bytes = attention_shared_bytes(which);
    if (which == ATTENTION_WGMMA && !point->too_large && add_maps(lab, point, heads) != 0)
        return -1;
    LAB_ARGUMENT(point, heads->problem);
    return 0;
}

const struct lab_point *attention_point(struct lab *lab, enum attention_kernel which, int size) {
    const struct ladder_data *data = lab->data;
    for (size_t i = 0; i < lab->point_count; i++)
        if (data->kernel_of[i] == (int)which && data->size_of[i] == size)
            return &lab->points[i];
    return NULL;
}

double attention_product_flops(void) {
    const struct attention_size *size = &attention_sizes[ATTENTION_TIMED];
    return 2.0 * size->heads * size->tokens * size->tokens * ATTENTION_HEAD;
}

/* What the kernel does not have is not asked for. */
static void expect(struct lab_point *point, const char *name, const char *metric, double predicted) {
    if (!isnan(predicted))
        lab_quantity(point, name, metric, predicted, 0);
}

/* What TMA brings stands as loads, and what wgmma reads. */
static void expect_counts(struct lab_point *point, enum attention_kernel which, int size) {
    const struct attention_counts counts =
        attention_predict(which, attention_sizes[size].heads, attention_sizes[size].tokens);
    expect(point, "load sectors", LAB_SECTORS_LD, counts.loaded);
    expect(point, "load sectors", LAB_SECTORS_TMA_LD, counts.received);
    expect(point, "store sectors", LAB_SECTORS_ST, counts.stored);
    expect(point, ATTENTION_LOADS, LAB_EXACT_WAVEFRONTS_LD, counts.load.all);
    expect(point, ATTENTION_STORES, LAB_EXACT_WAVEFRONTS_ST, counts.store.all);
    expect(point, ATTENTION_LOADS, WGMMA_WAVEFRONTS, counts.wgmma);
}

/* CTAs that an SM holds, by the driver; registers are bounded so that shared memory alone decides. */
static int expect_occupancy(struct lab *lab, struct lab_point *point, enum attention_kernel which) {
    const struct gm_device *device = &lab->gpu.device;
    struct lab_launch launch = point->launch;
    unsigned ctas = 0;
    if (!attention_shared_bytes(which) || !ladder_is_hopper(lab) || lab->launching_only)
        return 0;
    launch.cluster[0] = 1;
    if (ladder_resident_clusters(lab, &launch, &ctas) != 0)
        return -1;
    lab_quantity(point, "CTAs an SM", NULL, attention_ctas_per_sm(which, (int)device->smem_per_sm_bytes), 0);
    struct lab_quantity *quantity = &point->quantities[point->quantity_count - 1];
    *(lab->simulated ? &quantity->simulated : &quantity->counted) = (double)ctas / device->sm_count;
    return 0;
}

static struct lab_point *add_point(struct lab *lab, int which, int size, const char *name, const char *change) {
    struct ladder_data *data = lab->data;
    char label[64];
    snprintf(label, sizeof label, size == ATTENTION_TIMED ? "%s" : "%s, %d x %d", name, attention_sizes[size].heads,
             attention_sizes[size].tokens);
    struct lab_point *point = lab_add(lab, label, size == ATTENTION_TIMED ? change : "");
    if (!point)
        return NULL;
    data->kernel_of[ladder_index(lab, point)] = which;
    data->size_of[ladder_index(lab, point)] = size;
    point->timed = size == ATTENTION_TIMED;
    point->too_large = lab->simulated && size == ATTENTION_TIMED;
    return point;
}

static bool does_both(enum attention_kernel which) {
    return which >= ATTENTION_ONLINE_64X64;
}

/* What a step moves to and from memory is counted once for the steps that move all scores. */
static int add_kernel(struct lab *lab, enum attention_kernel which, int size) {
    struct ladder_data *data = lab->data;
    struct lab_point *point = add_point(lab, which, size, kernels[which].label, kernels[which].change);
    if (!point || set_launch(lab, point, which, &data->sizes[size]) != 0)
        return -1;
    if (size == ATTENTION_COUNTED) {
        expect_counts(point, which, size);
        return expect_occupancy(lab, point, which);
    }
    if (which != ATTENTION_SOFTMAX)
        point->flops = (does_both(which) ? 2 : 1) * attention_product_flops();
    if (which != ATTENTION_SOFTMAX && which < ATTENTION_REGISTER_SCORES)
        return 0;
    lab_quantity(point, ATTENTION_READ, DRAM_READ, NAN, 0);
    lab_quantity(point, ATTENTION_WRITTEN, DRAM_WRITTEN, NAN, 0);
    return 0;
}

static int run_library(struct lab *lab, const struct lab_point *point) {
    struct ladder_data *data = lab->data;
    (void)point;
    return attention_library_run(lab, &data->library);
}

/* The ladder stands alone where there is none, as in a build that leaves kernels out. */
static int add_library(struct lab *lab) {
    struct ladder_data *data = lab->data;
    if (lab->launching_only || lab->simulated)
        return 0;
    if (attention_library_open(lab, &data->library, &data->sizes[ATTENTION_TIMED]) != 0)
        return -1;
    if (!data->library.plan)
        return 0;
    struct lab_point *point = add_point(lab, ATTENTION_KERNELS, ATTENTION_TIMED, "the library",
                                        "The operation `attention`: two warpgroups that take turns, so that one's "
                                        "products run under the other's exponentials.");
    if (!point)
        return -1;
    point->run = run_library;
    point->flops = 2 * attention_product_flops();
    return 0;
}

/* 170 KB in one block is more than all but Hopper have. */
static bool is_possible(const struct lab *lab, enum attention_kernel which) {
    return (which != ATTENTION_WGMMA || ladder_is_hopper(lab)) &&
           (int64_t)attention_shared_bytes(which) <= lab->gpu.device.smem_per_block_bytes;
}

static int ladder_setup(struct lab *lab) {
    struct ladder_data *data = lab->data = calloc(1, sizeof *data);
    if (!data)
        return complain("out of host memory");
    for (int size = 0; size < ATTENTION_SIZES; size++) {
        struct attention_heads *heads = &data->sizes[size];
        if (lab->simulated && size == ATTENTION_TIMED)
            *heads = (struct attention_heads){.problem.tokens = attention_sizes[size].tokens,
                                              .heads = attention_sizes[size].heads};
        else if (attention_heads_make(lab, heads, attention_sizes[size].heads, attention_sizes[size].tokens,
                                      attention_sizes[size].checked) != 0)
            return -1;
        for (int which = 0; which < ATTENTION_KERNELS; which++)
            if (is_possible(lab, which) && add_kernel(lab, which, size) != 0)
                return -1;
    }
    return add_library(lab);
}

/* ---- check ---------------------------------------------------------------------------------------- */

static enum attention_result result_of(int which) {
    return which == ATTENTION_KERNELS ? ATTENTION_OUT : kernels[which].result;
}

/* Scores and weights are each other's input: they stay as the kernel before left them, right or wrong. */
static int ladder_prepare(struct lab *lab, struct lab_point *point) {
    struct ladder_data *data = lab->data;
    const size_t at = ladder_index(lab, point);
    return attention_heads_poison(lab, &data->sizes[data->size_of[at]], result_of(data->kernel_of[at]));
}

static int ladder_check(struct lab *lab, struct lab_point *point) {
    struct ladder_data *data = lab->data;
    const size_t at = ladder_index(lab, point);
    const int which = data->kernel_of[at];
    return attention_heads_check(lab, point, &data->sizes[data->size_of[at]], result_of(which),
                                 which >= ATTENTION_WGMMA);
}

static void ladder_teardown(struct lab *lab) {
    struct ladder_data *data = lab->data;
    if (!data)
        return;
    attention_library_close(&data->library);
    for (int size = 0; size < ATTENTION_SIZES; size++)
        attention_heads_free(&data->sizes[size]);
}

const struct lab_experiment attention_ladder = {
    .name = "attention",
    .title = "Attention",
    .question = "What does each step of attention remove, from scores in memory to tensor cores, and what is left to "
                "wait for?",
    .page = "attention",
    .setup = ladder_setup,
    .prepare = ladder_prepare,
    .check = ladder_check,
    .conclude = attention_conclude,
    .teardown = ladder_teardown,
};
