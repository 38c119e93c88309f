/* SPDX-License-Identifier: Apache-2.0 */
/* Stream-K: what the planner divides, and what a plan launches. */
#include "choose.h"
#include "planned.h"

#include <stdio.h>
#include <string.h>

/* ---- the planner ----------------------------------------------------------------------------------------------- */

static const struct gm_kernel big = {.name = "big",
                                     .arch = GM_ARCH_SM80,
                                     .production = 1,
                                     .tile_m = 128,
                                     .tile_n = 256,
                                     .tile_k = 64,
                                     .stages = 3,
                                     .cluster_m = 1,
                                     .cluster_n = 1,
                                     .warps = GM_WARPS_w2x4,
                                     .smem_map = GM_MAP_xor,
                                     .threads = 256,
                                     .registers = 250,
                                     .smem_bytes = 165888,
                                     .targets = "sm_80 sm_90 compute_80"};
#define SLOT_BYTES (128 * 256 * 4 + 8)

static struct gm_split choice(const char *model, int64_t m, int64_t n, int64_t k, size_t limit) {
    const struct gm_device device = device_of(model);
    struct gm_gemm_problem p = problem_of(m, n, k), q;
    assert_ok(gm_problem_normalize(&p, &q));
    return gm_split_choose(&big, &q, &device, limit, GM_KIND_BEST);
}

START_TEST(few_tiles_and_a_long_k_are_split) {
    const struct gm_split split = choice("a100", 256, 512, 65536, 1 << 30), none = choice("a100", 256, 512, 65536, 0);
    ck_assert_int_eq(split.whole, 0);
    ck_assert_int_ge(split.shares, 8);
    ck_assert_int_le(split.shares, 108);
    ck_assert_uint_eq(split.workspace_bytes, (size_t)split.shares * SLOT_BYTES);
    ck_assert_int_eq(none.shares, 0);
    ck_assert_int_eq(none.whole, 4);
    ck_assert_uint_eq(none.workspace_bytes, 0);
    ck_assert(split.predicted_us < none.predicted_us / 2);
}
END_TEST

START_TEST(the_workspace_stays_within_its_limit) {
    for (int slots = 0; slots < 20; slots++) {
        const size_t limit = (size_t)slots * SLOT_BYTES + 100;
        const struct gm_split split = choice("a100", 256, 512, 65536, limit);
        ck_assert_uint_le(split.workspace_bytes, limit);
        ck_assert_int_eq(split.shares > 0, slots >= 8); /* two pieces of each of the four tiles */
    }
}
END_TEST

START_TEST(a_ragged_wave_is_divided_and_a_full_one_is_not) {
    const struct gm_split ragged = choice("a100", 128 * 11, 256 * 10, 32768, 1 << 30); /* 110 tiles on 108 SMs */
    ck_assert_int_eq(ragged.whole, 0); /* two tiles over all CTAs would be many small pieces: one wave goes with them */
    ck_assert_int_eq(ragged.shares, 108);
    ck_assert_int_eq(choice("a100", 128 * 12, 256 * 9, 32768, 1 << 30).shares, 0); /* 108 tiles */
    ck_assert_int_eq(choice("a100", 128 * 11, 256 * 10, 512, 1 << 30).shares, 0);  /* K too short to be worth it */
    ck_assert_int_eq(choice("a100", 128, 256, 0, 1 << 30).shares, 0);
    ck_assert_int_eq(choice("a100", 128, 256, 64 * 15, 1 << 30).shares, 0); /* no two pieces of 8 k-blocks */
}
END_TEST

static struct gm_split of_big(const struct gm_gemm_problem *q, const struct gm_device *device, int64_t whole,
                              int64_t shares) {
    const struct gm_division division = {whole, shares, 0};
    return gm_split_of(&big, q, device, &division);
}

START_TEST(what_the_kernel_cannot_count_is_not_divided) {
    const struct gm_device device = device_of("a100");
    struct gm_gemm_problem p = problem_of(1280, 2560, INT32_MAX), q; /* 100 tiles of 2^25 k-blocks: 2^31 units */
    assert_ok(gm_problem_normalize(&p, &q));
    ck_assert_int_eq(of_big(&q, &device, 0, 100).shares, 0);
    ck_assert_int_eq(of_big(&q, &device, 50, 100).shares, 100);
    ck_assert_int_eq(of_big(&q, &device, 50, 109).shares, 0);
    ck_assert_int_eq(of_big(&q, &device, 100, 4).shares, 0);
    ck_assert_int_eq(of_big(&q, &device, -1, 4).shares, 0);
}
END_TEST

/* A slot for each consumer that holds a part of the tile: two cooperative ones, one of two in ping-pong. */
START_TEST(sm90_rows_are_divided_by_clusters) {
    static const struct {
        int warps, cluster, slots; /* slots of one share */
    } rows[] = {{GM_WARPS_w2, 1, 2}, {GM_WARPS_w2, 2, 4}, {GM_WARPS_p2, 1, 1}, {GM_WARPS_p2, 2, 2}, {GM_WARPS_w1, 1, 1}};
    const struct gm_device device = device_of("h200");
    const struct gm_gemm_problem p = problem_of(128, 256, 65536);
    struct gm_gemm_problem q;
    assert_ok(gm_problem_normalize(&p, &q));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gm_kernel row = big;
        row.arch = GM_ARCH_SM90, row.warps = rows[i].warps, row.smem_map = GM_MAP_sw128, row.cluster_m = rows[i].cluster;
        const struct gm_split split = gm_split_choose(&row, &q, &device, 1 << 30, GM_KIND_ANYWHERE);
        ck_assert_int_gt(split.shares, 1);
        ck_assert_int_le(split.shares, device.sm_count / rows[i].cluster);
        ck_assert_uint_eq(split.workspace_bytes,
                          (size_t)split.shares * (size_t)(rows[i].cluster * 128 * 256 * 4 + rows[i].slots * 8));
    }
}
END_TEST

static struct gm_kernel sm90_big(int warps) {
    struct gm_kernel row = big;
    row.arch = GM_ARCH_SM90, row.warps = warps, row.smem_map = GM_MAP_sw128;
    return row;
}

/* A flag for each piece that reads a slot. */
START_TEST(tiles_are_cut_into_as_many_pieces_as_asked_for) {
    const struct gm_device device = device_of("h200");
    const struct gm_kernel row = sm90_big(GM_WARPS_w2r), other = sm90_big(GM_WARPS_w2);
    const struct gm_gemm_problem p = problem_of(256, 512, 65536);
    struct gm_gemm_problem q;
    assert_ok(gm_problem_normalize(&p, &q));
    for (int kind = 2; kind < GM_KINDS; kind++) {
        const struct gm_split split = gm_split_choose(&row, &q, &device, 1 << 30, kind);
        ck_assert_int_eq(gm_split_kind(&split), kind);
        ck_assert(split.whole == 0 && split.pieces == kind && split.shares == 4 * kind);
        ck_assert_uint_eq(split.workspace_bytes, (size_t)(4 * kind) * (size_t)(128 * 256 * 4 + 8 * kind));
        ck_assert_int_eq(gm_split_choose(&row, &q, &device, split.workspace_bytes - 1, kind).shares, 0);
        ck_assert_int_eq(gm_split_choose(&other, &q, &device, 1 << 30, kind).shares, 0); /* not made for it */
        const struct gm_stream_k params = gm_split_params(&row, &q, &split);
        ck_assert(params.even == 4 && params.shares == 4 * kind);
        ck_assert_int_eq(params.blocks * kind + params.more, 1024);
    }
    const struct gm_split best = gm_split_choose(&row, &q, &device, 1 << 30, GM_KIND_BEST);
    const struct gm_split same = gm_split_choose(&row, &q, &device, 1 << 30, gm_split_kind(&best));
    ck_assert_double_eq(best.predicted_us, same.predicted_us);
    ck_assert_int_ge(gm_split_kind(&best), 2);
    ck_assert_int_eq(gm_split_choose(&row, &q, &device, 1 << 30, GM_KIND_ANYWHERE).shares, 0);
}
END_TEST

START_TEST(an_even_cut_needs_a_k_block_a_piece_and_a_cta_each) {
    const struct gm_device device = device_of("h200");
    const struct gm_kernel row = sm90_big(GM_WARPS_w2r);
    const struct gm_gemm_problem p = problem_of(128, 256, 64 * 3);
    const struct gm_division cuts[] = {{0, 3, 3}, {0, 4, 4}, {0, 4, 2}, {0, 1, 1}, {1, 2, 2}};
    struct gm_gemm_problem q;
    assert_ok(gm_problem_normalize(&p, &q));
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++)
        ck_assert_int_eq(gm_split_of(&row, &q, &device, &cuts[i]).shares, i == 0 ? 3 : 0);
}
END_TEST

START_TEST(names_say_how_tiles_are_divided) {
    static const struct {
        const char *name;
        int kind;
        size_t bytes;
    } names[] = {{"row", GM_KIND_WHOLE, 3},
                 {"row/k", GM_KIND_ANYWHERE, 3},
                 {"row/k2", 2, 3},
                 {"row/k8", 8, 3},
                 {"row/k9", GM_KIND_WHOLE, 6},
                 {"row/k1", GM_KIND_WHOLE, 6},
                 {"row/k0", GM_KIND_WHOLE, 6},
                 {"row/k02", 2, 3},
                 {"row/k123", GM_KIND_WHOLE, 8},
                 {"row/2", GM_KIND_WHOLE, 5},
                 {"/k3", 3, 0},
                 {"k3", GM_KIND_WHOLE, 2},
                 {"3", GM_KIND_WHOLE, 1},
                 {"", GM_KIND_WHOLE, 0}};
    char text[GM_KIND_SUFFIX_BYTES];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t bytes = strlen(names[i].name);
        ck_assert_msg(gm_take_kind(names[i].name, &bytes) == names[i].kind, "%s", names[i].name);
        ck_assert_uint_eq(bytes, names[i].bytes);
    }
    ck_assert_str_eq(gm_kind_suffix(GM_KIND_WHOLE, text), "");
    ck_assert_str_eq(gm_kind_suffix(GM_KIND_ANYWHERE, text), "/k");
    ck_assert_str_eq(gm_kind_suffix(3, text), "/k3");
}
END_TEST

START_TEST(a_kernel_may_be_asked_for_with_its_division) {
    const struct gm_device device = device_of("h200");
    struct gm_kernel row = sm90_big(GM_WARPS_w2r);
    const struct gm_gemm_problem p = problem_of(128, 256, 65536);
    struct gm_plan_options options = {.size = sizeof options, .workspace_limit = 1 << 30};
    char sentence[232];
    struct gm_gemm_problem q;
    assert_ok(gm_problem_normalize(&p, &q));
    options.kernel = "big/k3";
    struct gm_judgement judgement = gm_judge(&row, &device, &q, &options, sentence, sizeof sentence);
    ck_assert_int_eq(judgement.reason, GM_ACCEPTED);
    ck_assert_int_eq(gm_split_kind(&judgement.split), 3);
    ck_assert_msg(strstr(sentence, "; 1 of them divided by k-blocks, 3 pieces each, among 3 CTAs") != NULL, "%s",
                  sentence);
    ck_assert_int_eq(gm_choose(&row, 1, &device, &q, &options, &judgement), 0);
    ck_assert_int_eq(gm_split_kind(&judgement.split), 3);
    options.kernel = "big/k";
    ck_assert_int_eq(gm_judge(&row, &device, &q, &options, sentence, sizeof sentence).reason, GM_REASON_DIVISION);
    row.warps = GM_WARPS_w2;
    judgement = gm_judge(&row, &device, &q, &options, sentence, sizeof sentence);
    ck_assert_int_eq(gm_split_kind(&judgement.split), GM_KIND_ANYWHERE);
    options.workspace_limit = 0;
    ck_assert_int_eq(gm_judge(&row, &device, &q, &options, sentence, sizeof sentence).reason, GM_REASON_DIVISION);
    ck_assert_msg(strstr(sentence, "cannot be divided as big/k says") != NULL, "%s", sentence);
    ck_assert_int_eq(gm_choose(&row, 1, &device, &q, &options, NULL), -1);
    options.kernel = "other/k3";
    ck_assert_int_eq(gm_judge(&row, &device, &q, &options, sentence, sizeof sentence).reason, GM_REASON_NOT_NAMED);
}
END_TEST

/* By name a tile may be left whole; of its own accord the planner takes such a row only to cut tiles. */
START_TEST(a_row_that_reduces_is_chosen_where_it_cuts_tiles) {
    const struct gm_device device = device_of("h200");
    const struct gm_kernel row = sm90_big(GM_WARPS_w2r);
    const struct gm_gemm_problem p = problem_of(128, 256, 65536), many = problem_of(128 * 40, 256 * 40, 64);
    struct gm_plan_options options = {.size = sizeof options, .workspace_limit = 1 << 30};
    char sentence[232];
    struct gm_gemm_problem q;
    assert_ok(gm_problem_normalize(&p, &q));
    ck_assert_int_eq(gm_choose(&row, 1, &device, &q, &options, NULL), 0);
    options.workspace_limit = 0;
    ck_assert_int_eq(gm_judge(&row, &device, &q, &options, sentence, sizeof sentence).reason, GM_REASON_DIVISION);
    ck_assert_msg(strstr(sentence, "made to cut tiles into pieces") != NULL, "%s", sentence);
    ck_assert_int_eq(gm_choose(&row, 1, &device, &q, &options, NULL), -1);
    options.kernel = "big";
    ck_assert_int_eq(gm_choose(&row, 1, &device, &q, &options, NULL), 0);
    assert_ok(gm_problem_normalize(&many, &q)); /* a CTA for each of 1600 tiles, */
    ck_assert_int_eq(gm_choose(&row, 1, &device, &q, &options, NULL), 0);
    options.sm_budget = 100; /* which no budget has SMs for */
    ck_assert_int_eq(gm_judge(&row, &device, &q, &options, sentence, sizeof sentence).reason, GM_REASON_SMS);
    ck_assert_msg(strstr(sentence, "every tile has a CTA of its own") != NULL, "%s", sentence);
    options.sm_budget = 0, options.flags = GM_PLAN_BATCH_INVARIANT;
    ck_assert_int_eq(gm_judge(&row, &device, &q, &options, sentence, sizeof sentence).reason, GM_REASON_ORDER);
}
END_TEST

START_TEST(a_cluster_that_shares_k_divides_nothing_else) {
    const struct gm_device device = device_of("h200");
    const struct gm_gemm_problem p = problem_of(128, 256, 65536);
    const struct gm_kernel row = sm90_big(GM_WARPS_w2k2);
    struct gm_gemm_problem q;
    assert_ok(gm_problem_normalize(&p, &q));
    ck_assert_int_eq(gm_split_choose(&row, &q, &device, 1 << 30, GM_KIND_BEST).shares, 0);
}
END_TEST

START_TEST(the_sentence_says_what_is_divided) {
    const struct gm_device device = device_of("a100");
    const struct gm_gemm_problem p = problem_of(128, 256, 65536);
    const struct gm_plan_options options = {.size = sizeof options, .workspace_limit = 2 * SLOT_BYTES};
    char sentence[232], expected[120];
    struct gm_gemm_problem q;
    assert_ok(gm_problem_normalize(&p, &q));
    const struct gm_judgement judgement = gm_judge(&big, &device, &q, &options, sentence, sizeof sentence);
    ck_assert_int_eq(judgement.split.shares, 2);
    ck_assert_double_eq(judgement.predicted_us, judgement.split.predicted_us);
    snprintf(expected, sizeof expected, "; 1 of them divided by k-blocks among 2 CTAs, in %d bytes of workspace",
             2 * SLOT_BYTES);
    ck_assert_msg(strstr(sentence, expected) != NULL, "%s", sentence);
    gm_judge(&big, &device, &q, NULL, sentence, sizeof sentence);
    ck_assert_ptr_null(strstr(sentence, "divided"));
}
END_TEST

/* ---- plans ----------------------------------------------------------------------------------------------------- */

static gm_plan *divided_plan(const struct gm_kernel *row) {
    const struct gm_gemm_problem p = problem_for(row, 64, 64, 65536);
    const struct gm_plan_options options = {.size = sizeof options, .kernel = row->name, .workspace_limit = 1 << 30};
    gm_plan *plan = NULL;
    assert_ok(gm_gemm_plan_create(context, &p, &options, &plan));
    return plan;
}

START_TEST(execute_hands_the_workspace_to_the_kernel) {
    const struct gm_kernel *row = row_of(GM_ARCH_SM80);
    if (!row)
        return;
    struct gm_gemm_args args = args_apart();
    gm_plan *plan = divided_plan(row), *other = divided_plan(row);
    args.workspace = UINT64_C(0x600000000000);
    args.workspace_bytes = gm_plan_workspace_bytes(plan);
    ck_assert_uint_gt(args.workspace_bytes, 0);
    assert_ok(gm_gemm_execute(plan, &args, NULL));
    const struct gm_stream_k first = fake.launch.params.sm80.stream_k;
    ck_assert_uint_eq(first.workspace, args.workspace);
    ck_assert_int_eq(first.whole, 0);
    ck_assert_int_ge(first.shares, 2);
    ck_assert_int_eq(first.blocks * first.shares + first.more, 65536 / row->tile_k);
    ck_assert_int_eq(first.least, GM_SPLIT_LEAST);
    ck_assert_uint_eq(fake.launch.config.gridDimX, (unsigned)first.shares);
    ck_assert_uint_ne(first.ready, 0);
    assert_ok(gm_gemm_execute(other, &args, NULL));
    ck_assert_uint_ne(fake.launch.params.sm80.stream_k.ready, first.ready); /* a plan's own */
    gm_plan_destroy(plan);
    gm_plan_destroy(other);
}
END_TEST

START_TEST(a_plan_without_a_limit_divides_nothing) {
    const struct gm_kernel *row = row_of(GM_ARCH_SM80);
    if (!row)
        return;
    const struct gm_gemm_problem p = problem_for(row, 64, 64, 65536);
    const struct gm_gemm_args args = args_apart();
    gm_plan *plan = plan_for(row, &p);
    ck_assert_uint_eq(gm_plan_workspace_bytes(plan), 0);
    assert_ok(gm_gemm_execute(plan, &args, NULL));
    ck_assert_int_eq(fake.launch.params.sm80.stream_k.shares, 0);
    ck_assert_int_eq(fake.launch.params.sm80.stream_k.whole, 1);
    gm_plan_destroy(plan);
}
END_TEST

Suite *split_suite(void) {
    Suite *suite = suite_create("split");
    TCase *cases = tcase_create("planner");
    tcase_add_test(cases, few_tiles_and_a_long_k_are_split);
    tcase_add_test(cases, the_workspace_stays_within_its_limit);
    tcase_add_test(cases, a_ragged_wave_is_divided_and_a_full_one_is_not);
    tcase_add_test(cases, what_the_kernel_cannot_count_is_not_divided);
    tcase_add_test(cases, sm90_rows_are_divided_by_clusters);
    tcase_add_test(cases, tiles_are_cut_into_as_many_pieces_as_asked_for);
    tcase_add_test(cases, an_even_cut_needs_a_k_block_a_piece_and_a_cta_each);
    tcase_add_test(cases, names_say_how_tiles_are_divided);
    tcase_add_test(cases, a_kernel_may_be_asked_for_with_its_division);
    tcase_add_test(cases, a_row_that_reduces_is_chosen_where_it_cuts_tiles);
    tcase_add_test(cases, a_cluster_that_shares_k_divides_nothing_else);
    tcase_add_test(cases, the_sentence_says_what_is_divided);
    suite_add_tcase(suite, cases);
    cases = tcase_create("plans");
    tcase_add_checked_fixture(cases, planned_set_up, planned_tear_down);
    tcase_add_test(cases, execute_hands_the_workspace_to_the_kernel);
    tcase_add_test(cases, a_plan_without_a_limit_divides_nothing);
    suite_add_tcase(suite, cases);
    return suite;
}
