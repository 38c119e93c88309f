/* SPDX-License-Identifier: Apache-2.0 */
/* Rotary embedding on the host: what a problem may be, what is said of one that may not, what is chosen, what a launch
 * is told. */
#include "columns.h"
#include "common/rope/params.h"
#include "gristmill/rope.h"
#include "host/choose.h"
#include "host/options.h"
#include "host/types.h"
#include "planned.h"

#include <stdio.h>
#include <string.h>

/* Llama-3-8B's heads. */
static struct gm_rope_problem tokens_of(int64_t tokens) {
    return (struct gm_rope_problem){
        .size = sizeof(struct gm_rope_problem), .tokens = tokens, .q_heads = 32, .kv_heads = 8, .head_dim = 128};
}

/* The same, with everything that a problem may ask for. */
static struct gm_rope_problem all_of(int64_t tokens) {
    struct gm_rope_problem p = tokens_of(tokens);
    p.norm = GM_ROPE_NORM;
    p.append = GM_ROPE_APPEND_E4M3;
    p.page_size = 16;
    p.slot_count = 1000;
    p.max_position = 4096;
    p.eps = 1e-6f;
    return p;
}

static enum gm_status read_problem(const struct gm_rope_problem *given, struct gm_rope_problem *read) {
    static const struct gm_plan_options none = {.size = sizeof none};
    return gm_problem_read(&gm_operation_rope, given, &none, read);
}

/* ---- a problem ------------------------------------------------------------------------------------------ */

START_TEST(zeros_mean_packed_and_aligned) {
    struct gm_rope_problem p = tokens_of(10), read;
    assert_ok(read_problem(&p, &read));
    ck_assert(read.rotary_dim == 128 && read.max_position == 10 && read.slot_count == 10 && read.page_size == 10);
    ck_assert(read.q_token_stride == 4096 && read.q_head_stride == 128 && read.k_out_token_stride == 1024);
    ck_assert(read.q_align == 16 && read.k_cache_align == 16 && read.table_align == 16 && read.q_weight_align == 16);
    p = all_of(10);
    p.rotary_offset = 64;
    assert_ok(read_problem(&p, &read));
    ck_assert(read.rotary_dim == 64 && read.max_position == 4096 && read.slot_count == 1000 && read.page_size == 16);
    ck_assert(read.v_token_stride == 1024 && read.k_cache_head_stride == 128 && read.v_cache_token_stride == 1024 &&
              read.v_cache_page_stride == 16384);
    ck_assert(read.eps == 1e-6f);
    p.norm = GM_ROPE_NO_NORM; /* then nothing of it counts */
    p.fp32_weight = 1, p.weight_offset = 1, p.normalized_rounding = GM_ROUND_EARLY;
    assert_ok(read_problem(&p, &read));
    ck_assert(read.fp32_weight == 0 && read.weight_offset == 0 && read.eps == 0 &&
              read.normalized_rounding == GM_ROUND_LATE);
    p = all_of(10);
    p.fp32_weight = 1, p.type = GM_FP32;
    assert_ok(read_problem(&p, &read));
    ck_assert_int_eq(read.fp32_weight, 0);
}
END_TEST

static const struct {
    size_t offset;
    int64_t value;
    int bytes;
    const char *words;
} bad[] = {
#define BAD(member, value, words)                                                                                      \
    {offsetof(struct gm_rope_problem, member), value, sizeof(((struct gm_rope_problem *)0)->member), words}
    BAD(tokens, -1, "tokens is -1; it must be 0 to 2147483647"),
    BAD(q_heads, 65537, "q_heads is 65537; it must be 0 to 65536"),
    BAD(kv_heads, -1, "kv_heads is -1; it must be 0 to 65536"),
    BAD(kv_heads, 0, "append is 2 and kv_heads is 0; what is appended are k and v"),
    BAD(head_dim, 0, "head_dim is 0; it must be 2 to 512"),
    BAD(head_dim, 514, "head_dim is 514"),
    BAD(head_dim, 127, "head_dim is 127; it must be even"),
    BAD(rotary_dim, 130, "rotary_dim is 130; it must be 2 to 128"),
    BAD(rotary_dim, 63, "rotary_dim is 63; it must be even"),
    BAD(rotary_offset, -1, "rotary_offset is -1; it must be 0 to 126"),
    BAD(rotary_offset, 1, "rotary_dim is 127; it must be even"),
    BAD(max_position, -1, "max_position is -1; it must be 1 to 2147483647"),
    BAD(page_size, -1, "page_size is -1; it must be 1 to 2147483647"),
    BAD(slot_count, INT64_C(1) << 31, "slot_count is 2147483648; it must be 1 to 2147483647"),
    BAD(type, 3, "type is 3; known values are 0 to 2"),
    BAD(pairing, 2, "pairing is 2"),
    BAD(inverse, 2, "inverse is 2; known values are 0 to 1"),
    BAD(rounding, -1, "rounding is -1"),
    BAD(norm, 2, "norm is 2"),
    BAD(fp32_weight, -1, "fp32_weight is -1"),
    BAD(normalized_rounding, 2, "normalized_rounding is 2"),
    BAD(append, 3, "append is 3; known values are 0 to 2"),
    BAD(int64_positions, 2, "int64_positions is 2"),
    BAD(eps, (int32_t)0xbf800000, "eps is -1; it must be finite and 0 or more"),
    BAD(weight_offset, 0x7f800000, "weight_offset is inf; it must be finite"),
    BAD(q_token_stride, 4095, "q_token_stride is 4095; what lies within it has 4096 elements"),
    BAD(q_head_stride, 127, "q_head_stride is 127; what lies within it has 128 elements"),
    BAD(k_token_stride, -1, "k_token_stride is -1; it must be 0 or more"),
    BAD(v_head_stride, 1, "v_head_stride is 1"),
    BAD(q_out_head_stride, INT64_C(1) << 60, "exceed 2^63 bytes"),
    BAD(k_out_token_stride, 1000, "k_out_token_stride is 1000; what lies within it has 1024"),
    BAD(k_cache_page_stride, 16383, "k_cache_page_stride is 16383; what lies within it has 16384"),
    BAD(k_cache_token_stride, 64, "k_cache_token_stride is 64; what lies within it has 128"),
    BAD(v_cache_head_stride, 127, "v_cache_head_stride is 127; what lies within it has 128"),
    BAD(q_align, 3, "q_align is 3; it must be 16 (or 0), 8, 4 or 2"),
    BAD(k_align, 1, "k_align is 1"),
    BAD(k_cache_align, 3, "k_cache_align is 3; it must be 16 (or 0), 8, 4"),
    BAD(q_weight_align, 5, "q_weight_align is 5"),
    BAD(table_align, 2, "table_align is 2; an element has 4 bytes"),
};

START_TEST(every_bad_member_has_its_sentence) {
    struct gm_rope_problem p = all_of(8), read;
    memcpy((char *)&p + bad[_i].offset, &bad[_i].value, (size_t)bad[_i].bytes);
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, bad[_i].words);
}
END_TEST

START_TEST(there_are_heads) {
    struct gm_rope_problem p = tokens_of(8), read;
    p.kv_heads = 0;
    assert_ok(read_problem(&p, &read));
    p.q_heads = 0;
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT,
                 "q_heads and kv_heads are 0; one of them must be 1 or more");
    p.kv_heads = 1;
    assert_ok(read_problem(&p, &read));
}
END_TEST

START_TEST(a_problem_is_a_line_of_a_suite) {
    struct gm_rope_problem p = tokens_of(16);
    char text[160];
    p.rotary_dim = 128;
    gm_problem_print(&gm_operation_rope, &p, text, sizeof text);
    ck_assert_str_eq(text, "rope bf16 halves no_norm no_append late 16 32 8 128 128");
    p = all_of(16);
    p.type = GM_FP32, p.pairing = GM_ROPE_INTERLEAVED, p.rounding = GM_ROUND_EARLY, p.rotary_dim = 64;
    gm_problem_print(&gm_operation_rope, &p, text, sizeof text);
    ck_assert_str_eq(text, "rope fp32 interleaved norm append_e4m3 early 16 32 8 128 64");
}
END_TEST

START_TEST(bytes_and_operations_are_counted) {
    struct gm_rope_problem p = tokens_of(10);
    struct gm_work work = gm_operation_rope.work(&p);
    ck_assert(work.flops == 10.0 * 40 * 128 * 3);
    ck_assert(work.least_bytes == 10.0 * (40 * 128 * 2 * 2 + 4) + 10 * 128 * 4);
    p = all_of(10);
    p.int64_positions = 1;
    work = gm_operation_rope.work(&p);
    ck_assert(work.flops == 10.0 * 40 * 128 * 7);
    ck_assert(work.least_bytes == 10.0 * (48 * 128 * 2 + 32 * 128 * 2 + 16 * 128 + 16) + 10 * 128 * 4);
    p.max_position = 3; /* rows of the table that there are */
    ck_assert(gm_operation_rope.work(&p).least_bytes == work.least_bytes - 7 * 128 * 4);
}
END_TEST

/* ---- the choice ----------------------------------------------------------------------------------------- */

/* What explain chooses; the sentences of all in `said`, each on a line. */
static const struct gm_kernel *chosen(const struct gm_rope_problem *p, const char *model, char *said, size_t bytes) {
    const struct gm_device device = device_of(model);
    const struct gm_plan_options options = {.size = sizeof options};
    struct explained all = explained_room();
    assert_ok(gm_rope_explain(&device, p, &options, all.candidates, all.count, &all.count));
    return chosen_of(&all, "rope", said, bytes);
}

START_TEST(many_tokens_take_as_many_heads_of_a_lane_as_dram_wants) {
    char said[1 << 14];
    const struct gm_rope_problem few = tokens_of(1), many = tokens_of(8192);
    const struct gm_kernel *one = chosen(&few, "h200", said, sizeof said);
    const struct gm_kernel *other = chosen(&many, "h200", said, sizeof said);
    ck_assert_int_lt(one->columns[GM_ROPE_HEADS], other->columns[GM_ROPE_HEADS]);
    ck_assert_int_eq(other->arch, GM_ARCH_SM90);
    ck_assert_int_eq(chosen(&many, "a100", said, sizeof said)->arch, GM_ARCH_SM80);
    ck_assert_ptr_nonnull(strstr(said, "8 lanes for each 4 heads of a token"));
}
END_TEST

static void check_elements(const struct gm_rope_problem *p, const char *words) {
    char said[1 << 14];
    ck_assert_int_eq(chosen(p, "h200", said, sizeof said)->columns[GM_ROPE_VECTOR_BYTES], gm_type_bytes(p->type));
    ck_assert_msg(strstr(said, words) != NULL, "\"%s\" is not in:\n%s", words, said);
}

START_TEST(what_is_not_aligned_goes_by_elements) {
    struct gm_rope_problem p = all_of(16);
    p.q_align = 8;
    check_elements(&p, "q_align promises 8 bytes: it loads 16 at once");
    p = all_of(16), p.v_token_stride = 1028;
    check_elements(&p, "v_token_stride 1028 x 2 B = 2056 B is not a multiple of the 16");
    p = all_of(16), p.k_cache_align = 4;
    check_elements(&p, "k_cache_align promises 4 bytes: it loads 8 at once");
    p = all_of(16), p.v_cache_page_stride = 16388;
    check_elements(&p, "v_cache_page_stride 16388 x 1 B = 16388 B is not a multiple of the 8");
    p = all_of(16), p.table_align = 8;
    check_elements(&p, "table_align promises 8 bytes");
    p = all_of(16), p.k_weight_align = 8;
    check_elements(&p, "k_weight_align promises 8 bytes");
    p = all_of(16), p.rotary_dim = 120;
    check_elements(&p, "half of rotary_dim has 60 elements x 2 B = 120 B, which is not a multiple of the 16");
    p = all_of(16), p.rotary_offset = 4, p.rotary_dim = 64;
    check_elements(&p, "rotary_offset 4 x 2 B = 8 B is not a multiple of the 16");
    p = all_of(16), p.head_dim = 100, p.rotary_dim = 96;
    check_elements(&p, "q has 100 columns x 2 B = 200 B, which is not a multiple of the 16");
    p = all_of(16), p.type = GM_FP32, p.head_dim = 512;
    check_elements(&p, "head_dim 512 x 4 B = 2048 B is more than the 1024 that a warp holds");
}
END_TEST

START_TEST(what_there_is_not_nobody_asks) {
    char said[1 << 14];
    struct gm_rope_problem p = tokens_of(1);
    p.v_align = p.k_cache_align = p.v_cache_align = p.q_weight_align = 2;
    p.v_token_stride = 1028, p.q_token_stride = 4100;
    ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->columns[GM_ROPE_VECTOR_BYTES], 16);
}
END_TEST

/* ---- a launch ------------------------------------------------------------------------------------------- */

/* Addresses far from each other; the members follow each other from q on. */
static struct gm_rope_args args_of(const struct gm_rope_problem *p) {
    struct gm_rope_args args = {.size = sizeof args};
    gm_device_ptr *const first = &args.q;
    for (size_t i = 0; i < (sizeof args - sizeof args.size) / sizeof *first; i++)
        first[i] = (gm_device_ptr)(i + 1) << 44;
    if (!p->append)
        args.v = args.k_cache = args.v_cache = args.slots = 0;
    return args;
}

START_TEST(a_launch_is_told_what_the_call_says) {
    struct gm_rope_problem p = all_of(10);
    const struct gm_plan_options options = {.size = sizeof options, .kernel = "rope_sm90_bf16_t128_h4x16"};
    gm_plan *plan = NULL;
    p.q_token_stride = 6144;
    p.pairing = GM_ROPE_INTERLEAVED;
    p.rotary_offset = 32, p.rotary_dim = 64;
    p.weight_offset = 1;
    p.inverse = p.fp32_weight = p.int64_positions = 1;
    p.rounding = p.normalized_rounding = GM_ROUND_EARLY;
    assert_ok(gm_rope_plan_create(context, &p, &options, &plan));
    const struct gm_rope_params *params = plan->params;
    const struct gm_rope_heads *h = params->heads;
    ck_assert(h[ROPE_Q].in_token == 12288 && h[ROPE_Q].in_head == 256 && h[ROPE_Q].out_token == 8192);
    ck_assert(h[ROPE_K].in_token == 2048 && h[ROPE_K].cache_page == 16384 && h[ROPE_K].cache_token == 1024 &&
              h[ROPE_K].cache_head == 128);
    ck_assert(h[ROPE_V].in_token == 2048 && h[ROPE_V].out_token == 0 && h[ROPE_V].cache_head == 128);
    ck_assert(h[ROPE_Q].count == 32 && h[ROPE_K].count == 8 && h[ROPE_V].count == 8);
    ck_assert(h[ROPE_Q].first_block == 0 && h[ROPE_K].first_block == 8 && h[ROPE_V].first_block == 10);
    ck_assert(params->blocks.divisor == 12 && params->page.divisor == 16 && params->tokens == 10);
    ck_assert(params->slab_tokens == 10 && params->max_position == 4096 && params->slot_count == 1000);
    ck_assert(params->head_dim == 128 && params->rotary_dim == 64 && params->rotary_offset == 32);
    ck_assert(params->pair_step == 16 && params->pair_distance == 8 && params->rotary_items == 4);
    ck_assert(params->items == 8 && params->lanes_log2 == 3 && params->parts == 1);
    ck_assert_int_eq(params->flags, 255);
    ck_assert(params->eps == 1e-6f && params->weight_offset == 1 && params->inverse_head_dim == 1 / 128.0f);
    ck_assert_uint_eq(plan->config.gridDimX, (10 * 12 + 15) / 16);
    gm_plan_destroy(plan);
    p.pairing = GM_ROPE_HALVES;
    assert_ok(gm_rope_plan_create(context, &p, &options, &plan));
    params = plan->params;
    ck_assert(params->pair_step == 8 && params->pair_distance == 32 && params->flags == 254);
    gm_plan_destroy(plan);
}
END_TEST

/* Blocks of a slab are numbered with 31 bits. */
START_TEST(large_problems_come_in_slabs) {
    struct gm_rope_problem p = tokens_of(INT32_MAX);
    gm_plan *plan = NULL;
    assert_ok(gm_rope_plan_create(context, &p, NULL, &plan));
    const struct gm_rope_params *params = plan->params;
    const int64_t blocks = (int64_t)params->slab_tokens * params->blocks.divisor;
    ck_assert(blocks <= INT32_MAX && blocks > INT32_MAX - 64);
    gm_plan_destroy(plan);
}
END_TEST

/* A head has more items than a warp lanes, or fewer than a power of 2. */
START_TEST(lanes_share_a_head) {
    static const struct {
        const char *kernel;
        int64_t head_dim;
        int items, lanes_log2, parts;
    } cases[] = {{"rope_sm90_bf16_t128_h1x16", 64, 4, 2, 1},   {"rope_sm90_bf16_t128_h1x16", 96, 6, 3, 1},
                 {"rope_sm90_bf16_t128_h1x16", 512, 32, 5, 1}, {"rope_sm90_bf16_t128_h1x16", 16, 1, 0, 1},
                 {"rope_sm90_bf16_t128_h4x2", 128, 64, 5, 2},  {"rope_sm90_bf16_t128_h4x2", 130, 65, 5, 3},
                 {"rope_sm90_bf16_t128_h4x2", 6, 3, 2, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gm_rope_problem p = tokens_of(10);
        const struct gm_plan_options options = {.size = sizeof options, .kernel = cases[i].kernel};
        gm_plan *plan = NULL;
        p.head_dim = cases[i].head_dim;
        assert_ok(gm_rope_plan_create(context, &p, &options, &plan));
        const struct gm_rope_params *params = plan->params;
        ck_assert_int_eq(params->items, cases[i].items);
        ck_assert_int_eq(params->lanes_log2, cases[i].lanes_log2);
        ck_assert_int_eq(params->parts, cases[i].parts);
        gm_plan_destroy(plan);
    }
}
END_TEST

START_TEST(every_variant_is_launched_by_name) {
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *kernel = &gm_kernels[i];
        if (kernel->family != &gm_family_rope)
            continue;
        struct gm_rope_problem p = all_of(1001);
        const struct gm_rope_args args = args_of(&p);
        const struct gm_plan_options options = {.size = sizeof options, .kernel = kernel->name};
        gm_plan *plan = NULL;
        p.type = kernel->type;
        assert_ok(gm_rope_plan_create(context, &p, &options, &plan));
        fake_make_current(0);
        fake_clear_counts();
        assert_ok(gm_rope_execute(plan, &args, NULL));
        ck_assert_int_eq(fake_calls(), 1);
        ck_assert_int_eq(fake.launch.kernel, (int)i);
        ck_assert_uint_eq(fake.launch.config.blockDimX, (unsigned)kernel->threads);
        ck_assert_uint_eq(fake.launch.config.numAttrs, kernel->arch == GM_ARCH_SM90);
        gm_plan_destroy(plan);
    }
}
END_TEST

/* Nothing is launched where it is refused. */
static enum gm_status execute(const struct gm_rope_problem *p, const struct gm_rope_args *args) {
    gm_plan *plan = NULL;
    assert_ok(gm_rope_plan_create(context, p, NULL, &plan));
    fake_make_current(0);
    fake_clear_counts();
    const enum gm_status status = gm_rope_execute(plan, args, NULL);
    ck_assert_int_eq(fake_calls(), status == GM_OK);
    gm_plan_destroy(plan);
    return status;
}

START_TEST(bad_pointers_are_refused_by_name) {
    static const char *const names[] = {"q",        "k",       "v",  "positions", "table",   "q_weight",
                                        "k_weight", "q_out",   NULL, "k_cache",   "v_cache", "slots",
                                        "k_scale",  "v_scale", NULL, NULL};
    const struct gm_rope_problem p = all_of(10);
    const struct gm_rope_args good = args_of(&p);
    char words[64];
    assert_ok(execute(&p, &good));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct gm_rope_args args = good;
        (&args.q)[i] = 0;
        if (!names[i]) { /* k_out, row_count and error_flag may be 0 */
            assert_ok(execute(&p, &args));
            continue;
        }
        snprintf(words, sizeof words, "%s is NULL", names[i]);
        assert_fails(execute(&p, &args), GM_ERROR_INVALID_ARGUMENT, words);
    }
    struct gm_rope_args args = good;
    args.size = 135;
    assert_fails(execute(&p, &args), GM_ERROR_SIZE, "args.size is 135");
    args = good, args.q += 8;
    assert_fails(execute(&p, &args), GM_ERROR_MISALIGNED, "not a multiple of 16 bytes");
    args = good, args.error_flag += 2;
    assert_fails(execute(&p, &args), GM_ERROR_MISALIGNED, "error_flag");
    const struct gm_rope_problem alone = tokens_of(10);
    args = args_of(&alone), args.q_weight = args.k_weight = args.k_scale = args.v_scale = 0;
    assert_ok(execute(&alone, &args));
    args.k_out = 0;
    assert_fails(execute(&alone, &args), GM_ERROR_INVALID_ARGUMENT, "k_out is NULL");
}
END_TEST

START_TEST(overlaps_are_seen_through_strides) {
    struct gm_rope_problem p = all_of(10);
    struct gm_rope_args args = args_of(&p);
    args.q_out = args.q, args.k_out = args.k;
    assert_ok(execute(&p, &args));
    args.q_out += 16;
    assert_fails(execute(&p, &args), GM_ERROR_OVERLAP, "only q = q_out with the same rows and row stride may");
    p.q_token_stride = p.q_out_token_stride = p.k_token_stride = p.k_out_token_stride = p.v_token_stride = 48 * 128;
    args.q_out = args.q, args.k_out = args.k = args.q + 32 * 256, args.v = args.q + 40 * 256; /* a row of all */
    assert_ok(execute(&p, &args));
    args.v -= 16;
    assert_fails(execute(&p, &args), GM_ERROR_OVERLAP, "k_out");
    p = all_of(10), args = args_of(&p);
    args.v_cache = args.k_cache + 16384; /* pages of K and of V in turns */
    assert_fails(execute(&p, &args), GM_ERROR_OVERLAP, "cache");
    p.k_cache_page_stride = p.v_cache_page_stride = 2 * 16384;
    assert_ok(execute(&p, &args));
    args.v_cache = args.k_cache + 1024; /* tokens in turns */
    p.k_cache_token_stride = p.v_cache_token_stride = 2048;
    assert_ok(execute(&p, &args));
    args.v_cache = args.k_cache + 128; /* heads in turns */
    p.k_cache_head_stride = p.v_cache_head_stride = 256;
    assert_ok(execute(&p, &args));
    args.slots = args.k_cache;
    assert_fails(execute(&p, &args), GM_ERROR_OVERLAP, "slots");
    args = args_of(&p), args.error_flag = args.row_count;
    assert_fails(execute(&p, &args), GM_ERROR_OVERLAP, "error_flag");
}
END_TEST

START_TEST(a_budget_of_sms_limits_the_grid) {
    const struct gm_rope_problem p = tokens_of(100000);
    const struct gm_plan_options options = {.size = sizeof options, .sm_budget = 2};
    gm_plan *plan = NULL;
    assert_ok(gm_rope_plan_create(context, &p, &options, &plan));
    ck_assert_uint_le(plan->config.gridDimX, 2 * 16);
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(no_tokens_launch_nothing) {
    const struct gm_rope_problem p = tokens_of(0);
    const struct gm_rope_args args = {.size = sizeof args};
    const int launches = fake.count[FAKE_cuLaunchKernelEx];
    assert_ok(gm_rope(context, &p, &args, NULL));
    ck_assert_int_eq(fake.count[FAKE_cuLaunchKernelEx], launches);
}
END_TEST

Suite *rope_suite(void) {
    Suite *suite = suite_create("rope");
    TCase *problems = tcase_create("problems"), *choices = tcase_create("choices"),
          *launches = tcase_create("launches");
    tcase_add_test(problems, zeros_mean_packed_and_aligned);
    tcase_add_loop_test(problems, every_bad_member_has_its_sentence, 0, sizeof bad / sizeof *bad);
    tcase_add_test(problems, there_are_heads);
    tcase_add_test(problems, a_problem_is_a_line_of_a_suite);
    tcase_add_test(problems, bytes_and_operations_are_counted);
    tcase_add_test(choices, many_tokens_take_as_many_heads_of_a_lane_as_dram_wants);
    tcase_add_test(choices, what_is_not_aligned_goes_by_elements);
    tcase_add_test(choices, what_there_is_not_nobody_asks);
    tcase_add_checked_fixture(launches, planned_set_up, planned_tear_down);
    tcase_add_test(launches, a_launch_is_told_what_the_call_says);
    tcase_add_test(launches, large_problems_come_in_slabs);
    tcase_add_test(launches, lanes_share_a_head);
    tcase_add_test(launches, every_variant_is_launched_by_name);
    tcase_add_test(launches, bad_pointers_are_refused_by_name);
    tcase_add_test(launches, overlaps_are_seen_through_strides);
    tcase_add_test(launches, a_budget_of_sms_limits_the_grid);
    tcase_add_test(launches, no_tokens_launch_nothing);
    suite_add_tcase(suite, problems);
    suite_add_tcase(suite, choices);
    suite_add_tcase(suite, launches);
    return suite;
}
