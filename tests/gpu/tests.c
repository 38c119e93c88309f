/* SPDX-License-Identifier: Apache-2.0 */
/* The list of tests, the filters over it, and what a test says. */
#include <fnmatch.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "gpu_tests.h"

static struct test *tests;
static size_t test_count, test_capacity;
static int failures_said; /* of the test that runs */

enum { MOST_FAILURES_SAID = 6 };

const struct tested_operation *const tested_operations[] = {
#define OPERATION(name, computes) &name##_tests,
#include "operations.def"
#undef OPERATION
};
const size_t tested_operation_count = COUNT(tested_operations);

const struct tested_operation *operation_of(const struct gm_kernel *kernel) {
    size_t i = 0;
    while (strcmp(tested_operations[i]->name, kernel->family->operation->name) != 0)
        i++;
    return tested_operations[i];
}

void add_test(const char *group, const char *name, void (*run)(const struct test *, struct result *), int kernel,
              uint32_t mask) {
    if (test_count == test_capacity) {
        test_capacity = test_capacity * 2 + 64;
        tests = realloc(tests, test_capacity * sizeof *tests);
        if (!tests)
            exit(2);
    }
    struct test *test = &tests[test_count++];
    *test = (struct test){.run = run, .kernel = kernel, .mask = mask};
    snprintf(test->group, sizeof test->group, "%s", group);
    snprintf(test->name, sizeof test->name, "%s", name);
}

void add_operation_test(const char *group, const char *name, void (*run)(const struct test *, struct result *),
                        uint32_t mask) {
    for (size_t i = 0; i < tested_operation_count; i++) {
        char full[128];
        snprintf(full, sizeof full, "%s_of_%s", name, tested_operations[i]->name);
        add_test(group, full, run, -1, mask);
        tests[test_count - 1].operation = tested_operations[i];
    }
}

bool glob_match(const char *pattern, const char *text) {
    return !pattern || fnmatch(pattern, text, 0) == 0;
}

static bool wanted(const struct test *test) {
    char full[160];
    snprintf(full, sizeof full, "%s.%s", test->group, test->name);
    if (!glob_match(opt.test, test->group) && !glob_match(opt.test, full))
        return false;
    return !opt.kernel || (test->kernel >= 0 && glob_match(opt.kernel, test->name));
}

const struct test *find_tests(size_t *count) {
    test_count = 0;
    add_tensormap_tests();
    add_number_tests();
    add_refusal_tests();
    for (size_t i = 0; i < tested_operation_count; i++)
        tested_operations[i]->add_tests();
    add_runtime_tests();
    add_relaunch_tests();
    size_t kept = 0;
    for (size_t i = 0; i < test_count; i++)
        if (wanted(&tests[i]))
            tests[kept++] = tests[i];
    test_count = kept;
    *count = kept;
    return tests;
}

void run_test(const struct test *test, struct result *result) {
    *result = (struct result){.state = PASSED};
    failures_said = 0;
    test->run(test, result);
    int refused = 0;
    for (int i = 0; i < REASONS; i++)
        refused += result->refused[i];
    if (result->state == PASSED && result->cases == 0) {
        result->state = refused ? ILLEGAL : FAILED;
        if (!refused)
            snprintf(result->note, sizeof result->note, "no case ran");
    }
}

static void print_refusals(const struct result *result) {
    const char *before = "; illegal: ";
    for (int i = 0; i < REASONS; i++)
        if (result->refused[i]) {
            printf("%s%d by %s", before, result->refused[i], gm_reason_name((enum gm_reason)i));
            before = ", ";
        }
}

void print_result(const struct test *test, const struct result *result) {
    static const char *words[STATES] = {"PASS", "FAIL", "SKIP", "ILLEGAL"};
    char full[160];
    if (opt.silent)
        return;
    snprintf(full, sizeof full, "%s.%s", test->group, test->name);
    printf("%-66s %-7s", full, words[result->state]);
    if (result->cases)
        printf(" %d case%s", result->cases, result->cases == 1 ? "" : "s");
    print_refusals(result);
    printf("%s%s%s\n", result->note[0] ? " (" : "", result->note, result->note[0] ? ")" : "");
    fflush(stdout);
}

void fail(struct result *result, const char *format, ...) {
    char sentence[1400];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    result->state = FAILED;
    if (!result->failure[0])
        snprintf(result->failure, sizeof result->failure, "%.*s", (int)sizeof result->failure - 1, sentence);
    if (opt.silent || failures_said++ >= MOST_FAILURES_SAID)
        return;
    printf("    %s\n%s", sentence, failures_said == MOST_FAILURES_SAID ? "    (no more of this test)\n" : "");
    fflush(stdout);
}

void skip(struct result *result, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(result->note, sizeof result->note, format, args);
    va_end(args);
    if (result->state == PASSED)
        result->state = SKIPPED;
}

bool lacks_sm90(const struct test *test, struct result *result) {
    const bool lacks = test->mask == GM_ARCH_SM90 && env.device.cc_major != 9;
    result->refused[GM_REASON_NO_IMAGE] += lacks;
    return lacks;
}

bool check_ok(struct result *result, enum gm_status status, const char *what) {
    if (status == GM_OK)
        return true;
    fail(result, "%s: %s: %s", what, gm_status_name(status), gm_last_error());
    return false;
}

bool check_cuda(struct result *result, CUresult code, const char *what) {
    if (code == CUDA_SUCCESS)
        return true;
    fail(result, "%s: %s", what, gm_driver_error_name(code));
    return false;
}
