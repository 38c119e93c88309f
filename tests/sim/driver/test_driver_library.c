/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries, kernels, functions and modules of the simulated driver. */
#include "driver_kit.h"
#include "sim_tests.h"

#include <stdlib.h>
#include <string.h>

#include "sim/machine/devices.h"

/* The generated table of this build's kernels. */
#define KERNEL(name, family, arch, state, type, targets, words, columns) #name,
static const char *const rows[] = {
#include "kernels.def"
};
#undef KERNEL

static const unsigned char fatbin[] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0};
static const unsigned char elf[] = {0x7f, 'E', 'L', 'F', 2, 1, 1, 0};

static CUresult load(CUlibrary *library, const void *image) {
    return cuLibraryLoadData(library, image, NULL, NULL, 0, NULL, NULL, 0);
}

/* ---- loading ---------------------------------------------------------------------------------------------------- */

START_TEST(text_loads_and_has_its_kernels) {
    CUlibrary library = kit_library(kit_ptx);
    CUkernel kernel, again;
    CUfunction function, same;
    kit_ok(cuLibraryGetKernel(&kernel, library, "fill"));
    kit_ok(cuLibraryGetKernel(&again, library, "fill"));
    ck_assert_ptr_eq(kernel, again);
    kit_ok(cuKernelGetFunction(&function, kernel));
    kit_ok(cuKernelGetFunction(&same, kernel));
    ck_assert_ptr_eq(function, same);
    kit_gives(cuLibraryGetKernel(&kernel, library, "fil"), CUDA_ERROR_NOT_FOUND);
    kit_gives(cuLibraryGetKernel(&kernel, library, rows[0]), CUDA_ERROR_NOT_FOUND);
    kit_ok(cuLibraryUnload(library));
    kit_gives(cuLibraryUnload(library), CUDA_ERROR_INVALID_HANDLE);
    kit_gives(cuKernelGetFunction(&function, again), CUDA_ERROR_INVALID_HANDLE);
}
END_TEST

START_TEST(what_is_no_image_is_refused) {
    static const unsigned char noise[] = {0xff, 0xfe, 0xfd, 0xfc, 0};
    CUlibrary library = NULL;
    int option = CU_LIBRARY_BINARY_IS_PRESERVED;
    void *value = NULL;
    kit_gives(load(&library, noise), CUDA_ERROR_INVALID_IMAGE);
    kit_gives(load(&library, "no PTX at all"), CUDA_ERROR_INVALID_PTX);
    kit_gives(load(&library, " "), CUDA_ERROR_INVALID_PTX);
    kit_gives(load(&library, NULL), CUDA_ERROR_INVALID_VALUE);
    kit_gives(load(NULL, kit_ptx), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuLibraryLoadData(&library, kit_ptx, NULL, NULL, 1, NULL, NULL, 0), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuLibraryLoadData(&library, kit_ptx, NULL, NULL, 0, &option, NULL, 1), CUDA_ERROR_INVALID_VALUE);
    ck_assert_ptr_null(library);
    kit_ok(cuLibraryLoadData(&library, kit_ptx, NULL, NULL, 0, &option, &value, 1));
    kit_ok(cuLibraryUnload(library));
    kit_gives(cuLibraryUnload(NULL), CUDA_ERROR_INVALID_HANDLE);
    kit_gives(cuLibraryUnload(KIT_GARBAGE), CUDA_ERROR_INVALID_HANDLE);
}
END_TEST

START_TEST(machine_code_finds_its_kernels_by_name) {
    CUlibrary library;
    CUkernel kernel;
    kit_ok(load(&library, _i ? elf : fatbin));
    kit_ok(cuLibraryGetKernel(&kernel, library, rows[0]));
    kit_gives(cuLibraryGetKernel(&kernel, library, "fill"), CUDA_ERROR_NOT_FOUND);
    kit_gives(cuLibraryGetKernel(NULL, library, rows[0]), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuLibraryGetKernel(&kernel, library, NULL), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuLibraryGetKernel(&kernel, KIT_GARBAGE, rows[0]), CUDA_ERROR_INVALID_HANDLE);
    kit_ok(cuLibraryUnload(library));
}
END_TEST

START_TEST(every_row_of_the_build_is_in_the_table) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t bytes = 0;
        char *text = NULL;
        kit_ok(sim_table_ptx(rows[i], &text, &bytes));
        ck_assert_msg(strstr(text, rows[i]) != NULL && strlen(text) == bytes, "%s", rows[i]);
        ck_assert_msg(sim_table_registers(rows[i]) > 16, "%s", rows[i]);
        free(text);
    }
    ck_assert_int_eq(sim_table_registers("fill"), 0);
}
END_TEST

START_TEST(code_for_another_architecture_does_not_run_here) {
    CUlibrary library;
    CUkernel kernel;
    size_t i = 0;
    if (kit_shares_process())
        return;
    setenv("GM_SIM_DEVICE", _i ? "rtx4090" : "a100", 1);
    gm_sim_set_reports("quiet");
    kit_ok(cuInit(0));
    kit_gives(load(&library, kit_ptx_90a), CUDA_ERROR_NO_BINARY_FOR_GPU);
    kit_ok(load(&library, kit_ptx));
    kit_ok(cuLibraryUnload(library));
    kit_ok(load(&library, fatbin));
    while (i < sizeof rows / sizeof *rows && !strstr(rows[i], "sm90"))
        i++;
    if (i < sizeof rows / sizeof *rows)
        kit_gives(cuLibraryGetKernel(&kernel, library, rows[i]), CUDA_ERROR_NO_BINARY_FOR_GPU);
    kit_ok(cuLibraryUnload(library));
}
END_TEST

/* ---- functions ------------------------------------------------------------------------------------------------- */

static int attribute(CUfunction function, int id) {
    int value = -1;
    kit_ok(cuFuncGetAttribute(&value, id, function));
    return value;
}

START_TEST(functions_have_attributes) {
    CUlibrary library = kit_library(kit_ptx);
    CUfunction bounded = kit_function(library, "bounded"), fill = kit_function(library, "fill");
    int value;
    ck_assert_int_eq(attribute(bounded, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 64);
    ck_assert_int_eq(attribute(fill, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 1024);
    ck_assert_int_eq(attribute(bounded, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES), 1024);
    ck_assert_int_eq(attribute(bounded, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES), 0);
    ck_assert_int_eq(attribute(bounded, CU_FUNC_ATTRIBUTE_PTX_VERSION), 80);
    ck_assert_int_eq(attribute(bounded, CU_FUNC_ATTRIBUTE_BINARY_VERSION), 90);
    ck_assert_int_eq(attribute(bounded, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES), 48 * 1024 - 1024);
    ck_assert_int_ge(attribute(fill, CU_FUNC_ATTRIBUTE_NUM_REGS), 16);
    kit_ok(cuFuncSetAttribute(bounded, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 231424));
    ck_assert_int_eq(attribute(bounded, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES), 231424);
    kit_gives(cuFuncSetAttribute(bounded, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 231425),
              CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuFuncSetAttribute(bounded, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, -1),
              CUDA_ERROR_INVALID_VALUE);
    kit_ok(cuFuncSetAttribute(fill, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 100));
    kit_gives(cuFuncSetAttribute(fill, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 101),
              CUDA_ERROR_INVALID_VALUE);
    kit_ok(cuFuncSetAttribute(fill, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
    ck_assert_int_eq(attribute(fill, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED), 1);
    kit_ok(cuFuncSetAttribute(fill, CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, 1));
    kit_gives(cuFuncSetAttribute(fill, CU_FUNC_ATTRIBUTE_NUM_REGS, 32), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuFuncSetAttribute(KIT_GARBAGE, CU_FUNC_ATTRIBUTE_NUM_REGS, 32), CUDA_ERROR_INVALID_HANDLE);
    kit_gives(cuFuncGetAttribute(&value, 99, fill), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuFuncGetAttribute(&value, -1, fill), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuFuncGetAttribute(NULL, 0, fill), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuFuncGetAttribute(&value, 0, KIT_GARBAGE), CUDA_ERROR_INVALID_HANDLE);
    kit_ok(cuLibraryUnload(library));
}
END_TEST

START_TEST(functions_tell_their_parameters) {
    CUlibrary library = kit_library(kit_ptx);
    CUfunction wide = kit_function(library, "wide");
    static const size_t offsets[] = {0, 8, 16}, sizes[] = {8, 1, 24};
    size_t offset, bytes;
    for (size_t i = 0; i < 3; i++) {
        kit_ok(cuFuncGetParamInfo(wide, i, &offset, &bytes));
        ck_assert_uint_eq(offset, offsets[i]);
        ck_assert_uint_eq(bytes, sizes[i]);
    }
    kit_ok(cuFuncGetParamInfo(wide, 0, &offset, NULL));
    kit_gives(cuFuncGetParamInfo(wide, 3, &offset, &bytes), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuFuncGetParamInfo(wide, 0, NULL, &bytes), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuFuncGetParamInfo(KIT_GARBAGE, 0, &offset, &bytes), CUDA_ERROR_INVALID_HANDLE);
    kit_ok(cuLibraryUnload(library));
}
END_TEST

START_TEST(a_function_needs_a_context) {
    CUlibrary library = kit_library(kit_ptx);
    CUkernel kernel;
    CUfunction function;
    kit_ok(cuLibraryGetKernel(&kernel, library, "fill"));
    kit_gives(cuKernelGetFunction(NULL, kernel), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuKernelGetFunction(&function, NULL), CUDA_ERROR_INVALID_HANDLE);
    kit_ok(cuCtxSetCurrent(NULL));
    kit_gives(cuKernelGetFunction(&function, kernel), CUDA_ERROR_INVALID_CONTEXT);
    kit_ok(cuCtxSetCurrent(kit_context()));
    int value;
    kit_ok(cuFuncGetAttribute(&value, 0, (CUfunction)(void *)kernel)); /* a kernel serves as its function */
    kit_ok(cuLibraryUnload(library));
}
END_TEST

/* A library outlives a context; what it had there does not. */
START_TEST(a_context_that_ends_takes_its_functions_along) {
    CUlibrary library = kit_library(kit_ptx);
    CUfunction function = kit_function(library, "fill");
    CUcontext context;
    int value;
    kit_ok(cuDevicePrimaryCtxRelease(0));
    kit_ok(cuDevicePrimaryCtxRetain(&context, 0));
    kit_gives(cuFuncGetAttribute(&value, 0, function), CUDA_ERROR_INVALID_HANDLE);
    function = kit_function(library, "fill");
    kit_ok(cuFuncGetAttribute(&value, 0, function));
    kit_ok(cuLibraryUnload(library));
}
END_TEST

/* ---- modules and variables ------------------------------------------------------------------------------------- */

START_TEST(a_module_is_a_library_of_one_context) {
    CUmodule module;
    CUfunction function;
    kit_ok(cuModuleLoadData(&module, kit_ptx));
    kit_ok(cuModuleGetFunction(&function, module, "fill"));
    kit_gives(cuModuleGetFunction(&function, module, "fills"), CUDA_ERROR_NOT_FOUND);
    kit_gives(cuModuleGetFunction(NULL, module, "fill"), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuModuleGetFunction(&function, module, NULL), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuModuleGetFunction(&function, KIT_GARBAGE, "fill"), CUDA_ERROR_INVALID_HANDLE);
    kit_ok(cuModuleUnload(module));
    kit_gives(cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
    kit_gives(cuModuleLoadData(NULL, kit_ptx), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuModuleLoadData(&module, NULL), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuModuleLoadData(&module, "nonsense"), CUDA_ERROR_INVALID_PTX);
    kit_gives(cuModuleLoadDataEx(&module, kit_ptx, 1, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    kit_ok(cuModuleLoadDataEx(&module, kit_ptx, 0, NULL, NULL)); /* ends with the context */
}
END_TEST

START_TEST(variables_have_addresses_and_values) {
    CUlibrary library = kit_library(kit_ptx);
    CUmodule module;
    CUdeviceptr cell = 0, table = 0, other = 0;
    size_t bytes = 0;
    kit_ok(cuLibraryGetGlobal(&cell, &bytes, library, "cell"));
    ck_assert_uint_eq(bytes, 4);
    ck_assert_uint_eq(kit_word(cell), 77);
    kit_ok(cuLibraryGetGlobal(&table, NULL, library, "table"));
    ck_assert_uint_eq(kit_word(table + 4), 6);
    kit_gives(cuLibraryGetGlobal(&cell, &bytes, library, "sell"), CUDA_ERROR_NOT_FOUND);
    kit_gives(cuLibraryGetGlobal(NULL, NULL, library, "cell"), CUDA_ERROR_INVALID_VALUE);
    kit_gives(cuLibraryGetGlobal(&cell, &bytes, KIT_GARBAGE, "cell"), CUDA_ERROR_INVALID_HANDLE);
    kit_ok(cuModuleLoadData(&module, kit_ptx));
    kit_ok(cuModuleGetGlobal(&other, &bytes, module, "cell"));
    ck_assert_uint_ne(other, cell);
    kit_gives(cuModuleGetGlobal(&other, &bytes, KIT_GARBAGE, "cell"), CUDA_ERROR_INVALID_HANDLE);
    kit_ok(cuModuleUnload(module));
    kit_ok(cuLibraryUnload(library));
    kit_gives(cuMemFree(cell), CUDA_ERROR_INVALID_VALUE); /* it went with the library */
}
END_TEST

Suite *driver_library_suite(void) {
    Suite *suite = suite_create("driver libraries");
    TCase *cases = tcase_create("libraries");
    tcase_add_checked_fixture(cases, kit_start, kit_stop);
    tcase_add_test(cases, text_loads_and_has_its_kernels);
    tcase_add_test(cases, what_is_no_image_is_refused);
    tcase_add_loop_test(cases, machine_code_finds_its_kernels_by_name, 0, 2);
    tcase_add_test(cases, every_row_of_the_build_is_in_the_table);
    tcase_add_test(cases, functions_have_attributes);
    tcase_add_test(cases, functions_tell_their_parameters);
    tcase_add_test(cases, a_function_needs_a_context);
    tcase_add_test(cases, a_context_that_ends_takes_its_functions_along);
    tcase_add_test(cases, a_module_is_a_library_of_one_context);
    tcase_add_test(cases, variables_have_addresses_and_values);
    suite_add_tcase(suite, cases);
    TCase *own = tcase_create("own start");
    tcase_add_loop_test(own, code_for_another_architecture_does_not_run_here, 0, 2);
    suite_add_tcase(suite, own);
    return suite;
}
