/* SPDX-License-Identifier: Apache-2.0 */
/* Opening the driver: every way in which a libcuda can be missing, old, incomplete or unwilling. */
#include "host/driver_load.h"
#include "unit.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* A libcuda as dlsym and cuGetProcAddress show it. */
static struct {
    int has_v2, has_v1;
    int version;
    const char *missing; /* the one function it lacks */
    CUresult init;
    int asked_v1;  /* calls of the four-argument form */
    int wrong_abi; /* functions asked for above the driver's version */
} lib;

static CUresult lib_version(int *version) {
    *version = lib.version;
    return CUDA_SUCCESS;
}

static CUresult lib_init(unsigned flags) {
    (void)flags;
    return lib.init;
}

static CUresult lib_error_name(CUresult result, const char **name) {
    if (result != CUDA_ERROR_NO_DEVICE)
        return CUDA_ERROR_INVALID_VALUE;
    *name = "CUDA_ERROR_NO_DEVICE";
    return CUDA_SUCCESS;
}

static CUresult lib_other(void) {
    return CUDA_SUCCESS;
}

static CUresult get_v2(const char *name, void **address, int abi, uint64_t flags, int *found) {
    (void)flags;
    *address = NULL;
    *found = 1;
    if (abi > lib.version) {
        lib.wrong_abi++;
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (lib.missing && strcmp(name, lib.missing) == 0)
        return CUDA_SUCCESS;
    *found = 0;
    CUresult (*function)(void) = lib_other;
    memcpy(address, &function, sizeof function);
    if (strcmp(name, "cuDriverGetVersion") == 0)
        memcpy(address, &(CUresult(*[1])(int *)){lib_version}, sizeof *address);
    if (strcmp(name, "cuInit") == 0)
        memcpy(address, &(CUresult(*[1])(unsigned)){lib_init}, sizeof *address);
    if (strcmp(name, "cuGetErrorName") == 0)
        memcpy(address, &(CUresult(*[1])(CUresult, const char **)){lib_error_name}, sizeof *address);
    return CUDA_SUCCESS;
}

static CUresult get_v1(const char *name, void **address, int abi, uint64_t flags) {
    int found;
    lib.asked_v1++;
    return get_v2(name, address, abi, flags, &found);
}

static void *symbol(void *library, const char *name) {
    void *address = NULL;
    (void)library;
    if (lib.has_v2 && strcmp(name, "cuGetProcAddress_v2") == 0)
        memcpy(&address, &(CUresult(*[1])(const char *, void **, int, uint64_t, int *)){get_v2}, sizeof address);
    if (lib.has_v1 && strcmp(name, "cuGetProcAddress") == 0)
        memcpy(&address, &(CUresult(*[1])(const char *, void **, int, uint64_t)){get_v1}, sizeof address);
    return address;
}

static struct gm_driver_failure load(void) {
    struct gm_driver driver;
    return gm_driver_load(&driver, symbol, NULL);
}

static void good_lib(void) {
    memset(&lib, 0, sizeof lib);
    lib.has_v2 = lib.has_v1 = 1;
    lib.version = 13000;
}

START_TEST(a_good_driver_fills_every_function) {
    struct gm_driver driver;
    ck_assert_int_eq(gm_driver_load(&driver, symbol, NULL).status, GM_OK);
    ck_assert_int_eq(driver.version, 13000);
#define DRIVER(name, abi, need, params) ck_assert_msg(driver.name != NULL, #name);
#include "host/driver.def"
#undef DRIVER
    ck_assert_int_eq(lib.asked_v1, 0);
}
END_TEST

START_TEST(no_function_is_asked_for_above_cuda_12_0) {
    lib.version = 12000;
    ck_assert_int_eq(load().status, GM_OK);
    ck_assert_int_eq(lib.wrong_abi, 0);
}
END_TEST

START_TEST(the_four_argument_get_proc_address_serves_too) {
    lib.has_v2 = 0;
    ck_assert_int_eq(load().status, GM_OK);
    ck_assert_int_gt(lib.asked_v1, 10);
}
END_TEST

START_TEST(a_driver_without_get_proc_address_is_too_old) {
    lib.has_v1 = lib.has_v2 = 0;
    struct gm_driver_failure failure = load();
    ck_assert_int_eq(failure.status, GM_ERROR_NO_DRIVER);
    ck_assert_ptr_nonnull(strstr(failure.sentence, "12.0"));
}
END_TEST

START_TEST(a_driver_older_than_12_0_is_refused_with_both_versions) {
    lib.version = 11080;
    struct gm_driver_failure failure = load();
    ck_assert_int_eq(failure.status, GM_ERROR_NO_DRIVER);
    ck_assert_ptr_nonnull(strstr(failure.sentence, "CUDA 11.8"));
    ck_assert_ptr_nonnull(strstr(failure.sentence, "12.0"));
}
END_TEST

START_TEST(a_missing_core_function_is_named) {
    lib.missing = "cuLaunchKernelEx";
    struct gm_driver_failure failure = load();
    ck_assert_int_eq(failure.status, GM_ERROR_NO_DRIVER);
    ck_assert_ptr_nonnull(strstr(failure.sentence, "cuLaunchKernelEx"));
}
END_TEST

START_TEST(a_missing_tool_function_is_left_null) {
    struct gm_driver driver;
    lib.missing = "cuGraphLaunch";
    ck_assert_int_eq(gm_driver_load(&driver, symbol, NULL).status, GM_OK);
    ck_assert(driver.cuGraphLaunch == NULL);
}
END_TEST

START_TEST(a_driver_with_no_device_says_so) {
    lib.init = CUDA_ERROR_NO_DEVICE;
    struct gm_driver_failure failure = load();
    ck_assert_int_eq(failure.status, GM_ERROR_NO_DEVICE);
    ck_assert_int_eq(failure.result, CUDA_ERROR_NO_DEVICE);
    ck_assert_ptr_nonnull(strstr(failure.sentence, "CUDA_ERROR_NO_DEVICE"));
}
END_TEST

START_TEST(a_driver_that_does_not_start_gives_its_result) {
    lib.init = 802;
    struct gm_driver_failure failure = load();
    ck_assert_int_eq(failure.status, GM_ERROR_NO_DRIVER);
    ck_assert_int_eq(failure.result, 802);
    ck_assert_ptr_nonnull(strstr(failure.sentence, "CUresult 802"));
}
END_TEST

START_TEST(what_may_pass_is_tried_again) {
    static const CUresult pass[] = {CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_SYSTEM_NOT_READY};
    static const CUresult stay[] = {CUDA_SUCCESS, CUDA_ERROR_NO_DEVICE, 999};
    for (size_t i = 0; i < sizeof pass / sizeof *pass; i++) {
        lib.init = pass[i];
        ck_assert_int_eq(load().may_pass, 1);
    }
    for (size_t i = 0; i < sizeof stay / sizeof *stay; i++) {
        lib.init = stay[i];
        ck_assert_int_eq(load().may_pass, 0);
    }
    lib.version = 11080;
    ck_assert_int_eq(load().may_pass, 0);
}
END_TEST

START_TEST(gm_driver_says_which_library) {
    ck_assert_str_eq(gm_driver_file(NULL), "libcuda.so.1");
    ck_assert_str_eq(gm_driver_file(""), "libcuda.so.1");
    ck_assert_str_eq(gm_driver_file("cuda"), "libcuda.so.1");
    ck_assert_int_eq(strncmp(gm_driver_file("sim"), "libgristmill-sim.so.", 20), 0);
    ck_assert_int_eq(atoi(gm_driver_file("sim") + 20), GM_VERSION_MAJOR);
    ck_assert_str_eq(gm_driver_file("./libsome.so"), "./libsome.so");
    ck_assert_ptr_null(gm_driver_file("simulator"));
}
END_TEST

/* An open driver stays open; a process of its own is what a test has unless Check is told not to fork. */
static int process_is_shared(void) {
    const char *fork = getenv("CK_FORK");
    return fork && strcmp(fork, "no") == 0;
}

START_TEST(a_senseless_gm_driver_is_named) {
    int count;
    if (process_is_shared())
        return;
    setenv("GM_DRIVER", "abacus", 1);
    assert_fails(gm_device_count(&count), GM_ERROR_NO_DRIVER, "\"abacus\"");
    ck_assert_int_eq(gm_driver_fall_back(), 0);
    ck_assert_ptr_null(gm_driver_symbol("cuInit"));
}
END_TEST

START_TEST(a_missing_driver_file_is_named) {
    int count;
    if (process_is_shared())
        return;
    setenv("GM_DRIVER", "/nowhere/libabacus.so", 1);
    assert_fails(gm_device_count(&count), GM_ERROR_NO_DRIVER, "/nowhere/libabacus.so");
    ck_assert_int_eq(gm_driver_fall_back(), 0);
    setenv("GM_DRIVER", "/elsewhere/libabacus.so", 1); /* it may be there the next time */
    assert_fails(gm_device_count(&count), GM_ERROR_NO_DRIVER, "/elsewhere/libabacus.so");
}
END_TEST

static int machine_has_libcuda(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library)
        dlclose(library);
    return library != NULL;
}

/* With a driver installed these have nothing to show. */
START_TEST(without_libcuda_every_driver_call_is_a_status) {
    if (machine_has_libcuda())
        return;
    int count = 77;
    struct gm_device device = {.size = sizeof device, .sm_count = 5};
    gm_context *context = NULL;
    for (int again = 0; again < 2; again++) {
        assert_fails(gm_device_count(&count), GM_ERROR_NO_DRIVER, "libcuda.so.1");
        assert_fails(gm_device_query(0, &device), GM_ERROR_NO_DRIVER, "libcuda.so.1");
        assert_fails(gm_context_create(0, &context), GM_ERROR_NO_DRIVER, "libcuda.so.1");
    }
    ck_assert_int_eq(count, 77);
    ck_assert_int_eq(device.sm_count, 5);
    ck_assert_ptr_null(context);
    ck_assert_int_eq(gm_last_cuda_result(), 0);
    ck_assert_str_eq(gm_driver_error_name(700), "CUresult 700");
}
END_TEST

Suite *driver_suite(void) {
    Suite *suite = suite_create("driver");
    TCase *cases = tcase_create("loading");
    tcase_add_checked_fixture(cases, good_lib, NULL);
    tcase_add_test(cases, a_good_driver_fills_every_function);
    tcase_add_test(cases, no_function_is_asked_for_above_cuda_12_0);
    tcase_add_test(cases, the_four_argument_get_proc_address_serves_too);
    tcase_add_test(cases, a_driver_without_get_proc_address_is_too_old);
    tcase_add_test(cases, a_driver_older_than_12_0_is_refused_with_both_versions);
    tcase_add_test(cases, a_missing_core_function_is_named);
    tcase_add_test(cases, a_missing_tool_function_is_left_null);
    tcase_add_test(cases, a_driver_with_no_device_says_so);
    tcase_add_test(cases, a_driver_that_does_not_start_gives_its_result);
    tcase_add_test(cases, what_may_pass_is_tried_again);
    tcase_add_test(cases, gm_driver_says_which_library);
    tcase_add_test(cases, a_senseless_gm_driver_is_named);
    tcase_add_test(cases, a_missing_driver_file_is_named);
    tcase_add_test(cases, without_libcuda_every_driver_call_is_a_status);
    suite_add_tcase(suite, cases);
    return suite;
}
