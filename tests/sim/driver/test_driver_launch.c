/* SPDX-License-Identifier: Apache-2.0 */
/* Launches on the simulated driver: what is refused, what runs, what a fault leaves. */
#include "driver_kit.h"
#include "sim_tests.h"

#include <stdlib.h>
#include <string.h>

/* ---- what a launch may look like ------------------------------------------------------------------------------- */

static CUresult launch_cluster(CUfunction function, CUlaunchConfig config, unsigned x, unsigned y, unsigned z) {
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.clusterDim = {x, y, z}};
    config.attrs = &attribute;
    config.numAttrs = 1;
    return cuLaunchKernelEx(&config, function, NULL, NULL);
}

START_TEST(shapes_beyond_the_limits_are_refused) {
    static const struct {
        unsigned grid[3], block[3], shared;
    } shapes[] = {
        {{0, 1, 1}, {32, 1, 1}, 0},        {{1, 0, 1}, {32, 1, 1}, 0},     {{1, 1, 0}, {32, 1, 1}, 0},
        {{1, 1, 1}, {0, 1, 1}, 0},         {{1, 1, 1}, {1, 0, 1}, 0},      {{1, 1, 1}, {1, 1, 0}, 0},
        {{1, 1, 1}, {1025, 1, 1}, 0},      {{1, 1, 1}, {1, 1025, 1}, 0},   {{1, 1, 1}, {1, 1, 65}, 0},
        {{1, 1, 1}, {512, 2, 2}, 0},       {{1, 65536, 1}, {32, 1, 1}, 0}, {{1, 1, 65536}, {32, 1, 1}, 0},
        {{1u << 31, 1, 1}, {32, 1, 1}, 0}, {{1, 1, 1}, {32, 1, 1}, 49153}, {{1, 1, 1}, {32, 1, 1}, UINT32_MAX},
    };
    CUfunction nothing = kit_function(kit_module, "nothing");
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const unsigned *g = shapes[i].grid, *b = shapes[i].block;
        const CUresult result =
            cuLaunchKernel(nothing, g[0], g[1], g[2], b[0], b[1], b[2], shapes[i].shared, NULL, NULL, NULL);
        ck_assert_msg(result == CUDA_ERROR_INVALID_VALUE, "shape %zu: %d", i, result);
    }
    kit_ok(cuLaunchKernel(nothing, 2, 3, 1, 8, 4, 2, 49152, NULL, NULL, NULL));
    kit_ok(cuFuncSetAttribute(nothing, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232448));
    kit_ok(cuLaunchKernel(nothing, 1, 1, 1, 1024, 1, 1, 232448, NULL, NULL, NULL));
    CUfunction bounded = kit_function(kit_module, "bounded");
    kit_ok(cuLaunchKernel(bounded, 1, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL));
    kit_gives(cuLaunchKernel(bounded, 1, 1, 1, 65, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
}
END_TEST

START_TEST(clusters_have_limits) {
    CUfunction nothing = kit_function(kit_module, "nothing");
    CUlaunchConfig config = kit_config(32);
    config.gridDimX = 16;
    kit_ok(launch_cluster(nothing, config, 8, 1, 1));
    kit_gives(launch_cluster(nothing, config, 16, 1, 1), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    kit_gives(launch_cluster(nothing, config, 3, 1, 1), CUDA_ERROR_INVALID_VALUE);
    kit_gives(launch_cluster(nothing, config, 1, 2, 1), CUDA_ERROR_INVALID_VALUE);
    kit_gives(launch_cluster(nothing, config, 0, 1, 1), CUDA_ERROR_INVALID_VALUE);
    kit_ok(cuFuncSetAttribute(nothing, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
    kit_ok(launch_cluster(nothing, config, 16, 1, 1));
    config.gridDimX = 32;
    kit_gives(launch_cluster(nothing, config, 32, 1, 1), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    kit_gives(launch_cluster(nothing, config, UINT32_MAX, UINT32_MAX, 2), CUDA_ERROR_INVALID_CLUSTER_SIZE);
}
END_TEST

START_TEST(attributes_are_looked_at) {
    CUfunction nothing = kit_function(kit_module, "nothing");
    CUlaunchConfig config = kit_config(32);
    CUlaunchAttribute attributes[] = {{.id = CU_LAUNCH_ATTRIBUTE_IGNORE},
                                      {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION},
                                      {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1}};
    config.numAttrs = 1;
    kit_gives(cuLaunchKernelEx(&config, nothing, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    config.attrs = attributes;
    config.numAttrs = 3;
    kit_ok(cuLaunchKernelEx(&config, nothing, NULL, NULL));
    config.gridDimX = 132 * 32 + 1;
    kit_gives(cuLaunchKernelEx(&config, nothing, NULL, NULL), CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    config.gridDimX = 1;
    attributes[0].id = 1000;
    kit_gives(cuLaunchKernelEx(&config, nothing, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuLaunchKernelEx(NULL, nothing, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    config.numAttrs = 0;
    kit_gives(cuLaunchKernelEx(&config, NULL, NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
    kit_gives(cuLaunchKernelEx(&config, KIT_GARBAGE, NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
    config.hStream = KIT_GARBAGE;
    kit_gives(cuLaunchKernelEx(&config, nothing, NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
}
END_TEST

START_TEST(devices_without_clusters_take_none) {
    CUcontext context;
    if (kit_shares_process())
        return;
    setenv("GM_SIM_DEVICE", "a100", 1);
    kit_ok(cuInit(0));
    kit_ok(cuDevicePrimaryCtxRetain(&context, 0));
    kit_ok(cuCtxSetCurrent(context));
    CUlibrary own = kit_library(kit_ptx);
    CUfunction nothing = kit_function(own, "nothing");
    CUlaunchConfig config = kit_config(32);
    config.gridDimX = 2;
    kit_gives(launch_cluster(nothing, config, 2, 1, 1), CUDA_ERROR_INVALID_VALUE);
    kit_gives(launch_cluster(nothing, config, 64, 1, 1), CUDA_ERROR_INVALID_VALUE);
    kit_ok(launch_cluster(nothing, config, 1, 1, 1));
    kit_gives(cuFuncSetAttribute(nothing, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1),
              CUDA_ERROR_NOT_SUPPORTED);
    _Alignas(128) unsigned char map[128];
    kit_gives(cuTensorMapReplaceAddress(map, NULL), CUDA_ERROR_NOT_SUPPORTED);
    kit_ok(cuLibraryUnload(own));
    kit_ok(cuDevicePrimaryCtxRelease(0));
}
END_TEST

/* ---- parameters ------------------------------------------------------------------------------------------------ */

START_TEST(parameters_come_as_values_or_as_a_buffer) {
    CUfunction fill = kit_function(kit_module, "fill");
    CUdeviceptr to;
    uint32_t value = 41;
    kit_ok(cuMemAlloc(&to, 4 * 96));
    kit_ok(kit_fill(fill, NULL, to, 40, 96));
    ck_assert_uint_eq(kit_word(to + 4 * 95), 40);
    struct {
        uint64_t to;
        uint32_t value;
    } buffer = {to, value};
    size_t bytes = 12;
    void *pointer = (void *)CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT, *size = (void *)CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT;
    void *extra[] = {pointer, &buffer, size, &bytes, NULL}, *twice[] = {pointer, &buffer, pointer, &buffer, NULL},
         *odd[] = {(void *)7, &buffer, size, &bytes, NULL};
    CUlaunchConfig config = kit_config(32);
    kit_ok(cuLaunchKernelEx(&config, fill, NULL, extra));
    ck_assert_uint_eq(kit_word(to), 41);
    bytes = 11;
    kit_gives(cuLaunchKernelEx(&config, fill, NULL, extra), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuLaunchKernelEx(&config, fill, NULL, twice), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuLaunchKernelEx(&config, fill, NULL, odd), CUDA_ERROR_INVALID_VALUE);
    void *values[] = {&to, &value}, *missing[] = {&to, NULL};
    kit_gives(cuLaunchKernelEx(&config, fill, values, extra), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuLaunchKernelEx(&config, fill, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuLaunchKernelEx(&config, fill, missing, NULL), CUDA_ERROR_INVALID_VALUE);
    kit_ok(cuMemFree(to));
}
END_TEST

/* ---- what became of it ----------------------------------------------------------------------------------------- */

START_TEST(a_fault_ends_the_context) {
    static const struct {
        const char *kernel;
        CUresult result;
        enum gm_sim_report_kind kind;
    } faults[] = {{"wild", CUDA_ERROR_ILLEGAL_ADDRESS, SIM_REPORT_OUT_OF_BOUNDS},
                  {"torn", CUDA_ERROR_MISALIGNED_ADDRESS, SIM_REPORT_MISALIGNED}};
    struct gm_sim_report report;
    CUlaunchConfig config = kit_config(32);
    CUdeviceptr address;
    CUcontext context;
    if (kit_shares_process())
        return;
    CUfunction function = kit_function(kit_module, faults[_i].kernel);
    kit_gives(cuLaunchKernelEx(&config, function, NULL, NULL), faults[_i].result);
    ck_assert_uint_ge(gm_sim_report_count(), 1);
    ck_assert_int_eq(gm_sim_report_get(0, &report), 0);
    ck_assert_int_eq((int)report.kind, (int)faults[_i].kind);
    ck_assert_str_eq(report.kernel, faults[_i].kernel);
    kit_gives(cuLaunchKernelEx(&config, function, NULL, NULL), faults[_i].result);
    kit_gives(cuCtxSynchronize(), faults[_i].result);
    kit_gives(cuMemAlloc(&address, 4), faults[_i].result);
    kit_gives(cuDevicePrimaryCtxRetain(&context, 0), faults[_i].result);
}
END_TEST

START_TEST(a_report_fails_its_launch_only_when_told_to) {
    CUfunction stale = kit_function(kit_module, "stale");
    CUlaunchConfig config = kit_config(1);
    CUdeviceptr to;
    struct gm_sim_report report;
    kit_ok(cuMemAlloc(&to, 4));
    void *params[] = {&to};
    kit_ok(cuLaunchKernelEx(&config, stale, params, NULL)); /* quiet */
    ck_assert_uint_ge(gm_sim_report_count(), 1);
    ck_assert_int_eq(gm_sim_report_get(0, &report), 0);
    ck_assert_int_eq((int)report.kind, (int)SIM_REPORT_UNINITIALISED);
    ck_assert_int_eq(gm_sim_report_get(gm_sim_report_count(), &report), -1);
    ck_assert_int_eq(gm_sim_report_get(0, NULL), -1);
    gm_sim_reports_clear();
    ck_assert_uint_eq(gm_sim_report_count(), 0);
    gm_sim_set_reports("fail");
    kit_gives(cuLaunchKernelEx(&config, stale, params, NULL), CUDA_ERROR_LAUNCH_FAILED);
    gm_sim_set_reports("loud"); /* no such mode: stays */
    gm_sim_set_reports(NULL);
    kit_gives(cuLaunchKernelEx(&config, stale, params, NULL), CUDA_ERROR_LAUNCH_FAILED);
    gm_sim_set_reports("print");
    kit_ok(cuLaunchKernelEx(&config, stale, params, NULL));
    gm_sim_set_reports("quiet");
    kit_ok(cuCtxSynchronize());
    kit_ok(cuMemFree(to));
}
END_TEST

static CUresult from_inside[4];

static int call_the_driver(struct gm_sim_view *view, void *arg) {
    CUfunction function = arg;
    CUlaunchConfig config = kit_config(1);
    (void)view;
    from_inside[0] = cuLaunchKernelEx(&config, function, NULL, NULL);
    from_inside[1] = cuLibraryUnload(kit_module);
    from_inside[2] = cuDevicePrimaryCtxRelease(0);
    from_inside[3] = cuCtxSynchronize();
    return 0;
}

START_TEST(a_step_function_must_leave_the_driver_alone) {
    CUfunction nothing = kit_function(kit_module, "nothing");
    CUlaunchConfig config = kit_config(1);
    gm_sim_set_step(call_the_driver, nothing, 0, -1, -1);
    kit_ok(cuLaunchKernelEx(&config, nothing, NULL, NULL));
    gm_sim_set_step(NULL, NULL, 0, -1, -1);
    for (int i = 0; i < 4; i++)
        kit_gives(from_inside[i], CUDA_ERROR_NOT_PERMITTED);
}
END_TEST

Suite *driver_launch_suite(void) {
    Suite *suite = suite_create("driver launches");
    TCase *cases = tcase_create("launches");
    tcase_add_checked_fixture(cases, kit_start_module, kit_stop_module);
    tcase_add_test(cases, shapes_beyond_the_limits_are_refused);
    tcase_add_test(cases, clusters_have_limits);
    tcase_add_test(cases, attributes_are_looked_at);
    tcase_add_test(cases, parameters_come_as_values_or_as_a_buffer);
    tcase_add_test(cases, a_report_fails_its_launch_only_when_told_to);
    tcase_add_test(cases, a_step_function_must_leave_the_driver_alone);
    suite_add_tcase(suite, cases);
    TCase *own = tcase_create("own start");
    tcase_add_test(own, devices_without_clusters_take_none);
    suite_add_tcase(suite, own);
    TCase *faults = tcase_create("faults"); /* the context is lost: no end of the fixture */
    tcase_add_checked_fixture(faults, kit_start_module, NULL);
    tcase_add_loop_test(faults, a_fault_ends_the_context, 0, 2);
    suite_add_tcase(suite, faults);
    return suite;
}
