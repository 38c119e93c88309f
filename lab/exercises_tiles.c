/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of the exercises on TMA, descriptors, clusters, attention, and on what is worth fixing. */
#include "lab/exercises.h"

#include "gristmill/smem.h"
#include "host/occupancy.h"

/* ---- tma ------------------------------------------------------------------------------------------------ */

enum { BF16 = 9 /* CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 */ };

/* A map of 256 x 256 elements of bf16, and its box. */
static struct gm_tensor_map_request map_of(uint32_t columns, uint32_t rows, enum gm_swizzle_mode swizzle) {
    return (struct gm_tensor_map_request){.size = sizeof(struct gm_tensor_map_request),
                                          .type = BF16,
                                          .rank = 2,
                                          .address = 0x10000,
                                          .dims = {256, 256},
                                          .strides = {512},
                                          .box = {columns, rows},
                                          .swizzle = swizzle};
}

static int is_legal(const struct gm_tensor_map_request *map) {
    size_t count = 0;
    int legal = 0;
    return gm_tensor_map_explain(map, NULL, 0, &count, &legal) == GM_OK && legal;
}

int64_t exercise_stride_of_100(void) {
    struct gm_tensor_map_request map = map_of(64, 64, GM_SWIZZLE_NONE);
    map.dims[0] = 100;
    for (map.strides[0] = 2 * map.dims[0]; !is_legal(&map) && map.strides[0] < 512;)
        map.strides[0] += 2;
    return (int64_t)map.strides[0] / 2;
}

int64_t exercise_widest_box(void) {
    struct gm_tensor_map_request map = map_of(256, 1, GM_SWIZZLE_128B);
    while (!is_legal(&map) && map.box[0] > 0)
        map.box[0]--;
    return map.box[0];
}

int64_t exercise_bytes_at_the_edge(void) {
    const struct gm_tensor_map_request map = map_of(64, 128, GM_SWIZZLE_128B);
    return gm_tensor_map_box_bytes(&map);
}

int64_t exercise_highest_box(void) {
    struct gm_tensor_map_request map = map_of(8, 1024, GM_SWIZZLE_NONE);
    while (!is_legal(&map) && map.box[1] > 0)
        map.box[1]--;
    return map.box[1];
}

int64_t exercise_expected_bytes(void) {
    const struct gm_tensor_map_request a = map_of(64, 128, GM_SWIZZLE_128B), b = map_of(64, 256, GM_SWIZZLE_128B);
    return gm_tensor_map_box_bytes(&a) + gm_tensor_map_box_bytes(&b);
}

/* ---- wgmma-descriptors ---------------------------------------------------------------------------------- */

/* 64 rows of K-major bf16 that TMA wrote with swizzle 128B. */
static struct gm_descriptor_question tile_at(uint32_t destination) {
    return (struct gm_descriptor_question){
        .size = sizeof(struct gm_descriptor_question),
        .map = map_of(64, 64, GM_SWIZZLE_128B),
        .destination = destination,
        .operand = {.size = sizeof(struct gm_wgmma_operand), .major = GM_K_MAJOR, .element_bytes = 2, .rows = 64}};
}

static uint64_t descriptor_of(uint32_t destination, uint32_t *k_step) {
    const struct gm_descriptor_question question = tile_at(destination);
    uint64_t descriptor = 0;
    gm_descriptor_suggest(&question, &descriptor, k_step);
    return descriptor;
}

int64_t exercise_stride_bytes(void) {
    struct gm_matrix_descriptor fields = {.size = sizeof fields};
    uint32_t k_step = 0;
    gm_matrix_descriptor_decode(descriptor_of(1024, &k_step), &fields);
    return fields.stride_bytes;
}

int64_t exercise_k_step(void) {
    uint32_t k_step = 0;
    descriptor_of(1024, &k_step);
    return k_step;
}

int64_t exercise_start_field(void) {
    uint32_t k_step = 0;
    return (int64_t)(descriptor_of(0x8400, &k_step) & 0x3fff);
}

int64_t exercise_mode_bits(void) {
    uint32_t k_step = 0;
    return (int64_t)(descriptor_of(1024, &k_step) >> 62);
}

int64_t exercise_address_read(void) {
    const struct gm_descriptor_question question = tile_at(1024);
    struct gm_matrix_descriptor fields = {.size = sizeof fields};
    uint32_t k_step = 0, address = 0;
    gm_matrix_descriptor_decode(descriptor_of(1024, &k_step), &fields);
    gm_wgmma_address(&fields, &question.operand, 9, 3, &address);
    return address;
}

/* ---- clusters ------------------------------------------------------------------------------------------- */

int64_t exercise_bytes_of_a_part(void) {
    return 64 * 64 * 2 / 4;
}

int64_t exercise_bytes_received(void) {
    return 64 * 64 * 2;
}

int64_t exercise_mask(void) {
    return 1 << 1 | 1 << 3;
}

int64_t exercise_portable_size(void) {
    return 8;
}

int64_t exercise_empty_sms(void) {
    return 132 - 15 * 8; /* 15 of them ran at once: bench/results/h200/lab/cluster-limits.json */
}

/* ---- attention ------------------------------------------------------------------------------------------ */

static int32_t blocks_on_h200(int32_t block_bytes) {
    struct gm_device device = {.size = sizeof device};
    return gm_device_model("h200", &device) == GM_OK ? gm_blocks_per_sm(&device, block_bytes) : 0;
}

int64_t exercise_bytes_of_scores(void) {
    return INT64_C(16) * 4096 * 4096;
}

int64_t exercise_times_the_rest(void) {
    return exercise_bytes_of_scores() / (512 * 4096);
}

int64_t exercise_bytes_of_k(void) {
    return 64 * (64 + 4) * 4;
}

int64_t exercise_exponent(void) {
    return 3 - 5;
}

int64_t exercise_blocks_of_tiles(void) {
    return blocks_on_h200(3 * 128 * 64 * 4);
}

/* ---- worth-fixing --------------------------------------------------------------------------------------- */

/* On a tile of 128 x 112 floats, which a warp walks by column. */
static struct gm_pad_advice advice(void) {
    const struct gm_pad_question question = {.size = sizeof question,
                                             .tile = {.size = sizeof question.tile, .rows = 128, .row_bytes = 112 * 4}};
    struct gm_tile_access walk = {.size = sizeof walk, .kind = GM_ACCESS_LOAD, .width = 4};
    struct gm_pad_advice found = {.size = sizeof found};
    struct gm_device device = {.size = sizeof device};
    for (uint32_t lane = 0; lane < GM_LANES; lane++)
        walk.row[lane] = lane;
    if (gm_device_model("h200", &device) == GM_OK)
        gm_pad_advise(&question, &walk, 1, &device, &found);
    return found;
}

int64_t exercise_loads_of_an_element(void) {
    return 1024 / 16;
}

int64_t exercise_share_of_conflicts(void) {
    return (100 * (618496 - 157696) + 618496 / 2) / 618496;
}

int64_t exercise_blocks_before(void) {
    return advice().blocks;
}

int64_t exercise_blocks_after(void) {
    return advice().blocks_padded;
}

int64_t exercise_cure(void) {
    return advice().cure;
}
