/* SPDX-License-Identifier: Apache-2.0 */
/* What a PTX text holds, asked without loading it; and where reports and counted lines come from. */
#include "sim_tests.h"

#include "driver_kit.h"

#include <string.h>

static const char text[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.extern .shared .align 16 .b8 pool[];\n"
    ".entry first(.param .u64 .ptr .global .align 4 to, .param .f32 scale, .param .align 4 .b8 pair[8])\n"
    ".reqntid 64\n.reqnctapercluster 2\n{\n.reg .b32 r<4>; .reg .b64 d<4>;\n.shared .align 4 .b8 tile[128];\n.loc 1 5 "
    "1\n"
    "ld.param.u64 d0, [to]; mov.u32 r0, tile; mov.u32 r1, pool;\n.loc 1 6 1\nld.shared.u32 r2, [r0];\n"
    ".loc 1 7 1\nst.global.u32 [d0], r2;\nret;\n}\n.entry second() { ret; }\n.file 1 \"/home/me/kernels.cu\"\n";

START_TEST(kernels_parameters_and_arrays) {
    char message[100] = "";
    struct gm_sim_ptx *ptx = gm_sim_ptx_read(text, message, sizeof message);
    struct gm_sim_kernel kernel;
    struct gm_sim_parameter parameter;
    struct gm_sim_variable variable;
    ck_assert_msg(ptx != NULL, "%s", message);
    ck_assert_int_eq(gm_sim_ptx_kernel(ptx, 0, &kernel), 0);
    ck_assert_str_eq(kernel.name, "first");
    ck_assert(kernel.parameters == 3 && kernel.variables == 2 && kernel.static_shared == 128 &&
              kernel.threads[0] == 64 && kernel.cluster[0] == 2 && kernel.cluster[2] == 1);
    ck_assert_int_eq(gm_sim_ptx_parameter(ptx, 0, 0, &parameter), 0);
    ck_assert(parameter.type == 'u' && parameter.bytes == 8 && parameter.element_bytes == 8);
    ck_assert_int_eq(gm_sim_ptx_parameter(ptx, 0, 1, &parameter), 0);
    ck_assert(parameter.type == 'f' && parameter.bytes == 4);
    ck_assert_int_eq(gm_sim_ptx_parameter(ptx, 0, 2, &parameter), 0);
    ck_assert(parameter.type == 'b' && parameter.bytes == 8 && parameter.element_bytes == 1);
    ck_assert_int_eq(gm_sim_ptx_variable(ptx, 0, 0, &variable), 0);
    ck_assert(strcmp(variable.name, "tile") == 0 && variable.address == 1024 && variable.bytes == 128);
    ck_assert_int_eq(gm_sim_ptx_variable(ptx, 0, 1, &variable), 0);
    ck_assert(strcmp(variable.name, "pool") == 0 && variable.address == 1024 + 128 && variable.bytes == 0);
    ck_assert_int_eq(gm_sim_ptx_kernel(ptx, 1, &kernel), 0);
    ck_assert(kernel.parameters == 0 && kernel.threads[0] == 0 && kernel.cluster[0] == 0);
    ck_assert_int_eq(gm_sim_ptx_kernel(ptx, 2, &kernel), -1);
    ck_assert_int_eq(gm_sim_ptx_kernel(NULL, 0, &kernel), -1);
    ck_assert_int_eq(gm_sim_ptx_kernel(ptx, 0, NULL), -1);
    ck_assert_int_eq(gm_sim_ptx_parameter(ptx, 0, 3, &parameter), -1);
    ck_assert_int_eq(gm_sim_ptx_parameter(ptx, 2, 0, &parameter), -1);
    ck_assert_int_eq(gm_sim_ptx_variable(ptx, 0, 2, &variable), -1);
    gm_sim_ptx_free(ptx);
    gm_sim_ptx_free(NULL);
}
END_TEST

START_TEST(text_that_cannot_be_read) {
    char message[100] = "";
    ck_assert_ptr_null(gm_sim_ptx_read(".version 8.0\n.target sm_80\n.alias f", message, sizeof message));
    ck_assert_str_eq(message, "unsupported: .alias at line 3");
    ck_assert_ptr_null(gm_sim_ptx_read(NULL, message, sizeof message));
}
END_TEST

static struct gm_sim_access seen;

static void note(const struct gm_sim_access *access, void *times) {
    seen = *access;
    ++*(int *)times;
}

START_TEST(reports_lines_and_accesses_name_their_sources) {
    CUfunction function = kit_function(kit_library(text), "first");
    CUlaunchConfig config = kit_config(64);
    CUdeviceptr to;
    struct gm_sim_report report;
    const char *file = "";
    uint32_t line = 0;
    float scale = 1;
    uint64_t pair = 0;
    int times = 0;
    kit_ok(cuMemAlloc(&to, 4));
    void *values[] = {&to, &scale, &pair};
    gm_sim_set_counting(1);
    gm_sim_set_access(note, &times);
    kit_ok(cuLaunchKernelEx(&config, function, values, NULL));
    gm_sim_set_access(NULL, NULL);
    ck_assert_int_eq(gm_sim_report_get(0, &report), 0);
    ck_assert_int_eq((int)report.kind, (int)SIM_REPORT_UNINITIALISED);
    ck_assert_str_eq(report.source_file, "/home/me/kernels.cu");
    ck_assert_uint_ge(report.source_line, 6);
    ck_assert_int_eq(gm_sim_line_source(report.line, &file, &line), 0);
    ck_assert_str_eq(file, report.source_file);
    ck_assert_uint_eq(line, report.source_line);
    ck_assert_int_eq(gm_sim_line_source(1, &file, &line), -1);
    ck_assert_int_eq(gm_sim_line_source(report.line, NULL, &line), -1);
    ck_assert_int_eq(times, 2);
    ck_assert(seen.width == 4 && seen.mask == UINT32_MAX && seen.address[31] == 1024 && seen.wavefronts == 1 &&
              seen.ideal == 1 && seen.conflicts == 0);
    kit_ok(cuLaunchKernelEx(&config, function, values, NULL));
    ck_assert_int_eq(times, 2);
    gm_sim_set_counting(0);
    kit_ok(cuMemFree(to));
}
END_TEST

Suite *driver_ptx_suite(void) {
    Suite *suite = suite_create("driver ptx");
    TCase *tests = tcase_create("ptx");
    tcase_add_checked_fixture(tests, kit_start, kit_stop);
    tcase_add_test(tests, kernels_parameters_and_arrays);
    tcase_add_test(tests, text_that_cannot_be_read);
    tcase_add_test(tests, reports_lines_and_accesses_name_their_sources);
    suite_add_tcase(suite, tests);
    return suite;
}
