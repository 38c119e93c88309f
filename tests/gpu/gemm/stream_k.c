/* SPDX-License-Identifier: Apache-2.0 */
/* Every row that can, with its tiles divided by k-blocks, as the planner would and as it never would: results, the
 * bytes around D and around the workspace, a workspace that holds anything, launch after launch, graphs. */
#include <stdlib.h>
#include <string.h>

#include "gemm/gemm_tests.h"
#include "host/gemm/launch.h"
#include "host/occupancy.h"
#include "workspace.h"

enum { ANY = 0, SIMULATED_SMS = 132 };

struct division {
    int tiles_m, tiles_n, ragged; /* tiles of a cluster; elements that M and N lack of whole ones */
    int blocks, rest;             /* whole k-blocks, and elements of K behind them */
    int whole, shares;            /* at most as many as CTAs run at once; ANY: all of those, on a GPU */
    int least;                    /* smallest piece */
    int pieces;                   /* of each divided tile, where they are equal: sm90 rows only */
};

static const struct division divisions[] = {
    {1, 1, 0, 4, 0, 0, 2, 1, 0},    /* split-K in two */
    {1, 1, 7, 9, 3, 0, 4, 1, 0},    /* one tile, uneven pieces, a ragged end of K in the last */
    {1, 1, 3, 3, 0, 0, 4, 1, 0},    /* more shares than k-blocks: one is empty */
    {2, 2, 5, 5, 1, 0, 3, 1, 0},    /* shares that end inside tiles and pass whole ones */
    {3, 2, 7, 3, 2, 4, 5, 1, 0},    /* whole tiles behind the shares; more CTAs than whole tiles */
    {3, 3, 9, 4, 0, 7, 2, 1, 0},    /* more whole tiles than shares */
    {2, 1, 3, 6, 5, 0, 3, 2, 0},    /* cuts move to the tile's edge */
    {2, 2, 1, 2, 3, 1, 3, 8, 0},    /* K smaller than the smallest piece: nothing is divided */
    {2, 2, 0, 16, 0, 3, ANY, 8, 0}, /* as the planner does */
    {3, 4, 3, 9, 7, 3, ANY, 4, 0},  /* shares of a tile and a half; some CTAs with a whole one besides */
    {1, 1, 7, 4, 3, 0, 2, 1, 2},    /* the same, summed by reduce-scatter: split-K in two, */
    {1, 2, 3, 7, 0, 0, 6, 1, 3},    /* two tiles in three uneven pieces, */
    {2, 2, 9, 5, 5, 0, 20, 1, 5},   /* as many pieces as k-blocks, */
    {1, 1, 3, 11, 0, 0, 8, 1, 8},   /* and more pieces than some tiles have planes */
};

struct setup {
    const struct variant *variant;
    struct result *result;
    struct buffers buffers;
    struct guarded_workspace workspace;
    struct placed placed;
    gm_plan *plan;
    bool workspace_of_ones; /* all its bits, not noise */
    char what[700];
};

static struct gemm_case case_of(const struct variant *variant, const struct division *d) {
    struct gemm_case gc = {.m = (int64_t)d->tiles_m * variant->gemm.tile_m * variant->gemm.cluster_m - d->ragged,
                           .n = (int64_t)d->tiles_n * variant->gemm.tile_n * variant->gemm.cluster_n - d->ragged,
                           .k = (int64_t)d->blocks * variant->gemm.tile_k + d->rest,
                           .ab_type = variant->kernel.type,
                           .a_major = variant->gemm.a_major,
                           .b_major = variant->gemm.b_major,
                           .alpha = 1,
                           .d_type =
                               gm_type_bytes(variant->kernel.type) == 4 ? GM_FP32 : (enum gm_type)(d->blocks % 3)};
    gc.a_pad = pad_row(gc.ab_type, gc.a_major == GM_K_MAJOR ? gc.k : gc.m);
    gc.b_pad = pad_row(gc.ab_type, gc.b_major == GM_K_MAJOR ? gc.k : gc.n) + row_unit(gc.ab_type);
    gc.d_pad = (8 - gc.n % 8) % 8 + 16;
    set_pair(variant, d->blocks, &gc.ab_type, &gc.b_type);
    return gc;
}

/* Plans the row and divides its tiles. False: it failed, or the device cannot run the row. */
static bool set_up(struct setup *s, const struct gemm_case *gc, const struct division *d) {
    const struct gm_plan_options options = {.size = sizeof options, .kernel = s->variant->kernel.name};
    const int length = snprintf(s->what, sizeof s->what, "%d tiles whole, %d shares, least %d, %d pieces: ", d->whole,
                                d->shares, d->least, d->pieces);
    describe_gemm(gc, s->what + length, sizeof s->what - (size_t)length);
    heartbeat(s->what);
    if (!place_gemm(s->result, gc, &s->buffers, &s->placed))
        return false;
    if (gm_gemm_plan_create(env.context, &s->placed.problem, &options, &s->plan) == GM_ERROR_NO_KERNEL) {
        s->result->refused[GM_REASON_SMEM]++;
        return false;
    }
    if (env.simulated || opt.self_test) /* it starts more CTAs than it holds: some run when others have ended */
        s->plan->device.sm_count = SIMULATED_SMS;
    const struct gm_gemm_variant planned = gm_gemm_variant(s->plan->kernel);
    const int64_t at_once = gm_clusters_at_once(s->plan->kernel, &s->plan->device);
    const int64_t most = d->shares != ANY ? d->shares : env.simulated ? 6 : at_once;
    const struct gm_gemm_division wanted = {
        .whole = d->whole, .shares = most < at_once ? most : at_once, .pieces = d->pieces};
    const struct gm_gemm_division division =
        gm_divide_as(&planned, &gm_gemm_planned_of(s->plan)->problem, &s->plan->device, &wanted);
    if (division.shares == 0) {
        fail(s->result, "%s: cannot be divided so", s->what);
        return false;
    }
    gm_gemm_plan_divide(s->plan, &division);
    gm_gemm_stream_k_of(s->plan)->least = d->least;
    return true;
}

static void tear_down(struct setup *s) {
    gm_plan_destroy(s->plan);
    s->plan = NULL;
}

/* ---- the workspace ----------------------------------------------------------------------------------- */

/* Of the case's plan. */
static bool give_workspace(struct setup *s) {
    const bool ok = place_workspace(s->result, &s->workspace, gm_plan_workspace_bytes(s->plan), s->workspace_of_ones);
    s->placed.args.workspace = s->workspace.address;
    s->placed.args.workspace_bytes = s->workspace.bytes;
    return ok;
}

/* ---- launches ---------------------------------------------------------------------------------------- */

/* The second and third launch find the flags that the one before has left. */
static bool launch_again(struct setup *s) {
    const int launches = env.simulated && opt.quick ? 2 : 3;
    bool ok = give_workspace(s);
    for (int launch = 0; launch < launches && ok; launch++)
        ok = poison_output(s->result, &s->placed.call) &&
             check_ok(s->result, gm_gemm_execute(s->plan, &s->placed.args, env.stream), s->what) &&
             check_cuda(s->result, env.drv->cuStreamSynchronize(env.stream), s->what) &&
             check_output(s->result, &s->placed.call, s->what);
    return ok && check_workspace(s->result, &s->workspace, s->what);
}

static bool replay_twice(struct setup *s) {
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    const CUstream stream = env.stream;
    if (!give_workspace(s) ||
        !check_cuda(s->result, env.drv->cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), "capture"))
        return false;
    bool ok = check_ok(s->result, gm_gemm_execute(s->plan, &s->placed.args, stream), "execute under capture");
    ok = check_cuda(s->result, env.drv->cuStreamEndCapture(stream, &graph), "end capture") && ok &&
         check_cuda(s->result, env.drv->cuGraphInstantiateWithFlags(&exec, graph, 0), "cuGraphInstantiate");
    for (int replay = 0; replay < 2 && ok; replay++)
        ok = poison_output(s->result, &s->placed.call) &&
             check_cuda(s->result, env.drv->cuGraphLaunch(exec, stream), "cuGraphLaunch") &&
             check_cuda(s->result, env.drv->cuStreamSynchronize(stream), "replay") &&
             check_output(s->result, &s->placed.call, s->what);
    if (graph)
        env.drv->cuGraphDestroy(graph);
    if (exec)
        env.drv->cuGraphExecDestroy(exec);
    return ok && check_workspace(s->result, &s->workspace, s->what);
}

/* ---- the cases --------------------------------------------------------------------------------------- */

static bool try(struct setup *s, const struct gemm_case *gc, const struct division *d, bool (*run)(struct setup *s)) {
    const struct gemm_case typed = fit_type(gc), fit = fit_variant(s->variant, &typed);
    const bool ok = set_up(s, &fit, d) && run(s);
    s->result->cases += ok;
    tear_down(s);
    return ok;
}

/* Whether the row can divide its tiles so. */
static bool suits(const struct variant *variant, const struct division *d) {
    return (d->pieces > 0) == variant->gemm.split_k;
}

/* Whether tiles of both are divided, and published, by the same code but for sizes. */
static bool are_alike(const struct variant *x, const struct variant *y) {
    const struct gm_gemm_kernel_info *a = &x->gemm, *b = &y->gemm;
    return x->kernel.arch == y->kernel.arch && a->cluster_m == b->cluster_m && a->cluster_n == b->cluster_n &&
           a->cluster_k == b->cluster_k && a->warp_k == b->warp_k && a->split_k == b->split_k && a->gate == b->gate &&
           a->extended == b->extended && a->sum_scales == b->sum_scales && a->swap == b->swap &&
           a->schedule == b->schedule && a->consumers == b->consumers;
}

/* Whether a row before it is alike, of any type or of its own. */
static bool comes_after_its_like(const struct variant *variant, bool of_its_type) {
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        struct variant other;
        if (strcmp(gm_kernels[i].name, variant->kernel.name) == 0)
            return false;
        if (read_variant(i, &other) && !is_gemv(&other) && are_alike(&other, variant) &&
            (!of_its_type || other.kernel.type == variant->kernel.type))
            return true;
    }
    return false;
}

/* Quick tests of the simulator, which is slow, run every case at the first of the rows that are alike. */
static bool is_twin(const struct variant *variant) {
    return env.simulated && opt.quick && comes_after_its_like(variant, false);
}

/* They leave out fp16, which is bf16 but for the names of its instructions, and of each type all but the first of the rows
 * that are alike: rows.c runs all by name. */
static bool is_left_out(const struct variant *variant) {
    return env.simulated && opt.quick && (variant->kernel.type == GM_FP16 || comes_after_its_like(variant, true));
}

static bool try_divisions(struct setup *s) {
    for (size_t i = 0; i < COUNT(divisions); i++) {
        if (!suits(s->variant, &divisions[i]) || (i % 3 && is_twin(s->variant)))
            continue;
        const struct gemm_case gc = case_of(s->variant, &divisions[i]);
        if (!try(s, &gc, &divisions[i], launch_again))
            return false;
    }
    return true;
}

/* Numbers whose sum depends on the order of addition: every run gives the same bits. */
static bool same_bits(struct setup *s) {
    enum { RUNS = 4 };
    const size_t bytes = s->placed.call.region_bytes;
    uint8_t *first = malloc(bytes), *again = malloc(bytes);
    bool ok = first && again && give_workspace(s);
    for (int run = 0; run < RUNS && ok; run++) {
        ok = poison_output(s->result, &s->placed.call) &&
             check_ok(s->result, gm_gemm_execute(s->plan, &s->placed.args, env.stream), s->what) &&
             check_cuda(s->result, env.drv->cuStreamSynchronize(env.stream), s->what) &&
             check_cuda(s->result, env.drv->cuMemcpyDtoH(run ? again : first, s->placed.call.region, bytes), s->what);
        if (ok && run > 0 && memcmp(first, again, bytes) != 0) {
            fail(s->result, "%s: run %d gave other bits than run 0", s->what, run);
            ok = false;
        }
    }
    free(first);
    free(again);
    return ok && check_output(s->result, &s->placed.call, s->what);
}

/* Ones times ones is K everywhere, so that a k-block that is lost or summed twice shows, and a partial sum or a flag of
 * all ones, NaN and -1, that is taken for one of this launch. */
static bool try_ones(struct setup *s, const struct division *d) {
    struct gemm_case gc = case_of(s->variant, d);
    gc.k += d->rest ? 0 : 5;
    gc.a_pad += gc.a_major == GM_K_MAJOR ? pad_row(gc.ab_type, gc.k + gc.a_pad) : 0;
    gc.b_pad += gc.b_major == GM_K_MAJOR ? pad_row(gc.ab_type, gc.k + gc.b_pad) : 0;
    gc.inputs = ONES, gc.d_type = GM_FP32;
    s->workspace_of_ones = true;
    const bool ok = try(s, &gc, d, launch_again);
    s->workspace_of_ones = false;
    return ok;
}

/* Epilogues, odd alignments, numbers that round, graphs, on one ragged division. */
static bool try_epilogues(struct setup *s, const struct division *d) {
    if (is_twin(s->variant))
        return true;
    const int odd = copied_elements(s->variant->kernel.type);
    struct gemm_case gc = case_of(s->variant, d);
    gc.alpha = 0.5f, gc.beta = -2, gc.bias = GM_BIAS_M, gc.bias_type = GM_FP32, gc.activation = GM_ACT_RELU;
    if (!try(s, &gc, d, launch_again))
        return false;
    gc = case_of(s->variant, d);
    gc.d_offset = 5, gc.d_pad += 3;
    if (s->variant->kernel.arch == GM_ARCH_SM80) /* TMA takes no such operands */
        gc.a_offset = odd, gc.b_offset = 3 * odd, gc.a_pad += 3 * odd, gc.b_pad += odd;
    if (!try(s, &gc, d, launch_again))
        return false;
    gc = case_of(s->variant, d);
    gc.inputs = NORMAL, gc.d_type = GM_FP32;
    if (!try(s, &gc, d, same_bits))
        return false;
    gc = case_of(s->variant, d);
    return try(s, &gc, d, replay_twice) && try_ones(s, d);
}

static bool try_schedules(struct setup *s, const struct division *d) {
    bool ok = true;
    for (int seed = 1; seed <= opt.seeds && ok && env.simulated; seed++) {
        const struct gemm_case gc = case_of(s->variant, d);
        set_schedule(opt.schedule + (uint64_t)seed);
        ok = try(s, &gc, d, launch_again);
    }
    set_schedule(opt.schedule);
    return ok;
}

static void run_row(const struct test *test, struct result *result) {
    struct variant variant;
    if (!read_variant((size_t)test->kernel, &variant))
        return;
    if (is_left_out(&variant)) {
        skip(result, "a row that is alike has run");
        return;
    }
    const bool split_k = variant.gemm.split_k;
    struct setup s = {.variant = &variant, .result = result};
    if (try_divisions(&s) && try_epilogues(&s, split_k ? &divisions[12] : &divisions[3]))
        try_schedules(&s, split_k ? &divisions[12] : &divisions[4]);
    arena_free(&s.workspace.arena);
    free_buffers(&s.buffers);
}

/* ---- the planner's own choice ------------------------------------------------------------------------- */

/* Problems of few tiles and a long K, of which the planner divides some; which ones depends on the number of SMs, for
 * clusters that split K serve as well. */
static const struct gemm_case long_k[] = {{.m = 60, .n = 56, .k = 4096, .alpha = 1, .d_pad = 8},
                                          {.m = 60, .n = 56, .k = 32768, .alpha = 1, .d_pad = 8},
                                          {.m = 188, .n = 600, .k = 8192, .alpha = 1, .d_pad = 8}};

/* Places a case and plans it; false: reported. */
static bool plan_with(const struct test *test, struct setup *s, const struct gemm_case *gc, size_t limit) {
    const struct gm_plan_options options = {.size = sizeof options, .arch_mask = test->mask, .workspace_limit = limit};
    return place_gemm(s->result, gc, &s->buffers, &s->placed) &&
           check_ok(s->result, gm_gemm_plan_create(env.context, &s->placed.problem, &options, &s->plan), "plan");
}

/* With a workspace the plan divides one of them, without one it does not. */
static void run_planned(const struct test *test, struct result *result) {
    const size_t cases = sizeof long_k / sizeof *long_k, allowed = 64 << 20;
    struct setup s = {.result = result};
    if (lacks_sm90(test, result))
        return;
    size_t i = 0;
    while (i < cases && plan_with(test, &s, &long_k[i], allowed) && gm_plan_workspace_bytes(s.plan) == 0) {
        tear_down(&s);
        i++;
    }
    if (i == cases) {
        fail(result, "no plan of %zu asks for workspace", cases);
    } else if (s.plan) {
        snprintf(s.what, sizeof s.what, "planned with a workspace");
        result->cases += launch_again(&s);
        tear_down(&s);
        if (plan_with(test, &s, &long_k[i], 0) && gm_plan_workspace_bytes(s.plan) != 0)
            fail(result, "the plan asks for %zu bytes of workspace of 0 allowed", gm_plan_workspace_bytes(s.plan));
        else if (s.plan)
            result->cases += launch_again(&s);
    }
    tear_down(&s);
    arena_free(&s.workspace.arena);
    free_buffers(&s.buffers);
}

/* ---- plans that share a workspace ---------------------------------------------------------------------- */

enum { SHARING = 3, TURNS = 3 };

static bool divides_here(const struct variant *variant) {
    return !is_gemv(variant) && variant->gemm.cluster_k == 1 &&
           variant->kernel.smem_bytes <= env.device.smem_per_block_bytes &&
           (variant->kernel.arch == GM_ARCH_SM80 || env.device.cc_major == 9);
}

/* The first rows of ordinary epilogues that divide their tiles: of sm90 into any pieces and into equal ones, and of sm80;
 * three of sm80 where no other runs. */
static bool pick_sharing(struct variant picked[SHARING]) {
    int last = -1;
    for (int kind = 0; kind < SHARING; kind++) {
        bool found = false;
        for (int i = env.device.cc_major == 9 ? 0 : last + 1; i < (int)gm_kernel_count() && !found; i++) {
            struct variant variant;
            if (!read_variant((size_t)i, &variant))
                continue;
            const int of = variant.kernel.arch == GM_ARCH_SM80 ? 2 : variant.gemm.split_k;
            if (divides_here(&variant) && !variant.gemm.gate && !variant.gemm.extended &&
                (of == kind || env.device.cc_major != 9)) {
                picked[kind] = variant;
                last = i;
                found = true;
            }
        }
        if (!found)
            return false;
    }
    return true;
}

/* All execute `turns` times in turn. */
static bool take_turns(struct setup setups[SHARING], int turns) {
    for (int i = 0; i < turns * SHARING; i++) {
        struct setup *s = &setups[i % SHARING];
        if (!check_ok(s->result, gm_gemm_execute(s->plan, &s->placed.args, env.stream), s->what))
            return false;
    }
    return true;
}

static bool check_sharing(struct setup setups[SHARING], const char *what) {
    bool ok = check_cuda(setups->result, env.drv->cuStreamSynchronize(env.stream), what);
    for (int i = 0; i < SHARING && ok; i++)
        ok = check_output(setups[i].result, &setups[i].placed.call, setups[i].what) &&
             poison_output(setups[i].result, &setups[i].placed.call);
    setups->result->cases += ok;
    return ok;
}

static bool replay_sharing(struct setup setups[SHARING]) {
    struct result *const result = setups->result;
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    if (!check_cuda(result, env.drv->cuStreamBeginCapture(env.stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), "capture"))
        return false;
    bool ok = take_turns(setups, 1);
    ok = check_cuda(result, env.drv->cuStreamEndCapture(env.stream, &graph), "end capture") && ok &&
         check_cuda(result, env.drv->cuGraphInstantiateWithFlags(&exec, graph, 0), "cuGraphInstantiate");
    for (int replay = 0; replay < TURNS && ok; replay++)
        ok = check_cuda(result, env.drv->cuGraphLaunch(exec, env.stream), "cuGraphLaunch") &&
             check_sharing(setups, "replay");
    if (graph)
        env.drv->cuGraphDestroy(graph);
    if (exec)
        env.drv->cuGraphExecDestroy(exec);
    return ok;
}

/* The longest of the workspaces that the plans ask for, full of noise, is the workspace of all. */
static bool share_workspace(struct setup setups[SHARING]) {
    struct setup *longest = &setups[0];
    for (int i = 1; i < SHARING; i++)
        if (gm_plan_workspace_bytes(setups[i].plan) > gm_plan_workspace_bytes(longest->plan))
            longest = &setups[i];
    if (!give_workspace(longest))
        return false;
    for (int i = 0; i < SHARING; i++) {
        setups[i].placed.args.workspace = longest->placed.args.workspace;
        setups[i].placed.args.workspace_bytes = longest->placed.args.workspace_bytes;
    }
    return true;
}

static void run_sharing(const struct test *test, struct result *result) {
    (void)test;
    struct variant picked[SHARING];
    struct gemm_case cases[SHARING];
    struct setup setups[SHARING] = {{.result = result}, {.result = result}, {.result = result}};
    bool ok = pick_sharing(picked);
    if (!ok)
        fail(result, "no three rows of the table divide their tiles here");
    for (int i = 0; i < SHARING && ok; i++) {
        const struct division *division =
            i == 1 && picked[i].kernel.arch == GM_ARCH_SM90 ? &divisions[11] : &divisions[3];
        cases[i] = case_of(&picked[i], division);
        setups[i].variant = &picked[i];
        ok = set_up(&setups[i], &cases[i], division);
    }
    ok = ok && share_workspace(setups) && take_turns(setups, TURNS) && check_sharing(setups, "in turn") &&
         replay_sharing(setups);
    for (int i = 0; i < SHARING; i++) {
        if (setups[i].workspace.arena.bytes) {
            result->cases += ok && check_workspace(result, &setups[i].workspace, setups[i].what);
            arena_free(&setups[i].workspace.arena);
        }
        tear_down(&setups[i]);
        free_buffers(&setups[i].buffers);
    }
}

void add_gemm_stream_k_tests(void) {
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        struct variant variant;
        if (read_variant(i, &variant) && !is_gemv(&variant) && variant.gemm.cluster_k == 1)
            add_test("stream_k", variant.kernel.name, run_row, (int)i, 0);
    }
    add_test("stream_k", "three_plans_take_turns_on_one_workspace_and_in_a_graph", run_sharing, -1, 0);
    add_test("stream_k", "planned_sm80", run_planned, -1, GM_ARCH_SM80);
    add_test("stream_k", "planned_sm90", run_planned, -1, GM_ARCH_SM90);
}
