/* SPDX-License-Identifier: Apache-2.0 */
/* Packed images: what unpacks, and what does not. */
#include "host/image.h"
#include "host/unpack.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Behind a base of three bytes: two literals, a match that begins in the base, one that overlaps itself, a literal. */
START_TEST(literals_and_matches_follow_the_base) {
    static const unsigned char packed[] = {2, 'd', 'e', 4, 5, 0, 5, 1, 1, '!', 0};
    unsigned char to[] = "abc............";
    ck_assert(gm_unpack(packed, sizeof packed, to, 3, 15));
    ck_assert(memcmp(to, "abcdeabcdddddd!", 15) == 0);
}
END_TEST

START_TEST(long_numbers_have_several_bytes) {
    enum { BYTES = 1000 };
    static const unsigned char packed[] = {1, 'x', ((BYTES - 1) & 127) | 128, (BYTES - 1) >> 7, 1, 0, 0};
    unsigned char to[BYTES];
    ck_assert(gm_unpack(packed, sizeof packed, to, 0, BYTES));
    for (int i = 0; i < BYTES; i++)
        ck_assert_int_eq(to[i], 'x');
}
END_TEST

/* Each of these would read or write where nothing is. */
START_TEST(what_is_no_list_is_refused) {
    static const struct {
        unsigned char packed[8];
        size_t bytes;
    } broken[] = {
        {{0}, 0},                             /* nothing */
        {{4, 'a', 'b', 'c'}, 4},              /* literals that end too early, */
        {{5, 'a', 'b', 'c', 'd', 'e', 0}, 7}, /* or are more than there is room for */
        {{2, 'a', 'b', 3, 1, 0, 0}, 7},       /* a match beyond the end, */
        {{1, 'a', 3, 2, 0, 0}, 6},            /* from before the beginning, */
        {{1, 'a', 3, 0, 0, 0}, 6},            /* from nowhere */
        {{3, 'a', 'b', 'c', 0}, 5},           /* fewer bytes than the image has */
        {{4, 'a', 'b', 'c', 'd', 0, 9}, 7},   /* something behind the end */
        {{4, 'a', 'b', 'c', 'd'}, 5},         /* no end */
        {{255, 255, 255, 255, 255, 1}, 6},    /* a number without one */
    };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        unsigned char *to = malloc(4); /* exactly, for the sanitizers */
        ck_assert_msg(!gm_unpack(broken[i].packed, broken[i].bytes, to, 0, 4), "%zu", i);
        free(to);
    }
}
END_TEST

/* A fatbin begins with its magic number and says how long it is. */
START_TEST(every_image_is_a_fatbin_of_its_kernel) {
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *kernel = &gm_kernels[i];
        unsigned char *image = gm_image_unpack(&kernel->image);
        char name[128];
        uint64_t bytes;
        if (!image) {
            ck_abort_msg("no memory for %s", kernel->name);
            return;
        }
        memcpy(&bytes, image + 8, sizeof bytes);
        ck_assert_msg(memcmp(image, "\x50\xed\x55\xba", 4) == 0 && bytes + 16 == kernel->image.bytes, "%s",
                      kernel->name);
        int length = snprintf(name, sizeof name, "%s", kernel->name);
        ck_assert_msg(length > 0 && memmem(image, kernel->image.bytes, name, (size_t)length + 1) != NULL, "%s", name);
        free(image);
    }
}
END_TEST

Suite *unpack_suite(void) {
    Suite *suite = suite_create("unpack");
    TCase *cases = tcase_create("packed images");
    tcase_add_test(cases, literals_and_matches_follow_the_base);
    tcase_add_test(cases, long_numbers_have_several_bytes);
    tcase_add_test(cases, what_is_no_list_is_refused);
    tcase_add_test(cases, every_image_is_a_fatbin_of_its_kernel);
    suite_add_tcase(suite, cases);
    return suite;
}
