/* SPDX-License-Identifier: Apache-2.0 */
/* Starting the simulated driver: entry points by name, errors, devices, the environment. */
#include "driver_kit.h"
#include "sim_tests.h"

#include <stdlib.h>
#include <string.h>

CUresult cuGetProcAddress_v2(const char *name, void **address, int version, uint64_t flags, int *found);
CUresult cuGetProcAddress(const char *name, void **address, int version, uint64_t flags);

/* ---- by name ---------------------------------------------------------------------------------------------------- */

START_TEST(every_function_is_found_at_its_version) {
    void *address;
    int found;
#define DRIVER(name, abi, need, params)                                                                                \
    address = NULL;                                                                                                    \
    kit_ok(cuGetProcAddress_v2(#name, &address, abi, 0, &found));                                                      \
    ck_assert_msg(address != NULL && found == CU_GET_PROC_ADDRESS_SUCCESS, #name);                                     \
    kit_ok(cuGetProcAddress_v2(#name, &address, (abi) - 10, 0, &found));                                               \
    ck_assert_msg(!address && found == CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT, #name);
#include "sim/driver/driver_extra.def"
#include "host/driver.def"
#undef DRIVER
}
END_TEST

START_TEST(what_the_driver_lacks_is_null) {
    void *address = KIT_GARBAGE;
    int found = -1;
    kit_ok(cuGetProcAddress_v2("cuDoMagic", &address, 13000, 0, &found));
    ck_assert_ptr_null(address);
    ck_assert_int_eq(found, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    kit_ok(cuGetProcAddress_v2("cuDoMagic", &address, 13000, 0, NULL));
    kit_gives(cuGetProcAddress("cuDoMagic", &address, 13000, 0), CUDA_ERROR_NOT_FOUND);
    kit_ok(cuGetProcAddress("cuInit", &address, 13000, 0));
    ck_assert_ptr_nonnull(address);
    kit_ok(cuGetProcAddress("gm_sim_report_count", &address, 13000, 0));
    ck_assert_ptr_nonnull(address);
}
END_TEST

START_TEST(senseless_questions_for_a_function_are_refused) {
    void *address;
    int found;
    kit_gives(cuGetProcAddress_v2(NULL, &address, 13000, 0, &found), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuGetProcAddress_v2("cuInit", NULL, 13000, 0, &found), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuGetProcAddress_v2("cuInit", &address, 13010, 0, &found), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuGetProcAddress_v2("cuInit", &address, 13000, 4, &found), CUDA_ERROR_INVALID_VALUE);
}
END_TEST

START_TEST(errors_have_names_and_sentences) {
    const char *text = NULL;
    kit_ok(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
    ck_assert_str_eq(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
    kit_ok(cuGetErrorString(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
    ck_assert_str_eq(text, "an illegal memory access was encountered");
    kit_gives(cuGetErrorName(12345, &text), CUDA_ERROR_INVALID_VALUE);
    ck_assert_ptr_null(text);
    kit_gives(cuGetErrorString(12345, &text), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuGetErrorName(0, NULL), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuGetErrorString(0, NULL), CUDA_ERROR_INVALID_VALUE);
}
END_TEST

/* ---- before and at the start ----------------------------------------------------------------------------------- */

START_TEST(nothing_works_before_the_start) {
    int number;
    size_t bytes;
    CUcontext context;
    CUlibrary library;
    if (kit_shares_process())
        return;
    kit_ok(cuDriverGetVersion(&number));
    ck_assert_int_eq(number, 13000);
    kit_gives(cuDriverGetVersion(NULL), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuDeviceGetCount(&number), CUDA_ERROR_NOT_INITIALIZED);
    kit_gives(cuDeviceGet(&number, 0), CUDA_ERROR_NOT_INITIALIZED);
    kit_gives(cuDeviceTotalMem(&bytes, 0), CUDA_ERROR_NOT_INITIALIZED);
    kit_gives(cuDevicePrimaryCtxRetain(&context, 0), CUDA_ERROR_NOT_INITIALIZED);
    kit_gives(cuDevicePrimaryCtxRelease(0), CUDA_ERROR_NOT_INITIALIZED);
    kit_gives(cuCtxPushCurrent(KIT_GARBAGE), CUDA_ERROR_NOT_INITIALIZED);
    kit_gives(cuCtxSetCurrent(NULL), CUDA_ERROR_NOT_INITIALIZED);
    kit_gives(cuCtxGetCurrent(&context), CUDA_ERROR_NOT_INITIALIZED);
    kit_gives(cuCtxPopCurrent(&context), CUDA_ERROR_NOT_INITIALIZED);
    kit_gives(cuCtxSynchronize(), CUDA_ERROR_NOT_INITIALIZED);
    kit_gives(cuLibraryLoadData(&library, kit_ptx, NULL, NULL, 0, NULL, NULL, 0), CUDA_ERROR_NOT_INITIALIZED);
    kit_gives(cuInit(1), CUDA_ERROR_INVALID_VALUE);
    kit_ok(cuInit(0));
    kit_ok(cuInit(0));
}
END_TEST

/* A variable of the environment that makes no sense leaves no device. */
static const char *const senseless[][2] = {
    {"GM_SIM_DEVICE", "voodoo2"}, {"GM_SIM_SEED", "many"}, {"GM_SIM_SEED", "-1"},
    {"GM_SIM_REPORTS", "loud"},   {"GM_SIM_DEVICES", "0"}, {"GM_SIM_DEVICES", "1000"},
    {"GM_SIM_SMS", "0"},          {"GM_SIM_COUNT", "2"},   {"GM_SIM_MEMORY", "99999999999999999999999"}};

START_TEST(a_senseless_environment_leaves_no_device) {
    int count;
    if (kit_shares_process())
        return;
    gm_sim_set_reports("quiet");
    setenv(senseless[_i][0], senseless[_i][1], 1);
    if (strcmp(senseless[_i][0], "GM_SIM_REPORTS") == 0) {
        kit_ok(cuInit(0)); /* the program's word is stronger */
        return;
    }
    kit_gives(cuInit(0), CUDA_ERROR_NO_DEVICE);
    kit_gives(cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
}
END_TEST

/* ---- devices --------------------------------------------------------------------------------------------------- */

static const struct {
    const char *token, *name;
    int major, minor, sms, optin, blocks;
    bool clusters;
} devices[] = {{"a100", "A100", 8, 0, 108, 166912, 32, false},
               {"h100", "H100", 9, 0, 132, 232448, 32, true},
               {"h200", "H200", 9, 0, 132, 232448, 32, true},
               {"rtx4090", "RTX 4090", 8, 9, 128, 101376, 24, false}};

static int attribute(int id) {
    int value = -1;
    kit_ok(cuDeviceGetAttribute(&value, id, 0));
    return value;
}

START_TEST(devices_are_as_their_data_sheets_say) {
    char name[64], brief[5];
    size_t bytes;
    if (kit_shares_process())
        return;
    setenv("GM_SIM_DEVICE", devices[_i].token, 1);
    kit_ok(cuInit(0));
    kit_ok(cuDeviceGetName(name, sizeof name, 0));
    ck_assert_ptr_nonnull(strstr(name, devices[_i].name));
    ck_assert_ptr_nonnull(strstr(name, "(simulated)"));
    kit_ok(cuDeviceGetName(brief, sizeof brief, 0));
    ck_assert_uint_eq(strlen(brief), 4);
    ck_assert_int_eq(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR), devices[_i].major);
    ck_assert_int_eq(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR), devices[_i].minor);
    ck_assert_int_eq(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT), devices[_i].sms);
    ck_assert_int_eq(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN), devices[_i].optin);
    ck_assert_int_eq(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK), 49152);
    ck_assert_int_eq(attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR), devices[_i].blocks);
    ck_assert_int_eq(attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH), devices[_i].clusters);
    ck_assert_int_eq(attribute(CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED), devices[_i].clusters);
    ck_assert_int_eq(attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE), 32);
    kit_ok(cuDeviceTotalMem(&bytes, 0));
    ck_assert_uint_gt(bytes, (size_t)20 << 30);
}
END_TEST

START_TEST(a_device_may_have_fewer_sms_and_siblings) {
    int count, value;
    CUdevice device;
    if (kit_shares_process())
        return;
    setenv("GM_SIM_SMS", "4", 1);
    setenv("GM_SIM_DEVICES", "3", 1);
    kit_ok(cuInit(0));
    kit_ok(cuDeviceGetCount(&count));
    ck_assert_int_eq(count, 3);
    kit_ok(cuDeviceGet(&device, 2));
    kit_ok(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
    ck_assert_int_eq(value, 4);
    kit_gives(cuDeviceGet(&device, 3), CUDA_ERROR_INVALID_DEVICE);
}
END_TEST

START_TEST(senseless_questions_about_devices_are_refused) {
    int value;
    char name[8];
    size_t bytes;
    kit_ok(cuInit(0));
    kit_gives(cuDeviceGetCount(NULL), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuDeviceGet(NULL, 0), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuDeviceGet(&value, -1), CUDA_ERROR_INVALID_DEVICE);
    kit_gives(cuDeviceGetName(NULL, 8, 0), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuDeviceGetName(name, 0, 0), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuDeviceGetName(name, 8, 99), CUDA_ERROR_INVALID_DEVICE);
    kit_gives(cuDeviceGetAttribute(NULL, 1, 0), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuDeviceGetAttribute(&value, 0, 0), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuDeviceGetAttribute(&value, 100000, 0), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuDeviceGetAttribute(&value, 1, 99), CUDA_ERROR_INVALID_DEVICE);
    kit_gives(cuDeviceTotalMem(NULL, 0), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuDeviceTotalMem(&bytes, -1), CUDA_ERROR_INVALID_DEVICE);
}
END_TEST

Suite *driver_start_suite(void) {
    Suite *suite = suite_create("driver start");
    TCase *cases = tcase_create("start");
    tcase_add_test(cases, every_function_is_found_at_its_version);
    tcase_add_test(cases, what_the_driver_lacks_is_null);
    tcase_add_test(cases, senseless_questions_for_a_function_are_refused);
    tcase_add_test(cases, errors_have_names_and_sentences);
    tcase_add_test(cases, nothing_works_before_the_start);
    tcase_add_loop_test(cases, a_senseless_environment_leaves_no_device, 0, sizeof senseless / sizeof *senseless);
    tcase_add_loop_test(cases, devices_are_as_their_data_sheets_say, 0, sizeof devices / sizeof *devices);
    tcase_add_test(cases, a_device_may_have_fewer_sms_and_siblings);
    tcase_add_test(cases, senseless_questions_about_devices_are_refused);
    suite_add_tcase(suite, cases);
    return suite;
}
