/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel of one warpgroup around lines of PTX that use wgmma. Its operands are matrices of small integers, laid out
 * in shared memory as descriptors say, by gm_wgmma_address(). */
#ifndef SIM_WGMMA_KERNEL_H
#define SIM_WGMMA_KERNEL_H

#include "gristmill/smem.h"
#include "run_ptx.h"

#include <check.h>
#include <stdbool.h>

enum {
    WGMMA_M = 64,
    WGMMA_N_MAX = 256,
    WGMMA_K_MAX = 32,
    WGMMA_IMAGE = 96 * 1024, /* bytes of shared memory */
    WGMMA_BASE = 1024,       /* where it begins */
    WGMMA_THREADS = 128,
    WGMMA_REGISTERS = 128
};

enum wgmma_type { WGMMA_F16, WGMMA_BF16, WGMMA_TF32, WGMMA_E4M3, WGMMA_E5M2, WGMMA_S8, WGMMA_U8, WGMMA_F32, WGMMA_S32 };

/* An operand: the fields of its descriptor (start counted from WGMMA_BASE), and how it is used. */
struct wgmma_side {
    enum wgmma_type type;
    enum gm_swizzle_mode swizzle;
    bool mn_major;
    uint32_t start, leading, stride, base_offset;
};

struct wgmma_case {
    uint32_t n;
    enum wgmma_type d;
    struct wgmma_side a, b;
    bool a_in_registers;
};

/* What the kernel is given and gives: c and d are registers, [register][thread]. */
struct wgmma_memory {
    uint8_t image[WGMMA_IMAGE];
    uint32_t c[WGMMA_REGISTERS][WGMMA_THREADS], d[WGMMA_REGISTERS][WGMMA_THREADS];
    uint32_t fragment[4][WGMMA_THREADS]; /* A in registers */
    uint64_t a, b;                       /* descriptors */
};
struct wgmma_numbers {
    int a[WGMMA_M][WGMMA_K_MAX], b[WGMMA_N_MAX][WGMMA_K_MAX], c[WGMMA_M][WGMMA_N_MAX];
};

uint32_t wgmma_depth(const struct wgmma_case *test);

/* Draws the matrices, and lays them out. */
void wgmma_fill(const struct wgmma_case *test, struct wgmma_numbers *numbers, struct wgmma_memory *memory);

/* D = c_factor * C + product_factor * A * B, or the test fails. */
void wgmma_compare(const struct wgmma_case *test, const struct wgmma_numbers *numbers,
                   const struct wgmma_memory *memory, int c_factor, int product_factor, const char *what);

/* "wgmma.mma_async... {c0, c1, ...}, a, b" or "..., {f0, f1, f2, f3}, b"; without the rest. */
const char *wgmma_instruction(const struct wgmma_case *test);

/* The kernel: shared memory is filled (all of it but `stale` bytes at its end) and handed over, accumulators c are
 * loaded, `body` runs, and the accumulators are stored. It has .b32 x, y, z, .b64 a, b (descriptors), .pred p, q and
 * warp, thread. */
struct wgmma_launch {
    const struct wgmma_case *test;
    const char *body;
    uint32_t threads; /* 0: 128 */
    uint32_t stale;
    bool no_proxy_fence;
    uint64_t seed;
};
struct run_ptx wgmma_launch(const struct wgmma_launch *launch, struct wgmma_memory *memory);

/* fence, instruction with this end, commit, wait 0 */
const char *wgmma_once(const struct wgmma_case *test, const char *end);

#endif
