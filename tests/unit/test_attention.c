/* SPDX-License-Identifier: Apache-2.0 */
/* Attention on the host: what a problem may be, what is said of one that may not, what is chosen, what a launch is told. */
#include "common/arith.h"
#include "common/attention_decode/params.h"
#include "common/attention_mla_sm90/params.h"
#include "common/attention_sm80/params.h"
#include "common/attention_sm90/params.h"
#include "gristmill/attention.h"
#include "host/attention/attention.h"
#include "host/choose.h"
#include "host/ledger.h"
#include "host/options.h"
#include "host/types.h"
#include "planned.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Llama-3-8B's heads. */
static struct gm_attention_problem of(int64_t batch, int64_t q_len, int64_t kv_len) {
    return (struct gm_attention_problem){.size = sizeof(struct gm_attention_problem),
                                         .max_batch = batch,
                                         .max_q_len = q_len,
                                         .max_kv_len = kv_len,
                                         .q_heads = 32,
                                         .kv_heads = 8,
                                         .head_dim = 128,
                                         .mask = GM_ATTENTION_CAUSAL};
}

static struct gm_attention_problem paged(int64_t batch, int64_t q_len, int64_t kv_len, int64_t page_size) {
    struct gm_attention_problem p = of(batch, q_len, kv_len);
    p.kv_layout = GM_ATTENTION_KV_PAGED;
    p.page_size = page_size;
    return p;
}

/* DeepSeek-V3's. */
static struct gm_attention_problem latent(int64_t batch, int64_t q_len, int64_t kv_len, int64_t page_size) {
    struct gm_attention_problem p = paged(batch, q_len, kv_len, page_size);
    p.q_heads = 128, p.kv_heads = 1;
    p.head_dim = 576, p.v_head_dim = 512, p.v_is_k = 1;
    return p;
}

static enum gm_status read_problem(const struct gm_attention_problem *given, struct gm_attention_problem *read) {
    static const struct gm_plan_options none = {.size = sizeof none};
    return gm_problem_read(&gm_operation_attention, given, &none, read);
}

/* ---- a problem ------------------------------------------------------------------------------------------ */

START_TEST(zeros_mean_packed_and_all) {
    struct gm_attention_problem p = paged(3, 2, 100, 16), read;
    p.mask = GM_ATTENTION_FULL, p.left = 7; /* of no window */
    assert_ok(read_problem(&p, &read));
    ck_assert(read.max_q_tokens == 6 && read.v_head_dim == 128 && read.page_count == 21 && read.table_stride == 7);
    ck_assert(read.q_token_stride == 32 * 128 && read.q_head_stride == 128 && read.k_page_stride == 16 * 8 * 128);
    ck_assert(read.k_token_stride == 8 * 128 && read.v_head_stride == 128 && read.kv_tokens == 1 && read.left == 0);
    ck_assert(read.scale == (float)(1 / sqrt(128)) && read.q_align == 16 && read.k_align == 16);
    p = of(3, 2, 100);
    assert_ok(read_problem(&p, &read));
    ck_assert(read.page_size == 100 && read.page_count == 1 && read.table_stride == 1);
    p.kv_layout = GM_ATTENTION_KV_RAGGED, p.has_lse = 1;
    assert_ok(read_problem(&p, &read));
    ck_assert(read.kv_tokens == 300 && read.lse_token_stride == 32 && read.lse_head_stride == 1);
}
END_TEST

START_TEST(where_v_is_k_it_has_its_strides) {
    struct gm_attention_problem p = latent(3, 2, 100, 64), read;
    p.k_token_stride = 640, p.k_align = 8;
    assert_ok(read_problem(&p, &read));
    ck_assert(read.v_token_stride == 640 && read.v_head_stride == 576 && read.v_page_stride == 64 * 640);
    ck_assert(read.v_align == 8 && read.out_token_stride == 128 * 512 && read.scale == (float)(1 / sqrt(576)));
    p.v_token_stride = 640, p.v_align = 8;
    assert_ok(read_problem(&p, &read));
    p.head_dim = 64, p.v_head_dim = 0;
    assert_ok(read_problem(&p, &read));
    ck_assert_int_eq(read.v_head_dim, 64);
}
END_TEST

static const struct {
    size_t offset;
    int64_t value;
    int bytes;
    const char *words;
} bad[] = {
#define BAD(member, value, words)                                                                                      \
    {offsetof(struct gm_attention_problem, member), value, sizeof(((struct gm_attention_problem *)0)->member), words}
    BAD(max_batch, -1, "max_batch is -1; it must be 0 to 2147483647"),
    BAD(max_q_len, -1, "max_q_len is -1"),
    BAD(max_q_len, INT32_MAX, "max_q_tokens is 8589934588"),
    BAD(max_kv_len, 0, "max_kv_len is 0; it must be 1 to 2147483647"),
    BAD(max_q_tokens, -1, "max_q_tokens is -1"),
    BAD(q_heads, 0, "q_heads is 0; it must be 1 to 65536"),
    BAD(q_heads, 12, "q_heads is 12; it must be a multiple of kv_heads, which is 8"),
    BAD(kv_heads, 65537, "kv_heads is 65537"),
    BAD(head_dim, 264, "head_dim is 264; it must be 8 to 256"),
    BAD(head_dim, 100, "head_dim is 100; it must be a multiple of 8"),
    BAD(v_head_dim, 4, "v_head_dim is 4"),
    BAD(page_size, -1, "page_size is -1"),
    BAD(page_count, -1, "page_count is -1"),
    BAD(table_stride, 12, "table_stride is 12; it must be 13"),
    BAD(type, 2, "type is 2; it must be GM_BF16, GM_FP16 or GM_E4M3"),
    BAD(type, -1, "type is -1; it must be GM_BF16"),
    BAD(type, 3, "out is the same as q, which is e4m3; it must be fp32, bf16 or fp16"),
    BAD(kv_type, 2, "kv_type is 2; known values are 0 to 1"),
    BAD(out, 4, "out is 4; known values are 0 to 3"),
    BAD(out, GM_ATTENTION_OUT_FP16, "out is fp16; of q that is bf16 it must be the same or fp32"),
    BAD(scales, 4, "scales is 4; known values are 0 to 3"),
    BAD(scales, GM_ATTENTION_SCALES_HEAD, "scales is head; nothing is e4m3 that has any"),
    BAD(kv_layout, 3, "kv_layout is 3; known values are 0 to 2"),
    BAD(mask, 3, "mask is 3"),
    BAD(left, -2, "left is -2; it must be -1"),
    BAD(right, INT64_C(1) << 31, "right is 2147483648"),
    BAD(scale, 0x7fc00000, "scale is nan"),
    BAD(softcap, (int32_t)0xbf800000, "softcap is -1; it must be finite and 0 or more"),
    BAD(has_sinks, 2, "has_sinks is 2"),
    BAD(has_lse, -1, "has_lse is -1"),
    BAD(has_tree_mask, 2, "has_tree_mask is 2"),
    BAD(v_is_k, -1, "v_is_k is -1"),
    BAD(q_token_stride, 100, "q_token_stride is 100"),
    BAD(out_head_stride, 64, "out_head_stride is 64"),
    BAD(k_page_stride, 64, "k_page_stride is 64"),
    BAD(v_token_stride, -1, "v_token_stride is -1"),
    BAD(q_align, 3, "q_align is 3"),
    BAD(v_align, 32, "v_align is 32"),
};

START_TEST(every_bad_member_has_its_sentence) {
    struct gm_attention_problem p = paged(4, 2, 200, 16), read;
    p.mask = GM_ATTENTION_WINDOW;
    memcpy((char *)&p + bad[_i].offset, &bad[_i].value, (size_t)bad[_i].bytes);
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, bad[_i].words);
}
END_TEST

START_TEST(what_does_not_go_together_has_its_sentence) {
    struct gm_attention_problem p = of(1, 65, 100), read;
    p.has_tree_mask = 1;
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, "max_q_len is 65; with a tree mask it must be 64");
    p = of(1, 1, 100), p.page_size = 64;
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, "page_size is 64; it must be 100 to 2147483647");
    p = of(1, 1 << 30, 100);
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, "max_q_len 1073741824 x 4 heads of q");
    p = latent(1, 1, 100, 64), p.v_is_k = 0;
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, "head_dim is 576; it must be 8 to 256");
    p = latent(1, 1, 100, 64), p.head_dim = 584;
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, "head_dim is 584; it must be 8 to 576");
    p = latent(1, 1, 100, 64), p.v_head_dim = 520;
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, "v_head_dim is 520; it must be 8 to 512");
    p = latent(1, 1, 100, 64), p.head_dim = 64;
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT,
                 "v_head_dim is 512; with v_is_k it must be up to head_dim, which is 64");
    p = latent(1, 1, 100, 64), p.v_token_stride = 512;
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT,
                 "v_token_stride is 512; with v_is_k it must be 0 or that of k, which is 576");
    p = latent(1, 1, 100, 64), p.v_align = 8;
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, "v_align is 8; with v_is_k it must be 0 or that");
}
END_TEST

/* Each type has one name, so that equal problems are equal. */
START_TEST(types_are_those_of_q_or_others) {
    struct gm_attention_problem p = of(1, 1, 100), read;
    p.type = GM_E4M3, p.kv_type = GM_ATTENTION_KV_E4M3, p.out = GM_ATTENTION_OUT_BF16;
    p.scales = GM_ATTENTION_SCALES_REQUEST_HEAD, p.q_align = p.k_align = 1;
    assert_ok(read_problem(&p, &read));
    ck_assert(read.kv_type == GM_ATTENTION_KV_SAME && gm_attention_kv_type(&read) == GM_E4M3);
    ck_assert(gm_attention_out_type(&read) == GM_BF16 && read.k_align == 1);
    p = of(1, 1, 100), p.out = GM_ATTENTION_OUT_BF16, p.kv_type = GM_ATTENTION_KV_E4M3;
    assert_ok(read_problem(&p, &read));
    ck_assert(read.out == GM_ATTENTION_OUT_SAME && gm_attention_kv_type(&read) == GM_E4M3);
    p = of(1, 1, 100), p.type = GM_FP16, p.out = GM_ATTENTION_OUT_FP16;
    assert_ok(read_problem(&p, &read));
    ck_assert(read.out == GM_ATTENTION_OUT_SAME && gm_attention_kv_type(&read) == GM_FP16);
    p.k_align = 1;
    assert_fails(read_problem(&p, &read), GM_ERROR_INVALID_ARGUMENT, "k_align is 1");
}
END_TEST

START_TEST(a_problem_is_a_line_of_a_suite) {
    const struct gm_field *head_dim =
        &gm_operation_attention.fields[gm_field_named(&gm_operation_attention, "head_dim")];
    struct gm_attention_problem p = paged(16, 1, 4096, 16);
    char text[160];
    gm_problem_print(&gm_operation_attention, &p, text, sizeof text);
    ck_assert_str_eq(text, "attention bf16 same same causal paged 16 1 4096 32 8 128 16 4096");
    p.kv_type = GM_ATTENTION_KV_E4M3;
    gm_problem_print(&gm_operation_attention, &p, text, sizeof text);
    ck_assert_str_eq(text, "attention bf16 e4m3 same causal paged 16 1 4096 32 8 128 16 4096");
    p = of(2, 100, 100), p.type = GM_FP16, p.mask = GM_ATTENTION_WINDOW, p.left = 127;
    gm_problem_print(&gm_operation_attention, &p, text, sizeof text);
    ck_assert_str_eq(text, "attention fp16 same same window batched 2 100 100 32 8 128 0 128");
    p = of(1, 1, 1);
    ck_assert_int_eq(gm_field_set(head_dim, &p, 576), 1);
    ck_assert(p.head_dim == 576 && p.v_head_dim == 512 && p.v_is_k == 1);
    ck_assert_int_eq(gm_field_set(head_dim, &p, 256), 1);
    ck_assert(p.head_dim == 256 && p.v_head_dim == 0 && p.v_is_k == 0);
}
END_TEST

/* Row by row, as the header has it. */
static double count_seen(int64_t q_len, int64_t kv_len, int64_t left, int64_t right) {
    double seen = 0;
    for (int64_t row = 0; row < q_len; row++)
        for (int64_t j = 0; j < kv_len; j++) {
            const int64_t own = kv_len - q_len + row;
            seen += (left < 0 || j >= own - left) && (right < 0 || j <= own + right);
        }
    return seen;
}

START_TEST(what_rows_see_is_counted) {
    static const int64_t lens[][2] = {{1, 1}, {1, 40}, {7, 7}, {7, 40}, {40, 7}, {33, 34}};
    for (size_t i = 0; i < sizeof lens / sizeof *lens; i++)
        for (int64_t left = -1; left < 12; left += 3)
            for (int64_t right = -1; right < 9; right += 2) {
                struct gm_attention_problem p = of(1, lens[i][0], lens[i][1]);
                p.mask = GM_ATTENTION_FULL;
                ck_assert(gm_attention_seen(&p) == (double)(lens[i][0] * lens[i][1]));
                p.mask = GM_ATTENTION_CAUSAL;
                ck_assert(gm_attention_seen(&p) == count_seen(lens[i][0], lens[i][1], -1, 0));
                p.mask = GM_ATTENTION_WINDOW, p.left = left, p.right = right;
                ck_assert(gm_attention_seen(&p) == count_seen(lens[i][0], lens[i][1], left, right));
            }
}
END_TEST

START_TEST(bytes_and_operations_are_counted) {
    struct gm_attention_problem p = paged(2, 1, 1000, 16);
    struct gm_work work = gm_operation_attention.work(&p);
    ck_assert(work.flops == 4.0 * 2 * 32 * 1000 * 128);
    ck_assert(work.least_bytes == 2.0 * 1000 * 8 * 256 * 2 + 2 * 32 * 256 * 2);
    p = of(1, 1024, 1024);
    work = gm_operation_attention.work(&p);
    ck_assert(work.flops == 4.0 * 32 * 128 * (1024 * 1025 / 2));
    p.mask = GM_ATTENTION_WINDOW, p.left = 99, p.max_q_len = 1;
    work = gm_operation_attention.work(&p);
    ck_assert(work.least_bytes == 100.0 * 8 * 256 * 2 + 32 * 256 * 2);
    ck_assert_int_eq(gm_attention_read(&p), 100);
    p.kv_type = GM_ATTENTION_KV_E4M3;
    ck_assert(gm_operation_attention.work(&p).least_bytes == 100.0 * 8 * 256 + 32 * 256 * 2);
    p.type = GM_E4M3, p.out = GM_ATTENTION_OUT_FP32;
    ck_assert(gm_operation_attention.work(&p).least_bytes == 100.0 * 8 * 256 + 32 * 128 * 5);
    p = latent(2, 1, 1000, 64);
    work = gm_operation_attention.work(&p);
    ck_assert(work.flops == 2.0 * 2 * 128 * 1000 * (576 + 512));
    ck_assert(work.least_bytes == 2.0 * 1000 * 576 * 2 + 2.0 * 128 * (576 + 512) * 2);
}
END_TEST

START_TEST(tiles_are_bounded_by_requests_and_by_rows) {
    struct gm_attention_problem p = of(100, 10, 64);
    p.max_q_tokens = 1000;
    ck_assert_int_eq(gm_attention_tiles(&p, 16), 300); /* 3 for each */
    p.max_q_tokens = 108;                              /* most requests have one row */
    ck_assert_int_eq(gm_attention_tiles(&p, 16), 127);
}
END_TEST

/* ---- the choice ----------------------------------------------------------------------------------------- */

static const struct gm_kernel *chosen(const struct gm_attention_problem *p, const char *model, char *said,
                                      size_t bytes) {
    const struct gm_device device = device_of(model);
    const struct gm_plan_options options = {.size = sizeof options, .workspace_limit = 32 << 20};
    struct explained all = explained_room();
    assert_ok(gm_attention_explain(&device, p, &options, all.candidates, all.count, &all.count));
    return chosen_of(&all, "attention", said, bytes);
}

START_TEST(a_row_a_request_takes_the_family_that_cuts_keys) {
    const struct gm_attention_problem one = paged(1, 1, 8192, 16), many = paged(128, 1, 8192, 16);
    char said[1 << 14];
    ck_assert_ptr_eq(chosen(&one, "h200", said, sizeof said)->family, &gm_family_attention_decode);
    ck_assert_ptr_eq(chosen(&many, "h200", said, sizeof said)->family, &gm_family_attention_decode);
    ck_assert_int_eq(chosen(&many, "h200", said, sizeof said)->arch, GM_ARCH_SM90);
    ck_assert_int_eq(chosen(&many, "a100", said, sizeof said)->arch, GM_ARCH_SM80);
    ck_assert_ptr_nonnull(strstr(said, "heads have up to 128 elements; it holds 64"));
}
END_TEST

START_TEST(many_rows_a_request_take_the_family_of_tiles) {
    const struct gm_attention_problem p = of(2, 4096, 4096);
    char said[1 << 14];
    ck_assert_ptr_eq(chosen(&p, "h200", said, sizeof said)->family, &gm_family_attention_sm90);
    ck_assert_ptr_eq(chosen(&p, "a100", said, sizeof said)->family, &gm_family_attention_sm80);
}
END_TEST

/* Several CTAs of an SM are chosen where they are thought clearly faster: not for long prompts, of which tiles of 64 rows read k
 * and v too often. A batch-invariant plan takes one variant whatever the lengths are. */
START_TEST(short_prompts_and_narrow_windows_take_several_ctas_of_an_sm) {
    static const struct {
        int head_dim, batch, len, heads, kv_heads, window;
        const char *name;
    } cases[] = {{128, 64, 128, 32, 8, 0, "d128_64x64_s1ax3"},   {128, 256, 128, 32, 8, 0, "d128_64x64_s1ax3"},
                 {128, 64, 64, 32, 8, 0, "d128_64x64_s1ax3"},    {128, 32, 256, 32, 8, 0, "d128_64x64_s1ax3"},
                 {128, 1, 8192, 32, 8, 128, "d128_64x64_s1ax3"}, {128, 16, 512, 32, 8, 0, "d128_128x128_s2"},
                 {128, 8, 1024, 32, 8, 0, "d128_128x128_s2"},    {128, 2, 4096, 32, 32, 0, "d128_128x128_s2"},
                 {128, 1, 32768, 64, 8, 0, "d128_128x128_s2"},   {128, 1, 16384, 32, 8, 4096, "d128_128x128_s2"},
                 {128, 1, 1024, 32, 8, 0, "d128_128x128_s2"},    {64, 64, 128, 32, 8, 0, "d64_64x64_s2ax4"},
                 {64, 1, 8192, 64, 8, 128, "d64_64x64_s2ax4"},   {64, 2, 4096, 32, 32, 0, "d64_192x128_s2"},
                 {64, 1, 8192, 64, 8, 0, "d64_192x128_s2"},      {64, 8, 1024, 32, 8, 0, "d64_192x128_s2"},
                 {64, 1, 8192, 64, 8, 1024, "d64_192x128_s2"},   {64, 1, 1024, 32, 8, 0, "d64_192x128_s2"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct gm_device device = device_of("h200");
        const struct gm_plan_options invariant = {.size = sizeof invariant, .flags = GM_PLAN_BATCH_INVARIANT};
        struct gm_attention_problem p = of(cases[i].batch, cases[i].len, cases[i].len);
        struct explained all = explained_room();
        char said[1 << 14], name[64];
        p.head_dim = cases[i].head_dim, p.q_heads = cases[i].heads, p.kv_heads = cases[i].kv_heads;
        if (cases[i].window)
            p.mask = GM_ATTENTION_WINDOW, p.left = cases[i].window - 1;
        snprintf(name, sizeof name, "attention_sm90_bf16_%s", cases[i].name);
        ck_assert_str_eq(chosen(&p, "h200", said, sizeof said)->name, name);
        assert_ok(gm_attention_explain(&device, &p, &invariant, all.candidates, all.count, &all.count));
        ck_assert_int_eq(chosen_of(&all, "attention", said, sizeof said)->columns[GM_ATTENTION_SM90_CTAS], 1);
        ck_assert_ptr_nonnull(strstr(said, "a batch-invariant plan takes the variant of one CTA on an SM"));
    }
}
END_TEST

START_TEST(what_has_no_tensor_map_takes_the_older_family) {
    struct gm_attention_problem p = paged(64, 64, 4096, 4);
    char said[1 << 14];
    p.head_dim = 128;
    ck_assert_ptr_eq(chosen(&p, "h200", said, sizeof said)->family, &gm_family_attention_sm80);
    ck_assert_ptr_nonnull(strstr(said, "and a page of 4 have boxes of 4 tokens; they must have 8 or more"));
    p.page_size = 16, p.has_tree_mask = 1;
    ck_assert_ptr_eq(chosen(&p, "h200", said, sizeof said)->family, &gm_family_attention_sm80);
    ck_assert_ptr_nonnull(strstr(said, "it has no tree mask"));
    p.has_tree_mask = 0, p.out_align = 8;
    ck_assert_ptr_eq(chosen(&p, "h200", said, sizeof said)->family, &gm_family_attention_sm80);
    ck_assert_ptr_nonnull(strstr(said, "out_align promises 8 bytes"));
}
END_TEST

START_TEST(latent_heads_take_the_family_that_reads_k_once) {
    struct gm_attention_problem p = latent(64, 1, 4096, 64);
    char said[1 << 14];
    ck_assert_str_eq(chosen(&p, "h200", said, sizeof said)->name, "attention_mla_sm90_bf16_d576_v512_b64_s2_c2");
    ck_assert_ptr_nonnull(strstr(said, "128 parts of whole units, boxes of 32 tokens"));
    ck_assert_ptr_nonnull(strstr(said, "64 parts of whole units, boxes of 32 tokens"));
    ck_assert_ptr_nonnull(strstr(said, "heads have up to 576 elements; it holds 256"));
    ck_assert_ptr_null(chosen(&p, "a100", said, sizeof said));
    p.page_size = 4, p.q_heads = 16;
    ck_assert_str_eq(chosen(&p, "h200", said, sizeof said)->name, "attention_mla_sm90_bf16_d576_v512_b64_s2_c1");
    ck_assert_ptr_nonnull(strstr(said, "132 parts of all keys, boxes of 0 tokens"));
    ck_assert_ptr_nonnull(strstr(said, "a page of 4 tokens has no boxes of 8 or more: no cluster shares them"));
    p.k_align = 8;
    ck_assert_ptr_null(chosen(&p, "h200", said, sizeof said));
    ck_assert_ptr_nonnull(strstr(said, "k_align promises 8 bytes: it loads 16 at once"));
    p = paged(64, 1, 4096, 64);
    ck_assert_ptr_eq(chosen(&p, "h200", said, sizeof said)->family, &gm_family_attention_decode);
    ck_assert_ptr_nonnull(strstr(said, "v_is_k is 0; it takes k for v"));
}
END_TEST

/* Whatever the batch. */
START_TEST(a_batch_invariant_plan_takes_a_family_by_the_rows_of_a_request) {
    static const struct {
        const char *model;
        int q_len, page_size, align;
        const struct gm_family *family;
    } cases[] = {{"h200", 4, 16, 16, &gm_family_attention_decode}, {"h200", 5, 16, 16, &gm_family_attention_sm90},
                 {"h200", 5, 4, 16, &gm_family_attention_sm80},    {"h200", 5, 16, 8, &gm_family_attention_decode},
                 {"a100", 5, 16, 16, &gm_family_attention_sm80},   {"a100", 1, 16, 16, &gm_family_attention_decode},
                 {"h200", 5, 16, 16, &gm_family_attention_sm90}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int64_t batch = 1; batch < 1000; batch *= 9) {
            const struct gm_device device = device_of(cases[i].model);
            const struct gm_plan_options options = {.size = sizeof options, .flags = GM_PLAN_BATCH_INVARIANT};
            struct gm_attention_problem p = paged(batch, cases[i].q_len, 4096, cases[i].page_size);
            struct explained all = explained_room();
            char said[1 << 14];
            p.k_align = cases[i].align;
            assert_ok(gm_attention_explain(&device, &p, &options, all.candidates, all.count, &all.count));
            ck_assert_ptr_eq(chosen_of(&all, "attention", said, sizeof said)->family, cases[i].family);
            if (cases[i].align == 16) /* else others have more against it */
                ck_assert_ptr_nonnull(strstr(said, "a batch-invariant plan of this problem takes "));
        }
}
END_TEST

START_TEST(heads_take_the_smallest_variant_that_holds_them) {
    static const int dims[][2] = {{8, 64}, {64, 64}, {72, 128}, {128, 128}, {192, 256}, {256, 256}};
    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
        struct gm_attention_problem p = paged(16, 1, 4096, 16);
        char said[1 << 14];
        p.head_dim = dims[i][0];
        ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->columns[GM_ATTENTION_DECODE_HEAD_DIM], dims[i][1]);
        p.head_dim = 8, p.v_head_dim = dims[i][0];
        ck_assert_int_eq(chosen(&p, "h200", said, sizeof said)->columns[GM_ATTENTION_DECODE_HEAD_DIM], dims[i][1]);
    }
}
END_TEST

/* Under any q, few rows or many; of large tiles only those of q of e4m3 know it. */
START_TEST(a_cache_of_e4m3_takes_its_own_variants) {
    static const struct {
        enum gm_type type;
        enum gm_attention_out out;
        int q_len, page_size;
        const char *model, *kernel;
    } cases[] = {{GM_BF16, GM_ATTENTION_OUT_SAME, 1, 16, "h200", "attention_decode_sm90_e4m3kv_d128_w4_s3"},
                 {GM_FP16, GM_ATTENTION_OUT_FP32, 1, 16, "a100", "attention_decode_sm80_e4m3kv_d128_w2_s4"},
                 {GM_BF16, GM_ATTENTION_OUT_SAME, 4096, 16, "h200", "attention_decode_sm90_e4m3kv_d128_w4_s3"},
                 {GM_E4M3, GM_ATTENTION_OUT_BF16, 1, 16, "h200", "attention_decode_sm90_e4m3kv_d128_w4_s3"},
                 {GM_E4M3, GM_ATTENTION_OUT_FP16, 4096, 4, "h200", "attention_decode_sm90_e4m3kv_d128_w4_s3"},
                 {GM_E4M3, GM_ATTENTION_OUT_FP16, 4096, 16, "a100", "attention_decode_sm80_e4m3kv_d128_w2_s4"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gm_attention_problem p = paged(16, cases[i].q_len, 4096, cases[i].page_size);
        char said[1 << 14];
        p.type = cases[i].type, p.out = cases[i].out, p.kv_type = GM_ATTENTION_KV_E4M3;
        ck_assert_str_eq(chosen(&p, cases[i].model, said, sizeof said)->name, cases[i].kernel);
        if (p.type != GM_E4M3)
            ck_assert_ptr_nonnull(strstr(said, "16; the problem's are e4m3"));
        p.type = GM_BF16, p.out = GM_ATTENTION_OUT_SAME, p.kv_type = GM_ATTENTION_KV_SAME;
        chosen(&p, cases[i].model, said, sizeof said);
        ck_assert_ptr_nonnull(strstr(said, "its k and v are e4m3; the problem's are bf16"));
    }
}
END_TEST

/* Its kernels stand in the table with another type than q's. */
START_TEST(a_ledger_chooses_for_a_cache_of_e4m3) {
    const char *const name = "attention_decode_sm90_e4m3kv_d256_w4_s6"; /* not the model's choice */
    const struct gm_device h200 = device_of("h200");
    struct gm_attention_problem p = paged(16, 1, 4096, 16), read;
    gm_ledger *ledger = NULL;
    char text[600];
    p.type = GM_FP16, p.kv_type = GM_ATTENTION_KV_E4M3;
    assert_ok(read_problem(&p, &read));
    snprintf(text, sizeof text,
             "gristmill-ledger 1\ndevice NVIDIA H200\ncc 9.0\nsms 132\nl2_bytes 62914560\ndram_gbs 4814\n"
             "attention fp16 e4m3 causal paged 16 1 4096 32 8 128 16 4096 *%s 1 1 1 7\n",
             name);
    assert_ok(
        gm_ledger_parse_with("the text", text, strlen(text), gm_kernels, gm_kernel_count(), GM_STALE_REFUSED, &ledger));
    const struct gm_plan_options options = {.size = sizeof options, .ledger = ledger, .workspace_limit = 32 << 20};
    const struct gm_question question = {&h200, &read, &options, GM_DIVISION_BEST};
    const struct gm_choice choice = gm_choose(&gm_operation_attention, gm_kernels, gm_kernel_count(), &question);
    ck_assert_int_eq(choice.source, GM_SOURCE_LEDGER);
    ck_assert_str_eq(choice.kernel->name, name);
    gm_ledger_destroy(ledger);
}
END_TEST

/* Half the bytes are read in little more than half the time, where bytes are what takes it. */
START_TEST(a_cache_of_e4m3_is_read_faster) {
    struct gm_attention_problem p = paged(64, 1, 8192, 16);
    const struct gm_device device = device_of("h200");
    double us[2];
    for (int i = 0; i < 2; i++) {
        struct explained all = explained_room();
        p.kv_type = i ? GM_ATTENTION_KV_E4M3 : GM_ATTENTION_KV_SAME;
        assert_ok(gm_attention_explain(&device, &p, NULL, all.candidates, all.count, &all.count));
        us[i] = INFINITY;
        for (size_t c = 0; c < all.count; c++)
            if (all.candidates[c].reason == GM_ACCEPTED)
                us[i] = fmin(us[i], all.candidates[c].predicted_us);
        free(all.candidates);
    }
    ck_assert(us[1] > 0.45 * us[0] && us[1] < 0.7 * us[0]);
}
END_TEST

/* DeepSeek's prompts: k has 192 elements, of which 64 turn, and v 128. */
START_TEST(longer_heads_of_k_than_of_v_have_a_variant) {
    struct gm_attention_problem p = of(1, 8192, 8192);
    char said[1 << 14];
    p.q_heads = p.kv_heads = 128, p.head_dim = 192, p.v_head_dim = 128;
    ck_assert_str_eq(chosen(&p, "h200", said, sizeof said)->name, "attention_sm90_bf16_d192v128_128x128_s2");
    ck_assert_ptr_nonnull(strstr(said, "heads of k have 192 elements and of v 128; it holds 128 and 128"));
    p.v_head_dim = 136;
    ck_assert_str_eq(chosen(&p, "h200", said, sizeof said)->name, "attention_sm90_bf16_d256_128x80_s2");
    ck_assert_ptr_nonnull(strstr(said, "heads of k have 192 elements and of v 136; it holds 192 and 128"));
    p.head_dim = p.v_head_dim = 128;
    ck_assert_str_eq(chosen(&p, "h200", said, sizeof said)->name, "attention_sm90_bf16_d128_128x128_s2");
}
END_TEST

/* Whatever the batch, too. */
START_TEST(prompts_of_e4m3_take_the_tiles_that_transpose_v) {
    struct gm_attention_problem p = of(1, 8192, 8192);
    char said[1 << 14];
    p.type = GM_E4M3, p.out = GM_ATTENTION_OUT_BF16, p.scales = GM_ATTENTION_SCALES_REQUEST_HEAD;
    ck_assert_str_eq(chosen(&p, "h200", said, sizeof said)->name, "attention_sm90_e4m3_d128_128x128_s2a");
    p.type = GM_BF16, p.kv_type = GM_ATTENTION_KV_E4M3, p.out = GM_ATTENTION_OUT_SAME;
    chosen(&p, "h200", said, sizeof said);
    ck_assert_ptr_nonnull(strstr(said, "its k and v are bf16; the problem's are e4m3"));
    const struct gm_device device = device_of("h200");
    const struct gm_plan_options options = {.size = sizeof options, .flags = GM_PLAN_BATCH_INVARIANT};
    struct explained all = explained_room();
    p = paged(9, 5, 4096, 16);
    p.type = GM_E4M3, p.out = GM_ATTENTION_OUT_FP16;
    assert_ok(gm_attention_explain(&device, &p, &options, all.candidates, all.count, &all.count));
    ck_assert_ptr_eq(chosen_of(&all, "attention", said, sizeof said)->family, &gm_family_attention_sm90);
}
END_TEST

START_TEST(what_is_not_aligned_takes_the_family_that_has_elements) {
    struct gm_attention_problem p = of(1, 1024, 1024);
    char said[1 << 14];
    p.k_align = 8;
    ck_assert_ptr_eq(chosen(&p, "h200", said, sizeof said)->family, &gm_family_attention_decode);
    ck_assert_ptr_nonnull(strstr(said, "k_align promises 8 bytes: it loads 16 at once"));
    p.k_align = 16, p.scale = -1;
    ck_assert_ptr_eq(chosen(&p, "h200", said, sizeof said)->family, &gm_family_attention_decode);
    ck_assert_ptr_nonnull(strstr(said, "scale is -1; it takes none below 0"));
}
END_TEST

/* ---- a launch ------------------------------------------------------------------------------------------- */

static gm_plan *plan_of(const struct gm_attention_problem *p, const char *kernel, size_t limit, uint32_t flags) {
    const struct gm_plan_options options = {
        .size = sizeof options, .kernel = kernel, .workspace_limit = limit, .flags = flags | GM_PLAN_PLAIN_LAUNCH};
    gm_plan *plan = NULL;
    assert_ok(gm_attention_plan_create(context, p, &options, &plan));
    return plan;
}

#define ADDRESS(number) (UINT64_C(0x10000000000) * (number))

static struct gm_attention_args args_of(const gm_plan *plan, int64_t batch) {
    return (struct gm_attention_args){.size = sizeof(struct gm_attention_args),
                                      .batch = batch,
                                      .q = ADDRESS(1),
                                      .k = ADDRESS(2),
                                      .v = ADDRESS(3),
                                      .out = ADDRESS(4),
                                      .lse = ADDRESS(5),
                                      .q_indptr = ADDRESS(6),
                                      .kv_len = ADDRESS(7),
                                      .kv_indptr = ADDRESS(8),
                                      .page_table = ADDRESS(9),
                                      .sinks = ADDRESS(10),
                                      .tree_mask = ADDRESS(11),
                                      .workspace = ADDRESS(12),
                                      .workspace_bytes = gm_plan_workspace_bytes(plan)};
}

START_TEST(a_launch_is_told_what_the_problem_says) {
    struct gm_attention_problem p = paged(10, 2, 500, 16);
    p.has_lse = p.has_sinks = 1, p.softcap = 30, p.out = GM_ATTENTION_OUT_FP32, p.v_head_dim = 64, p.v_align = 8;
    p.mask = GM_ATTENTION_WINDOW, p.left = 99, p.right = -1, p.lse_head_stride = 20, p.lse_token_stride = 1;
    gm_plan *plan = plan_of(&p, "attention_decode_sm90_bf16_d128_w4_s3", 0, 0);
    const struct gm_attention_params *a = plan->params;
    ck_assert(a->q.token == 8192 && a->q.head == 256 && a->out.token == 32 * 64 * 4 && a->lse.head == 80);
    ck_assert(a->k.page == 16 * 8 * 256 && a->v.token == 8 * 128 && a->v.head == 128 && a->lse.token == 4);
    ck_assert(a->page.divisor == 16 && a->group.divisor == 4 && a->kv_heads == 8 && a->table_stride == 32);
    ck_assert(a->left == 99 && a->right == INT32_MAX && a->head_dim == 128 && a->v_head_dim == 64);
    ck_assert(a->max_q_tokens == 20 && a->max_q_len == 2 && a->max_kv_len == 500 && a->page_count == 320);
    ck_assert(a->cap == 30 && a->scale == (float)(1 / sqrt(128)) && a->cap_exponent == (float)(-2 / log(2) / 30));
    ck_assert_int_eq(a->flags, GM_ATTENTION_IS_PAGED | GM_ATTENTION_OUT_IS_FP32 | GM_ATTENTION_HAS_CAP |
                                   GM_ATTENTION_KV_BY_ELEMENT);
    gm_plan_destroy(plan);
    p = of(10, 2, 500);
    p.kv_layout = GM_ATTENTION_KV_RAGGED, p.q_align = 2, p.out_token_stride = 32 * 128 + 1;
    plan = plan_of(&p, "attention_decode_sm90_bf16_d128_w4_s3", 0, 0);
    a = plan->params;
    ck_assert_int_eq(a->flags, GM_ATTENTION_IS_RAGGED | GM_ATTENTION_Q_BY_ELEMENT | GM_ATTENTION_OUT_BY_ELEMENT);
    ck_assert(a->left == INT32_MAX && a->right == 0 && a->kv_tokens == 5000 && a->lse.address == 0);
    ck_assert(a->scale == (float)(1 / sqrt(128) / log(2)));
    gm_plan_destroy(plan);
}
END_TEST

START_TEST(a_launch_is_told_who_shares_a_scale) {
    static const int strides[][2] = {{0, 0}, {0, 0}, {0, 1}, {8, 1}};
    for (int i = 0; i < 4; i++) {
        struct gm_attention_problem p = of(2, 1, 500);
        p.type = GM_E4M3, p.scales = (enum gm_attention_scales)i, p.k_align = 8;
        p.out = i % 2 ? GM_ATTENTION_OUT_BF16 : GM_ATTENTION_OUT_FP16;
        gm_plan *plan = plan_of(&p, "attention_decode_sm90_e4m3kv_d128_w4_s3", 0, 0);
        const struct gm_attention_params *a = plan->params;
        ck_assert(a->scale_request == strides[i][0] && a->scale_head == strides[i][1]);
        ck_assert(a->q.token == 4096 && a->k.token == 1024 && a->out.token == 8192);
        ck_assert_int_eq(a->flags,
                         GM_ATTENTION_KV_BY_ELEMENT | GM_ATTENTION_Q_IS_E4M3 | (i % 2 ? 0 : GM_ATTENTION_OUT_IS_FP16));
        gm_plan_destroy(plan);
    }
}
END_TEST

/* Of q and out what a kernel does not know. */
START_TEST(a_launch_is_told_types) {
    struct gm_attention_problem p = of(2, 1, 500);
    p.kv_type = GM_ATTENTION_KV_E4M3;
    for (int i = 0; i < 2; i++) {
        p.type = i ? GM_FP16 : GM_BF16;
        gm_plan *plan = plan_of(&p, "attention_decode_sm90_e4m3kv_d128_w4_s3", 0, 0);
        const struct gm_attention_params *a = plan->params;
        ck_assert_int_eq(a->flags, i ? GM_ATTENTION_OUT_IS_FP16 : GM_ATTENTION_Q_IS_BF16);
        ck_assert(a->q.token == 8192 && a->k.token == 1024 && a->out.token == 8192);
        gm_plan_destroy(plan);
    }
}
END_TEST

/* Strides in elements; 0: packed, all heads of a token together. Rows of 128 bytes from a head to the next, or 0: a slab a box. */
static const struct {
    const char *kernel;
    int64_t head_dim, page_size, k_token, k_head, v_head;
    int k_spans, v_spans;
} boxes_of_pages[] = {
    {"attention_sm90_bf16_d128_128x128_s2", 128, 16, 0, 0, 0, 2, 2},
    {"attention_sm90_bf16_d128_128x128_s2", 128, 16, 128, 16 * 128, 0, 32, 2}, /* k: a head's tokens together */
    {"attention_sm90_bf16_d128_128x128_s2", 128, 16, 0, 0, 192, 2, 3},
    {"attention_sm90_bf16_d256_128x80_s2", 256, 64, 0, 0, 0, 4, 4},
    {"attention_sm90_bf16_d128_64x64_s1ax3", 128, 16, 0, 0, 0, 2, 2},
    {"attention_sm90_bf16_d128_128x128_s2", 128, 0, 0, 0, 0, 0, 0},          /* no pages */
    {"attention_sm90_bf16_d128_128x128_s2", 128, 16, 8 * 136, 136, 0, 0, 0}, /* k's heads begin in a span */
    {"attention_sm90_bf16_d128_128x128_s2", 128, 16, 0, 0, 136, 0, 0},       /* v's */
    {"attention_sm90_bf16_d128_128x128_s2", 120, 16, 0, 0, 0, 0, 0},         /* a head ends in one */
    {"attention_sm90_bf16_d256_128x80_s2", 192, 16, 0, 0, 0, 0, 0},          /* fewer slabs than the variant has */
    {"attention_sm90_bf16_d64_192x128_s2", 64, 16, 0, 0, 0, 0, 0},           /* a slab is all */
    {"attention_sm90_e4m3_d256_128x96_s2", 256, 16, 0, 0, 0, 0, 0},          /* V is transposed slab by slab */
};

START_TEST(boxes_of_pages_have_whole_rows_where_strides_allow_it) {
    struct gm_attention_problem p = paged(2, 512, 512, boxes_of_pages[_i].page_size);
    p.kv_layout = p.page_size ? GM_ATTENTION_KV_PAGED : GM_ATTENTION_KV_BATCHED;
    p.head_dim = boxes_of_pages[_i].head_dim;
    p.k_token_stride = boxes_of_pages[_i].k_token, p.k_head_stride = boxes_of_pages[_i].k_head;
    p.v_head_stride = boxes_of_pages[_i].v_head;
    p.v_token_stride = 8 * p.v_head_stride;
    if (p.k_head_stride)
        p.k_page_stride = 16 * 8 * 136;
    if (strstr(boxes_of_pages[_i].kernel, "e4m3"))
        p.type = GM_E4M3, p.out = GM_ATTENTION_OUT_BF16;
    gm_plan *plan = plan_of(&p, boxes_of_pages[_i].kernel, 0, 0);
    const struct gm_attention_sm90_params *params = plan->params;
    ck_assert_int_eq(params->k_head_spans, boxes_of_pages[_i].k_spans);
    ck_assert_int_eq(params->v_head_spans, boxes_of_pages[_i].v_spans);
    ck_assert_int_eq(!!(params->attention.flags & GM_ATTENTION_WHOLE_ROWS), boxes_of_pages[_i].k_spans > 0);
    gm_plan_destroy(plan);
}
END_TEST

/* Parts fill the device, their slots the workspace; without one there is no cut, and a batch-invariant plan has none. */
START_TEST(keys_are_cut_where_there_is_a_workspace) {
    const struct gm_attention_problem p = paged(1, 1, 100000, 16);
    gm_plan *plan = plan_of(&p, "attention_decode_sm90_bf16_d128_w4_s3", 32 << 20, 0);
    const struct gm_attention_decode_params *params = plan->params;
    const size_t slot = GM_ATTENTION_DECODE_SLOT_BYTES(128) + GM_ATTENTION_DECODE_FLAG_BYTES;
    const unsigned parts = params->lists.divisor * (unsigned)params->shares;
    ck_assert_uint_ge(parts, (unsigned)plan->device.sm_count);
    ck_assert_uint_eq(plan->config.gridDimX, parts);
    ck_assert_uint_eq(gm_plan_workspace_bytes(plan), parts * slot);
    ck_assert_uint_ne(params->ready, 0);
    const struct gm_attention_args args = args_of(plan, 1);
    fake_make_current(0);
    fake_clear_counts();
    assert_ok(gm_attention_execute(plan, &args, NULL));
    ck_assert_int_eq(fake_calls(), 1);
    gm_plan_destroy(plan);
    plan = plan_of(&p, "attention_decode_sm90_bf16_d128_w4_s3", slot, 0);
    ck_assert_uint_eq(plan->config.gridDimX, 8); /* heads */
    ck_assert_uint_eq(gm_plan_workspace_bytes(plan), 0);
    gm_plan_destroy(plan);
    plan = plan_of(&p, "attention_decode_sm90_bf16_d128_w4_s3", 32 << 20, GM_PLAN_BATCH_INVARIANT);
    ck_assert_uint_eq(gm_plan_workspace_bytes(plan), 0);
    gm_plan_destroy(plan);
}
END_TEST

/* As many lists as heads of k, or fewer where more than every 16th CTA would have no share. */
START_TEST(heads_are_dealt_to_lists) {
    static const struct {
        int64_t kv_heads;
        uint32_t lists, shares;
    } cases[] = {{8, 8, 33},   {1, 1, 264},   {32, 32, 8},   {5, 5, 52},
                 {100, 50, 5}, {127, 127, 2}, {131, 131, 2}, {150, 50, 5}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gm_attention_problem p = paged(4, 1, 100000, 16);
        p.q_heads = p.kv_heads = cases[i].kv_heads;
        gm_plan *plan = plan_of(&p, "attention_decode_sm90_bf16_d128_w4_s3", 32 << 20, 0);
        const struct gm_attention_decode_params *params = plan->params;
        ck_assert_uint_eq(params->lists.divisor, cases[i].lists);
        ck_assert_uint_eq((uint32_t)params->shares, cases[i].shares);
        ck_assert_int_eq(params->heads, cases[i].kv_heads / cases[i].lists);
        ck_assert_uint_eq(plan->config.gridDimX, cases[i].lists * cases[i].shares);
        gm_plan_destroy(plan);
    }
}
END_TEST

/* Two slots for each part, of as many rows as a unit has; CTAs behind the parts for each unit, as many as run at once. */
START_TEST(cut_units_of_latent_heads_have_slots) {
    static const struct {
        int64_t batch, q_heads, kv_len, parts, slices, rows;
    } cases[] = {{1, 128, 8192, 132, 64, 64},
                 {1, 16, 1024, 16, 16, 16},
                 {64, 128, 4096, 132, 1, 64},
                 {16, 16, 4096, 132, 8, 16},
                 {1, 1, 8192, 128, 2, 2}};
    const char *const name = "attention_mla_sm90_bf16_d576_v512_b64_s2_c1";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gm_attention_problem p = latent(cases[i].batch, 1, cases[i].kv_len, 64);
        p.q_heads = cases[i].q_heads;
        const int64_t units = cases[i].batch * ((cases[i].q_heads + 63) / 64), parts = cases[i].parts;
        gm_plan *plan = plan_of(&p, name, 64 << 20, 0);
        const struct gm_attention_mla_sm90_params *params = plan->params;
        ck_assert(params->parts == parts && params->slices == cases[i].slices && params->slot_rows == cases[i].rows);
        ck_assert_int_eq(params->box_tokens, 32);
        ck_assert_uint_ne(params->ready, 0);
        ck_assert_uint_eq(plan->config.gridDimX, (unsigned)(parts + units * cases[i].slices));
        ck_assert_uint_eq(gm_plan_workspace_bytes(plan),
                          2 * (size_t)parts * ((size_t)cases[i].rows * 2056 + 8 * (size_t)cases[i].slices));
        gm_plan_destroy(plan);
        const size_t half = 8 * (size_t)cases[i].slices + (size_t)cases[i].rows * 2056;
        if (units < parts / 2) {
            plan = plan_of(&p, name, (size_t)parts * half, 0);
            ck_assert_int_eq(((const struct gm_attention_mla_sm90_params *)plan->params)->parts, parts / 2);
            gm_plan_destroy(plan);
        }
        for (int whole = 0; whole < 2; whole++) {
            plan = plan_of(&p, name, whole ? 64 << 20 : 1000, whole ? GM_PLAN_BATCH_INVARIANT : 0);
            params = plan->params;
            ck_assert(params->parts == (units < 132 ? units : 132) && params->slices == 0);
            ck_assert_uint_eq(plan->config.gridDimX, (unsigned)params->parts);
            ck_assert_uint_eq(gm_plan_workspace_bytes(plan), 0);
            gm_plan_destroy(plan);
        }
    }
}
END_TEST

START_TEST(every_variant_is_launched_by_name) {
    for (size_t i = 0; i < gm_kernel_count(); i++) {
        const struct gm_kernel *kernel = &gm_kernels[i];
        struct gm_attention_problem p = of(3, 40, 1000);
        if (kernel->family->operation != &gm_operation_attention)
            continue;
        p.type = kernel->type;
        p.out = kernel->type == GM_E4M3 ? GM_ATTENTION_OUT_BF16 : GM_ATTENTION_OUT_SAME;
        p.head_dim = 64;
        p.v_is_k = kernel->family == &gm_family_attention_mla_sm90;
        gm_plan *plan = plan_of(&p, kernel->name, 0, 0);
        struct gm_attention_args args = args_of(plan, 2);
        args.v = p.v_is_k ? 0 : args.v;
        fake_make_current(0);
        fake_clear_counts();
        assert_ok(gm_attention_execute(plan, &args, NULL));
        const int maps = kernel->family == &gm_family_attention_sm90 ? 3 : p.v_is_k;
        ck_assert_int_eq(fake_calls(), 1 + maps);
        ck_assert_int_eq(fake.launch.kernel, (int)i);
        ck_assert_uint_eq(fake.launch.config.blockDimX, (unsigned)kernel->threads);
        ck_assert_int_eq((int)fake.launch.config.numAttrs, (kernel->arch == GM_ARCH_SM90) + (kernel->cluster_ctas > 1));
        if (kernel->family == &gm_family_attention_sm80) {
            const struct gm_attention_sm80_params *params = plan->params;
            const int rows = kernel->columns[GM_ATTENTION_SM80_TILE_ROWS];
            ck_assert_int_eq(params->tiles, 3 * ((160 + rows - 1) / rows));
            ck_assert_int_eq(params->section, 8);
            ck_assert_uint_eq(fake.launch.config.gridDimX, (unsigned)params->tiles * 8);
        } else if (kernel->family == &gm_family_attention_sm90) { /* of 32 heads each request has a tile */
            const int has_all = kernel->columns[GM_ATTENTION_SM90_CTAS] > 1;
            ck_assert_uint_eq(fake.launch.config.gridDimX,
                              has_all ? 3 * 32 : (unsigned)GM_MIN(96, plan->device.sm_count));
        }
        gm_plan_destroy(plan);
    }
}
END_TEST

static enum gm_status execute(const struct gm_attention_problem *p, struct gm_attention_args args) {
    gm_plan *plan = plan_of(p, NULL, 0, 0);
    fake_make_current(0);
    fake_clear_counts();
    const enum gm_status status = gm_attention_execute(plan, &args, NULL);
    ck_assert_int_eq(fake_calls(), status == GM_OK);
    gm_plan_destroy(plan);
    return status;
}

START_TEST(scales_are_refused_by_name) {
    struct gm_attention_problem p = paged(10, 1, 500, 16);
    struct gm_attention_args good = args_of(NULL, 10);
    good.k_scale = ADDRESS(13), good.v_scale = ADDRESS(14);
    struct gm_attention_args args = good;
    p.kv_type = GM_ATTENTION_KV_E4M3;
    args.k_scale = args.v_scale = 0; /* not asked for */
    assert_ok(execute(&p, args));
    p.scales = GM_ATTENTION_SCALES_REQUEST_HEAD;
    assert_ok(execute(&p, good));
    args = good, args.k_scale = 0;
    assert_fails(execute(&p, args), GM_ERROR_INVALID_ARGUMENT, "k_scale is NULL");
    args = good, args.v_scale += 2;
    assert_fails(execute(&p, args), GM_ERROR_MISALIGNED, "v_scale");
    args = good, args.k_scale = args.out - 4 * 10 * 8 + 4; /* the last of requests and heads */
    assert_fails(execute(&p, args), GM_ERROR_OVERLAP, "k_scale");
    p.type = GM_E4M3, p.out = GM_ATTENTION_OUT_BF16;
    args = good;
    assert_fails(execute(&p, args), GM_ERROR_INVALID_ARGUMENT, "q_scale is NULL");
    args.q_scale = ADDRESS(15);
    assert_ok(execute(&p, args));
}
END_TEST

START_TEST(bad_arguments_are_refused_by_name) {
    struct gm_attention_problem p = paged(10, 1, 500, 16);
    const struct gm_attention_args good = args_of(NULL, 10);
    struct gm_attention_args args = good;
    assert_ok(execute(&p, args));
    args.batch = 11;
    assert_fails(execute(&p, args), GM_ERROR_INVALID_ARGUMENT, "batch is 11; it must be 0 to 10");
    args = good, args.lse = args.kv_indptr = args.sinks = args.tree_mask = 0; /* not asked for */
    assert_ok(execute(&p, args));
    args = good, args.page_table = 0;
    assert_fails(execute(&p, args), GM_ERROR_INVALID_ARGUMENT, "page_table is NULL");
    args = good, args.out = args.kv_len;
    assert_fails(execute(&p, args), GM_ERROR_OVERLAP, "kv_len");
    args = good, args.k += 8;
    assert_fails(execute(&p, args), GM_ERROR_MISALIGNED, "k");
    p.kv_layout = GM_ATTENTION_KV_RAGGED, p.has_sinks = p.has_lse = p.has_tree_mask = 1;
    args = good, args.kv_indptr = 0;
    assert_fails(execute(&p, args), GM_ERROR_INVALID_ARGUMENT, "kv_indptr is NULL");
    args = good, args.sinks = 0;
    assert_fails(execute(&p, args), GM_ERROR_INVALID_ARGUMENT, "sinks is NULL");
    args = good, args.tree_mask += 4;
    assert_fails(execute(&p, args), GM_ERROR_MISALIGNED, "tree_mask");
    args = good, args.lse = args.out + 64;
    assert_fails(execute(&p, args), GM_ERROR_OVERLAP, "lse");
    p = paged(10, 1, 500, 16), p.v_is_k = 1;
    args = good;
    assert_fails(execute(&p, args), GM_ERROR_INVALID_ARGUMENT, "v is not k; with v_is_k it must be that, or 0");
    args.v = 0;
    assert_ok(execute(&p, args));
    args.v = args.k;
    assert_ok(execute(&p, args));
}
END_TEST

Suite *attention_suite(void) {
    Suite *suite = suite_create("attention");
    TCase *problems = tcase_create("problems"), *choice = tcase_create("choice"), *launch = tcase_create("launch");
    tcase_add_test(problems, zeros_mean_packed_and_all);
    tcase_add_test(problems, where_v_is_k_it_has_its_strides);
    tcase_add_loop_test(problems, every_bad_member_has_its_sentence, 0, sizeof bad / sizeof *bad);
    tcase_add_test(problems, what_does_not_go_together_has_its_sentence);
    tcase_add_test(problems, types_are_those_of_q_or_others);
    tcase_add_test(problems, a_problem_is_a_line_of_a_suite);
    tcase_add_test(problems, what_rows_see_is_counted);
    tcase_add_test(problems, bytes_and_operations_are_counted);
    tcase_add_test(problems, tiles_are_bounded_by_requests_and_by_rows);
    tcase_add_test(choice, a_row_a_request_takes_the_family_that_cuts_keys);
    tcase_add_test(choice, many_rows_a_request_take_the_family_of_tiles);
    tcase_add_test(choice, short_prompts_and_narrow_windows_take_several_ctas_of_an_sm);
    tcase_add_test(choice, what_has_no_tensor_map_takes_the_older_family);
    tcase_add_test(choice, latent_heads_take_the_family_that_reads_k_once);
    tcase_add_test(choice, a_batch_invariant_plan_takes_a_family_by_the_rows_of_a_request);
    tcase_add_test(choice, heads_take_the_smallest_variant_that_holds_them);
    tcase_add_test(choice, a_cache_of_e4m3_takes_its_own_variants);
    tcase_add_test(choice, a_ledger_chooses_for_a_cache_of_e4m3);
    tcase_add_test(choice, a_cache_of_e4m3_is_read_faster);
    tcase_add_test(choice, longer_heads_of_k_than_of_v_have_a_variant);
    tcase_add_test(choice, prompts_of_e4m3_take_the_tiles_that_transpose_v);
    tcase_add_test(choice, what_is_not_aligned_takes_the_family_that_has_elements);
    tcase_add_checked_fixture(launch, planned_set_up, planned_tear_down);
    tcase_add_test(launch, a_launch_is_told_what_the_problem_says);
    tcase_add_test(launch, a_launch_is_told_who_shares_a_scale);
    tcase_add_test(launch, a_launch_is_told_types);
    tcase_add_loop_test(launch, boxes_of_pages_have_whole_rows_where_strides_allow_it, 0,
                        sizeof boxes_of_pages / sizeof *boxes_of_pages);
    tcase_add_test(launch, keys_are_cut_where_there_is_a_workspace);
    tcase_add_test(launch, heads_are_dealt_to_lists);
    tcase_add_test(launch, cut_units_of_latent_heads_have_slots);
    tcase_add_test(launch, every_variant_is_launched_by_name);
    tcase_add_test(launch, scales_are_refused_by_name);
    tcase_add_test(launch, bad_arguments_are_refused_by_name);
    suite_add_tcase(suite, problems);
    suite_add_tcase(suite, choice);
    suite_add_tcase(suite, launch);
    return suite;
}
