/* SPDX-License-Identifier: Apache-2.0 */
/* Stream-K: the arithmetic of shares and pieces. */
#include "common/gemm/stream_k.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

/* Random divisions in each test. Check is slow at asserting, so loops over k-blocks and shares only count what is
 * wrong. */
enum { CASES = 2000 };

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
    int32_t wrong = 0;
    memset(l.finish, -1, tiles * sizeof *l.finish);
    for (int32_t cta = 0; cta < d->ctas; cta++) {
        struct gm_piece piece;
        int32_t walk = gm_stream_k_begin(&d->s, d->blocks, cta), turn = 0, gives = 0, takes = 0;
        for (; gm_stream_k_next(&d->s, d->blocks, cta, d->ctas, &walk, &piece); turn++) {
            const int inside = 0 <= piece.first && piece.first < piece.end && piece.end <= d->blocks;
            if (piece.tile < 0 || piece.tile >= d->tiles || !inside)
                ck_abort_msg("CTA %d: k-blocks %d to %d of tile %d", cta, piece.first, piece.end, piece.tile);
            wrong += piece.tile < d->s.whole && (piece.first > 0 || piece.end < d->blocks);
            for (int32_t k = piece.first; k < piece.end; k++) {
                l.times[piece.tile * d->blocks + k]++;
                l.giver[piece.tile * d->blocks + k] = cta;
            }
            if (piece.end < d->blocks) { /* given away before this CTA waits for anybody */
                wrong += turn != 0;
                gives++;
            } else {
                wrong += l.finish[piece.tile] != -1;
                l.finish[piece.tile] = cta;
            }
            if (piece.first > 0 && piece.end == d->blocks) { /* the kernel knows by this that it has to take */
                wrong += walk != cta;
                takes++;
            }
        }
        wrong += gives > 1 || takes > 1; /* one slot is enough */
    }
    ck_assert_int_eq(wrong, 0);
    return l;
}

static void drop(struct ledger *l) {
    free(l->times);
    free(l->giver);
    free(l->finish);
}

START_TEST(every_k_block_of_every_tile_is_computed_once) {
    for (int i = 0; i < CASES; i++) {
        const struct division d = random_division();
        struct ledger l = run(&d);
        int32_t wrong = 0;
        for (int32_t at = 0; at < d.tiles * d.blocks; at++)
            wrong += l.times[at] != 1;
        for (int32_t tile = 0; tile < d.tiles; tile++)
            wrong += l.finish[tile] < 0;
        ck_assert_int_eq(wrong, 0);
        drop(&l);
    }
}
END_TEST

/* Who finishes a tile knows all who gave pieces of it, and they have lower numbers. */
START_TEST(the_givers_of_a_tile_are_the_shares_before) {
    for (int i = 0; i < CASES; i++) {
        const struct division d = random_division();
        struct ledger l = run(&d);
        int32_t wrong = 0;
        for (int32_t tile = d.s.whole; tile < d.tiles; tile++) {
            const int32_t cta = l.finish[tile], *giver = &l.giver[tile * d.blocks];
            int32_t first = cta;
            for (int32_t k = 0; k < d.blocks; k++) {
                wrong += giver[k] > cta || (k > 0 && giver[k - 1] > giver[k]); /* pieces in the order of shares */
                first = giver[k] < first ? giver[k] : first;
            }
            wrong += first < cta && gm_stream_k_partials(&d.s, d.blocks, cta) != cta - first;
        }
        ck_assert_int_eq(wrong, 0);
        drop(&l);
    }
}
END_TEST

START_TEST(shares_are_balanced_and_pieces_not_too_small) {
    for (int i = 0; i < CASES; i++) {
        const struct division d = random_division();
        struct gm_stream_k exact = d.s;
        const int32_t units = (d.tiles - d.s.whole) * d.blocks, even = units / d.s.shares;
        int32_t wrong = 0;
        exact.least = 1;
        ck_assert_int_eq(gm_stream_k_cut(&d.s, d.blocks, 0), 0);
        ck_assert_int_eq(gm_stream_k_cut(&d.s, d.blocks, d.s.shares), units);
        for (int32_t share = 0; share < d.s.shares; share++) {
            const int32_t cut = gm_stream_k_cut(&d.s, d.blocks, share), raw = gm_stream_k_cut(&exact, d.blocks, share);
            const int32_t next = gm_stream_k_cut(&d.s, d.blocks, share + 1);
            const int32_t length = gm_stream_k_cut(&exact, d.blocks, share + 1) - raw, inside = cut % d.blocks;
            wrong += length != even && length != even + 1;
            wrong += cut > next || abs(cut - raw) >= d.s.least;
            wrong += inside != 0 && (inside < d.s.least || d.blocks - inside < d.s.least);
        }
        ck_assert_int_eq(wrong, 0);
    }
}
END_TEST

START_TEST(equal_pieces_of_each_tile_are_split_k) {
    const struct division d = division_of(3, 0, 64, 12, 8);
    for (int32_t share = 0; share <= 12; share++)
        ck_assert_int_eq(gm_stream_k_cut(&d.s, 64, share), share * 16);
    ck_assert_int_eq(gm_stream_k_partials(&d.s, 64, 3), 3);
    ck_assert_int_eq(gm_stream_k_partials(&d.s, 64, 4), 0);
}
END_TEST

/* Every tile in as many pieces, that differ by one k-block at most. */
START_TEST(tiles_are_cut_evenly) {
    for (int i = 0; i < CASES; i++) {
        const int32_t pieces = draw(1, GM_SPLIT_K_MAX_PIECES), blocks = draw(pieces, 70), tiles = draw(1, 12);
        const struct gm_stream_k s = {
            .shares = tiles * pieces, .blocks = blocks / pieces, .more = blocks % pieces, .split_k_tiles = tiles};
        int32_t end = 0, wrong = 0;
        for (int32_t number = 0; number < pieces; number++) {
            const struct gm_piece piece = gm_split_k_piece(&s, tiles - 1, number);
            const int32_t length = piece.end - piece.first;
            wrong += piece.tile != tiles - 1 || piece.first != end;
            wrong += length < 1 || length < blocks / pieces || length > blocks / pieces + 1;
            end = piece.end;
        }
        ck_assert_int_eq(wrong, 0);
        ck_assert_int_eq(end, blocks);
    }
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

Suite *stream_k_suite(void) {
    Suite *suite = suite_create("stream_k");
    TCase *cases = tcase_create("arithmetic");
    tcase_add_test(cases, every_k_block_of_every_tile_is_computed_once);
    tcase_add_test(cases, the_givers_of_a_tile_are_the_shares_before);
    tcase_add_test(cases, shares_are_balanced_and_pieces_not_too_small);
    tcase_add_test(cases, equal_pieces_of_each_tile_are_split_k);
    tcase_add_test(cases, tiles_are_cut_evenly);
    tcase_add_test(cases, without_shares_the_tiles_go_round_as_ever);
    suite_add_tcase(suite, cases);
    return suite;
}
