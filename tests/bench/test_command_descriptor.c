/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill descriptor as it is met on a command line: yes, no, and every line that makes no sense. */
#include "bench_tests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program/commands.h"
#include "help_examples.h"
#include "run_command.h"
#include "program/base/messages.h"

#define MAP "--dims 4096,4096 --box 64,64 --swizzle 128B "

static const struct {
    int code;
    const char *line, *words;
} answered[] = {
    {0, "tensor-map " MAP, "The driver accepts this request"},
    {0, "tensor-map --type u8 --dims 100 --box 16 --l2 256B --oob zero --interleave none --address 0x1000",
     "The driver accepts this request"},
    {0, "tensor-map --type 12 --dims 64x64x64 --strides 512,32768 --box 8x8x8 --element-strides 1,2,1 --oob nan",
     "The driver accepts this request"},
    {1, "tensor-map --dims 4096,4096 --box 128,64 --swizzle 128B",
     "(1 rule broken): a row of the box has 256 bytes, more than the swizzle"},
    {1, "tensor-map --dims 64,64 --box 64,257", "what dimension 1 asks for is not laid out"},
    {1, "tensor-map --dims 257,64 --box 64,64", "514 bytes, is not a multiple"},
    {1, "tensor-map --dims 1,2,3,4,5,6 --box 1,1,1,1,1,1", "rank 6 is not 1 to 5"},
    {1, "tensor-map --dims 64,64 --box 64,64 --swizzle 7", "swizzle 7 is not one of 0 to 3"},
    {1, "tensor-map --dims 64,64 --box 64,64 --type 13 --oob 2 --l2 9 --interleave 5",
     "(5 rules broken): element type 13"},
    {1, "tensor-map --dims 64,64 --box 300,0 --address 3", "address 0x3 is not a multiple of 16"},
    {1, "tensor-map --dims 0xffffffffffffffff,0xffffffffffffffff,2 --box 8,8,8", "18446744073709551615 elements"},
    {0, "matrix 0x4000004000010040", "Matrix descriptor 0x4000004000010040"},
    {0, "matrix 0", "no swizzle"},
    {0, "matrix --start 0x400 --lbo 16 --sbo 1024 --mode 128B", "Matrix descriptor 0x4000004000010040"},
    {0, "matrix --base-offset 5 --mode 64B --rows 8", "Matrix descriptor 0x800a000000000000"},
    {0, "matrix --sbo 1024 --lbo 8192 --mode 128B --major mn --rows 256 --type f16", "MN-major operand of 256 rows"},
    {0, "compare " MAP, "all 4096 elements are read from where TMA writes them"},
    {0, "compare " MAP "--major mn --rows 256", "4 boxes of 64 rows"},
    {0, "compare " MAP "--destination 0x2480 --rows 8 --k-steps 1", "all 128 elements"},
    {0, "compare --type e4m3 --dims 4096,4096 --box 128,64 --swizzle 128B", "all 8192 elements"},
    {0, "compare --dims 4096,4096 --box 8,64 --boxes 4", "Descriptor 0x0000000800400000, K step 2048 bytes"},
    {0, "compare " MAP "--descriptor 0x4000004000000000 --k-step 32", "They agree"},
    {1, "compare " MAP "--sbo 512", "SBO (8 rows on) is 512 bytes, should be 1024"},
    {1, "compare " MAP "--start 16 --k-step 64", "the start address is 16, should be 0; the K step is 64"},
    {1, "compare " MAP "--mode 64B", "the descriptor has the 64B mode, the map the 128B mode"},
    {1, "compare " MAP "--base-offset 1", "the base offset is 1, should be 0"},
    {1, "compare " MAP "--major mn --rows 128 --lbo 16", "LBO (one span of rows on) is 16 bytes, should be 8192"},
    {1, "compare " MAP "--descriptor 0x8000004000010000", "the 64B mode"},
    {1, "compare " MAP "--boxes 2", "no single K step walks 8 steps"},
    {1, "compare " MAP "--rows 128", "no descriptor fits: the box has 64 rows, the operand 128"},
    {1, "compare " MAP "--rows 128 --sbo 1024", "the box is too small: 64 rows in all"},
    {1, "compare " MAP "--destination 64", "no multiple of the 128 bytes"},
    {1, "compare --dims 4096,4096 --box 128,64 --swizzle 128B", "the tensor map is illegal: a row of the box"},
    {0, "compare --dims 4096,4096 --box 32,64 --swizzle 128B", "They agree"}, /* narrow rows, a span apart */
    {1, "compare --dims 4096,4096 --box 8,64 --swizzle 128B", "an instruction takes 32 bytes of k"},
};

/* Whether the words stand in the text, whatever its line breaks. */
static int has_words(char *text, const char *words) {
    for (char *at = text; *at; at++)
        *at = *at == '\n' ? ' ' : *at;
    return strstr(text, words) != NULL;
}

START_TEST(questions_are_answered) {
    struct outcome got = run_command(command_descriptor, answered[_i].line);
    ck_assert_msg(got.code == answered[_i].code, "%s: exit code %d: %s", answered[_i].line, got.code, got.err);
    ck_assert_str_eq(got.err, "");
    ck_assert_msg(has_words(got.out, answered[_i].words), "%s: \"%s\" is not in\n%.2000s", answered[_i].line,
                  answered[_i].words, got.out);
    forget_outcome(&got);
}
END_TEST

static const struct {
    const char *line, *words;
} refused[] = {
    {"tensors", "descriptor has no part tensors"},
    {"tensor-map", "a tensor map wants --dims and --box"},
    {"tensor-map --dims 64,64", "a tensor map wants --dims and --box"},
    {"tensor-map " MAP "more", "descriptor tensor-map does not know what `more` is for"},
    {"tensor-map " MAP "--colour", "there is no option --colour; `gristmill descriptor tensor-map --help` lists them"},
    {"tensor-map --dims 64,q --box 1,1", "--dims wants whole numbers"},
    {"tensor-map --dims 64,-1 --box 1,1", "--dims wants whole numbers"},
    {"tensor-map --dims 64,,1 --box 1,1", "--dims wants whole numbers"},
    {"tensor-map --dims 64,1;2 --box 1,1", "--dims: `;2` follows number 2 where a comma must be"},
    {"tensor-map --dims 18446744073709551616 --box 1", "--dims wants whole numbers"},
    {"tensor-map --dims 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1 --box 1", "--dims has more than 16 numbers"},
    {"tensor-map --dims 64,64 --box 64", "--box has 1 number, and --dims 2"},
    {"tensor-map --dims 64,64 --box 64,4294967296", "--box wants whole numbers up to 4294967295"},
    {"tensor-map " MAP "--element-strides 1,1,1", "--element-strides has 3 numbers, and --dims 2"},
    {"tensor-map " MAP "--element-strides one", "--element-strides wants"},
    {"tensor-map " MAP "--strides 8192,8192", "--strides has 2 numbers, and --dims 2"},
    {"tensor-map " MAP "--strides far", "--strides wants"},
    {"tensor-map " MAP "--type half", "--type is u8"},
    {"tensor-map " MAP "--type -1", "--type is u8"},
    {"tensor-map " MAP "--type 1001", "--type is u8"},
    {"tensor-map " MAP "--swizzle lots", "--swizzle is none"},
    {"tensor-map " MAP "--interleave 8B", "--interleave is none"},
    {"tensor-map " MAP "--l2 512B", "--l2 is none"},
    {"tensor-map " MAP "--oob one", "--oob is zero"},
    {"tensor-map " MAP "--address here", "--address wants a whole number"},
    {"matrix", "descriptor matrix wants either 64 bits"},
    {"matrix 0x10 --sbo 16", "not both"},
    {"matrix 0x10 0x20", "descriptor matrix does not know what `0x20` is for"},
    {"matrix 0x1zz", "the descriptor wants a whole number"},
    {"matrix 0x10000000000000000", "the descriptor wants a whole number"},
    {"matrix 0x4000", "0x0000000000004000 sets bit 14, which belongs to no field"},
    {"matrix --sbo 3", "the stride byte offset of 3 bytes is no multiple of 16"},
    {"matrix --lbo 262144", "leading byte offset of 262144 bytes does not fit"},
    {"matrix --start 8", "start address of 8 bytes"},
    {"matrix --start -8", "--start wants a whole number"},
    {"matrix --base-offset 8", "--base-offset wants a whole number from 0 to 7"},
    {"matrix --mode 256B", "--mode is none"},
    {"matrix --mode 9", "swizzle mode 9 is not one of 0 to 3"},
    {"matrix 0 --major n", "--major is k or mn, not `n`"},
    {"matrix 0 --rows 20", "not 20"},
    {"matrix 0 --rows 0", "--rows wants a whole number from 8 to 256"},
    {"matrix 0 --type f64", "no elements of 8 bytes"},
    {"matrix 0 --type tf32 --major mn", "an MN-major operand has elements of 2 bytes, not 4"},
    {"matrix 0 --type what", "--type is u8"},
    {"compare", "a tensor map wants --dims and --box"},
    {"compare " MAP "0x10", "descriptor compare does not know what `0x10` is for"},
    {"compare " MAP "--type f64", "no elements of 8 bytes"},
    {"compare " MAP "--rows 12", "not 12"},
    {"compare " MAP "--descriptor 0xffffffffffffffff", "belongs to no field"},
    {"compare " MAP "--descriptor x", "the descriptor wants"},
    {"compare " MAP "--sbo 100", "no multiple of 16"},
    {"compare " MAP "--boxes 0", "--boxes wants a whole number from 1"},
    {"compare " MAP "--k-steps 0", "--k-steps wants a whole number from 1"},
    {"compare " MAP "--k-step x", "--k-step wants"},
    {"compare " MAP "--destination x", "--destination wants"},
};

START_TEST(nonsense_is_refused) {
    expect_refusal(command_descriptor, refused[_i].line, refused[_i].words);
}
END_TEST

START_TEST(help_is_found) {
    struct outcome got = run_command(command_descriptor, "");
    ck_assert_int_eq(got.code, EXIT_CODE_USAGE);
    ck_assert_ptr_nonnull(strstr(got.err, "tensor-map"));
    forget_outcome(&got);
    got = run_command(command_descriptor, "--help");
    ck_assert_int_eq(got.code, EXIT_CODE_OK);
    ck_assert_ptr_nonnull(strstr(got.out, "compare"));
    forget_outcome(&got);
}
END_TEST

START_TEST(the_examples_of_the_help_work) {
    ck_assert_int_eq(run_help_examples(command_descriptor, "tensor-map --help", "gristmill descriptor"), 3);
    ck_assert_int_eq(run_help_examples(command_descriptor, "matrix --help", "gristmill descriptor"), 3);
    ck_assert_int_eq(run_help_examples(command_descriptor, "compare --help", "gristmill descriptor"), 4);
}
END_TEST

/* An answer of no is drawn as well. */
START_TEST(files_are_written) {
    static const char *const parts[] = {"tensor-map " MAP, "matrix 0x4000004000010040", "compare " MAP "--sbo 512"};
    char path[] = "/tmp/descriptor-XXXXXX", line[256];
    const int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    close(file);
    for (int i = 0; i < 6; i++) {
        snprintf(line, sizeof line, "%s --%s %s", parts[i / 2], i % 2 ? "html" : "svg", path);
        struct outcome got = run_command(command_descriptor, line);
        ck_assert_int_eq(got.code, i / 2 == 2);
        char *text = read_all(path);
        ck_assert_ptr_nonnull(strstr(text, i % 2 ? "<html" : "<svg"));
        free(text);
        forget_outcome(&got);
    }
    unlink(path);
}
END_TEST

TCase *command_descriptor_tests(void) {
    TCase *cases = tcase_create("command descriptor");
    tcase_add_loop_test(cases, questions_are_answered, 0, (int)(sizeof answered / sizeof *answered));
    tcase_add_loop_test(cases, nonsense_is_refused, 0, (int)(sizeof refused / sizeof *refused));
    tcase_add_test(cases, help_is_found);
    tcase_add_test(cases, the_examples_of_the_help_work);
    tcase_add_test(cases, files_are_written);
    return cases;
}
