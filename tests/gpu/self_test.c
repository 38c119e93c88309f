/* SPDX-License-Identifier: Apache-2.0 */
/* The tests' own test: on the CPU stand-in everything must pass, and with each planted bug something must fail. */
#include <string.h>

#include "gpu_tests.h"
#include "host/table.h"

/* Of the table's many rows, as many as a CPU has time for; the prime scatters them, the seed varies them. */
enum { ROWS_SAMPLED = 10, SCATTER = 7919 };

static bool sampled(const struct test *test) {
    const uint64_t scattered = (uint64_t)test->kernel * SCATTER + opt.seed;
    return test->kernel < 0 || scattered % gm_kernel_count() < ROWS_SAMPLED;
}

static int row_cost(const struct test *test) {
    return test->operation->row_cost((size_t)test->kernel);
}

/* Rows of one family and architecture launch alike. */
static bool is_alike(const struct test *test, const struct test *other) {
    const struct gm_kernel *row = &gm_kernels[test->kernel], *theirs = &gm_kernels[other->kernel];
    return row->family == theirs->family && row->arch == theirs->arch;
}

/* The first of the tests of the cheapest row of its kind. */
static bool is_cheapest(const struct test *tests, size_t count, const struct test *test) {
    if (test->kernel < 0)
        return false;
    for (const struct test *other = tests; other < tests + count; other++)
        if (other->kernel >= 0 && is_alike(test, other) && row_cost(other) < row_cost(test) + (other < test))
            return false;
    return true;
}

static void check_clean(const struct test *tests, size_t count, int totals[STATES]) {
    for (size_t i = 0; i < count; i++) {
        struct result result;
        if (!sampled(&tests[i]) && !is_cheapest(tests, count, &tests[i]))
            continue;
        run_test(&tests[i], &result);
        print_result(&tests[i], &result);
        totals[result.state]++;
    }
}

/* True when the test fails with the words that name the bug. */
static bool caught(const struct plant *plant, const struct test *test) {
    struct result result;
    planted_bug = plant->bug;
    opt.silent = !opt.verbose;
    run_test(test, &result);
    planted_bug = BUG_NONE;
    opt.silent = false;
    const bool found = result.state == FAILED && strstr(result.failure, plant->words);
    printf("%-32s %-60s %s\n", plant->what, test->name, found ? "caught" : "MISSED");
    if (result.state == FAILED && !found)
        printf("    failed without saying \"%s\": %s\n", plant->words, result.failure);
    return found;
}

/* NULL: the filters have left none of this name; without filters there must be one. */
static const struct test *by_name(const struct test_operation *operation, const struct test *tests, size_t count,
                                  const char *name, int totals[STATES]) {
    for (size_t i = 0; i < count; i++)
        if (tests[i].operation == operation && strcmp(tests[i].name, name) == 0)
            return &tests[i];
    if (!opt.test && !opt.kernel) {
        printf("there is no test named %s\n", name);
        totals[FAILED]++;
    }
    return NULL;
}

static void check_plant(const struct plant *plant, const struct test_operation *operation, const struct test *tests,
                        size_t count, int totals[STATES]) {
    const struct test *named = plant->test ? by_name(operation, tests, count, plant->test, totals) : NULL;
    for (const struct test *test = tests; test < tests + count; test++)
        if (plant->test ? test == named : test->operation == operation && is_cheapest(tests, count, test))
            totals[caught(plant, test) ? PASSED : FAILED]++;
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

static void check_operation(const struct test_operation *operation, const struct test *tests, size_t count,
                            int totals[STATES]) {
    for (size_t i = 0; i < operation->plant_count; i++)
        check_plant(&operation->plants[i], operation, tests, count, totals);
    const struct test *launching = by_name(operation, tests, count, operation->launching, totals);
    const struct test *launching_not = by_name(operation, tests, count, operation->launching_not, totals);
    if (!launching || !launching_not)
        return;
    totals[survived(BUG_HANGS, "the kernel hangs", launching, launching_not) ? PASSED : FAILED]++;
    totals[survived(BUG_FAULTS, "the process dies", launching, launching_not) ? PASSED : FAILED]++;
}

int run_self_test(void) {
    static const struct plant maps = {BUG_MAP_RULES, "the driver's map rules differ", "we say legal", "verdicts"};
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
    check_plant(&maps, NULL, tests, count, totals);
    for (size_t i = 0; i < test_operation_count(); i++)
        check_operation(test_operations[i], tests, count, totals);
    close_device();
    for (size_t i = 0; i < test_operation_count(); i++)
        test_operations[i]->free_caches();
    printf("self-test: without a bug everything must pass, every planted bug must be caught\n");
    printf("%d passed, %d failed, %d skipped, %d illegal\n", totals[PASSED], totals[FAILED], totals[SKIPPED],
           totals[ILLEGAL]);
    return totals[FAILED] || !totals[PASSED] ? 1 : 0;
}
