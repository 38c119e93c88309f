/* SPDX-License-Identifier: Apache-2.0 */
/* Random programs: blocks that jump to one another at random, by branches, indexed branches and exits, until their fuel
 * is used up. 96 threads in three warps, under any schedule, must get what 96 threads get that run alone. */
#include "run_ptx.h"
#include "sim_tests.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 96, PROGRAMS = 60, SEEDS = 3, TEXT_BYTES = 1 << 16 };

struct program {
    char text[TEXT_BYTES];
    size_t length;
    uint64_t random;
    int blocks;
};

static int draw(struct program *program, int below) {
    program->random ^= program->random << 13, program->random ^= program->random >> 7;
    program->random ^= program->random << 17;
    return (int)((program->random >> 20) % (uint64_t)below);
}

static void put(struct program *program, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct program *program, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    program->length +=
        (size_t)vsnprintf(program->text + program->length, TEXT_BYTES - program->length, format, arguments);
    va_end(arguments);
    ck_assert_uint_lt(program->length, TEXT_BYTES);
}

static void put_head(struct program *program) {
    put(program,
        "%s.reg .b64 %%a<4>; .reg .b32 %%r<8>, %%t, %%fuel; .reg .pred %%p<4>;\n"
        "ld.param.u64 %%a0, [buffer]; mov.u32 %%t, %%ctaid.x; mov.u32 %%r1, %%ntid.x; mov.u32 %%r2, %%tid.x;\n"
        "mad.lo.u32 %%t, %%t, %%r1, %%r2; mul.wide.u32 %%a1, %%t, 4; add.u64 %%a1, %%a0, %%a1;\n"
        "mov.u32 %%r0, %%t; mov.u32 %%r1, 1; mov.u32 %%r2, 2; mov.u32 %%r3, 3; setp.eq.u32 %%p0, %%t, 0;\n"
        "mov.u32 %%fuel, %d;\n",
        PTX_HEAD PTX_KERNEL, 20 + draw(program, 200));
}

static void put_arithmetic(struct program *program) {
    const int to = draw(program, 4), a = draw(program, 4), b = draw(program, 4);
    const char *const guard = draw(program, 3) ? "" : "@%p0 ";
    switch (draw(program, 4)) {
    case 0:
        put(program, "%smad.lo.u32 %%r%d, %%r%d, %d, %%r%d;\n", guard, to, a, 2 * draw(program, 50000) + 1, b);
        break;
    case 1:
        put(program, "%sxor.b32 %%r%d, %%r%d, %%r%d;\n", guard, to, a, b);
        break;
    case 2:
        put(program, "%sshf.l.wrap.b32 %%r%d, %%r%d, %%r%d, %d;\n", guard, to, a, a, draw(program, 32));
        break;
    default:
        put(program, "setp.lt.u32 %%p0, %%r%d, %%r%d;\n", a, b);
    }
}

static void put_indexed_branch(struct program *program, int block) {
    const int targets = 2 + draw(program, 5);
    put(program, "L%d: .branchtargets ", block);
    for (int n = 0; n < targets; n++)
        put(program, "%sB%d", n ? ", " : "", draw(program, program->blocks));
    put(program, ";\nrem.u32 %%r4, %%r%d, %d; %sbrx.idx %%r4, L%d;\n", draw(program, 4), targets,
        draw(program, 2) ? "@%p0 " : "", block);
}

/* How the block ends; some fall through to the next. */
static void put_end(struct program *program, int block) {
    const int how = draw(program, 10), bit = 1 << draw(program, 4), value = draw(program, 4);
    if (how < 6) {
        put(program, "and.b32 %%r4, %%r%d, %d; setp.eq.u32 %%p1, %%r4, 0; @%s%%p1 bra B%d;\n", value, bit,
            draw(program, 2) ? "!" : "", draw(program, program->blocks));
        if (draw(program, 3) == 0)
            put(program, "bra.uni B%d;\n", draw(program, program->blocks));
    } else if (how < 8) {
        put_indexed_branch(program, block);
    } else if (how == 8) {
        put(program,
            "and.b32 %%r4, %%r%d, 15; setp.eq.u32 %%p1, %%r4, 3; xor.b32 %%r5, %%r0, %%r1;\n"
            "@%%p1 st.global.u32 [%%a1], %%r5; @%%p1 exit;\n",
            value);
    } else {
        put(program, "bra B%d;\n", draw(program, program->blocks));
    }
}

static void write_program(struct program *program, int number) {
    program->length = 0;
    program->random = (uint64_t)(number + 1) * UINT64_C(0x9E3779B97F4A7C15);
    program->blocks = 2 + draw(program, 12);
    put_head(program);
    for (int block = 0; block < program->blocks; block++) {
        put(program, "B%d:\nsub.s32 %%fuel, %%fuel, 1; setp.le.s32 %%p3, %%fuel, 0; @%%p3 bra END;\n", block);
        for (int n = draw(program, 4); n >= 0; n--)
            put_arithmetic(program);
        put_end(program, block);
    }
    put(program, "END: xor.b32 %%r0, %%r0, %%r1; xor.b32 %%r0, %%r0, %%r2; xor.b32 %%r0, %%r0, %%r3;\n"
                 "st.global.u32 [%%a1], %%r0; ret;\n}\n");
}

START_TEST(threads_together_do_what_they_do_alone) {
    static struct program program;
    uint32_t alone[THREADS] = {0}, together[THREADS] = {0};
    write_program(&program, _i);
    struct run_ptx run = {
        .text = program.text, .grid = {THREADS}, .block = {1}, .buffer = alone, .bytes = sizeof alone};
    run_ptx_clean(&run);
    for (uint64_t seed = 0; seed <= SEEDS; seed++) {
        memset(together, 0, sizeof together);
        run = (struct run_ptx){
            .text = program.text, .block = {THREADS}, .buffer = together, .bytes = sizeof together, .seed = seed};
        run_ptx_clean(&run);
        ck_assert_msg(memcmp(alone, together, sizeof alone) == 0, "seed %d differs:\n%s", (int)seed, program.text);
    }
}
END_TEST

Suite *programs_suite(void) {
    Suite *suite = suite_create("programs");
    TCase *tests = tcase_create("programs");
    tcase_add_loop_test(tests, threads_together_do_what_they_do_alone, 0, PROGRAMS);
    suite_add_tcase(suite, tests);
    return suite;
}
