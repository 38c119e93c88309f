/* SPDX-License-Identifier: Apache-2.0 */
/* Divisions of K: what the planner divides, and what a plan launches. */
#include "host/gemm/launch.h"
#include "kernels.h"
#include "planned.h"

#include <stdio.h>
#include <string.h>

/* ---- the planner ----------------------------------------------------------------------------------------------- */

static const struct gm_kernel big = SM80_ROW("big", 1, bf16, tn, 128, 256, 64, 3, 2, 4, 1);
#define BIG_SM90(cluster_m, letters) SM90_ROW("big", 1, bf16, tn, 128, 256, 64, 3, cluster_m, 1, letters, 128)
#define SLOT_BYTES (128 * 256 * 4 + 8)

static struct gm_gemm_division divide(const struct gm_kernel *row, const char *model, struct gm_gemm_problem problem,
                                      size_t limit, int number) {
    const struct gm_device device = device_of(model);
    const struct gm_gemm_variant v = gm_gemm_variant(row);
    const struct gm_gemm_problem p = normalized(problem);
    return gm_divide(&v, &p, &device, limit, number);
}

static struct gm_gemm_division divide_as(const struct gm_kernel *row, const char *model, struct gm_gemm_problem problem,
                                         struct gm_gemm_division wanted) {
    const struct gm_device device = device_of(model);
    const struct gm_gemm_variant v = gm_gemm_variant(row);
    const struct gm_gemm_problem p = normalized(problem);
    return gm_divide_as(&v, &p, &device, &wanted);
}

static struct gm_gemm_division choice(const char *model, int64_t m, int64_t n, int64_t k, size_t limit) {
    return divide(&big, model, problem_of(m, n, k), limit, GM_DIVISION_BEST);
}

START_TEST(few_tiles_and_a_long_k_are_split) {
    const struct gm_gemm_division split = choice("a100", 256, 512, 65536, 1 << 30);
    const struct gm_gemm_division none = choice("a100", 256, 512, 65536, 0);
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
        const struct gm_gemm_division split = choice("a100", 256, 512, 65536, limit);
        ck_assert_uint_le(split.workspace_bytes, limit);
        ck_assert_int_eq(split.shares > 0, slots >= 8); /* two pieces of each of the four tiles */
    }
}
END_TEST

START_TEST(a_ragged_wave_is_divided_and_a_full_one_is_not) {
    /* 110 tiles on 108 SMs. Two tiles over all CTAs would be many small pieces: one wave goes with them. */
    const struct gm_gemm_division ragged = choice("a100", 128 * 11, 256 * 10, 32768, 1 << 30);
    ck_assert_int_eq(ragged.whole, 0);
    ck_assert_int_eq(ragged.shares, 108);
    ck_assert_int_eq(choice("a100", 128 * 12, 256 * 9, 32768, 1 << 30).shares, 0); /* 108 tiles */
    ck_assert_int_eq(choice("a100", 128 * 11, 256 * 10, 512, 1 << 30).shares, 0);  /* K too short to be worth it */
    ck_assert_int_eq(choice("a100", 128, 256, 0, 1 << 30).shares, 0);
    ck_assert_int_eq(choice("a100", 128, 256, 64 * 15, 1 << 30).shares, 0); /* no two pieces of 8 k-blocks */
}
END_TEST

START_TEST(what_the_kernel_cannot_count_is_not_divided) {
    static const struct {
        int64_t whole, shares, expected;
    } cases[] = {{0, 100, 0}, {50, 100, 100}, {50, 109, 0}, {100, 4, 0}, {-1, 4, 0}};
    const struct gm_gemm_problem p = problem_of(1280, 2560, INT32_MAX); /* 100 tiles of 2^25 k-blocks: 2^31 units */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct gm_gemm_division wanted = {.whole = cases[i].whole, .shares = cases[i].shares};
        ck_assert_int_eq(divide_as(&big, "a100", p, wanted).shares, cases[i].expected);
    }
}
END_TEST

/* A slot for each consumer that holds a part of the tile: two cooperative ones, one of two in ping-pong. */
START_TEST(sm90_rows_are_divided_by_clusters) {
    static const struct {
        struct gm_kernel row;
        int slots; /* of one share */
    } rows[] = {{BIG_SM90(1, w2), 2},
                {BIG_SM90(2, w2), 4},
                {BIG_SM90(1, p2), 1},
                {BIG_SM90(2, p2), 2},
                {BIG_SM90(1, w1), 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const int cluster = rows[i].row.cluster_ctas;
        const struct gm_gemm_division split =
            divide(&rows[i].row, "h200", problem_of(128, 256, 65536), 1 << 30, GM_DIVISION_STREAM_K);
        ck_assert_int_gt(split.shares, 1);
        ck_assert_int_le(split.shares, 132 / cluster);
        ck_assert_uint_eq(split.workspace_bytes,
                          (size_t)split.shares * (size_t)(cluster * 128 * 256 * 4 + rows[i].slots * 8));
    }
}
END_TEST

/* A flag for each piece that reads a slot. */
START_TEST(tiles_are_cut_into_as_many_pieces_as_asked_for) {
    const struct gm_kernel row = BIG_SM90(1, w2r), other = BIG_SM90(1, w2);
    const struct gm_gemm_variant v = gm_gemm_variant(&row);
    const struct gm_gemm_problem p = normalized(problem_of(256, 512, 65536));
    for (int number = 2; number < GM_DIVISIONS; number++) {
        const struct gm_gemm_division split = divide(&row, "h200", p, 1 << 30, number);
        ck_assert_int_eq(gm_division_number(&split), number);
        ck_assert(split.whole == 0 && split.pieces == number && split.shares == 4 * number);
        ck_assert_uint_eq(split.workspace_bytes, (size_t)(4 * number) * (size_t)(128 * 256 * 4 + 8 * number));
        ck_assert_int_eq(divide(&row, "h200", p, split.workspace_bytes - 1, number).shares, 0);
        ck_assert_int_eq(divide(&other, "h200", p, 1 << 30, number).shares, 0); /* not made for it */
        const struct gm_stream_k params = gm_stream_k_params(&v, &p, &split);
        ck_assert(params.split_k_tiles == 4 && params.shares == 4 * number);
        ck_assert_int_eq(params.blocks * number + params.more, 1024);
    }
    const struct gm_gemm_division best = divide(&row, "h200", p, 1 << 30, GM_DIVISION_BEST);
    const struct gm_gemm_division same = divide(&row, "h200", p, 1 << 30, gm_division_number(&best));
    ck_assert_double_eq(best.predicted_us, same.predicted_us);
    ck_assert_int_ge(gm_division_number(&best), 2);
    ck_assert_int_eq(divide(&row, "h200", p, 1 << 30, GM_DIVISION_STREAM_K).shares, 0);
}
END_TEST

START_TEST(an_even_cut_needs_a_k_block_a_piece_and_a_cta_each) {
    const struct gm_kernel row = BIG_SM90(1, w2r);
    const struct gm_gemm_division cuts[] = {{.shares = 3, .pieces = 3},
                                            {.shares = 4, .pieces = 4},
                                            {.shares = 4, .pieces = 2},
                                            {.shares = 1, .pieces = 1},
                                            {.whole = 1, .shares = 2, .pieces = 2}};
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++)
        ck_assert_int_eq(divide_as(&row, "h200", problem_of(128, 256, 64 * 3), cuts[i]).shares, i == 0 ? 3 : 0);
}
END_TEST

START_TEST(suffixes_say_how_tiles_are_divided) {
    static const struct {
        const char *suffix;
        int number;
    } suffixes[] = {{"/k", GM_DIVISION_STREAM_K}, {"/k2", 2},    {"/k8", 8}, {"/k9", -1}, {"/k1", -1}, {"/k0", -1},
                    {"/k02", -1},                 {"/k123", -1}, {"/2", -1}, {"k3", -1},  {"3", -1},   {"/", -1},
                    {"/K", -1},                   {"/kk", -1},   {"", -1}};
    char text[16];
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        ck_assert_msg(gm_division_of(suffixes[i].suffix, strlen(suffixes[i].suffix)) == suffixes[i].number, "%s",
                      suffixes[i].suffix);
    ck_assert_int_eq(gm_division_of("/k3 1.5", 3), 3); /* the bytes are the suffix, whatever is behind them */
    ck_assert_str_eq(gm_division_suffix(GM_DIVISION_NONE, text), "");
    for (int number = GM_DIVISION_STREAM_K; number < GM_DIVISIONS; number++) {
        const char *suffix = gm_division_suffix(number, text);
        ck_assert_int_eq(gm_division_of(suffix, strlen(suffix)), number);
    }
    ck_assert_str_eq(gm_division_suffix(3, text), "/k3");
}
END_TEST

START_TEST(a_kernel_may_be_asked_for_with_its_division) {
    const struct gm_device device = device_of("h200");
    const struct gm_kernel row = BIG_SM90(1, w2r), other = BIG_SM90(1, w2);
    const struct gm_gemm_problem p = problem_of(128, 256, 65536);
    struct gm_plan_options options = {.size = sizeof options, .workspace_limit = 1 << 30};
    options.kernel = "big/k3";
    const struct gm_verdict verdict = judge(&row, &device, p, &options);
    ck_assert_int_eq(verdict.reason, GM_ACCEPTED);
    ck_assert_int_eq(verdict.division, 3);
    assert_judged("; 1 of them divided by k-blocks, 3 pieces each, among 3 CTAs");
    ck_assert_int_eq(choose(&row, 1, &device, p, &options).verdict.division, 3);
    options.kernel = "big/k";
    ck_assert_int_eq(judge(&row, &device, p, &options).reason, GM_REASON_DIVISION);
    ck_assert_int_eq(judge(&other, &device, p, &options).division, GM_DIVISION_STREAM_K);
    options.workspace_limit = 0;
    ck_assert_int_eq(judge(&other, &device, p, &options).reason, GM_REASON_DIVISION);
    assert_judged("cannot be divided as big/k says");
    ck_assert_ptr_null(choose(&other, 1, &device, p, &options).kernel);
    options.kernel = "other/k3";
    ck_assert_int_eq(judge(&other, &device, p, &options).reason, GM_REASON_NOT_NAMED);
}
END_TEST

/* By name a tile may be left whole; of its own accord the planner takes a split-K row only to cut tiles. */
START_TEST(a_split_k_row_is_chosen_where_it_cuts_tiles) {
    const struct gm_device device = device_of("h200");
    const struct gm_kernel row = BIG_SM90(1, w2r);
    const struct gm_gemm_problem p = problem_of(128, 256, 65536), many = problem_of(128 * 40, 256 * 40, 64);
    struct gm_plan_options options = {.size = sizeof options, .workspace_limit = 1 << 30};
    ck_assert_ptr_eq(choose(&row, 1, &device, p, &options).kernel, &row);
    options.workspace_limit = 0;
    ck_assert_int_eq(judge(&row, &device, p, &options).reason, GM_REASON_DIVISION);
    assert_judged("made to cut tiles into pieces");
    ck_assert_ptr_null(choose(&row, 1, &device, p, &options).kernel);
    options.kernel = "big";
    ck_assert_ptr_eq(choose(&row, 1, &device, p, &options).kernel, &row);
    ck_assert_ptr_eq(choose(&row, 1, &device, many, &options).kernel, &row); /* a CTA for each of 1600 tiles, */
    options.sm_budget = 100;                                                 /* which no budget has SMs for */
    ck_assert_int_eq(judge(&row, &device, many, &options).reason, GM_REASON_SMS);
    assert_judged("every tile has a CTA of its own");
    options.sm_budget = 0, options.flags = GM_PLAN_BATCH_INVARIANT;
    ck_assert_int_eq(judge(&row, &device, many, &options).reason, GM_REASON_ORDER);
}
END_TEST

START_TEST(a_cluster_that_shares_k_divides_nothing_else) {
    const struct gm_kernel row = BIG_SM90(1, w2k2);
    ck_assert_int_eq(divide(&row, "h200", problem_of(128, 256, 65536), 1 << 30, GM_DIVISION_BEST).shares, 0);
}
END_TEST

START_TEST(the_sentence_says_what_is_divided) {
    const struct gm_device device = device_of("a100");
    const struct gm_gemm_problem p = problem_of(128, 256, 65536);
    const struct gm_plan_options options = {.size = sizeof options, .workspace_limit = 2 * SLOT_BYTES};
    char expected[120];
    const struct gm_verdict verdict = judge(&big, &device, p, &options);
    const struct gm_gemm_division split = gm_gemm_division_of(&verdict);
    ck_assert_int_eq(split.shares, 2);
    ck_assert_uint_eq(split.workspace_bytes, verdict.workspace_bytes);
    ck_assert_double_eq(verdict.predicted_us, split.predicted_us);
    ck_assert_double_gt(verdict.ranking_us, verdict.predicted_us);
    snprintf(expected, sizeof expected, "; 1 of them divided by k-blocks among 2 CTAs, in %d bytes of workspace",
             2 * SLOT_BYTES);
    assert_judged(expected);
    judge(&big, &device, p, NULL);
    ck_assert_ptr_null(strstr(judged, "divided"));
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
    const struct gm_kernel *row = row_of(&gm_family_gemm_sm80);
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
    ck_assert_int_eq(first.blocks * first.shares + first.more, 65536 / gm_gemm_variant(row).tile_k);
    ck_assert_int_eq(first.least, GM_PIECE_LEAST);
    ck_assert_uint_eq(fake.launch.config.gridDimX, (unsigned)first.shares);
    ck_assert_uint_ne(first.ready, 0);
    assert_ok(gm_gemm_execute(other, &args, NULL));
    ck_assert_uint_ne(fake.launch.params.sm80.stream_k.ready, first.ready); /* a plan's own */
    gm_plan_destroy(plan);
    gm_plan_destroy(other);
}
END_TEST

START_TEST(a_plan_without_a_limit_divides_nothing) {
    const struct gm_kernel *row = row_of(&gm_family_gemm_sm80);
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

Suite *divide_suite(void) {
    Suite *suite = suite_create("divide");
    TCase *cases = tcase_create("planner");
    tcase_add_test(cases, few_tiles_and_a_long_k_are_split);
    tcase_add_test(cases, the_workspace_stays_within_its_limit);
    tcase_add_test(cases, a_ragged_wave_is_divided_and_a_full_one_is_not);
    tcase_add_test(cases, what_the_kernel_cannot_count_is_not_divided);
    tcase_add_test(cases, sm90_rows_are_divided_by_clusters);
    tcase_add_test(cases, tiles_are_cut_into_as_many_pieces_as_asked_for);
    tcase_add_test(cases, an_even_cut_needs_a_k_block_a_piece_and_a_cta_each);
    tcase_add_test(cases, suffixes_say_how_tiles_are_divided);
    tcase_add_test(cases, a_kernel_may_be_asked_for_with_its_division);
    tcase_add_test(cases, a_split_k_row_is_chosen_where_it_cuts_tiles);
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
