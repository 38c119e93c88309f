/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts of the simulated driver, and its memory. */
#include "driver_kit.h"
#include "sim_tests.h"

#include <stdlib.h>
#include <string.h>

/* ---- contexts -------------------------------------------------------------------------------------------------- */

START_TEST(the_stack_of_contexts_is_the_threads) {
    CUcontext seen = KIT_GARBAGE;
    CUdevice device = -1;
    kit_ok(cuCtxPushCurrent(kit_context()));
    kit_ok(cuCtxPushCurrent(kit_context()));
    kit_ok(cuCtxPopCurrent(NULL));
    kit_ok(cuCtxPopCurrent(&seen));
    ck_assert_ptr_eq(seen, kit_context());
    kit_ok(cuCtxGetDevice(&device));
    ck_assert_int_eq(device, 0);
    kit_gives(cuCtxGetDevice(NULL), CUDA_ERROR_INVALID_VALUE);
    kit_ok(cuCtxSetCurrent(NULL));
    kit_ok(cuCtxGetCurrent(&seen));
    ck_assert_ptr_null(seen);
    kit_gives(cuCtxGetCurrent(NULL), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuCtxPopCurrent(&seen), CUDA_ERROR_INVALID_CONTEXT);
    kit_gives(cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
    kit_gives(cuCtxGetDevice(&device), CUDA_ERROR_INVALID_CONTEXT);
    kit_gives(cuCtxPushCurrent(NULL), CUDA_ERROR_INVALID_CONTEXT);
    kit_gives(cuCtxPushCurrent(KIT_GARBAGE), CUDA_ERROR_INVALID_CONTEXT);
    kit_gives(cuCtxSetCurrent(KIT_GARBAGE), CUDA_ERROR_INVALID_CONTEXT);
    kit_ok(cuCtxSetCurrent(kit_context()));
    kit_ok(cuCtxSynchronize());
}
END_TEST

START_TEST(the_stack_ends_somewhere) {
    int depth = 0;
    while (depth < 100000 && cuCtxPushCurrent(kit_context()) == CUDA_SUCCESS)
        depth++;
    ck_assert_int_lt(depth, 100000);
    ck_assert_int_gt(depth, 100);
    while (depth-- > 0)
        kit_ok(cuCtxPopCurrent(NULL));
}
END_TEST

static void *without_a_context(void *arg) {
    CUcontext seen = KIT_GARBAGE;
    (void)arg;
    return cuCtxGetCurrent(&seen) == CUDA_SUCCESS && !seen && cuCtxSynchronize() == CUDA_ERROR_INVALID_CONTEXT ? arg
                                                                                                               : NULL;
}

START_TEST(another_thread_has_no_context) {
    pthread_t thread;
    int seen = 0;
    void *result = NULL;
    ck_assert_int_eq(pthread_create(&thread, NULL, without_a_context, &seen), 0);
    ck_assert_int_eq(pthread_join(thread, &result), 0);
    ck_assert_ptr_eq(result, &seen);
}
END_TEST

START_TEST(a_context_ends_with_its_last_owner) {
    CUcontext again;
    CUstream stream;
    CUdeviceptr address;
    kit_ok(cuDevicePrimaryCtxRetain(&again, 0));
    ck_assert_ptr_eq(again, kit_context());
    kit_ok(cuStreamCreate(&stream, 0));
    kit_ok(cuMemAlloc(&address, 100));
    kit_ok(cuDevicePrimaryCtxRelease(0));
    kit_ok(cuStreamSynchronize(stream));
    kit_ok(cuDevicePrimaryCtxRelease(0));
    kit_gives(cuDevicePrimaryCtxRelease(0), CUDA_ERROR_INVALID_CONTEXT);
    kit_gives(cuCtxSynchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    kit_gives(cuMemAlloc(&address, 100), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    kit_ok(cuDevicePrimaryCtxRetain(&again, 0));
    kit_gives(cuStreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE);
    kit_gives(cuMemFree(address), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuDevicePrimaryCtxRetain(NULL, 0), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuDevicePrimaryCtxRetain(&again, 17), CUDA_ERROR_INVALID_DEVICE);
    kit_gives(cuDevicePrimaryCtxRelease(17), CUDA_ERROR_INVALID_DEVICE);
}
END_TEST

START_TEST(devices_share_nothing) {
    CUcontext first, second;
    CUstream stream;
    CUdeviceptr address;
    char byte = 0;
    if (kit_shares_process())
        return;
    setenv("GM_SIM_DEVICES", "2", 1);
    kit_ok(cuInit(0));
    kit_ok(cuDevicePrimaryCtxRetain(&first, 0));
    kit_ok(cuDevicePrimaryCtxRetain(&second, 1));
    ck_assert_ptr_ne(first, second);
    kit_ok(cuCtxSetCurrent(first));
    kit_ok(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    kit_ok(cuMemAlloc(&address, 64));
    CUlibrary library = kit_library(kit_ptx);
    CUfunction on_first = kit_function(library, "nothing");
    kit_ok(cuCtxSetCurrent(second));
    CUfunction on_second = kit_function(library, "nothing");
    ck_assert_ptr_ne(on_first, on_second);
    CUlaunchConfig config = kit_config(32);
    kit_gives(cuLaunchKernelEx(&config, on_first, NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
    config.hStream = stream;
    kit_gives(cuLaunchKernelEx(&config, on_second, NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
    kit_gives(cuMemcpyHtoD(address, &byte, 1), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuStreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE);
    kit_ok(cuDevicePrimaryCtxRelease(0));
    config.hStream = NULL;
    kit_ok(cuLaunchKernelEx(&config, on_second, NULL, NULL));
    kit_gives(cuLaunchKernelEx(&config, on_first, NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
    kit_ok(cuLibraryUnload(library));
    kit_ok(cuDevicePrimaryCtxRelease(1));
}
END_TEST

/* ---- memory ---------------------------------------------------------------------------------------------------- */

START_TEST(memory_goes_and_comes_back) {
    CUdeviceptr address = 0, other = 0;
    size_t before, during, after, total;
    kit_ok(cuMemGetInfo(&before, &total));
    ck_assert_uint_le(before, total);
    kit_ok(cuMemAlloc(&address, 1000));
    kit_ok(cuMemAlloc(&other, 1));
    ck_assert_uint_eq(address % 256, 0);
    ck_assert_uint_eq(other % 256, 0);
    kit_ok(cuMemGetInfo(&during, NULL));
    ck_assert_uint_lt(during, before);
    kit_gives(cuMemFree(address + 16), CUDA_ERROR_INVALID_VALUE);
    kit_ok(cuMemFree(address));
    kit_ok(cuMemFree(other));
    kit_gives(cuMemFree(other), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuMemFree(0), CUDA_ERROR_INVALID_VALUE);
    kit_ok(cuMemGetInfo(&after, &total));
    ck_assert_uint_eq(before, after);
    kit_gives(cuMemAlloc(NULL, 1), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuMemAlloc(&address, 0), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuMemAlloc(&address, total + 1), CUDA_ERROR_OUT_OF_MEMORY);
    kit_gives(cuMemAlloc(&address, SIZE_MAX), CUDA_ERROR_OUT_OF_MEMORY);
}
END_TEST

START_TEST(bytes_travel) {
    char text[] = "sixteen bytes...", back[sizeof text] = "";
    CUdeviceptr a, b;
    kit_ok(cuMemAlloc(&a, 64));
    kit_ok(cuMemAlloc(&b, 64));
    kit_ok(cuMemcpyHtoD(a + 3, text, sizeof text));
    kit_ok(cuMemcpyDtoD(b + 5, a + 3, sizeof text));
    kit_ok(cuMemcpyDtoH(back, b + 5, sizeof text));
    ck_assert_str_eq(back, text);
    kit_ok(cuMemsetD8(b + 5, 'x', 4));
    kit_ok(cuMemcpyDtoHAsync(back, b + 5, sizeof text, NULL));
    ck_assert_str_eq(back, "xxxxeen bytes...");
    kit_ok(cuMemcpyHtoDAsync(a, text, 16, NULL));
    kit_ok(cuMemcpyDtoDAsync(b, a, 16, NULL));
    kit_ok(cuMemsetD8Async(b, '!', 1, NULL));
    kit_ok(cuMemcpyDtoH(back, b, 16));
    ck_assert_str_eq(back, "!ixteen bytes...");
    ck_assert(sim_memory_is_initialised(kit_context()->memory, b, 16));
    ck_assert(!sim_memory_is_initialised(kit_context()->memory, b, 64));
    kit_ok(cuMemFree(a));
    kit_ok(cuMemFree(b));
}
END_TEST

/* A copy of memory that was written in part is written in the same part. */
START_TEST(what_was_never_written_stays_so_in_a_copy) {
    enum { BYTES = 1000, HOLE = 333 };
    CUdeviceptr a, b;
    kit_ok(cuMemAlloc(&a, BYTES));
    kit_ok(cuMemAlloc(&b, BYTES));
    kit_ok(cuMemsetD8(a, 1, HOLE));
    kit_ok(cuMemsetD8(a + HOLE + 1, 1, BYTES - HOLE - 1));
    kit_ok(cuMemcpyDtoD(b, a, BYTES));
    ck_assert(sim_memory_is_initialised(kit_context()->memory, b, HOLE));
    ck_assert(!sim_memory_is_initialised(kit_context()->memory, b + HOLE, 1));
    ck_assert(sim_memory_is_initialised(kit_context()->memory, b + HOLE + 1, BYTES - HOLE - 1));
    kit_ok(cuMemFree(a));
    kit_ok(cuMemFree(b));
}
END_TEST

START_TEST(copies_stay_inside_allocations) {
    char bytes[64] = "";
    CUdeviceptr a;
    kit_ok(cuMemAlloc(&a, 64));
    kit_ok(cuMemcpyHtoD(a, bytes, 64));
    kit_ok(cuMemcpyHtoD(0, NULL, 0));
    kit_gives(cuMemcpyHtoD(a, bytes, 65), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuMemcpyHtoD(a - 1, bytes, 2), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuMemcpyHtoD(a, NULL, 1), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuMemcpyHtoD(0, bytes, 1), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuMemcpyDtoH(bytes, a + 60, 8), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuMemcpyDtoH(NULL, a, 8), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuMemcpyDtoD(a, a + 32, 64), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuMemcpyDtoD(a, (uintptr_t)bytes, 8), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuMemsetD8(a, 0, 65), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuMemsetD8(UINT64_MAX - 3, 0, 8), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuMemcpyDtoDAsync(a, a, 8, KIT_GARBAGE), CUDA_ERROR_INVALID_HANDLE);
    kit_ok(cuMemFree(a));
}
END_TEST

START_TEST(the_environment_may_make_memory_small) {
    CUcontext context;
    CUdeviceptr address;
    size_t total;
    if (kit_shares_process())
        return;
    setenv("GM_SIM_MEMORY", "2097152", 1);
    kit_ok(cuInit(0));
    kit_ok(cuDevicePrimaryCtxRetain(&context, 0));
    kit_ok(cuCtxSetCurrent(context));
    kit_ok(cuMemGetInfo(NULL, &total));
    ck_assert_uint_eq(total, 2 << 20);
    kit_gives(cuMemAlloc(&address, (2 << 20) + 1), CUDA_ERROR_OUT_OF_MEMORY);
    kit_ok(cuDevicePrimaryCtxRelease(0));
}
END_TEST

Suite *driver_context_suite(void) {
    Suite *suite = suite_create("driver contexts");
    TCase *cases = tcase_create("current");
    tcase_add_checked_fixture(cases, kit_start, kit_stop);
    tcase_add_test(cases, the_stack_of_contexts_is_the_threads);
    tcase_add_test(cases, the_stack_ends_somewhere);
    tcase_add_test(cases, another_thread_has_no_context);
    tcase_add_test(cases, a_context_ends_with_its_last_owner);
    tcase_add_test(cases, memory_goes_and_comes_back);
    tcase_add_test(cases, bytes_travel);
    tcase_add_test(cases, what_was_never_written_stays_so_in_a_copy);
    tcase_add_test(cases, copies_stay_inside_allocations);
    suite_add_tcase(suite, cases);
    TCase *own = tcase_create("own start");
    tcase_add_test(own, devices_share_nothing);
    tcase_add_test(own, the_environment_may_make_memory_small);
    suite_add_tcase(suite, own);
    return suite;
}
