/* SPDX-License-Identifier: Apache-2.0 */
/* The search for the smallest swizzle, against a walk through all swizzles there are. */
#include "gristmill/smem.h"
#include "unit.h"

#include <string.h>

static struct gm_smem_tile tile_of(uint32_t rows, uint32_t row_bytes, struct gm_swizzle swizzle) {
    return (struct gm_smem_tile){
        .size = sizeof(struct gm_smem_tile), .rows = rows, .row_bytes = row_bytes, .swizzle = swizzle};
}

/* 32 lanes from (row, byte), `rows_on` and `bytes_on` from one to the next. */
static struct gm_tile_access walk_of(uint32_t width, uint32_t row, uint32_t byte, uint32_t rows_on, uint32_t bytes_on) {
    struct gm_tile_access walk = {.size = sizeof walk, .kind = GM_ACCESS_LOAD, .width = width};
    for (uint32_t lane = 0; lane < GM_LANES; lane++) {
        walk.row[lane] = row + lane * rows_on;
        walk.byte[lane] = byte + lane * bytes_on;
    }
    return walk;
}

static int all_ideal(struct gm_smem_tile tile, const struct gm_tile_access *walks, size_t count, struct gm_swizzle s) {
    tile.swizzle = s;
    for (size_t i = 0; i < count; i++) {
        struct gm_access access = {.size = sizeof access};
        struct gm_bank_cost cost = {.size = sizeof cost};
        if (gm_tile_access_place(&tile, &walks[i], &access) != GM_OK || gm_bank_cost(&access, &cost) != GM_OK ||
            cost.conflicts)
            return 0;
    }
    return 1;
}

/* Every swizzle there is, in the order of the promise: fewest bits, highest base, smallest shift. */
static int smallest(struct gm_smem_tile tile, const struct gm_tile_access *walks, size_t count,
                    struct gm_swizzle *found) {
    for (uint32_t bits = 0; bits <= 6; bits++)
        for (uint32_t base = 15; base-- > 0;)
            for (int32_t shift = (int32_t)bits; shift <= 16; shift++)
                for (int32_t sign = 1; sign >= -1; sign -= 2) {
                    *found = (struct gm_swizzle){bits, base, sign * shift};
                    if (bits == 0)
                        *found = (struct gm_swizzle){0};
                    if (all_ideal(tile, walks, count, *found))
                        return 1;
                }
    *found = (struct gm_swizzle){0};
    return 0;
}

static void assert_search(struct gm_smem_tile tile, const struct gm_tile_access *walks, size_t count) {
    struct gm_swizzle ours = {9, 9, 9}, theirs;
    int found = -1;
    assert_ok(gm_swizzle_search(&tile, walks, count, &ours, &found));
    ck_assert_int_eq(found, smallest(tile, walks, count, &theirs));
    ck_assert_msg(ours.bits == theirs.bits && ours.base == theirs.base && ours.shift == theirs.shift,
                  "%u rows of %u: Swizzle<%u,%u,%d> is found, Swizzle<%u,%u,%d> is the smallest", tile.rows,
                  tile.row_bytes, ours.bits, ours.base, ours.shift, theirs.bits, theirs.base, theirs.shift);
}

START_TEST(the_smallest_swizzle_is_found) {
    static const uint32_t shapes[][3] = {{32, 128, 0}, {32, 128, 132}, {64, 64, 0}, {48, 96, 0},
                                         {32, 256, 0}, {40, 80, 0},    {64, 32, 0}, {33, 528, 0}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (uint32_t width = 1; width <= 16; width *= 2) {
            struct gm_smem_tile tile = tile_of(shapes[s][0], shapes[s][1], (struct gm_swizzle){0});
            tile.pitch_bytes = shapes[s][2];
            if (tile.pitch_bytes % width)
                continue;
            const struct gm_tile_access walks[] = {walk_of(width, 0, 0, 1, 0), walk_of(width, 0, 16, 1, 0),
                                                   walk_of(width, 1, 0, 0, tile.row_bytes >= 32 * width ? width : 0)};
            assert_search(tile, walks, 1);
            assert_search(tile, walks, 3);
        }
}
END_TEST

START_TEST(known_answers) {
    struct gm_swizzle s;
    int found;
    const struct gm_tile_access f32[] = {walk_of(4, 0, 0, 0, 4), walk_of(4, 0, 0, 1, 0)};
    struct gm_smem_tile tile = tile_of(32, 128, (struct gm_swizzle){1, 2, 0}); /* its own, sound or not, is ignored */
    assert_ok(gm_swizzle_search(&tile, f32, 2, &s, &found));
    ck_assert(found && s.bits == 5 && s.base == 2 && s.shift == 5);
    assert_ok(gm_swizzle_search(&tile, f32, 1, &s, &found)); /* rows need nothing */
    ck_assert(found && s.bits == 0);

    struct gm_tile_access matrix = walk_of(16, 0, 32, 1, 0);
    matrix.kind = GM_ACCESS_LDMATRIX;
    tile = tile_of(64, 128, (struct gm_swizzle){0});
    assert_ok(gm_swizzle_search(&tile, &matrix, 1, &s, &found));
    ck_assert(found && s.bits == 3 && s.base == 4 && s.shift == 3); /* the 128B mode */
    tile = tile_of(64, 64, (struct gm_swizzle){0});
    assert_ok(gm_swizzle_search(&tile, &matrix, 1, &s, &found));
    ck_assert(found && s.bits == 2 && s.base == 4 && s.shift == 3); /* the 64B mode */
}
END_TEST

/* One byte a lane along a diagonal: bits within the word must be spread over the banks, which only S < 0 does. */
START_TEST(a_negative_shift_is_found_where_only_it_helps) {
    const struct gm_smem_tile tile = tile_of(32, 128, (struct gm_swizzle){0});
    const struct gm_tile_access walk = walk_of(1, 0, 0, 1, 1);
    struct gm_swizzle s;
    int found;
    assert_ok(gm_swizzle_search(&tile, &walk, 1, &s, &found));
    ck_assert(found);
    assert_search(tile, &walk, 1);
}
END_TEST

START_TEST(no_swizzle_helps_lanes_that_take_turns_on_one_word) {
    const struct gm_smem_tile tile = tile_of(32, 128, (struct gm_swizzle){0});
    struct gm_tile_access walk = walk_of(4, 0, 0, 0, 0);
    struct gm_swizzle s = {1, 2, 3};
    int found = 1;
    walk.kind = GM_ACCESS_ATOMIC;
    assert_ok(gm_swizzle_search(&tile, &walk, 1, &s, &found));
    ck_assert(!found && s.bits == 0 && s.base == 0 && s.shift == 0);
}
END_TEST

START_TEST(searches_that_are_refused) {
    struct gm_smem_tile tile = tile_of(32, 128, (struct gm_swizzle){0});
    const struct gm_tile_access outside = walk_of(4, 1, 0, 1, 0), misaligned = walk_of(4, 0, 2, 1, 0),
                                fine = walk_of(4, 0, 0, 1, 0);
    struct gm_swizzle s = {1, 2, 3};
    int found = 7;
    assert_fails(gm_swizzle_search(&tile, &outside, 1, &s, &found), GM_ERROR_INVALID_ARGUMENT, "leave the tile");
    assert_fails(gm_swizzle_search(&tile, &misaligned, 1, &s, &found), GM_ERROR_MISALIGNED, "no multiple");
    assert_fails(gm_swizzle_search(&tile, &fine, 0, &s, &found), GM_ERROR_INVALID_ARGUMENT, "0 walks");
    assert_fails(gm_swizzle_search(&tile, NULL, 3, &s, &found), GM_ERROR_INVALID_ARGUMENT, "3 walks at NULL");
    assert_fails(gm_swizzle_search(&tile, &fine, 65537, &s, &found), GM_ERROR_INVALID_ARGUMENT, "65537 walks");
    assert_fails(gm_swizzle_search(&tile, &fine, 1, NULL, &found), GM_ERROR_INVALID_ARGUMENT, "swizzle is NULL");
    assert_fails(gm_swizzle_search(&tile, &fine, 1, &s, NULL), GM_ERROR_INVALID_ARGUMENT, "found is NULL");
    assert_fails(gm_swizzle_search(NULL, &fine, 1, &s, &found), GM_ERROR_INVALID_ARGUMENT, "tile is NULL");
    tile.row_bytes = 0;
    assert_fails(gm_swizzle_search(&tile, &fine, 1, &s, &found), GM_ERROR_INVALID_ARGUMENT, "0 bytes");
    tile.size = 1;
    assert_fails(gm_swizzle_search(&tile, &fine, 1, &s, &found), GM_ERROR_SIZE, "tile.size");
    ck_assert(found == 7 && s.bits == 1 && s.base == 2 && s.shift == 3); /* nothing was written */
}
END_TEST

Suite *swizzle_search_suite(void) {
    Suite *suite = suite_create("swizzle_search");
    TCase *search = tcase_create("search");
    tcase_add_test(search, the_smallest_swizzle_is_found);
    tcase_add_test(search, known_answers);
    tcase_add_test(search, a_negative_shift_is_found_where_only_it_helps);
    tcase_add_test(search, no_swizzle_helps_lanes_that_take_turns_on_one_word);
    tcase_add_test(search, searches_that_are_refused);
    suite_add_tcase(suite, search);
    return suite;
}
