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

static const struct gm_family *const families[] = {
#define FAMILY(name, operation, kib) &gm_family_##name,
#define BORROWS(family, other)
#include "families.def"
#undef FAMILY
#undef BORROWS
};

/* The test of the family's kernel that takes a CPU least, among those of every kernel; NULL: there is none. */
static const struct test *smallest_row(const struct test *tests, size_t count, const struct gm_family *family) {
    const struct test *smallest = NULL;
    int64_t least = 0;
    for (size_t i = 0; i < count; i++) {
        const struct gm_kernel *kernel = tests[i].kernel < 0 ? NULL : &gm_kernels[tests[i].kernel];
        if (!kernel || kernel->family != family || strcmp(tests[i].group, "rows") != 0)
            continue;
        const int64_t elements = operation_of(kernel)->elements_of_cta(kernel);
        if (!smallest || elements < least) {
            smallest = &tests[i];
            least = elements;
        }
    }
    return smallest;
}

static bool is_smallest(const struct test *tests, size_t count, const struct test *test) {
    for (size_t i = 0; i < COUNT(families); i++)
        if (test == smallest_row(tests, count, families[i]))
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
    opt.timeout_seconds = 10; /* for the second test, too, on a busy machine */
    opt.silent = !opt.verbose;
    const int status = supervise(two, COUNT(two), totals);
    planted_bug = BUG_NONE;
    opt.silent = false;
    const bool ok = status == 1 && totals[FAILED] == 1 && totals[PASSED] == 1;
    printf("%-32s %-60s %s\n", what, launches->name, ok ? "survived" : "MISSED");
    return ok;
}

/* NAME, or NAME_of_<operation>; NULL: the filters have left none. */
static const struct test *test_of(const struct test *tests, size_t count, const char *name,
                                  const struct tested_operation *operation) {
    char full[128];
    snprintf(full, sizeof full, "%s_of_%s", name, operation->name);
    const struct test *test = by_name(tests, count, full);
    return test ? test : by_name(tests, count, name);
}

static void check_plant(const struct plant *plant, const struct test *test, int totals[STATES]) {
    if (test) /* the filters may have left none */
        totals[caught(plant, test) ? PASSED : FAILED]++;
}

/* In the test that the bug names, or in each family of the operation. */
static void check_plants(const struct tested_operation *operation, const struct plant *plants, size_t plant_count,
                         const struct test *tests, size_t count, int totals[STATES]) {
    for (size_t i = 0; i < plant_count; i++)
        if (plants[i].test)
            check_plant(&plants[i], test_of(tests, count, plants[i].test, operation), totals);
        else
            for (size_t f = 0; f < COUNT(families); f++)
                if (strcmp(families[f]->operation->name, operation->name) == 0)
                    check_plant(&plants[i], smallest_row(tests, count, families[f]), totals);
}

static void check_operation(const struct tested_operation *operation, const struct test *tests, size_t count,
                            int totals[STATES]) {
    static const struct plant plants[] = {{BUG_STALE_GRAPH, "replay launches nothing", "replay", "graph"},
                                          {BUG_STALE_NODE, "new parameters are not taken", "back to back", "relaunch"},
                                          {BUG_MAP_RULES, "the driver's map rules differ", "we say legal", "verdicts"}};
    check_plants(operation, operation->plants, operation->plant_count, tests, count, totals);
    check_plants(operation, plants, COUNT(plants), tests, count, totals);
}

/* In one operation's test: the supervisor knows of none. */
static void check_supervisor(const struct test *tests, size_t count, int totals[STATES]) {
    const struct test *verdicts = by_name(tests, count, "verdicts");
    const struct test *graph = NULL;
    for (size_t i = 0; i < tested_operation_count && !graph; i++)
        graph = test_of(tests, count, "graph", tested_operations[i]);
    if (!graph || !verdicts)
        return;
    totals[survived(BUG_HANGS, "the kernel hangs", graph, verdicts) ? PASSED : FAILED]++;
    totals[survived(BUG_FAULTS, "the process dies", graph, verdicts) ? PASSED : FAILED]++;
}

int run_self_test(void) {
    opt.quick = true;
    gm_driver_install(fake_driver());
    size_t count;
    const struct test *tests = find_tests(&count);
    if (!open_device()) {
        printf("the stand-in does not open: %s\n", env.why);
        return 1;
    }
    int totals[STATES] = {0};
    check_clean(tests, count, totals);
    for (size_t i = 0; i < tested_operation_count; i++)
        check_operation(tested_operations[i], tests, count, totals);
    check_supervisor(tests, count, totals);
    close_device();
    printf("self-test: without a bug everything must pass, every planted bug must be caught\n");
    printf("%d passed, %d failed, %d skipped, %d illegal\n", totals[PASSED], totals[FAILED], totals[SKIPPED],
           totals[ILLEGAL]);
    return totals[FAILED] || !totals[PASSED] ? 1 : 0;
}
