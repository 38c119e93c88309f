/* SPDX-License-Identifier: Apache-2.0 */
/* Every instruction that computes lane by lane, against plain C: all pairs of edge values, whole warps and under a
 * guard. */
#include "run_ptx.h"
#include "sim_tests.h"

#include <fenv.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef __int128 wide;
typedef unsigned __int128 uwide;

/* An instruction with the widths of its operands, destination first; 1 is a predicate, 0 ends them. `expected` takes
 * the operands zero-extended. */
struct lane_case {
    const char *opcode;
    int bits[5];
    uint64_t (*expected)(uint64_t a, uint64_t b, uint64_t c, uint64_t d);
};

/* ---- reading operands ------------------------------------------------------------------------------------- */

static uint64_t low(uint64_t value, int bits) {
    return bits < 64 ? value & ((UINT64_C(1) << bits) - 1) : value;
}
static int64_t s8(uint64_t x) {
    return (int8_t)x;
}
static int64_t s16(uint64_t x) {
    return (int16_t)x;
}
static int64_t s32(uint64_t x) {
    return (int32_t)x;
}
static int64_t s64(uint64_t x) {
    return (int64_t)x;
}
static float f(uint64_t x) {
    float value;
    const uint32_t bits = (uint32_t)x;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static uint64_t from_f(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return isnan(value) ? 0x7fffffff : bits;
}
static float z(uint64_t x) { /* flushed */
    return fpclassify(f(x)) == FP_SUBNORMAL ? copysignf(0, f(x)) : f(x);
}
static uint64_t from_z(float value) {
    return from_f(fpclassify(value) == FP_SUBNORMAL ? copysignf(0, value) : value);
}
static double g(uint64_t x) {
    double value;
    memcpy(&value, &x, sizeof value);
    return value;
}
static uint64_t from_g(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* ---- what C has no operator for ------------------------------------------------------------------------------ */

/* The host's own rounding; volatile, so that nothing is computed before or after. */
static float fused(float a, float b, float c, int rounding) {
    volatile float x = a, y = b, z = c, result;
    fesetround(rounding);
    result = fmaf(x, y, z);
    fesetround(FE_TONEAREST);
    return result;
}
static float added(float a, float b, int rounding) {
    volatile float x = a, y = b, result;
    fesetround(rounding);
    result = x + y;
    fesetround(FE_TONEAREST);
    return result;
}
static float subtracted(float a, float b, int rounding) {
    return added(a, -b, rounding);
}
static float multiplied(float a, float b, int rounding) {
    volatile float x = a, y = b, result;
    fesetround(rounding);
    result = x * y;
    fesetround(FE_TONEAREST);
    return result;
}

static int64_t within(wide x, wide low, wide high) {
    return (int64_t)(x < low ? low : x > high ? high : x);
}
static uint64_t reversed(uint64_t x, int bits) {
    uint64_t result = 0;
    for (int n = 0; n < bits; n++)
        result |= (x >> n & 1) << (bits - 1 - n);
    return result;
}
static uint64_t ones(uint64_t x) {
    uint64_t count = 0;
    for (; x; x >>= 1)
        count += x & 1;
    return count;
}
static uint64_t zeros_before(uint64_t x, int bits) {
    uint64_t count = 0;
    for (int n = bits - 1; n >= 0 && !(x >> n & 1); n--)
        count++;
    return count;
}
static uint64_t highest(uint64_t x, int bits) {
    return x ? (uint64_t)bits - 1 - zeros_before(x, bits) : UINT32_MAX;
}
/* The bits one after another, as the ISA's description of bfe has it. */
static uint64_t extracted(uint64_t a, uint64_t b, uint64_t c, int bits, bool is_signed) {
    const int position = b & 0xff, length = c & 0xff, last = position + length - 1;
    uint64_t result = 0;
    const uint64_t sign = is_signed && length ? a >> (last < bits - 1 ? last : bits - 1) & 1 : 0;
    for (int n = 0; n < bits; n++)
        result |= (n < length && position + n < bits ? a >> (position + n) & 1 : sign) << n;
    return result;
}
static uint64_t inserted(uint64_t a, uint64_t b, uint64_t c, uint64_t d, int bits) {
    const int position = c & 0xff, length = d & 0xff;
    for (int n = 0; n < length && position + n < bits; n++)
        b = (b & ~(UINT64_C(1) << (position + n))) | (a >> n & 1) << (position + n);
    return b;
}
static uint64_t permuted(uint64_t a, uint64_t b, const int picks[4]) {
    uint64_t result = 0;
    for (int n = 0; n < 4; n++) {
        const int from = picks[n] & 7;
        const uint64_t byte = (from < 4 ? a >> 8 * from : b >> 8 * (from - 4)) & 0xff;
        result |= (picks[n] & 8 ? (byte & 0x80 ? 0xff : 0) : byte) << 8 * n;
    }
    return result;
}
static uint64_t permute_mode(uint64_t a, uint64_t b, uint64_t c, const char *mode) {
    int picks[4];
    for (int n = 0; n < 4; n++) {
        const int by = c & 3;
        if (strcmp(mode, "") == 0)
            picks[n] = c >> 4 * n & 15;
        else if (strcmp(mode, "f4e") == 0)
            picks[n] = n + by;
        else if (strcmp(mode, "b4e") == 0)
            picks[n] = (8 + by - n) & 7;
        else if (strcmp(mode, "rc8") == 0)
            picks[n] = by;
        else if (strcmp(mode, "ecl") == 0)
            picks[n] = n > by ? n : by;
        else if (strcmp(mode, "ecr") == 0)
            picks[n] = n < by ? n : by;
        else
            picks[n] = (n & 1) + 2 * (by & 1);
    }
    return permuted(a, b, picks);
}
static uint64_t dot(uint64_t a, uint64_t b, uint64_t c, bool a_signed, bool b_signed) {
    wide sum = (wide)s32(c);
    for (int n = 0; n < 32; n += 8)
        sum += (a_signed ? s8(a >> n) : (int64_t)(a >> n & 0xff)) * (b_signed ? s8(b >> n) : (int64_t)(b >> n & 0xff));
    return (uint64_t)sum;
}
static float smaller(float a, float b) {
    if (isnan(a) || isnan(b))
        return isnan(a) ? b : a;
    return a == b ? (signbit(a) ? a : b) : a < b ? a : b;
}
static float larger(float a, float b) {
    if (isnan(a) || isnan(b))
        return isnan(a) ? b : a;
    return a == b ? (signbit(a) ? b : a) : a > b ? a : b;
}
static float saturated(float a) {
    return isnan(a) || a < 0 || a == 0 ? 0 : a > 1 ? 1 : a;
}
static float divided(float a, float b) {
    if (fabsf(b) > 0x1p126f && !isinf(b) && !isnan(b))
        return isinf(a) || isnan(a) ? NAN : copysignf(0, a) * copysignf(1, b);
    return a / b;
}
static uint64_t compared(double a, double b, const char *how) {
    const bool nan = isnan(a) || isnan(b);
    const char *const plain[] = {"eq", "ne", "lt", "le", "gt", "ge"};
    const bool truth[] = {a == b, a != b, a<b, a <= b, a> b, a >= b};
    for (int n = 0; n < 6; n++)
        if (strncmp(how, plain[n], 2) == 0)
            return nan ? how[2] == 'u' : truth[n];
    return (strcmp(how, "nan") == 0) == nan;
}

/* Each case's line is its number. */
#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)
#define CASE(opcode, widths, value)                                                                                    \
    static uint64_t JOIN(expected_, __LINE__)(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {                        \
        (void)a, (void)b, (void)c, (void)d;                                                                            \
        return value;                                                                                                  \
    }
#include "lanewise_cases.def"
#undef CASE

#define BRACED(...)                 {__VA_ARGS__}
#define CASE(opcode, widths, value) {opcode, BRACED widths, JOIN(expected_, __LINE__)},
static const struct lane_case cases[] = {
#include "lanewise_cases.def"
};

/* ---- running ------------------------------------------------------------------------------------------------- */

static const uint64_t edges[] = {0,
                                 1,
                                 2,
                                 3,
                                 7,
                                 15,
                                 16,
                                 31,
                                 32,
                                 33,
                                 63,
                                 64,
                                 255,
                                 0x7f,
                                 0x80,
                                 0x7fff,
                                 0x8000,
                                 0xffff,
                                 0x10000,
                                 0x7fffffff,
                                 0x80000000,
                                 0xffffffff,
                                 0x100000000,
                                 0x7fffffffffffffff,
                                 0x8000000000000000,
                                 0xffffffffffffffff,
                                 0xfffffffffffffffe,
                                 0x0123456789abcdef,
                                 0x3f8000003f800000, /* floats: 1, -2.5, pi */
                                 0xc0200000c0200000,
                                 0x40490fdb40490fdb,
                                 0x7f8000007f800000, /* infinities */
                                 0xff800000ff800000,
                                 0x7fc000007fc00001, /* NaNs */
                                 0xffc00000ff812345,
                                 0x0000000100000001, /* denormals */
                                 0x807fffff807fffff,
                                 0x7f7fffff7f7fffff, /* the largest; a divisor above 2^126 */
                                 0x7f0000007f000001,
                                 0x3ff0000000000000, /* doubles: 1, -0.1, infinity, NaN */
                                 0xbfb999999999999a,
                                 0x7ff0000000000000,
                                 0x7ff8000000000000,
                                 0x3f0000003effffff};
enum { EDGES = sizeof edges / sizeof *edges, THREADS = 2048, BLOCK = 256, SLOTS = 5, SENTINEL = 0x5a };

struct slots {
    uint64_t value[SLOTS]; /* four operands, the result */
};

/* All pairs for the first two operands, the others drawn. */
static void fill(struct slots slots[THREADS]) {
    uint64_t random = 88172645463325252;
    for (int t = 0; t < THREADS; t++) {
        for (int n = 0; n < 4; n++) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            slots[t].value[n] = t % 5 == 4 && n < 2 ? random : edges[random % EDGES];
        }
        if (t < EDGES * EDGES) {
            slots[t].value[0] = edges[t / EDGES];
            slots[t].value[1] = edges[t % EDGES];
        }
        memset(&slots[t].value[4], SENTINEL, sizeof slots[t].value[4]);
    }
}

/* Loads the operands, runs the instruction (for two threads out of three when it is `guarded`), stores the result. */
static void write_text(char *text, size_t bytes, const struct lane_case *tried, bool guarded) {
    static const char *const registers[] = {[1] = "%q", [16] = "%h", [32] = "%r", [64] = "%d"};
    char operands[128] = "", loads[512] = "";
    const int to = tried->bits[0];
    for (int n = 0; n < 5 && tried->bits[n]; n++) {
        const int width = tried->bits[n];
        sprintf(operands + strlen(operands), "%s%s%d", n ? ", " : "", registers[width], n);
        if (n && width > 1)
            sprintf(loads + strlen(loads), "ld.global.b%d %s%d, [%%a+%d];\n", width, registers[width], n, 8 * (n - 1));
        else if (n)
            sprintf(loads + strlen(loads),
                    "ld.global.b32 %%t, [%%a+%d];\nand.b32 %%t, %%t, 1;\nsetp.ne.u32 %s%d, %%t, 0;\n", 8 * (n - 1),
                    registers[width], n);
    }
    sprintf(loads + strlen(loads), to > 1 ? "ld.global.b%d %s0, [%%a+32];\n" : "setp.ne.u32 %%q0, 0, 0;\n", to,
            to > 1 ? registers[to] : "");
    snprintf(
        text, bytes,
        PTX_TEXT(".reg .b64 %%a, %%b, %%d<5>; .reg .b32 %%t, %%u, %%r<5>; .reg .b16 %%h<5>; .reg .pred %%q<5>, %%g;\n"
                 "ld.param.u64 %%a, [buffer]; mov.u32 %%t, %%tid.x; mov.u32 %%u, %%ctaid.x;\n"
                 "shl.b32 %%u, %%u, 8; add.u32 %%t, %%t, %%u; mul.wide.u32 %%b, %%t, 40; add.u64 %%a, %%a, %%b;\n"
                 "rem.u32 %%t, %%t, 3; setp.ne.u32 %%g, %%t, 0;\n"
                 "%s %s %s %s;\n%s st.global.b%d [%%a+32], %s0;"),
        loads, guarded ? "@%g" : "", tried->opcode, operands, to == 1 ? "selp.b32 %r0, 1, 0, %q0;" : "",
        to == 1 ? 32 : to, to == 1 ? "%r" : registers[to]);
}

static void try_case(const struct lane_case *tried, bool guarded) {
    static struct slots slots[THREADS];
    char text[4096];
    fill(slots);
    write_text(text, sizeof text, tried, guarded);
    struct run_ptx run = {
        .text = text, .grid = {THREADS / BLOCK}, .block = {BLOCK}, .buffer = slots, .bytes = sizeof slots};
    run_ptx_clean(&run);
    const int width = tried->bits[0] == 1 ? 32 : tried->bits[0];
    for (int t = 0; t < THREADS; t++) {
        uint64_t in[4];
        for (int n = 0; n < 4; n++)
            in[n] = low(slots[t].value[n], tried->bits[n + 1]);
        const bool idle = guarded && t % 3 == 0;
        uint64_t expected = idle ? UINT64_C(0x5a5a5a5a5a5a5a5a) : tried->expected(in[0], in[1], in[2], in[3]);
        if (idle && tried->bits[0] == 1)
            expected = 0;
        if (strstr(tried->opcode, ".f64") && width == 64 && isnan(g(expected)) && isnan(g(slots[t].value[4])))
            continue; /* which NaN is the host's */
        ck_assert_msg(low(slots[t].value[4], width) == low(expected, width),
                      "%s 0x%llx, 0x%llx, 0x%llx, 0x%llx: 0x%llx, expected 0x%llx%s", tried->opcode,
                      (unsigned long long)in[0], (unsigned long long)in[1], (unsigned long long)in[2],
                      (unsigned long long)in[3], (unsigned long long)low(slots[t].value[4], width),
                      (unsigned long long)low(expected, width), guarded ? " (guarded)" : "");
    }
}

START_TEST(whole_warps) {
    try_case(&cases[_i], false);
}
END_TEST

START_TEST(guarded_lanes) {
    try_case(&cases[_i], true);
}
END_TEST

Suite *lanewise_suite(void) {
    Suite *suite = suite_create("lanewise");
    TCase *tests = tcase_create("lanewise");
    tcase_add_loop_test(tests, whole_warps, 0, sizeof cases / sizeof *cases);
    tcase_add_loop_test(tests, guarded_lanes, 0, sizeof cases / sizeof *cases);
    suite_add_tcase(suite, tests);
    return suite;
}
