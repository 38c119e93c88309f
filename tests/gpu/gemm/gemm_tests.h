/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of GEMM share: its kernels, cases and their data, their check, and its kernels on the stand-in GPU. */
#ifndef GEMM_TESTS_H
#define GEMM_TESTS_H

#include "gpu_tests.h"
#include "gristmill/gemm.h"

/* ---- the tests (operation.c puts them in order) -------------------------------------------------- */

void add_badinput_tests(void);
void add_rows_tests(void);
void add_stream_k_tests(void);
void add_api_tests(void);
void add_runtime_tests(void);
void add_relaunch_tests(void);
void add_early_tests(void);
void add_invariance_tests(void);
void add_large_tests(void);
void add_activations_tests(void);
void add_placement_tests(void);
void add_image_tests(void);

/* ---- kernels of the table (kernel.c) --------------------------------------------------------------- */

/* The facts of a GEMM kernel that cases are made from. */
struct kernel {
    const char *name;
    enum gm_arch arch;
    enum gm_type type;
    enum gm_major a_major, b_major;
    int tile_m, tile_n, tile_k, stages, cluster_m, cluster_n, cluster_k, warp_k;
    enum gm_schedule schedule;
    enum gm_smem_map smem_map;
    int smem_bytes;
    bool is_gemv;     /* it has no tensor cores */
    bool uses_tma;    /* to load and to store */
    bool has_split_k; /* cuts its tiles into equal pieces */
    bool is_swapped;  /* B is on the M side of its instructions */
};
/* False: there is no such kernel. */
bool read_kernel(size_t index, struct kernel *kernel);

/* ---- logical operands and their product (reference.c) ------------------------------------------- */

/* INTEGER: small integers, so that every partial sum is exact in fp32. NORMAL: N(0, 1). SPECIAL: A and B hold
 * Inf, NaN, largest, smallest and denormal values among powers of two, one non-zero product per element of D. ONES: 1.
 * HOLED: small integers, and in some rows of A a NaN or an Inf. */
enum inputs { INTEGER, NORMAL, SPECIAL, ONES, HOLED };

struct logical {
    int64_t m, n, k;
    enum inputs inputs;
    enum gm_type type;
    float *a;    /* M x K, values that `type` can hold */
    float *b;    /* K x N */
    double *acc; /* M x N: A B */
};

/* Cached; valid until the next call. */
const struct logical *logical_operands(int64_t m, int64_t n, int64_t k, enum inputs inputs, enum gm_type type);
float logical_element(uint64_t seed, enum inputs inputs, enum gm_type type, int operand, int64_t outer, int64_t k,
                      int64_t k_size);
void free_logical_cache(void);

/* ---- one GEMM and its check (case.c, compare.c) ------------------------------------------------- */

struct gemm_case {
    int64_t m, n, k;
    enum gm_type ab_type, d_type, bias_type;
    enum gm_major a_major, b_major;
    int64_t a_pad, b_pad, c_pad, d_pad;                      /* elements between the row's end and the next row */
    int a_offset, b_offset, c_offset, d_offset, bias_offset; /* elements past a 256-byte boundary */
    enum gm_activation activation;
    enum gm_bias bias;
    float alpha, beta;
    bool in_place; /* C is D */
    bool exact;    /* A's and B's allocations begin and end with their elements: no guards, no offsets */
    bool c_is_nan; /* beta = 0 and C, which may be D, full of NaN */
    enum inputs inputs;
    int repeats;         /* further runs that must give the same bits */
    uint32_t may_refuse; /* BIT(enum gm_reason)s that are no failure */
};

/* Device memory for the operands of one case, kept from case to case. */
struct buffers {
    struct arena a, b, c, d, bias;
};

/* A case placed in device memory, ready to execute. */
struct placed {
    const struct gemm_case *gc;
    const struct logical *logical;
    struct gm_gemm_problem problem;
    struct gm_gemm_args args;
    CUdeviceptr d_base;       /* of the guarded region around D */
    size_t d_before, d_bytes; /* bytes before D, bytes in all */
};

#define POISON 0x99

void describe_case(const struct gemm_case *gc, char *text, size_t bytes);
bool place_case(struct result *result, const struct gemm_case *gc, struct buffers *buffers, struct placed *placed);
bool poison_output(struct result *result, const struct placed *placed);
/* Downloads the region around D and checks every element of D and every byte beside it. `what` begins the
 * sentence of a failure. */
bool check_output(struct result *result, const struct placed *placed, const char *what);
/* All of the region around D is still poison, once env.stream is done. */
void check_unwritten(struct result *result, const struct placed *placed, const char *what);
/* Compares a downloaded region; the part of check_output() that needs no device. */
bool compare_region(struct result *result, const struct placed *placed, const uint8_t *region, const char *what);
/* Plan, execute, compare; counts the case. False when it failed. kernel may be NULL. */
bool run_case(struct result *result, const struct gemm_case *gc, const char *kernel, uint32_t mask,
              struct buffers *buffers);
void free_buffers(struct buffers *buffers);
/* What D (m, n) shall be, and in *tolerance the error allowed (0: bit for bit). */
double expected(const struct placed *placed, int64_t m, int64_t n, double acc, double *tolerance);
int64_t leading(const struct gemm_case *gc, char operand);
/* In double, right to the last few bits everywhere. */
double activation_value(enum gm_activation activation, double x);
double c_value(const struct gemm_case *gc, int64_t m, int64_t n);
double bias_value(const struct gemm_case *gc, int64_t index);

/* ---- the kernels on the stand-in GPU (standin_kernel.c) ------------------------------------------ */

enum gemm_bug {
    BUG_COLUMN_AFTER = BUGS_OF_OPERATION, /* writes one column past N */
    BUG_COLUMN_BEFORE,                    /* writes one element before the row */
    BUG_ROW_AFTER,                        /* writes row M */
    BUG_ROW_BEFORE,                       /* writes row -1 */
    BUG_MISSED_TAIL,                      /* K's last elements beyond a whole tile are dropped */
    BUG_OVER_READ,                        /* one element past K takes part */
    BUG_TRUNCATES,                        /* D is truncated, not rounded */
    BUG_SWAPPED_BIAS,                     /* bias along M taken along N, and the reverse */
    BUG_BETA_ZERO_READS_C,
    BUG_LOST_WAVE, /* the last tile is never computed */
    BUG_LOST_ROW,  /* the last row is never stored */
    BUG_UNSTABLE,  /* every third launch adds one ulp somewhere */
    BUG_FLUSHES_DENORMALS,
    BUG_GELU_FORMS, /* tanh form where erf is asked, and the reverse */
    BUG_FP16_ACCUMULATION
};

/* The GEMM of a row, from its parameter struct, on host memory. */
void standin_compute(size_t kernel, const void *params);

#endif
