/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of tiles: swizzles and the padding advice. */
#include "bench_tests.h"

#include <stdlib.h>
#include <string.h>

#include "drawings.h"
#include "program/smem/draw.h"

/* ---- tiles -------------------------------------------------------------------------------------- */

static char *swizzle_drawn(enum draw_form form, const struct gm_smem_tile *tile, uint32_t unit) {
    struct gm_swizzle_proof proof = {.size = sizeof proof};
    struct drawing drawing;
    drawing_begin(&drawing);
    ck_assert_int_eq(gm_swizzle_prove(tile, &proof), GM_OK);
    ck_assert_int_eq(draw_swizzle(drawing.out, form, "tile", tile, unit, &proof), 0);
    return drawing_end(&drawing);
}

static struct gm_smem_tile tile_of_mode(enum gm_swizzle_mode mode, uint32_t rows, uint32_t row_bytes) {
    return (struct gm_smem_tile){
        .size = sizeof(struct gm_smem_tile), .rows = rows, .row_bytes = row_bytes, .swizzle = gm_swizzle_of_mode(mode)};
}

START_TEST(the_modes_look_as_documented) {
    struct gm_smem_tile tile = tile_of_mode(GM_SWIZZLE_128B, 16, 128);
    char *text = swizzle_drawn(DRAW_TEXT, &tile, 0);
    drawing_check_text(text, 110);
    ck_assert_ptr_nonnull(strstr(text, "row  5   5  4  7  6  1  0  3  2\n"));
    ck_assert_ptr_nonnull(strstr(text, "row 13   5  4  7  6  1  0  3  2\n"));
    ck_assert_ptr_nonnull(strstr(text, "place = a ^ ((a & 0x380) >> 3)"));
    ck_assert_ptr_nonnull(strstr(text, "0x0280     r5 c5       r5 c4 "));
    ck_assert_ptr_nonnull(strstr(text, "no two bytes meet          yes\n"));
    free(text);
    tile = tile_of_mode(GM_SWIZZLE_64B, 8, 64);
    text = swizzle_drawn(DRAW_TEXT, &tile, 16);
    ck_assert_ptr_nonnull(strstr(text, "row  1   0  1  2  3\nrow  2   1  0  3  2\n"));
    free(text);
    tile.base = 128; /* the pattern belongs to the address, not to the row */
    text = swizzle_drawn(DRAW_TEXT, &tile, 16);
    ck_assert_ptr_nonnull(strstr(text, "row  0   1  0  3  2\n"));
    free(text);
}
END_TEST

START_TEST(large_tiles_are_cut_and_say_so) {
    struct gm_smem_tile tile = tile_of_mode(GM_SWIZZLE_128B, 256, 1024);
    tile.pitch_bytes = 1040;
    for (enum draw_form form = DRAW_TEXT; form <= DRAW_PART; form++) {
        char *text = swizzle_drawn(form, &tile, 4 << form % 3);
        ck_assert_ptr_nonnull(strstr(text, "The first 64 of 256 rows are drawn."));
        ck_assert_ptr_nonnull(strstr(text, "places of a row are drawn."));
        ck_assert_ptr_nonnull(strstr(text, "the first 64 of 20"));
        if (form == DRAW_TEXT)
            drawing_check_text(text, 110);
        else if (form != DRAW_COLOUR)
            drawing_check_xml(text);
        free(text);
    }
}
END_TEST

START_TEST(torn_chunks_are_not_drawn) {
    struct gm_smem_tile tile = tile_of_mode(GM_SWIZZLE_NONE, 32, 128);
    struct gm_swizzle_proof proof = {.size = sizeof proof};
    static const struct {
        uint32_t row_bytes, unit;
    } wrong[] = {{128, 16}, {128, 8}, {128, 3}, {130, 0}, {130, 4}, {0, 0}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct drawing drawing;
        tile.swizzle = (struct gm_swizzle){5, 2, 5};
        tile.row_bytes = wrong[i].row_bytes;
        drawing_begin(&drawing);
        ck_assert_int_eq(draw_swizzle(drawing.out, DRAW_SVG, "torn", &tile, wrong[i].unit, &proof), -1);
        char *text = drawing_end(&drawing);
        ck_assert_str_eq(text, "");
        free(text);
    }
}
END_TEST

/* A narrow pitch under a swizzle that reaches further: chunks change their row. */
START_TEST(chunks_of_other_rows_are_marked) {
    struct gm_smem_tile tile = tile_of_mode(GM_SWIZZLE_NONE, 16, 32);
    tile.swizzle = (struct gm_swizzle){2, 5, 2};
    char *text = swizzle_drawn(DRAW_TEXT, &tile, 16);
    ck_assert_ptr_nonnull(strstr(text, "come from another row"));
    ck_assert_ptr_nonnull(strstr(text, "row  4  !0 !1"));
    free(text);
}
END_TEST

/* ---- advice ------------------------------------------------------------------------------------- */

static void ask_for_advice(struct gm_pad_question *question, struct gm_pad_advice *advice) {
    struct gm_tile_access walk = {.size = sizeof walk, .width = 4};
    struct gm_device device = {.size = sizeof device};
    for (uint32_t lane = 0; lane < GM_LANES; lane++)
        walk.row[lane] = lane;
    *advice = (struct gm_pad_advice){.size = sizeof *advice};
    ck_assert_int_eq(gm_device_model("a100", &device), GM_OK);
    ck_assert_int_eq(gm_pad_advise(question, &walk, 1, &device, advice), GM_OK);
}

START_TEST(an_advice_shows_its_layouts) {
    struct gm_pad_question question = {.size = sizeof question, .tile = tile_of_mode(GM_SWIZZLE_NONE, 32, 128)};
    struct gm_pad_advice advice;
    for (uint32_t hardware = 0; hardware < 2; hardware++) {
        question.hardware_swizzle = hardware;
        ask_for_advice(&question, &advice);
        for (enum draw_form form = DRAW_TEXT; form <= DRAW_PART; form++) {
            struct drawing drawing;
            drawing_begin(&drawing);
            ck_assert_int_eq(draw_advice(drawing.out, form, "tile", &question, &advice), 0);
            char *text = drawing_end(&drawing);
            ck_assert_ptr_nonnull(strstr(text, "pad of 4 bytes a row"));
            ck_assert_int_eq(strstr(text, "not with TMA or WGMMA") != NULL, hardware);
            if (form == DRAW_TEXT)
                drawing_check_text(text, 110);
            else if (form != DRAW_COLOUR)
                drawing_check_xml(text);
            free(text);
        }
    }
}
END_TEST

START_TEST(an_advice_about_no_tile_is_refused) {
    struct gm_pad_question question = {.size = sizeof question, .tile = tile_of_mode(GM_SWIZZLE_NONE, 32, 128)};
    struct gm_pad_advice advice;
    ask_for_advice(&question, &advice);
    question.tile.row_bytes = 0;
    for (int wrong = 0; wrong < 2; wrong++) {
        struct drawing drawing;
        drawing_begin(&drawing);
        ck_assert_int_eq(draw_advice(drawing.out, DRAW_TEXT, "none", &question, &advice), -1);
        char *text = drawing_end(&drawing);
        ck_assert_str_eq(text, "");
        free(text);
        question.tile.row_bytes = 128;
        advice.cure = (enum gm_cure)7;
    }
}
END_TEST

TCase *draw_tile_tests(void) {
    TCase *tests = tcase_create("draw tiles");
    tcase_add_test(tests, the_modes_look_as_documented);
    tcase_add_test(tests, large_tiles_are_cut_and_say_so);
    tcase_add_test(tests, torn_chunks_are_not_drawn);
    tcase_add_test(tests, chunks_of_other_rows_are_marked);
    tcase_add_test(tests, an_advice_shows_its_layouts);
    tcase_add_test(tests, an_advice_about_no_tile_is_refused);
    return tests;
}
