/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of one access in every form: well-formed, within the terminal's width, and true. */
#include "bench_tests.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drawings.h"
#include "program/smem/draw.h"

static const char odd_title[] = "a < b && \"c\" > 'd' \x1b[31m \xc3\xa9 \xff";

static void access_of_stride(struct gm_access *access, struct gm_bank_map *map, uint32_t words, uint32_t width) {
    *access = (struct gm_access){.size = sizeof *access, .width = width};
    for (uint32_t lane = 0; lane < GM_LANES; lane++)
        access->address[lane] = lane * words * 4;
    *map = (struct gm_bank_map){.size = sizeof *map};
    ck_assert_int_eq(gm_bank_map(access, map), GM_OK);
}

static char *bank_drawn(enum draw_form form, const char *title, const struct gm_access *access,
                        const struct gm_bank_map *map) {
    struct drawing drawing;
    drawing_begin(&drawing);
    ck_assert_int_eq(draw_bank(drawing.out, form, title, access, map), 0);
    return drawing_end(&drawing);
}

START_TEST(a_conflict_is_said_and_seen) {
    struct gm_access access;
    struct gm_bank_map map;
    access_of_stride(&access, &map, 16, 4);
    char *text = bank_drawn(DRAW_TEXT, "column", &access, &map);
    drawing_check_text(text, 110);
    ck_assert_ptr_nonnull(strstr(text, "16 wavefronts where 1 would do: 15 conflicts, 16-way."));
    ck_assert_ptr_nonnull(strstr(text, "wave  0   0  .  .  .  .  .  .  .  .  .  .  .  .  .  .  .  1"));
    ck_assert_ptr_nonnull(strstr(text, "wave 15 !30"));
    ck_assert_ptr_nonnull(strstr(text, "  rides  16"));
    ck_assert_ptr_nonnull(strstr(text, "   31  0x7c0    16    15\n"));
    free(text);
}
END_TEST

START_TEST(a_broadcast_is_no_conflict) {
    struct gm_access access;
    struct gm_bank_map map;
    access_of_stride(&access, &map, 0, 4);
    char *text = bank_drawn(DRAW_TEXT, "one word", &access, &map), *svg = bank_drawn(DRAW_SVG, "one", &access, &map);
    ck_assert_ptr_nonnull(strstr(text, "wave  0 x32  .  ."));
    ck_assert_ptr_nonnull(strstr(text, "1 wavefront, the ideal: no bank conflict."));
    ck_assert_ptr_null(strchr(text, '!'));
    ck_assert_ptr_nonnull(strstr(svg, ">0-31</text>"));
    free(text);
    free(svg);
}
END_TEST

/* The wavefronts below the phases of a picture with arrows, together. */
static unsigned long sum_of_phases(const char *svg) {
    unsigned long sum = 0;
    for (const char *at = svg; (at = strstr(at, " wavefront"));) {
        const char *digit = at;
        while (digit > svg && digit[-1] >= '0' && digit[-1] <= '9')
            digit--;
        const size_t letters = strcspn(at, "<");
        sum += digit[-1] == '>' && letters <= strlen(" wavefronts") ? strtoul(digit, NULL, 10) : 0;
        at++;
    }
    return sum;
}

/* Phases of any access have the wavefronts that the model counts. */
START_TEST(arrows_lead_to_as_many_wavefronts) {
    static const struct {
        enum gm_access_kind kind;
        uint32_t width;
    } shapes[] = {{GM_ACCESS_LOAD, 1},     {GM_ACCESS_LOAD, 4},   {GM_ACCESS_LOAD, 8},
                  {GM_ACCESS_LOAD, 16},    {GM_ACCESS_STORE, 8},  {GM_ACCESS_CP_ASYNC, 16},
                  {GM_ACCESS_LDMATRIX, 0}, {GM_ACCESS_ATOMIC, 4}, {GM_ACCESS_CAS, 4}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        for (uint32_t step = 0; step < 40; step += 1 + step / 8) {
            struct gm_access access = {.size = sizeof access, .kind = shapes[i].kind, .width = shapes[i].width};
            struct gm_bank_map map = {.size = sizeof map};
            for (uint32_t lane = 0; lane < GM_LANES; lane++)
                access.address[lane] = lane * step * (access.width ? access.width : 16);
            access.inactive = access.kind == GM_ACCESS_LDMATRIX || step % 2 ? 0 : 0x00f00081;
            ck_assert_int_eq(gm_bank_map(&access, &map), GM_OK);
            struct drawing drawing;
            drawing_begin(&drawing);
            ck_assert_int_eq(draw_arrows(drawing.out, odd_title, &access, &map), 0);
            char *svg = drawing_end(&drawing);
            drawing_check_xml(svg);
            ck_assert_msg(sum_of_phases(svg) == map.cost.wavefronts, "kind %d, width %u, step %u: %lu of %u wavefronts",
                          access.kind, access.width, step, sum_of_phases(svg), map.cost.wavefronts);
            free(svg);
        }
    }
}
END_TEST

/* Eight lanes of 16 bytes in rows of 128 are on the same four banks; in rows of 132 words each on four of its own. */
START_TEST(arrows_of_vectors) {
    struct gm_access access;
    struct gm_bank_map map;
    for (uint32_t pad = 0; pad <= 4; pad += 4) {
        struct drawing drawing;
        access_of_stride(&access, &map, 128 + pad, 16);
        drawing_begin(&drawing);
        ck_assert_int_eq(draw_arrows(drawing.out, "vectors", &access, &map), 0);
        char *svg = drawing_end(&drawing);
        ck_assert_ptr_nonnull(strstr(svg, ">28-31</text>"));
        ck_assert_ptr_nonnull(strstr(svg, pad ? ">924</text>" : ">896</text>"));
        ck_assert_ptr_nonnull(strstr(svg, pad ? ">1 wavefront</text>" : ">8 wavefronts</text>"));
        ck_assert_int_eq(strstr(svg, "one after the other") == NULL, pad != 0);
        free(svg);
    }
}
END_TEST

/* Lanes 0 to 2 share a word, 3 and 4 another one of the same bank. */
START_TEST(lanes_that_wait_together_are_counted) {
    struct gm_access access;
    struct gm_bank_map map;
    access_of_stride(&access, &map, 1, 4);
    for (int lane = 0; lane < 5; lane++)
        access.address[lane] = lane < 3 ? 0 : 128;
    ck_assert_int_eq(gm_bank_map(&access, &map), GM_OK);
    char *text = bank_drawn(DRAW_TEXT, "two words", &access, &map);
    ck_assert_ptr_nonnull(strstr(text, "wave  0 0-2  .  .  .  .  5"));
    ck_assert_ptr_nonnull(strstr(text, "wave  1  X2  .  .  .  .  ."));
    free(text);
}
END_TEST

/* A ride is marked as late exactly when the model counts conflicts, whatever the kind and the width. */
START_TEST(late_marks_go_with_conflicts) {
    static const struct {
        enum gm_access_kind kind;
        uint32_t width;
    } shapes[] = {{GM_ACCESS_LOAD, 1},      {GM_ACCESS_LOAD, 2},   {GM_ACCESS_LOAD, 4},      {GM_ACCESS_LOAD, 8},
                  {GM_ACCESS_LOAD, 16},     {GM_ACCESS_STORE, 8},  {GM_ACCESS_LDMATRIX, 16}, {GM_ACCESS_CP_ASYNC, 8},
                  {GM_ACCESS_CP_ASYNC, 16}, {GM_ACCESS_ATOMIC, 4}, {GM_ACCESS_INCREMENT, 4}, {GM_ACCESS_CAS, 4}};
    unsigned long state = 12345;
    for (int trial = 0; trial < 600; trial++) {
        struct gm_access access = {
            .size = sizeof access, .kind = shapes[trial % 12].kind, .width = shapes[trial % 12].width};
        struct gm_bank_map map = {.size = sizeof map};
        for (int lane = 0; lane < GM_LANES; lane++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            access.address[lane] = (uint32_t)(state >> 40) % (trial < 300 ? 4096 : 160) / access.width * access.width;
        }
        access.inactive = trial / 12 % 3 || access.kind == GM_ACCESS_LDMATRIX ? 0 : (uint32_t)(state >> 20);
        ck_assert_int_eq(gm_bank_map(&access, &map), GM_OK);
        char *text = bank_drawn(DRAW_TEXT, "random", &access, &map);
        char *body = strstr(text, "wave  0"), *sums = strstr(text, "rides ");
        *sums = 0;
        ck_assert_msg((body && strpbrk(body, "!X") != NULL) == (map.cost.conflicts > 0), "trial %d:\n%s", trial, text);
        free(text);
    }
}
END_TEST

START_TEST(every_form_is_well_formed) {
    struct gm_access access;
    struct gm_bank_map map;
    access_of_stride(&access, &map, 4, 16);
    access.inactive = 0x70;
    ck_assert_int_eq(gm_bank_map(&access, &map), GM_OK);
    for (enum draw_form form = DRAW_TEXT; form <= DRAW_PART; form++) {
        char *text = bank_drawn(form, odd_title, &access, &map);
        if (form == DRAW_TEXT)
            ck_assert_ptr_null(strchr(text, '\x1b'));
        else if (form != DRAW_COLOUR)
            drawing_check_xml(text);
        if (form == DRAW_SVG || form == DRAW_HTML)
            ck_assert_ptr_nonnull(strstr(text, "a &lt; b &amp;&amp; &quot;c&quot; &gt; 'd'  [31m \xc3\xa9 ?"));
        free(text);
    }
}
END_TEST

START_TEST(colour_adds_nothing_but_colour) {
    struct gm_access access;
    struct gm_bank_map map;
    access_of_stride(&access, &map, 2, 4);
    char *plain = bank_drawn(DRAW_TEXT, "stride 2", &access, &map);
    char *colour = bank_drawn(DRAW_COLOUR, "stride 2", &access, &map);
    ck_assert_ptr_nonnull(strstr(colour, "\x1b[48;5;"));
    char *bare = calloc(1, strlen(colour) + 1), *to = bare;
    for (const char *c = colour; *c; c++) {
        if (*c == '\x1b')
            c = strchr(c, 'm');
        else
            *to++ = *c;
    }
    char *waits = strstr(plain, "wave  0"), *same = strstr(bare, "wave  0");
    *strstr(waits, "\n  rides") = 0;
    *strstr(same, "\n  rides") = 0;
    ck_assert_str_eq(waits, same);
    free(plain);
    free(colour);
    free(bare);
}
END_TEST

/* More wavefronts than any access of today takes: the most that a map can hold. */
static void fill_by_hand(struct gm_access *access, struct gm_bank_map *map, uint32_t wavefronts) {
    access_of_stride(access, map, 32, 8);
    map->cost.wavefronts = wavefronts;
    map->cost.ideal = 2;
    map->cost.conflicts = wavefronts - 2;
    memset(map->word, 0xff, sizeof map->word);
    for (uint32_t lane = 0; lane < GM_LANES; lane++)
        for (uint32_t word = 0; word < 2; word++) {
            map->wavefront[lane][word] = (uint8_t)(lane * 2 + word);
            map->word[(lane * 2 + word) % GM_WAVEFRONTS_MAX][word] = access->address[lane] + word * 4;
        }
}

START_TEST(sixty_four_wavefronts_and_no_more) {
    struct gm_access access;
    struct gm_bank_map map;
    struct drawing drawing;
    fill_by_hand(&access, &map, GM_WAVEFRONTS_MAX);
    char *text = bank_drawn(DRAW_TEXT, "most", &access, &map), *svg = bank_drawn(DRAW_SVG, "most", &access, &map);
    drawing_check_text(text, 110);
    drawing_check_xml(svg);
    ck_assert_ptr_nonnull(strstr(text, "wave 63   .!31"));
    free(text);
    free(svg);
    for (uint32_t wavefronts = 63; wavefronts < 66; wavefronts += 2) { /* a lane rides beyond; too many */
        fill_by_hand(&access, &map, wavefronts);
        drawing_begin(&drawing);
        ck_assert_int_eq(draw_bank(drawing.out, DRAW_TEXT, "too many", &access, &map), -1);
        text = drawing_end(&drawing);
        ck_assert_str_eq(text, "");
        free(text);
    }
}
END_TEST

START_TEST(one_lane_and_none) {
    struct gm_access access;
    struct gm_bank_map map;
    access_of_stride(&access, &map, 1, 4);
    for (int active = 0; active < 2; active++) {
        access.inactive = active ? ~(1u << 31) : UINT32_MAX;
        ck_assert_int_eq(gm_bank_map(&access, &map), GM_OK);
        char *text = bank_drawn(DRAW_TEXT, "few", &access, &map), *svg = bank_drawn(DRAW_SVG, "few", &access, &map);
        drawing_check_text(text, 110);
        drawing_check_xml(svg);
        ck_assert_ptr_nonnull(strstr(text, active ? "1 lane, 1 different word." : "0 lanes, 0 different words."));
        free(text);
        free(svg);
    }
}
END_TEST

START_TEST(a_stream_in_memory_is_no_terminal) {
    struct drawing drawing;
    drawing_begin(&drawing);
    setenv("TERM", "xterm-256color", 1);
    ck_assert_int_eq(draw_form_of(drawing.out), DRAW_TEXT);
    free(drawing_end(&drawing));
}
END_TEST

TCase *draw_tests(void) {
    TCase *tests = tcase_create("draw");
    tcase_add_test(tests, arrows_lead_to_as_many_wavefronts);
    tcase_add_test(tests, arrows_of_vectors);
    tcase_add_test(tests, a_conflict_is_said_and_seen);
    tcase_add_test(tests, a_broadcast_is_no_conflict);
    tcase_add_test(tests, lanes_that_wait_together_are_counted);
    tcase_add_test(tests, late_marks_go_with_conflicts);
    tcase_add_test(tests, every_form_is_well_formed);
    tcase_add_test(tests, colour_adds_nothing_but_colour);
    tcase_add_test(tests, sixty_four_wavefronts_and_no_more);
    tcase_add_test(tests, one_lane_and_none);
    tcase_add_test(tests, a_stream_in_memory_is_no_terminal);
    return tests;
}
