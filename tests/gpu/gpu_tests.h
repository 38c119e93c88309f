/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of gpu_tests share: options, tests and their results, the device, cases and their data. */
#ifndef GPU_TESTS_H
#define GPU_TESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "gristmill/gristmill.h"
#include "host/driver.h"
#include "host/family.h"
#include "host/types.h"

#define REASONS      32 /* bits of may_refuse; main() checks that the library has no more */
#define BIT(x)       (1u << (x))
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

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
    int kernel;                               /* index of the one that is tested, else -1 */
    uint32_t mask;                            /* of architectures */
    const struct tested_operation *operation; /* of add_operation_test() */
};

void add_test(const char *group, const char *name, void (*run)(const struct test *, struct result *), int kernel,
              uint32_t mask);
/* The same for each operation: NAME_of_<operation>. */
void add_operation_test(const char *group, const char *name, void (*run)(const struct test *, struct result *),
                        uint32_t mask);
void add_runtime_tests(void);
void add_relaunch_tests(void);
void add_refusal_tests(void);
void add_tensormap_tests(void);
void add_number_tests(void);
/* From now on the driver is given the PTX of this file for the rows that opt.kernel names. False: there is no driver,
 * or no such file. (image.c) */
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
/* True when the test is of sm90 kernels, which the device does not run; counts that as refused. */
bool lacks_sm90(const struct test *test, struct result *result);
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

/* Device memory that is kept from case to case. */
struct arena {
    CUdeviceptr base;
    size_t bytes;
};
/* 0: reported. */
CUdeviceptr arena_take(struct result *result, struct arena *arena, size_t bytes);
/* The same, not a byte more. */
CUdeviceptr arena_take_exactly(struct result *result, struct arena *arena, size_t bytes);
void arena_free(struct arena *arena);
/* Copies, and returns when it is there for every stream. */
bool to_device(struct result *result, CUdeviceptr to, const void *from, size_t bytes);

/* ---- numbers (numeric.c) ------------------------------------------------------------------------
 *
 * Bits are those of one element, in the low part of a word; of GM_INT64 those of an int32_t. */

double bits_to_double(enum gm_type type, uint32_t bits);
/* Round to nearest, ties to even; too large becomes Inf, or NaN of e4m3, which has none. Integers are in range. */
uint32_t double_to_bits(enum gm_type type, double value);
/* The number of the type that double_to_bits() gives. */
double round_to(enum gm_type type, double value);
/* Half the distance between neighbours of `value` in a floating `type`: the most that one rounding moves it. */
double half_ulp(enum gm_type type, double value);
uint64_t hash64(uint64_t seed, uint64_t index);
/* N(0, 1) as a pure function of its arguments. */
double hash_normal(uint64_t seed, uint64_t index);
/* Repeatable random numbers, from 0 on. */
struct draws {
    uint64_t stream, index;
};
int64_t draw(struct draws *draws, int64_t below);
uint32_t load_bits(const uint8_t *at, enum gm_type type);
void store_bits(uint8_t *at, enum gm_type type, uint32_t bits);
/* Whether bits of `type` are within the tolerance of a value; 0: what rounding makes of it. */
bool bits_match(enum gm_type type, uint32_t bits, double want, double tolerance);
/* Calls body(first, last, arg) over [0, count) from as many threads as there are processors. `work` is a rough
 * number of operations: small jobs stay on the calling thread. */
void parallel_for(int64_t count, double work, void (*body)(int64_t first, int64_t last, void *arg), void *arg);

/* An activation in double, and how far the library's may be from it before it is rounded to a type. (activation.c) */
double activation_value(enum gm_activation activation, double x);
double activation_error(enum gm_activation activation, double x);

/* ---- calls (call.c) ----------------------------------------------------------------------------- */

#define POISON 0x99

/* One call of an operation, placed in device memory, ready to execute. */
struct call {
    const struct tested_operation *operation;
    const void *problem, *args; /* the operation's structs */
    CUdeviceptr region;         /* the output, and around it what must stay poison */
    size_t region_bytes;
    bool in_place; /* the call reads some of the region */
};

/* Fills the region as it is before a call: with poison, but for what the call reads there. */
bool poison_output(struct result *result, const struct call *call);
/* Downloads the region and checks every element of the output and every byte beside it. `what` begins the sentence of a
 * failure. */
bool check_output(struct result *result, const struct call *call, const char *what);
/* All of the region is still poison, once env.stream is done. */
void check_unwritten(struct result *result, const struct call *call, const char *what);
/* Plan, execute, wait, compare; `repeats` further runs must give the same bits. Holds explain to what plan does. A
 * refusal by one of the BIT(enum gm_reason)s of may_refuse is no failure. Counts the case; false when it failed. */
bool run_call(struct result *result, const struct call *call, const struct gm_plan_options *options, int repeats,
              uint32_t may_refuse, const char *what);
/* True when the call was refused so, with a sentence. Counts the case. */
bool check_refusal(struct result *result, enum gm_status got, enum gm_status want, const char *what);

/* ---- operations: what tests/gpu/<operation>/ gives to the harness ------------------------------- */

/* A bug of the stand-in, and the words of the failure that it must cause. */
struct plant {
    int bug;
    const char *what, *words;
    const char *test; /* of each operation; NULL: the smallest kernel of each family, in the group `rows` */
};

enum { SCALES = 6 };

struct tested_operation {
    const char *name;
    void (*add_tests)(void);

    /* Its public functions. */
    enum gm_status (*plan)(gm_context *context, const void *problem, const struct gm_plan_options *options,
                           gm_plan **plan);
    enum gm_status (*execute)(const gm_plan *plan, const void *args, void *stream);
    enum gm_status (*in_one_call)(gm_context *context, const void *problem, const void *args, void *stream);
    enum gm_status (*explain)(const struct gm_device *device, const void *problem,
                              const struct gm_plan_options *options, struct gm_candidate *candidates, size_t capacity,
                              size_t *count);

    /* What a call in place reads, into its region. */
    void (*fill_region)(const struct call *call, uint8_t *region);
    bool (*compare)(struct result *result, const struct call *call, const uint8_t *region, const char *what);

    /* An ordinary call, and, where it is to last, one for which launches behind it wait on a GPU. */
    struct call *(*new_call)(bool lasting);
    void (*free_call)(struct call *call);
    /* Places it, from the second time on at the same addresses. Its results are others for each scale, 0 to SCALES - 1,
     * and with other inputs. */
    bool (*place_call)(struct result *result, struct call *call, int scale, bool other_inputs);

    /* For the self-test: runs a kernel with its parameter struct on host memory; the elements that one CTA makes. */
    void (*compute)(const struct gm_kernel *kernel, const void *params);
    int64_t (*elements_of_cta)(const struct gm_kernel *kernel);
    const struct plant *plants; /* in the kernels */
    size_t plant_count;
};

/* plan, execute, in_one_call and explain of the operation gm_<name>. */
#define TESTED_FUNCTIONS(name)                                                                                         \
    static enum gm_status plan(gm_context *context, const void *problem, const struct gm_plan_options *options,        \
                               gm_plan **plan) {                                                                       \
        return gm_##name##_plan_create(context, problem, options, plan);                                               \
    }                                                                                                                  \
    static enum gm_status execute(const gm_plan *plan, const void *args, void *stream) {                               \
        return gm_##name##_execute(plan, args, stream);                                                                \
    }                                                                                                                  \
    static enum gm_status in_one_call(gm_context *context, const void *problem, const void *args, void *stream) {      \
        return gm_##name(context, problem, args, stream);                                                              \
    }                                                                                                                  \
    static enum gm_status explain(const struct gm_device *device, const void *problem,                                 \
                                  const struct gm_plan_options *options, struct gm_candidate *candidates,              \
                                  size_t capacity, size_t *count) {                                                    \
        return gm_##name##_explain(device, problem, options, candidates, capacity, count);                             \
    }

#define OPERATION(name, computes) extern const struct tested_operation name##_tests;
#include "operations.def"
#undef OPERATION

extern const struct tested_operation *const tested_operations[];
extern const size_t tested_operation_count;
/* The one that the kernel computes. */
const struct tested_operation *operation_of(const struct gm_kernel *kernel);

/* ---- a kernel to follow (slow_copy.c) ----------------------------------------------------------- */

/* Copies 16-bit elements slowly, and lets the next kernel on the stream start at once. */
struct slow_copy {
    CUlibrary library;
    CUfunction function;
};
bool load_slow_copy(struct result *result, struct slow_copy *copy);
bool launch_slow_copy(struct result *result, const struct slow_copy *copy, CUdeviceptr to, CUdeviceptr from,
                      size_t elements);

/* ---- the fake GPU of the self-test (fake_*.c) --------------------------------------------- */

enum bug {
    BUG_NONE,
    BUG_STALE_GRAPH, /* a replayed graph launches nothing */
    BUG_STALE_NODE,  /* a graph's node takes new parameters once only */
    BUG_MAP_RULES,   /* the driver's verdict on tensor maps differs */
    BUG_HANGS,
    BUG_FAULTS,
    BUGS_OF_OPERATIONS
};
extern int planted_bug;

const struct gm_driver *fake_driver(void);

#endif
