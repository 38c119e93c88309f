/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles in shared memory: where their bytes lie, walks through them, every refusal. */
#include "unit.h"

#include "gristmill/smem.h"

#include <string.h>

static struct gm_smem_tile tile_of(uint32_t rows, uint32_t row_bytes, uint32_t pitch) {
    return (struct gm_smem_tile){
        .size = sizeof(struct gm_smem_tile), .rows = rows, .row_bytes = row_bytes, .pitch_bytes = pitch};
}

static struct gm_tile_access column_walk(enum gm_access_kind kind, uint32_t width) {
    struct gm_tile_access walk = {.size = sizeof walk, .kind = kind, .width = width};
    for (uint32_t lane = 0; lane < GM_LANES; lane++)
        walk.row[lane] = lane;
    return walk;
}

static uint32_t address_of(const struct gm_smem_tile *tile, uint32_t row, uint32_t byte) {
    uint32_t address = 0;
    assert_ok(gm_smem_tile_address(tile, row, byte, &address));
    return address;
}

START_TEST(bytes_lie_at_base_row_and_pitch) {
    struct gm_smem_tile tile = tile_of(32, 128, 0);
    ck_assert_uint_eq(address_of(&tile, 3, 5), 3 * 128 + 5);
    tile.pitch_bytes = 132;
    tile.base = 1000;
    ck_assert_uint_eq(address_of(&tile, 31, 127), 1000 + 31 * 132 + 127);
    tile = tile_of(16, 128, 128);
    tile.base = 2048;
    tile.swizzle = gm_swizzle_of_mode(GM_SWIZZLE_128B);
    for (uint32_t row = 0; row < 16; row++)
        for (uint32_t chunk = 0; chunk < 8; chunk++)
            ck_assert_uint_eq(address_of(&tile, row, 16 * chunk + 3), 2048 + row * 128 + 16 * (chunk ^ row % 8) + 3);
    tile.base = 2048 + 128; /* the pattern goes by absolute addresses */
    ck_assert_uint_eq(address_of(&tile, 0, 0), 2048 + 128 + 16);
}
END_TEST

START_TEST(a_walk_becomes_an_access) {
    struct gm_smem_tile tile = tile_of(32, 64, 80);
    struct gm_tile_access walk = column_walk(GM_ACCESS_STORE, 8);
    struct gm_access access = {.size = sizeof access};
    walk.inactive = 1u << 7;
    walk.row[7] = 99; /* takes no part, so it may be anywhere */
    walk.byte[9] = 56;
    assert_ok(gm_tile_access_place(&tile, &walk, &access));
    ck_assert_uint_eq(access.size, sizeof access);
    ck_assert_int_eq(access.kind, GM_ACCESS_STORE);
    ck_assert_uint_eq(access.width, 8);
    ck_assert_uint_eq(access.inactive, 1u << 7);
    ck_assert_uint_eq(access.address[6], 6 * 80);
    ck_assert_uint_eq(access.address[7], 0);
    ck_assert_uint_eq(access.address[9], 9 * 80 + 56);
}
END_TEST

START_TEST(an_ldmatrix_x1_walks_8_rows) {
    struct gm_smem_tile tile = tile_of(8, 128, 0);
    struct gm_tile_access walk = column_walk(GM_ACCESS_LDMATRIX, 0);
    struct gm_access access = {.size = sizeof access};
    struct gm_bank_cost cost = {.size = sizeof cost};
    assert_fails(gm_tile_access_place(&tile, &walk, &access), GM_ERROR_INVALID_ARGUMENT, "of row 8 leave the tile");
    walk.matrices = 1;
    assert_ok(gm_tile_access_place(&tile, &walk, &access));
    assert_ok(gm_bank_cost(&access, &cost));
    ck_assert_uint_eq(cost.wavefronts, 8);
    tile.swizzle = gm_swizzle_of_mode(GM_SWIZZLE_128B);
    assert_ok(gm_tile_access_place(&tile, &walk, &access));
    assert_ok(gm_bank_cost(&access, &cost));
    ck_assert_uint_eq(cost.wavefronts, 1);
}
END_TEST

/* ---- refusals ----------------------------------------------------------------------------------- */

static void as_is(struct gm_smem_tile *t) { (void)t; }
static void no_rows(struct gm_smem_tile *t) { t->rows = 0; }
static void many_rows(struct gm_smem_tile *t) { t->rows = 65537, t->row_bytes = 4, t->pitch_bytes = 0; }
static void most_rows(struct gm_smem_tile *t) { t->rows = 65536, t->row_bytes = 16, t->pitch_bytes = 0; }
static void no_bytes(struct gm_smem_tile *t) { t->row_bytes = 0; }
static void short_pitch(struct gm_smem_tile *t) { t->pitch_bytes = 127; }
static void too_large(struct gm_smem_tile *t) { t->pitch_bytes = 32772; }
static void largest(struct gm_smem_tile *t) { t->pitch_bytes = 32768; }
static void at_the_end(struct gm_smem_tile *t) { t->base = 0u - 4096; }
static void beyond_the_end(struct gm_smem_tile *t) { t->base = 0u - 4092; }
static void bad_swizzle(struct gm_smem_tile *t) { t->swizzle = (struct gm_swizzle){3, 4, 2}; }
static void bad_size(struct gm_smem_tile *t) { t->size = 8; }

/* words NULL: sensible */
static const struct {
    void (*apply)(struct gm_smem_tile *);
    enum gm_status status;
    const char *words;
} tiles[] = {
    {as_is, GM_OK, NULL},
    {no_rows, GM_ERROR_INVALID_ARGUMENT, "0 rows"},
    {many_rows, GM_ERROR_INVALID_ARGUMENT, "65537 rows, not 1 to 65536"},
    {most_rows, GM_OK, NULL},
    {no_bytes, GM_ERROR_INVALID_ARGUMENT, "0 bytes"},
    {short_pitch, GM_ERROR_INVALID_ARGUMENT, "pitch of 127 bytes is less than a row of 128"},
    {too_large, GM_ERROR_INVALID_ARGUMENT, "32 rows of 32772 bytes make 1048704 bytes, more than 1048576"},
    {largest, GM_OK, NULL},
    {at_the_end, GM_OK, NULL},
    {beyond_the_end, GM_ERROR_INVALID_ARGUMENT, "ends beyond 2^32"},
    {bad_swizzle, GM_ERROR_INVALID_ARGUMENT, "Swizzle<3,4,2>"},
    {bad_size, GM_ERROR_SIZE, "tile.size is 8"},
};

START_TEST(senseless_tiles_are_refused) {
    struct gm_smem_tile tile = tile_of(32, 128, 0);
    struct gm_tile_access walk = {.size = sizeof walk, .width = 4};
    struct gm_access access = {.size = sizeof access, .width = 77};
    uint32_t address = 77;
    tiles[_i].apply(&tile);
    if (!tiles[_i].words) {
        assert_ok(gm_smem_tile_address(&tile, 0, 0, &address));
        assert_ok(gm_tile_access_place(&tile, &walk, &access));
        return;
    }
    assert_fails(gm_smem_tile_address(&tile, 0, 0, &address), tiles[_i].status, tiles[_i].words);
    assert_fails(gm_tile_access_place(&tile, &walk, &access), tiles[_i].status, tiles[_i].words);
    ck_assert_uint_eq(address, 77);
    ck_assert_uint_eq(access.width, 77);
}
END_TEST

START_TEST(bytes_outside_the_tile_are_refused) {
    struct gm_smem_tile tile = tile_of(32, 128, 144);
    struct gm_tile_access walk = column_walk(GM_ACCESS_LOAD, 16);
    struct gm_access access = {.size = sizeof access};
    uint32_t address;
    assert_fails(gm_smem_tile_address(&tile, 32, 0, &address), GM_ERROR_INVALID_ARGUMENT, "byte 0 of row 32");
    assert_fails(gm_smem_tile_address(&tile, 0, 128, &address), GM_ERROR_INVALID_ARGUMENT, "byte 128 of row 0");
    assert_fails(gm_smem_tile_address(&tile, 0, 0, NULL), GM_ERROR_INVALID_ARGUMENT, "address is NULL");
    assert_fails(gm_smem_tile_address(NULL, 0, 0, &address), GM_ERROR_INVALID_ARGUMENT, "tile is NULL");
    walk.byte[4] = 120;
    assert_fails(gm_tile_access_place(&tile, &walk, &access), GM_ERROR_INVALID_ARGUMENT,
                 "lane 4's 16 bytes from byte 120 of row 4 leave the tile of 32 rows of 128 bytes");
    walk.byte[4] = UINT32_MAX;
    assert_fails(gm_tile_access_place(&tile, &walk, &access), GM_ERROR_INVALID_ARGUMENT, "lane 4's");
    walk.byte[4] = 0;
    walk.row[30] = 32;
    assert_fails(gm_tile_access_place(&tile, &walk, &access), GM_ERROR_INVALID_ARGUMENT, "lane 30's");
}
END_TEST

START_TEST(walks_that_no_access_can_be_are_refused) {
    struct gm_smem_tile tile = tile_of(32, 128, 0);
    struct gm_tile_access walk = column_walk(GM_ACCESS_LOAD, 3);
    struct gm_access access = {.size = sizeof access};
    assert_fails(gm_tile_access_place(&tile, &walk, &access), GM_ERROR_INVALID_ARGUMENT, "load of 3 bytes");
    walk = column_walk(GM_ACCESS_LOAD, 16);
    tile.swizzle = (struct gm_swizzle){2, 3, 4}; /* moves pieces of 8 bytes */
    assert_fails(gm_tile_access_place(&tile, &walk, &access), GM_ERROR_INVALID_ARGUMENT,
                 "Swizzle<2,3,4> tears the 16 bytes of a lane apart");
    walk.width = 8;
    assert_ok(gm_tile_access_place(&tile, &walk, &access));
    tile.swizzle = (struct gm_swizzle){2, 2, -3}; /* reads bits 2 and 3, changes 5 and 6 */
    assert_fails(gm_tile_access_place(&tile, &walk, &access), GM_ERROR_INVALID_ARGUMENT, "tears the 8 bytes");
    walk.width = 4;
    assert_ok(gm_tile_access_place(&tile, &walk, &access));
    assert_fails(gm_tile_access_place(&tile, NULL, &access), GM_ERROR_INVALID_ARGUMENT, "walk is NULL");
    assert_fails(gm_tile_access_place(&tile, &walk, NULL), GM_ERROR_INVALID_ARGUMENT, "access is NULL");
    walk.size = 4;
    assert_fails(gm_tile_access_place(&tile, &walk, &access), GM_ERROR_SIZE, "walk.size is 4");
}
END_TEST

Suite *smem_tile_suite(void) {
    Suite *suite = suite_create("smem_tile");
    TCase *cases = tcase_create("addresses");
    tcase_add_test(cases, bytes_lie_at_base_row_and_pitch);
    tcase_add_test(cases, a_walk_becomes_an_access);
    tcase_add_test(cases, an_ldmatrix_x1_walks_8_rows);
    suite_add_tcase(suite, cases);
    TCase *refusals = tcase_create("refusals");
    tcase_add_loop_test(refusals, senseless_tiles_are_refused, 0, (int)(sizeof tiles / sizeof *tiles));
    tcase_add_test(refusals, bytes_outside_the_tile_are_refused);
    tcase_add_test(refusals, walks_that_no_access_can_be_are_refused);
    suite_add_tcase(suite, refusals);
    return suite;
}
