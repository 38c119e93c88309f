/* SPDX-License-Identifier: Apache-2.0 */
/* The operators as PyTorch calls them, by a fake libtorch, on the simulated GPU: what they compute is tested elsewhere
 * (torch_test.py, tvm_ffi_test.py); here it is what is registered, what is freed, and what is refused. */
#include "bindings/tensors/plans.h"
#include "bindings/tensors/torch.h"
#include "tests/fake_libtorch/fake_libtorch.h"

#include <check.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { BF16 = 100, FP32 = 102, E4M3 = 103, INT8 = 105, INT32 = 107 }; /* of the fake */

static struct fake_libtorch *torch;
static int (*device_alloc)(uint64_t *address, size_t bytes);
static int (*device_write)(uint64_t address, const void *data, size_t bytes);
static int (*device_read)(void *data, uint64_t address, size_t bytes);
static bool no_memory;

/* ---- a process with PyTorch in it ----------------------------------------------------------------------- */

static void *driver_function(const char *name) {
    void *function = dlsym(dlopen("libgristmill-sim.so.0", RTLD_NOW | RTLD_NOLOAD), name);
    ck_assert_msg(function != NULL, "the simulator has no %s", name);
    return function;
}

static uint64_t allocate(uint64_t bytes) {
    uint64_t address = 0;
    return no_memory || device_alloc(&address, bytes) ? 0 : address;
}

static void open_device(void) {
    gm_context *context;
    void *driver_context;
    int (*retain)(void **, int), (*set)(void *);
    ck_assert_int_eq(gm_context_create(0, &context), GM_OK);
    *(void **)&retain = driver_function("cuDevicePrimaryCtxRetain");
    *(void **)&set = driver_function("cuCtxSetCurrent");
    *(void **)&device_alloc = driver_function("cuMemAlloc_v2");
    *(void **)&device_write = driver_function("cuMemcpyHtoD_v2");
    *(void **)&device_read = driver_function("cuMemcpyDtoH_v2");
    ck_assert(retain(&driver_context, 0) == 0 && set(driver_context) == 0);
    gm_context_destroy(context);
}

static void load_torch(void) {
    ck_assert_str_eq(gm_torch_register(), "PyTorch is not loaded: import torch first");
    void *library = dlopen(FAKE_LIBTORCH "/libtorch_cpu.so", RTLD_NOW);
    ck_assert(library != NULL);
    ck_assert_str_eq(gm_torch_register(), "this PyTorch has no CUDA: libtorch_cuda.so is not loaded");
    ck_assert(dlopen(FAKE_LIBTORCH "/libtorch_cuda.so", RTLD_NOW) != NULL);
    ck_assert_str_eq(gm_torch_register(), "");
    ck_assert_str_eq(gm_torch_register(), ""); /* once */
    torch = dlsym(library, "fake_libtorch");
    ck_assert(torch != NULL);
    torch->allocate = allocate;
}

static void set_up(void) {
    setenv("GM_DRIVER", "sim", 0);
    open_device();
    load_torch();
    no_memory = false;
}

/* ---- calls ---------------------------------------------------------------------------------------------- */

static struct fake_tensor *new_tensor(int32_t type, int rank, const int64_t *sizes) {
    struct fake_tensor *made = calloc(1, sizeof *made);
    *made = (struct fake_tensor){.rank = rank, .type = type};
    int64_t elements = 1;
    for (int i = rank - 1; i >= 0; i--) {
        made->sizes[i] = sizes[i];
        made->strides[i] = elements;
        elements *= sizes[i];
    }
    made->data = elements ? allocate((uint64_t)elements * 4) : 0;
    void *zeros = calloc((size_t)elements + 1, 4);
    device_write(made->data, zeros, (size_t)elements * 4);
    free(zeros);
    torch->tensors++;
    return made;
}
#define NEW(type, ...)                                                                                                 \
    new_tensor(type, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (const int64_t[]){__VA_ARGS__})

/* What may be None comes on the heap: a tensor, or a type's number. */
static uint64_t maybe_value(uint64_t given) {
    uint64_t *value = malloc(sizeof *value);
    *value = given;
    return (uint64_t)(uintptr_t)value;
}
static uint64_t maybe(struct fake_tensor *tensor) {
    return maybe_value((uint64_t)(uintptr_t)tensor);
}

static uint64_t real(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t string(const char *text) {
    torch->strings++;
    return (uint64_t)(uintptr_t)strdup(text);
}

#define T(tensor) (uint64_t)(uintptr_t)(tensor)

typedef void (*boxed)(uint64_t *stack, uint64_t inputs, uint64_t outputs);

static boxed operator_named(const char *name) {
    int number = 0;
    while (number < torch->functions && strcmp(torch->operators[number].name, name) != 0) {
        number++;
    }
    ck_assert_msg(number < torch->functions, "there is no operator %s", name);
    return torch->operators[number].function;
}

/* Nothing here changes between setjmp and the jump. */
static void call_or_throw(const boxed function, uint64_t *const stack, const uint64_t inputs, const uint64_t outputs) {
    if (setjmp(torch->thrown) == 0) {
        function(stack, inputs, outputs);
    }
}

/* The sentence that it throws, or "". */
static const char *call(const char *name, uint64_t *stack, uint64_t inputs, uint64_t outputs) {
    torch->message[0] = '\0';
    call_or_throw(operator_named(name), stack, inputs, outputs);
    return torch->message;
}

static uint16_t bf16(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (uint16_t)(bits >> 16);
}

/* The result of a call, which is the caller's. */
static struct fake_tensor result(const uint64_t *stack) {
    struct fake_tensor *tensor = (struct fake_tensor *)(uintptr_t)stack[0], copy = *tensor;
    free(tensor);
    torch->tensors--;
    return copy;
}

/* ---- tests ---------------------------------------------------------------------------------------------- */

START_TEST(registers_operators_and_their_out_variants) {
    ck_assert_int_eq(torch->schemas, torch->functions);
    ck_assert_uint_eq(torch->version >> 48, 2 << 8 | 10);
    ck_assert_str_eq(torch->operators[0].schema, tensor_operation(0)->schema);
    ck_assert_str_eq(torch->operators[1].name, "linear_out");
    ck_assert(strstr(torch->operators[1].schema, "linear_out(Tensor(z!) out, Tensor x, Tensor weight") ==
              torch->operators[1].schema);
    ck_assert(strstr(torch->operators[1].schema, ") -> ()") != NULL);
    bool two = false;
    for (int i = 0; i < torch->schemas; i++) {
        two |=
            strstr(torch->operators[i].schema, "attention_lse_out(Tensor(z!) out, Tensor(y!) out2, Tensor q") != NULL;
    }
    ck_assert(two);
}
END_TEST

START_TEST(computes_and_frees_what_it_was_given) {
    const uint16_t ones[64] = {[0 ... 63] = 0x3f80};
    uint16_t got[64];
    struct fake_tensor *x = NEW(BF16, 4, 16), *weight = NEW(BF16, 16);
    device_write(x->data, ones, 128);
    device_write(weight->data, ones, 32);
    uint64_t stack[] = {T(x), T(weight), real(0), real(0), 0};
    ck_assert_str_eq(call("rms_norm", stack, 5, 1), "");
    ck_assert_int_eq(torch->tensors, 1);
    const struct fake_tensor out = result(stack);
    ck_assert(out.rank == 2 && out.sizes[0] == 4 && out.sizes[1] == 16 && out.strides[0] == 16 && out.type == BF16);
    device_read(got, out.data, 128);
    ck_assert(memcmp(got, ones, 128) == 0);
}
END_TEST

START_TEST(writes_to_a_tensor_that_is_there) {
    const uint16_t ones[64] = {[0 ... 63] = 0x3f80};
    uint16_t got[64];
    struct fake_tensor *out = NEW(BF16, 4, 4), *x = NEW(BF16, 4, 16), *weight = NEW(BF16, 4, 16), *bias = NEW(BF16, 4);
    uint64_t address = out->data;
    device_write(x->data, ones, 128);
    device_write(weight->data, ones, 128);
    device_write(bias->data, ones, 8);
    uint64_t stack[] = {T(out), T(x), T(weight), maybe(bias), 0, string("relu"), 0, 0, 1, string("fp32")};
    ck_assert_str_eq(call("linear_out", stack, 10, 0), "");
    ck_assert_int_eq(torch->tensors, 0);
    ck_assert_int_eq(torch->strings, 0);
    device_read(got, address, 32);
    for (int i = 0; i < 16; i++) {
        ck_assert_uint_eq(got[i], bf16(17));
    }
}
END_TEST

/* Ones in groups of 128 become 448 with scales of 1 / 448, and products of them 1 again. */
START_TEST(quantizes_and_multiplies) {
    uint16_t ones[4 * 256], got[16];
    for (int i = 0; i < 4 * 256; i++) {
        ones[i] = 0x3f80;
    }
    struct fake_tensor *x = NEW(BF16, 4, 256);
    device_write(x->data, ones, sizeof ones);
    uint64_t stack[] = {T(x), string("group"), maybe_value(E4M3), 1, 0, real(0)};
    ck_assert_str_eq(call("quantize", stack, 6, 2), "");
    struct fake_tensor *quantized = (struct fake_tensor *)(uintptr_t)stack[0];
    struct fake_tensor *scales = (struct fake_tensor *)(uintptr_t)stack[1];
    ck_assert(quantized->type == E4M3 && quantized->sizes[0] == 4 && quantized->sizes[1] == 256);
    ck_assert(scales->type == FP32 && scales->sizes[0] == 4 && scales->sizes[1] == 2);
    ck_assert(scales->strides[0] == 1 && scales->strides[1] == 4);

    struct fake_tensor *weight = NEW(E4M3, 4, 256), *of_weight = NEW(FP32, 4, 2);
    unsigned char largest[4 * 256];
    memset(largest, 0x7e, sizeof largest); /* 448 */
    device_write(weight->data, largest, sizeof largest);
    const float one = 1 / 448.f, all[8] = {one, one, one, one, one, one, one, one};
    device_write(of_weight->data, all, sizeof all);
    uint64_t linear[] = {T(quantized), T(weight), T(scales), T(of_weight), 0, 0, string("none"), 0, 0, 0, 0};
    ck_assert_str_eq(call("scaled_linear", linear, 11, 1), "");
    const struct fake_tensor out = result(linear);
    ck_assert(out.rank == 2 && out.type == BF16);
    device_read(got, out.data, sizeof got);
    for (int i = 0; i < 16; i++) {
        ck_assert_uint_eq(got[i], bf16(256));
    }
    ck_assert_int_eq(torch->tensors, 0);
    ck_assert_int_eq(torch->strings, 0);
}
END_TEST

START_TEST(refuses_types_and_frees_them) {
    uint64_t stack[] = {T(NEW(BF16, 4, 16)), string("row"), maybe_value(FAKE_DOUBLE), 0, 0, real(0)};
    ck_assert_str_eq(call("quantize", stack, 6, 2), "gristmill::quantize: out_dtype is an unknown type and must be "
                                                    "float8_e4m3fn, float8_e5m2 or int8");
    struct fake_tensor *scalar = NEW(FP32, 1);
    scalar->rank = 0;
    uint64_t linear[] = {T(NEW(INT8, 4, 16)),
                         T(NEW(INT8, 8, 16)),
                         T(scalar),
                         T(NEW(FP32, 7)),
                         0,
                         0,
                         string("none"),
                         maybe_value(FP32),
                         0,
                         0,
                         0};
    ck_assert_str_eq(call("scaled_linear", linear, 11, 1),
                     "gristmill::scaled_linear: weight_scales is [7] and must be one "
                     "scale, one for each of 8 channels");
    ck_assert_int_eq(torch->tensors, 0);
    ck_assert_int_eq(torch->strings, 0);
}
END_TEST

START_TEST(refuses_and_frees_all_the_same) {
    uint64_t stack[] = {T(NEW(BF16, 4, 16)), T(NEW(BF16, 15)), real(0), real(0), 0};
    ck_assert_str_eq(call("rms_norm", stack, 5, 1), "gristmill::rms_norm: dimension 0 of weight is 15 and must be 16");
    struct fake_tensor *host = NEW(BF16, 16);
    host->device_index = -1;
    uint64_t host_stack[] = {T(NEW(BF16, 4, 16)), T(host), real(0), real(0), 0};
    ck_assert_str_eq(call("rms_norm", host_stack, 5, 1), "gristmill::rms_norm: weight is not on a CUDA device");
    struct fake_tensor *other = NEW(BF16, 16);
    other->device_index = 1;
    uint64_t other_stack[] = {T(NEW(BF16, 4, 16)), T(other), real(0), real(0), 0};
    ck_assert_str_eq(call("rms_norm", other_stack, 5, 1),
                     "gristmill::rms_norm: x is on device 0 and weight on device 1");
    uint64_t double_stack[] = {T(NEW(FAKE_DOUBLE, 4, 16)), T(NEW(BF16, 16)), real(0), real(0), 0};
    ck_assert_str_eq(call("rms_norm", double_stack, 5, 1),
                     "gristmill::rms_norm: x is of a type that gristmill has no kernel for");
    uint64_t deep_stack[] = {T(NEW(BF16, 1, 1, 1, 1, 1, 1, 1, 1, 16)), T(NEW(BF16, 16)), real(0), real(0), 0};
    ck_assert_str_eq(call("rms_norm", deep_stack, 5, 1),
                     "gristmill::rms_norm: x has 9 dimensions and must have 8 at most");
    struct fake_tensor *repeated = NEW(BF16, 4, 16);
    repeated->strides[0] = 0;
    uint64_t repeated_stack[] = {T(repeated), T(NEW(BF16, 16)), real(0), real(0), 0};
    ck_assert_str_eq(call("rms_norm", repeated_stack, 5, 1), "gristmill::rms_norm: dimension 0 of x has stride 0, as "
                                                             "expand() makes it: contiguous() copies it");
    uint64_t eps_stack[] = {T(NEW(BF16, 4, 16)), T(NEW(BF16, 16)), real(-1), real(0), 0};
    ck_assert(strstr(call("rms_norm", eps_stack, 5, 1), "(GM_ERROR_INVALID_ARGUMENT)") != NULL);
    uint64_t act_stack[] = {T(NEW(BF16, 4, 16)), T(NEW(BF16, 4, 16)), maybe(NEW(BF16, 4)), 0, string("tanh"), 0, 0, 0,
                            string("fp32")};
    ck_assert(strstr(call("linear", act_stack, 9, 1), "activation is \"tanh\" and must be") != NULL);
    ck_assert_int_eq(torch->tensors, 0);
    ck_assert_int_eq(torch->strings, 0);
}
END_TEST

START_TEST(says_when_torch_has_no_memory_or_no_stream) {
    struct fake_tensor *x = NEW(BF16, 4, 16), *weight = NEW(BF16, 16);
    uint64_t stack[] = {T(x), T(weight), real(0), real(0), 0};
    no_memory = true;
    ck_assert_str_eq(call("rms_norm", stack, 5, 1),
                     "gristmill::rms_norm: PyTorch has no memory of device 0 for the result");
    no_memory = false;
    torch->no_stream = 1;
    uint64_t again[] = {T(NEW(BF16, 4, 16)), T(NEW(BF16, 16)), real(0), real(0), 0};
    ck_assert_str_eq(call("rms_norm", again, 5, 1), "gristmill::rms_norm: PyTorch has no current stream on device 0");
    torch->no_stream = 0;
    ck_assert_int_eq(torch->tensors, 0);
}
END_TEST

static void norm_of_rows(int64_t rows) {
    uint64_t stack[] = {T(NEW(BF16, rows, 16)), T(NEW(BF16, 16)), real(0), real(0), 0};
    ck_assert_str_eq(call("rms_norm", stack, 5, 1), "");
    result(stack);
}

START_TEST(keeps_a_plan_for_what_recurs) {
    gm_tensors_plans_forget();
    ck_assert_uint_eq(gm_tensors_plans_count(), 0);
    norm_of_rows(1);
    norm_of_rows(1);
    ck_assert_uint_eq(gm_tensors_plans_count(), 1);
    norm_of_rows(2);
    ck_assert_uint_eq(gm_tensors_plans_count(), 2);
    norm_of_rows(0);
    gm_tensors_plans_forget();
    ck_assert_uint_eq(gm_tensors_plans_count(), 0);
    norm_of_rows(1);
    ck_assert_uint_eq(gm_tensors_plans_count(), 1);
}
END_TEST

/* Four threads take, make and forget plans of the same problems; nothing is launched: there are no rows. */
static void *takes_plans(void *nothing) {
    for (int i = 0; i < 200; i++) {
        struct call call;
        call_begin(&call, NUMBER_rms_norm);
        for (int64_t argument = 0; argument < call.signature->arguments_count; argument++) {
            argument_default(&call.signature->arguments[argument], &call.in[argument]);
        }
        call.in[0].tensor =
            (struct tensor){.type = GM_BF16, .rank = 2, .size = {0, 8 * (1 + i % 5)}, .stride = {64, 1}};
        call.in[1].tensor = (struct tensor){.type = GM_BF16, .rank = 1, .size = {8 * (1 + i % 5)}, .stride = {1}};
        if (!call_prepare(&call) || !call_run(&call)) {
            return call.error[0] ? strdup(call.error) : "without a sentence";
        }
        if (i % 50 == 49) {
            plans_forget();
        }
    }
    return nothing;
}

START_TEST(threads_share_plans) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, takes_plans, NULL), 0);
    }
    for (int i = 0; i < 4; i++) {
        void *error;
        pthread_join(threads[i], &error);
        ck_assert_msg(error == NULL, "%s", (const char *)error);
    }
    plans_forget();
    ck_assert_uint_eq(plans_count(), 0);
}
END_TEST

Suite *torch_suite(void) {
    Suite *suite = suite_create("torch");
    TCase *tests = tcase_create("torch");
    tcase_add_unchecked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, registers_operators_and_their_out_variants);
    tcase_add_test(tests, computes_and_frees_what_it_was_given);
    tcase_add_test(tests, writes_to_a_tensor_that_is_there);
    tcase_add_test(tests, quantizes_and_multiplies);
    tcase_add_test(tests, refuses_types_and_frees_them);
    tcase_add_test(tests, refuses_and_frees_all_the_same);
    tcase_add_test(tests, says_when_torch_has_no_memory_or_no_stream);
    tcase_add_test(tests, keeps_a_plan_for_what_recurs);
    tcase_add_test(tests, threads_share_plans);
    suite_add_tcase(suite, tests);
    return suite;
}
