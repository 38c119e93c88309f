/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions that compute every lane by itself: their handlers are made from the rows of instructions.def.
 *
 * A row's expression becomes the body of a loop over 32 lanes, which the compiler vectorises. With all lanes active it
 * writes the destination; otherwise it computes all 32 (none can trap) aside, and the active ones are taken over. */
#include "sim/execute/lane_loops.h"

#if defined __x86_64__
bool sim_wide;
void sim_lanes_begin(void) {
    __builtin_cpu_init();
    sim_wide = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
}
#else
void sim_lanes_begin(void) {}
#endif

void sim_blend_32(uint32_t *row, const uint32_t *from, uint32_t mask) {
    for (int lane = 0; lane < PTX_LANES; lane++)
        row[lane] = mask >> lane & 1 ? from[lane] : row[lane];
}

void sim_blend_64(uint64_t *row, const uint64_t *from, uint32_t mask) {
    for (int lane = 0; lane < PTX_LANES; lane++)
        row[lane] = mask >> lane & 1 ? from[lane] : row[lane];
}

#define HANDLER(name, D, rows)                                                                                         \
    HANDLER_OF(name) {                                                                                                 \
        const struct ptx_operand *const operand = i->operand;                                                          \
        if (operand->kind == PTX_OPERAND_REGISTER) {                                                                   \
            ELEMENT(D) aside[PTX_LANES], *const row = (ELEMENT(D) *)(warp->registers + operand->reg);                  \
            ELEMENT(D) *const result = mask == SIM_ALL_LANES ? row : aside;                                            \
            RUN(name, result, rows);                                                                                   \
            if (result == aside)                                                                                       \
                BLEND(row, aside, mask);                                                                               \
        }                                                                                                              \
        return SIM_NEXT;                                                                                               \
    }

#define LANES1(name, opcode, class, D, A, expression)                                                                  \
    LOOP(name, D, (const ELEMENT(A) * row_a), (row_a), LANE(A, a), expression)                                         \
    HANDLER(name, D, (ROW(A, 1)))
#define LANES2(name, opcode, class, D, A, B, expression)                                                               \
    LOOP(name, D, (const ELEMENT(A) * row_a, const ELEMENT(B) * row_b), (row_a, row_b), LANE(A, a);                    \
         LANE(B, b), expression)                                                                                       \
    HANDLER(name, D, (ROW(A, 1), ROW(B, 2)))
#define LANES3(name, opcode, class, D, A, B, C, expression)                                                            \
    LOOP(name, D, (const ELEMENT(A) * row_a, const ELEMENT(B) * row_b, const ELEMENT(C) * row_c),                      \
         (row_a, row_b, row_c), LANE(A, a);                                                                            \
         LANE(B, b); LANE(C, c), expression)                                                                           \
    HANDLER(name, D, (ROW(A, 1), ROW(B, 2), ROW(C, 3)))
#define CONVERT(name, opcode, D, A, expression)
#define COMPARE(name, opcode, T)
#define OPERATION(opcode, operands, class, handler)

#include "sim/execute/instructions.def"
