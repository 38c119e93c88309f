/* SPDX-License-Identifier: Apache-2.0 */
/* D = A B on device 0 in bf16: cc gemm.c -lgristmill -ldl. Device memory comes from the driver here; pointers and
 * streams of the CUDA runtime or of PyTorch do as well. */
#include <gristmill/gristmill.h>

#include <dlfcn.h>
#include <stdio.h>

enum { M = 256, N = 512, K = 1024 };

/* The driver's functions that a program with its own memory would not need. */
static int (*retain)(void **context, int device), (*make_current)(void *context), (*synchronize)(void);
static int (*allocate)(gm_device_ptr *address, size_t bytes), (*fill)(gm_device_ptr, unsigned short, size_t);
static int (*copy_to_host)(void *to, gm_device_ptr from, size_t bytes);

static gm_device_ptr matrix(size_t elements, unsigned short bf16) {
    gm_device_ptr address = 0;
    return allocate(&address, elements * 2) || fill(address, bf16, elements) ? 0 : address;
}

int main(void) {
    gm_context *context = NULL;
    if (gm_context_create(0, &context) != GM_OK)
        return fprintf(stderr, "%s\n", gm_last_error()), 1;
    void *libcuda = dlopen("libcuda.so.1", RTLD_NOW), *primary = NULL;
    *(void **)&retain = dlsym(libcuda, "cuDevicePrimaryCtxRetain");
    *(void **)&make_current = dlsym(libcuda, "cuCtxSetCurrent");
    *(void **)&synchronize = dlsym(libcuda, "cuCtxSynchronize");
    *(void **)&allocate = dlsym(libcuda, "cuMemAlloc_v2");
    *(void **)&fill = dlsym(libcuda, "cuMemsetD16_v2");
    *(void **)&copy_to_host = dlsym(libcuda, "cuMemcpyDtoH_v2");
    if (retain(&primary, 0) || make_current(primary))
        return fprintf(stderr, "no CUDA context\n"), 1;

    struct gm_gemm_problem problem = {.size = sizeof problem, .m = M, .n = N, .k = K}; /* bf16, A M x K, B N x K */
    struct gm_gemm_args args = {.size = sizeof args,
                                .a = matrix(M * K, 0x3f80), /* 1.0 */
                                .b = matrix(N * K, 0x4000), /* 2.0 */
                                .d = matrix(M * N, 0)};
    gm_plan *plan = NULL;
    if (gm_gemm_plan_create(context, &problem, NULL, &plan) != GM_OK || /* once per shape */
        gm_gemm_execute(plan, &args, NULL) != GM_OK)                    /* as often as you like, on any stream */
        return fprintf(stderr, "%s\n", gm_last_error()), 1;

    unsigned short d = 0;
    if (synchronize() || copy_to_host(&d, args.d + 2 * (M * N - 1), sizeof d))
        return fprintf(stderr, "the device failed\n"), 1;
    printf("the last element of D is 0x%04x; 0x4500, 2048.0, was expected\n", d);
    gm_plan_destroy(plan);
    gm_context_destroy(context);
    return d != 0x4500;
}
