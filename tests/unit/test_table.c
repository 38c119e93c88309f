/* SPDX-License-Identifier: Apache-2.0 */
/* The registry: what every row must satisfy, and what the table as a whole must cover. */
#include "common/gemv/tile.h"
#include "host/gemm/problem.h"
#include "host/gemm_fp32/gemm_fp32.h"
#include "host/gemm_sm80/gemm_sm80.h"
#include "host/gemm_sm90/gemm_sm90.h"
#include "host/types.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SM90_SMEM_LIMIT 232448
#define SM80_SMEM_LIMIT 166912
#define MAX_BOX         256

static int has_arch(enum gm_arch arch) {
    for (size_t i = 0; i < gm_kernel_count(); i++)
        if (gm_kernels[i].arch == arch)
            return 1;
    return 0;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

START_TEST(names_are_unique) {
    const size_t count = gm_kernel_count();
    const char **names = calloc(count, sizeof *names);
    for (size_t i = 0; i < count; i++)
        names[i] = gm_kernels[i].name;
    qsort(names, count, sizeof *names, by_name);
    for (size_t i = 1; i < count; i++)
        ck_assert_str_ne(names[i - 1], names[i]);
    free(names);
}
END_TEST

/* "k4", "" where it is 1 */
static const char *times(const char *letter, int count, char text[16]) {
    text[0] = 0;
    if (count > 1)
        snprintf(text, 16, "%s%d", letter, count);
    return text;
}

/* "gemm_sm90_bf16_tn_128x256x64_s4_c2x1", but for gemv's, which begin otherwise. */
static int print_tiles(const struct gm_kernel *row, const char *family, char *name, size_t bytes) {
    const struct gm_gemm_variant v = gm_gemm_variant(row);
    return snprintf(name, bytes, "%s_%s_%s_%dx%dx%d_s%d_c%dx%d_", family, gm_type_name(row->type),
                    gm_gemm_layout_name(v.layout), v.tile_m, v.tile_n, v.tile_k, v.stages, v.cluster_m, v.cluster_n);
}

/* "gemm_fp32_tn_128x256x32_s3_c1x1_w2x4": the family says the type. */
static void print_fp32_name(const struct gm_kernel *row, const struct gm_gemm_kernel_info *info, char *name,
                            size_t bytes) {
    const struct gm_gemm_variant v = gm_gemm_variant(row);
    snprintf(name, bytes, "gemm_fp32_%s_%dx%dx%d_s%d_c1x1_w%dx%d%s", gm_gemm_layout_name(v.layout), v.tile_m, v.tile_n,
             v.tile_k, v.stages, info->warps_m, info->warps_n, info->batch ? "b" : "");
}

static void print_name(const struct gm_kernel *row, char *name, size_t bytes) {
    struct gm_gemm_kernel_info info = {.size = sizeof info};
    char text[16];
    assert_ok(gm_gemm_kernel_get((size_t)(row - gm_kernels), &info));
    if (row->family == &gm_family_gemm_sm90) {
        const int at = print_tiles(row, "gemm_sm90", name, bytes);
        snprintf(name + at, bytes - (size_t)at, "%c%d%s%s%s%s%s%s%s%s_sw%d", info.schedule == GM_PINGPONG ? 'p' : 'w',
                 info.consumers, info.swap ? "s" : "", times("k", info.cluster_k, text), info.split_k ? "r" : "",
                 info.gate ? "g" : "", info.batch ? "b" : "", info.extended ? "e" : "",
                 info.fast_accumulation ? "f" : "",
                 info.sum_scales == 2 ? "xc"
                 : info.sum_scales    ? "x"
                                      : "",
                 (int)info.smem_map);
    } else if (row->family == &gm_family_gemm_sm80) {
        const int at = print_tiles(row, "gemm_sm80", name, bytes);
        snprintf(name + at, bytes - (size_t)at, "w%dx%d%s%s%s_%s", info.warps_m, info.warps_n,
                 times("k", info.warp_k, text), info.batch ? "b" : "", info.extended ? "e" : "",
                 info.smem_map == GM_SMEM_PADDED ? "pad" : "xor");
    } else if (row->family == &gm_family_gemm_fp32) {
        print_fp32_name(row, &info, name, bytes);
    } else {
        const int at = print_tiles(row, row->arch == GM_ARCH_SM90 ? "gemv_sm90" : "gemv_sm80", name, bytes);
        snprintf(name + at, bytes - (size_t)at, "w%dx%d_none", info.warp_k, info.warps_n);
    }
}

START_TEST(names_follow_from_the_columns) {
    for (size_t i = 0; i < gemm_count(); i++) {
        char name[128];
        print_name(&gm_kernels[i], name, sizeof name);
        ck_assert_str_eq(gm_kernels[i].name, name);
    }
}
END_TEST

START_TEST(shared_memory_fits_the_architecture) {
    for (size_t i = 0; i < gemm_count(); i++) {
        const struct gm_kernel *row = &gm_kernels[i];
        const int limit = row->arch == GM_ARCH_SM90 ? SM90_SMEM_LIMIT : SM80_SMEM_LIMIT;
        const int least = row->family != &gm_family_gemv;
        ck_assert_msg(row->smem_bytes >= least && row->smem_bytes <= limit, "%s: %d bytes, limit %d", row->name,
                      row->smem_bytes, limit);
    }
}
END_TEST

START_TEST(sm90_tiles_are_whole_atoms_spans_and_boxes) {
    for (size_t i = 0; i < gemm_count(); i++) {
        const struct gm_kernel *row = &gm_kernels[i];
        if (row->family != &gm_family_gemm_sm90)
            continue;
        const struct gm_gemm_variant v = gm_gemm_variant(row);
        const int roles = gm_sm90_roles(&v), schedule = GM_SM90_SCHEDULE(roles), consumers = GM_SM90_CONSUMERS(roles);
        const int span_elems = gm_sm90_swizzle(&v) / gm_type_bytes(row->type);
        ck_assert_msg(schedule == GM_COOPERATIVE || schedule == GM_PINGPONG, "%s: schedule", row->name);
        ck_assert_msg(v.warp_k == 1, "%s: warp_k", row->name);
        const int side_m = GM_SM90_WGMMA_M(v.tile_m, v.tile_n, roles);
        const int side_n = GM_SM90_WGMMA_N(v.tile_m, v.tile_n, roles);
        ck_assert_msg(side_m % (schedule == GM_PINGPONG ? 64 : 64 * consumers) == 0, "%s: M side", row->name);
        ck_assert_msg(side_n % 8 == 0 && side_n >= 16 && side_n <= 256, "%s: N side", row->name);
        ck_assert_msg(v.cluster_k == 1 || (v.cluster_m == 1 && v.cluster_n == 1), "%s: cluster_k", row->name);
        ck_assert_msg(v.tile_k % 16 == 0 && v.tile_k > 0, "%s: tile_k", row->name);
        ck_assert_msg((GM_LAYOUT_A_MN(v.layout) ? v.tile_m : v.tile_k) % span_elems == 0, "%s: A span", row->name);
        ck_assert_msg((GM_LAYOUT_B_MN(v.layout) ? v.tile_n : v.tile_k) % span_elems == 0, "%s: B span", row->name);
        ck_assert_msg(v.tile_m / v.cluster_n <= MAX_BOX && v.tile_n / v.cluster_m <= MAX_BOX, "%s: box", row->name);
        /* Multicast shares are equal; swizzle goes by address, so they need not be whole patterns of 8 rows. */
        const int a_rows = GM_LAYOUT_A_MN(v.layout) ? v.tile_k : v.tile_m;
        const int b_rows = GM_LAYOUT_B_MN(v.layout) ? v.tile_k : v.tile_n;
        ck_assert_msg(a_rows % v.cluster_n == 0 && b_rows % v.cluster_m == 0, "%s: share", row->name);
        ck_assert_msg(v.cluster_m * v.cluster_n <= 8, "%s: cluster", row->name);
        ck_assert_int_eq(row->cluster_ctas, gm_cluster_size(&v));
        ck_assert_msg(v.stages >= 2, "%s: stages", row->name);
        ck_assert_int_eq(row->threads, 128 * (consumers + 1 + (row->type == GM_TF32X3))); /* and the splitters */
        ck_assert_int_eq(v.persistent, !v.split_k);
        ck_assert_int_eq(v.stream_k_slots, schedule == GM_PINGPONG ? 1 : consumers);
        ck_assert_uint_eq(row->traits, GM_TRAIT_ONE_CTA_PER_SM | GM_TRAIT_OVERLAPS_LAUNCHES);
    }
}
END_TEST

START_TEST(sm80_tiles_are_whole_warp_tiles) {
    for (size_t i = 0; i < gemm_count(); i++) {
        const struct gm_kernel *row = &gm_kernels[i];
        if (row->family != &gm_family_gemm_sm80)
            continue;
        const struct gm_gemm_variant v = gm_gemm_variant(row);
        const int warps = gm_sm80_warps(&v), map = row->columns[GM_GEMM_SM80_SMEM_MAP];
        ck_assert_msg(v.tile_m % (16 * GM_SM80_WARPS_M(warps)) == 0, "%s: tile_m", row->name);
        ck_assert_msg(v.tile_n % (8 * GM_SM80_WARPS_N(warps)) == 0, "%s: tile_n", row->name);
        ck_assert_msg(v.tile_k * gm_type_bytes(row->type) % (64 * v.warp_k) == 0, "%s: tile_k", row->name);
        ck_assert_msg(v.cluster_m == 1 && v.cluster_n == 1 && row->cluster_ctas == 1, "%s: cluster", row->name);
        ck_assert_msg(v.stages >= 2, "%s: stages", row->name);
        ck_assert_msg(map == GM_SMEM_MAP_pad || map == GM_SMEM_MAP_xor, "%s: map", row->name);
        ck_assert_msg(GM_SM80_EXCHANGE_BYTES(v.tile_m, v.tile_n, warps) <=
                          v.stages * GM_SM80_STAGE_BYTES(v.tile_m, v.tile_n, v.tile_k, v.layout, map, row->type),
                      "%s: the ring does not hold the sums of the other parts of K", row->name);
        ck_assert_int_eq(row->threads, 32 * GM_SM80_WARPS_M(warps) * GM_SM80_WARPS_N(warps) * v.warp_k);
        ck_assert_int_le(row->threads, 1024);
        ck_assert(v.persistent && !v.split_k && v.stream_k_slots == 1);
        ck_assert_uint_eq(row->traits, 0);
    }
}
END_TEST

START_TEST(gemv_tiles_are_whole_warps_rows) {
    for (size_t i = 0; i < gemm_count(); i++) {
        const struct gm_kernel *row = &gm_kernels[i];
        if (row->family != &gm_family_gemv)
            continue;
        const struct gm_gemm_variant v = gm_gemm_variant(row);
        const int warps_k = row->columns[GM_GEMV_WARPS_K], warps_n = row->columns[GM_GEMV_WARPS_N];
        const int sums = v.tile_m * v.tile_n / warps_n;
        ck_assert_int_eq(v.layout, GM_LAYOUT_tn);
        ck_assert_msg(v.tile_n % warps_n == 0 && sums <= 32 && 32 % sums == 0, "%s: sums", row->name);
        ck_assert_int_eq(v.tile_k, 256 * warps_k);
        ck_assert_int_eq(row->threads, 32 * warps_k * warps_n);
        ck_assert_int_eq(GM_GEMV_SM_THREADS % row->threads, 0);
        ck_assert_msg(row->registers <= 65536 / GM_GEMV_SM_THREADS, "%s: %d registers", row->name, row->registers);
        ck_assert_msg(v.cluster_m == 1 && v.cluster_n == 1 && row->cluster_ctas == 1, "%s: cluster", row->name);
        ck_assert(!v.persistent);
        ck_assert_uint_eq(row->traits, row->arch == GM_ARCH_SM90 ? GM_TRAIT_OVERLAPS_LAUNCHES : 0);
    }
}
END_TEST

START_TEST(every_row_has_an_image_and_a_compilers_report) {
    for (size_t i = 0; i < gemm_count(); i++) {
        const struct gm_kernel *row = &gm_kernels[i];
        for (int k = row->image.first; k < row->image.first + row->image.count; k++) {
            const struct gm_packed_part *part = &gm_parts[k];
            ck_assert_msg(part->packed_bytes > 0 && part->bytes > part->packed_bytes, "%s", row->name);
            ck_assert_msg(part->base < k, "%s", row->name);
        }
        ck_assert_msg(row->registers > 0 && row->registers <= 255, "%s: %d registers", row->name, row->registers);
        ck_assert_msg(row->spill_bytes >= 0, "%s", row->name);
    }
}
END_TEST

START_TEST(fp32_tiles_are_whole_groups_of_lanes) {
    for (size_t i = 0; i < gemm_count(); i++) {
        const struct gm_kernel *row = &gm_kernels[i];
        if (row->family != &gm_family_gemm_fp32)
            continue;
        const struct gm_gemm_variant v = gm_gemm_variant(row);
        const int32_t *c = row->columns;
        ck_assert_int_eq(row->type, GM_FP32);
        ck_assert_msg(v.tile_m % (16 * c[GM_GEMM_FP32_WARPS_M]) == 0, "%s: tile_m", row->name);
        ck_assert_msg(v.tile_n % (16 * c[GM_GEMM_FP32_WARPS_N]) == 0, "%s: tile_n", row->name);
        ck_assert_msg(v.tile_k == 16 || v.tile_k == 32, "%s: tile_k", row->name);
        ck_assert_msg(v.stages >= 3, "%s: stages", row->name);
        ck_assert_int_eq(row->threads, 32 * c[GM_GEMM_FP32_WARPS_M] * c[GM_GEMM_FP32_WARPS_N]);
        ck_assert_int_eq(row->smem_bytes, 4 * (v.tile_m + v.tile_n) * v.tile_k * v.stages);
        ck_assert(v.persistent && !v.split_k && v.warp_k == 1 && v.stream_k_slots == 1);
        ck_assert_uint_eq(row->traits, 0);
    }
}
END_TEST

/* What makes "no legal shape is refused" true: the smallest devices must have a row too. */
START_TEST(every_type_and_layout_has_a_production_sm80_row_that_fits_99_kb) {
    if (!has_arch(GM_ARCH_SM80))
        return;
    static const enum gm_type types[] = {GM_BF16, GM_FP16, GM_FP32, GM_TF32, GM_TF32X3, GM_INT8, GM_E4M3, GM_E5M2};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        const enum gm_type type = types[t];
        const struct gm_family *family = type == GM_FP32 ? &gm_family_gemm_fp32 : &gm_family_gemm_sm80;
        for (int layout = 0; layout < (gm_type_bytes(type) == 1 ? 1 : 4); layout++) { /* of 8 bits others are turned */
            int found = 0;
            for (size_t i = 0; i < gemm_count(); i++) {
                const struct gm_kernel *row = &gm_kernels[i];
                found += row->family == family && row->production && row->type == type &&
                         gm_gemm_variant(row).layout == layout && row->smem_bytes <= 101376;
            }
            ck_assert_msg(found > 0, "no production sm80 row for %s %s", gm_type_name(type),
                          gm_gemm_layout_name(layout));
        }
    }
}
END_TEST

START_TEST(images_run_where_the_rule_says) {
    static const struct {
        int major, minor, sm80, sm90;
    } rule[] = {{7, 5, 0, 0}, {8, 0, 1, 0},  {8, 6, 1, 0},  {8, 7, 1, 0}, {8, 9, 1, 0},
                {9, 0, 1, 1}, {10, 0, 1, 0}, {10, 3, 1, 0}, {12, 0, 1, 0}};
    const struct gm_kernel sm80 = {.arch = GM_ARCH_SM80}, sm90 = {.arch = GM_ARCH_SM90};
    for (size_t i = 0; i < sizeof rule / sizeof *rule; i++) {
        ck_assert_int_eq(gm_kernel_runs_on(&sm80, rule[i].major, rule[i].minor), rule[i].sm80);
        ck_assert_int_eq(gm_kernel_runs_on(&sm90, rule[i].major, rule[i].minor), rule[i].sm90);
    }
}
END_TEST

START_TEST(archs_have_names_and_bits) {
    ck_assert_str_eq(gm_arch_name(GM_ARCH_SM80), "sm80");
    ck_assert_str_eq(gm_arch_name(GM_ARCH_SM90), "sm90");
    ck_assert_uint_eq(gm_arch_bits(), GM_ARCH_SM80 | GM_ARCH_SM90);
}
END_TEST

START_TEST(kernel_get_tells_what_all_kernels_have) {
    ck_assert_uint_gt(gm_kernel_count(), 0);
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *row = &gm_kernels[i];
        struct gm_kernel_info info = {.size = sizeof info};
        assert_ok(gm_kernel_get(i, &info));
        ck_assert_str_eq(info.name, row->name);
        ck_assert_str_eq(info.operation, row->family->operation->name);
        ck_assert_str_eq(info.family, row->family->name);
        ck_assert_int_eq(info.arch, row->arch);
        ck_assert_int_eq(info.production, row->production);
        ck_assert_int_eq(info.type, row->type);
        ck_assert_int_eq(info.threads, row->threads);
        ck_assert_int_eq(info.smem_bytes, row->smem_bytes);
        ck_assert_int_eq(info.cluster_ctas, row->cluster_ctas);
        ck_assert_int_eq(info.registers, row->registers);
        ck_assert_int_eq(info.spill_bytes, row->spill_bytes);
        ck_assert_str_eq(info.columns, row->words);
        ck_assert_str_eq(info.targets, row->targets);
        if (row->arch == GM_ARCH_SM90)
            ck_assert_str_eq(info.targets, "sm_90a");
        else if (row->family->operation == &gm_operation_gemm || row->family == &gm_family_attention_sm80)
            ck_assert_str_eq(info.targets, "sm_80 sm_90 compute_80");
        else /* its sm90 kernels are the same */
            ck_assert_str_eq(info.targets, "sm_80 compute_80");
        ck_assert_uint_eq(info.image_bytes, row->image.packed_bytes);
        ck_assert_uint_eq(info.size, sizeof info);
    }
}
END_TEST

START_TEST(kernel_get_refuses_bad_requests) {
    struct gm_kernel_info info = {.size = sizeof info, .threads = -1};
    assert_fails(gm_kernel_get(gm_kernel_count(), &info), GM_ERROR_INVALID_ARGUMENT, "kernels");
    assert_fails(gm_kernel_get(0, NULL), GM_ERROR_INVALID_ARGUMENT, "info is NULL");
    info.size = 0;
    assert_fails(gm_kernel_get(0, &info), GM_ERROR_SIZE, "info.size is 0");
    ck_assert_int_eq(info.threads, -1);
}
END_TEST

/* A column by its word: "tile_m=128 " of "... tile_m=128 tile_n=256 ..."; the number of its value, or -1. */
static int column(const char *words, const char *name) {
    char wanted[32];
    snprintf(wanted, sizeof wanted, "%s=", name);
    for (const char *at = words; at; at = strchr(at, ' '), at += at != NULL)
        if (strncmp(at, wanted, strlen(wanted)) == 0) {
            int number = -1;
            return sscanf(at + strlen(wanted), "%d", &number) == 1 ? number : -1;
        }
    return -1;
}

/* The words, the numbers in the table, and what gm_gemm_kernel_get() says are from one registry. */
START_TEST(gemm_kernel_get_tells_the_columns) {
    for (size_t i = 0; i < gemm_count(); i++) {
        const struct gm_kernel *row = &gm_kernels[i];
        const int is_sm90 = row->family == &gm_family_gemm_sm90, is_gemv = row->family == &gm_family_gemv;
        const int is_fp32 = row->family == &gm_family_gemm_fp32;
        struct gm_gemm_kernel_info info = {.size = sizeof info};
        assert_ok(gm_gemm_kernel_get(i, &info));
        ck_assert_uint_eq(info.size, sizeof info);
        ck_assert_int_eq(info.tile_m, column(row->words, "tile_m"));
        ck_assert_int_eq(info.tile_n, column(row->words, "tile_n"));
        ck_assert_int_eq(info.tile_k, column(row->words, "tile_k"));
        ck_assert_int_eq(info.stages, column(row->words, "stages"));
        ck_assert_int_eq(info.cluster_m, is_sm90 ? column(row->words, "cluster_m") : 1);
        ck_assert_int_eq(info.cluster_n, is_sm90 ? column(row->words, "cluster_n") : 1);
        ck_assert_int_eq(info.cluster_k, is_sm90 ? column(row->words, "cluster_k") : 1);
        ck_assert_int_eq(info.consumers, is_sm90 ? column(row->words, "consumers") : 0);
        ck_assert_int_eq(info.warps_m, is_sm90 ? 0 : is_gemv ? 1 : column(row->words, "warps_m"));
        ck_assert_int_eq(info.warps_n, is_sm90 ? 0 : column(row->words, "warps_n"));
        ck_assert_int_eq(info.warp_k, is_sm90 ? 1 : is_fp32 ? 1 : column(row->words, is_gemv ? "warps_k" : "warp_k"));
        ck_assert_int_eq(info.swap, strstr(row->words, "swap=swap") != NULL);
        ck_assert_int_eq(info.split_k, strstr(row->words, "split_k=split") != NULL);
        ck_assert_int_eq(info.schedule, strstr(row->words, "=pingpong") ? GM_PINGPONG
                                        : is_sm90                       ? GM_COOPERATIVE
                                                                        : GM_MULTISTAGE);
        ck_assert_int_eq(info.smem_map, is_sm90   ? row->columns[GM_GEMM_SM90_SWIZZLE]
                                        : is_gemv ? GM_SMEM_NONE
                                        : is_fp32 ? GM_SMEM_XOR
                                                  : row->columns[GM_GEMM_SM80_SMEM_MAP]);
        const char *layout = strstr(row->words, "layout=");
        ck_assert_int_eq(info.a_major == GM_MN_MAJOR, layout && layout[7] == 'n');
        ck_assert_int_eq(info.b_major == GM_MN_MAJOR, layout && layout[8] == 't');
    }
}
END_TEST

START_TEST(gemm_kernel_get_refuses_bad_requests) {
    struct gm_gemm_kernel_info info = {.size = sizeof info, .tile_m = -1};
    assert_fails(gm_gemm_kernel_get(gm_kernel_count(), &info), GM_ERROR_INVALID_ARGUMENT, "is no kernel of gemm");
    assert_fails(gm_gemm_kernel_get(SIZE_MAX, &info), GM_ERROR_INVALID_ARGUMENT, "is no kernel of gemm");
    assert_fails(gm_gemm_kernel_get(0, NULL), GM_ERROR_INVALID_ARGUMENT, "info is NULL");
    info.size = 0;
    assert_fails(gm_gemm_kernel_get(0, &info), GM_ERROR_SIZE, "info.size is 0");
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
    tcase_add_test(cases, fp32_tiles_are_whole_groups_of_lanes);
    tcase_add_test(cases, gemv_tiles_are_whole_warps_rows);
    tcase_add_test(cases, every_row_has_an_image_and_a_compilers_report);
    tcase_add_test(cases, every_type_and_layout_has_a_production_sm80_row_that_fits_99_kb);
    tcase_add_test(cases, images_run_where_the_rule_says);
    tcase_add_test(cases, archs_have_names_and_bits);
    tcase_add_test(cases, kernel_get_tells_what_all_kernels_have);
    tcase_add_test(cases, kernel_get_refuses_bad_requests);
    tcase_add_test(cases, gemm_kernel_get_tells_the_columns);
    tcase_add_test(cases, gemm_kernel_get_refuses_bad_requests);
    suite_add_tcase(suite, cases);
    return suite;
}
