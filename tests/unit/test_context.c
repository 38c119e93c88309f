/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts, and the loading of images into them. */
#include "host/context.h"
#include "fake_driver.h"
#include "unit.h"

#include <string.h>

static CUfunction function;

static gm_context *create(void) {
    gm_context *context = NULL;
    assert_ok(gm_context_create(0, &context));
    ck_assert_ptr_nonnull(context);
    return context;
}

static enum gm_status load(gm_context *context, int kernel) {
    assert_ok(gm_context_enter(context));
    enum gm_status status = gm_context_load(context, kernel, &function);
    gm_context_leave(context);
    return status;
}

START_TEST(a_context_knows_its_device) {
    fake.devices[1] = device_of("a100");
    gm_context *context = NULL;
    struct gm_device device = {.size = sizeof device};
    assert_ok(gm_context_create(1, &context));
    assert_ok(gm_context_device(context, &device));
    ck_assert_int_eq(device.ordinal, 1);
    ck_assert_int_eq(device.cc_major, 8);
    device.size = 1;
    assert_fails(gm_context_device(context, &device), GM_ERROR_SIZE, "device.size");
    assert_fails(gm_context_device(context, NULL), GM_ERROR_INVALID_ARGUMENT, "NULL");
    assert_fails(gm_context_device(NULL, &device), GM_ERROR_INVALID_ARGUMENT, "context is NULL");
    gm_context_destroy(context);
}
END_TEST

START_TEST(a_context_leaves_the_threads_context_alone) {
    gm_context *context = create();
    ck_assert_int_eq(fake_context_depth(), 0);
    assert_ok(load(context, 0));
    ck_assert_int_eq(fake_context_depth(), 0);
    gm_context_destroy(context);
    ck_assert_int_eq(fake_context_depth(), 0);
}
END_TEST

START_TEST(bad_requests_create_nothing) {
    gm_context *context = NULL;
    assert_fails(gm_context_create(0, NULL), GM_ERROR_INVALID_ARGUMENT, "context is NULL");
    assert_fails(gm_context_create(FAKE_DEVICES, &context), GM_ERROR_NO_DEVICE, "no device 2");
    assert_fails(gm_context_create(-1, &context), GM_ERROR_NO_DEVICE, "no device -1");
    fake.result[FAKE_cuDevicePrimaryCtxRetain] = CUDA_ERROR_OUT_OF_MEMORY;
    assert_fails(gm_context_create(0, &context), GM_ERROR_DRIVER, "CUDA_ERROR_OUT_OF_MEMORY");
    ck_assert_int_eq(gm_last_cuda_result(), CUDA_ERROR_OUT_OF_MEMORY);
    ck_assert_ptr_null(context);
    gm_context_destroy(NULL);
}
END_TEST

START_TEST(a_row_is_loaded_once_and_may_use_its_shared_memory) {
    gm_context *context = create();
    for (int again = 0; again < 3; again++)
        for (size_t i = 0; i < gm_kernel_count(); i++) {
            struct gm_kernel_info info = {.size = sizeof info};
            assert_ok(gm_kernel_get(i, &info));
            fake.smem_attribute = 0; /* rows that use none ask for none */
            assert_ok(load(context, (int)i));
            ck_assert_int_eq(fake.smem_attribute, info.smem_bytes);
        }
    ck_assert_int_eq(fake.count[FAKE_cuLibraryLoadData], (int)gm_kernel_count());
    ck_assert_int_eq(fake.libraries, (int)gm_kernel_count());
    gm_context_destroy(context);
}
END_TEST

START_TEST(a_row_that_fails_to_load_is_named_and_not_tried_again) {
    static const enum fake_function steps[] = {FAKE_cuLibraryLoadData, FAKE_cuLibraryGetKernel,
                                               FAKE_cuKernelGetFunction, FAKE_cuFuncSetAttribute};
    static const char *const names[] = {"cuLibraryLoadData", "cuLibraryGetKernel", "cuKernelGetFunction",
                                        "cuFuncSetAttribute"};
    struct gm_kernel_info info = {.size = sizeof info};
    gm_context *context = create();
    assert_ok(gm_kernel_get(0, &info));
    fake.result[steps[_i]] = CUDA_ERROR_NO_BINARY_FOR_GPU;
    assert_fails(load(context, 0), GM_ERROR_IMAGE, info.name);
    ck_assert_ptr_nonnull(strstr(gm_last_error(), names[_i]));
    ck_assert_ptr_nonnull(strstr(gm_last_error(), "CUDA_ERROR_NO_BINARY_FOR_GPU"));
    ck_assert_int_eq(gm_last_cuda_result(), CUDA_ERROR_NO_BINARY_FOR_GPU);
    ck_assert_int_eq(fake.libraries, 0);
    fake.result[steps[_i]] = CUDA_SUCCESS;
    assert_fails(load(context, 0), GM_ERROR_IMAGE, info.name);
    ck_assert_int_eq(fake.count[FAKE_cuLibraryLoadData], 1);
    if (gm_kernel_count() > 1) /* the other rows are not affected */
        assert_ok(load(context, 1));
    gm_context_destroy(context);
}
END_TEST

START_TEST(a_load_that_ran_out_of_memory_may_be_tried_again) {
    gm_context *context = create();
    fake.result[FAKE_cuLibraryLoadData] = CUDA_ERROR_OUT_OF_MEMORY;
    assert_fails(load(context, 0), GM_ERROR_IMAGE, "CUDA_ERROR_OUT_OF_MEMORY");
    fake.result[FAKE_cuLibraryLoadData] = CUDA_SUCCESS;
    assert_ok(load(context, 0));
    gm_context_destroy(context);
}
END_TEST

/* Another part of the program has called cudaDeviceReset(), or released what it had not retained. */
START_TEST(a_context_that_is_gone_is_named_and_may_come_back) {
    static const CUresult answers[] = {CUDA_ERROR_CONTEXT_IS_DESTROYED, CUDA_ERROR_INVALID_CONTEXT};
    const char *const words = "the primary context of device 0 (NVIDIA H200) was reset or destroyed";
    gm_context *context = create();
    fake.result[FAKE_cuKernelGetFunction] = answers[_i]; /* before the row was loaded */
    assert_fails(load(context, 0), GM_ERROR_DRIVER, words);
    ck_assert_int_eq(gm_last_cuda_result(), answers[_i]);
    ck_assert_int_eq(fake.libraries, 0);
    fake.result[FAKE_cuKernelGetFunction] = CUDA_SUCCESS;
    assert_ok(load(context, 0));
    fake.result[FAKE_cuKernelGetFunction] = answers[_i]; /* and after */
    assert_fails(load(context, 0), GM_ERROR_DRIVER, words);
    ck_assert_int_eq(fake.libraries, 1);
    fake.result[FAKE_cuKernelGetFunction] = CUDA_SUCCESS;
    assert_ok(load(context, 0));
    ck_assert_int_eq(fake.count[FAKE_cuLibraryLoadData], 2);
    fake.result[FAKE_cuCtxPushCurrent] = answers[_i];
    assert_fails(gm_context_enter(context), GM_ERROR_DRIVER, words);
    fake.result[FAKE_cuCtxPushCurrent] = CUDA_SUCCESS;
    gm_context_destroy(context);
}
END_TEST

START_TEST(contexts_load_for_themselves) {
    gm_context *one = create(), *two = NULL;
    assert_ok(gm_context_create(1, &two));
    assert_ok(load(one, 0));
    assert_ok(load(two, 0));
    ck_assert_int_eq(fake.libraries, 2);
    gm_context_destroy(one);
    ck_assert_int_eq(fake.libraries, 1);
    gm_context_destroy(two);
}
END_TEST

Suite *context_suite(void) {
    Suite *suite = suite_create("context");
    TCase *cases = tcase_create("contexts");
    tcase_add_checked_fixture(cases, fake_install, fake_remove);
    tcase_add_test(cases, a_context_knows_its_device);
    tcase_add_test(cases, a_context_leaves_the_threads_context_alone);
    tcase_add_test(cases, bad_requests_create_nothing);
    tcase_add_loop_test(cases, a_row_that_fails_to_load_is_named_and_not_tried_again, 0, 4);
    tcase_add_test(cases, a_load_that_ran_out_of_memory_may_be_tried_again);
    tcase_add_loop_test(cases, a_context_that_is_gone_is_named_and_may_come_back, 0, 2);
    tcase_add_test(cases, contexts_load_for_themselves);
    suite_add_tcase(suite, cases);
    TCase *table = tcase_create("every row of the table");
    tcase_set_tags(table, "long"); /* minutes under valgrind */
    tcase_add_checked_fixture(table, fake_install, fake_remove);
    tcase_add_test(table, a_row_is_loaded_once_and_may_use_its_shared_memory);
    suite_add_tcase(suite, table);
    return suite;
}
