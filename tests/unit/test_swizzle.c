/* SPDX-License-Identifier: Apache-2.0 */
/* Swizzles: the algebra against bit-by-bit models, the proof against brute force. */
#include "gristmill/smem.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static struct gm_smem_tile tile_of(uint32_t rows, uint32_t row_bytes, struct gm_swizzle swizzle) {
    return (struct gm_smem_tile){
        .size = sizeof(struct gm_smem_tile), .rows = rows, .row_bytes = row_bytes, .swizzle = swizzle};
}

static struct gm_swizzle_proof proof_of(struct gm_smem_tile tile) {
    struct gm_swizzle_proof proof = {.size = sizeof proof};
    assert_ok(gm_swizzle_prove(&tile, &proof));
    return proof;
}

static int is_sound(struct gm_swizzle s) {
    const uint32_t distance = (uint32_t)abs(s.shift);
    return s.bits + s.base + distance <= 32 && (s.bits == 0 || distance >= s.bits);
}

/* One bit after the other. */
static uint32_t model(struct gm_swizzle s, uint32_t address) {
    uint32_t result = address;
    for (uint32_t i = 0; i < s.bits; i++) {
        const uint32_t low = s.base + i, far = low + (uint32_t)abs(s.shift);
        const uint32_t from = s.shift > 0 ? far : low, to = s.shift > 0 ? low : far;
        result ^= (address >> from & 1) << to;
    }
    return result;
}

/* ---- the algebra ---- */

START_TEST(every_swizzle_does_what_its_bits_say) {
    uint32_t address = 12345, checked = 0;
    for (uint32_t bits = 0; bits <= 17; bits++)
        for (uint32_t base = 0; base <= 32; base++)
            for (int32_t shift = -33; shift <= 33; shift++) {
                const struct gm_swizzle s = {bits, base, shift};
                ck_assert_int_eq(gm_swizzle_check(s) == GM_OK, is_sound(s));
                for (int i = 0; i < 8; i++) {
                    address = address * 1664525u + 1013904223u;
                    const uint32_t image = gm_swizzle_apply(s, address);
                    ck_assert_uint_eq(image, is_sound(s) ? model(s, address) : address);
                    ck_assert_uint_eq(gm_swizzle_apply(s, image), address);
                }
                checked += is_sound(s) != 0;
            }
    ck_assert_uint_gt(checked, 3000);
}
END_TEST

START_TEST(swizzles_that_are_refused) {
    assert_fails(gm_swizzle_check((struct gm_swizzle){3, 4, 2}), GM_ERROR_INVALID_ARGUMENT,
                 "Swizzle<3,4,2> XORs a field of 3 bits with one only 2 places away");
    assert_fails(gm_swizzle_check((struct gm_swizzle){3, 4, 0}), GM_ERROR_INVALID_ARGUMENT, "0 places away");
    assert_fails(gm_swizzle_check((struct gm_swizzle){3, 4, -2}), GM_ERROR_INVALID_ARGUMENT, "Swizzle<3,4,-2>");
    assert_fails(gm_swizzle_check((struct gm_swizzle){5, 20, 8}), GM_ERROR_INVALID_ARGUMENT, "beyond the 32");
    assert_fails(gm_swizzle_check((struct gm_swizzle){UINT32_MAX, 1, 1}), GM_ERROR_INVALID_ARGUMENT, "beyond the 32");
    assert_fails(gm_swizzle_check((struct gm_swizzle){1, 4, INT32_MIN}), GM_ERROR_INVALID_ARGUMENT, "beyond the 32");
    assert_ok(gm_swizzle_check((struct gm_swizzle){0}));
    assert_ok(gm_swizzle_check((struct gm_swizzle){16, 0, -16}));
}
END_TEST

/* Rows as wide as the span; the entry is the 16-byte chunk at which the row's chunk 0, 1, 2 .. lies. */
START_TEST(modes_match_the_published_patterns) {
    static const uint32_t chunk_128[8][8] = {
        {0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 3, 2, 5, 4, 7, 6}, {2, 3, 0, 1, 6, 7, 4, 5}, {3, 2, 1, 0, 7, 6, 5, 4},
        {4, 5, 6, 7, 0, 1, 2, 3}, {5, 4, 7, 6, 1, 0, 3, 2}, {6, 7, 4, 5, 2, 3, 0, 1}, {7, 6, 5, 4, 3, 2, 1, 0}};
    static const uint32_t chunk_64[4][4] = {{0, 1, 2, 3}, {1, 0, 3, 2}, {2, 3, 0, 1}, {3, 2, 1, 0}};
    static const uint32_t chunk_32[2][2] = {{0, 1}, {1, 0}};
    for (uint32_t row = 0; row < 32; row++)
        for (uint32_t chunk = 0; chunk < 8; chunk++) {
            const struct gm_swizzle b128 = gm_swizzle_of_mode(GM_SWIZZLE_128B);
            ck_assert_uint_eq(gm_swizzle_apply(b128, row * 128 + chunk * 16 + 5),
                              row * 128 + chunk_128[row % 8][chunk] * 16 + 5);
            if (chunk < 4)
                ck_assert_uint_eq(gm_swizzle_apply(gm_swizzle_of_mode(GM_SWIZZLE_64B), row * 64 + chunk * 16),
                                  row * 64 + chunk_64[row / 2 % 4][chunk] * 16);
            if (chunk < 2)
                ck_assert_uint_eq(gm_swizzle_apply(gm_swizzle_of_mode(GM_SWIZZLE_32B), row * 32 + chunk * 16),
                                  row * 32 + chunk_32[row / 4 % 2][chunk] * 16);
            ck_assert_uint_eq(gm_swizzle_apply(gm_swizzle_of_mode(GM_SWIZZLE_NONE), row * 64 + chunk * 16),
                              row * 64 + chunk * 16);
        }
}
END_TEST

START_TEST(spans_and_patterns) {
    static const uint32_t spans[] = {16, 32, 64, 128}, patterns[] = {128, 256, 512, 1024};
    for (int mode = 0; mode < 4; mode++) {
        const struct gm_swizzle s = gm_swizzle_of_mode((enum gm_swizzle_mode)mode);
        const uint32_t span = gm_swizzle_span_bytes((enum gm_swizzle_mode)mode);
        const uint32_t pattern = gm_swizzle_pattern_bytes((enum gm_swizzle_mode)mode);
        ck_assert_uint_eq(span, spans[mode]);
        ck_assert_uint_eq(pattern, patterns[mode]);
        for (uint32_t address = 0; address < 4096; address++) { /* repeats every pattern, stays within the span */
            ck_assert_uint_eq(gm_swizzle_apply(s, address + pattern), gm_swizzle_apply(s, address) + pattern);
            ck_assert_uint_eq(gm_swizzle_apply(s, address) / span, address / span);
        }
    }
    ck_assert_uint_eq(gm_swizzle_span_bytes((enum gm_swizzle_mode)4), 0);
    ck_assert_uint_eq(gm_swizzle_pattern_bytes((enum gm_swizzle_mode) - 1), 0);
    ck_assert_uint_eq(gm_swizzle_of_mode((enum gm_swizzle_mode)4).bits, 0);
}
END_TEST

START_TEST(elements_move_as_their_bytes_do) {
    for (uint32_t bytes = 1; bytes <= 16; bytes *= 2)
        for (int32_t shift = -5; shift <= 5; shift++) {
            const struct gm_swizzle s = {3, 4, shift};
            struct gm_swizzle elements;
            if (abs(shift) < 3)
                continue;
            assert_ok(gm_swizzle_of_elements(s, bytes, &elements));
            for (uint32_t e = 0; e < 5000; e++)
                ck_assert_uint_eq(gm_swizzle_apply(elements, e) * bytes, gm_swizzle_apply(s, e * bytes));
        }
    struct gm_swizzle elements = {9, 9, 9};
    assert_ok(gm_swizzle_of_elements((struct gm_swizzle){0, 0, 3}, 8, &elements)); /* the identity cuts nothing */
    ck_assert_uint_eq(elements.bits, 0);
    assert_fails(gm_swizzle_of_elements((struct gm_swizzle){5, 2, 5}, 8, &elements), GM_ERROR_INVALID_ARGUMENT,
                 "moves pieces of 4 bytes, which cuts elements of 8");
    assert_fails(gm_swizzle_of_elements((struct gm_swizzle){3, 4, 3}, 0, &elements), GM_ERROR_INVALID_ARGUMENT,
                 "an element of 0 bytes");
    assert_fails(gm_swizzle_of_elements((struct gm_swizzle){3, 4, 3}, 12, &elements), GM_ERROR_INVALID_ARGUMENT,
                 "an element of 12 bytes");
    assert_fails(gm_swizzle_of_elements((struct gm_swizzle){3, 5, 5}, 32, &elements), GM_ERROR_INVALID_ARGUMENT,
                 "an element of 32 bytes");
    assert_fails(gm_swizzle_of_elements((struct gm_swizzle){3, 4, 1}, 2, &elements), GM_ERROR_INVALID_ARGUMENT,
                 "at least B");
    assert_fails(gm_swizzle_of_elements((struct gm_swizzle){3, 4, 3}, 2, NULL), GM_ERROR_INVALID_ARGUMENT, "NULL");
}
END_TEST

/* ---- the proof ---- */

START_TEST(the_128b_mode_is_proved_free_of_conflicts) {
    const struct gm_swizzle_proof p = proof_of(tile_of(64, 128, gm_swizzle_of_mode(GM_SWIZZLE_128B)));
    ck_assert_uint_eq(p.bijective, 1);
    ck_assert_uint_eq(p.self_inverse, 1);
    for (int i = 0; i < 5; i++)
        ck_assert_uint_eq(p.row_worst[i], 0);
    ck_assert_uint_eq(p.column_worst[4], 0); /* 16 bytes a lane: 8 lanes, 8 chunks */
    ck_assert_uint_eq(p.column_worst[2], 3); /* 4 bytes: 32 lanes meet in 8 chunks, 4 in each */
    ck_assert_uint_eq(p.ldmatrix_worst, 0);
}
END_TEST

START_TEST(plain_rows_of_128_bytes_conflict_fully) {
    const struct gm_swizzle_proof p = proof_of(tile_of(64, 128, (struct gm_swizzle){0}));
    ck_assert_uint_eq(p.bijective, 1);
    ck_assert_uint_eq(p.row_worst[4], 0);
    ck_assert_uint_eq(p.column_worst[0], 31);
    ck_assert_uint_eq(p.column_worst[2], 31);
    ck_assert_uint_eq(p.column_worst[4], 28); /* 32 wavefronts instead of 4 */
    ck_assert_uint_eq(p.ldmatrix_worst, 7);
}
END_TEST

START_TEST(the_xor_of_row_and_column_frees_every_column) {
    const struct gm_swizzle_proof p = proof_of(tile_of(32, 128, (struct gm_swizzle){5, 2, 5}));
    ck_assert_uint_eq(p.bijective, 1);
    for (int i = 0; i < 3; i++) {
        ck_assert_uint_eq(p.row_worst[i], 0);
        ck_assert_uint_eq(p.column_worst[i], 0);
    }
    for (int i = 3; i < 5; i++) { /* pieces of 4 bytes: no lane finds 8 or 16 together */
        ck_assert_uint_eq(p.row_worst[i], GM_NO_WALK);
        ck_assert_uint_eq(p.column_worst[i], GM_NO_WALK);
    }
    ck_assert_uint_eq(p.ldmatrix_worst, GM_NO_WALK);
}
END_TEST

START_TEST(a_pad_is_proved_as_well) {
    struct gm_smem_tile tile = tile_of(32, 128, (struct gm_swizzle){0});
    tile.pitch_bytes = 132;
    struct gm_swizzle_proof p = proof_of(tile);
    ck_assert_uint_eq(p.column_worst[2], 0);
    ck_assert_uint_eq(p.column_worst[3], GM_NO_WALK); /* rows are not aligned to 8 bytes */
    ck_assert_uint_eq(p.row_worst[4], GM_NO_WALK);
    tile.pitch_bytes = 144;
    p = proof_of(tile);
    ck_assert_uint_eq(p.column_worst[4], 0);
    ck_assert_uint_eq(p.ldmatrix_worst, 0);
    tile.base = 8;
    ck_assert_uint_eq(proof_of(tile).column_worst[4], GM_NO_WALK);
    ck_assert_uint_ne(proof_of(tile).column_worst[3], GM_NO_WALK);
}
END_TEST

START_TEST(what_a_small_tile_cannot_be_asked) {
    struct gm_swizzle_proof p = proof_of(tile_of(4, 6, (struct gm_swizzle){0}));
    ck_assert_uint_eq(p.row_worst[1], 0);
    ck_assert_uint_eq(p.row_worst[2], GM_NO_WALK); /* pitch 6 */
    ck_assert_uint_eq(p.row_worst[3], GM_NO_WALK); /* a row has no 8 bytes */
    ck_assert_uint_eq(p.ldmatrix_worst, GM_NO_WALK);
    p = proof_of(tile_of(7, 16, (struct gm_swizzle){0}));
    ck_assert_uint_eq(p.column_worst[4], 0);
    ck_assert_uint_eq(p.ldmatrix_worst, GM_NO_WALK); /* 8 rows are needed */
    p = proof_of(tile_of(1, 1, (struct gm_swizzle){0}));
    ck_assert_uint_eq(p.row_worst[0], 0);
}
END_TEST

/* Unaligned starts split a row of a swizzled tile over two lines whose chunks are permuted differently. */
START_TEST(every_start_of_a_wide_row_counts) {
    ck_assert_uint_eq(proof_of(tile_of(8, 256, (struct gm_swizzle){0})).row_worst[2], 0);
    ck_assert_uint_gt(proof_of(tile_of(8, 256, gm_swizzle_of_mode(GM_SWIZZLE_128B))).row_worst[2], 0);
}
END_TEST

/* The proof's word against a map of every byte, for tiles of any size at any base. */
START_TEST(bijective_means_that_no_two_bytes_meet) {
    static unsigned char taken[1 << 18];
    static const struct gm_swizzle swizzles[] = {{3, 4, 3}, {2, 4, 3}, {5, 2, 5}, {2, 3, -4}, {1, 0, 6}, {3, 2, 7}};
    static const uint32_t tiles[][4] = {{24, 96, 0, 0},  {17, 100, 112, 36}, {32, 128, 132, 64},
                                        {5, 1000, 0, 1}, {300, 7, 9, 999},   {1, 1, 0, 77}};
    for (size_t s = 0; s < sizeof swizzles / sizeof *swizzles; s++)
        for (size_t t = 0; t < sizeof tiles / sizeof *tiles; t++) {
            struct gm_smem_tile tile = tile_of(tiles[t][0], tiles[t][1], swizzles[s]);
            uint32_t address;
            tile.pitch_bytes = tiles[t][2];
            tile.base = 100000 + tiles[t][3];
            memset(taken, 0, sizeof taken);
            for (uint32_t row = 0; row < tile.rows; row++)
                for (uint32_t byte = 0; byte < tile.row_bytes; byte++) {
                    assert_ok(gm_smem_tile_address(&tile, row, byte, &address));
                    ck_assert_uint_lt(address, sizeof taken);
                    ck_assert_uint_eq(taken[address]++, 0);
                }
            ck_assert_uint_eq(proof_of(tile).bijective, 1);
        }
}
END_TEST

START_TEST(tiles_that_have_no_proof) {
    struct gm_swizzle_proof proof = {.size = sizeof proof};
    struct gm_smem_tile tile = tile_of(8, 128, (struct gm_swizzle){3, 4, 2});
    assert_fails(gm_swizzle_prove(&tile, &proof), GM_ERROR_INVALID_ARGUMENT, "at least B");
    tile = tile_of(0, 128, (struct gm_swizzle){0});
    assert_fails(gm_swizzle_prove(&tile, &proof), GM_ERROR_INVALID_ARGUMENT, "0 rows");
    tile = tile_of(65536, 17, (struct gm_swizzle){0});
    assert_fails(gm_swizzle_prove(&tile, &proof), GM_ERROR_INVALID_ARGUMENT, "1114112 bytes");
    tile = tile_of(8, 128, (struct gm_swizzle){0});
    assert_fails(gm_swizzle_prove(&tile, NULL), GM_ERROR_INVALID_ARGUMENT, "proof is NULL");
    assert_fails(gm_swizzle_prove(NULL, &proof), GM_ERROR_INVALID_ARGUMENT, "tile is NULL");
    proof.size = 1;
    assert_fails(gm_swizzle_prove(&tile, &proof), GM_ERROR_SIZE, "proof.size is 1");
    tile.size = 3;
    assert_fails(gm_swizzle_prove(&tile, &proof), GM_ERROR_SIZE, "tile.size is 3");
}
END_TEST

Suite *swizzle_suite(void) {
    Suite *suite = suite_create("swizzle");
    TCase *algebra = tcase_create("algebra");
    tcase_set_tags(algebra, "long"); /* minutes under valgrind */
    tcase_add_test(algebra, every_swizzle_does_what_its_bits_say);
    tcase_add_test(algebra, swizzles_that_are_refused);
    tcase_add_test(algebra, modes_match_the_published_patterns);
    tcase_add_test(algebra, spans_and_patterns);
    tcase_add_test(algebra, elements_move_as_their_bytes_do);
    suite_add_tcase(suite, algebra);
    TCase *proof = tcase_create("proof");
    tcase_set_tags(proof, "long"); /* minutes under valgrind */
    tcase_add_test(proof, the_128b_mode_is_proved_free_of_conflicts);
    tcase_add_test(proof, plain_rows_of_128_bytes_conflict_fully);
    tcase_add_test(proof, the_xor_of_row_and_column_frees_every_column);
    tcase_add_test(proof, a_pad_is_proved_as_well);
    tcase_add_test(proof, what_a_small_tile_cannot_be_asked);
    tcase_add_test(proof, every_start_of_a_wide_row_counts);
    tcase_add_test(proof, bijective_means_that_no_two_bytes_meet);
    tcase_add_test(proof, tiles_that_have_no_proof);
    suite_add_tcase(suite, proof);
    return suite;
}
