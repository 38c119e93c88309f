/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_tests: every kernel of the table, and the library above it, on the GPU of this machine. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gpu_tests.h"

struct options opt = {.timeout_seconds = 20};

static const char usage[] =
    "usage: gpu_tests [options]\n"
    "  --test=<glob>     group (rows, stream_k, copies, early, activations, placement, invariance, api, badinput, "
    "tensormap),\n"
    "                    or group.name\n"
    "  --kernel=<glob>   only the rows of the table whose names match\n"
    "  --image=<ptx>     with --test=image or stream_k: this PTX in place of the images of --kernel\n"
    "  --seed=<n>        repeat a run: the seed is the first line it printed\n"
    "  --quick           fewer shapes; for compute-sanitizer\n"
    "  --list            names only\n"
    "  --verbose         draw the wrong elements of a failed case\n"
    "  --timeout=<s>     silence after which a test counts as hung (20)\n"
    "  --no-fork         in one process, for debuggers\n"
    "  --self-test       the tests test themselves: on a CPU stand-in, without and with planted bugs\n"
    "on the simulated GPU (GM_DRIVER=sim):\n"
    "  --schedule=seed=<n>  shuffle warps and copies (0: the plain order)\n"
    "  --seeds=<n>       one ragged shape of every row under n schedules\n"
    "exit status: 0 nothing failed, 1 a test failed or none passed on a GPU, 2 wrong use\n";

static bool parse(const char *arg) {
    static bool *const flags[] = {&opt.quick, &opt.list, &opt.verbose, &opt.no_fork, &opt.self_test};
    static const char *const names[] = {"--quick", "--list", "--verbose", "--no-fork", "--self-test"};
    for (size_t i = 0; i < COUNT(names); i++)
        if (strcmp(arg, names[i]) == 0)
            return *flags[i] = true;
    char *end = "";
    if (strncmp(arg, "--test=", 7) == 0)
        opt.test = arg + 7;
    else if (strncmp(arg, "--kernel=", 9) == 0)
        opt.kernel = arg + 9;
    else if (strncmp(arg, "--image=", 8) == 0)
        opt.image = arg + 8;
    else if (strncmp(arg, "--seed=", 7) == 0)
        opt.seed = strtoull(arg + 7, &end, 0);
    else if (strncmp(arg, "--timeout=", 10) == 0)
        opt.timeout_seconds = (int)strtol(arg + 10, &end, 10);
    else if (strncmp(arg, "--seeds=", 8) == 0)
        opt.seeds = (int)strtol(arg + 8, &end, 10);
    else if (strncmp(arg, "--schedule=seed=", 16) == 0)
        opt.schedule = strtoull(arg + 16, &end, 0);
    else
        return false;
    return *end == '\0' && opt.timeout_seconds > 0 && opt.seeds >= 0;
}

/* For the simulated GPU, which reads these when it starts: a few SMs, so that persistent grids come round with few
 * tiles; and a second device, for the tests that need one. */
static void shape_the_simulated_gpu(void) {
    setenv("GM_SIM_SMS", "4", 0);
    setenv("GM_SIM_DEVICES", "2", 0);
}

static int list(void) {
    size_t count;
    const struct test *tests = find_tests(&count);
    for (size_t i = 0; i < count; i++)
        printf("%s.%s\n", tests[i].group, tests[i].name);
    return 0;
}

int main(int argc, char **argv) {
    opt.seed = hash64((uint64_t)time(NULL), 0) % 1000000000;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            fputs(usage, stdout);
            return 0;
        }
        if (!parse(argv[i])) {
            fprintf(stderr, "gpu_tests: unknown or malformed option %s\n%s", argv[i], usage);
            return 2;
        }
    }
    if (gm_reason_count() > REASONS) {
        fprintf(stderr, "gpu_tests: the library has %d reasons, and these tests count %d\n", gm_reason_count(),
                REASONS);
        return 2;
    }
    if (opt.list)
        return list();
    shape_the_simulated_gpu();
    printf("seed %llu\n", (unsigned long long)opt.seed);
    if (opt.self_test && GM_LEFT_OUT && !opt.kernel && !opt.test) {
        printf("--self-test wants every kernel in the table; this build leaves out %d (--kernel and --test plant in "
               "some)\n",
               GM_LEFT_OUT);
        return 77;
    }
    if (opt.self_test)
        return run_self_test();
    size_t count;
    int totals[STATES];
    const struct test *tests = find_tests(&count);
    return supervise(tests, count, totals);
}
