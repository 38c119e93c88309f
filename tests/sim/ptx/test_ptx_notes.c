/* SPDX-License-Identifier: Apache-2.0 */
/* Where instructions come from: .loc and .file, whatever stands in them. */
#include "sim_tests.h"

#include "ptx_text.h"

#include <stdio.h>
#include <string.h>

/* "file:line" of the n-th instruction, or "nothing". */
static const char *source_of(const struct ptx_module *module, const char *kernel, uint32_t n) {
    static char text[300];
    const char *file;
    uint32_t line;
    const struct ptx_function *function = ptx_find_function(module, kernel);
    ck_assert_uint_lt(n, function->count);
    if (!ptx_source_find(module->sources, function->code[n].line, &file, &line))
        return "nothing";
    snprintf(text, sizeof text, "%s:%u", file, line);
    return text;
}

START_TEST(a_location_holds_for_what_stands_behind_it) {
    static const char text[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                               ".entry a()\n{\n.reg .b32 r<4>;\nmov.u32 r0, 0;\n.loc 1 12 5\nmov.u32 r1, 1;\n"
                               "mov.u32 r2, 2;\n.loc 2 7 0\nmov.u32 r3, 3;\n.loc 9 1 1\nret;\n}\n"
                               ".entry b()\n{\n.reg .b32 r<4>;\nmov.u32 r0, 0;\n.loc 1 40 5\nret;\n}\n"
                               ".file 1 \"/home/me/copy.cu\"\n\t.file\t2 \"/home/me/parts.cuh\", 17, 18\n";
    char message[200] = "";
    struct ptx_module *module = ptx_parse(text, sizeof text - 1, message, sizeof message);
    ck_assert_msg(module != NULL, "%s", message);
    ck_assert_str_eq(source_of(module, "a", 0), "nothing");
    ck_assert_str_eq(source_of(module, "a", 1), "/home/me/copy.cu:12");
    ck_assert_str_eq(source_of(module, "a", 2), "/home/me/copy.cu:12");
    ck_assert_str_eq(source_of(module, "a", 3), "/home/me/parts.cuh:7");
    ck_assert_str_eq(source_of(module, "a", 4), "nothing"); /* of a file that has no name */
    ck_assert_str_eq(source_of(module, "b", 0), "nothing");
    ck_assert_str_eq(source_of(module, "b", 1), "/home/me/copy.cu:40");
    ptx_free(module);
}
END_TEST

/* What a toolkit's header does is put down to the line that called it; what a header beside the source does is not. */
START_TEST(inlined_code_belongs_to_the_readers_own_line) {
    struct ptx_module *module =
        ptx_text_parse("", ".file 1 \"/home/me/copy.cu\"\n.file 2 \"/cuda/include/pipeline.h\"\n"
                           ".file 3 \"/home/me/lib/own.cuh\"\n"
                           ".loc 1 12 5\nmov.u32 r0, 0;\n"
                           ".loc 2 103 9, function_name $L__info0, inlined_at 1 12 5\nmov.u32 r0, 1;\n"
                           ".loc 2 292 5, function_name $L__info0 + 4, inlined_at 2 103 9\nmov.u32 r0, 2;\n"
                           ".loc 3 8 1, function_name $L__info1, inlined_at 1 20 3\nmov.u32 r0, 3;\n"
                           ".loc 2 500 1, function_name $L__info1, inlined_at 3 8 1\nmov.u32 r0, 4;\n"
                           ".loc 2 600 1, function_name $L__info1, inlined_at 2 77 1\nmov.u32 r0, 5;\n");
    static const char *const wanted[] = {"/home/me/copy.cu:12",    "/home/me/copy.cu:12",
                                         "/home/me/copy.cu:12",    "/home/me/lib/own.cuh:8",
                                         "/home/me/lib/own.cuh:8", "/cuda/include/pipeline.h:77"};
    for (uint32_t n = 0; n < sizeof wanted / sizeof *wanted; n++)
        ck_assert_msg(strcmp(source_of(module, "k", n), wanted[n]) == 0, "%u: %s", n, source_of(module, "k", n));
    ptx_free(module);
}
END_TEST

static const char *const odd[] = {
    ".loc\n",
    ".loc 1\n",
    ".loc 1 2\n",
    ".loc x y z\n",
    ".loc 99999999999 1 1\n",
    ".loc 1 1 1, function_name\n",
    ".loc 1 1 1, inlined_at\n",
    ".loc 1 1 1, inlined_at 1 1 1\n.loc 1 1 1, inlined_at 1 1 1\n",
    ".file\n",
    ".file 1\n",
    ".file \"x\"\n",
    ".file 4096 \"x\"\n",
    ".file 4294967295 \"x\"\n",
    ".file 0 \"\"\n.loc 0 1 1\n",
};

/* Nobody needs such notes to run the kernel. */
START_TEST(an_odd_note_does_no_harm) {
    char body[200];
    snprintf(body, sizeof body, "%smov.u32 r0, 1;\n", odd[_i]);
    struct ptx_module *module = ptx_text_parse("", body);
    ck_assert_uint_eq(ptx_find_function(module, "k")->count, 2);
    source_of(module, "k", 0);
    ptx_free(module);
}
END_TEST

START_TEST(without_notes_nothing_is_said) {
    const char *file;
    uint32_t line;
    struct ptx_module *module = ptx_text_parse("", "mov.u32 r0, 1;");
    ck_assert(!ptx_source_find(module->sources, 0, &file, &line));
    ck_assert(!ptx_source_find(module->sources, UINT32_MAX, &file, &line));
    ck_assert(!ptx_source_find(NULL, 1, &file, &line));
    ptx_free(module);
}
END_TEST

Suite *ptx_notes_suite(void) {
    Suite *suite = suite_create("ptx_notes");
    TCase *tests = tcase_create("notes");
    tcase_add_test(tests, a_location_holds_for_what_stands_behind_it);
    tcase_add_test(tests, inlined_code_belongs_to_the_readers_own_line);
    tcase_add_loop_test(tests, an_odd_note_does_no_harm, 0, sizeof odd / sizeof *odd);
    tcase_add_test(tests, without_notes_nothing_is_said);
    suite_add_tcase(suite, tests);
    return suite;
}
