/* SPDX-License-Identifier: Apache-2.0 */
/* The padding adviser: pads and swizzles that are known to cure, what they cost, every refusal. */
#include "unit.h"

#include "gristmill/smem.h"

#include <string.h>

static struct gm_pad_question question_of(uint32_t rows, uint32_t row_bytes) {
    return (struct gm_pad_question){
        .size = sizeof(struct gm_pad_question),
        .tile = {.size = sizeof(struct gm_smem_tile), .rows = rows, .row_bytes = row_bytes},
    };
}

/* Lane i at row i mod rows, from byte i / rows * width. */
static struct gm_tile_access down(uint32_t rows, enum gm_access_kind kind, uint32_t width) {
    struct gm_tile_access walk = {.size = sizeof walk, .kind = kind, .width = width};
    for (uint32_t lane = 0; lane < GM_LANES; lane++) {
        walk.row[lane] = lane % rows;
        walk.byte[lane] = lane / rows * width;
    }
    return walk;
}

/* Along row 0, as far as it goes; then row 1. */
static struct gm_tile_access along(uint32_t row_bytes, enum gm_access_kind kind, uint32_t width) {
    struct gm_tile_access walk = {.size = sizeof walk, .kind = kind, .width = width};
    for (uint32_t lane = 0; lane < GM_LANES; lane++) {
        walk.row[lane] = lane * width / row_bytes;
        walk.byte[lane] = lane * width % row_bytes;
    }
    return walk;
}

static struct gm_pad_advice advice_of(const struct gm_pad_question *question, const struct gm_tile_access *walks,
                                      size_t count, const char *model) {
    const struct gm_device device = device_of(model);
    struct gm_pad_advice advice = {.size = sizeof advice};
    assert_ok(gm_pad_advise(question, walks, count, &device, &advice));
    ck_assert_uint_eq(advice.size, sizeof advice);
    return advice;
}

static void says(const struct gm_pad_advice *advice, const char *words) {
    ck_assert_msg(strstr(advice->sentence, words) != NULL, "\"%s\" lacks \"%s\"", advice->sentence, words);
}

START_TEST(a_transpose_takes_one_word_of_pad) {
    const struct gm_pad_question question = question_of(32, 128);
    const struct gm_tile_access walks[] = {along(128, GM_ACCESS_STORE, 4), down(32, GM_ACCESS_LOAD, 4)};
    const struct gm_pad_advice advice = advice_of(&question, &walks[1], 1, "a100");
    ck_assert_int_eq(advice.cure, GM_CURE_PAD);
    ck_assert_uint_eq(advice.unit_bytes, 4);
    ck_assert_uint_eq(advice.pad_bytes, 4);
    ck_assert_uint_eq(advice.wavefronts, 32);
    ck_assert_uint_eq(advice.wavefronts_padded, 1);
    ck_assert_uint_eq(advice.ideal, 1);
    ck_assert_uint_eq(advice.tile_bytes, 4096);
    ck_assert_uint_eq(advice.tile_bytes_padded, 4224);
    ck_assert_int_eq(advice.blocks, 32); /* 167936 / (4096 + 1024) */
    ck_assert_int_eq(advice.blocks_padded, 32);
    ck_assert_uint_eq(advice.swizzle.bits, 5); /* column ^ row */
    ck_assert_uint_eq(advice.wavefronts_swizzled, 1);
    says(&advice, "32 rows of 128 bytes: a pad of 4 bytes a row (128 a tile, 3.1 %) makes the pitch an odd 33 words: "
                  "32 wavefronts become 1, the ideal; still 32 blocks an SM. Swizzle<5,2,5> would cost no byte, but "
                  "with the pad the index stays plain: row * 132 + byte.");
    const struct gm_pad_advice both = advice_of(&question, walks, 2, "a100");
    ck_assert_int_eq(both.cure, GM_CURE_PAD);
    ck_assert_uint_eq(both.wavefronts, 33);
    ck_assert_uint_eq(both.wavefronts_padded, 2);
    ck_assert_uint_eq(both.pad_bytes, 4);
}
END_TEST

START_TEST(a_pad_that_costs_a_block_makes_room_for_a_swizzle) {
    struct gm_pad_question question = question_of(32, 128);
    const struct gm_tile_access walk = down(32, GM_ACCESS_LOAD, 4);
    struct gm_pad_advice advice = advice_of(&question, &walk, 1, "h200");
    ck_assert_int_eq(advice.blocks, 32); /* the most of any SM; shared memory alone would allow 45 and 44 */
    ck_assert_int_eq(advice.blocks_padded, 32);
    ck_assert_int_eq(advice.cure, GM_CURE_PAD);
    question.tiles = 2;
    advice = advice_of(&question, &walk, 1, "h200");
    ck_assert_int_eq(advice.blocks, 25); /* 233472 / (8192 + 1024) */
    ck_assert_int_eq(advice.blocks_padded, 24);
    ck_assert_int_eq(advice.cure, GM_CURE_SWIZZLE);
    ck_assert_uint_eq(advice.pad_bytes, 4);
    says(&advice, "Swizzle<5,2,5> on byte addresses costs no byte: 32 wavefronts become 1, the ideal. A pad of 4 bytes "
                  "a row (128 a tile, 3.1 %) does the same, but leaves 24 blocks an SM instead of 25.");
    question.tiles = 28;
    advice = advice_of(&question, &walk, 1, "h200");
    says(&advice, "does the same, but leaves 1 block an SM instead of 2."); /* 28 * 4224 + 1024 are more than half */
}
END_TEST

START_TEST(wide_accesses_take_one_vector_of_pad) {
    const struct gm_pad_question question = question_of(32, 512);
    struct gm_tile_access walk = down(32, GM_ACCESS_LOAD, 16);
    struct gm_pad_advice advice = advice_of(&question, &walk, 1, "a100");
    ck_assert_uint_eq(advice.unit_bytes, 16);
    ck_assert_uint_eq(advice.pad_bytes, 16);
    ck_assert_uint_eq(advice.wavefronts, 32);
    ck_assert_uint_eq(advice.wavefronts_padded, 4);
    says(&advice, "an odd 33 vectors of 16 bytes");
    walk = down(32, GM_ACCESS_LDMATRIX, 16);
    advice = advice_of(&question, &walk, 1, "a100");
    ck_assert_uint_eq(advice.pad_bytes, 16);
    walk = down(32, GM_ACCESS_LOAD, 8);
    advice = advice_of(&question, &walk, 1, "a100");
    ck_assert_uint_eq(advice.unit_bytes, 8);
    ck_assert_uint_eq(advice.pad_bytes, 8);
    ck_assert_uint_eq(advice.wavefronts_padded, 2);
    walk = down(32, GM_ACCESS_LOAD, 2); /* two neighbouring rows' halves never share a word */
    advice = advice_of(&question, &walk, 1, "a100");
    ck_assert_uint_eq(advice.unit_bytes, 4);
    ck_assert_uint_eq(advice.pad_bytes, 4);
}
END_TEST

START_TEST(nothing_to_cure) {
    const struct gm_pad_question question = question_of(32, 132);
    const struct gm_tile_access walks[] = {along(132, GM_ACCESS_STORE, 4), down(32, GM_ACCESS_LOAD, 4)};
    const struct gm_pad_advice advice = advice_of(&question, walks, 2, "h100");
    ck_assert_int_eq(advice.cure, GM_CURE_NONE_NEEDED);
    ck_assert_uint_eq(advice.pad_bytes, 0);
    ck_assert_uint_eq(advice.wavefronts, 2);
    ck_assert_uint_eq(advice.wavefronts_padded, 2);
    ck_assert_int_eq(advice.blocks, advice.blocks_padded);
    ck_assert_uint_eq(advice.swizzle.bits, 0);
    says(&advice, "the accesses take the ideal 2 wavefronts; leave the tile as it is.");
}
END_TEST

START_TEST(nothing_that_helps) {
    const struct gm_pad_question question = question_of(1, 4096);
    struct gm_tile_access walk = {.size = sizeof walk, .width = 4};
    for (uint32_t lane = 0; lane < GM_LANES; lane++)
        walk.byte[lane] = lane * 128 + lane / 8 * 4; /* four banks of one row, eight lanes each */
    struct gm_pad_advice advice = advice_of(&question, &walk, 1, "h200");
    ck_assert_int_eq(advice.cure, GM_CURE_SWIZZLE); /* no pad moves the bytes of one row, but a swizzle does */
    says(&advice, "No pad that fits goes below 8");
    walk = (struct gm_tile_access){.size = sizeof walk, .kind = GM_ACCESS_ATOMIC, .width = 4};
    advice = advice_of(&question, &walk, 1, "h200"); /* all lanes on one word, one after the other */
    ck_assert_int_eq(advice.cure, GM_CURE_NOTHING_HELPS);
    ck_assert_uint_eq(advice.pad_bytes, 0);
    ck_assert_uint_eq(advice.wavefronts, 32);
    ck_assert_uint_eq(advice.wavefronts_swizzled, 32);
    says(&advice, "32 wavefronts instead of 1, and neither a pad of up to 128 bytes a row nor a swizzle helps");
}
END_TEST

/* ---- TMA and WGMMA ------------------------------------------------------------------------------ */

START_TEST(hardware_takes_one_of_its_modes) {
    static const struct {
        uint32_t row_bytes, bits;
        const char *words;
    } rows[] = {{128, 3,
                 "Swizzle<3,4,3> on byte addresses costs no byte: 32 wavefronts become 4, the ideal. It is the "
                 "128B mode; TMA and WGMMA know no pad."},
                {64, 2, "It is the 64B mode"},
                {32, 1, "It is the 32B mode"},
                {256, 3, "take the tile as 2 slabs of 128 bytes a row"},
                {192, 2, "take the tile as 3 slabs of 64 bytes a row"}};
    struct gm_pad_question question = question_of(64, rows[_i].row_bytes);
    const struct gm_tile_access walk = down(32, GM_ACCESS_LDMATRIX, 16);
    question.hardware_swizzle = 1;
    const struct gm_pad_advice advice = advice_of(&question, &walk, 1, "h200");
    ck_assert_int_eq(advice.cure, GM_CURE_SWIZZLE);
    ck_assert_uint_eq(advice.swizzle.bits, rows[_i].bits);
    ck_assert_uint_eq(advice.swizzle.base, 4);
    ck_assert_int_eq(advice.swizzle.shift, 3);
    ck_assert_uint_eq(advice.wavefronts_swizzled, 4);
    says(&advice, rows[_i].words);
}
END_TEST

START_TEST(hardware_may_leave_nothing) {
    struct gm_pad_question question = question_of(64, 144); /* no whole number of spans */
    struct gm_tile_access walk = down(32, GM_ACCESS_LOAD, 4);
    question.hardware_swizzle = 1;
    struct gm_pad_advice advice = advice_of(&question, &walk, 1, "h200");
    ck_assert_int_eq(advice.cure, GM_CURE_NOTHING_HELPS);
    says(&advice, "none of the modes 32B, 64B, 128B helps rows of 144 bytes");
    question = question_of(64, 128); /* words down a column: 8 chunks for 32 rows */
    question.hardware_swizzle = 1;
    advice = advice_of(&question, &walk, 1, "h200");
    ck_assert_int_eq(advice.cure, GM_CURE_SWIZZLE);
    ck_assert_uint_eq(advice.wavefronts_swizzled, 4);
    says(&advice, "32 wavefronts become 4 (the ideal is 1)");
}
END_TEST

/* ---- shared memory of a block ------------------------------------------------------------------- */

START_TEST(blocks_are_counted_with_all_of_their_shared_memory) {
    struct gm_pad_question question = question_of(128, 128);
    const struct gm_tile_access walk = down(32, GM_ACCESS_LDMATRIX, 16);
    question.tiles = 3;
    question.other_bytes = 100;
    struct gm_pad_advice advice = advice_of(&question, &walk, 1, "h200");
    ck_assert_int_eq(advice.blocks, 4);        /* 233472 / (3 * 16384 + 100 + 1024, in steps of 128) */
    ck_assert_int_eq(advice.blocks_padded, 4); /* 3 * 18432 */
    question.tiles = 12;
    advice = advice_of(&question, &walk, 1, "h200");
    ck_assert_int_eq(advice.blocks, 1);
    ck_assert_int_eq(advice.blocks_padded, 1);
    question.tiles = 14; /* 229476 fit; padded, 258148 do not */
    advice = advice_of(&question, &walk, 1, "h200");
    ck_assert_int_eq(advice.blocks, 1);
    ck_assert_uint_eq(advice.pad_bytes, 0); /* a pad with which the block does not fit is none */
    ck_assert_int_eq(advice.cure, GM_CURE_SWIZZLE);
    says(&advice, "No pad that fits goes below 32.");
    question.tiles = 15;
    advice = advice_of(&question, &walk, 1, "h200");
    ck_assert_int_eq(advice.blocks, 0);
    ck_assert_int_eq(advice.cure, GM_CURE_PAD);
    says(&advice, "such a block does not fit an SM of NVIDIA H200");
}
END_TEST

/* ---- refusals ----------------------------------------------------------------------------------- */

START_TEST(wrong_questions_are_refused) {
    struct gm_pad_question question = question_of(32, 128);
    struct gm_tile_access walk = down(32, GM_ACCESS_LOAD, 4);
    struct gm_device device = device_of("h200");
    struct gm_pad_advice advice = {.size = sizeof advice, .ideal = 77};
    assert_fails(gm_pad_advise(NULL, &walk, 1, &device, &advice), GM_ERROR_INVALID_ARGUMENT, "question is NULL");
    assert_fails(gm_pad_advise(&question, NULL, 1, &device, &advice), GM_ERROR_INVALID_ARGUMENT, "at NULL");
    assert_fails(gm_pad_advise(&question, &walk, 0, &device, &advice), GM_ERROR_INVALID_ARGUMENT, "0 walks");
    assert_fails(gm_pad_advise(&question, &walk, 1, NULL, &advice), GM_ERROR_INVALID_ARGUMENT, "device is NULL");
    assert_fails(gm_pad_advise(&question, &walk, 1, &device, NULL), GM_ERROR_INVALID_ARGUMENT, "advice is NULL");
    device.smem_per_block_bytes = 0;
    assert_fails(gm_pad_advise(&question, &walk, 1, &device, &advice), GM_ERROR_INVALID_ARGUMENT,
                 "0 bytes of shared memory a block");
    device.smem_per_block_bytes = INT32_MAX;
    assert_fails(gm_pad_advise(&question, &walk, 1, &device, &advice), GM_ERROR_INVALID_ARGUMENT,
                 "device.smem_per_block_bytes is 2147483647; it may be 0 to 16777216");
    device = device_of("h200");
    walk.width = 5;
    assert_fails(gm_pad_advise(&question, &walk, 1, &device, &advice), GM_ERROR_INVALID_ARGUMENT, "load of 5 bytes");
    walk.width = 4;
    walk.row[3] = 32;
    assert_fails(gm_pad_advise(&question, &walk, 1, &device, &advice), GM_ERROR_INVALID_ARGUMENT, "lane 3's");
    walk = down(32, GM_ACCESS_LOAD, 16);
    question.tile.row_bytes = 132; /* lane 1 begins at byte 132 */
    assert_fails(gm_pad_advise(&question, &walk, 1, &device, &advice), GM_ERROR_MISALIGNED, "lane 1's address 132");
    question.tile.rows = 0;
    assert_fails(gm_pad_advise(&question, &walk, 1, &device, &advice), GM_ERROR_INVALID_ARGUMENT, "0 rows");
    question = question_of(32, 128);
    question.hardware_swizzle = 1;
    question.tile.base = 64;
    assert_fails(gm_pad_advise(&question, &walk, 1, &device, &advice), GM_ERROR_INVALID_ARGUMENT,
                 "TMA cannot fill a tile at address 64");
    question.size = 3;
    assert_fails(gm_pad_advise(&question, &walk, 1, &device, &advice), GM_ERROR_SIZE, "question.size is 3");
    ck_assert_uint_eq(advice.ideal, 77);
}
END_TEST

START_TEST(the_tiles_own_pitch_and_swizzle_do_not_matter) {
    struct gm_pad_question question = question_of(32, 128);
    const struct gm_tile_access walk = down(32, GM_ACCESS_LOAD, 4);
    const struct gm_pad_advice plain = advice_of(&question, &walk, 1, "a100");
    question.tile.pitch_bytes = 12;
    question.tile.swizzle = (struct gm_swizzle){9, 9, 9};
    const struct gm_pad_advice same = advice_of(&question, &walk, 1, "a100");
    ck_assert_str_eq(plain.sentence, same.sentence);
}
END_TEST

/* The adviser leaves no better pad, for odd shapes too. */
START_TEST(no_smaller_pad_does_as_well) {
    for (uint32_t words = 1; words <= 70; words++) {
        const struct gm_pad_question question = question_of(32, 4 * words);
        const struct gm_tile_access walk = down(32, GM_ACCESS_LOAD, 4);
        const struct gm_pad_advice advice = advice_of(&question, &walk, 1, "a100");
        ck_assert_uint_eq(advice.wavefronts_padded, 1);
        ck_assert_uint_eq(advice.pad_bytes, words % 2 ? 0 : 4); /* an odd pitch in words is coprime to 32 */
    }
}
END_TEST

Suite *pad_suite(void) {
    Suite *suite = suite_create("pad");
    TCase *cures = tcase_create("cures");
    tcase_add_test(cures, a_transpose_takes_one_word_of_pad);
    tcase_add_test(cures, a_pad_that_costs_a_block_makes_room_for_a_swizzle);
    tcase_add_test(cures, wide_accesses_take_one_vector_of_pad);
    tcase_add_test(cures, nothing_to_cure);
    tcase_add_test(cures, nothing_that_helps);
    tcase_add_loop_test(cures, hardware_takes_one_of_its_modes, 0, 5);
    tcase_add_test(cures, hardware_may_leave_nothing);
    tcase_add_test(cures, blocks_are_counted_with_all_of_their_shared_memory);
    tcase_add_test(cures, no_smaller_pad_does_as_well);
    suite_add_tcase(suite, cures);
    TCase *refusals = tcase_create("refusals");
    tcase_add_test(refusals, wrong_questions_are_refused);
    tcase_add_test(refusals, the_tiles_own_pitch_and_swizzle_do_not_matter);
    suite_add_tcase(suite, refusals);
    return suite;
}
