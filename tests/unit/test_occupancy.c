/* SPDX-License-Identifier: Apache-2.0 */
/* How many CTAs of a kernel a device holds, of any family: a kernel's traits, threads, registers and memory say it. */
#include "host/occupancy.h"

#include "host/table.h"
#include "unit.h"

#include <string.h>

/* What 4 warps with 64 KB of shared memory are like. */
static const struct gm_kernel some = {.threads = 128, .smem_bytes = 65536, .registers = 128, .cluster_ctas = 1};

START_TEST(residency_is_bound_by_memory_threads_or_registers) {
    const struct gm_device device = device_of("a100");
    struct gm_kernel row = some;
    ck_assert_int_eq(gm_ctas_per_sm(&row, &device), 2); /* 164 KB / 65 KB */
    row.smem_bytes = 8192;
    ck_assert_int_eq(gm_ctas_per_sm(&row, &device), 4); /* 65536 registers / (128 * 128) */
    row.registers = 32;
    ck_assert_int_eq(gm_ctas_per_sm(&row, &device), 16); /* 2048 threads / 128 */
    row.registers = 0;                                   /* not known */
    ck_assert_int_eq(gm_ctas_per_sm(&row, &device), 16);
    row.smem_bytes = 1 << 20;
    ck_assert_int_eq(gm_ctas_per_sm(&row, &device), 1);
}
END_TEST

START_TEST(registers_are_allocated_by_eights) {
    const struct gm_device device = device_of("a100");
    struct gm_kernel row = some;
    row.smem_bytes = 0;
    row.registers = 40;
    ck_assert_int_eq(gm_ctas_per_sm(&row, &device), 12); /* 65536 / (40 * 128) */
    row.registers = 41;
    ck_assert_int_eq(gm_ctas_per_sm(&row, &device), 10); /* 48 */
}
END_TEST

START_TEST(a_persistent_grid_has_one_cta_on_an_sm) {
    const struct gm_device device = device_of("h200");
    struct gm_kernel row = some;
    row.smem_bytes = 8192;
    ck_assert_int_eq(gm_ctas_per_sm(&row, &device), 4);
    ck_assert_int_eq(gm_clusters_at_once(&row, &device), 4 * 132);
    row.traits = GM_TRAIT_OVERLAPS_LAUNCHES;
    ck_assert_int_eq(gm_ctas_per_sm(&row, &device), 4);
    row.traits |= GM_TRAIT_ONE_CTA_PER_SM;
    ck_assert_int_eq(gm_ctas_per_sm(&row, &device), 1);
    ck_assert_int_eq(gm_clusters_at_once(&row, &device), 132);
}
END_TEST

/* As cuOccupancyMaxActiveClusters says. */
START_TEST(clusters_leave_multiprocessors_over) {
    static const struct {
        int ctas, at_once;
    } clusters[] = {{1, 132}, {2, 66}, {3, 39}, {4, 30}};
    const struct gm_device h200 = device_of("h200");
    struct gm_kernel row = some;
    row.traits = GM_TRAIT_ONE_CTA_PER_SM;
    for (size_t i = 0; i < sizeof clusters / sizeof *clusters; i++) {
        row.cluster_ctas = clusters[i].ctas;
        ck_assert_int_eq(gm_clusters_at_once(&row, &h200), clusters[i].at_once);
    }
    row.cluster_ctas = 1000;
    ck_assert_int_eq(gm_clusters_at_once(&row, &h200), 1);
}
END_TEST

/* 1 KB of each block is the driver's, and blocks take 128 bytes at once; an SM holds 32 of them, or fewer. */
START_TEST(blocks_take_whole_granules_and_the_drivers_kilobyte) {
    struct gm_device device = device_of("a100");
    ck_assert_int_eq(gm_blocks_per_sm(&device, 0), 32);
    device.smem_per_sm_bytes = 4 * (1024 + 128);
    ck_assert_int_eq(gm_blocks_per_sm(&device, 128), 4);
    ck_assert_int_eq(gm_blocks_per_sm(&device, 129), 3);
    device.smem_per_sm_bytes = 1 << 20;
    static const struct {
        int major, minor, most;
    } devices[] = {{8, 0, 32}, {8, 6, 16}, {8, 7, 16}, {8, 9, 24}, {9, 0, 32}, {10, 0, 32}, {12, 0, 24}};
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        device.cc_major = devices[i].major, device.cc_minor = devices[i].minor;
        ck_assert_int_eq(gm_blocks_per_sm(&device, 0), devices[i].most);
    }
}
END_TEST

Suite *occupancy_suite(void) {
    Suite *suite = suite_create("occupancy");
    TCase *cases = tcase_create("CTAs of a kernel");
    tcase_add_test(cases, residency_is_bound_by_memory_threads_or_registers);
    tcase_add_test(cases, registers_are_allocated_by_eights);
    tcase_add_test(cases, a_persistent_grid_has_one_cta_on_an_sm);
    tcase_add_test(cases, clusters_leave_multiprocessors_over);
    tcase_add_test(cases, blocks_take_whole_granules_and_the_drivers_kilobyte);
    suite_add_tcase(suite, cases);
    return suite;
}
