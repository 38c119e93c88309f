/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill explain: every kernel's verdict on one problem. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/base/args.h"
#include "program/commands.h"
#include "bench/measure/gpu.h"
#include "program/base/grid.h"
#include "program/base/letters.h"
#include "program/smem/numbers.h"
#include "bench/suite.h"
#include "host/gemm/problem.h"

struct explain_options {
    const char *dtype, *out, *layout, *align, *act, *bias, *arch, *kernel, *device, *ledger;
    bool model_only, batch_invariant;
    int lda, ldb, ldc, ldd, workspace_mib;
};

static int choose(const char *option, const char *text, const char *const *names, int count) {
    for (int i = 0; i < count; i++) {
        if (strcmp(text, names[i]) == 0)
            return i;
    }
    return complain("--%s does not know `%s`; see --help", option, text);
}

static int set_types(const struct explain_options *given, struct gm_gemm_problem *problem) {
    if (suite_check_override(given->dtype, given->out, given->layout) != 0)
        return -1;
    suite_type(given->dtype, &problem->ab_type);
    suite_type(given->out ? given->out : given->dtype, &problem->d_type);
    suite_layout(given->layout, &problem->a_major, &problem->b_major);
    problem->bias_type = problem->d_type;
    return 0;
}

static int set_epilogue(const struct explain_options *given, struct gm_gemm_problem *problem) {
    static const char *const acts[] = {"none", "relu", "gelu", "gelu_erf", "silu"};
    static const char *const biases[] = {"none", "n", "m"};
    int act = given->act ? choose("act", given->act, acts, 5) : 0;
    int bias = given->bias ? choose("bias", given->bias, biases, 3) : 0;
    if (act < 0 || bias < 0)
        return -1;
    problem->activation = (enum gm_activation)act;
    problem->bias = (enum gm_bias)bias;
    return 0;
}

static int set_strides(const struct explain_options *given, struct gm_gemm_problem *problem) {
    int32_t *const aligns[] = {&problem->a_align, &problem->b_align, &problem->d_align};
    const char *at = given->align;
    problem->lda = given->lda;
    problem->ldb = given->ldb;
    problem->ldc = given->ldc;
    problem->ldd = given->ldd;
    for (int i = 0; given->align && i < 3; i++) {
        uint32_t bytes;
        if (!number_take(&at, INT32_MAX, &bytes) || bytes == 0 || *at != (i < 2 ? ',' : 0))
            return complain("--align wants three numbers of bytes for A, B, D, such as 16,8,2, not `%s`", given->align);
        *aligns[i] = (int32_t)bytes;
        at++;
    }
    return 0;
}

static int set_sizes(const struct args_list *words, struct gm_gemm_problem *problem) {
    int64_t *const into[3] = {&problem->m, &problem->n, &problem->k};
    if (words->count == 1 && suite_parse_shape(words->items[0], into[0], into[1], into[2]))
        return 0;
    if (words->count != 3)
        return complain("explain wants three sizes, M N K; `gristmill explain --help` says more");
    for (int i = 0; i < 3; i++) {
        const char *end = words->items[i];
        uint64_t size;
        if (!number_take_64(&end, INT64_MAX, &size) || *end)
            return complain("%c is `%s`, not a size", "MNK"[i], words -> items[i]);
        *into[i] = (int64_t)size;
    }
    return 0;
}

/* The chosen one, then what is legal by time, then the refusals in table order. */
static int compare_candidates(const void *left, const void *right) {
    const struct gm_candidate *x = left, *y = right;
    bool x_legal = x->reason == GM_ACCEPTED || x->reason == GM_REASON_NOT_PRODUCTION;
    bool y_legal = y->reason == GM_ACCEPTED || y->reason == GM_REASON_NOT_PRODUCTION;
    if (x->chosen != y->chosen)
        return y->chosen - x->chosen;
    if (x_legal != y_legal)
        return y_legal - x_legal;
    if (x_legal && x->predicted_us != y->predicted_us)
        return x->predicted_us < y->predicted_us ? -1 : 1;
    return x->kernel - y->kernel;
}

static bool add_candidate(struct grid *grid, const struct gm_candidate *candidate) {
    struct gm_kernel_info kernel = {.size = sizeof kernel};
    if (gm_kernel_get((size_t)candidate->kernel, &kernel) != GM_OK)
        return false;
    bool legal = candidate->reason == GM_ACCEPTED || candidate->reason == GM_REASON_NOT_PRODUCTION;
    char us[32] = "-", sentence[GRID_CELL_BYTES];
    if (legal)
        snprintf(us, sizeof us, "%.2f", candidate->predicted_us);
    snprintf(sentence, sizeof sentence, "%s", candidate->sentence[0] ? candidate->sentence : "accepted");
    return grid_add(grid, "%s|%s|%s|%s", candidate->chosen ? "▶" : legal ? "·" : "✗", kernel.name, us, sentence);
}

static int print_candidates(struct gm_candidate *candidates, size_t count) {
    struct grid grid;
    qsort(candidates, count, sizeof *candidates, compare_candidates);
    bool good = grid_start(&grid, "< |<kernel|predicted us|<verdict");
    for (size_t i = 0; good && i < count; i++)
        good = add_candidate(&grid, &candidates[i]);
    if (good)
        grid_print(&grid, stdout);
    grid_free(&grid);
    if (!good)
        return complain("the candidates cannot be listed");
    if (count == 0 || !candidates[0].chosen)
        return complain("no kernel of the table accepts this problem here");
    letters_put(stdout, "\n▶ chosen   · legal   ✗ refused\n");
    return 0;
}

static int explain(const struct gm_device *device, const struct gm_gemm_problem *problem,
                   const struct gm_plan_options *options) {
    size_t count = gm_kernel_count();
    struct gm_candidate *candidates = calloc(count + 1, sizeof *candidates);
    if (!candidates)
        return complain("out of host memory");
    enum gm_status status = gm_gemm_explain(device, problem, options, candidates, count, &count);
    int result = status == GM_OK ? 0 : gpu_fail_library(status, "gm_gemm_explain");
    if (result == 0)
        result = print_candidates(candidates, count);
    free(candidates);
    return result;
}

static int run(const struct explain_options *given, const struct args_list *words) {
    struct gm_gemm_problem problem = {.size = sizeof problem};
    struct gm_plan_options options = {
        .size = sizeof options,
        .kernel = given->kernel,
        .flags = (given->model_only ? GM_PLAN_MODEL_ONLY : 0u) |
                 (given->batch_invariant ? GM_PLAN_BATCH_INVARIANT : 0u),
        .workspace_limit = (size_t)given->workspace_mib << 20};
    gm_ledger *ledger = NULL;
    struct gm_device device;
    char why[256];
    if (set_sizes(words, &problem) != 0 || set_types(given, &problem) != 0 || set_epilogue(given, &problem) != 0 ||
        set_strides(given, &problem) != 0 || pick_arch(given->arch, &options.arch_mask) != 0)
        return EXIT_CODE_USAGE;
    if (pick_device(given->device, &device, why, sizeof why) != 0)
        return EXIT_CODE_FAILURE;
    if (why[0])
        printf("There is no GPU here (%s), so this is for the %s model.\n", why, device.name);
    printf("%" PRId64 " x %" PRId64 " x %" PRId64 " %s -> %s, %s, on %s\n\n", problem.m, problem.n, problem.k,
           gm_type_name(problem.ab_type), gm_type_name(problem.d_type),
           gm_gemm_layout_name(gm_gemm_layout(&problem)), device.name);
    if (given->ledger && gm_ledger_read(given->ledger, &ledger) != GM_OK) {
        complain("%s", gm_last_error());
        return EXIT_CODE_FAILURE;
    }
    options.ledger = ledger;
    const int status = explain(&device, &problem, &options);
    gm_ledger_destroy(ledger);
    return status == 0 ? EXIT_CODE_OK : EXIT_CODE_FAILURE;
}

int command_explain(int argc, char **argv) {
    struct explain_options given = {.dtype = "bf16", .layout = "tn"};
    const struct args_option options[] = {
        {"dtype", "TYPE", ARGS_TEXT, &given.dtype, "of A and B: bf16 (default) or fp16"},
        {"out", "TYPE", ARGS_TEXT, &given.out, "of C and D: bf16, fp16, fp32 (default: as A and B)"},
        {"layout", "LAYOUT", ARGS_TEXT, &given.layout, "tn (default: both K-major), nn, nt, tt"},
        {"lda", "ELEMENTS", ARGS_POSITIVE, &given.lda, "leading dimensions (default: packed)"},
        {"ldb", "ELEMENTS", ARGS_POSITIVE, &given.ldb, ""},
        {"ldc", "ELEMENTS", ARGS_POSITIVE, &given.ldc, ""},
        {"ldd", "ELEMENTS", ARGS_POSITIVE, &given.ldd, ""},
        {"align", "A,B,D", ARGS_TEXT, &given.align, "bytes of alignment promised of the pointers (default: 16,16,16)"},
        {"act", "NAME", ARGS_TEXT, &given.act, "relu, gelu, gelu_erf, silu"},
        {"bias", "n|m", ARGS_TEXT, &given.bias, "a bias along N or along M"},
        {"arch", "sm80|sm90", ARGS_TEXT, &given.arch, "only this path"},
        {"kernel", "NAME", ARGS_TEXT, &given.kernel, "this kernel and no other"},
        {"ledger", "FILE", ARGS_TEXT, &given.ledger, "ask this tuning ledger instead of the built-in one"},
        {"model-only", NULL, ARGS_FLAG, &given.model_only, "ask no ledger"},
        {"batch-invariant", NULL, ARGS_FLAG, &given.batch_invariant, "only kernels whose rows of D do not depend on M"},
        {"workspace", "MIB", ARGS_COUNT, &given.workspace_mib, "the plan may ask for so much (default: 0)"},
        {"device", "N|MODEL", ARGS_TEXT, &given.device, "device number, or a100, h100, h200, a10, rtx4090"},
    };
    const struct args_command command = {
        "gristmill explain M N K [options]",
        "Every kernel of the table: accepted with the time the planner predicts, or why not, with the numbers.\n"
        "Needs no GPU: without one, and without --device, it answers for the h200 model.",
        options, sizeof options / sizeof *options};
    struct args_list words = {0};
    enum args_outcome outcome = args_parse(&command, argc, argv, &words);
    if (outcome != ARGS_GO)
        return outcome == ARGS_HELP ? EXIT_CODE_OK : EXIT_CODE_USAGE;
    return run(&given, &words);
}
