/* SPDX-License-Identifier: Apache-2.0 */
/* Operands packed once by gm_gemm_pack(): every type and layout, odd strides and addresses, guards around what is packed;
 * D of them bit for bit, by a plan without a workspace. */
#include "gemm/gemm_tests.h"

enum { CASES = 48 };

static struct gemm_case case_of(int i) {
    static const enum gm_type types[] = {GM_BF16, GM_INT8, GM_TF32, GM_E4M3, GM_FP16, GM_TF32X3, GM_FP32};
    const struct gemm_case gc = {.m = i % 5 == 4 ? 1 : 67 + i,
                                 .n = i % 7 == 6 ? 1 : 45 + 3 * i,
                                 .k = i % 11 == 10 ? 1 : 77 + i % 3,
                                 .ab_type = types[i % COUNT(types)],
                                 .d_type = (enum gm_type)(i / 2 % 3),
                                 .a_major = (enum gm_major)(i / 6 % 2),
                                 .b_major = (enum gm_major)(i / 12 % 2),
                                 .a_pad = i % 4,
                                 .b_pad = i % 3,
                                 .a_offset = i % 3,
                                 .b_offset = i % 2,
                                 .bias = (enum gm_bias)(i % 3),
                                 .bias_type = GM_FP32,
                                 .alpha = 1,
                                 .beta = i % 4 == 3 ? 2 : 0};
    return fit_type(&gc);
}

bool pack_operand(struct result *result, struct gm_gemm_problem *problem, enum gm_gemm_operand operand,
                  gm_device_ptr *address, struct guarded_workspace *room, const char *what) {
    struct gm_gemm_problem packed = {.size = sizeof packed};
    size_t bytes = 0;
    if (!check_ok(result, gm_gemm_packed(problem, operand, &packed, &bytes), what))
        return false;
    if (bytes == 0)
        return true;
    if (!place_workspace(result, room, bytes, true) || /* of NaN, but for int8 */
        !check_cuda(result, env.drv->cuCtxSynchronize(), what) ||
        !check_ok(result, gm_gemm_pack(env.context, problem, operand, *address, room->address, env.stream), what) ||
        !check_cuda(result, env.drv->cuStreamSynchronize(env.stream), what) || !check_workspace(result, room, what))
        return false;
    *problem = packed;
    *address = room->address;
    return true;
}

static void run_pack(const struct test *test, struct result *result) {
    const struct gm_plan_options options = {.size = sizeof options, .arch_mask = test->mask};
    struct buffers buffers = {0};
    struct guarded_workspace rooms[2] = {0};
    struct placed placed;
    bool ok = true;
    for (int i = 0; i < CASES && ok; i++) {
        const struct gemm_case gc = case_of(i);
        char what[400];
        describe_gemm(&gc, what, sizeof what);
        heartbeat(what);
        ok = place_gemm(result, &gc, &buffers, &placed) &&
             pack_operand(result, &placed.problem, GM_GEMM_A, &placed.args.a, &rooms[0], what) &&
             pack_operand(result, &placed.problem, GM_GEMM_B, &placed.args.b, &rooms[1], what) &&
             run_call(result, &placed.call, &options, 1, BIT(GM_REASON_NO_IMAGE), what);
    }
    arena_free(&rooms[0].arena);
    arena_free(&rooms[1].arena);
    free_buffers(&buffers);
}

void add_gemm_pack_tests(void) {
    add_test("pack", "gemm", run_pack, -1, 0);
}
