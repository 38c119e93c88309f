/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill bank as it is met on a command line: what it draws, and every command line that it refuses. */
#include "bench_tests.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program/commands.h"
#include "run_command.h"
#include "program/base/messages.h"

static struct outcome run_line(const char *line) {
    return run_command(command_bank, line);
}

/* ---- what it draws ------------------------------------------------------------------------------ */

static const struct {
    const char *line, *title;
} drawn[] = {
    {"--stride 2", "A stride of 2 words\nload of 4 bytes a lane"},
    {"--stride=0x21 --kind store", "A stride of 0x21 words\nstore of 4 bytes a lane"},
    {"--address lane_*_132", "Addresses lane * 132"},
    {"--kind ldmatrix --address (lane*128)_^_((lane&7)<<4)", "Addresses (lane*128) ^ ((lane&7)<<4)\nldmatrix.x4"},
    {"--kind stmatrix --matrices 1 --address 16*lane", "stmatrix.x1, 8 lanes"},
    {"--addresses 0,4,0x80", "Addresses one by one\nload of 4 bytes a lane, 3 lanes"},
    {"--addresses 0,16,32,48,64,80,96,112 --kind ldmatrix --matrices 1", "ldmatrix.x1"},
    {"--kind cp.async --address 16*lane", "cp.async of 16 bytes a lane"},
    {"--kind cp.async --width 8 --stride 2", "cp.async of 8 bytes a lane"},
    {"--kind atomic --stride 0 --lanes 0-3,7,31", "atomic of 4 bytes a lane, 6 lanes"},
    {"--kind increment --stride 0", "increment of 4 bytes a lane"},
    {"--kind cas --stride 0", "cas of 4 bytes a lane"},
    {"--width 1 --address lane --lanes 0xffff", "load of 1 byte a lane, 16 lanes"},
    {"--address 64/lane*4 --lanes 1,2,4", "Addresses 64/lane*4"}, /* lane 0 divides by 0, and takes no part */
    {"--tile 32x32 --walk row", "Along the rows of a tile of 32 x 32 f32\nload of 4 bytes a lane"},
    {"--tile 32x32 --walk column --pad 1", "Down the columns of a tile of 32 x 32 f32, pitch 132 bytes"},
    {"--tile 64x64 --type bf16 --walk ldmatrix --swizzle 128B",
     "A fragment of a tile of 64 x 64 bf16, Swizzle<3,4,3>\nldmatrix.x4"},
    {"--tile 64x64 --type f16 --walk ldmatrix --kind stmatrix --swizzle 3,4,3 --base 1024", "stmatrix.x4"},
    {"--tile 16x16 --type u8 --walk column --at 0,5 --swizzle none", "load of 1 byte a lane"},
    {"--tile 16x16 --type f64 --walk row --width 16 --at 1,2", "load of 16 bytes a lane"},
    {"--tile 32x32 --type bf16 --walk column --kind atomic --swizzle 3,4,-6", "Swizzle<3,4,-6>\natomic of 4 bytes"},
    {"--tile 32x33 --walk transpose", "Along the rows of a tile of 32 x 33 f32\nstore of 4 bytes a lane"},
    {"--tile 32x33 --walk transpose", "Down the columns of a tile of 32 x 33 f32\nload of 4 bytes a lane"},
    {"--tile 32x32 --walk transpose --advise --device a100", "a pad of 4 bytes a row (128 a tile, 3.1 %)"},
    {"--tile 64x64 --type bf16 --walk ldmatrix --advise --device h200 --tiles 4 --other-bytes 256 --tma",
     "It is the 128B"},
};

START_TEST(accesses_are_drawn) {
    struct outcome got = run_line(drawn[_i].line);
    ck_assert_msg(got.code == EXIT_CODE_OK, "%s: exit code %d: %s", drawn[_i].line, got.code, got.err);
    ck_assert_msg(strstr(got.out, drawn[_i].title) != NULL, "%s: \"%s\" is not in\n%s", drawn[_i].line, drawn[_i].title,
                  got.out);
    ck_assert_ptr_nonnull(strstr(got.out, "wave"));
    forget_outcome(&got);
}
END_TEST

START_TEST(the_help_shows_examples) {
    struct outcome got = run_line("--stride 1 --help");
    ck_assert_int_eq(got.code, EXIT_CODE_OK);
    ck_assert_ptr_nonnull(strstr(got.out, "gristmill bank --stride 2"));
    ck_assert_ptr_nonnull(strstr(got.out, "--other-bytes"));
    forget_outcome(&got);
}
END_TEST

/* Every example of the help is one that runs. */
START_TEST(the_examples_of_the_help_work) {
    struct outcome help = run_line("--help");
    static const char start[] = "\n  gristmill bank ";
    int examples = 0;
    char directory[] = "/tmp/bank-XXXXXX", line[512];
    const int before = open(".", O_RDONLY | O_DIRECTORY);
    ck_assert_int_ge(before, 0);
    ck_assert_ptr_nonnull(mkdtemp(directory));
    ck_assert_int_eq(chdir(directory), 0);
    for (const char *at = strstr(help.out, start); at; at = strstr(at + 1, start)) {
        size_t length = 0;
        int quoted = 0;
        for (const char *c = at + strlen(start); *c && *c != '\n' && length + 1 < sizeof line; c++) {
            quoted ^= *c == '\'';
            if (*c != '\'')
                line[length++] = quoted && *c == ' ' ? '_' : *c;
        }
        line[length] = 0;
        struct outcome got = run_line(line);
        ck_assert_msg(got.code == EXIT_CODE_OK, "%s: %s", line, got.err);
        forget_outcome(&got);
        examples++;
    }
    ck_assert_int_ge(examples, 5);
    ck_assert_int_eq(unlink("column.svg"), 0);
    ck_assert_int_eq(unlink("arrows.svg"), 0);
    ck_assert_int_eq(unlink("tile.html"), 0);
    ck_assert_int_eq(fchdir(before), 0);
    close(before);
    ck_assert_int_eq(rmdir(directory), 0);
    forget_outcome(&help);
}
END_TEST

START_TEST(pictures_go_to_files) {
    char directory[] = "/tmp/bank-XXXXXX", line[256], svg[64], html[64];
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(svg, sizeof svg, "%s/a.svg", directory);
    snprintf(html, sizeof html, "%s/a.html", directory);
    snprintf(line, sizeof line, "--stride 8 --svg %s --html %s", svg, html);
    struct outcome got = run_line(line);
    ck_assert_msg(got.code == EXIT_CODE_OK, "%s", got.err);
    char *picture = read_all(svg), *page = read_all(html);
    ck_assert_ptr_nonnull(strstr(picture, "<svg"));
    ck_assert_ptr_nonnull(strstr(page, "<html"));
    free(picture);
    free(page);
    unlink(svg);
    unlink(html);
    rmdir(directory);
    forget_outcome(&got);
    got = run_line("--stride 8 --svg /no/such/folder/a.svg");
    ck_assert_int_eq(got.code, EXIT_CODE_FAILURE);
    ck_assert_ptr_nonnull(strstr(got.err, "cannot write /no/such/folder/a.svg: No such file"));
    forget_outcome(&got);
}
END_TEST

/* ---- what it refuses ---------------------------------------------------------------------------- */

static const struct {
    const char *line, *words;
} refused[] = {
    {"", "bank wants one of --address, --addresses, --stride and --tile; see"},
    {"--stride 1 --address lane", "and --tile, not several"},
    {"--stride 1 extra", "bank takes options only, not `extra`"},
    {"--frobnicate 1", "there is no option --frobnicate"},
    {"--stride", "--stride wants a value"},
    {"--stride x", "--stride wants a whole number from 0 to 16777216, not `x`"},
    {"--stride -1", "not `-1`"},
    {"--stride 1.5", "not `1.5`"},
    {"--stride 99999999999999999999", "--stride wants a whole number"},
    {"--stride 1 --width 8", "lane 1's address 4 is no multiple of the 8 bytes"},
    {"--stride 1 --width 3", "load of 3 bytes a lane: there is 1, 2, 4, 8, 16"},
    {"--stride 1 --width 17", "--width wants a whole number from 1 to 16"},
    {"--stride 1 --kind fetch", "stmatrix, cp.async, atomic, increment or cas, not `fetch`"},
    {"--stride 1 --kind cp.async --width 2", "cp.async of 2 bytes a lane: there is 4, 8, 16"},
    {"--stride 1 --kind atomic --width 8", "atomic of 8 bytes a lane: there is 4"},
    {"--stride 4 --kind ldmatrix --matrices 3", "ldmatrix of 3 matrices: there is 1, 2, 4"},
    {"--stride 4 --kind ldmatrix --width 8", "ldmatrix of 8 bytes a lane: there is 16"},
    {"--stride 4 --matrices 2", "--matrices belongs to ldmatrix and stmatrix, not to load"},
    {"--stride 4 --kind ldmatrix --lanes 0-15",
     "ldmatrix.x4 takes the addresses of lanes 0 to 31, and lane 16 has none"},
    {"--addresses 0,16 --kind stmatrix --matrices 1",
     "stmatrix.x1 takes the addresses of lanes 0 to 7, and lane 2 has"},
    {"--stride 1 --lanes 32", "--lanes wants lanes of 0 to 31"},
    {"--stride 1 --lanes 5-3", "--lanes wants lanes"},
    {"--stride 1 --lanes 1,,2", "--lanes wants lanes"},
    {"--stride 1 --lanes 1,", "--lanes wants lanes"},
    {"--stride 1 --lanes 0x1ffffffff", "--lanes wants lanes"},
    {"--stride 1 --lanes 0x0", "--lanes 0x0 leaves no lane"},
    {"--addresses 0,4 --lanes 5", "--addresses and --lanes together leave no lane"},
    {"--addresses 0,4,,8", "the one of lane 2 is not"},
    {"--addresses 0,-4", "the one of lane 1 is not"},
    {"--addresses 0;4", "`;4` follows the address of lane 0 where a comma must be"},
    {"--addresses 4294967296", "numbers below 2^32"},
    {"--addresses 0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0", "more than 32 addresses"},
    {"--address lane*", "--address, column 6: an operand is missing at the end"},
    {"--address 64/lane", "column 3: a division by 0 (lane 0)"},
    {"--address 8-lane*4", "--address gives lane 3 the address -4, which is not 0 to 2^32 - 1"},
    {"--address lane<<28", "--address gives lane 16 the address 4294967296"},
    {"--address lane", "lane 1's address 1 is no multiple of the 4 bytes"},
    {"--stride 1 --walk row", "--walk says nothing without --tile"},
    {"--stride 1 --pad 1", "--pad says nothing without --tile"},
    {"--stride 1 --advise", "--advise says nothing without --tile"},
    {"--tile 32x32 --walk row --device a100", "--device says nothing without --advise"},
    {"--tile 32x32 --walk row --tma", "--tma says nothing without --advise"},
    {"--stride 1 --arrows", "--arrows says nothing without --svg"},
    {"--tile 32x32 --walk row --advise --arrows --svg /no/such/a.svg",
     "a file holds one picture: --advise or --arrows"},
    {"--tile 32x32", "--tile wants --walk"},
    {"--tile 32x32 --walk knight", "--walk is row, column, transpose or ldmatrix, not `knight`"},
    {"--tile 32x32 --walk row --type bool", "--type is u8, bf16, f16, f32 or f64, not `bool`"},
    {"--tile 32 --walk row", "--tile wants rows and elements a row, such as 32x33, not `32`"},
    {"--tile 32x --walk row", "not `32x`"},
    {"--tile 32x32x32 --walk row", "not `32x32x32`"},
    {"--tile 0x32 --walk row", "--tile wants rows and elements a row"}, /* hexadecimal 32, and no columns */
    {"--tile 32x0 --walk row", "rows have 0 bytes"},
    {"--tile 1024x512 --walk row", "1024 rows of 2048 bytes make 2097152 bytes, more than 1048576"},
    {"--tile 32x32 --walk row --pad -1", "--pad wants a whole number"},
    {"--tile 32x32 --walk row --at 32,0", "--at 32,0 lies outside a tile of 32x32"},
    {"--tile 32x32 --walk row --at 5", "--at wants a row and an element of it"},
    {"--tile 32x32 --walk row --at 31,1", "leave the tile of 32 rows of 128 bytes"},
    {"--tile 32x32 --walk row --width 8 --at 0,1", "--at begins at byte 4 of a row, no multiple of a lane's 8 bytes"},
    {"--tile 32x32 --walk row --width 2", "a lane's 2 bytes cut the 4 bytes of f32"},
    {"--tile 32x2 --walk column --width 16", "a lane's 16 bytes are more than a row of 8"},
    {"--tile 32x33 --walk column --width 16", "lane 1's address 132 is no multiple of the 16 bytes"},
    {"--tile 8x64 --type bf16 --walk ldmatrix", "lane 8's 16 bytes from byte 0 of row 8 leave the tile"},
    {"--tile 64x64 --type bf16 --walk ldmatrix --kind load", "--walk ldmatrix belongs to --kind ldmatrix or stmatrix"},
    {"--tile 32x32 --walk transpose --kind load", "leave --kind out"},
    {"--tile 32x32 --walk transpose --svg x.svg", "a file holds one picture, and --walk transpose makes two"},
    {"--tile 32x32 --walk row --swizzle 256B", "--swizzle is none, 32B, 64B, 128B, or three numbers B,M,S"},
    {"--tile 32x32 --walk row --swizzle 3,4", "--swizzle is none"},
    {"--tile 32x32 --walk row --swizzle 3,4,3,", "--swizzle is none"},
    {"--tile 32x32 --walk row --swizzle 3,4,2", "Swizzle<3,4,2>"},
    {"--tile 32x32 --walk row --swizzle 3,40,3", "--swizzle is none"},
    {"--tile 32x32 --walk row --width 16 --swizzle 2,2,3", "tears the 16 bytes of a lane apart"},
    {"--tile 32x32 --walk row --base 0xfffffff0", "ends beyond 2^32"},
    {"--tile 32x32 --walk row --base 2", "lane 0's address 2 is no multiple"},
    {"--tile 32x32 --walk column --advise --pad 1", "--advise looks for the pad and the swizzle itself"},
    {"--tile 32x32 --walk column --advise --device abacus", "abacus"},
    {"--tile 32x32 --walk column --advise --device a100 --tiles 0", "--tiles wants a whole number from 1"},
    {"--tile 32x32 --walk column --advise --device a100 --other-bytes many", "--other-bytes wants a whole number"},
    {"--tile 32x32 --walk column --advise --device a100 --tma --base 64", "TMA cannot fill a tile at address 64"},
};

START_TEST(senseless_command_lines_are_refused) {
    struct outcome got = run_line(refused[_i].line);
    ck_assert_msg(got.code == EXIT_CODE_USAGE, "%s: exit code %d", refused[_i].line, got.code);
    ck_assert_msg(strstr(got.err, refused[_i].words) != NULL, "%s: \"%s\" lacks \"%s\"", refused[_i].line, got.err,
                  refused[_i].words);
    ck_assert_int_eq(strncmp(got.err, "gristmill: ", 11), 0);
    ck_assert_ptr_null(strstr(got.err + 1, "gristmill: ")); /* one sentence */
    ck_assert_str_eq(got.out, "");                          /* and no picture */
    forget_outcome(&got);
}
END_TEST

START_TEST(an_overlong_expression_is_refused) {
    char line[1400] = "--address 0";
    while (strlen(line) < 1100)
        strcat(line, "+lane");
    struct outcome got = run_line(line);
    ck_assert_int_eq(got.code, EXIT_CODE_USAGE);
    ck_assert_ptr_nonnull(strstr(got.err, "longer than 1024 characters"));
    ck_assert_str_eq(got.out, "");
    forget_outcome(&got);
    line[0] = 0;
    strcat(line, "--address 0");
    while (strlen(line) < 900)
        strcat(line, "+4*lane");
    got = run_line(line); /* a long one is cut in the title only */
    ck_assert_int_eq(got.code, EXIT_CODE_OK);
    ck_assert_ptr_nonnull(strstr(got.out, "..."));
    forget_outcome(&got);
}
END_TEST

TCase *command_bank_tests(void) {
    TCase *tests = tcase_create("gristmill bank");
    tcase_add_loop_test(tests, accesses_are_drawn, 0, (int)(sizeof drawn / sizeof *drawn));
    tcase_add_test(tests, the_help_shows_examples);
    tcase_add_test(tests, the_examples_of_the_help_work);
    tcase_add_test(tests, pictures_go_to_files);
    tcase_add_loop_test(tests, senseless_command_lines_are_refused, 0, (int)(sizeof refused / sizeof *refused));
    tcase_add_test(tests, an_overlong_expression_is_refused);
    return tests;
}
