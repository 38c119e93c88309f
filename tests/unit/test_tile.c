/* SPDX-License-Identifier: Apache-2.0 */
/* Tile arithmetic, rasters and copy widths. */
#include "kernels.h"

#include "host/gemm/raster.h"
#include "host/occupancy.h"

#include <stdlib.h>
#include <string.h>

static const struct gm_kernel sm90_row = SM90(128, 256, 4, 2, 1, w2), sm80_row = SM80(128, 128, 32, 4, 2, 2, 1);

START_TEST(sm90_shared_memory_is_ring_staging_barriers_and_slack) {
    ck_assert_int_eq(GM_SM90_STAGE_BYTES(128, 256, 64, GM_TYPE_bf16), 49152);
    ck_assert_int_eq(GM_SM90_STAGING_BYTES(128, 256, SM90_ROLES(w2)), 2 * 2 * 64 * 128);
    ck_assert_int_eq(GM_SM90_SMEM_BYTES(128, 256, 64, 4, SM90_ROLES(w2), GM_TYPE_bf16),
                     1024 + 4 * 49152 + 32768 + 64 + 16);
    ck_assert_int_eq(GM_SM90_SMEM_BYTES(128, 256, 64, 4, SM90_ROLES(w2r), GM_TYPE_bf16),
                     1024 + 4 * 49152 + 64 + 16 + 8);
    ck_assert_int_eq(GM_SM90_STORE_SPAN(128, 192, SM90_ROLES(w2)), 128);
    ck_assert_int_eq(GM_SM90_STORE_SPAN(128, 160, SM90_ROLES(w2)), 128);
    ck_assert_int_eq(GM_SM90_STORE_SPAN(128, 112, SM90_ROLES(w2)), 128);
    ck_assert_int_eq(GM_SM90_STORE_SPAN(128, 144, SM90_ROLES(w2)), 64);
    ck_assert_int_eq(GM_SM90_STORE_SPAN(128, 96, SM90_ROLES(w2)), 64);
    ck_assert_int_eq(GM_SM90_STORE_SPAN(128, 48, SM90_ROLES(w2)), 32);
    ck_assert_int_eq(GM_SM90_STORE_BOX_ROWS(128, 48, SM90_ROLES(w2)), 16);
    ck_assert_int_eq(GM_SM90_THREADS(2, GM_TYPE_bf16), 384);
}
END_TEST

START_TEST(a_stage_of_tf32x3_has_room_for_the_n_sides_small_halves) {
    ck_assert_int_eq(GM_SM90_STAGE_BYTES(128, 64, 32, GM_TYPE_tf32x3), 24576);
    ck_assert_int_eq(GM_SM90_SLOT_BYTES(128, 64, 32, SM90_ROLES(w2), GM_TYPE_tf32x3), 24576 + 64 * 32 * 4);
    ck_assert_int_eq(GM_SM90_SLOT_BYTES(128, 64, 32, SM90_ROLES(w2), GM_TYPE_tf32), 24576);
    ck_assert_int_eq(GM_SM90_BARRIER_BYTES(6, SM90_ROLES(w2), GM_TYPE_tf32x3), 6 * 16 + 2 * 8 + 6 * 8);
    ck_assert_int_eq(GM_SM90_THREADS(2, GM_TYPE_tf32x3), 512);
}
END_TEST

START_TEST(a_split_stages_a_part_of_the_tile) {
    ck_assert_int_eq(GM_SM90_CLUSTER_K(SM90_ROLES(w2)), 1);
    ck_assert_int_eq(GM_SM90_CLUSTER_K(SM90_ROLES(w2k4)), 4);
    ck_assert_int_eq(GM_SM90_SCHEDULE(SM90_ROLES(w2k4)), GM_COOPERATIVE);
    ck_assert_int_eq(GM_SM90_CONSUMERS(SM90_ROLES(w1k3)), 1);
    ck_assert_int_eq(GM_SM90_STORE_SPAN(128, 128, SM90_ROLES(w2k2)), 128);
    ck_assert_int_eq(GM_SM90_STORE_SPAN(128, 128, SM90_ROLES(w2k4)), 64);
    ck_assert_int_eq(GM_SM90_STORE_SPAN(128, 112, SM90_ROLES(w2k2)), 32);
    ck_assert_int_eq(GM_SM90_BARRIER_BYTES(6, SM90_ROLES(w2k2), GM_TYPE_bf16), 6 * 16 + 16 + 2 * 8);
}
END_TEST

/* B's tile on wgmma's M side: a chunk is rows of D by 128 bytes, and its rows come from the N side. */
START_TEST(a_swapped_row_stages_rows_of_its_n_side) {
    ck_assert_int_eq(GM_SM90_SWAP(SM90_ROLES(p2)), 0);
    ck_assert_int_eq(GM_SM90_SWAP(SM90_ROLES(w2s)), 1);
    ck_assert_int_eq(GM_SM90_WGMMA_M(144, 128, SM90_ROLES(w2s)), 128);
    ck_assert_int_eq(GM_SM90_WGMMA_N(144, 128, SM90_ROLES(w2s)), 144);
    ck_assert_int_eq(GM_SM90_STORE_SPAN(144, 128, SM90_ROLES(w2s)), 128);
    ck_assert_int_eq(GM_SM90_STORE_BOX_ROWS(144, 128, SM90_ROLES(w2s)), 72);
    ck_assert_int_eq(GM_SM90_STORE_BOX_ROWS(112, 128, SM90_ROLES(w2sk2)), 56);
    ck_assert_int_eq(GM_SM90_STORE_BOX_ROWS(64, 128, SM90_ROLES(w2s)), 64);
    ck_assert_int_eq(GM_SM90_STORE_BOX_ROWS(256, 128, SM90_ROLES(w2s)), 64);
    ck_assert_int_eq(GM_SM90_STORE_BOX_ROWS(160, 192, SM90_ROLES(w3s)), 40); /* room for three consumers' */
    /* 8 times a prime: one chunk where there is room, else two that overlap. */
    ck_assert_int_eq(GM_SM90_STORE_BOX_ROWS(136, 64, SM90_ROLES(w1s)), 136);
    ck_assert_int_eq(GM_SM90_STORE_BOX_ROWS(136, 128, SM90_ROLES(p2s)), 72);
    ck_assert_int_eq(GM_SM90_STORE_BOX_ROWS(104, 128, SM90_ROLES(p2s)), 56);
}
END_TEST

START_TEST(sm80_shared_memory_follows_layout_and_map) {
    ck_assert_int_eq(GM_SM80_STAGE_BYTES(128, 64, 32, GM_LAYOUT_tn, GM_SMEM_MAP_xor, GM_TYPE_bf16), (128 + 64) * 64);
    ck_assert_int_eq(GM_SM80_STAGE_BYTES(128, 64, 32, GM_LAYOUT_tn, GM_SMEM_MAP_pad, GM_TYPE_bf16), (128 + 64) * 80);
    ck_assert_int_eq(GM_SM80_STAGE_BYTES(128, 64, 32, GM_LAYOUT_nt, GM_SMEM_MAP_pad, GM_TYPE_bf16),
                     32 * (256 + 16) + 32 * (128 + 16));
    ck_assert_int_ge(
        GM_SM80_SMEM_BYTES(128, 128, 32, 4, GM_SM80_WARPS(2, 2, 1), GM_LAYOUT_tn, GM_SMEM_MAP_xor, GM_TYPE_bf16),
        65536);
}
END_TEST

/* More warps, but only those of the first part of K stage D, and the ring lends the others the room for their sums. */
START_TEST(warp_k_multiplies_the_threads_and_takes_no_shared_memory) {
    const int w2x4 = GM_SM80_WARPS(2, 4, 1), w1x2k4 = GM_SM80_WARPS(1, 2, 4);
    ck_assert_int_eq(GM_SM80_WARP_K(w2x4), 1);
    ck_assert_int_eq(GM_SM80_WARP_K(w1x2k4), 4);
    ck_assert_int_eq(GM_SM80_WARPS_M(w1x2k4), 1);
    ck_assert_int_eq(GM_SM80_WARPS_N(w1x2k4), 2);
    ck_assert_int_eq(GM_SM80_THREADS(w2x4), 256);
    ck_assert_int_eq(GM_SM80_THREADS(w1x2k4), 256);
    ck_assert_int_eq(GM_SM80_TILE_THREADS(w1x2k4), 64);
    ck_assert_int_eq(GM_SM80_EXCHANGE_BYTES(64, 64, GM_SM80_WARPS(2, 2, 1)), 0);
    ck_assert_int_eq(GM_SM80_EXCHANGE_BYTES(16, 64, w1x2k4), 3 * 16 * 64 * 4);
    ck_assert_int_eq(GM_SM80_SMEM_BYTES(16, 64, 128, 4, w1x2k4, GM_LAYOUT_tn, GM_SMEM_MAP_xor, GM_TYPE_bf16),
                     4 * (16 + 64) * 256 + 2 * 16 * (32 * 2 + 16));
}
END_TEST

/* A set of constants for each variant: the columns come out of it as they went in. */
START_TEST(roles_are_their_columns) {
    for (int schedule = GM_SCHEDULE_cooperative; schedule <= GM_SCHEDULE_pingpong; schedule++)
        for (int consumers = 1; consumers <= 3; consumers++)
            for (int more = 0; more < 192; more++) {
                const int swap = more & 1, split_k = more >> 1 & 1, cluster_k = 1 + (more >> 2 & 3);
                const int gate = more >> 4 & 1, extended = more >> 5 & 1, scales = more >> 6;
                const int roles = GM_SM90_ROLES(schedule, consumers, swap, cluster_k, split_k, gate, extended, scales);
                ck_assert(GM_SM90_SCHEDULE(roles) == schedule && GM_SM90_CONSUMERS(roles) == consumers);
                ck_assert(GM_SM90_SWAP(roles) == swap && GM_SM90_SPLIT_K(roles) == split_k);
                ck_assert(GM_SM90_CLUSTER_K(roles) == cluster_k && GM_SM90_GATE(roles) == gate);
                ck_assert(GM_SM90_EXTENDED(roles) == extended && GM_SM90_SCALES(roles) == scales);
            }
}
END_TEST

START_TEST(layout_letters_are_the_two_majors) {
    ck_assert(!GM_LAYOUT_A_MN(GM_LAYOUT_tn) && !GM_LAYOUT_B_MN(GM_LAYOUT_tn));
    ck_assert(GM_LAYOUT_A_MN(GM_LAYOUT_nn) && !GM_LAYOUT_B_MN(GM_LAYOUT_nn));
    ck_assert(!GM_LAYOUT_A_MN(GM_LAYOUT_tt) && GM_LAYOUT_B_MN(GM_LAYOUT_tt));
    ck_assert(GM_LAYOUT_A_MN(GM_LAYOUT_nt) && GM_LAYOUT_B_MN(GM_LAYOUT_nt));
    ck_assert_str_eq(gm_gemm_layout_name(GM_LAYOUT_nt), "nt");
}
END_TEST

START_TEST(tiles_count_whole_clusters) {
    const struct gm_gemm_variant v = gm_gemm_variant(&sm90_row);
    struct gm_gemm_problem p = problem_of(257, 257, 64);
    ck_assert_int_eq(gm_tiles_m(&v, &p), 2);
    ck_assert_int_eq(gm_tiles_n(&v, &p), 2);
    p.m = 256, p.n = 256;
    ck_assert_int_eq(gm_tiles_m(&v, &p), 1);
    ck_assert_int_eq(gm_tiles_n(&v, &p), 1);
    p.m = INT32_MAX;
    ck_assert_int_eq(gm_tiles_m(&v, &p), 8388608);
}
END_TEST

/* raster.cuh's numbering, in C. */
static void walk(struct gm_raster r, int linear, int *tile_m, int *tile_n) {
    const int major = r.along_n ? r.tiles_n : r.tiles_m, minor = r.along_n ? r.tiles_m : r.tiles_n;
    const int first = linear / (r.group * minor) * r.group;
    const int rows = major - first < r.group ? major - first : r.group;
    const int within = linear - first * minor;
    *tile_m = r.along_n ? within / rows : first + within % rows;
    *tile_n = r.along_n ? first + within % rows : within / rows;
}

static struct gm_raster raster_of(const struct gm_gemm_problem *problem, const struct gm_device *device) {
    const struct gm_gemm_variant v = gm_gemm_variant(&sm90_row);
    return gm_raster_choose(&v, problem, device);
}

START_TEST(a_raster_visits_every_tile_once) {
    const struct gm_gemm_variant v = gm_gemm_variant(&sm90_row);
    const struct gm_device device = device_of("h200");
    static const int64_t sizes[][2] = {{1, 1}, {4096, 256}, {300, 9000}, {9000, 300}, {8192, 8192}, {5000, 3000}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const struct gm_gemm_problem p = problem_of(sizes[s][0], sizes[s][1], 64);
        const struct gm_raster r = raster_of(&p, &device);
        ck_assert_int_eq(r.tiles_m, gm_tiles_m(&v, &p));
        ck_assert_int_eq(r.tiles_n, gm_tiles_n(&v, &p));
        ck_assert_int_ge(r.group, 1);
        ck_assert_int_le(r.group, r.along_n ? r.tiles_n : r.tiles_m);
        char *seen = calloc((size_t)r.tiles_m * (size_t)r.tiles_n, 1);
        for (int i = 0; i < r.tiles_m * r.tiles_n; i++) {
            int m, n;
            walk(r, i, &m, &n);
            ck_assert(m >= 0 && m < r.tiles_m && n >= 0 && n < r.tiles_n);
            ck_assert_int_eq(seen[m * r.tiles_n + n]++, 0);
        }
        free(seen);
    }
}
END_TEST

START_TEST(a_wave_of_big_problems_is_near_square) {
    const struct gm_device device = device_of("h200");
    const struct gm_gemm_problem p = problem_of(8192, 8192, 8192);
    const struct gm_raster r = raster_of(&p, &device);
    ck_assert_int_eq(r.group, 8);   /* 8 x 9 cluster tiles of 256 x 256 */
    ck_assert_int_eq(r.along_n, 1); /* the same bytes either way, but D's rows are written on */
}
END_TEST

/* Where K is short, a wave's operands are still in L2 when the next wave comes: what is read once may be anything, so
 * the group is what makes the rest be read once, too. */
START_TEST(a_short_k_is_walked_so_that_nothing_is_read_twice) {
    const struct gm_device device = device_of("h200");
    const struct gm_gemm_problem p = problem_of(8192, 32768, 512);
    const struct gm_raster r = raster_of(&p, &device);
    ck_assert_int_eq(r.along_n, 1); /* all of A, 8 MB, stays */
    ck_assert_int_eq(r.group, 4);
    struct gm_device small = device;
    small.l2_bytes = 8 << 20; /* A does not */
    ck_assert_int_gt(raster_of(&p, &small).group, 4);
}
END_TEST

START_TEST(what_one_wave_covers_has_no_dram_to_save) {
    const struct gm_device device = device_of("h200");
    struct gm_device small = device;
    small.l2_bytes = 1 << 20;
    const struct gm_gemm_problem p = problem_of(1024, 4096, 4096); /* 4 x 16 cluster tiles, 66 at once */
    const struct gm_raster r = raster_of(&p, &device), s = raster_of(&p, &small);
    ck_assert_int_eq(r.group, s.group);
    ck_assert_int_eq(r.along_n, s.along_n);
    ck_assert_int_ge(r.group, 4);
}
END_TEST

START_TEST(copy_width_is_what_base_and_stride_allow) {
    ck_assert_int_eq(gm_copy_bytes(0x1000, 128, 4), 16);
    ck_assert_int_eq(gm_copy_bytes(0x1008, 128, 4), 8);
    ck_assert_int_eq(gm_copy_bytes(0x1000, 132, 4), 4);
    ck_assert_int_eq(gm_copy_bytes(0x1000, 130, 4), 2);
    ck_assert_int_eq(gm_copy_bytes(0x1002, 16, 4), 2);
    ck_assert_int_eq(gm_copy_bytes(0x1000, 130, 1), 16);
}
END_TEST

START_TEST(cost_grows_with_the_problem_and_never_falls_under_the_floor) {
    const struct gm_device device = device_of("h200");
    double last = 0;
    for (int64_t size = 256; size <= 16384; size *= 2) {
        const struct gm_gemm_problem q = normalized(problem_of(size, size, size));
        const double us = cost_us(&sm90_row, &q, &device), flop = 2.0 * (double)size * (double)size * (double)size;
        ck_assert(us > last);
        ck_assert(us > flop / (device.tensor_tflops * 1e6));
        last = us;
    }
}
END_TEST

START_TEST(cost_needs_neither_bandwidth_nor_rate) {
    struct gm_device device = device_of("a100");
    device.dram_gbs = device.tensor_tflops = 0;
    device.sm_clock_mhz = device.smem_per_sm_bytes = device.max_threads_per_sm = 0;
    struct gm_gemm_problem q = normalized(problem_of(512, 512, 512));
    ck_assert(cost_us(&sm80_row, &q, &device) > 1);
    ck_assert(cost_us(&sm90_row, &q, &device) > 1);
    q.k = 0;
    ck_assert(cost_us(&sm80_row, &q, &device) > 1);
}
END_TEST

/* 32 bytes more a row, and it begins on no line; 16, on no sector; 128, on a line again. */
START_TEST(a_row_that_begins_on_no_line_costs_requests) {
    const struct gm_device device = device_of("h200");
    const struct gm_kernel row = SM90(64, 64, 12, 1, 1, w1);
    static const int64_t k[] = {1600, 1616, 1608, 1664};
    double us[4];
    for (int i = 0; i < 4; i++) {
        const struct gm_gemm_problem q = normalized(problem_of(512, 8192, k[i]));
        us[i] = cost_us(&row, &q, &device);
    }
    ck_assert_double_gt(us[1], 1.05 * us[3]);
    ck_assert_double_gt(us[2], 1.05 * us[1]);
    ck_assert_double_gt(us[3], us[0]);
}
END_TEST

/* Of two rows that differ in their warp-k only, the one that has it pays for the exchange where copies set the pace. */
START_TEST(warp_k_costs_an_exchange) {
    const struct gm_device device = device_of("a100");
    struct gm_kernel row = sm80_row; /* with the same threads and registers: the exchange alone */
    const struct gm_gemm_problem q = normalized(problem_of(4096, 4096, 64));
    const double alone = cost_us(&row, &q, &device);
    row.columns[GM_GEMM_SM80_WARP_K] = 2;
    ck_assert_double_gt(cost_us(&row, &q, &device), alone);
}
END_TEST

Suite *tile_suite(void) {
    Suite *suite = suite_create("tile");
    TCase *cases = tcase_create("arithmetic");
    tcase_add_test(cases, a_split_stages_a_part_of_the_tile);
    tcase_add_test(cases, a_swapped_row_stages_rows_of_its_n_side);
    tcase_add_test(cases, sm90_shared_memory_is_ring_staging_barriers_and_slack);
    tcase_add_test(cases, a_stage_of_tf32x3_has_room_for_the_n_sides_small_halves);
    tcase_add_test(cases, sm80_shared_memory_follows_layout_and_map);
    tcase_add_test(cases, warp_k_multiplies_the_threads_and_takes_no_shared_memory);
    tcase_add_test(cases, roles_are_their_columns);
    tcase_add_test(cases, layout_letters_are_the_two_majors);
    tcase_add_test(cases, tiles_count_whole_clusters);
    tcase_add_test(cases, a_raster_visits_every_tile_once);
    tcase_add_test(cases, a_wave_of_big_problems_is_near_square);
    tcase_add_test(cases, a_short_k_is_walked_so_that_nothing_is_read_twice);
    tcase_add_test(cases, what_one_wave_covers_has_no_dram_to_save);
    tcase_add_test(cases, copy_width_is_what_base_and_stride_allow);
    tcase_add_test(cases, cost_grows_with_the_problem_and_never_falls_under_the_floor);
    tcase_add_test(cases, cost_needs_neither_bandwidth_nor_rate);
    tcase_add_test(cases, a_row_that_begins_on_no_line_costs_requests);
    tcase_add_test(cases, warp_k_costs_an_exchange);
    suite_add_tcase(suite, cases);
    return suite;
}
