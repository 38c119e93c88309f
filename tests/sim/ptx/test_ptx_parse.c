/* SPDX-License-Identifier: Apache-2.0 */
/* What the parser makes of kernels: registers and scopes, operands, immediates, addresses, vectors. */
#include "sim_tests.h"

#include "ptx_text.h"

#include <string.h>

static const struct ptx_register *find_register(const struct ptx_function *function, const char *name, int nth) {
    for (uint32_t r = 0; r < function->register_count; r++)
        if (strcmp(function->registers[r].name, name) == 0 && nth-- == 0)
            return &function->registers[r];
    ck_abort_msg("no register %s", name);
    return NULL;
}

static uint32_t offset_of(const struct ptx_function *function, const char *name) {
    return find_register(function, name, 0)->offset;
}

static int64_t lane_0(const struct ptx_operand *operand) {
    ck_assert_int_eq(operand->kind, PTX_OPERAND_IMMEDIATE);
    return (int64_t)((const uint64_t *)operand->row64)[0];
}

/* ---- registers ----------------------------------------------------------------------------------- */

START_TEST(registers_lie_apart) {
    const struct ptx_function *f = ptx_text_kernel("@p3 mov.b32 r1, r2; @!p1 mov.b64 d1, d2; mov.b16 h1, h2;");
    uint32_t end = 0;
    for (uint32_t r = 0; r < f->register_count; r++) {
        const struct ptx_register *at = &f->registers[r];
        ck_assert_uint_ge(at->offset, end);
        ck_assert_uint_eq(at->offset % (at->bits == 1 ? 4 : 128), 0);
        end = at->offset + (at->bits == 1 ? 4 : at->bits == 64 ? 256 : 128);
        ck_assert_str_eq(ptx_register_name(f, at->offset), at->name);
    }
    ck_assert_uint_ge(f->register_bytes, end + 256);
    ck_assert_str_eq(ptx_register_name(f, PTX_SPECIAL_OFFSET(PTX_TID_Y)), "%tid.y");
    ck_assert_str_eq(ptx_register_name(f, end + 4), "?");
    ck_assert_int_eq(f->code[0].guard, (int)offset_of(f, "p3"));
    ck_assert(!f->code[0].guard_negated && f->code[1].guard_negated);
    ck_assert_int_eq(f->code[2].guard, PTX_NONE);
    ptx_free(f->module);
}
END_TEST

START_TEST(every_block_has_registers_of_its_own) {
    const struct ptx_function *f = ptx_text_kernel("mov.b32 r1, 1;\n"
                                                   "{ .reg .b32 r1; mov.b32 r1, 2; }\n"
                                                   "{ .reg .b32 r<4>; mov.b32 r1, 3; mov.b32 r5, 4; }\n"
                                                   "mov.b32 r1, 5;");
    ck_assert_uint_eq(f->code[0].operand[0].reg, f->code[4].operand[0].reg);
    ck_assert_uint_ne(f->code[0].operand[0].reg, f->code[1].operand[0].reg);
    ck_assert_uint_ne(f->code[0].operand[0].reg, f->code[2].operand[0].reg);
    ck_assert_uint_ne(f->code[1].operand[0].reg, f->code[2].operand[0].reg);
    ck_assert_str_eq(ptx_register_name(f, f->code[3].operand[0].reg), "r5");
    ck_assert_uint_eq(f->code[1].line, 9);
    ptx_free(f->module);
}
END_TEST

START_TEST(a_range_may_end_in_digits) {
    const struct ptx_function *f = ptx_text_kernel(".reg .b64 %r<3>; .reg .b32 %r1<3>;\n"
                                                   "mov.b32 %r12, 0; mov.b64 %r1, 0; mov.b32 %r10, 0;");
    ck_assert_uint_eq(find_register(f, "%r12", 0)->bits, 32);
    ck_assert_uint_eq(find_register(f, "%r1", 0)->bits, 64);
    ck_assert_uint_eq(find_register(f, "%r10", 0)->bits, 32);
    ptx_free(f->module);
}
END_TEST

START_TEST(labels_belong_to_their_block) {
    const struct ptx_function *f = ptx_text_kernel("{ L: mov.b32 r0, 0; @p0 bra L; bra M; }\n"
                                                   "{ bra L; L: mov.b32 r0, 1; }\n"
                                                   "M: L: ret;");
    ck_assert_int_eq(f->code[1].operand[0].value, 0);
    ck_assert_int_eq(f->code[2].operand[0].value, 5);
    ck_assert_int_eq(f->code[3].operand[0].value, 4);
    ptx_free(f->module);
}
END_TEST

/* ---- operands ------------------------------------------------------------------------------------ */

START_TEST(immediates_have_rows) {
    const struct ptx_function *f = ptx_text_kernel("add.s32 r0, r1, -1; add.s16 h0, h1, -1; mov.b64 d0, 0xffffffff;\n"
                                                   "mov.f32 f0, 0f3F800000; mov.f32 f0, 0.5; mov.f64 d0, 0.5;\n"
                                                   "mov.f32 f0, 0d3FE0000000000000; mov.b32 r0, WARP_SZ;");
    const struct ptx_operand *minus = &f->code[0].operand[2], *narrow = &f->code[1].operand[2];
    ck_assert_int_eq(minus->value, -1);
    ck_assert_uint_eq(((const uint32_t *)minus->row)[31], UINT32_MAX);
    ck_assert_uint_eq(((const uint64_t *)minus->row64)[31], UINT64_MAX);
    ck_assert_uint_eq(((const uint32_t *)narrow->row)[31], 0xffff);
    ck_assert_int_eq(lane_0(&f->code[2].operand[1]), UINT32_MAX);
    ck_assert_int_eq(lane_0(&f->code[3].operand[1]), 0x3f800000);
    ck_assert_int_eq(lane_0(&f->code[4].operand[1]), 0x3f000000);
    ck_assert_int_eq(lane_0(&f->code[5].operand[1]), INT64_C(0x3fe0000000000000));
    ck_assert_int_eq(lane_0(&f->code[6].operand[1]), 0x3f000000);
    ck_assert_int_eq(lane_0(&f->code[7].operand[1]), 32);
    ptx_free(f->module);
}
END_TEST

START_TEST(addresses_are_bases_and_offsets) {
    const struct ptx_function *f = ptx_text_kernel("ld.param.u64 d0, [p]; ld.param.u32 r0, [q + 4]; mov.b64 d1, q;\n"
                                                   "ld.param.u32 r0, [d1+-4]; ld.param.u32 r0, [16 + 4];");
    ck_assert_uint_eq(f->parameter_count, 2);
    ck_assert_uint_eq(f->parameter_bytes, 32);
    ck_assert_int_eq(f->code[0].operand[1].kind, PTX_OPERAND_ADDRESS);
    ck_assert(!f->code[0].operand[1].based && f->code[0].operand[1].value == 0);
    ck_assert_int_eq(f->code[1].operand[1].value, 20);
    ck_assert_int_eq(lane_0(&f->code[2].operand[1]), 16);
    ck_assert(f->code[3].operand[1].based && f->code[3].operand[1].value == -4);
    ck_assert_uint_eq(f->code[3].operand[1].reg, offset_of(f, "d1"));
    ck_assert_uint_eq(f->code[3].operand[1].bits, 64);
    ck_assert_int_eq(f->code[4].operand[1].value, 20);
    ptx_free(f->module);
}
END_TEST

START_TEST(pipes_sinks_and_missing_operands) {
    const struct ptx_function *f =
        ptx_text_kernel("shfl.sync.idx.b32 r0|p1, r1, 0, 31, -1; shfl.sync.idx.b32 r0, r1, 0, 31, -1;\n"
                        "bar.sync 0; bar.sync 1, 64; vote.sync.all.pred p0, !p1, -1;\n"
                        "mov.b32 {h0, _}, r0;");
    ck_assert_int_eq(f->code[0].operand[1].kind, PTX_OPERAND_PREDICATE);
    ck_assert_int_eq(f->code[1].operand[1].kind, PTX_OPERAND_NONE);
    ck_assert_int_eq(f->code[0].operand[3].value, 0);
    ck_assert_int_eq(f->code[1].operand[4].value, 31);
    ck_assert_int_eq(f->code[2].operand[1].kind, PTX_OPERAND_NONE);
    ck_assert_int_eq(f->code[3].operand[1].value, 64);
    ck_assert(f->code[4].operand[1].negated);
    const struct ptx_operand *vector = &f->code[5].operand[0];
    ck_assert_int_eq(vector->kind, PTX_OPERAND_VECTOR);
    ck_assert_uint_eq(vector->count, 2);
    ck_assert_int_eq(f->elements[vector->first].kind, PTX_OPERAND_REGISTER);
    ck_assert_int_eq(f->elements[vector->first + 1].kind, PTX_OPERAND_SINK);
    ck_assert_str_eq(ptx_register_name(f, f->elements[vector->first + 1].reg), "?"); /* a row of nobody's */
    ptx_free(f->module);
}
END_TEST

START_TEST(touched_registers_are_listed) {
    const struct ptx_function *f = ptx_text_kernel("ld.param.v2.u32 {r0, r1}, [d0]; @p0 add.s32 r2, r1, r0;");
    const uint32_t *touched = f->touched;
    ck_assert_uint_eq(f->code[0].reads_count, 1);
    ck_assert_uint_eq(touched[f->code[0].reads_first], offset_of(f, "d0"));
    ck_assert_uint_eq(f->code[0].writes_count, 2);
    ck_assert_uint_eq(touched[f->code[0].writes_first + 1], offset_of(f, "r1"));
    ck_assert_uint_eq(f->code[1].reads_count, 2);
    ck_assert_uint_eq(touched[f->code[1].reads_first], offset_of(f, "r1"));
    ck_assert_uint_eq(touched[f->code[1].writes_first], offset_of(f, "r2"));
    ptx_free(f->module);
}
END_TEST

START_TEST(clocks_are_read_by_moves) {
    const struct ptx_function *f = ptx_text_kernel("mov.u64 d0, %clock64; mov.u32 r0, %clock; mov.u32 r0, %envreg7;");
    ck_assert_int_eq(f->code[0].operand[1].value, PTX_CLOCK64);
    ck_assert_int_eq(f->code[1].operand[1].value, PTX_CLOCK_LO);
    ck_assert_uint_eq(f->code[2].operand[1].reg, PTX_SPECIAL_OFFSET(PTX_ENVREG_ZERO));
    ptx_free(f->module);
}
END_TEST

START_TEST(branch_targets_are_elements) {
    const struct ptx_function *f = ptx_text_kernel("T: .branchtargets A, B;\nbrx.idx r0, T; A: mov.b32 r0, 1; B: ret;");
    const struct ptx_operand *list = &f->code[0].operand[1];
    ck_assert_uint_eq(list->count, 2);
    ck_assert_int_eq(f->elements[list->first].value, 1);
    ck_assert_int_eq(f->elements[list->first + 1].value, 2);
    ptx_free(f->module);
}
END_TEST

Suite *ptx_parse_suite(void) {
    Suite *suite = suite_create("ptx_parse");
    TCase *tests = tcase_create("ptx_parse");
    tcase_add_test(tests, registers_lie_apart);
    tcase_add_test(tests, every_block_has_registers_of_its_own);
    tcase_add_test(tests, a_range_may_end_in_digits);
    tcase_add_test(tests, labels_belong_to_their_block);
    tcase_add_test(tests, immediates_have_rows);
    tcase_add_test(tests, addresses_are_bases_and_offsets);
    tcase_add_test(tests, pipes_sinks_and_missing_operands);
    tcase_add_test(tests, touched_registers_are_listed);
    tcase_add_test(tests, clocks_are_read_by_moves);
    tcase_add_test(tests, branch_targets_are_elements);
    suite_add_tcase(suite, tests);
    return suite;
}
