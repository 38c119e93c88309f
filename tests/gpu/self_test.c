/* SPDX-License-Identifier: Apache-2.0 */
/* The tests' own test: on the CPU stand-in everything must pass, and with each planted bug something must fail. */
#include <string.h>

#include "gpu_tests.h"

/* Of the table's many rows, as many as a CPU has time for; the prime scatters them, the seed varies them. */
enum { ROWS_SAMPLED = 10, SCATTER = 7919 };

static bool sampled(const struct test *test) {
    const uint64_t scattered = (uint64_t)test->kernel * SCATTER + opt.seed;
    return test->kernel < 0 || scattered % gm_kernel_count() < ROWS_SAMPLED;
}

/* What rows have in common that launch alike. */
static const struct kind {
    bool is_gemv;
    enum gm_arch arch;
} kinds[] = {{false, GM_ARCH_SM80}, {false, GM_ARCH_SM90}, {true, GM_ARCH_SM90}};

static const struct test *smallest_row(const struct test *tests, size_t count, const struct kind *kind) {
    const struct test *smallest = NULL;
    int area = 0;
    for (size_t i = 0; i < count; i++) {
        struct kernel info;
        if (tests[i].kernel < 0 || !read_kernel((size_t)tests[i].kernel, &info) || info.arch != kind->arch ||
            info.is_gemv != kind->is_gemv)
            continue;
        if (!smallest || info.tile_m * info.tile_n < area) {
            smallest = &tests[i];
            area = info.tile_m * info.tile_n;
        }
    }
    return smallest;
}

static bool is_smallest(const struct test *tests, size_t count, const struct test *test) {
    for (size_t k = 0; k < COUNT(kinds); k++)
        if (test == smallest_row(tests, count, &kinds[k]))
            return true;
    return false;
}

static void check_clean(const struct test *tests, size_t count, int totals[STATES]) {
    for (size_t i = 0; i < count; i++) {
        struct result result;
        if (!sampled(&tests[i]) && !is_smallest(tests, count, &tests[i]))
            continue;
        run_test(&tests[i], &result);
        print_result(&tests[i], &result);
        totals[result.state]++;
    }
}

/* True when the test fails with the words that name the bug. */
static bool caught(enum bug bug, const char *what, const char *words, const struct test *test) {
    struct result result;
    planted_bug = bug;
    opt.silent = !opt.verbose;
    run_test(test, &result);
    planted_bug = BUG_NONE;
    opt.silent = false;
    const bool found = result.state == FAILED && strstr(result.failure, words);
    printf("%-32s %-60s %s\n", what, test->name, found ? "caught" : "MISSED");
    if (result.state == FAILED && !found)
        printf("    failed without saying \"%s\": %s\n", words, result.failure);
    return found;
}

static const struct test *by_name(const struct test *tests, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(tests[i].name, name) == 0)
            return &tests[i];
    return NULL;
}

/* A test that hangs or dies must cost that test only. The first of the two tests launches, the second does not. */
static bool survived(enum bug bug, const char *what, const struct test *launches, const struct test *launches_not) {
    const struct test two[] = {*launches, *launches_not};
    int totals[STATES];
    planted_bug = bug;
    opt.timeout_seconds = 3;
    opt.silent = !opt.verbose;
    const int status = supervise(two, COUNT(two), totals);
    planted_bug = BUG_NONE;
    opt.silent = false;
    const bool ok = status == 1 && totals[FAILED] == 1 && totals[PASSED] == 1;
    printf("%-32s %-60s %s\n", what, launches->name, ok ? "survived" : "MISSED");
    return ok;
}

int run_self_test(void) {
    static const struct {
        enum bug bug;
        const char *what, *words; /* the bug, and what the failure must say */
        const char *test;         /* NULL: the smallest row of each kind */
    } plants[] = {{BUG_COLUMN_AFTER, "writes a column past N", "wrote right of D", NULL},
                  {BUG_COLUMN_BEFORE, "writes before the row", "wrote left of D", NULL},
                  {BUG_ROW_AFTER, "writes row M", "wrote below D", NULL},
                  {BUG_ROW_BEFORE, "writes row -1", "wrote above D", NULL},
                  {BUG_MISSED_TAIL, "drops the tail of K", "want", NULL},
                  {BUG_OVER_READ, "reads past K", "nan", NULL},
                  {BUG_TRUNCATES, "truncates instead of rounding", "want", NULL},
                  {BUG_SWAPPED_BIAS, "bias along the other index", "bias-", NULL},
                  {BUG_SWAPPED_BIAS, "bias along the other index", "bias-", "fuzz_all"},
                  {BUG_BETA_ZERO_READS_C, "reads C when beta is 0", "C=NaN", NULL},
                  {BUG_LOST_WAVE, "last tile not computed", "never written", NULL},
                  {BUG_LOST_ROW, "last row not stored", "never written", NULL},
                  {BUG_UNSTABLE, "one bit differs between runs", "gave other bits", NULL},
                  {BUG_FLUSHES_DENORMALS, "flushes denormals", "special", NULL},
                  {BUG_GELU_FORMS, "the other form of GELU", "gelu", NULL},
                  {BUG_FP16_ACCUMULATION, "accumulates in fp16", "normal", NULL},
                  {BUG_STALE_GRAPH, "replay launches nothing", "replay", "graph"},
                  {BUG_STALE_NODE, "new parameters are not taken", "back to back", "relaunch"},
                  {BUG_MAP_RULES, "the driver's map rules differ", "we say legal", "verdicts"}};
    opt.quick = true;
    gm_driver_install(standin_driver());
    size_t count;
    const struct test *tests = find_tests(&count);
    if (!open_device()) {
        printf("the stand-in does not open: %s\n", env.why);
        return 1;
    }
    int totals[STATES] = {0};
    check_clean(tests, count, totals);
    for (size_t i = 0; i < COUNT(plants); i++)
        for (size_t k = 0; k < (plants[i].test ? 1 : COUNT(kinds)); k++) {
            const struct test *test =
                plants[i].test ? by_name(tests, count, plants[i].test) : smallest_row(tests, count, &kinds[k]);
            if (test) /* the filters may have left none */
                totals[caught(plants[i].bug, plants[i].what, plants[i].words, test) ? PASSED : FAILED]++;
        }
    const struct test *graph = by_name(tests, count, "graph"), *problems = by_name(tests, count, "problems");
    if (graph && problems) {
        totals[survived(BUG_HANGS, "the kernel hangs", graph, problems) ? PASSED : FAILED]++;
        totals[survived(BUG_FAULTS, "the process dies", graph, problems) ? PASSED : FAILED]++;
    }
    close_device();
    free_logical_cache();
    printf("self-test: without a bug everything must pass, every planted bug must be caught\n");
    printf("%d passed, %d failed, %d skipped, %d illegal\n", totals[PASSED], totals[FAILED], totals[SKIPPED],
           totals[ILLEGAL]);
    return totals[FAILED] || !totals[PASSED] ? 1 : 0;
}
