/* SPDX-License-Identifier: Apache-2.0 */
/* Attention through the public functions: the planner chooses. Random problems, a request among others, one graph for
 * every step, caches of more than 2^31 elements, and wrong use. */
#include <stdlib.h>
#include <string.h>

#include "attention/attention_tests.h"

enum { WORKSPACE = 32 << 20 };

/* ---- random problems ----------------------------------------------------------------------------------- */

static void draw_lens(struct draws *d, struct attention_case *ac, int64_t most_q, int64_t most_kv) {
    for (int b = 0; b < ATTENTION_LENGTHS; b++) {
        ac->q_lens[b] = (int)(draw(d, 3) ? draw(d, most_q + 1) : 1);
        ac->kv_lens[b] = (int)(draw(d, 5) ? draw(d, most_kv) : ac->q_lens[b] + draw(d, 2));
    }
}

/* k and v of e4m3, and q perhaps. */
static void draw_e4m3(struct draws *d, struct attention_case *ac) {
    ac->kv_type = GM_ATTENTION_KV_E4M3;
    ac->scales = (enum gm_attention_scales)draw(d, 4);
    if (draw(d, 3) == 0) {
        ac->type = GM_E4M3;
        ac->out = (enum gm_attention_out)(1 + draw(d, 3));
    }
}

static struct attention_case random_case(struct draws *d) {
    static const int64_t dims[] = {64, 128, 8, 80, 96, 192, 256}, groups[] = {1, 2, 3, 5, 6, 8, 16, 12};
    const bool slow = env.simulated || opt.quick;
    struct attention_case ac = {.batch = 1 + draw(d, slow ? 4 : 12), .kv_heads = 1 + draw(d, 2)};
    ac.q_heads = ac.kv_heads * groups[draw(d, slow ? 4 : (int64_t)COUNT(groups))];
    draw_lens(d, &ac, slow ? 6 : 150, slow ? 50 : 700);
    ac.head_dim = dims[draw(d, slow ? 4 : (int64_t)COUNT(dims))];
    ac.v_head_dim = draw(d, 3) ? ac.head_dim : dims[draw(d, slow ? 4 : (int64_t)COUNT(dims))];
    ac.page_size = (int64_t)1 << draw(d, 8);
    ac.page_size += ac.page_size == 8 && env.simulated ? 8 : 0; /* it wants rows 0 and 8 of a matrix in one page */
    ac.type = (enum gm_type)draw(d, 2);
    ac.out = draw(d, 4) ? GM_ATTENTION_OUT_SAME : GM_ATTENTION_OUT_FP32;
    if (draw(d, 4) == 0)
        draw_e4m3(d, &ac);
    ac.kv_layout = (enum gm_attention_kv_layout)draw(d, 3);
    ac.mask = (enum gm_attention_mask)draw(d, 3);
    ac.left = draw(d, 40) - 1;
    ac.right = draw(d, 4) - 1;
    ac.softcap = draw(d, 4) ? 0 : 2;
    ac.sinks = draw(d, 4) == 0;
    ac.lse = draw(d, 2);
    ac.tree = slow && draw(d, 4) == 0;
    ac.layout = (enum attention_layout)draw(d, ac.v_head_dim == ac.head_dim ? 3 : 2);
    ac.pad = draw(d, 3) ? 0 : 8;
    ac.spare_batch = (int)draw(d, 3);
    ac.spare_rows = (int)draw(d, 3);
    ac.spare_tokens = (int)draw(d, 3) * 20;
    ac.inputs = (enum attention_inputs)draw(d, 2);
    ac.workspace_limit = draw(d, 2) ? WORKSPACE : 0;
    ac.flags = draw(d, 4) ? 0 : GM_PLAN_BATCH_INVARIANT;
    ac.sm_budget = draw(d, 4) ? 0 : 2;
    ac.seed = d->index;
    if (draw(d, 6) == 0) {
        ac.start = (int)draw(d, 8);
        ac.pad = (int)draw(d, 9);
    }
    return ac;
}

static void run_fuzz(const struct test *test, struct result *result) {
    struct draws draws = {opt.seed ^ 0xa77, 0};
    struct attention_memory memory = {0};
    for (int i = 0; i < (opt.quick ? 12 : env.simulated ? 80 : 400); i++) {
        struct attention_case ac = random_case(&draws);
        if (test->mask == GM_ARCH_SM90) /* it may be the sm80 family of tiles that answers then */
            ac.flags = 0;
        ac.may_refuse = test->mask == GM_ARCH_SM90 ? BIT(GM_REASON_NO_IMAGE) : BIT(GM_REASON_SMEM);
        if (!run_attention(result, &ac, NULL, test->mask, &memory))
            break;
    }
    free_attention(NULL, &memory);
}

/* ---- a tree ---------------------------------------------------------------------------------------------- */

static void run_tree(const struct test *test, struct result *result) {
    const struct attention_case ac = {.batch = 2,
                                      .q_lens = {9, 20},
                                      .kv_lens = {30, 77},
                                      .q_heads = 4,
                                      .kv_heads = 2,
                                      .head_dim = 64,
                                      .v_head_dim = 64,
                                      .mask = GM_ATTENTION_CAUSAL,
                                      .tree = true,
                                      .inputs = ATTENTION_PLANTED};
    struct attention_memory memory = {0};
    (void)test;
    run_attention(result, &ac, NULL, 0, &memory);
    free_attention(NULL, &memory);
}

/* ---- e4m3 ------------------------------------------------------------------------------------------------ */

static void run_e4m3(const struct test *test, struct result *result) {
    const struct attention_case ac = {.batch = 3,
                                      .q_lens = {40, 3, 20},
                                      .kv_lens = {77, 30, 21},
                                      .q_heads = 4,
                                      .kv_heads = 2,
                                      .head_dim = 64,
                                      .v_head_dim = 64,
                                      .type = GM_E4M3,
                                      .out = GM_ATTENTION_OUT_FP32,
                                      .scales = GM_ATTENTION_SCALES_REQUEST_HEAD,
                                      .mask = GM_ATTENTION_CAUSAL,
                                      .inputs = ATTENTION_PLANTED};
    struct attention_memory memory = {0};
    (void)test;
    run_attention(result, &ac, NULL, 0, &memory);
    free_attention(NULL, &memory);
}

/* Of each type of q, all who may share a scale; with a soft cap, and with NaN. */
static void run_8_bit_cache(const struct test *test, struct result *result) {
    static const enum gm_type types[] = {GM_BF16, GM_FP16, GM_E4M3};
    struct attention_memory memory = {0};
    (void)test;
    for (int i = 0; i < 15; i++) {
        const bool all = types[i % 3] == GM_E4M3;
        const struct attention_case ac = {.batch = 4,
                                          .q_lens = {2, 1, 1, 3},
                                          .kv_lens = {40, 17, 5, 33},
                                          .q_heads = 4,
                                          .kv_heads = 2,
                                          .head_dim = 64,
                                          .v_head_dim = 64,
                                          .page_size = 16,
                                          .type = types[i % 3],
                                          .kv_type = GM_ATTENTION_KV_E4M3,
                                          .out = all ? GM_ATTENTION_OUT_FP32 : GM_ATTENTION_OUT_SAME,
                                          .scales = (enum gm_attention_scales)(i / 3 % 4),
                                          .kv_layout = (enum gm_attention_kv_layout)(i % 3),
                                          .mask = GM_ATTENTION_CAUSAL,
                                          .softcap = i / 3 == 3 ? 1.5f : 0,
                                          .inputs = i / 3 == 4 ? ATTENTION_SPECIAL : ATTENTION_NORMAL};
        if (!run_attention(result, &ac, NULL, 0, &memory))
            break;
    }
    free_attention(NULL, &memory);
}

/* ---- one graph for every step ---------------------------------------------------------------------------- */

/* Captured with short requests, replayed with long ones, then with none: lengths and pages are read on the device. */
static void run_steps(const struct test *test, struct result *result) {
    struct attention_case ac = {.batch = 4,
                                .q_lens = {1, 1, 1, 1},
                                .kv_lens = {3, 1, 2, 5},
                                .q_heads = 4,
                                .kv_heads = 2,
                                .head_dim = 64,
                                .v_head_dim = 64,
                                .page_size = 8,
                                .kv_layout = GM_ATTENTION_KV_PAGED,
                                .mask = GM_ATTENTION_CAUSAL,
                                .lse = true};
    static const int steps[][4] = {{100, 40, 0, 7}, {1, 100, 99, 64}, {0, 0, 0, 0}, {3, 1, 2, 5}};
    struct attention_case longest = ac;
    struct attention_memory memory = {0};
    struct placed_attention placed = {0};
    const struct gm_plan_options options = {
        .size = sizeof options, .flags = GM_PLAN_PLAIN_LAUNCH, .workspace_limit = WORKSPACE};
    gm_plan *plan = NULL;
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    (void)test;
    for (int b = 0; b < 4; b++)
        longest.kv_lens[b] = 100;
    bool ok = place_attention(result, &longest, &memory, &placed);
    ok = ok && check_ok(result, gm_attention_plan_create(env.context, &placed.problem, &options, &plan), "plan");
    const size_t bytes = plan ? gm_plan_workspace_bytes(plan) : 0;
    ok = ok && place_workspace(result, &memory.workspace, bytes + 16, false);
    struct gm_attention_args args = placed.args;
    args.workspace = memory.workspace.address, args.workspace_bytes = bytes;
    ok = ok &&
         check_cuda(result, env.drv->cuStreamBeginCapture(env.stream, CU_STREAM_CAPTURE_MODE_GLOBAL), "capture") &&
         check_ok(result, gm_attention_execute(plan, &args, env.stream), "execute") &&
         check_cuda(result, env.drv->cuStreamEndCapture(env.stream, &graph), "end capture") &&
         check_cuda(result, env.drv->cuGraphInstantiateWithFlags(&exec, graph, 0), "instantiate");
    for (size_t step = 0; step < COUNT(steps) && ok; step++) {
        struct attention_case now = ac;
        for (int b = 0; b < 4; b++)
            now.kv_lens[b] = steps[step][b];
        for (int b = 0, most = 0; b < 4; b++) {
            most = now.kv_lens[b] > most ? now.kv_lens[b] : most;
            now.spare_tokens = 100 - (most > 1 ? most : 1);
        }
        now.seed = step;
        /* As large as the longest was placed, so that everything is at the same addresses. */
        ok = place_attention(result, &now, &memory, &placed);
        if (ok && (placed.args.q != args.q || placed.args.out != args.out ||
                   placed.args.page_table != args.page_table || placed.args.kv_len != args.kv_len)) {
            fail(result, "step %zu is at other addresses", step);
            break;
        }
        ok = ok && check_cuda(result, env.drv->cuGraphLaunch(exec, env.stream), "replay") &&
             check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "replay") &&
             check_output(result, &placed.placed.call, "replay");
        result->cases += ok;
    }
    if (exec)
        env.drv->cuGraphExecDestroy(exec);
    if (graph)
        env.drv->cuGraphDestroy(graph);
    gm_plan_destroy(plan);
    free_attention(&placed, &memory);
}

/* ---- a request among others ------------------------------------------------------------------------------ */

/* Plans and runs the first `batch` requests; the first request's results go to `bits`. */
static bool bits_of_first(struct result *result, const struct placed_attention *placed, int64_t batch, size_t bytes,
                          uint8_t *bits) {
    const struct gm_plan_options options = {
        .size = sizeof options, .flags = GM_PLAN_BATCH_INVARIANT, .workspace_limit = WORKSPACE};
    struct gm_attention_problem problem = placed->problem;
    struct gm_attention_args args = placed->args;
    gm_plan *plan = NULL;
    problem.max_batch = args.batch = batch;
    const bool ok = poison_output(result, &placed->placed.call) &&
                    check_ok(result, gm_attention_plan_create(env.context, &problem, &options, &plan), "plan") &&
                    check_ok(result, gm_attention_execute(plan, &args, env.stream), "execute") &&
                    check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "execute") &&
                    check_cuda(result, env.drv->cuMemcpyDtoH(bits, args.out, bytes), "copy");
    if (ok && gm_plan_workspace_bytes(plan))
        fail(result, "a batch-invariant plan asks for a workspace");
    gm_plan_destroy(plan);
    return ok;
}

static void run_alone_with(struct result *result, enum gm_attention_kv_type kv_type) {
    const struct attention_case ac = {.batch = 4,
                                      .kv_type = kv_type,
                                      .q_lens = {3, 1, 5, 2},
                                      .kv_lens = {70, 150, 5, 90},
                                      .q_heads = 4,
                                      .kv_heads = 2,
                                      .head_dim = 64,
                                      .v_head_dim = 64,
                                      .page_size = 16,
                                      .kv_layout = GM_ATTENTION_KV_PAGED,
                                      .mask = GM_ATTENTION_CAUSAL};
    const size_t bytes = 3 * 4 * 64 * 2;
    uint8_t *among = malloc(bytes), *alone = malloc(bytes);
    struct attention_memory memory = {0};
    struct placed_attention placed = {0};
    if (!among || !alone)
        exit(2);
    if (place_attention(result, &ac, &memory, &placed) && bits_of_first(result, &placed, 4, bytes, among) &&
        check_output(result, &placed.placed.call, "among others") && bits_of_first(result, &placed, 1, bytes, alone)) {
        if (memcmp(among, alone, bytes) != 0)
            fail(result, "a request alone has other bits than among 4");
        result->cases++;
    }
    free(among);
    free(alone);
    free_attention(&placed, &memory);
}

static void run_alone(const struct test *test, struct result *result) {
    (void)test;
    run_alone_with(result, GM_ATTENTION_KV_SAME);
    run_alone_with(result, GM_ATTENTION_KV_E4M3);
}

/* ---- many elements ------------------------------------------------------------------------------------- */

/* A pool of more than 2^31 elements, of whose pages two are used: the last, and one in the middle. */
static void run_large(const struct test *test, struct result *result) {
    const struct attention_case ac = {.batch = 1,
                                      .q_lens = {1},
                                      .kv_lens = {32},
                                      .q_heads = 8,
                                      .kv_heads = 8,
                                      .head_dim = 128,
                                      .v_head_dim = 128,
                                      .page_size = 16,
                                      .kv_layout = GM_ATTENTION_KV_PAGED,
                                      .layout = ATTENTION_TURNS};
    struct attention_memory memory = {0};
    struct placed_attention placed = {0};
    CUdeviceptr pool = 0;
    (void)test;
    if (place_attention(result, &ac, &memory, &placed)) {
        const struct gm_attention_args small = placed.args;
        const size_t page_bytes = (size_t)placed.problem.k_page_stride * 2;
        const int32_t pages = (int32_t)((INT64_C(1) << 31) / placed.problem.k_page_stride) + 7;
        const int32_t table[] = {pages - 1, pages / 2};
        pool = take_large(result, (size_t)pages * page_bytes);
        bool ok = pool && to_device(result, placed.args.page_table, table, sizeof table);
        for (int i = 0; i < 2 && ok; i++)
            ok = check_cuda(result,
                            env.drv->cuMemcpyDtoD(pool + (size_t)table[i] * page_bytes,
                                                  small.k + (size_t)attention_table_entry(&ac, 0, i) * page_bytes,
                                                  page_bytes - 32),
                            "fill");
        placed.problem.page_count = pages;
        placed.args.k = pool;
        placed.args.v = pool + (small.v - small.k);
        if (ok && check_cuda(result, env.drv->cuCtxSynchronize(), "fill") &&
            check_ok(result, gm_attention(env.context, &placed.problem, &placed.args, env.stream), "large") &&
            check_cuda(result, env.drv->cuStreamSynchronize(env.stream), "large"))
            result->cases += check_output(result, &placed.placed.call, "large");
    }
    if (pool)
        env.drv->cuMemFree(pool);
    free_attention(&placed, &memory);
}

/* ---- wrong use ----------------------------------------------------------------------------------------- */

static void refuse_each(struct result *result, const gm_plan *plan, const struct placed_attention *placed) {
    static const struct {
        const char *what;
        size_t member;
        int add; /* -1: the address becomes NULL */
        enum gm_status want;
    } bad[] = {
#define BAD(member, add, want) {#member " " #add, offsetof(struct gm_attention_args, member), add, want}
        BAD(q, -1, GM_ERROR_INVALID_ARGUMENT),
        BAD(k, -1, GM_ERROR_INVALID_ARGUMENT),
        BAD(v, -1, GM_ERROR_INVALID_ARGUMENT),
        BAD(out, -1, GM_ERROR_INVALID_ARGUMENT),
        BAD(lse, -1, GM_ERROR_INVALID_ARGUMENT),
        BAD(q_indptr, -1, GM_ERROR_INVALID_ARGUMENT),
        BAD(kv_len, -1, GM_ERROR_INVALID_ARGUMENT),
        BAD(page_table, -1, GM_ERROR_INVALID_ARGUMENT),
        BAD(sinks, -1, GM_ERROR_INVALID_ARGUMENT),
        BAD(tree_mask, -1, GM_ERROR_INVALID_ARGUMENT),
        BAD(k_scale, -1, GM_ERROR_INVALID_ARGUMENT),
        BAD(v_scale, -1, GM_ERROR_INVALID_ARGUMENT),
        BAD(k_scale, 2, GM_ERROR_MISALIGNED),
        BAD(workspace, -1, GM_ERROR_WORKSPACE),
        BAD(q, 8, GM_ERROR_MISALIGNED),
        BAD(k, 8, GM_ERROR_MISALIGNED),
        BAD(out, 4, GM_ERROR_MISALIGNED),
        BAD(lse, 2, GM_ERROR_MISALIGNED),
        BAD(q_indptr, 2, GM_ERROR_MISALIGNED),
        BAD(page_table, 1, GM_ERROR_MISALIGNED),
        BAD(tree_mask, 4, GM_ERROR_MISALIGNED),
        BAD(workspace, 8, GM_ERROR_MISALIGNED),
#undef BAD
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct gm_attention_args args = placed->args;
        gm_device_ptr *address = (gm_device_ptr *)(void *)((char *)&args + bad[i].member);
        *address = bad[i].add < 0 ? 0 : *address + (gm_device_ptr)bad[i].add;
        check_refusal(result, gm_attention_execute(plan, &args, env.stream), bad[i].want, bad[i].what);
    }
    struct gm_attention_args args = placed->args;
    args.batch = 3;
    check_refusal(result, gm_attention_execute(plan, &args, env.stream), GM_ERROR_INVALID_ARGUMENT, "batch 3 of 2");
    args.batch = -1;
    check_refusal(result, gm_attention_execute(plan, &args, env.stream), GM_ERROR_INVALID_ARGUMENT, "batch -1");
    args = placed->args, args.out = args.q;
    check_refusal(result, gm_attention_execute(plan, &args, env.stream), GM_ERROR_OVERLAP, "out is q");
    args = placed->args, args.lse = args.out;
    check_refusal(result, gm_attention_execute(plan, &args, env.stream), GM_ERROR_OVERLAP, "lse in out");
    args = placed->args, args.workspace_bytes--;
    check_refusal(result, gm_attention_execute(plan, &args, env.stream), GM_ERROR_WORKSPACE, "a byte too few");
    args = placed->args, args.workspace = args.q;
    check_refusal(result, gm_attention_execute(plan, &args, env.stream), GM_ERROR_OVERLAP, "workspace in q");
    args = placed->args, args.size = 8;
    check_refusal(result, gm_attention_execute(plan, &args, env.stream), GM_ERROR_SIZE, "an old struct");
    check_unwritten(result, &placed->placed.call, "after refused executes");
}

/* A plan that cuts keys among parts, so that it has a workspace. */
static void run_arguments(const struct test *test, struct result *result) {
    const struct attention_case ac = {.batch = 2,
                                      .q_lens = {1, 1},
                                      .kv_lens = {9, 3000},
                                      .q_heads = 2,
                                      .kv_heads = 1,
                                      .head_dim = 64,
                                      .v_head_dim = 64,
                                      .page_size = 16,
                                      .kv_type = GM_ATTENTION_KV_E4M3,
                                      .scales = GM_ATTENTION_SCALES_HEAD,
                                      .kv_layout = GM_ATTENTION_KV_PAGED,
                                      .sinks = true,
                                      .lse = true,
                                      .tree = true};
    const struct gm_plan_options options = {.size = sizeof options, .workspace_limit = WORKSPACE};
    struct attention_memory memory = {0};
    struct placed_attention placed = {0};
    gm_plan *plan = NULL;
    (void)test;
    if (place_attention(result, &ac, &memory, &placed) &&
        check_ok(result, gm_attention_plan_create(env.context, &placed.problem, &options, &plan), "plan")) {
        const size_t bytes = gm_plan_workspace_bytes(plan);
        if (bytes == 0)
            fail(result, "the plan asks for no workspace");
        placed.args.workspace = arena_take(result, &memory.workspace.arena, bytes + 16);
        placed.args.workspace_bytes = bytes;
        if (placed.args.workspace)
            refuse_each(result, plan, &placed);
    }
    gm_plan_destroy(plan);
    free_attention(&placed, &memory);
}

/* Nothing is launched, and nothing is looked at. */
static void run_empty(const struct test *test, struct result *result) {
    struct gm_attention_problem problem = {
        .size = sizeof problem, .max_kv_len = 5, .q_heads = 2, .kv_heads = 1, .head_dim = 64, .max_q_len = 1};
    const struct gm_attention_args args = {.size = sizeof args};
    (void)test;
    result->cases += check_ok(result, gm_attention(env.context, &problem, &args, env.stream), "no requests");
    problem.max_batch = 3, problem.max_q_len = 0;
    result->cases += check_ok(result, gm_attention(env.context, &problem, &args, env.stream), "no rows");
}

void add_attention_api_tests(void) {
    add_test("api", "attention_fuzz_sm80", run_fuzz, -1, GM_ARCH_SM80);
    add_test("api", "attention_fuzz_sm90", run_fuzz, -1, GM_ARCH_SM90);
    add_test("api", "attention_of_nothing", run_empty, -1, 0);
    add_test("api", "attention_of_a_tree", run_tree, -1, 0);
    add_test("api", "attention_of_e4m3", run_e4m3, -1, 0);
    add_test("api", "attention_of_an_8_bit_cache", run_8_bit_cache, -1, 0);
    add_test("api", "attention_by_one_graph", run_steps, -1, 0);
    add_test("api", "attention_of_more_than_2_to_the_31_elements", run_large, -1, 0);
    add_test("invariance", "attention_request_alone", run_alone, -1, 0);
    add_test("badinput", "attention_arguments", run_arguments, -1, 0);
}
