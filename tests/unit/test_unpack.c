/* SPDX-License-Identifier: Apache-2.0 */
/* Packed images: what unpacks, and what does not. The packer is tools/pack/. */
#include "host/image.h"
#include "host/unpack.h"
#include "pack.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *allocate(size_t bytes) {
    return calloc(bytes ? bytes : 1, 1);
}

/* ---- what was packed unpacks ------------------------------------------------------------------------ */

enum { CHAIN_PARTS = 3, PART_MOST = 5000 };

struct chain {
    size_t bytes[CHAIN_PARTS], packed_bytes[CHAIN_PARTS];
    unsigned char parts[CHAIN_PARTS][PART_MOST], packed[CHAIN_PARTS][2 * PART_MOST + 64];
};

/* A chain's memory, unpacked into blocks that end where it does, for the sanitizers; not zero before. */
static struct gm_unpacker *begin(size_t room) {
    struct gm_unpacker *unpacker = malloc(sizeof *unpacker);
    unsigned char *to = malloc(room + 1);
    ck_assert(unpacker && to);
    memset(to, 0xa5, room + 1);
    gm_unpack_begin(unpacker, to, room);
    return unpacker;
}

static void end(struct gm_unpacker *unpacker) {
    ck_assert_int_eq(unpacker->to[unpacker->room], 0xa5);
    free(unpacker->to);
    free(unpacker);
}

static size_t room_of(const struct chain *chain, int parts) {
    size_t room = 0;
    for (int i = 0; i < parts; i++)
        room = gm_packing_aligned(room) + chain->bytes[i];
    return room;
}

/* Packs each part behind those before it, as they unpack, and unpacks it. */
static void assert_chain_unpacks(struct chain *chain) {
    static struct gm_packing_model model;
    struct gm_unpacker *unpacker = begin(room_of(chain, CHAIN_PARTS));
    for (int i = 0; i < CHAIN_PARTS; i++) {
        const size_t start = gm_packing_aligned(unpacker->at), stop = start + chain->bytes[i];
        memset(unpacker->to + unpacker->at, 0, start - unpacker->at);
        memcpy(unpacker->to + start, chain->parts[i], chain->bytes[i]);
        model = unpacker->model;
        chain->packed_bytes[i] = pack_bytes(unpacker->to, unpacker->start, start, stop, &model, chain->packed[i]);
        ck_assert_uint_le(chain->packed_bytes[i], 2 * chain->bytes[i] + 64);
        memset(unpacker->to + unpacker->at, 0xa5, stop - unpacker->at);
        ck_assert(gm_unpack(unpacker, chain->packed[i], chain->packed_bytes[i], chain->bytes[i]));
        ck_assert_uint_eq(unpacker->start, start);
        ck_assert(memcmp(unpacker->to + start, chain->parts[i], chain->bytes[i]) == 0);
        ck_assert(memcmp(&model, &unpacker->model, sizeof model) == 0);
    }
    end(unpacker);
}

/* Random runs of random bytes, and of bytes that were there before, with a change here and there. */
static void make_parts(struct chain *chain, uint32_t *random, size_t bytes) {
    for (int i = 0; i < CHAIN_PARTS; i++) {
        chain->bytes[i] = bytes + (size_t)i;
        if (i > 0)
            memcpy(chain->parts[i], chain->parts[i - 1], PART_MOST);
        for (size_t at = 0; at < bytes;) {
            *random = *random * 1664525 + 1013904223;
            const size_t run = 1 + (*random >> 8) % 300, from = (*random >> 16) % (at + 1);
            for (size_t k = 0; k < run && at < bytes; k++, at++)
                if (*random >> 30 == 0)
                    chain->parts[i][at] = (unsigned char)((*random = *random * 1664525 + 1013904223) >> 24);
                else if (*random >> 30 == 1)
                    chain->parts[i][at] = chain->parts[i][from + k];
        }
        chain->parts[i][bytes + (size_t)i] = 0;
    }
}

START_TEST(what_is_packed_unpacks) {
    static struct chain chain;
    uint32_t random = 1;
    for (size_t bytes = 0; bytes < 40; bytes++) {
        make_parts(&chain, &random, bytes);
        assert_chain_unpacks(&chain);
    }
    for (int round = 0; round < 30; round++) {
        make_parts(&chain, &random, 1 + (random >> 8) % (PART_MOST - CHAIN_PARTS));
        assert_chain_unpacks(&chain);
    }
}
END_TEST

START_TEST(a_part_like_its_base_takes_a_few_bytes) {
    static struct chain chain;
    for (int i = 0; i < CHAIN_PARTS; i++) {
        chain.bytes[i] = PART_MOST;
        for (uint32_t k = 0; k < PART_MOST; k++)
            chain.parts[i][k] = (unsigned char)(k * k * 2654435761u >> 24);
    }
    assert_chain_unpacks(&chain);
    ck_assert_uint_gt(chain.packed_bytes[0], PART_MOST / 2);
    ck_assert_uint_lt(chain.packed_bytes[1], 16);
    ck_assert_uint_lt(chain.packed_bytes[2], 12);
}
END_TEST

START_TEST(a_byte_repeated_takes_a_few_bytes) {
    static struct chain chain = {.bytes = {PART_MOST, PART_MOST, PART_MOST}};
    for (int i = 0; i < CHAIN_PARTS; i++)
        memset(chain.parts[i], 'x', PART_MOST);
    assert_chain_unpacks(&chain);
    ck_assert_uint_lt(chain.packed_bytes[0], 16);
}
END_TEST

/* ---- broken bytes are refused ----------------------------------------------------------------------- */

/* A chain's first part, from a block of exactly its packed bytes. */
static int unpacks(const unsigned char *packed, size_t packed_bytes, size_t bytes, size_t room) {
    struct gm_unpacker *unpacker = begin(room);
    unsigned char *copy = malloc(packed_bytes ? packed_bytes : 1);
    ck_assert(copy != NULL);
    memcpy(copy, packed, packed_bytes);
    const int is = gm_unpack(unpacker, copy, packed_bytes, bytes);
    free(copy);
    end(unpacker);
    return is;
}

START_TEST(what_is_cut_or_longer_is_refused) {
    static struct chain chain;
    uint32_t random = 7;
    make_parts(&chain, &random, 700);
    assert_chain_unpacks(&chain);
    const size_t packed_bytes = chain.packed_bytes[0];
    ck_assert(unpacks(chain.packed[0], packed_bytes, 700, 700));
    ck_assert(unpacks(chain.packed[0], packed_bytes, 700, 900));
    for (size_t bytes = 0; bytes < packed_bytes; bytes++)
        ck_assert_msg(!unpacks(chain.packed[0], bytes, 700, 700), "%zu", bytes);
    for (size_t bytes = 0; bytes < 700; bytes++)
        ck_assert_msg(!unpacks(chain.packed[0], packed_bytes, bytes, 700), "%zu", bytes);
    ck_assert(!unpacks(chain.packed[0], packed_bytes + 1, 700, 700)); /* something behind the end */
    ck_assert(!unpacks(chain.packed[0], packed_bytes, 701, 900));
    ck_assert(!unpacks(chain.packed[0], packed_bytes, 700, 699)); /* no room */
    ck_assert(!unpacks(chain.packed[0], packed_bytes, SIZE_MAX, 700));
}
END_TEST

/* Among them copies from before the beginning, and beyond the end. */
START_TEST(random_bytes_are_refused) {
    unsigned char packed[64];
    uint32_t random = 3;
    for (int round = 0; round < 20000; round++) {
        const size_t bytes = (size_t)round % sizeof packed;
        for (size_t i = 0; i < sizeof packed; i++)
            packed[i] = (unsigned char)((random = random * 1664525 + 1013904223) >> 24);
        if (round % 3 == 0)
            memset(packed, round % 2 ? 255 : 0, 4);
        ck_assert_msg(!unpacks(packed, bytes, 300, 300), "%d", round);
    }
}
END_TEST

/* A part behind its base, with a byte of it changed, and of the base where the byte's number is odd. */
static int chain_unpacks(const struct gm_packed_part *part, size_t byte, unsigned change, size_t room) {
    struct gm_unpacker *unpacker = begin(room);
    int is = 1;
    for (const struct gm_packed_part *at = &gm_parts[part->base]; is && at; at = at == part ? NULL : part) {
        unsigned char *packed = malloc(at->packed_bytes);
        ck_assert(packed != NULL);
        memcpy(packed, gm_images + at->offset, at->packed_bytes);
        if (byte < at->packed_bytes && (at == part || byte % 2))
            packed[byte] ^= (unsigned char)change;
        is = gm_unpack(unpacker, packed, at->packed_bytes, at->bytes);
        free(packed);
    }
    end(unpacker);
    return is;
}

START_TEST(an_image_with_a_changed_bit_is_refused) {
    const struct gm_packed_part *part = gm_parts;
    while (part->base < 0 || gm_parts[part->base].base >= 0)
        part++;
    const struct gm_packed_part *base = &gm_parts[part->base];
    const size_t room = gm_packing_aligned(base->bytes) + part->bytes;
    ck_assert(chain_unpacks(part, 0, 0, room));
    for (size_t byte = 0; byte < part->packed_bytes || byte < base->packed_bytes; byte += 1 + byte / 50)
        for (int bit = 0; bit < 8; bit++)
            if (byte < part->packed_bytes || byte % 2)
                ck_assert_msg(!chain_unpacks(part, byte, 1u << bit, room), "byte %zu, bit %d", byte, bit);
}
END_TEST

/* ---- the table's images ----------------------------------------------------------------------------- */

/* A fatbin begins with its magic number and says how long it is; then its part, with kind and target. */
static void assert_part_of(const struct gm_kernel *kernel, const struct gm_packed_part *part) {
    unsigned char *fatbin = gm_image_unpack(part);
    uint64_t bytes;
    uint32_t target;
    char name[256];
    if (!fatbin) {
        ck_abort_msg("no memory for %s", kernel->name);
        return;
    }
    memcpy(&bytes, fatbin + 8, sizeof bytes);
    memcpy(&target, fatbin + GM_FATBIN_HEAD + 28, sizeof target);
    ck_assert_msg(memcmp(fatbin, "\x50\xed\x55\xba", 4) == 0 && bytes == part->bytes, "%s", kernel->name);
    ck_assert_int_eq(fatbin[GM_FATBIN_HEAD], part->target ? 2 : 1);
    if (part->target)
        ck_assert_int_eq((int)target, part->target);
    snprintf(name, sizeof name, "%s%s", kernel->name, part->target ? "" : "(");
    ck_assert_msg(memmem(fatbin, GM_FATBIN_HEAD + part->bytes, name, strlen(name) + (part->target != 0)) != NULL, "%s",
                  name);
    free(fatbin);
}

START_TEST(every_image_is_of_its_kernel) {
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_packed_image *image = &gm_kernels[i].image;
        size_t packed_bytes = 0;
        for (int k = 0; k < image->count; k++) {
            assert_part_of(&gm_kernels[i], &gm_parts[image->first + k]);
            packed_bytes += gm_parts[image->first + k].packed_bytes;
        }
        ck_assert_uint_eq(image->packed_bytes, packed_bytes);
    }
}
END_TEST

/* As the targets say that the table names; docs/ARCHITECTURE.md has the rule. */
static int wanted_target(const struct gm_kernel *kernel, int cc) {
    if (kernel->arch == GM_ARCH_SM90)
        return 90;
    if (cc / 10 == 9)
        return strstr(kernel->targets, "sm_90") ? 90 : 0;
    return cc / 10 == 8 ? 80 : 0;
}

START_TEST(a_device_gets_its_part) {
    static const int ccs[] = {80, 86, 87, 89, 90, 100, 103, 120};
    for (size_t i = 0; i < gm_kernel_count(); i++)
        for (size_t k = 0; k < sizeof ccs / sizeof *ccs; k++)
            ck_assert_msg(gm_image_part(&gm_kernels[i].image, ccs[k] / 10, ccs[k] % 10)->target ==
                              wanted_target(&gm_kernels[i], ccs[k]),
                          "%s on %d", gm_kernels[i].name, ccs[k]);
}
END_TEST

Suite *unpack_suite(void) {
    Suite *suite = suite_create("unpack");
    TCase *cases = tcase_create("packed images");
    tcase_add_test(cases, what_is_packed_unpacks);
    tcase_add_test(cases, a_part_like_its_base_takes_a_few_bytes);
    tcase_add_test(cases, a_byte_repeated_takes_a_few_bytes);
    tcase_add_test(cases, what_is_cut_or_longer_is_refused);
    tcase_add_test(cases, random_bytes_are_refused);
    tcase_add_test(cases, a_device_gets_its_part);
    suite_add_tcase(suite, cases);
    TCase *table = tcase_create("whole images");
    tcase_set_tags(table, "long"); /* minutes under valgrind */
    tcase_add_test(table, every_image_is_of_its_kernel);
    tcase_add_test(table, an_image_with_a_changed_bit_is_refused);
    suite_add_tcase(suite, table);
    return suite;
}
