/* SPDX-License-Identifier: Apache-2.0 */
/* torch as a baseline, beside a torch that is not there (tests/fake_torch). */
#include "bench_tests.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/baseline/torch.h"
#include "bench/operation.h"
#include "gristmill/permute.h"
#include "gristmill/reduce.h"
#include "gristmill/rms_norm.h"
#include "gristmill/softmax.h"
#include "tests/fake_torch/fake_torch.h"

static int capture_status;

static CUresult is_capturing(CUstream stream, int *status) {
    (void)stream;
    *status = capture_status;
    return CUDA_SUCCESS;
}

static CUresult copy(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    (void)stream;
    memcpy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
    return CUDA_SUCCESS;
}

static const struct gm_driver driver = {.cuStreamIsCapturing = is_capturing, .cuMemcpyDtoDAsync = copy};
static const struct gpu gpu = {.drv = &driver, .device = {.l2_bytes = 64}};

static const struct baseline_kind *kind(void) {
    return bench_operation_named("rms_norm")->baselines[0];
}

static struct fake_torch *fake_torch(void) {
    void *library = dlopen(FAKE_TORCH "/libtorch_cuda.so", RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(library != NULL, "%s", dlerror());
    return dlsym(library, "fake_torch");
}

static const struct gm_rms_norm_problem problem = {
    .size = sizeof problem, .rows = 2, .columns = 8, .type = GM_BF16, .eps = 0.5f};

START_TEST(a_folder_without_torch_is_told) {
    struct baseline baseline = {.kind = kind()};
    ck_assert_int_eq(torch_open(&baseline, &gpu, "no/such/folder"), -1);
    torch_close(&baseline, &gpu);
    ck_assert_ptr_null(baseline.state);
}
END_TEST

START_TEST(an_old_torch_is_told) {
    struct baseline baseline = {.kind = kind()};
    char folder[] = "bench-tests-old-torch.XXXXXX", path[64];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/libtorch_cuda.so", folder);
    ck_assert_int_eq(symlink(FAKE_TORCH "/libold_torch_cuda.so", path), 0);
    ck_assert_int_eq(torch_open(&baseline, &gpu, folder), -1);
    torch_close(&baseline, &gpu);
    unlink(path);
    rmdir(folder);
}
END_TEST

/* The problems that its operator does not compute. */
START_TEST(what_torch_lacks_is_not_prepared) {
    struct gm_rms_norm_problem wide = problem, residual = problem, offset = problem;
    const struct baseline baseline = {.kind = kind()};
    int ways = 0;
    wide.fp32_weight = 1;
    residual.residual = 1;
    offset.weight_offset = 1;
    ck_assert_ptr_null(kind()->prepare(&baseline, &wide, &ways));
    ck_assert_ptr_null(kind()->prepare(&baseline, &residual, &ways));
    ck_assert_ptr_null(kind()->prepare(&baseline, &offset, &ways));
    void *prepared = kind()->prepare(&baseline, &problem, &ways);
    ck_assert_ptr_nonnull(prepared);
    ck_assert_int_eq(ways, 1);
    kind()->forget(&baseline, prepared);
}
END_TEST

START_TEST(an_operator_has_its_arguments) {
    struct baseline baseline = {.kind = kind()};
    struct fake_torch *seen = fake_torch();
    unsigned char out[32] = {0};
    int ways = 0;
    const struct gm_rms_norm_args args = {
        .size = sizeof args, .x = 0x1000, .weight = 0x2000, .out = (gm_device_ptr)(uintptr_t)out};
    ck_assert_int_eq(torch_open(&baseline, &gpu, FAKE_TORCH), 0);
    void *prepared = kind()->prepare(&baseline, &problem, &ways);
    ck_assert_int_eq(kind()->run(&baseline, prepared, 0, &args, (CUstream)0x30), 0);
    ck_assert_str_eq(seen->name, "aten::_fused_rms_norm");
    ck_assert(seen->x[0] == 2 && seen->x[1] == 8 && seen->shape[0] == 8 && seen->dtype == FAKE_BFLOAT16);
    ck_assert(seen->x_address == 0x1000 && seen->weight_address == 0x2000 && seen->eps == 0.5);
    ck_assert_ptr_eq(seen->stream, (void *)0x30);
    ck_assert_mem_eq(out, seen->result, sizeof out);

    memset(out, 0, sizeof out); /* a captured call is the operator alone */
    capture_status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    ck_assert_int_eq(kind()->run(&baseline, prepared, 0, &args, (CUstream)0x30), 0);
    capture_status = CU_STREAM_CAPTURE_STATUS_NONE;
    ck_assert_int_eq(out[0], 0);

    seen->refuses = 1;
    ck_assert_int_ne(kind()->run(&baseline, prepared, 0, &args, (CUstream)0x30), 0);
    seen->refuses = 0;
    for (int i = 0; i < 20; i++) /* 3 times L2 is 7 results of 32 bytes, which stay */
        ck_assert_int_eq(kind()->run(&baseline, prepared, 0, &args, (CUstream)0x30), 0);
    ck_assert_int_eq(seen->tensors, 7);
    kind()->forget(&baseline, prepared);
    torch_close(&baseline, &gpu);
    ck_assert(seen->tensors == 0 && seen->guards == 0);
}
END_TEST

/* x.permute(1, 0).contiguous() is a clone of a strided tensor; with a cast it is a copy to a type. */
START_TEST(a_permutation_is_a_copy_of_a_strided_tensor) {
    const struct baseline_kind *permute = bench_operation_named("permute")->baselines[0];
    struct baseline baseline = {.kind = permute};
    struct gm_permute_problem p = {.size = sizeof p, .rank = 2, .extents = {2, 8}, .order = {1, 0}};
    struct fake_torch *seen = fake_torch();
    unsigned char out[64] = {0};
    int ways = 0;
    const struct gm_permute_args args = {.size = sizeof args, .x = 0x1000, .out = (gm_device_ptr)(uintptr_t)out};
    ck_assert_int_eq(torch_open(&baseline, &gpu, FAKE_TORCH), 0);
    void *prepared = permute->prepare(&baseline, &p, &ways);
    ck_assert_int_eq(permute->run(&baseline, prepared, 0, &args, (CUstream)0x30), 0);
    ck_assert_str_eq(seen->name, "aten::clone");
    ck_assert(seen->x[0] == 8 && seen->x[1] == 2 && seen->strides[0] == 1 && seen->strides[1] == 8);
    ck_assert(seen->x_address == 0x1000 && seen->dtype == FAKE_BFLOAT16 && seen->memory_format == FAKE_CONTIGUOUS);
    ck_assert_mem_eq(out, seen->result, 32);
    permute->forget(&baseline, prepared);

    p.out_type = GM_FP32;
    prepared = permute->prepare(&baseline, &p, &ways);
    ck_assert_int_eq(permute->run(&baseline, prepared, 0, &args, (CUstream)0x30), 0);
    ck_assert_str_eq(seen->name, "aten::_to_copy");
    ck_assert(seen->dtype == FAKE_BFLOAT16 && seen->to_dtype == FAKE_FLOAT32 && seen->memory_format == FAKE_CONTIGUOUS);
    permute->forget(&baseline, prepared);

    p.type = p.out_type = GM_E4M3; /* torch_strided() has no code for it */
    ck_assert_ptr_null(permute->prepare(&baseline, &p, &ways));
    torch_close(&baseline, &gpu);
    ck_assert(seen->tensors == 0 && seen->guards == 0);
}
END_TEST

START_TEST(an_overload_stands_behind_a_dot) {
    const struct baseline_kind *kind = bench_operation_named("reduce")->baselines[0];
    const struct gm_reduce_problem sums = {.size = sizeof sums, .rows = 2, .columns = 8, .along = GM_REDUCE_COLUMNS};
    struct baseline baseline = {.kind = kind};
    struct fake_torch *seen = fake_torch();
    unsigned char out[4] = {0};
    int ways = 0;
    const struct gm_reduce_args args = {.size = sizeof args, .x = 0x1000, .out = (gm_device_ptr)(uintptr_t)out};
    ck_assert_int_eq(torch_open(&baseline, &gpu, FAKE_TORCH), 0);
    void *prepared = kind->prepare(&baseline, &sums, &ways);
    ck_assert_int_eq(kind->run(&baseline, prepared, 0, &args, (CUstream)0x30), 0);
    ck_assert_str_eq(seen->name, "aten::sum");
    ck_assert_str_eq(seen->overload, "dim_IntList");
    ck_assert(seen->x[0] == 2 && seen->x[1] == 8 && seen->shape[0] == 1);
    ck_assert_mem_eq(out, seen->result, sizeof out);
    kind->forget(&baseline, prepared);
    torch_close(&baseline, &gpu);
    ck_assert(seen->tensors == 0 && seen->guards == 0);
}
END_TEST

START_TEST(numbers_and_truths_are_arguments) {
    const struct baseline_kind *softmax = bench_operation_named("softmax")->baselines[0];
    struct baseline baseline = {.kind = softmax};
    struct fake_torch *seen = fake_torch();
    struct gm_softmax_problem p = {.size = sizeof p, .rows = 2, .columns = 4, .type = GM_FP16, .fp32_out = 1, .log = 1};
    unsigned char out[32] = {0};
    int ways = 0;
    const struct gm_softmax_args args = {.size = sizeof args, .x = 0x1000, .out = (gm_device_ptr)(uintptr_t)out};
    ck_assert_int_eq(torch_open(&baseline, &gpu, FAKE_TORCH), 0);
    void *prepared = softmax->prepare(&baseline, &p, &ways);
    ck_assert_int_eq(softmax->run(&baseline, prepared, 0, &args, (CUstream)0x30), 0);
    ck_assert_str_eq(seen->name, "aten::_log_softmax");
    ck_assert(seen->x[0] == 2 && seen->x[1] == 4 && seen->dtype == FAKE_FLOAT16 && seen->x_address == 0x1000);
    ck_assert(seen->dim == 1 && seen->half_to_float == 1);
    ck_assert_mem_eq(out, seen->result, sizeof out);
    softmax->forget(&baseline, prepared);

    p.log = 0, p.fp32_out = 0, p.type = GM_BF16;
    prepared = softmax->prepare(&baseline, &p, &ways);
    ck_assert_int_eq(softmax->run(&baseline, prepared, 0, &args, (CUstream)0x30), 0);
    ck_assert_str_eq(seen->name, "aten::_softmax");
    ck_assert(seen->half_to_float == 0);
    softmax->forget(&baseline, prepared);

    p.fp32_out = 1; /* of fp16 alone */
    ck_assert_ptr_null(softmax->prepare(&baseline, &p, &ways));
    p.fp32_out = 0, p.cap = 30;
    ck_assert_ptr_null(softmax->prepare(&baseline, &p, &ways));
    torch_close(&baseline, &gpu);
    ck_assert(seen->tensors == 0 && seen->guards == 0);
}
END_TEST

TCase *torch_tests(void) {
    TCase *tests = tcase_create("torch");
    tcase_add_test(tests, a_folder_without_torch_is_told);
    tcase_add_test(tests, an_old_torch_is_told);
    tcase_add_test(tests, what_torch_lacks_is_not_prepared);
    tcase_add_test(tests, an_operator_has_its_arguments);
    tcase_add_test(tests, a_permutation_is_a_copy_of_a_strided_tensor);
    tcase_add_test(tests, an_overload_stands_behind_a_dot);
    tcase_add_test(tests, numbers_and_truths_are_arguments);
    return tests;
}
