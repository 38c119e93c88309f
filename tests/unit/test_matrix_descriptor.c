/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix descriptors: the 64 bits, and the addresses against the canonical layouts written as strides. */
#include "gristmill/smem.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

static struct gm_matrix_descriptor descriptor_of(uint32_t start, uint32_t lbo, uint32_t sbo,
                                                 enum gm_swizzle_mode mode) {
    return (struct gm_matrix_descriptor){.size = sizeof(struct gm_matrix_descriptor),
                                         .start = start,
                                         .leading_bytes = lbo,
                                         .stride_bytes = sbo,
                                         .swizzle = mode};
}

static struct gm_wgmma_operand operand_of(enum gm_major major, uint32_t element_bytes, uint32_t rows) {
    return (struct gm_wgmma_operand){sizeof(struct gm_wgmma_operand), major, element_bytes, rows};
}

/* ---- the bits ---- */

START_TEST(known_bits) {
    struct gm_matrix_descriptor d = descriptor_of(0x400, 16, 1024, GM_SWIZZLE_128B);
    uint64_t bits;
    assert_ok(gm_matrix_descriptor_encode(&d, &bits));
    ck_assert_uint_eq(bits, UINT64_C(0x4000004000010040));
    d = descriptor_of(0x3fff0, 0x3fff0, 0x3fff0, GM_SWIZZLE_32B);
    d.base_offset = 7;
    assert_ok(gm_matrix_descriptor_encode(&d, &bits));
    ck_assert_uint_eq(bits, UINT64_C(0xc00e3fff3fff3fff));
    d = descriptor_of(0, 0, 0, GM_SWIZZLE_64B);
    assert_ok(gm_matrix_descriptor_encode(&d, &bits));
    ck_assert_uint_eq(bits, UINT64_C(0x8000000000000000));
    d = descriptor_of(16, 128, 256, GM_SWIZZLE_NONE);
    assert_ok(gm_matrix_descriptor_encode(&d, &bits));
    ck_assert_uint_eq(bits, UINT64_C(0x0000001000080001));
}
END_TEST

START_TEST(what_is_encoded_is_decoded) {
    for (uint32_t i = 0; i < 20000; i++) {
        struct gm_matrix_descriptor d = descriptor_of(i * 7919 % 16384 * 16, i * 104729 % 16384 * 16,
                                                      i * 1299709 % 16384 * 16, (enum gm_swizzle_mode)(i % 4));
        struct gm_matrix_descriptor back = {.size = sizeof back};
        uint64_t bits;
        d.base_offset = i / 4 % 8;
        assert_ok(gm_matrix_descriptor_encode(&d, &bits));
        assert_ok(gm_matrix_descriptor_decode(bits, &back));
        ck_assert_uint_eq(back.start, d.start);
        ck_assert_uint_eq(back.leading_bytes, d.leading_bytes);
        ck_assert_uint_eq(back.stride_bytes, d.stride_bytes);
        ck_assert_uint_eq(back.base_offset, d.base_offset);
        ck_assert_int_eq(back.swizzle, d.swizzle);
    }
}
END_TEST

START_TEST(bits_of_no_field_are_refused) {
    int refused = 0;
    for (int bit = 0; bit < 64; bit++) {
        struct gm_matrix_descriptor d = {.size = sizeof d, .start = 77};
        char words[32];
        const int known =
            bit < 14 || (bit >= 16 && bit < 30) || (bit >= 32 && bit < 46) || (bit >= 49 && bit < 52) || bit >= 62;
        if (known) {
            assert_ok(gm_matrix_descriptor_decode(UINT64_C(1) << bit, &d));
            continue;
        }
        snprintf(words, sizeof words, "sets bit %d,", bit);
        assert_fails(gm_matrix_descriptor_decode(UINT64_C(1) << bit, &d), GM_ERROR_INVALID_ARGUMENT, words);
        ck_assert_uint_eq(d.start, 77);
        refused++;
    }
    ck_assert_int_eq(refused, 17);
}
END_TEST

START_TEST(fields_that_do_not_fit_are_refused) {
    struct gm_matrix_descriptor d = descriptor_of(8, 0, 0, GM_SWIZZLE_NONE);
    uint64_t bits = 99;
    assert_fails(gm_matrix_descriptor_encode(&d, &bits), GM_ERROR_INVALID_ARGUMENT,
                 "the start address of 8 bytes is no multiple of 16");
    d = descriptor_of(1 << 18, 0, 0, GM_SWIZZLE_NONE);
    assert_fails(gm_matrix_descriptor_encode(&d, &bits), GM_ERROR_INVALID_ARGUMENT, "262144 bytes does not fit");
    d = descriptor_of(0, 20, 0, GM_SWIZZLE_NONE);
    assert_fails(gm_matrix_descriptor_encode(&d, &bits), GM_ERROR_INVALID_ARGUMENT, "leading byte offset of 20");
    d = descriptor_of(0, 0, UINT32_MAX - 15, GM_SWIZZLE_NONE);
    assert_fails(gm_matrix_descriptor_encode(&d, &bits), GM_ERROR_INVALID_ARGUMENT, "stride byte offset of 4294967280");
    d = descriptor_of(0, 0, 0, GM_SWIZZLE_NONE);
    d.base_offset = 8;
    assert_fails(gm_matrix_descriptor_encode(&d, &bits), GM_ERROR_INVALID_ARGUMENT, "base offset 8");
    d = descriptor_of(0, 0, 0, (enum gm_swizzle_mode)4);
    assert_fails(gm_matrix_descriptor_encode(&d, &bits), GM_ERROR_INVALID_ARGUMENT, "swizzle mode 4");
    d = descriptor_of(0, 0, 0, (enum gm_swizzle_mode) - 1);
    assert_fails(gm_matrix_descriptor_encode(&d, &bits), GM_ERROR_INVALID_ARGUMENT, "swizzle mode -1");
    d = descriptor_of(0, 0, 0, GM_SWIZZLE_NONE);
    assert_fails(gm_matrix_descriptor_encode(&d, NULL), GM_ERROR_INVALID_ARGUMENT, "bits is NULL");
    assert_fails(gm_matrix_descriptor_encode(NULL, &bits), GM_ERROR_INVALID_ARGUMENT, "descriptor is NULL");
    assert_fails(gm_matrix_descriptor_decode(0, NULL), GM_ERROR_INVALID_ARGUMENT, "descriptor is NULL");
    d.size = 0;
    assert_fails(gm_matrix_descriptor_encode(&d, &bits), GM_ERROR_SIZE, "descriptor.size is 0");
    assert_fails(gm_matrix_descriptor_decode(0, &d), GM_ERROR_SIZE, "descriptor.size is 0");
    ck_assert_uint_eq(bits, 99);
}
END_TEST

/* ---- the addresses ---- */

enum { LBO = 3 * 4096, SBO = 5 * 512 }; /* unlike anything a mode would suggest */

/* A canonical layout: an index is split by two sizes, and each of the three parts has its stride in bytes. */
struct split {
    uint32_t first, second;
    uint32_t stride[3];
};

static uint32_t offset_of(struct split s, uint32_t index) {
    return index % s.first * s.stride[0] + index / s.first % s.second * s.stride[1] +
           index / s.first / s.second * s.stride[2];
}

/* As in the PTX documents, T = 16 bytes of elements:
 *   K-major   none        ((8,m),(T,2)):((1T,SBO),(1,LBO))
 *             32/64/128B  ((8,m),(T,2)):((2T/4T/8T,SBO),(1,T))
 *   MN-major  none        ((T,1,m),(8,2)):((1,T,SBO),(1T,LBO))
 *             32/64/128B  ((T,2/4/8,m),(8,2)):((1,T,LBO),(2T/4T/8T,SBO)) */
static uint32_t canonical(enum gm_major major, enum gm_swizzle_mode mode, uint32_t eb, uint32_t row, uint32_t k) {
    const uint32_t t = 16 / eb, wide = 16u << mode, chunks = 1u << mode, never = 1 << 20;
    struct split rows, ks;
    if (major == GM_K_MAJOR) {
        rows = (struct split){8, never, {wide, SBO, 0}};
        ks = (struct split){t, 2, {eb, mode ? 16 : LBO, 0}};
    } else {
        rows = (struct split){t, chunks, {eb, 16, mode ? LBO : SBO}};
        ks = (struct split){8, never, {wide, mode ? SBO : LBO, 0}};
    }
    return offset_of(rows, row) + offset_of(ks, k);
}

START_TEST(addresses_follow_the_canonical_layouts) {
    for (int mode = 0; mode < 4; mode++)
        for (int major = 0; major < 2; major++)
            for (uint32_t eb = 1; eb <= 4; eb *= 2) {
                const uint32_t start = 2 * 1024 + 32 * (uint32_t)(mode == GM_SWIZZLE_128B);
                const struct gm_matrix_descriptor d = descriptor_of(start, LBO, SBO, (enum gm_swizzle_mode)mode);
                const struct gm_wgmma_operand o = operand_of((enum gm_major)major, eb, 256);
                if (major == GM_MN_MAJOR && eb != 2)
                    continue;
                for (uint32_t row = 0; row < 256; row++)
                    for (uint32_t k = 0; k < 32 / eb; k++) {
                        const uint32_t plain = start + canonical(o.major, d.swizzle, eb, row, k);
                        uint32_t address;
                        assert_ok(gm_wgmma_address(&d, &o, row, k, &address));
                        ck_assert_uint_eq(address, gm_swizzle_apply(gm_swizzle_of_mode(d.swizzle), plain));
                    }
            }
}
END_TEST

/* A pattern that starts `offset` lines late is read as if it started at line 0. */
START_TEST(a_base_offset_moves_the_phase) {
    for (uint32_t offset = 0; offset < 8; offset++) {
        struct gm_matrix_descriptor d = descriptor_of(1024 + offset * 128, 16, 1024, GM_SWIZZLE_128B);
        const struct gm_matrix_descriptor aligned = descriptor_of(1024, 16, 1024, GM_SWIZZLE_128B);
        const struct gm_wgmma_operand o = operand_of(GM_K_MAJOR, 2, 64);
        d.base_offset = offset;
        for (uint32_t row = 0; row < 64; row++) {
            uint32_t here, there;
            assert_ok(gm_wgmma_address(&d, &o, row, 3, &here));
            assert_ok(gm_wgmma_address(&aligned, &o, row, 3, &there));
            ck_assert_uint_eq(here - offset * 128, there);
        }
    }
}
END_TEST

START_TEST(elements_that_no_instruction_reads) {
    struct gm_matrix_descriptor d = descriptor_of(0, 16, 1024, GM_SWIZZLE_128B);
    struct gm_wgmma_operand o = operand_of(GM_K_MAJOR, 2, 64);
    uint32_t address = 5;
    assert_fails(gm_wgmma_address(&d, &o, 64, 0, &address), GM_ERROR_INVALID_ARGUMENT,
                 "element (64, 0) lies outside an instruction's operand of 64 x 16");
    assert_fails(gm_wgmma_address(&d, &o, 0, 16, &address), GM_ERROR_INVALID_ARGUMENT, "element (0, 16)");
    assert_fails(gm_wgmma_address(&d, &o, 0, 0, NULL), GM_ERROR_INVALID_ARGUMENT, "address is NULL");
    assert_fails(gm_wgmma_address(NULL, &o, 0, 0, &address), GM_ERROR_INVALID_ARGUMENT, "descriptor is NULL");
    assert_fails(gm_wgmma_address(&d, NULL, 0, 0, &address), GM_ERROR_INVALID_ARGUMENT, "operand is NULL");
    static const struct {
        uint32_t major, element_bytes, rows;
        const char *words;
    } operands[] = {{2, 2, 64, "major 2"},
                    {0, 8, 64, "elements of 8 bytes"},
                    {0, 0, 64, "elements of 0 bytes"},
                    {0, 3, 64, "elements of 3"},
                    {1, 1, 64, "elements of 2 bytes, not 1"},
                    {1, 4, 64, "2 bytes, not 4"},
                    {0, 2, 0, "not 0"},
                    {0, 2, 4, "not 4"},
                    {0, 2, 264, "not 264"},
                    {0, 2, 20, "not 20"}};
    for (size_t i = 0; i < sizeof operands / sizeof *operands; i++) {
        o = operand_of((enum gm_major)operands[i].major, operands[i].element_bytes, operands[i].rows);
        assert_fails(gm_wgmma_address(&d, &o, 0, 0, &address), GM_ERROR_INVALID_ARGUMENT, operands[i].words);
    }
    o = operand_of(GM_K_MAJOR, 2, 64);
    o.size = 2;
    assert_fails(gm_wgmma_address(&d, &o, 0, 0, &address), GM_ERROR_SIZE, "operand.size is 2");
    o.size = sizeof o;
    d.start = 3;
    assert_fails(gm_wgmma_address(&d, &o, 0, 0, &address), GM_ERROR_INVALID_ARGUMENT, "start address of 3");
    ck_assert_uint_eq(address, 5);
}
END_TEST

Suite *matrix_descriptor_suite(void) {
    Suite *suite = suite_create("matrix_descriptor");
    TCase *bits = tcase_create("bits");
    tcase_add_test(bits, known_bits);
    tcase_add_test(bits, bits_of_no_field_are_refused);
    tcase_add_test(bits, fields_that_do_not_fit_are_refused);
    suite_add_tcase(suite, bits);
    TCase *addresses = tcase_create("addresses");
    tcase_add_test(addresses, a_base_offset_moves_the_phase);
    tcase_add_test(addresses, elements_that_no_instruction_reads);
    suite_add_tcase(suite, addresses);
    TCase *all = tcase_create("all");
    tcase_set_tags(all, "long"); /* a quarter of a minute under valgrind */
    tcase_add_test(all, what_is_encoded_is_decoded);
    tcase_add_test(all, addresses_follow_the_canonical_layouts);
    suite_add_tcase(suite, all);
    return suite;
}
