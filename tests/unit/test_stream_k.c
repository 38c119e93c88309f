/* SPDX-License-Identifier: Apache-2.0 */
/* Stream-K: the arithmetic of shares and pieces, what the planner divides, and what a plan launches. */
#include "common/stream_k.h"
#include "choose.h"
#include "cost.h"
#include "planned.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state = 42;

static int32_t draw(int32_t low, int32_t high) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return low + (int32_t)((state >> 33) % (uint64_t)(high - low + 1));
}

/* ---- shares and pieces ----------------------------------------------------------------------------------------- */

struct division {
    struct gm_stream_k s;
    int32_t tiles, blocks, ctas;
};

static struct division division_of(int32_t tiles, int32_t whole, int32_t blocks, int32_t shares, int32_t least) {
    const int32_t units = (tiles - whole) * blocks;
    struct division d = {.tiles = tiles, .blocks = blocks, .ctas = whole > shares ? whole : shares};
    d.s = (struct gm_stream_k){.whole = whole, .shares = shares, .least = least};
    if (shares > 0)
        d.s.blocks = units / shares, d.s.more = units % shares;
    return d;
}

static struct division random_division(void) {
    const int32_t tiles = draw(1, 40), whole = draw(0, 3) ? draw(0, tiles - 1) : 0;
    struct division d = division_of(tiles, whole, draw(1, 70), draw(1, 50), draw(1, 12));
    d.ctas = draw(0, 1) ? draw(d.s.shares, d.s.shares + 20) : d.ctas;
    return d;
}

/* What has been computed of each tile: how often each k-block, and who must add up whose pieces. */
struct ledger {
    int32_t *times;  /* [tiles][blocks] */
    int32_t *giver;  /* [tiles][blocks]: the CTA that computed it */
    int32_t *finish; /* [tiles]: the CTA that stored it, -1 before */
};

static struct ledger run(const struct division *d) {
    const size_t tiles = (size_t)d->tiles, all = tiles * (size_t)d->blocks;
    struct ledger l = {calloc(all, sizeof *l.times), calloc(all, sizeof *l.giver), malloc(tiles * sizeof *l.finish)};
    memset(l.finish, -1, tiles * sizeof *l.finish);
    for (int32_t cta = 0; cta < d->ctas; cta++) {
        struct gm_piece piece;
        int32_t walk = gm_stream_k_begin(&d->s, d->blocks, cta), turn = 0, gives = 0, finished = 0;
        for (; gm_stream_k_next(&d->s, d->blocks, cta, d->ctas, &walk, &piece); turn++) {
            ck_assert(0 <= piece.tile && piece.tile < d->tiles);
            ck_assert(0 <= piece.first && piece.first < piece.end && piece.end <= d->blocks);
            ck_assert(piece.tile >= d->s.whole || (piece.first == 0 && piece.end == d->blocks));
            for (int32_t k = piece.first; k < piece.end; k++) {
                l.times[piece.tile * d->blocks + k]++;
                l.giver[piece.tile * d->blocks + k] = cta;
            }
            if (piece.end < d->blocks) { /* given away before this CTA waits for anybody */
                ck_assert_int_eq(turn, 0);
                gives++;
            } else {
                ck_assert_int_eq(l.finish[piece.tile], -1);
                l.finish[piece.tile] = cta;
            }
            if (piece.first > 0 && piece.end == d->blocks) { /* the kernel knows by this that it has to take */
                ck_assert_int_eq(walk, cta);
                finished++;
            }
        }
        ck_assert_int_le(gives, 1); /* one slot is enough */
        ck_assert_int_le(finished, 1);
    }
    return l;
}

static void drop(struct ledger *l) {
    free(l->times);
    free(l->giver);
    free(l->finish);
}

START_TEST(every_k_block_of_every_tile_is_computed_once) {
    for (int i = 0; i < 20000; i++) {
        const struct division d = random_division();
        struct ledger l = run(&d);
        for (int32_t at = 0; at < d.tiles * d.blocks; at++)
            ck_assert_msg(l.times[at] == 1, "tile %d, k-block %d: %d times", at / d.blocks, at % d.blocks, l.times[at]);
        for (int32_t tile = 0; tile < d.tiles; tile++)
            ck_assert_int_ge(l.finish[tile], 0);
        drop(&l);
    }
}
END_TEST

/* Who finishes a tile knows all who gave pieces of it, and they have lower numbers. */
START_TEST(the_givers_of_a_tile_are_the_shares_before) {
    for (int i = 0; i < 20000; i++) {
        const struct division d = random_division();
        struct ledger l = run(&d);
        for (int32_t tile = d.s.whole; tile < d.tiles; tile++) {
            const int32_t cta = l.finish[tile], *giver = &l.giver[tile * d.blocks];
            int32_t first = cta;
            for (int32_t k = 0; k < d.blocks; k++) {
                ck_assert_int_le(giver[k], cta);
                ck_assert(k == 0 || giver[k - 1] <= giver[k]); /* pieces in the order of shares */
                first = giver[k] < first ? giver[k] : first;
            }
            if (first < cta)
                ck_assert_int_eq(gm_stream_k_givers(&d.s, d.blocks, cta), cta - first);
        }
        drop(&l);
    }
}
END_TEST

START_TEST(shares_are_balanced_and_pieces_not_too_small) {
    for (int i = 0; i < 20000; i++) {
        const struct division d = random_division();
        struct gm_stream_k exact = d.s;
        const int32_t units = (d.tiles - d.s.whole) * d.blocks, even = units / d.s.shares;
        exact.least = 1;
        ck_assert_int_eq(gm_stream_k_cut(&d.s, d.blocks, 0), 0);
        ck_assert_int_eq(gm_stream_k_cut(&d.s, d.blocks, d.s.shares), units);
        for (int32_t share = 0; share < d.s.shares; share++) {
            const int32_t cut = gm_stream_k_cut(&d.s, d.blocks, share), raw = gm_stream_k_cut(&exact, d.blocks, share);
            const int32_t next = gm_stream_k_cut(&d.s, d.blocks, share + 1);
            const int32_t length = gm_stream_k_cut(&exact, d.blocks, share + 1) - raw, inside = cut % d.blocks;
            ck_assert(length == even || length == even + 1);
            ck_assert_int_le(cut, next);
            ck_assert_int_lt(abs(cut - raw), d.s.least);
            ck_assert(inside == 0 || (inside >= d.s.least && d.blocks - inside >= d.s.least));
        }
    }
}
END_TEST

START_TEST(equal_pieces_of_each_tile_are_split_k) {
    const struct division d = division_of(3, 0, 64, 12, 8);
    for (int32_t share = 0; share <= 12; share++)
        ck_assert_int_eq(gm_stream_k_cut(&d.s, 64, share), share * 16);
    ck_assert_int_eq(gm_stream_k_givers(&d.s, 64, 3), 3);
    ck_assert_int_eq(gm_stream_k_givers(&d.s, 64, 4), 0);
}
END_TEST

START_TEST(without_shares_the_tiles_go_round_as_ever) {
    const struct division d = division_of(7, 7, 0, 0, 0); /* K = 0: no tile has a k-block */
    int32_t expected = 2, walk = gm_stream_k_begin(&d.s, 0, 2);
    struct gm_piece piece;
    for (; gm_stream_k_next(&d.s, 0, 2, 3, &walk, &piece); expected += 3) {
        ck_assert_int_eq(piece.tile, expected);
        ck_assert(piece.first == 0 && piece.end == 0);
    }
    ck_assert_int_eq(expected, 8);
}
END_TEST

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
    return gm_split_choose(&big, &q, &device, limit);
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

START_TEST(what_the_kernel_cannot_count_is_not_divided) {
    const struct gm_device device = device_of("a100");
    struct gm_gemm_problem p = problem_of(1280, 2560, INT32_MAX), q; /* 100 tiles of 2^25 k-blocks: 2^31 units */
    assert_ok(gm_problem_normalize(&p, &q));
    ck_assert_int_eq(gm_split_of(&big, &q, &device, 0, 100).shares, 0);
    ck_assert_int_eq(gm_split_of(&big, &q, &device, 50, 100).shares, 100);
    ck_assert_int_eq(gm_split_of(&big, &q, &device, 50, 109).shares, 0);
    ck_assert_int_eq(gm_split_of(&big, &q, &device, 100, 4).shares, 0);
    ck_assert_int_eq(gm_split_of(&big, &q, &device, -1, 4).shares, 0);
}
END_TEST

START_TEST(sm90_rows_are_not_divided) {
    const struct gm_device device = device_of("h200");
    const struct gm_gemm_problem p = problem_of(128, 256, 65536);
    struct gm_kernel row = big;
    struct gm_gemm_problem q;
    row.arch = GM_ARCH_SM90, row.warps = GM_WARPS_w2, row.smem_map = GM_MAP_sw128;
    assert_ok(gm_problem_normalize(&p, &q));
    ck_assert_int_eq(gm_split_choose(&row, &q, &device, 1 << 30).shares, 0);
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

Suite *stream_k_suite(void) {
    Suite *suite = suite_create("stream_k");
    TCase *cases = tcase_create("arithmetic");
    tcase_add_test(cases, every_k_block_of_every_tile_is_computed_once);
    tcase_add_test(cases, the_givers_of_a_tile_are_the_shares_before);
    tcase_add_test(cases, shares_are_balanced_and_pieces_not_too_small);
    tcase_add_test(cases, equal_pieces_of_each_tile_are_split_k);
    tcase_add_test(cases, without_shares_the_tiles_go_round_as_ever);
    tcase_set_timeout(cases, 60);
    suite_add_tcase(suite, cases);
    cases = tcase_create("planner");
    tcase_add_test(cases, few_tiles_and_a_long_k_are_split);
    tcase_add_test(cases, the_workspace_stays_within_its_limit);
    tcase_add_test(cases, a_ragged_wave_is_divided_and_a_full_one_is_not);
    tcase_add_test(cases, what_the_kernel_cannot_count_is_not_divided);
    tcase_add_test(cases, sm90_rows_are_not_divided);
    tcase_add_test(cases, the_sentence_says_what_is_divided);
    suite_add_tcase(suite, cases);
    cases = tcase_create("plans");
    tcase_add_checked_fixture(cases, planned_set_up, planned_tear_down);
    tcase_add_test(cases, execute_hands_the_workspace_to_the_kernel);
    tcase_add_test(cases, a_plan_without_a_limit_divides_nothing);
    suite_add_tcase(suite, cases);
    return suite;
}
