/* SPDX-License-Identifier: Apache-2.0 */
/* The matrices and the kernel of the tests of wgmma. */
#include "wgmma_kernel.h"

#include "sim/execute/numbers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t bytes_of(enum wgmma_type type) {
    return type <= WGMMA_BF16 ? 2 : type == WGMMA_TF32 || type >= WGMMA_F32 ? 4 : 1;
}

uint32_t wgmma_depth(const struct wgmma_case *test) {
    return 32 / bytes_of(test->b.type);
}

static uint32_t bits_of(enum wgmma_type type, int value) {
    static const struct sim_format *const formats[] = {[WGMMA_F16] = &sim_format_half,
                                                       [WGMMA_BF16] = &sim_format_bfloat16,
                                                       [WGMMA_TF32] = &sim_format_tf32,
                                                       [WGMMA_E4M3] = &sim_format_e4m3,
                                                       [WGMMA_E5M2] = &sim_format_e5m2,
                                                       [WGMMA_F32] = &sim_format_float,
                                                       [WGMMA_S32] = NULL};
    if (type == WGMMA_S8 || type == WGMMA_U8)
        return (uint8_t)value;
    return type == WGMMA_S32 ? (uint32_t)value
                             : (uint32_t)sim_round_double(formats[type], SIM_NEAREST_EVEN, false, value);
}

static int small(enum wgmma_type type) {
    const int value = rand() % (type == WGMMA_E4M3 || type == WGMMA_E5M2 ? 5 : 8);
    return type == WGMMA_U8 ? value : value - 3;
}

/* ---- matrices to memory ------------------------------------------------------------------------------------------ */

static uint64_t descriptor_of(const struct wgmma_side *side) {
    const struct gm_matrix_descriptor fields = {.size = sizeof fields,
                                                .start = WGMMA_BASE + side->start,
                                                .leading_bytes = side->leading,
                                                .stride_bytes = side->stride,
                                                .base_offset = side->base_offset,
                                                .swizzle = side->swizzle};
    uint64_t bits = 0;
    ck_assert_int_eq(gm_matrix_descriptor_encode(&fields, &bits), GM_OK);
    return bits;
}

static void lay_out(const struct wgmma_side *side, uint64_t descriptor, uint32_t rows, int (*values)[WGMMA_K_MAX],
                    uint8_t *image) {
    const uint32_t bytes = bytes_of(side->type);
    const struct gm_wgmma_operand operand = {.size = sizeof operand,
                                             .major = side->mn_major ? GM_MN_MAJOR : GM_K_MAJOR,
                                             .element_bytes = bytes,
                                             .rows = rows};
    struct gm_matrix_descriptor fields = {.size = sizeof fields};
    ck_assert_int_eq(gm_matrix_descriptor_decode(descriptor, &fields), GM_OK);
    for (uint32_t row = 0; row < rows; row++) {
        for (uint32_t k = 0; k < 32 / bytes; k++) {
            const uint32_t bits = bits_of(side->type, values[row][k]);
            uint32_t address = 0;
            if (gm_wgmma_address(&fields, &operand, row, k, &address) != GM_OK || address - WGMMA_BASE >= WGMMA_IMAGE)
                ck_abort_msg("element (%u, %u) lies at 0x%x", row, k, address);
            memcpy(image + address - WGMMA_BASE, &bits, bytes);
        }
    }
}

/* Thread t holds of A's rows 16 (t / 32) + g and + 8 (registers 0 and 1, then the same for the second half of k). */
static void lay_out_fragment(const struct wgmma_case *test, const struct wgmma_numbers *numbers,
                             struct wgmma_memory *memory) {
    const uint32_t bytes = bytes_of(test->a.type), per = 4 / bytes;
    for (uint32_t thread = 0; thread < WGMMA_THREADS; thread++) {
        for (uint32_t v = 0; v < 4 * per; v++) {
            const uint32_t lane = thread % 32, r = v / per;
            const uint32_t row = thread / 32 * 16 + lane / 4 + 8 * (r % 2),
                           k = r / 2 * 4 * per + lane % 4 * per + v % per;
            memory->fragment[r][thread] |= bits_of(test->a.type, numbers->a[row][k]) << v % per * bytes * 8;
        }
    }
}

/* Register i of thread t. */
static uint32_t row_of(uint32_t thread, uint32_t i) {
    return thread / 32 * 16 + thread % 32 / 4 + 8 * (i >> 1 & 1);
}
static uint32_t column_of(uint32_t thread, uint32_t i) {
    return 8 * (i >> 2) + 2 * (thread % 4) + (i & 1);
}

void wgmma_fill(const struct wgmma_case *test, struct wgmma_numbers *numbers, struct wgmma_memory *memory) {
    memset(memory, 0, sizeof *memory);
    for (int m = 0; m < WGMMA_M; m++)
        for (int k = 0; k < WGMMA_K_MAX; k++)
            numbers->a[m][k] = small(test->a.type);
    for (int n = 0; n < WGMMA_N_MAX; n++)
        for (int k = 0; k < WGMMA_K_MAX; k++)
            numbers->b[n][k] = small(test->b.type);
    for (int m = 0; m < WGMMA_M; m++)
        for (int n = 0; n < WGMMA_N_MAX; n++)
            numbers->c[m][n] = rand() % 100 - 50;
    memory->a = descriptor_of(&test->a);
    memory->b = descriptor_of(&test->b);
    if (test->a_in_registers)
        lay_out_fragment(test, numbers, memory);
    else
        lay_out(&test->a, memory->a, WGMMA_M, numbers->a, memory->image);
    lay_out(&test->b, memory->b, test->n, numbers->b, memory->image);
    const uint32_t per = 4 / bytes_of(test->d);
    for (uint32_t thread = 0; thread < WGMMA_THREADS; thread++)
        for (uint32_t i = 0; i < test->n / 2; i++)
            memory->c[i / per][thread] |= bits_of(test->d, numbers->c[row_of(thread, i)][column_of(thread, i)])
                                          << i % per * 16;
}

void wgmma_compare(const struct wgmma_case *test, const struct wgmma_numbers *numbers,
                   const struct wgmma_memory *memory, int c_factor, int product_factor, const char *what) {
    const uint32_t per = 4 / bytes_of(test->d);
    for (uint32_t thread = 0; thread < WGMMA_THREADS; thread++) {
        for (uint32_t i = 0; i < test->n / 2; i++) {
            const uint32_t m = row_of(thread, i), n = column_of(thread, i);
            int sum = 0;
            for (uint32_t k = 0; k < wgmma_depth(test); k++)
                sum += numbers->a[m][k] * numbers->b[n][k];
            sum = product_factor * sum + c_factor * numbers->c[m][n];
            const uint32_t expected = bits_of(test->d, sum);
            const uint32_t bits = memory->d[i / per][thread] >> i % per * 16 & (per == 2 ? 0xffff : UINT32_MAX);
            if (bits != expected)
                ck_abort_msg("%s: D(%u, %u) is 0x%x, not 0x%x (%d)", what, m, n, bits, expected, sum);
        }
    }
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

const char *wgmma_instruction(const struct wgmma_case *test) {
    static const char *const types[] = {"f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8", "f32", "s32"};
    static char text[2048];
    const uint32_t registers = test->n / 2 / (4 / bytes_of(test->d));
    size_t length = (size_t)snprintf(text, sizeof text, "wgmma.mma_async.sync.aligned.m64n%uk%u.%s.%s.%s {", test->n,
                                     wgmma_depth(test), types[test->d], types[test->a.type], types[test->b.type]);
    for (uint32_t r = 0; r < registers; r++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%sc%u", r ? ", " : "", r);
    snprintf(text + length, sizeof text - length, "}, %s, b", test->a_in_registers ? "{f0, f1, f2, f3}" : "a");
    return text;
}

const char *wgmma_once(const struct wgmma_case *test, const char *end) {
    static char text[3000];
    snprintf(text, sizeof text,
             "wgmma.fence.sync.aligned;\n%s%s;\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n",
             wgmma_instruction(test), end);
    return text;
}

static void move_registers(char *text, size_t bytes, const char *format, uint32_t count, size_t from) {
    for (uint32_t r = 0; r < count; r++) {
        const size_t length = strlen(text), at = from + r * WGMMA_THREADS * sizeof(uint32_t);
        char place[40], name[16];
        snprintf(place, sizeof place, "[own + %zu]", at);
        snprintf(name, sizeof name, "%c%u", *format == 'f' ? 'f' : 'c', r);
        if (*format == 's')
            snprintf(text + length, bytes - length, "st.global.b32 %s, %s;\n", place, name);
        else
            snprintf(text + length, bytes - length, "ld.global.b32 %s, %s;\n", name, place);
    }
}

struct run_ptx wgmma_launch(const struct wgmma_launch *launch, struct wgmma_memory *memory) {
    static char text[60000];
    const uint32_t registers = launch->test->n / 2 / (4 / bytes_of(launch->test->d));
    const uint32_t threads = launch->threads ? launch->threads : WGMMA_THREADS;
    snprintf(
        text, sizeof text,
        PTX_HEAD
        ".extern .shared .align 1024 .b8 image[];\n" PTX_KERNEL
        ".reg .b32 c<129>, f<4>, w<4>, x, y, z, at, thread, warp; .reg .b64 a, b, to, own, from, offset; "
        ".reg .pred p, q, more;\n"
        "ld.param.u64 to, [buffer]; cvta.to.global.u64 to, to; mov.u32 thread, %%tid.x; shr.u32 warp, thread, 5;\n"
        "mov.u32 at, image; mul.wide.u32 offset, thread, 16; add.s64 from, to, offset; mad.lo.u32 at, thread, 16, at;\n"
        "mul.lo.u32 x, thread, 16; setp.ge.u32 more, x, %u; @more bra filled;\n"
        "fill: ld.global.v4.b32 {w0, w1, w2, w3}, [from]; st.shared.v4.b32 [at], {w0, w1, w2, w3};\n"
        "add.s64 from, from, %u; add.u32 at, at, %u; add.u32 x, x, %u; setp.lt.u32 more, x, %u; @more bra fill;\n"
        "filled: %s\nbar.sync 0;\n"
        "mul.wide.u32 offset, thread, 4; add.s64 own, to, offset;\n"
        "ld.global.b64 a, [to + %zu]; ld.global.b64 b, [to + %zu];\n",
        WGMMA_IMAGE - launch->stale, 16 * threads, 16 * threads, 16 * threads, WGMMA_IMAGE - launch->stale,
        launch->no_proxy_fence ? "" : "fence.proxy.async.shared::cta;", offsetof(struct wgmma_memory, a),
        offsetof(struct wgmma_memory, b));
    move_registers(text, sizeof text, "load", registers, offsetof(struct wgmma_memory, c));
    move_registers(text, sizeof text, "fragment", 4, offsetof(struct wgmma_memory, fragment));
    snprintf(text + strlen(text), sizeof text - strlen(text), "%s\n", launch->body);
    move_registers(text, sizeof text, "store", registers, offsetof(struct wgmma_memory, d));
    snprintf(text + strlen(text), sizeof text - strlen(text), "leave: ret;\n}\n");
    return (struct run_ptx){.text = text,
                            .block = {threads},
                            .dynamic_shared = WGMMA_IMAGE,
                            .buffer = memory,
                            .bytes = sizeof *memory,
                            .seed = launch->seed};
}
