/* SPDX-License-Identifier: Apache-2.0 */
/* What gpu_tests is to every operation: options, tests and their results, the device and its memory, numbers, the
 * stand-in GPU. The tests of an operation are in its folder and join by a struct test_operation. */
#ifndef GPU_TESTS_H
#define GPU_TESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "gristmill/core.h"
#include "host/driver.h"
#include "host/types.h"
#include "host/operation.h"

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
    int kernel;    /* of tests of one row: its index, else -1 */
    uint32_t mask; /* of tests of one path: its arch mask */
    /* Whose test it is; NULL: the harness's own. */
    const struct test_operation *operation;
};

void add_test(const char *group, const char *name, void (*run)(const struct test *, struct result *), int kernel,
              uint32_t mask);
/* gm_tensor_map_check() against the driver; no operation has a part in it. */
void add_tensormap_tests(void);

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
/* Counts a case; true when a call failed as it had to. Else, or where it left no sentence, fails. */
bool check_refusal(struct result *result, enum gm_status got, enum gm_status want, const char *what);

/* ---- operations (operations.c) ------------------------------------------------------------------ */

/* A bug of the stand-in GPU, for the self-test, and the test that must catch it. */
struct plant {
    int bug;                  /* of enum bug, or one of the operation's own */
    const char *what, *words; /* the bug, and what the failure must say */
    const char *test;         /* its name; NULL: that of the smallest row of each kind */
};

/* The tests of one operation: one struct test_operation_<name>, in tests/gpu/<name>/, for each line of
 * src/operations.def. */
struct test_operation {
    const struct gm_operation *operation;
    void (*add_tests)(void);
    /* Frees what is kept from test to test. */
    void (*free_caches)(void);
    /* Runs a kernel of the operation's, by its index, with its parameter struct on host memory: the stand-in GPU. */
    void (*compute)(size_t kernel, const void *params);
    /* How long the tests of a row take on the stand-in, in any unit. */
    int (*row_cost)(size_t kernel);
    const struct plant *plants;
    size_t plant_count;
    /* Names of two tests, one that launches and one that does not. */
    const char *launching, *launching_not;
};

#define OPERATION(name, computes) extern const struct test_operation test_operation_##name;
#include "operations.def"
#undef OPERATION

/* All of them, in the order of src/operations.def. */
extern const struct test_operation *const test_operations[];
size_t test_operation_count(void);
/* Whose tests a row of the table belongs to. */
const struct test_operation *operation_of_kernel(size_t kernel);

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
/* From now on the driver is given the PTX of this file for the rows that opt.kernel names. False: there is no driver,
 * or no such file. (substitute.c) */
bool substitute_image(const char *path);
/* The schedule of the launches from now on; on a GPU nothing happens. */
void set_schedule(uint64_t seed);

/* ---- device memory (memory.c) -------------------------------------------------------------------- */

/* Kept from case to case. */
struct arena {
    CUdeviceptr base;
    size_t bytes;
};

CUdeviceptr arena_take(struct result *result, struct arena *arena, size_t bytes);
/* The same, not a byte more. */
CUdeviceptr arena_take_exactly(struct result *result, struct arena *arena, size_t bytes);
void free_arena(struct arena *arena);
/* Copies, and returns when it is there for every stream. */
bool to_device(struct result *result, CUdeviceptr to, const void *from, size_t bytes);

/* Bytes of device memory under construction: rows of `ld` elements at `start`, between guards. */
struct image {
    uint8_t *bytes;
    size_t start, total;
};

/* `offset`: elements that the rows begin past a 256-byte boundary. All bytes are `fill`. */
struct image new_image(int64_t rows, int64_t ld, enum gm_type type, int offset, int fill);
/* Copies into an arena, and frees the image's bytes; the address of its rows. `exact`: the arena holds no byte more. */
CUdeviceptr upload_image(struct result *result, struct arena *arena, struct image *image, bool exact);
/* The largest of 2, 4, 8 and 16 that divides the address. */
int32_t alignment(CUdeviceptr address);

/* ---- numbers (numeric.c) ------------------------------------------------------------------------ */

double bits_to_double(enum gm_type type, uint32_t bits);
/* Round to nearest, ties to even; too large becomes Inf. */
uint32_t double_to_bits(enum gm_type type, double value);
/* Half the distance between neighbours of `value` in `type`: the most that one rounding moves it. */
double half_ulp(enum gm_type type, double value);
/* The bits are the wanted value, rounded, or within the tolerance (0: bit for bit). */
bool bits_match(enum gm_type type, uint32_t got_bits, double want, double tolerance);
uint64_t hash64(uint64_t seed, uint64_t index);
/* N(0, 1) as a pure function of its arguments. */
double hash_normal(uint64_t seed, uint64_t index);
uint32_t load_bits(const uint8_t *at, enum gm_type type);
void store_bits(uint8_t *at, enum gm_type type, uint32_t bits);
/* Calls body(first, last, arg) over [0, count) from as many threads as there are processors. `work` is a rough
 * number of operations: small jobs stay on the calling thread. */
void parallel_for(int64_t count, double work, void (*body)(int64_t first, int64_t last, void *arg), void *arg);

/* ---- the stand-in GPU of the self-test (standin*.c) --------------------------------------------- */

/* Of the stand-in driver. An operation's kernel has bugs of its own, with numbers from BUGS_OF_OPERATION on. */
enum bug {
    BUG_NONE,
    BUG_STALE_GRAPH, /* a replayed graph launches nothing */
    BUG_STALE_NODE,  /* a graph's node takes new parameters once only */
    BUG_MAP_RULES,   /* the driver's verdict on tensor maps differs */
    BUG_HANGS,
    BUG_FAULTS,
    BUGS_OF_OPERATION
};
extern int planted_bug;

const struct gm_driver *standin_driver(void);

#endif
