/* SPDX-License-Identifier: Apache-2.0 */
/* Device facts, from models and from a driver. */
#include "fake_driver.h"
#include "unit.h"

#include <string.h>

START_TEST(models_are_found_whatever_the_case) {
    struct gm_device device = {.size = sizeof device};
    assert_ok(gm_device_model("H200", &device));
    ck_assert_int_eq(device.cc_major, 9);
    ck_assert_int_eq(device.sm_count, 132);
    ck_assert_int_eq(device.ordinal, -1);
    ck_assert_int_eq(device.driver_version, 0);
    ck_assert_uint_eq(device.size, sizeof device);
}
END_TEST

START_TEST(models_have_the_architectures_shared_memory) {
    static const struct {
        const char *name;
        int major, minor, smem;
    } expected[] = {{"a100", 8, 0, 166912},
                    {"h100", 9, 0, 232448},
                    {"h200", 9, 0, 232448},
                    {"a10", 8, 6, 101376},
                    {"rtx4090", 8, 9, 101376}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        struct gm_device device = device_of(expected[i].name);
        ck_assert_int_eq(device.cc_major, expected[i].major);
        ck_assert_int_eq(device.cc_minor, expected[i].minor);
        ck_assert_int_eq(device.smem_per_block_bytes, expected[i].smem);
        ck_assert(device.dram_gbs > 0 && device.tensor_tflops > 0 && device.memory_bytes > 0 && device.l2_bytes > 0);
    }
}
END_TEST

START_TEST(bad_model_requests_write_nothing) {
    struct gm_device device = {.size = sizeof device, .sm_count = 3};
    assert_fails(gm_device_model("voodoo2", &device), GM_ERROR_INVALID_ARGUMENT, "voodoo2");
    assert_fails(gm_device_model(NULL, &device), GM_ERROR_INVALID_ARGUMENT, "NULL");
    assert_fails(gm_device_model("h200", NULL), GM_ERROR_INVALID_ARGUMENT, "device is NULL");
    device.size = 4;
    assert_fails(gm_device_model("h200", &device), GM_ERROR_SIZE, "device.size is 4");
    ck_assert_int_eq(device.sm_count, 3);
}
END_TEST

START_TEST(a_query_reads_the_drivers_attributes) {
    struct gm_device device = {.size = sizeof device};
    fake.devices[1] = device_of("a100");
    assert_ok(gm_device_query(1, &device));
    ck_assert_str_eq(device.name, fake.devices[1].name);
    ck_assert_int_eq(device.ordinal, 1);
    ck_assert_int_eq(device.cc_major, 8);
    ck_assert_int_eq(device.sm_count, 108);
    ck_assert_int_eq(device.smem_per_block_bytes, 166912);
    ck_assert_int_eq(device.smem_per_sm_bytes, 167936);
    ck_assert_int_eq(device.max_threads_per_sm, 2048);
    ck_assert_int_eq(device.sm_clock_mhz, 1410);
    ck_assert_int_eq(device.l2_bytes, fake.devices[1].l2_bytes);
    ck_assert_int_eq(device.memory_bytes, fake.devices[1].memory_bytes);
    ck_assert_int_eq(device.driver_version, 13000);
    ck_assert_double_eq_tol(device.dram_gbs, 2039, 1);
    ck_assert_double_eq_tol(device.tensor_tflops, 312, 1);
}
END_TEST

START_TEST(a_driver_without_memory_clock_leaves_it_to_the_model) {
    struct gm_device device = {.size = sizeof device};
    fake.devices[0].dram_gbs = 0;
    assert_ok(gm_device_query(0, &device));
    ck_assert_double_eq_tol(device.dram_gbs, 4800, 0.1);
    strcpy(fake.devices[0].name, "NVIDIA Unheard Of");
    assert_ok(gm_device_query(0, &device));
    ck_assert(device.dram_gbs == 0);
}
END_TEST

START_TEST(geforce_accumulates_fp32_at_half_rate) {
    struct gm_device device = {.size = sizeof device};
    fake.devices[0] = device_of("rtx4090");
    assert_ok(gm_device_query(0, &device));
    ck_assert_double_eq_tol(device.tensor_tflops, 165.2, 1);
    fake.devices[0] = device_of("a10");
    assert_ok(gm_device_query(0, &device));
    ck_assert_double_eq_tol(device.tensor_tflops, 125, 1);
}
END_TEST

START_TEST(bad_queries_write_nothing) {
    struct gm_device device = {.size = sizeof device, .sm_count = 3};
    int count = -5;
    assert_fails(gm_device_query(FAKE_DEVICES, &device), GM_ERROR_NO_DEVICE, "no device 2");
    assert_fails(gm_device_query(-1, &device), GM_ERROR_NO_DEVICE, "no device -1");
    assert_fails(gm_device_query(0, NULL), GM_ERROR_INVALID_ARGUMENT, "NULL");
    assert_fails(gm_device_count(NULL), GM_ERROR_INVALID_ARGUMENT, "NULL");
    device.size = 8;
    assert_fails(gm_device_query(0, &device), GM_ERROR_SIZE, "device.size");
    device.size = sizeof device;
    fake.result[FAKE_cuDeviceGetAttribute] = CUDA_ERROR_INVALID_VALUE;
    assert_fails(gm_device_query(0, &device), GM_ERROR_DRIVER, "CUDA_ERROR_INVALID_VALUE");
    ck_assert_int_eq(gm_last_cuda_result(), CUDA_ERROR_INVALID_VALUE);
    fake.result[FAKE_cuDeviceGetCount] = 999;
    assert_fails(gm_device_count(&count), GM_ERROR_DRIVER, "CUresult 999");
    ck_assert_int_eq(count, -5);
    ck_assert_int_eq(device.sm_count, 3);
}
END_TEST

Suite *device_suite(void) {
    Suite *suite = suite_create("device");
    TCase *models = tcase_create("models");
    tcase_add_test(models, models_are_found_whatever_the_case);
    tcase_add_test(models, models_have_the_architectures_shared_memory);
    tcase_add_test(models, bad_model_requests_write_nothing);
    suite_add_tcase(suite, models);
    TCase *queries = tcase_create("queries");
    tcase_add_checked_fixture(queries, fake_install, fake_remove);
    tcase_add_test(queries, a_query_reads_the_drivers_attributes);
    tcase_add_test(queries, a_driver_without_memory_clock_leaves_it_to_the_model);
    tcase_add_test(queries, geforce_accumulates_fp32_at_half_rate);
    tcase_add_test(queries, bad_queries_write_nothing);
    suite_add_tcase(suite, queries);
    return suite;
}
