/* SPDX-License-Identifier: Apache-2.0 */
/* What the experiments on blocks, tiles and the fp32 peak predict, by hand where that is possible. */
#include <math.h>

#include "bench_tests.h"
#include "lab/gemm_peak.h"
#include "lab/gemm_tiles.h"
#include "lab/kernels/occupancy.h"
#include "lab/residency.h"

/* ---- blocks on an SM ------------------------------------------------------------------------------ */

static int blocks_of(const char *model, int threads, int registers, size_t shared_bytes) {
    struct gm_device device = {.size = sizeof device};
    const struct residency block = {.threads = threads, .registers = registers, .shared_bytes = shared_bytes};
    ck_assert_int_eq(gm_device_model(model, &device), GM_OK);
    return residency_model(&device, &block);
}

START_TEST(threads_bound_blocks) {
    ck_assert_int_eq(blocks_of("h200", 32, 32, 0), 32);
    ck_assert_int_eq(blocks_of("h200", 96, 32, 0), 21);
    ck_assert_int_eq(blocks_of("h200", 1024, 32, 0), 2);
    ck_assert_int_eq(blocks_of("rtx4090", 1024, 32, 0), 1);
    ck_assert_int_eq(blocks_of("rtx4090", 32, 32, 0), 24);
    ck_assert_int_eq(blocks_of("h200", 1025, 32, 0), 0);
    ck_assert_int_eq(blocks_of("h200", 0, 32, 0), 0);
}
END_TEST

/* Quarters of the SM have 16,384 registers each, and a warp's come in units of 256: 65 a thread are 72. */
START_TEST(registers_bound_blocks) {
    ck_assert_int_eq(blocks_of("h200", 256, 64, 0), 4);
    ck_assert_int_eq(blocks_of("h200", 256, 65, 0), 3);
    ck_assert_int_eq(blocks_of("h200", 256, 128, 0), 2);
    ck_assert_int_eq(blocks_of("h200", 256, 129, 0), 1);
    ck_assert_int_eq(blocks_of("h200", 1024, 33, 0), 1);
    ck_assert_int_eq(blocks_of("h200", 32, 88, 0), 20); /* not 23: five warps a quarter */
    ck_assert_int_eq(blocks_of("h200", 256, 0, 0), 8);
}
END_TEST

START_TEST(shared_memory_bounds_blocks) {
    ck_assert_int_eq(blocks_of("h200", 256, 32, 56 << 10), 4);
    ck_assert_int_eq(blocks_of("h200", 256, 32, (56 << 10) + 1), 3);
    ck_assert_int_eq(blocks_of("h200", 256, 32, 227 << 10), 1);
    ck_assert_int_eq(blocks_of("h200", 256, 32, (227 << 10) + 4), 0);
    ck_assert_int_eq(blocks_of("a100", 256, 32, 163 << 10), 1);
    ck_assert_int_eq(blocks_of("a100", 256, 32, 164 << 10), 0);
}
END_TEST

/* The swizzle leaves rows in place and gives every column of 32 rows 32 banks, like the pad; as it is, two. */
START_TEST(tiles_that_keep_or_lose_a_block) {
    for (int column = 0; column < OCCUPANCY_COLUMNS; column++) {
        uint32_t plain = 0, padded = 0, swizzled = 0;
        for (int row = 0; row < 32; row++) {
            plain |= 1u << OCCUPANCY_PADDED(row, column, 0) % 32;
            padded |= 1u << OCCUPANCY_PADDED(row, column, 1) % 32;
            swizzled |= 1u << OCCUPANCY_XOR(row, column) % 32;
            ck_assert_int_eq(OCCUPANCY_XOR(row, column) / OCCUPANCY_COLUMNS, row);
        }
        ck_assert_int_eq(__builtin_popcount(plain), 2);
        ck_assert_uint_eq(padded, UINT32_MAX);
        ck_assert_uint_eq(swizzled, UINT32_MAX);
    }
}
END_TEST

/* ---- tiles of a multiplication -------------------------------------------------------------------- */

/* 8 k-blocks of 4 CTAs of 8 warps. For each of 16 columns a lane loads four words of A, which it shares with 15 others, 2
 * wavefronts, and four of B, 4 wavefronts; it stores four words one by one and four at once. */
START_TEST(small_tiles) {
    const struct gemm_tile tile = {"", 64, 64, 16, 4, 4, 68};
    const struct gemm_counts counts = gemm_tile_predict(&tile, 128);
    const double k_blocks = 4 * 8;
    ck_assert_int_eq(gemm_tile_threads(&tile), 256);
    ck_assert_double_eq(counts.sectors, 128.0 * 128 * 128 * 2 / 64 / 8);
    ck_assert_double_eq(counts.load.all, counts.load.ideal);
    ck_assert_double_eq(counts.load.all, k_blocks * 8 * 16 * (2 + 4));
    ck_assert_double_eq(counts.store.ideal, k_blocks * 8 * (4 + 4));
}
END_TEST

/* A warp stores 16 rows of 2 columns that are 8 deep, 8 rows of 4 that are 16 deep, with a pitch of 128 all into the same
 * banks: 2- and 4-way conflicts. 16 k-blocks x 8 warps x 4 scalar stores, or 8 x 8 x 8. */
START_TEST(pads_of_tiles) {
    const struct gemm_tile plain_8 = {"", 128, 128, 8, 8, 8, 128}, padded_8 = {"", 128, 128, 8, 8, 8, 132};
    const struct gemm_tile plain_16 = {"", 128, 128, 16, 8, 8, 128}, padded_16 = {"", 128, 128, 16, 8, 8, 132};
    const double stores = 512;
    ck_assert_double_eq(gemm_tile_predict(&padded_8, 128).store.all, gemm_tile_predict(&padded_8, 128).store.ideal);
    const struct gemm_counts two = gemm_tile_predict(&plain_8, 128), four = gemm_tile_predict(&plain_16, 128),
                             left = gemm_tile_predict(&padded_16, 128);
    ck_assert_double_eq(two.store.all - two.store.ideal, stores);
    ck_assert_double_eq(four.store.all - four.store.ideal, 3 * stores);
    ck_assert_double_eq(left.store.all - left.store.ideal, stores);
}
END_TEST

START_TEST(peak) {
    struct gm_device device = {.size = sizeof device};
    ck_assert_int_eq(gm_device_model("h200", &device), GM_OK);
    ck_assert_double_eq_tol(gemm_peak_tflops(&device), 66.9, 0.05);
    ck_assert_int_eq(gm_device_model("a100", &device), GM_OK);
    ck_assert_double_eq_tol(gemm_peak_tflops(&device), 19.5, 0.05);
    device.sm_clock_mhz = 0;
    ck_assert(isnan(gemm_peak_tflops(&device)));
}
END_TEST

TCase *lab_occupancy_tests(void) {
    TCase *tests = tcase_create("lab_occupancy");
    tcase_add_test(tests, threads_bound_blocks);
    tcase_add_test(tests, registers_bound_blocks);
    tcase_add_test(tests, shared_memory_bounds_blocks);
    tcase_add_test(tests, tiles_that_keep_or_lose_a_block);
    tcase_add_test(tests, small_tiles);
    tcase_add_test(tests, pads_of_tiles);
    tcase_add_test(tests, peak);
    return tests;
}
