/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of gpu_tests share: options, tests and their results, the device, cases and their data. */
#ifndef GPU_TESTS_H
#define GPU_TESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "host/driver.h"
#include "gristmill/gristmill.h"

#define REASONS      32 /* bits of may_refuse; main() checks that the library has no more */
#define BIT(x)       (1u << (x))
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

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
    int threads, smem_bytes, registers, cluster_ctas;
    bool is_gemv;     /* it has no tensor cores */
    bool uses_tma;    /* to load and to store */
    bool has_split_k; /* cuts its tiles into equal pieces */
    bool is_swapped;  /* B is on the M side of its instructions */
};
/* False: there is no such kernel. */
bool read_kernel(size_t index, struct kernel *kernel);

/* ---- options (main.c) --------------------------------------------------------------------------- */

struct options {
    uint64_t seed;
    const char *kernel; /* glob over row names */
    const char *test;   /* glob over groups, or over group.name */
    const char *image;  /* PTX that takes the place of the image of `kernel` */
    bool list, quick, verbose, no_fork, self_test;
    bool silent; /* the self-test plants bugs: their failures are expected */
    int timeout_seconds;
    uint64_t schedule; /* of the simulated GPU */
    int seeds;         /* on the simulated GPU: one ragged shape of every row runs under so many schedules */
};
extern struct options opt;

/* ---- tests and their results (tests.c) ---------------------------------------------------------- */

enum state { PASSED, FAILED, SKIPPED, ILLEGAL, STATES };

struct result {
    enum state state;
    int cases;            /* that ran */
    int refused[REASONS]; /* cases that explain and plan refused, as the case expected, by reason */
    char note[160];       /* why skipped or illegal */
    char failure[256];    /* the first one's sentence */
};

struct test {
    char group[16];
    char name[128];
    void (*run)(const struct test *test, struct result *result);
    int kernel;    /* rows: index of the row, else -1 */
    uint32_t mask; /* api: the arch mask */
};

void add_test(const char *group, const char *name, void (*run)(const struct test *, struct result *), int kernel,
              uint32_t mask);
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
void add_badinput_tests(void);
void add_tensormap_tests(void);
void add_image_tests(void);
/* From now on the driver is given the PTX of this file for the rows that opt.kernel names. False: there is no driver, or
 * no such file. (image.c) */
bool substitute_image(const char *path);

const struct test *find_tests(size_t *count); /* the tests that the filters leave, in order */
bool glob_match(const char *pattern, const char *text);
/* Runs one test in this process. */
void run_test(const struct test *test, struct result *result);
void print_result(const struct test *test, const struct result *result);
/* Says to the supervisor, when there is one, that the process is alive and what it is about to do. */
void heartbeat(const char *what);
/* Runs the tests, prints a line for each and the sums; the exit status of the program. */
int supervise(const struct test *tests, size_t count, int totals[STATES]);
int run_self_test(void);

/* Marks the test failed and prints the sentence, under its name, for the first few of a test. */
void fail(struct result *result, const char *format, ...) __attribute__((format(printf, 2, 3)));
void skip(struct result *result, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* True when `status` is GM_OK; else fails with gristmill's sentence. */
bool check_ok(struct result *result, enum gm_status status, const char *what);
bool check_cuda(struct result *result, CUresult code, const char *what);

/* ---- the device (device.c) ---------------------------------------------------------------------- */

struct environment {
    const struct gm_driver *drv; /* NULL: no GPU, `why` says so */
    int device_count;
    gm_context *context;
    struct gm_device device;
    CUcontext primary;
    CUstream stream;
    bool simulated; /* slow, and told apart from a GPU by nothing else */
    char why[200];
};
extern struct environment env;

bool open_device(void);
void close_device(void);
/* The schedule of the launches from now on; on a GPU nothing happens. */
void set_schedule(uint64_t seed);

/* ---- numbers (numeric.c) ------------------------------------------------------------------------ */

static inline int type_bytes(enum gm_type type) {
    return type == GM_FP32 ? 4 : 2;
}
const char *type_name(enum gm_type type);
double bits_to_double(enum gm_type type, uint32_t bits);
/* Round to nearest, ties to even; too large becomes Inf. */
uint32_t double_to_bits(enum gm_type type, double value);
/* Half the distance between neighbours of `value` in `type`: the most that one rounding moves it. */
double half_ulp(enum gm_type type, double value);
uint64_t hash64(uint64_t seed, uint64_t index);
/* N(0, 1) as a pure function of its arguments. */
double hash_normal(uint64_t seed, uint64_t index);
uint32_t load_bits(const uint8_t *at, enum gm_type type);
void store_bits(uint8_t *at, enum gm_type type, uint32_t bits);
/* Calls body(first, last, arg) over [0, count) from as many threads as there are processors. `work` is a rough
 * number of operations: small jobs stay on the calling thread. */
void parallel_for(int64_t count, double work, void (*body)(int64_t first, int64_t last, void *arg), void *arg);

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

struct arena {
    CUdeviceptr base;
    size_t bytes;
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
CUdeviceptr arena_take(struct result *result, struct arena *arena, size_t bytes);
/* The same, not a byte more. */
CUdeviceptr arena_take_exactly(struct result *result, struct arena *arena, size_t bytes);
/* Copies, and returns when it is there for every stream. */
bool to_device(struct result *result, CUdeviceptr to, const void *from, size_t bytes);
/* What D (m, n) shall be, and in *tolerance the error allowed (0: bit for bit). */
double expected(const struct placed *placed, int64_t m, int64_t n, double acc, double *tolerance);
int64_t leading(const struct gemm_case *gc, char operand);
/* In double, right to the last few bits everywhere. */
double activation_value(enum gm_activation activation, double x);
double c_value(const struct gemm_case *gc, int64_t m, int64_t n);
double bias_value(const struct gemm_case *gc, int64_t index);

/* ---- the stand-in GPU of the self-test (standin*.c) --------------------------------------------- */

enum bug {
    BUG_NONE,
    BUG_COLUMN_AFTER,  /* writes one column past N */
    BUG_COLUMN_BEFORE, /* writes one element before the row */
    BUG_ROW_AFTER,     /* writes row M */
    BUG_ROW_BEFORE,    /* writes row -1 */
    BUG_MISSED_TAIL,   /* K's last elements beyond a whole tile are dropped */
    BUG_OVER_READ,     /* one element past K takes part */
    BUG_TRUNCATES,     /* D is truncated, not rounded */
    BUG_SWAPPED_BIAS,  /* bias along M taken along N, and the reverse */
    BUG_BETA_ZERO_READS_C,
    BUG_LOST_WAVE, /* the last tile is never computed */
    BUG_LOST_ROW,  /* the last row is never stored */
    BUG_UNSTABLE,  /* every third launch adds one ulp somewhere */
    BUG_FLUSHES_DENORMALS,
    BUG_GELU_FORMS, /* tanh form where erf is asked, and the reverse */
    BUG_FP16_ACCUMULATION,
    BUG_STALE_GRAPH, /* a replayed graph launches nothing */
    BUG_STALE_NODE,  /* a graph's node takes new parameters once only */
    BUG_MAP_RULES,   /* the driver's verdict on tensor maps differs */
    BUG_HANGS,
    BUG_FAULTS
};
extern enum bug planted_bug;

const struct gm_driver *standin_driver(void);
/* Runs the kernel `info` with its parameter struct on host memory. */
void standin_kernel(const struct kernel *info, const void *params);

#endif
