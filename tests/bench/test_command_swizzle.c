/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill swizzle as it is met on a command line: what it draws, what it finds, and every line that it refuses. */
#include "bench_tests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program/commands.h"
#include "help_examples.h"
#include "run_command.h"
#include "program/base/messages.h"

static const struct {
    const char *line, *words;
} drawn[] = {
    {"--mode 128B", "A tile under Swizzle<3,4,3>, the 128B mode"},
    {"--mode none --tile 8x128", "A tile under no swizzle"},
    {"--mode 2", "the 64B mode"},
    {"--mode 128B --tile 64x64 --type bf16", "on element indices Swizzle<3,3,3>"},
    {"--mode 32B --tile 0x20x0x20", "32 rows of 32 bytes"},
    {"--swizzle 5,2,5 --type f32 --tile 32x32 --unit 4", "on element indices Swizzle<5,0,5>"},
    {"--swizzle 5,2,5 --type f64 --tile 32x16", "it cuts elements of 8 bytes"},
    {"--swizzle 2,4,-3 --tile 24x96", "Swizzle<2,4,-3>"},
    {"--swizzle 128B --tile 16x128 --pitch 144 --base 0x80", "pitch 144, from address 0x80"},
    {"--search column --search row --type f32 --tile 32x32", "The smallest swizzle for column and row walks: "
                                                             "Swizzle<5,2,5>; on element indices Swizzle<5,0,5>"},
    {"--search ldmatrix --type bf16 --tile 64x64", "The smallest swizzle for ldmatrix walks: Swizzle<3,4,3>, the 128B"},
    {"--search ldmatrix --type bf16 --tile 64x32 --base 1024", "Swizzle<2,4,3>, the 64B mode"},
    {"--search column:16 --tile 64x128", "The smallest swizzle for column:16 walks: Swizzle<3,4,3>"},
    {"--search row --tile 32x200", "The smallest swizzle for row walks: no swizzle"},
    {"--search column --tile 32x132", "no swizzle"}, /* an odd pitch needs none */
};

START_TEST(tiles_are_drawn) {
    struct outcome got = run_command(command_swizzle, drawn[_i].line);
    ck_assert_msg(got.code == EXIT_CODE_OK, "%s: exit code %d: %s", drawn[_i].line, got.code, got.err);
    ck_assert_msg(strstr(got.out, drawn[_i].words) != NULL, "%s: \"%s\" is not in\n%.2000s", drawn[_i].line,
                  drawn[_i].words, got.out);
    ck_assert_ptr_nonnull(strstr(got.out, "Worst bank conflicts"));
    forget_outcome(&got);
}
END_TEST

START_TEST(a_search_without_a_finding_says_so) {
    struct outcome got = run_command(command_swizzle, "--search column:2 --search row:16 --tile 32x2048");
    ck_assert_int_eq(got.code, EXIT_CODE_FAILURE);
    ck_assert_ptr_nonnull(strstr(got.out, "No swizzle frees all column:2 and row:16 walks of bank conflicts on 32 rows "
                                          "of 2048 bytes, pitch 2048"));
    ck_assert_str_eq(got.err, "");
    forget_outcome(&got);
}
END_TEST

/* Nothing but one sentence, on stderr. */
static const struct {
    const char *line, *words;
} refused[] = {
    {"", "swizzle wants one of --mode, --swizzle and --search; see"},
    {"--mode 128B --search row", "not several"},
    {"--mode 128B --swizzle 1,2,3", "not several"},
    {"--mode 128B more", "swizzle takes options only, not `more`"},
    {"--mode 256B", "--mode is none, 32B, 64B, 128B, or a number"},
    {"--mode 4", "--mode 4 is not one of"},
    {"--mode", "--mode wants a value"},
    {"--swizzle 3,4", "three numbers B,M,S"},
    {"--swizzle 3,4,2", "|S| must be at least B"},
    {"--swizzle 9,20,9", "beyond the 32"},
    {"--mode 128B --tile 32", "--tile wants rows and bytes a row, such as 32x128, not `32`"},
    {"--mode 128B --type f32 --tile 32", "--tile wants rows and elements a row"},
    {"--mode 128B --tile 32x", "--tile wants whole numbers"},
    {"--mode 128B --tile 32x32x32", "--tile has more than 2 numbers"},
    {"--mode 128B --tile 32x128y", "`y` follows number 2"},
    {"--mode 128B --tile 0x", "--tile wants whole numbers"},
    {"--mode 128B --tile 0,128", "the tile has 0 rows"},
    {"--mode 128B --tile 32,0", "rows have 0 bytes"},
    {"--mode 128B --tile 65537,16", "65537 rows"},
    {"--mode 128B --tile 1024,1048576", "more than 1048576"},
    {"--mode 128B --tile 32,1048576 --type f64", "more than 1048576"},
    {"--mode 128B --tile 32,99999999", "whole numbers up to 1048576"},
    {"--mode 128B --type q8", "--type is u8"},
    {"--mode 128B --type 99", "--type 99 is no element type"},
    {"--mode 128B --pitch 64", "pitch of 64 bytes is less than a row of 128"},
    {"--mode 128B --pitch wide", "--pitch wants a whole number"},
    {"--mode 128B --base -1", "--base wants a whole number"},
    {"--mode 128B --base 0xffffffff", "ends beyond 2^32"},
    {"--mode 128B --unit 5", "chunks of 5 bytes"},
    {"--mode 128B --unit 32", "--unit wants a whole number from 4 to 16"},
    {"--swizzle 5,2,5 --unit 16", "keeps only pieces of 4 together"},
    {"--search column --search row --type f32 --tile 32x32 --unit 16", "keeps only pieces of 4 together"},
    {"--mode 128B --tile 3x3", "torn into pieces of 1"},
    {"--search diagonal", "--search is row, column, row:BYTES"},
    {"--search ro", "--search is row"},
    {"--search ldmatrix:4", "--search is row"},
    {"--search row:3", "a lane takes 1, 2, 4, 8 or 16 bytes, not 3"},
    {"--search row:32", "wants a whole number from 1 to 16"},
    {"--search row:", "wants a whole number"},
    {"--search row:16 --tile 8x12", "a tile of 8 rows of 12 bytes has no such walk"},
    {"--search ldmatrix --tile 4x128", "a tile of 4 rows of 128 bytes has no such walk"},
    {"--search column:16 --tile 32x20", "no multiple of the 16 bytes"},
    {"--search row:1 --search column:1 --tile 65536x16", "has more than"},
    {"--colour", "there is no option --colour"},
};

START_TEST(nonsense_is_refused) {
    expect_refusal(command_swizzle, refused[_i].line, refused[_i].words);
}
END_TEST

START_TEST(files_are_written) {
    char svg[] = "/tmp/swizzle-XXXXXX", html[] = "/tmp/swizzle-XXXXXX", line[256];
    const int svg_file = mkstemp(svg), html_file = mkstemp(html);
    ck_assert(svg_file >= 0 && html_file >= 0);
    close(svg_file);
    close(html_file);
    snprintf(line, sizeof line, "--mode 64B --svg %s --html %s", svg, html);
    struct outcome got = run_command(command_swizzle, line);
    ck_assert_int_eq(got.code, EXIT_CODE_OK);
    char *text = read_all(svg);
    ck_assert_ptr_nonnull(strstr(text, "<svg"));
    free(text);
    text = read_all(html);
    ck_assert_ptr_nonnull(strstr(text, "<html"));
    free(text);
    unlink(svg);
    unlink(html);
    forget_outcome(&got);
    got = run_command(command_swizzle, "--mode 64B --svg /no/such/place");
    ck_assert_int_eq(got.code, EXIT_CODE_FAILURE);
    ck_assert_ptr_nonnull(strstr(got.err, "cannot write /no/such/place: No such file"));
    forget_outcome(&got);
    got = run_command(command_swizzle, "--mode 64B --html /dev/full");
    ck_assert_int_eq(got.code, EXIT_CODE_FAILURE);
    ck_assert_ptr_nonnull(strstr(got.err, "cannot write /dev/full"));
    forget_outcome(&got);
}
END_TEST

START_TEST(the_examples_of_the_help_work) {
    ck_assert_int_eq(run_help_examples(command_swizzle, "--help", "gristmill swizzle"), 5);
}
END_TEST

TCase *command_swizzle_tests(void) {
    TCase *cases = tcase_create("command swizzle");
    tcase_add_loop_test(cases, tiles_are_drawn, 0, (int)(sizeof drawn / sizeof *drawn));
    tcase_add_test(cases, a_search_without_a_finding_says_so);
    tcase_add_loop_test(cases, nonsense_is_refused, 0, (int)(sizeof refused / sizeof *refused));
    tcase_add_test(cases, files_are_written);
    tcase_add_test(cases, the_examples_of_the_help_work);
    return cases;
}
