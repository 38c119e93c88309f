/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor maps: what is encoded comes back; what the driver refuses is refused; other bytes are no map. */
#include "sim_tests.h"

#include "sim/copies/tensor_map.h"

#include <string.h>

enum { OK = 0, INVALID = 1, UINT8 = 0, FLOAT32 = 7, BFLOAT16 = 9, SWIZZLE_64B = 2, SWIZZLE_128B = 3 };

struct map {
    _Alignas(64) uint8_t bytes[128];
};

/* A request, tiled or im2col, that is legal until a test changes it. */
struct request {
    int type;
    unsigned rank;
    uint64_t address, dims[5], strides[4];
    uint32_t box[5], steps[5];
    int lower[3], upper[3];
    uint32_t channels, pixels;
    int interleave, swizzle, promotion, fill;
};

static struct request tiled(void) {
    return (struct request){.type = BFLOAT16,
                            .rank = 3,
                            .address = 0x7f0000001230,
                            .dims = {1000, UINT64_C(1) << 32, 30},
                            .strides = {2048, (UINT64_C(1) << 40) - 16},
                            .box = {64, 256, 2},
                            .steps = {1, 2, 8},
                            .swizzle = SWIZZLE_128B,
                            .promotion = 3,
                            .fill = 1};
}

static struct request im2col(void) {
    return (struct request){.type = UINT8,
                            .rank = 4,
                            .address = 0x1000,
                            .dims = {64, 7, 5, 3},
                            .strides = {64, 64 * 7, 64 * 35},
                            .steps = {1, 1, 2, 1},
                            .lower = {-2, -128},
                            .upper = {127, 0},
                            .channels = 64,
                            .pixels = 1024,
                            .swizzle = SWIZZLE_64B};
}

static int encode_tiled(struct map *map, const struct request *r) {
    return sim_tensor_map_encode_tiled(map, r->type, r->rank, r->address, r->dims, r->strides, r->box, r->steps,
                                       r->interleave, r->swizzle, r->promotion, r->fill);
}

static int encode_im2col(struct map *map, const struct request *r) {
    return sim_tensor_map_encode_im2col(map, r->type, r->rank, r->address, r->dims, r->strides, r->lower, r->upper,
                                        r->channels, r->pixels, r->steps, r->interleave, r->swizzle, r->promotion,
                                        r->fill);
}

static void compare(const struct request *r, const struct sim_tensor_map *map, uint32_t element_bytes) {
    ck_assert_int_eq(map->type, r->type);
    ck_assert_uint_eq(map->rank, r->rank);
    ck_assert_uint_eq(map->address, r->address);
    ck_assert_uint_eq(map->element_bytes, element_bytes);
    ck_assert_int_eq(map->interleave, r->interleave);
    ck_assert_int_eq(map->swizzle, r->swizzle);
    ck_assert_int_eq(map->l2_promotion, r->promotion);
    ck_assert_int_eq(map->oob_fill, r->fill);
    for (unsigned d = 0; d < r->rank; d++) {
        ck_assert_uint_eq(map->dims[d], r->dims[d]);
        ck_assert_uint_eq(map->strides[d], d ? r->strides[d - 1] : element_bytes);
        ck_assert_uint_eq(map->element_strides[d], r->steps[d]);
    }
}

START_TEST(a_tiled_map_comes_back) {
    const struct request request = tiled();
    struct map map;
    struct sim_tensor_map decoded;
    ck_assert_int_eq(encode_tiled(&map, &request), OK);
    ck_assert(sim_tensor_map_decode(&map, &decoded));
    compare(&request, &decoded, 2);
    ck_assert(!decoded.im2col);
    for (unsigned d = 0; d < request.rank; d++)
        ck_assert_uint_eq(decoded.box[d], request.box[d]);
}
END_TEST

START_TEST(an_im2col_map_comes_back) {
    const struct request request = im2col();
    struct map map;
    struct sim_tensor_map decoded;
    ck_assert_int_eq(encode_im2col(&map, &request), OK);
    ck_assert(sim_tensor_map_decode(&map, &decoded));
    compare(&request, &decoded, 1);
    ck_assert(decoded.im2col);
    ck_assert_uint_eq(decoded.channels, 64);
    ck_assert_uint_eq(decoded.pixels, 1024);
    ck_assert_mem_eq(decoded.lower_corner, request.lower, 2 * sizeof(int));
    ck_assert_mem_eq(decoded.upper_corner, request.upper, 2 * sizeof(int));
}
END_TEST

/* ---- refused ---------------------------------------------------------------------------------------------------- */

static void narrow_row(struct request *r) {
    r->box[0] = 4;
}
static void wide_row(struct request *r) {
    r->box[0] = 72;
}
static void rank_0(struct request *r) {
    r->rank = 0;
}
static void rank_6(struct request *r) {
    r->rank = 6;
}
static void crooked_address(struct request *r) {
    r->address += 8;
}
static void type_13(struct request *r) {
    r->type = 13;
}

START_TEST(what_the_driver_refuses_is_refused) {
    void (*const changes[])(struct request *) = {narrow_row, wide_row, rank_0, rank_6, crooked_address, type_13};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct request request = tiled();
        struct map map;
        changes[i](&request);
        ck_assert_msg(encode_tiled(&map, &request) == INVALID, "change %zu", i);
    }
}
END_TEST

START_TEST(missing_arrays_are_refused) {
    const struct request r = tiled();
    struct map map;
    ck_assert_int_eq(sim_tensor_map_encode_tiled(NULL, r.type, 3, 0, r.dims, r.strides, r.box, r.steps, 0, 3, 0, 0),
                     INVALID);
    ck_assert_int_eq(
        sim_tensor_map_encode_tiled(map.bytes + 8, r.type, 3, 0, r.dims, r.strides, r.box, r.steps, 0, 3, 0, 0),
        INVALID);
    ck_assert_int_eq(sim_tensor_map_encode_tiled(&map, r.type, 3, 0, NULL, r.strides, r.box, r.steps, 0, 3, 0, 0),
                     INVALID);
    ck_assert_int_eq(sim_tensor_map_encode_tiled(&map, r.type, 3, 0, r.dims, NULL, r.box, r.steps, 0, 3, 0, 0),
                     INVALID);
    ck_assert_int_eq(sim_tensor_map_encode_tiled(&map, r.type, 3, 0, r.dims, r.strides, NULL, r.steps, 0, 3, 0, 0),
                     INVALID);
    ck_assert_int_eq(sim_tensor_map_encode_tiled(&map, r.type, 3, 0, r.dims, r.strides, r.box, NULL, 0, 3, 0, 0),
                     INVALID);
    ck_assert_int_eq(sim_tensor_map_encode_tiled(&map, r.type, 1, 0, r.dims, NULL, r.box, r.steps, 0, 3, 0, 0), OK);
}
END_TEST

static void rank_2(struct request *r) {
    r->rank = 2;
}
static void no_pixel(struct request *r) {
    r->pixels = 0;
}
static void too_many_pixels(struct request *r) {
    r->pixels = 1025;
}
static void no_channel(struct request *r) {
    r->channels = 0;
}
static void too_many_channels(struct request *r) {
    r->channels = 272, r->swizzle = 0;
}
static void channels_beyond_the_span(struct request *r) {
    r->channels = 80;
}
static void corner_too_low(struct request *r) {
    r->lower[1] = -129;
}
static void corner_too_high(struct request *r) {
    r->upper[0] = 128;
}
static void empty_box(struct request *r) {
    r->lower[0] = 3, r->upper[0] = -4;
}

START_TEST(im2col_maps_have_rules_of_their_own) {
    void (*const changes[])(struct request *) = {
        rank_2,          no_pixel,  too_many_pixels,          no_channel,      corner_too_low, too_many_channels,
        corner_too_high, empty_box, channels_beyond_the_span, crooked_address, type_13};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct request request = im2col();
        struct map map;
        changes[i](&request);
        ck_assert_msg(encode_im2col(&map, &request) == INVALID, "change %zu", i);
    }
    struct request smallest = im2col();
    struct map map;
    smallest.lower[0] = 3;
    smallest.upper[0] = -3; /* one pixel */
    ck_assert_int_eq(encode_im2col(&map, &smallest), OK);
}
END_TEST

/* ---- bytes ------------------------------------------------------------------------------------------------------ */

START_TEST(other_bytes_are_no_map) {
    const struct request request = tiled();
    struct map map = {{0}};
    struct sim_tensor_map decoded;
    ck_assert(!sim_tensor_map_decode(&map, &decoded));
    ck_assert_int_eq(encode_tiled(&map, &request), OK);
    for (size_t byte = 0; byte < sizeof map; byte++) {
        map.bytes[byte] ^= 0x10;
        ck_assert_msg(!sim_tensor_map_decode(&map, &decoded), "byte %zu changed, and it is still a map", byte);
        map.bytes[byte] ^= 0x10;
    }
    ck_assert(sim_tensor_map_decode(&map, &decoded));
}
END_TEST

START_TEST(the_address_can_be_replaced) {
    const struct request request = tiled();
    struct map map;
    struct sim_tensor_map decoded;
    ck_assert_int_eq(encode_tiled(&map, &request), OK);
    ck_assert_int_eq(sim_tensor_map_replace_address(&map, 0x5550), OK);
    ck_assert(sim_tensor_map_decode(&map, &decoded));
    ck_assert_uint_eq(decoded.address, 0x5550);
    ck_assert_int_eq(sim_tensor_map_replace_address(&map, 0x5558), INVALID);
    memset(&map, 0, sizeof map);
    ck_assert_int_eq(sim_tensor_map_replace_address(&map, 0x5550), INVALID);
    ck_assert_int_eq(sim_tensor_map_replace_address(NULL, 0x5550), INVALID);
}
END_TEST

Suite *tensor_map_suite(void) {
    Suite *suite = suite_create("tensor maps");
    TCase *tests = tcase_create("tensor maps");
    tcase_add_test(tests, a_tiled_map_comes_back);
    tcase_add_test(tests, an_im2col_map_comes_back);
    tcase_add_test(tests, what_the_driver_refuses_is_refused);
    tcase_add_test(tests, missing_arrays_are_refused);
    tcase_add_test(tests, im2col_maps_have_rules_of_their_own);
    tcase_add_test(tests, other_bytes_are_no_map);
    tcase_add_test(tests, the_address_can_be_replaced);
    suite_add_tcase(suite, tests);
    return suite;
}
