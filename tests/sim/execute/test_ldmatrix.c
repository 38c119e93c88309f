/* SPDX-License-Identifier: Apache-2.0 */
/* ldmatrix, stmatrix, movmatrix: every element where the fragments' layout has it, and what is reported. */
#include "run_ptx.h"
#include "sim_tests.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { LANES = 32, MATRICES = 4, ROW_BYTES = 16, SIDE = 8 };

/* 32 rows of 16 bytes; what the registers were, or became; rows as they were read back. */
struct memory {
    uint16_t rows[LANES][SIDE];
    uint32_t registers[MATRICES][LANES];
    uint16_t back[LANES][SIDE];
};

/* Lane l's row is brought to shared memory (unless it is in `stale`), 80 bytes from row to row; then `instructions`
 * run with `at` the address of the lane's row, r0 .. r3 hold the registers; then all is brought back. */
static struct run_ptx run_matrix(struct memory *memory, const char *instructions, uint32_t stale) {
    static char text[6000];
    snprintf(text, sizeof text,
             PTX_HEAD
             ".shared .align 16 .b8 rows[2560];\n" PTX_KERNEL
             ".reg .b32 r<5>, lane, at, w<4>; .reg .b64 to, offset, from; .reg .pred loaded;\n"
             "ld.param.u64 to, [buffer]; cvta.to.global.u64 to, to; mov.u32 lane, %%tid.x; mov.u32 at, rows;\n"
             "mad.lo.u32 at, lane, 80, at; shl.b32 w0, 1, lane; and.b32 w0, w0, %u; setp.eq.u32 loaded, w0, 0;\n"
             "mul.wide.u32 offset, lane, 16; add.s64 from, to, offset; ld.global.v4.b32 {w0, w1, w2, w3}, [from];\n"
             "@loaded st.shared.v4.b32 [at], {w0, w1, w2, w3};\n"
             "mul.wide.u32 offset, lane, 4; add.s64 to, to, offset;\n"
             "ld.global.b32 r0, [to + 512]; ld.global.b32 r1, [to + 640];\n"
             "ld.global.b32 r2, [to + 768]; ld.global.b32 r3, [to + 896]; bar.warp.sync 0xffffffff;\n"
             "%s\n"
             "st.global.b32 [to + 512], r0; st.global.b32 [to + 640], r1;\n"
             "st.global.b32 [to + 768], r2; st.global.b32 [to + 896], r3; bar.warp.sync 0xffffffff;\n"
             "@!loaded bra leave;\n"
             "ld.shared.v4.b32 {w0, w1, w2, w3}, [at]; st.global.v4.b32 [from + 1024], {w0, w1, w2, w3};\n"
             "leave: ret;\n}\n",
             stale, instructions);
    return (struct run_ptx){.text = text, .block = {LANES}, .buffer = memory, .bytes = sizeof *memory};
}

static void fill(struct memory *memory) {
    for (uint32_t at = 0; at < LANES * SIDE; at++)
        memory->rows[at / SIDE][at % SIDE] = (uint16_t)(0x1000 + at);
    for (uint32_t at = 0; at < LANES * MATRICES; at++)
        memory->registers[at / LANES][at % LANES] = 0x50006000 + at * 0x00010001;
    memset(memory->back, 0, sizeof memory->back);
}

/* The half of a register's lane that holds element (row, column). */
static uint32_t element_of(const uint32_t lanes[LANES], uint32_t row, uint32_t column, bool turned) {
    const uint32_t r = turned ? column : row, c = turned ? row : column;
    return lanes[4 * r + c / 2] >> 16 * (c % 2) & 0xffff;
}

static const struct {
    const char *registers;
    uint32_t count;
} widths[] = {
    {"x1%s.shared.b16 %s{r0}%s", 1}, {"x2%s.shared::cta.b16 %s{r0, r1}%s", 2}, {"x4%s.b16 %s{r0, r1, r2, r3}%s", 4}};

START_TEST(test_ldmatrix) {
    const uint32_t count = widths[_i / 2].count;
    const bool turned = _i % 2;
    char text[200] = "ldmatrix.sync.aligned.m8n8.";
    struct memory memory, before;
    fill(&memory);
    before = memory;
    snprintf(text + strlen(text), 100, widths[_i / 2].registers, turned ? ".trans" : "", "", ", [at];");
    if (count == 4) /* a generic address */
        snprintf(text, sizeof text,
                 "cvt.u64.u32 offset, at; cvta.shared.u64 offset, offset; "
                 "ldmatrix.sync.aligned.m8n8.x4%s.b16 {r0, r1, r2, r3}, [offset];",
                 turned ? ".trans" : "");
    struct run_ptx run = run_matrix(&memory, text, 0);
    run_ptx_clean(&run);
    for (uint32_t j = 0; j < MATRICES; j++)
        for (uint32_t row = 0; row < SIDE; row++)
            for (uint32_t column = 0; column < SIDE; column++)
                ck_assert_uint_eq(element_of(memory.registers[j], row, column, turned && j < count),
                                  j < count ? before.rows[SIDE * j + row][column]
                                            : element_of(before.registers[j], row, column, false));
}
END_TEST

START_TEST(test_stmatrix) {
    const uint32_t count = widths[_i / 2].count;
    const bool turned = _i % 2;
    char text[200] = "stmatrix.sync.aligned.m8n8.";
    struct memory memory, before;
    fill(&memory);
    before = memory;
    snprintf(text + strlen(text), 100, count == 4 ? "x4%s.shared.b16 %s{r0, r1, r2, r3}%s" : widths[_i / 2].registers,
             turned ? ".trans" : "", "[at], ", ";");
    struct run_ptx run = run_matrix(&memory, text, 0);
    run_ptx_clean(&run);
    for (uint32_t lane = 0; lane < LANES; lane++)
        for (uint32_t column = 0; column < SIDE; column++)
            ck_assert_uint_eq(memory.back[lane][column], lane < SIDE * count ? element_of(before.registers[lane / SIDE],
                                                                                          lane % SIDE, column, turned)
                                                                             : before.rows[lane][column]);
}
END_TEST

START_TEST(test_movmatrix) {
    struct memory memory, before;
    fill(&memory);
    before = memory;
    struct run_ptx run = run_matrix(&memory, "movmatrix.sync.aligned.m8n8.trans.b16 r1, r0;", 0);
    run_ptx_clean(&run);
    for (uint32_t row = 0; row < SIDE; row++)
        for (uint32_t column = 0; column < SIDE; column++)
            ck_assert_uint_eq(element_of(memory.registers[1], row, column, true),
                              element_of(before.registers[0], row, column, false));
}
END_TEST

/* ---- reports ----------------------------------------------------------------------------------------------------- */

static void check_report(const char *instructions, uint32_t stale, enum gm_sim_report_kind kind, const char *words) {
    struct memory memory;
    fill(&memory);
    struct run_ptx run = run_matrix(&memory, instructions, stale);
    run_ptx(&run);
    ck_assert_msg(run.message[0] == '\0', "%s", run.message);
    ck_assert_msg(run.reports > 0, "%s: no report", instructions);
    ck_assert_msg(run.report[0].kind == kind && strstr(run.report[0].sentence, words), "%s: %s", instructions,
                  run.report[0].sentence);
}

START_TEST(test_reports) {
    check_report("add.u32 at, at, 8; ldmatrix.sync.aligned.m8n8.x4.shared.b16 {r0, r1, r2, r3}, [at];", 0,
                 SIM_REPORT_MISALIGNED, "");
    check_report("mul.lo.u32 at, lane, 65536; stmatrix.sync.aligned.m8n8.x4.shared.b16 [at], {r0, r1, r2, r3};", 0,
                 SIM_REPORT_OUT_OF_BOUNDS, "");
    check_report("setp.gt.u32 loaded, lane, 30; @loaded exit; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {r0}, [at];", 0,
                 SIM_REPORT_DIVERGED, "lane 31");
}
END_TEST

/* Lanes that got bytes which nobody wrote may keep them to themselves; to global memory they may not go. Row 5 is in
 * lanes 20 to 23; turned, it is in the upper halves of lanes 2, 6, 10 ... What stays behind is exchanged for r4. */
#define TURN_OVER(trans, group)                                                                                        \
    "mov.b32 r4, r0; ldmatrix.sync.aligned.m8n8.x1" trans ".shared.b16 {r0}, [at]; " group                             \
    "@loaded mov.b32 r0, r4; setp.ne.u32 loaded, lane, 5;"

START_TEST(test_uninitialised) {
    const char *const kept[] = {TURN_OVER("", "shr.u32 w0, lane, 2; setp.eq.u32 loaded, w0, 5; "),
                                TURN_OVER(".trans", "and.b32 w0, lane, 3; setp.eq.u32 loaded, w0, 2; ")};
    for (int i = 0; i < 2; i++) {
        struct memory memory;
        fill(&memory);
        struct run_ptx run = run_matrix(&memory, kept[i], 1u << 5);
        run_ptx_clean(&run);
    }
    check_report("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {r0}, [at]; setp.ne.u32 loaded, lane, 5;", 1u << 5,
                 SIM_REPORT_UNINITIALISED, "");
    check_report("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {r0}, [at]; bar.warp.sync 0xffffffff; "
                 "stmatrix.sync.aligned.m8n8.x1.shared.b16 [at], {r0}; setp.ne.u32 loaded, lane, 99; mov.b32 r0, 0;",
                 1u << 5, SIM_REPORT_UNINITIALISED, "");
}
END_TEST

Suite *ldmatrix_suite(void) {
    Suite *suite = suite_create("sim ldmatrix");
    TCase *tests = tcase_create("ldmatrix");
    tcase_add_loop_test(tests, test_ldmatrix, 0, 6);
    tcase_add_loop_test(tests, test_stmatrix, 0, 6);
    tcase_add_test(tests, test_movmatrix);
    tcase_add_test(tests, test_reports);
    tcase_add_test(tests, test_uninitialised);
    suite_add_tcase(suite, tests);
    return suite;
}
