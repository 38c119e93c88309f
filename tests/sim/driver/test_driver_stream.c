/* SPDX-License-Identifier: Apache-2.0 */
/* Streams and events of the simulated driver, and its tensor maps. */
#include "driver_kit.h"
#include "sim_tests.h"

#include <string.h>

/* ---- streams and events ---------------------------------------------------------------------------------------- */

START_TEST(streams_keep_order) {
    CUstream blocking;
    int status = -1;
    kit_ok(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    kit_ok(kit_fill(kit_filler, kit_stream, kit_memory, 1, 32));
    kit_ok(cuMemsetD8Async(kit_memory, 2, 4, blocking));
    kit_ok(cuStreamSynchronize(kit_stream));
    kit_ok(cuStreamQuery(blocking));
    ck_assert_uint_eq(kit_word(kit_memory), 0x02020202);
    ck_assert_uint_eq(kit_word(kit_memory + 4), 1);
    kit_ok(cuStreamIsCapturing(kit_stream, &status));
    ck_assert_int_eq(status, CU_STREAM_CAPTURE_STATUS_NONE);
    kit_gives(cuStreamIsCapturing(kit_stream, NULL), CUDA_ERROR_INVALID_VALUE);
    kit_ok(cuStreamSynchronize((CUstream)1));
    kit_ok(cuStreamSynchronize((CUstream)2));
    kit_ok(cuStreamDestroy(blocking));
    kit_gives(cuStreamDestroy(blocking), CUDA_ERROR_INVALID_HANDLE);
    kit_gives(cuStreamDestroy(NULL), CUDA_ERROR_INVALID_HANDLE);
    kit_gives(cuStreamSynchronize(blocking), CUDA_ERROR_INVALID_HANDLE);
    kit_gives(cuStreamCreate(NULL, 0), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuStreamCreate(&blocking, 2), CUDA_ERROR_INVALID_VALUE);
}
END_TEST

START_TEST(events_tell_time) {
    CUevent first, second, untimed;
    float milliseconds = -1;
    kit_ok(cuEventCreate(&first, CU_EVENT_DEFAULT));
    kit_ok(cuEventCreate(&second, CU_EVENT_BLOCKING_SYNC));
    kit_ok(cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING));
    kit_ok(cuEventSynchronize(first));
    kit_gives(cuEventElapsedTime(&milliseconds, first, second), CUDA_ERROR_INVALID_HANDLE);
    kit_ok(cuEventRecord(first, kit_stream));
    kit_ok(kit_fill(kit_filler, kit_stream, kit_memory, 1, 32));
    kit_ok(cuEventRecord(second, kit_stream));
    kit_ok(cuEventRecord(untimed, NULL));
    kit_ok(cuEventQuery(second));
    kit_ok(cuEventElapsedTime(&milliseconds, first, second));
    ck_assert_float_ge(milliseconds, 0);
    ck_assert_float_lt(milliseconds, 60000);
    kit_gives(cuEventElapsedTime(&milliseconds, first, untimed), CUDA_ERROR_INVALID_HANDLE);
    kit_gives(cuEventElapsedTime(NULL, first, second), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuEventElapsedTime(&milliseconds, KIT_GARBAGE, second), CUDA_ERROR_INVALID_HANDLE);
    kit_ok(cuStreamWaitEvent(NULL, first, 0));
    kit_gives(cuStreamWaitEvent(NULL, first, 9), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuStreamWaitEvent(NULL, KIT_GARBAGE, 0), CUDA_ERROR_INVALID_HANDLE);
    kit_gives(cuEventRecord(first, KIT_GARBAGE), CUDA_ERROR_INVALID_HANDLE);
    kit_gives(cuEventRecord(NULL, kit_stream), CUDA_ERROR_INVALID_HANDLE);
    kit_ok(cuEventDestroy(first));
    kit_gives(cuEventDestroy(first), CUDA_ERROR_INVALID_HANDLE);
    kit_gives(cuEventSynchronize(first), CUDA_ERROR_INVALID_HANDLE);
    kit_gives(cuEventCreate(NULL, 0), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuEventCreate(&first, 8), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuEventCreate(&first, CU_EVENT_INTERPROCESS), CUDA_ERROR_INVALID_VALUE);
}
END_TEST

/* ---- tensor maps ----------------------------------------------------------------------------------------------- */

START_TEST(tensor_maps_are_made_without_a_context) {
    _Alignas(128) unsigned char map[128], before[128];
    const uint64_t dims[] = {64, 32, 16}, strides[] = {128, 4096};
    const uint32_t box[] = {64, 8, 1}, steps[] = {1, 1, 1};
    const int corner[] = {0};
    kit_ok(cuCtxSetCurrent(NULL));
    kit_ok(cuTensorMapEncodeTiled(map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, (void *)4096, dims, strides, box, steps, 0,
                                  CU_TENSOR_MAP_SWIZZLE_128B, 0, 0));
    memcpy(before, map, sizeof map);
    kit_ok(cuTensorMapReplaceAddress(map, (void *)8192));
    ck_assert(memcmp(before, map, sizeof map) != 0);
    kit_gives(cuTensorMapReplaceAddress(map, (void *)8193), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuTensorMapReplaceAddress(NULL, (void *)8192), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuTensorMapEncodeTiled(map, 9, 9, (void *)4096, dims, strides, box, steps, 0, 3, 0, 0),
              CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuTensorMapEncodeTiled(NULL, 9, 2, (void *)4096, dims, strides, box, steps, 0, 3, 0, 0),
              CUDA_ERROR_INVALID_VALUE);
    kit_ok(cuTensorMapEncodeIm2col(map, 9, 3, (void *)4096, dims, strides, corner, corner, 64, 8, steps, 0, 3, 0, 0));
    kit_gives(cuTensorMapEncodeIm2col(map, 9, 3, (void *)4096, dims, strides, NULL, corner, 64, 8, steps, 0, 3, 0, 0),
              CUDA_ERROR_INVALID_VALUE);
    kit_gives(
        cuTensorMapEncodeIm2col(NULL, 9, 3, (void *)4096, dims, strides, corner, corner, 64, 8, steps, 0, 3, 0, 0),
        CUDA_ERROR_INVALID_VALUE);
    kit_ok(cuCtxSetCurrent(kit_context()));
}
END_TEST

Suite *driver_stream_suite(void) {
    Suite *suite = suite_create("driver streams");
    TCase *cases = tcase_create("streams");
    tcase_add_checked_fixture(cases, kit_start_stream, kit_stop_module);
    tcase_add_test(cases, streams_keep_order);
    tcase_add_test(cases, events_tell_time);
    tcase_add_test(cases, tensor_maps_are_made_without_a_context);
    suite_add_tcase(suite, cases);
    return suite;
}
