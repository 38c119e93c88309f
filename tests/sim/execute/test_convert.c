/* SPDX-License-Identifier: Apache-2.0 */
/* cvt with a floating side, and the arithmetic of 16-bit floats: one instruction on 32 lanes of chosen values. */
#include "run_ptx.h"
#include "sim/execute/numbers.h"
#include "sim_tests.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LANES = 32 };

/* Sources and result of an instruction, lane by lane. */
struct lanes {
    uint64_t a[LANES], b[LANES], c[LANES], d[LANES];
};

static uint32_t float_bits(float value) {
    return sim_bits_of(value);
}
static uint64_t double_bits(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Runs `instruction`, which may name registers h, r, d (16, 32, 64 bits) 0 to 3: 0 is the result, 1 to 3 hold a, b, c.
 */
static void run_lanes(struct lanes *lanes, const char *instruction) {
    char text[3000];
    snprintf(text, sizeof text,
             PTX_HEAD PTX_KERNEL ".reg .b16 h<4>; .reg .b32 r<4>, lane; .reg .b64 d<4>, at, offset; .reg .pred guard;\n"
                                 "ld.param.u64 at, [buffer]; cvta.to.global.u64 at, at; mov.u32 lane, %%tid.x;\n"
                                 "mul.wide.u32 offset, lane, 8; add.s64 at, at, offset;\n"
                                 "mov.b64 d0, 0; mov.b32 r0, 0; mov.b16 h0, 0; setp.ne.u32 guard, lane, 99;\n"
                                 "ld.global.b64 d1, [at]; ld.global.b64 d2, [at + 256]; ld.global.b64 d3, [at + 512];\n"
                                 "ld.global.b32 r1, [at]; ld.global.b32 r2, [at + 256]; ld.global.b32 r3, [at + 512];\n"
                                 "ld.global.b16 h1, [at]; ld.global.b16 h2, [at + 256]; ld.global.b16 h3, [at + 512];\n"
                                 "%s\n"
                                 "st.global.b64 [at + 768], d0;\n"
                                 "ret;\n}\n",
             instruction);
    struct run_ptx run = {.text = text, .block = {LANES}, .buffer = lanes, .bytes = sizeof *lanes};
    run_ptx_clean(&run);
}

/* One value per case, in lane 0; the result is that of the widest register that the instruction writes. */
static uint64_t result_of(const char *instruction, uint64_t a, uint64_t b, uint64_t c) {
    struct lanes lanes = {.a = {a}, .b = {b}, .c = {c}};
    char text[400];
    const char *to = strchr(instruction, ' ') + 1;
    const char *move = *to == 'd' ? "" : *to == 'r' ? "cvt.u64.u32 d0, r0;" : "cvt.u64.u16 d0, h0;";
    snprintf(text, sizeof text, "%s; %s", instruction, move);
    run_lanes(&lanes, text);
    return lanes.d[0];
}

struct example {
    const char *instruction;
    uint64_t a, b, c, expected;
};

static void check_example(const struct example *example) {
    const uint64_t result = result_of(example->instruction, example->a, example->b, example->c);
    ck_assert_msg(result == example->expected, "%s of 0x%llx, 0x%llx, 0x%llx: 0x%llx, not 0x%llx", example->instruction,
                  (unsigned long long)example->a, (unsigned long long)example->b, (unsigned long long)example->c,
                  (unsigned long long)result, (unsigned long long)example->expected);
}

/* ---- examples ---------------------------------------------------------------------------------------------------- */

static struct example examples[140];
static int example_count;

static void add(const char *instruction, uint64_t a, uint64_t b, uint64_t c, uint64_t expected) {
    ck_assert_int_lt(example_count, (int)(sizeof examples / sizeof *examples));
    examples[example_count++] = (struct example){instruction, a, b, c, expected};
}

static void add_floats(void) {
    add("cvt.f32.f16 r0, h1", 0x3c01, 0, 0, float_bits(1.0009765625f));
    add("cvt.f32.f16 r0, h1", 0xfe00, 0, 0, 0x7fffffff);
    add("cvt.f32.f16 r0, h1", 0x8001, 0, 0, float_bits(-0x1p-24f));
    add("cvt.ftz.sat.f32.f16 r0, h1", 0x4000, 0, 0, float_bits(1));
    add("cvt.f32.bf16 r0, h1", 0xbf81, 0, 0, 0xbf810000);
    add("cvt.rn.f16.f32 h0, r1", float_bits(2049.0f), 0, 0, 0x6800);
    add("cvt.rz.f16.f32 h0, r1", float_bits(70000), 0, 0, 0x7bff);
    add("cvt.rp.f16.f32 h0, r1", float_bits(1e-30f), 0, 0, 1);
    add("cvt.rm.f16.f32 h0, r1", float_bits(-1e-30f), 0, 0, 0x8001);
    add("cvt.rn.satfinite.f16.f32 h0, r1", float_bits(1e9f), 0, 0, 0x7bff);
    add("cvt.rn.relu.f16.f32 h0, r1", float_bits(-3), 0, 0, 0);
    add("cvt.rn.relu.f16.f32 h0, r1", float_bits(NAN), 0, 0, 0x7fff);
    add("cvt.rn.sat.f16.f32 h0, r1", float_bits(NAN), 0, 0, 0);
    add("cvt.rn.bf16.f32 h0, r1", 0x3f808000, 0, 0, 0x3f80);
    add("cvt.rn.bf16.f32 h0, r1", 0x3f818000, 0, 0, 0x3f82);
    add("cvt.rz.bf16.f32 h0, r1", 0x3f81ffff, 0, 0, 0x3f81);
    add("cvt.f64.f32 d0, r1", float_bits(-0.1f), 0, 0, double_bits((double)-0.1f));
    add("cvt.rn.f32.f64 r0, d1", double_bits(0.1), 0, 0, float_bits(0.1f));
    add("cvt.rz.f32.f64 r0, d1", double_bits(0.1), 0, 0, 0x3dcccccc);
    add("cvt.rp.f32.f64 r0, d1", double_bits(-0.1), 0, 0, 0xbdcccccc);
    add("cvt.rn.ftz.f32.f64 r0, d1", double_bits(-1e-40), 0, 0, 0x80000000);
    add("cvt.rn.f16.f64 h0, d1", double_bits(1 + 0x1p-11 + 0x1p-50), 0, 0, 0x3c01);
    add("cvt.rn.bf16.f16 h0, h1", 0x3c05, 0, 0, 0x3f81);
    add("cvt.rni.f32.f32 r0, r1", float_bits(2.5f), 0, 0, float_bits(2));
    add("cvt.rpi.f32.f32 r0, r1", float_bits(-0.5f), 0, 0, 0x80000000);
    add("cvt.rmi.f16.f16 h0, h1", 0xb800, 0, 0, 0xbc00);
    add("cvt.sat.f32.f32 r0, r1", float_bits(1.5f), 0, 0, float_bits(1));
    add("cvt.rna.tf32.f32 r0, r1", 0x3f801000, 0, 0, 0x3f802000);
    add("cvt.rn.tf32.f32 r0, r1", 0x3f801000, 0, 0, 0x3f800000);
    add("cvt.rz.relu.tf32.f32 r0, r1", 0xbf801000, 0, 0, 0);
}

static void add_pairs(void) {
    add("cvt.rn.f16x2.f32 r0, r1, r2", float_bits(1), float_bits(-2), 0, 0x3c00c000);
    add("cvt.rn.bf16x2.f32 r0, r1, r2", float_bits(1), float_bits(-2), 0, 0x3f80c000);
    add("cvt.rn.relu.bf16x2.f32 r0, r1, r2", float_bits(1), float_bits(-2), 0, 0x3f800000);
    add("cvt.rz.bf16x2.f32 r0, r1, r2", 0x3f80ffff, 0xbf80ffff, 0, 0x3f80bf80);
    add("cvt.rn.relu.satfinite.f16x2.f32 r0, r1, r2", float_bits(1e9f), float_bits(-1e9f), 0, 0x7bff0000);
    add("cvt.rn.satfinite.e4m3x2.f32 h0, r1, r2", float_bits(1e9f), float_bits(-1), 0, 0x7eb8);
    add("cvt.rn.satfinite.e5m2x2.f32 h0, r1, r2", float_bits(NAN), float_bits(-0x1p-16f), 0, 0x7f81);
    add("cvt.rn.satfinite.e4m3x2.f32 h0, r1, r2", float_bits(NAN), float_bits(-INFINITY), 0, 0x7ffe);
    add("cvt.rn.satfinite.e4m3x2.f32 h0, r1, r2", float_bits(465), float_bits(-0.0f), 0, 0x7e80);
    add("cvt.rn.satfinite.e4m3x2.f32 h0, r1, r2", float_bits(0x1.8p-9f), float_bits(0x1p-10f), 0, 0x0200);
    add("cvt.rn.satfinite.e5m2x2.f32 h0, r1, r2", float_bits(1e9f), float_bits(-INFINITY), 0, 0x7bfb);
    add("cvt.rn.satfinite.relu.e4m3x2.f32 h0, r1, r2", float_bits(2), float_bits(-1), 0, 0x4000);
    add("cvt.rn.satfinite.e4m3x2.f16x2 h0, r1", 0x3c00bc00, 0, 0, 0x38b8);
    add("cvt.rn.f16x2.e4m3x2 r0, h1", 0x38ff, 0, 0, 0x3c007fff);
    add("cvt.rn.f16x2.e5m2x2 r0, h1", 0xfc01, 0, 0, 0xfc000100);
    add("cvt.rn.relu.f16x2.e5m2x2 r0, h1", 0xbc3c, 0, 0, 0x00003c00);
}

static void add_integers(void) {
    add("cvt.rzi.s32.f32 r0, r1", float_bits(-2.9f), 0, 0, (uint32_t)-2);
    add("cvt.rzi.s32.f32 r0, r1", float_bits(3e9f), 0, 0, 0x7fffffff);
    add("cvt.rzi.s32.f32 r0, r1", float_bits(-INFINITY), 0, 0, 0x80000000);
    add("cvt.rzi.s32.f32 r0, r1", float_bits(NAN), 0, 0, 0);
    add("cvt.rzi.u32.f32 r0, r1", float_bits(-1), 0, 0, 0);
    add("cvt.rzi.u32.f32 r0, r1", float_bits(4294967040.0f), 0, 0, 0xffffff00);
    add("cvt.rni.s32.f32 r0, r1", float_bits(2.5f), 0, 0, 2);
    add("cvt.rpi.s32.f32 r0, r1", float_bits(2.1f), 0, 0, 3);
    add("cvt.rmi.s32.f32 r0, r1", float_bits(-2.1f), 0, 0, (uint32_t)-3);
    add("cvt.rni.s32.f64 r0, d1", double_bits(NAN), 0, 0, 0x80000000);
    add("cvt.rzi.s64.f32 d0, r1", float_bits(NAN), 0, 0, UINT64_C(1) << 63);
    add("cvt.rzi.u64.f64 d0, d1", double_bits(1e30), 0, 0, UINT64_MAX);
    add("cvt.rzi.s64.f64 d0, d1", double_bits(-1e15), 0, 0, (uint64_t)INT64_C(-1000000000000000));
    add("cvt.rzi.s8.f32 r0, r1", float_bits(-200), 0, 0, (uint32_t)-128);
    add("cvt.rzi.u8.f32 r0, r1", float_bits(300), 0, 0, 255);
    add("cvt.rzi.s16.f16 h0, h1", 0xc500, 0, 0, (uint16_t)-5);
    add("cvt.rn.f32.s32 r0, r1", (uint32_t)-16777217, 0, 0, float_bits(-16777216.0f));
    add("cvt.rz.f32.u32 r0, r1", 0xffffffff, 0, 0, 0x4f7fffff);
    add("cvt.rn.f32.u32 r0, r1", 0xffffffff, 0, 0, 0x4f800000);
    add("cvt.rp.f32.s64 r0, d1", (uint64_t)INT64_C(-16777219), 0, 0, float_bits(-16777218.0f));
    add("cvt.rn.f64.s64 d0, d1", (uint64_t)INT64_C(-7), 0, 0, double_bits(-7));
    add("cvt.rn.f64.u32 d0, r1", 0xffffffff, 0, 0, double_bits(4294967295.0));
    add("cvt.rn.f16.s32 h0, r1", (uint32_t)-3, 0, 0, 0xc200);
    add("cvt.rn.f16.u64 h0, d1", 100000, 0, 0, 0x7c00);
    add("cvt.rn.bf16.u16 h0, h1", 257, 0, 0, 0x4380);
    add("cvt.rn.f32.u8 r0, r1", 0xfffff0, 0, 0, float_bits(240));
    add("cvt.rn.f32.s8 r0, r1", 0xf0, 0, 0, float_bits(-16));
}

static void add_halves(void) {
    add("add.f16 h0, h1, h2", 0x3c00, 0x1000, 0, 0x3c00); /* 1 + 2^-11: a tie, to even */
    add("add.rn.f16 h0, h1, h2", 0x7bff, 0x7bff, 0, 0x7c00);
    add("add.sat.f16 h0, h1, h2", 0x3c00, 0x3c00, 0, 0x3c00);
    add("add.ftz.f16 h0, h1, h2", 0x0001, 0x0001, 0, 0);
    add("add.f16x2 r0, r1, r2", 0x3c004000, 0x40003c00, 0, 0x42004200);
    add("sub.bf16x2 r0, r1, r2", 0x3f804000, 0x3f803f80, 0, 0x00003f80);
    add("mul.f16 h0, h1, h2", 0x7c00, 0x0000, 0, 0x7fff);
    add("mul.bf16 h0, h1, h2", 0x3f81, 0x3f81, 0, 0x3f82);
    add("fma.rn.f16 h0, h1, h2, h3", 0x3c01, 0x3c03, 0xbc00, 0x1c01); /* (1 + e) (1 + 3 e) - 1, e = 2^-10 */
    add("fma.rn.relu.f16x2 r0, r1, r2, r3", 0x3c003c00, 0xc0004000, 0x3c003c00, 0x00004200);
    /* 1.5 * 1.00390625 is a tie of bf16 but for the 2^-100 added to it, which a double does not hold */
    add("fma.rn.bf16 h0, h1, h2, h3", 0x3f80 + 0x40, 0x3f80 + 1, 0x0d80, 0x3fc2);
    add("fma.rn.bf16 h0, h1, h2, h3", 0x3f80 + 0x40, 0x3f80 + 1, 0x8d80, 0x3fc1);
    add("min.f16 h0, h1, h2", 0x8000, 0x0000, 0, 0x8000);
    add("min.f16 h0, h1, h2", 0x7e00, 0x4000, 0, 0x4000);
    add("min.NaN.f16 h0, h1, h2", 0x7e00, 0x4000, 0, 0x7fff);
    add("max.bf16x2 r0, r1, r2", 0x3f80bf80, 0xc0003f80, 0, 0x3f803f80);
    add("max.f16x2 r0, r1, r2", 0xfe008000, 0x7e000000, 0, 0x7fff0000);
    add("neg.f16x2 r0, r1", 0x3c008000, 0, 0, 0xbc000000);
    add("neg.bf16 h0, h1", 0x3f80, 0, 0, 0xbf80);
    add("abs.bf16x2 r0, r1", 0xbf80ffff, 0, 0, 0x3f807fff);
    add("abs.ftz.f16 h0, h1", 0x8001, 0, 0, 0);
    add("neg.ftz.f16x2 r0, r1", 0x3c008001, 0, 0, 0xbc000000);
}

START_TEST(test_examples) {
    example_count = 0;
    add_floats();
    add_pairs();
    add_integers();
    add_halves();
    for (int i = 0; i < example_count; i++)
        check_example(&examples[i]);
}
END_TEST

/* ---- the rows with a loop of their own say what the general ones do ---------------------------------------------- */

static uint64_t random_bits(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return *state >> 20;
}

/* Of each pair the first has a row of its own; the modifier of the second changes nothing here. */
static const char *const twins[][2] = {
    {"cvt.rn.f16x2.f32 r0, r1, r2; cvt.u64.u32 d0, r0;", "cvt.rn.f16.f32 h0, r2; cvt.rn.f16.f32 h1, r1; "
                                                         "mov.b32 r0, {h0, h1}; cvt.u64.u32 d0, r0;"},
    {"cvt.rn.bf16x2.f32 r0, r1, r2; cvt.u64.u32 d0, r0;", "cvt.rn.bf16.f32 h0, r2; cvt.rn.bf16.f32 h1, r1; "
                                                          "mov.b32 r0, {h0, h1}; cvt.u64.u32 d0, r0;"},
    {"cvt.rzi.s32.f32 r0, r1; cvt.u64.u32 d0, r0;", "cvt.rzi.sat.s32.f32 r0, r1; cvt.u64.u32 d0, r0;"},
    {"cvt.rzi.u32.f32 r0, r1; cvt.u64.u32 d0, r0;", "cvt.rzi.sat.u32.f32 r0, r1; cvt.u64.u32 d0, r0;"},
    {"cvt.rn.f32.s32 r0, r1; cvt.u64.u32 d0, r0;", "cvt.rn.ftz.f32.s32 r0, r1; cvt.u64.u32 d0, r0;"},
    {"cvt.rn.f32.u32 r0, r1; cvt.u64.u32 d0, r0;", "cvt.rn.ftz.f32.u32 r0, r1; cvt.u64.u32 d0, r0;"},
};

START_TEST(test_twins) {
    uint64_t state = 5;
    for (int round = 0; round < 20; round++) {
        struct lanes fast, general;
        for (int lane = 0; lane < LANES; lane++) {
            fast.a[lane] = random_bits(&state);
            fast.b[lane] = random_bits(&state);
        }
        memset(fast.c, 0, sizeof fast.c);
        memset(fast.d, 0, sizeof fast.d);
        general = fast;
        run_lanes(&fast, twins[_i][0]);
        run_lanes(&general, twins[_i][1]);
        for (int lane = 0; lane < LANES; lane++)
            ck_assert_msg(fast.d[lane] == general.d[lane], "%s of 0x%llx, 0x%llx: 0x%llx and 0x%llx", twins[_i][0],
                          (unsigned long long)fast.a[lane], (unsigned long long)fast.b[lane],
                          (unsigned long long)fast.d[lane], (unsigned long long)general.d[lane]);
    }
}
END_TEST

/* Lanes that are switched off keep what they had. */
START_TEST(test_guarded) {
    struct lanes lanes = {0};
    for (int lane = 0; lane < LANES; lane++)
        lanes.a[lane] = float_bits((float)lane);
    run_lanes(&lanes, "mov.b32 r0, 7; setp.lt.u32 guard, lane, 5;\n@guard cvt.rz.f16x2.f32 r0, r1, r1;\n"
                      "@guard add.f16x2 r0, r0, r0;\ncvt.u64.u32 d0, r0;");
    for (uint32_t lane = 0; lane < LANES; lane++) {
        const uint32_t half = sim_float_to_half((float)(2 * lane));
        ck_assert_uint_eq(lanes.d[lane], lane < 5 ? half << 16 | half : 7);
    }
}
END_TEST

Suite *convert_suite(void) {
    Suite *suite = suite_create("sim convert");
    TCase *tests = tcase_create("convert");
    tcase_add_test(tests, test_examples);
    tcase_add_loop_test(tests, test_twins, 0, sizeof twins / sizeof *twins);
    tcase_add_test(tests, test_guarded);
    suite_add_tcase(suite, tests);
    return suite;
}
