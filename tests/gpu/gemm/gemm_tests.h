/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of GEMM's tests share: variants, cases and their data. */
#ifndef GEMM_TESTS_H
#define GEMM_TESTS_H

#include "gpu_tests.h"
#include "out.h"
#include "workspace.h"

void add_gemm_rows_tests(void);
void add_gemm_stream_k_tests(void);
void add_gemm_copies_tests(void);
void add_gemm_pack_tests(void);
void add_gemm_fp8_tests(void);
void add_gemm_gate_tests(void);
void add_gemm_extended_tests(void);
void add_gemm_batch_tests(void);
void add_gemm_api_tests(void);
void add_gemm_early_tests(void);
void add_gemm_invariance_tests(void);
void add_gemm_large_tests(void);
void add_gemm_activations_tests(void);
void add_gemm_placement_tests(void);
void add_gemm_badinput_tests(void);
void add_gemm_image_tests(void);

/* ---- variants of GEMM, the rows of the table (variant.c) ---------------------------------------- */

struct variant {
    struct gm_kernel_info kernel;
    struct gm_gemm_kernel_info gemm;
};

/* False: there is no such kernel of GEMM. */
bool read_variant(size_t kernel, struct variant *variant);
/* Whether TMA loads for it, and whether it has no tensor cores. */
bool uses_tma(const struct variant *variant);
/* D's type: that of the operands, or fp32 where they have 32 bits, bf16 of int8. */
enum gm_type d_type_of(const struct variant *variant);
bool is_gemv(const struct variant *variant);
/* The types of A and B of a kernel of e5m2, which has one operand of it and one of e4m3; those of sm80 take either, and have
 * what `turn` says. Of any other kernel nothing. */
void set_pair(const struct variant *variant, int64_t turn, enum gm_type *a, enum gm_type *b);
/* A case as the variant takes it: one of e5m2 has a pair of types; one with a gate has its own D, epilogues and whole 16 columns of A B; one of extended
 * epilogues gets parts of these, others by turns. */
struct gemm_case;
struct gemm_case fit_variant(const struct variant *variant, const struct gemm_case *gc);

/* ---- logical operands and their product (reference.c) ------------------------------------------- */

/* INTEGER: small integers, so that every partial sum is exact in fp32. NORMAL: N(0, 1). SPECIAL: A and B hold
 * Inf, NaN, largest, smallest and denormal values among powers of two, one non-zero product per element of D. ONES: 1.
 * HOLED: small integers, and in some rows of A a NaN or an Inf. POSITIVE: the sizes of N(0, 1). */
enum inputs { INTEGER, NORMAL, SPECIAL, ONES, HOLED, POSITIVE };

struct logical {
    int64_t m, n, k;
    enum inputs inputs;
    enum gm_type type, b_type;
    float *a;          /* M x K, values that `type` can hold */
    float *b;          /* K x N, of b_type */
    float *products_b; /* B as products take it: of tf32 rounded, else b itself */
    double *acc;       /* M x N: A B */
};

/* Cached; valid until the next call. */
const struct logical *logical_operands(int64_t m, int64_t n, int64_t k, enum inputs inputs, enum gm_type type,
                                       enum gm_type b_type);
float logical_element(uint64_t seed, enum inputs inputs, enum gm_type type, int operand, int64_t outer, int64_t k,
                      int64_t k_size);

float multiplied(enum gm_type type, float value);

/* ---- one GEMM and its check (case.c, compare.c) ------------------------------------------------- */

struct gemm_case {
    int64_t m, n, k;
    enum gm_type ab_type, d_type, bias_type;
    enum gm_type b_type; /* where B is not of ab_type; else 0, which is bf16 */
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
    enum gm_gate gate;
    float limit, sigmoid_factor, up_offset;           /* of the gate */
    bool rounded_sums;                                /* gates and ups may be rounded, to rounded_type() */
    enum gm_granularity a_scales, b_scales;           /* of operands of 8 bits and 16, but of int8 where D is int32 */
    enum gm_scale_order a_scale_order, b_scale_order; /* of groups and blocks */
    enum gm_scale_format a_scale_format, b_scale_format;
    int a_scales_pad, b_scales_pad;
    bool zero_points;
    bool fast_accumulation; /* of e4m3 */
    /* Of an extended epilogue. */
    bool has_c_type, residual, amax;
    enum gm_type c_type, residual_type;
    int64_t r_pad; /* as those of A, B, C and D */
    int r_offset;
    bool residual_in_place; /* the residual is D */
    float least_amax;       /* what amax[0] holds before */
    struct out_case out;    /* how a D of 8 bits is scaled; its type is D's */
    bool rounded_y;         /* y may be rounded to rounded_type() before a D of 8 bits is made of it */
    int repeats;            /* further runs that must give the same bits */
    uint32_t may_refuse;    /* BIT(enum gm_reason)s that are no failure */
};

/* What int8's sums are scaled by. */
enum scaling { A_SCALES, B_SCALES, A_ZEROS, B_SUMS, SCALINGS };

/* Device memory for the operands of one case, kept from case to case. */
struct buffers {
    struct arena a, b, c, d, bias, residual, scaling[SCALINGS];
};

/* A case placed in device memory, ready to execute. It stays where it is: the call points into it. */
struct placed {
    struct call call; /* first; its region is D between guards, and behind it amax and D's scales between theirs */
    const struct gemm_case *gc;
    const struct logical *logical;
    struct gm_gemm_problem problem;
    struct gm_gemm_args args;
    size_t d_before; /* bytes of the region before D */
    size_t d_end;    /* and those of D and its guards */
    size_t amax_at, scales_at;
    struct operand scales; /* of a D of 8 bits; else it has no rows */
    double *column_sums;   /* of B, with zero_points */
    const double *sums;    /* M x N: A B, or with scales of sums what stands in its place */
};

/* Scales of A and B (sum_scales.c): the scale of a row, in each 128 of K or in all; how they lie in memory, `rows` rows of `columns`
 * elements; what lies there; and the sums, scaled, or A B where there are no such scales. */
struct scales_layout {
    enum gm_type type; /* GM_FP32, or GM_UINT8: the exponent plus 127 */
    int64_t rows, columns, stride;
    bool by_column;
    int64_t block; /* rows of the operand that share one */
};
bool has_scales_of_sums(const struct gemm_case *gc);
double sum_scale(const struct gemm_case *gc, bool is_a, int64_t row, int64_t sum);
struct scales_layout scales_layout_of(const struct gemm_case *gc, bool is_a);
double stored_scale(const struct gemm_case *gc, bool is_a, int64_t line, int64_t column);
const double *scaled_sums(const struct gemm_case *gc, const struct logical *logical);

/* A case as its operands' type has it: of fp32 and tf32 D is fp32; int8 gets D of int32, or scales and zeros, by
 * turns, and e4m3 scales. */
struct gemm_case fit_type(const struct gemm_case *gc);
/* Elements that pad_row() makes whole: 16 bytes of a row of types of 16 and 8 bits, 32 of tf32. */
int row_unit(enum gm_type type);
/* The fewest elements that kernels of sm80 copy: one, but of 8 bits a word. */
int copied_elements(enum gm_type type);
/* What a row of so many elements lacks of whole units. */
int64_t pad_row(enum gm_type type, int64_t elements);
void describe_gemm(const struct gemm_case *gc, char *text, size_t bytes);
bool place_gemm(struct result *result, const struct gemm_case *gc, struct buffers *buffers, struct placed *placed);
/* Place, plan, execute, compare. False when it failed. kernel may be NULL. */
bool run_gemm(struct result *result, const struct gemm_case *wanted, const char *kernel, uint32_t mask,
              struct buffers *buffers);
void free_buffers(struct buffers *buffers);
int64_t leading(const struct gemm_case *gc, char operand);
/* What a pointer is a multiple of: 16 bytes, 8, 4, 2 or 1. */
int32_t pointer_alignment(CUdeviceptr pointer);
/* Of C and D. */
int64_t columns_of(const struct gemm_case *gc);
enum gm_type c_type_of(const struct gemm_case *gc);
/* What lies in the workspace between a GEMM and what makes D: D's type, or of a D of 8 bits A's, of 8-bit operands fp32. */
enum gm_type rounded_type(const struct gemm_case *gc);
/* Operands that have scales beside any epilogue. */
bool is_of_8_bits(enum gm_type type);
enum gm_type b_type_of(const struct gemm_case *gc);
/* Whether D has 8 bits, and the case of it as an output with scales. */
bool is_quantised(const struct gemm_case *gc);
struct out_case out_of(const struct gemm_case *gc);
/* Whether only kernels of extended epilogues take it. */
bool is_extended(const struct gemm_case *gc);
/* What D (m, n) shall be, and in *tolerance the error allowed (0: bit for bit). */
double expected(const struct placed *placed, int64_t m, int64_t n, double acc, double *tolerance);
/* In double, right to the last few bits everywhere. */
double c_value(const struct gemm_case *gc, int64_t m, int64_t n);
double bias_value(const struct gemm_case *gc, int64_t index);
double residual_value(const struct gemm_case *gc, int64_t m, int64_t n);
/* Of row m or column n: a power of 2, 1 where there is none; a small integer; the sum of a column of B. */
double scaling_value(const struct gemm_case *gc, const struct logical *logical, enum scaling scaling, int64_t index);

/* What struct tested_operation wants (case.c, compare.c, on_cpu.c); the rest is in gemm_tests.c. */
void gemm_fill_region(const struct call *call, uint8_t *region);
bool gemm_compare(struct result *result, const struct call *call, const uint8_t *region, const char *what);
void gemm_compute(const struct gm_kernel *kernel, const void *params);

/* Packs an operand of a problem into `room`, between guards, where it needs that; the problem and the address are then the
 * packed ones. (pack.c) */
bool pack_operand(struct result *result, struct gm_gemm_problem *problem, enum gm_gemm_operand operand,
                  gm_device_ptr *address, struct guarded_workspace *room, const char *what);

/* ---- bugs that the stand-in's kernel can have --------------------------------------------------- */

enum gemm_bug {
    BUG_COLUMN_AFTER = BUGS_OF_OPERATIONS, /* writes one column past N */
    BUG_COLUMN_BEFORE,                     /* writes one element before the row */
    BUG_ROW_AFTER,                         /* writes row M */
    BUG_ROW_BEFORE,                        /* writes row -1 */
    BUG_MISSED_TAIL,                       /* K's last elements beyond a whole tile are dropped */
    BUG_OVER_READ,                         /* one element past K takes part */
    BUG_TRUNCATES,                         /* D is truncated, not rounded */
    BUG_SWAPPED_BIAS,                      /* bias along M taken along N, and the reverse */
    BUG_BETA_ZERO_READS_C,
    BUG_LOST_WAVE, /* the last tile is never computed */
    BUG_LOST_ROW,  /* the last row is never stored */
    BUG_UNSTABLE,  /* every third launch adds one ulp somewhere */
    BUG_FLUSHES_DENORMALS,
    BUG_GELU_FORMS, /* tanh form where erf is asked, and the reverse */
    BUG_FP16_ACCUMULATION,
    /* Of extended epilogues. */
    BUG_LOST_AMAX,      /* the last column is not looked at for amax */
    BUG_AMAX_DROPS_NAN, /* in amax and in scales */
    BUG_EARLY_RESIDUAL, /* added before the activation */
    BUG_LOST_SCALE,     /* of D's last group */
    BUG_SCALES_CHANGED, /* those of rows taken for columns, and the reverse */
    BUG_C_OF_D          /* C read as D's type */
};

#endif
