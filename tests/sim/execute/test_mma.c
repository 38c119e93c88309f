/* SPDX-License-Identifier: Apache-2.0 */
/* mma.sync of every type: fragments are filled from whole matrices by the published layouts, and the result is compared
 * with their plain product. */
#include "run_ptx.h"
#include "sim/execute/numbers.h"
#include "sim_tests.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 32, N = 8, M_MAX = 16, K_MAX = 32, REGISTERS = 8 };

enum type { F16, BF16, TF32, E4M3, E5M2, S8, U8, F64, F32, S32 };

static uint32_t bytes_of(enum type type) {
    return type == F64 ? 8 : type == TF32 || type >= F32 ? 4 : type <= BF16 ? 2 : 1;
}

/* The bits of a small integer. */
static uint64_t bits_of(enum type type, int value) {
    const struct sim_format *const formats[] = {
        [F16] = &sim_format_half,  [BF16] = &sim_format_bfloat16, [TF32] = &sim_format_tf32, [E4M3] = &sim_format_e4m3,
        [E5M2] = &sim_format_e5m2, [F64] = &sim_format_double,    [F32] = &sim_format_float};
    if (type == S8 || type == U8)
        return (uint8_t)value;
    return type == S32 ? (uint32_t)value : sim_round_double(formats[type], SIM_NEAREST_EVEN, false, value);
}

struct shape {
    const char *opcode;
    enum type a, b, d;
    uint32_t m, k;
};

static const struct shape shapes[] = {
    {"m16n8k16.row.col.f32.f16.f16.f32", F16, F16, F32, 16, 16},
    {"m16n8k8.row.col.f32.f16.f16.f32", F16, F16, F32, 16, 8},
    {"m16n8k16.row.col.f16.f16.f16.f16", F16, F16, F16, 16, 16},
    {"m16n8k8.row.col.f16.f16.f16.f16", F16, F16, F16, 16, 8},
    {"m16n8k16.row.col.f32.bf16.bf16.f32", BF16, BF16, F32, 16, 16},
    {"m16n8k8.row.col.f32.bf16.bf16.f32", BF16, BF16, F32, 16, 8},
    {"m16n8k8.row.col.f32.tf32.tf32.f32", TF32, TF32, F32, 16, 8},
    {"m16n8k4.row.col.f32.tf32.tf32.f32", TF32, TF32, F32, 16, 4},
    {"m16n8k32.row.col.s32.s8.s8.s32", S8, S8, S32, 16, 32},
    {"m16n8k32.row.col.s32.u8.s8.s32", U8, S8, S32, 16, 32},
    {"m16n8k16.row.col.satfinite.s32.s8.u8.s32", S8, U8, S32, 16, 16},
    {"m8n8k16.row.col.s32.s8.s8.s32", S8, S8, S32, 8, 16},
    {"m16n8k32.row.col.f32.e4m3.e5m2.f32", E4M3, E5M2, F32, 16, 32},
    {"m16n8k32.row.col.f16.e5m2.e4m3.f16", E5M2, E4M3, F16, 16, 32},
    {"m16n8k16.row.col.f32.e4m3.e4m3.f32", E4M3, E4M3, F32, 16, 16},
    {"m8n8k4.row.col.f64.f64.f64.f64", F64, F64, F64, 8, 4},
    {"m16n8k4.row.col.f64.f64.f64.f64", F64, F64, F64, 16, 4},
    {"m16n8k8.row.col.f64.f64.f64.f64", F64, F64, F64, 16, 8},
    {"m16n8k16.row.col.f64.f64.f64.f64", F64, F64, F64, 16, 16},
};

/* ---- layouts: which element is the v-th of a lane ---------------------------------------------------------------- */

struct element {
    uint32_t row, column;
};

/* A: rows and k. Elements of 16 bits come in pairs of k, of 8 bits in fours, wider ones alone. */
static struct element element_of_a(const struct shape *shape, uint32_t lane, uint32_t v) {
    const uint32_t g = lane / 4, q = lane % 4, together = bytes_of(shape->a) < 4 ? 4 / bytes_of(shape->a) : 1;
    const uint32_t unit = v / together, halves = shape->m / 8;
    return (struct element){g + 8 * (unit % halves), together * q + v % together + 4 * together * (unit / halves)};
}

/* B: columns and k. */
static struct element element_of_b(const struct shape *shape, uint32_t lane, uint32_t v) {
    const uint32_t g = lane / 4, q = lane % 4, together = bytes_of(shape->b) < 4 ? 4 / bytes_of(shape->b) : 1;
    return (struct element){g, together * q + v % together + 4 * together * (v / together)};
}

static struct element element_of_d(uint32_t lane, uint32_t v) {
    return (struct element){lane / 4 + 8 * (v >> 1), 2 * (lane % 4) + (v & 1)};
}

/* ---- a run ------------------------------------------------------------------------------------------------------- */

/* Fragments as the kernel loads them: register r of lane l is 8 bytes at [r][l]. */
struct fragments {
    uint64_t a[REGISTERS][LANES], b[REGISTERS][LANES], c[REGISTERS][LANES], d[REGISTERS][LANES];
};
struct matrices {
    int a[M_MAX][K_MAX], b[N][K_MAX], c[M_MAX][N];
};

static uint32_t registers_of(enum type type, uint32_t elements) {
    const uint32_t bits = elements * bytes_of(type) * 8 / LANES, unit = type == F64 ? 64 : 32;
    return bits / unit;
}

static void put(uint64_t fragment[REGISTERS][LANES], enum type type, uint32_t lane, uint32_t v, int value) {
    const uint32_t unit = type == F64 ? 8 : 4, per = unit / bytes_of(type);
    fragment[v / per][lane] |= bits_of(type, value) << v % per * bytes_of(type) * 8;
}

static uint64_t get(uint64_t fragment[REGISTERS][LANES], enum type type, uint32_t lane, uint32_t v) {
    const uint32_t unit = type == F64 ? 8 : 4, per = unit / bytes_of(type), bits = bytes_of(type) * 8;
    const uint64_t value = fragment[v / per][lane] >> v % per * bits;
    return bits == 64 ? value : value & ((UINT64_C(1) << bits) - 1);
}

static int small(enum type type) {
    const int value = rand() % (type == E4M3 || type == E5M2 ? 5 : 8);
    return type == U8 ? value : value - 3;
}

static void fill(const struct shape *shape, struct matrices *matrices, struct fragments *fragments) {
    memset(fragments, 0, sizeof *fragments);
    for (int m = 0; m < M_MAX; m++)
        for (int k = 0; k < K_MAX; k++)
            matrices->a[m][k] = small(shape->a);
    for (int n = 0; n < N; n++)
        for (int k = 0; k < K_MAX; k++)
            matrices->b[n][k] = small(shape->b);
    for (int m = 0; m < M_MAX; m++)
        for (int n = 0; n < N; n++)
            matrices->c[m][n] = rand() % 100 - 50;
    for (uint32_t lane = 0; lane < LANES; lane++) {
        for (uint32_t v = 0; v < shape->m * shape->k / LANES; v++) {
            const struct element e = element_of_a(shape, lane, v);
            put(fragments->a, shape->a, lane, v, matrices->a[e.row][e.column]);
        }
        for (uint32_t v = 0; v < N * shape->k / LANES; v++) {
            const struct element e = element_of_b(shape, lane, v);
            put(fragments->b, shape->b, lane, v, matrices->b[e.row][e.column]);
        }
        for (uint32_t v = 0; v < shape->m * N / LANES; v++) {
            const struct element e = element_of_d(lane, v);
            put(fragments->c, shape->d, lane, v, matrices->c[e.row][e.column]);
        }
    }
}

/* "{a0, a1}" and the loads or stores of these registers, 8 bytes each, from `at` on. */
static void name_vector(char *text, size_t bytes, char letter, uint32_t count) {
    size_t length = (size_t)snprintf(text, bytes, "{");
    for (uint32_t r = 0; r < count; r++)
        length += (size_t)snprintf(text + length, bytes - length, "%s%c%u", r ? ", " : "", letter, r);
    snprintf(text + length, bytes - length, "}");
}

static void move_vector(char *text, size_t bytes, const char *verb, char letter, uint32_t count, bool wide,
                        uint32_t at) {
    for (uint32_t r = 0; r < count; r++) {
        char name[16], place[32];
        const size_t length = strlen(text);
        const bool load = *verb == 'l';
        snprintf(name, sizeof name, "%c%u", letter, r);
        snprintf(place, sizeof place, "[at + %u]", at + LANES * 8 * r);
        snprintf(text + length, bytes - length, "%s.global.b%d %s, %s;\n", verb, wide ? 64 : 32, load ? name : place,
                 load ? place : name);
    }
}

static void write_kernel(char *text, size_t bytes, const struct shape *shape) {
    const uint32_t a = registers_of(shape->a, shape->m * shape->k), b = registers_of(shape->b, N * shape->k);
    const uint32_t d = registers_of(shape->d, shape->m * N), part = REGISTERS * LANES * 8;
    const bool wide = shape->a == F64;
    char names[4][100];
    name_vector(names[0], sizeof *names, 'd', d);
    name_vector(names[1], sizeof *names, 'a', a);
    name_vector(names[2], sizeof *names, 'b', b);
    name_vector(names[3], sizeof *names, 'c', d);
    snprintf(text, bytes,
             PTX_HEAD PTX_KERNEL ".reg .b%d a<9>, b<9>, c<9>, d<9>; .reg .b64 at, offset; .reg .b32 lane;\n"
                                 "ld.param.u64 at, [buffer]; cvta.to.global.u64 at, at; mov.u32 lane, %%tid.x;\n"
                                 "mul.wide.u32 offset, lane, 8; add.s64 at, at, offset;\n",
             wide ? 64 : 32);
    move_vector(text, bytes, "ld", 'a', a, wide, 0);
    move_vector(text, bytes, "ld", 'b', b, wide, part);
    move_vector(text, bytes, "ld", 'c', d, wide, 2 * part);
    snprintf(text + strlen(text), bytes - strlen(text), "mma.sync.aligned.%s %s, %s, %s, %s;\n", shape->opcode,
             names[0], names[1], names[2], names[3]);
    move_vector(text, bytes, "st", 'd', d, wide, 3 * part);
    snprintf(text + strlen(text), bytes - strlen(text), "ret;\n}\n");
}

START_TEST(test_shape) {
    const struct shape *const shape = &shapes[_i];
    char text[6000];
    write_kernel(text, sizeof text, shape);
    srand(11);
    for (int round = 0; round < 3; round++) {
        struct matrices matrices;
        struct fragments fragments;
        fill(shape, &matrices, &fragments);
        struct run_ptx run = {.text = text, .block = {LANES}, .buffer = &fragments, .bytes = sizeof fragments};
        run_ptx_clean(&run);
        for (uint32_t lane = 0; lane < LANES; lane++) {
            for (uint32_t v = 0; v < shape->m * N / LANES; v++) {
                const struct element e = element_of_d(lane, v);
                int sum = matrices.c[e.row][e.column];
                for (uint32_t k = 0; k < shape->k; k++)
                    sum += matrices.a[e.row][k] * matrices.b[e.column][k];
                const uint64_t bits = get(fragments.d, shape->d, lane, v), expected = bits_of(shape->d, sum);
                ck_assert_msg(bits == expected, "%s: D(%u, %u) is 0x%llx, not 0x%llx (%d)", shape->opcode, e.row,
                              e.column, (unsigned long long)bits, (unsigned long long)expected, sum);
            }
        }
    }
}
END_TEST

/* ---- what is no integer ------------------------------------------------------------------------------------------ */

START_TEST(test_special_values) {
    struct matrices matrices;
    struct fragments fragments;
    char text[6000];
    write_kernel(text, sizeof text, &shapes[4]);
    fill(&shapes[4], &matrices, &fragments);
    memset(&fragments, 0, sizeof fragments);
    fragments.a[0][0] = 0x7f80;                     /* A(0, 0): infinity */
    fragments.b[0][0] = 0x3f80;                     /* B(0, 0): 1; the other columns are 0: NaN */
    fragments.a[0][4] = fragments.a[0][5] = 0x7f7f; /* A(1, 0), A(1, 2): the largest */
    fragments.b[0][4] = fragments.b[0][5] = 0x7f7f; /* B(1, 0), B(1, 2) */
    struct run_ptx run = {.text = text, .block = {LANES}, .buffer = &fragments, .bytes = sizeof fragments};
    run_ptx_clean(&run);
    ck_assert_uint_eq(fragments.d[0][0], 0x7f800000);
    ck_assert_uint_eq(fragments.d[1][0], 0x7f800000); /* infinity * largest */
    ck_assert_uint_eq(fragments.d[0][1], 0x7fffffff);
    ck_assert_uint_eq(fragments.d[1][4], 0x7f800000);
    ck_assert_uint_eq(fragments.d[0][5], 0);
}
END_TEST

/* s32 sums wrap, or saturate when told to. */
START_TEST(test_saturation) {
    for (int saturate = 0; saturate < 2; saturate++) {
        struct fragments fragments = {0};
        char text[6000];
        const struct shape plain = {"m16n8k16.row.col.s32.s8.u8.s32", S8, U8, S32, 16, 16};
        write_kernel(text, sizeof text, saturate ? &shapes[10] : &plain);
        for (int lane = 0; lane < LANES; lane++) {
            fragments.a[0][lane] = fragments.a[1][lane] = 0x7f7f7f7f;
            fragments.b[0][lane] = 0xffffffff;
            fragments.c[0][lane] = 0x7fffffff;
        }
        struct run_ptx run = {.text = text, .block = {LANES}, .buffer = &fragments, .bytes = sizeof fragments};
        run_ptx_clean(&run);
        ck_assert_uint_eq(fragments.d[0][3], saturate ? 0x7fffffff : 0x7fffffff + 16u * 127 * 255);
        ck_assert_uint_eq(fragments.d[1][3], 16 * 127 * 255);
    }
}
END_TEST

Suite *mma_suite(void) {
    Suite *suite = suite_create("sim mma");
    TCase *tests = tcase_create("mma");
    tcase_add_loop_test(tests, test_shape, 0, sizeof shapes / sizeof *shapes);
    tcase_add_test(tests, test_special_values);
    tcase_add_test(tests, test_saturation);
    suite_add_tcase(suite, tests);
    return suite;
}
