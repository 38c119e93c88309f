/* SPDX-License-Identifier: Apache-2.0 */
/* The registry: what every row must satisfy, and what the table as a whole must cover. */
#include "problem.h"
#include "table.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

#define SM90_SMEM_LIMIT 232448
#define SM80_SMEM_LIMIT 166912
#define MAX_BOX 256

static int has_arch(enum gm_arch arch) {
    for (size_t i = 0; i < gm_kernel_count(); i++)
        if (gm_kernels[i].arch == arch)
            return 1;
    return 0;
}

START_TEST(names_are_unique) {
    for (size_t i = 0; i < gm_kernel_count(); i++)
        for (size_t j = 0; j < i; j++)
            ck_assert_str_ne(gm_kernels[i].name, gm_kernels[j].name);
}
END_TEST

/* "w2", "p2", "w2s", "w2k4", "w1sk2", "w2sr" */
static void sm90_warps(int warps, char *text, size_t bytes) {
    const int splits = GM_WARPS_SPLITS(warps);
    int at = snprintf(text, bytes, "%c%d%s%s", GM_WARPS_SCHEDULE(warps) == GM_PINGPONG ? 'p' : 'w', GM_WARPS_M(warps),
                      GM_WARPS_SWAPPED(warps) ? "s" : "", GM_WARPS_REDUCES(warps) ? "r" : "");
    if (splits > 1)
        snprintf(text + at, bytes - (size_t)at, "k%d", splits);
}

/* "w2x2", "w1x2k4" */
static void sm80_warps(int warps, char *text, size_t bytes) {
    const int slices = GM_WARPS_SLICES(warps);
    const int at = snprintf(text, bytes, "w%dx%d", GM_WARPS_M(warps), GM_WARPS_N(warps));
    if (slices > 1)
        snprintf(text + at, bytes - (size_t)at, "k%d", slices);
}

START_TEST(names_follow_from_the_columns) {
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *row = &gm_kernels[i];
        char warps[16], map[16], name[128];
        if (!gm_uses_tma(row))
            sm80_warps(row->warps, warps, sizeof warps);
        else
            sm90_warps(row->warps, warps, sizeof warps);
        if (!gm_uses_tma(row))
            snprintf(map, sizeof map, "%s",
                     row->smem_map == GM_MAP_none  ? "none"
                     : row->smem_map == GM_MAP_pad ? "pad"
                                                   : "xor");
        else
            snprintf(map, sizeof map, "sw%d", row->smem_map);
        snprintf(name, sizeof name, "%s_%s_%s_%s_%dx%dx%d_s%d_c%dx%d_%s_%s", gm_family_name(row->family),
                 row->arch == GM_ARCH_SM80 ? "sm80" : "sm90", gm_type_name((enum gm_type)row->type),
                 gm_layout_name(row->layout), row->tile_m, row->tile_n, row->tile_k, row->stages, row->cluster_m,
                 row->cluster_n, warps, map);
        ck_assert_str_eq(row->name, name);
    }
}
END_TEST

START_TEST(shared_memory_fits_the_architecture) {
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *row = &gm_kernels[i];
        const int limit = row->arch == GM_ARCH_SM90 ? SM90_SMEM_LIMIT : SM80_SMEM_LIMIT;
        const int least = row->family == GM_FAMILY_gemm;
        ck_assert_msg(row->smem_bytes >= least && row->smem_bytes <= limit, "%s: %d bytes, limit %d", row->name,
                      row->smem_bytes, limit);
    }
}
END_TEST

START_TEST(sm90_tiles_are_whole_atoms_spans_and_boxes) {
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *row = &gm_kernels[i];
        if (!gm_uses_tma(row))
            continue;
        const int schedule = GM_WARPS_SCHEDULE(row->warps), consumers = GM_WARPS_M(row->warps);
        const int span_elems = row->smem_map / GM_ELEM_BYTES;
        ck_assert_msg(schedule == GM_COOPERATIVE || schedule == GM_PINGPONG, "%s: schedule", row->name);
        ck_assert_msg(GM_WARPS_SLICES(row->warps) == 1, "%s: slices", row->name);
        const int side_m = GM_SM90_SIDE_M(row->tile_m, row->tile_n, row->warps);
        const int side_n = GM_SM90_SIDE_N(row->tile_m, row->tile_n, row->warps);
        ck_assert_msg(side_m % (schedule == GM_PINGPONG ? 64 : 64 * consumers) == 0, "%s: M side", row->name);
        ck_assert_msg(side_n % 8 == 0 && side_n >= 16 && side_n <= 256, "%s: N side", row->name);
        ck_assert_msg(GM_WARPS_SPLITS(row->warps) == 1 || (row->cluster_m == 1 && row->cluster_n == 1), "%s: split",
                      row->name);
        ck_assert_msg(row->tile_k % 16 == 0 && row->tile_k > 0, "%s: tile_k", row->name);
        ck_assert_msg((GM_LAYOUT_A_MN(row->layout) ? row->tile_m : row->tile_k) % span_elems == 0, "%s: A span",
                      row->name);
        ck_assert_msg((GM_LAYOUT_B_MN(row->layout) ? row->tile_n : row->tile_k) % span_elems == 0, "%s: B span",
                      row->name);
        ck_assert_msg(row->tile_m / row->cluster_n <= MAX_BOX && row->tile_n / row->cluster_m <= MAX_BOX, "%s: box",
                      row->name);
        /* Multicast shares are equal; swizzle goes by address, so they need not be whole patterns of 8 rows. */
        const int a_rows = GM_LAYOUT_A_MN(row->layout) ? row->tile_k : row->tile_m;
        const int b_rows = GM_LAYOUT_B_MN(row->layout) ? row->tile_k : row->tile_n;
        ck_assert_msg(a_rows % row->cluster_n == 0 && b_rows % row->cluster_m == 0, "%s: share", row->name);
        ck_assert_msg(row->cluster_m * row->cluster_n <= 8, "%s: cluster", row->name);
        ck_assert_msg(row->stages >= 2, "%s: stages", row->name);
        ck_assert_int_eq(row->threads, 128 * (consumers + 1));
    }
}
END_TEST

START_TEST(sm80_tiles_are_whole_warp_tiles) {
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *row = &gm_kernels[i];
        if (row->arch != GM_ARCH_SM80 || row->family != GM_FAMILY_gemm)
            continue;
        const int warps_m = GM_WARPS_M(row->warps), warps_n = GM_WARPS_N(row->warps);
        const int slices = GM_WARPS_SLICES(row->warps);
        ck_assert_msg(GM_WARPS_SCHEDULE(row->warps) == GM_MULTISTAGE, "%s: schedule", row->name);
        ck_assert_msg(row->tile_m % (16 * warps_m) == 0, "%s: tile_m", row->name);
        ck_assert_msg(row->tile_n % (8 * warps_n) == 0, "%s: tile_n", row->name);
        ck_assert_msg(row->tile_k % (32 * slices) == 0, "%s: tile_k", row->name);
        ck_assert_msg(row->cluster_m == 1 && row->cluster_n == 1, "%s: cluster", row->name);
        ck_assert_msg(row->stages >= 2, "%s: stages", row->name);
        ck_assert_msg(row->smem_map == GM_MAP_pad || row->smem_map == GM_MAP_xor, "%s: map", row->name);
        ck_assert_msg(GM_SM80_EXCHANGE_BYTES(row->tile_m, row->tile_n, row->warps) <=
                          row->stages * GM_SM80_STAGE_BYTES(row->tile_m, row->tile_n, row->tile_k, row->layout,
                                                            row->smem_map),
                      "%s: the ring does not hold the slices' sums", row->name);
        ck_assert_int_eq(row->threads, 32 * warps_m * warps_n * slices);
        ck_assert_int_le(row->threads, 1024);
    }
}
END_TEST

START_TEST(gemv_tiles_are_whole_warps_rows) {
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *row = &gm_kernels[i];
        if (row->family != GM_FAMILY_gemv)
            continue;
        const int warps_k = GM_WARPS_M(row->warps), warps_n = GM_WARPS_N(row->warps);
        const int sums = row->tile_m * row->tile_n / warps_n;
        ck_assert_int_eq(row->layout, GM_LAYOUT_tn);
        ck_assert_int_eq(row->smem_map, GM_MAP_none);
        ck_assert_msg(row->tile_n % warps_n == 0 && sums <= 32 && 32 % sums == 0, "%s: sums", row->name);
        ck_assert_int_eq(row->tile_k, 256 * warps_k);
        ck_assert_int_eq(row->threads, 32 * warps_k * warps_n);
        ck_assert_int_eq(GM_GEMV_THREADS % row->threads, 0);
        ck_assert_msg(row->registers <= 65536 / GM_GEMV_THREADS, "%s: %d registers", row->name, row->registers);
        ck_assert_msg(row->cluster_m == 1 && row->cluster_n == 1, "%s: cluster", row->name);
        ck_assert(!gm_uses_tma(row) && !gm_is_persistent(row));
        ck_assert_int_eq(gm_waits_itself(row), row->arch == GM_ARCH_SM90);
    }
}
END_TEST

START_TEST(every_row_has_an_image_and_a_compilers_report) {
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *row = &gm_kernels[i];
        ck_assert_msg(row->image_end > row->image, "%s", row->name);
        ck_assert_msg(row->registers > 0 && row->registers <= 255, "%s: %d registers", row->name, row->registers);
        ck_assert_msg(row->spill_bytes >= 0, "%s", row->name);
    }
}
END_TEST

/* What makes "no legal shape is refused" true: the smallest devices must have a row too. */
START_TEST(every_type_and_layout_has_a_production_sm80_row_that_fits_99_kb) {
    if (!has_arch(GM_ARCH_SM80))
        return;
    for (int type = GM_TYPE_bf16; type <= GM_TYPE_fp16; type++) {
        for (int layout = 0; layout < 4; layout++) {
            int found = 0;
            for (size_t i = 0; i < gm_kernel_count(); i++) {
                const struct gm_kernel *row = &gm_kernels[i];
                found += row->family == GM_FAMILY_gemm && row->arch == GM_ARCH_SM80 && row->production &&
                         row->type == type && row->layout == layout && row->smem_bytes <= 101376;
            }
            ck_assert_msg(found > 0, "no production sm80 row for %s %s", gm_type_name((enum gm_type)type),
                          gm_layout_name(layout));
        }
    }
}
END_TEST

START_TEST(images_run_where_the_rule_says) {
    static const struct {
        int major, minor, sm80, sm90;
    } rule[] = {{7, 5, 0, 0}, {8, 0, 1, 0}, {8, 6, 1, 0}, {8, 7, 1, 0},  {8, 9, 1, 0},
                {9, 0, 1, 1}, {10, 0, 1, 0}, {10, 3, 1, 0}, {12, 0, 1, 0}};
    const struct gm_kernel sm80 = {.arch = GM_ARCH_SM80}, sm90 = {.arch = GM_ARCH_SM90};
    for (size_t i = 0; i < sizeof rule / sizeof *rule; i++) {
        ck_assert_int_eq(gm_kernel_runs_on(&sm80, rule[i].major, rule[i].minor), rule[i].sm80);
        ck_assert_int_eq(gm_kernel_runs_on(&sm90, rule[i].major, rule[i].minor), rule[i].sm90);
    }
}
END_TEST

START_TEST(kernel_get_tells_the_columns) {
    ck_assert_uint_gt(gm_kernel_count(), 0);
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *row = &gm_kernels[i];
        struct gm_kernel_info info = {.size = sizeof info};
        assert_ok(gm_kernel_get(i, &info));
        ck_assert_str_eq(info.name, row->name);
        ck_assert_int_eq(info.tile_m, row->tile_m);
        ck_assert_int_eq(info.tile_n, row->tile_n);
        ck_assert_int_eq(info.splits, GM_WARPS_SPLITS(row->warps));
        ck_assert_int_eq(info.swapped, GM_WARPS_SWAPPED(row->warps));
        ck_assert_int_eq(info.slices, GM_WARPS_SLICES(row->warps));
        ck_assert_str_eq(info.family, gm_family_name(row->family));
        ck_assert_int_eq(info.tile_k, row->tile_k);
        ck_assert_int_eq(info.stages, row->stages);
        ck_assert_int_eq(info.a_major == GM_MN_MAJOR, GM_LAYOUT_A_MN(row->layout));
        ck_assert_int_eq(info.b_major == GM_MN_MAJOR, GM_LAYOUT_B_MN(row->layout));
        ck_assert_int_eq(info.smem_bytes, row->smem_bytes);
        ck_assert_int_eq(info.deterministic, 1);
        ck_assert_str_eq(info.targets, row->arch == GM_ARCH_SM90 ? "sm_90a" : "sm_80 sm_90 compute_80");
        ck_assert_uint_eq(info.image_bytes, (size_t)(row->image_end - row->image));
        ck_assert_uint_eq(info.size, sizeof info);
    }
}
END_TEST

START_TEST(kernel_get_refuses_bad_requests) {
    struct gm_kernel_info info = {.size = sizeof info, .tile_m = -1};
    assert_fails(gm_kernel_get(gm_kernel_count(), &info), GM_ERROR_INVALID_ARGUMENT, "rows");
    assert_fails(gm_kernel_get(0, NULL), GM_ERROR_INVALID_ARGUMENT, "info is NULL");
    info.size = 0;
    assert_fails(gm_kernel_get(0, &info), GM_ERROR_SIZE, "info.size is 0");
    ck_assert_int_eq(info.tile_m, -1);
}
END_TEST

Suite *table_suite(void) {
    Suite *suite = suite_create("table");
    TCase *cases = tcase_create("registry");
    tcase_add_test(cases, names_are_unique);
    tcase_add_test(cases, names_follow_from_the_columns);
    tcase_add_test(cases, shared_memory_fits_the_architecture);
    tcase_add_test(cases, sm90_tiles_are_whole_atoms_spans_and_boxes);
    tcase_add_test(cases, sm80_tiles_are_whole_warp_tiles);
    tcase_add_test(cases, gemv_tiles_are_whole_warps_rows);
    tcase_add_test(cases, every_row_has_an_image_and_a_compilers_report);
    tcase_add_test(cases, every_type_and_layout_has_a_production_sm80_row_that_fits_99_kb);
    tcase_add_test(cases, images_run_where_the_rule_says);
    tcase_add_test(cases, kernel_get_tells_the_columns);
    tcase_add_test(cases, kernel_get_refuses_bad_requests);
    suite_add_tcase(suite, cases);
    return suite;
}
