/* SPDX-License-Identifier: Apache-2.0 */
/* From a row of instructions.def to the loop over its lanes: for lanewise*.c only, which expand the table.
 *
 * The loop is written once, inline, and compiled as name_wide() and name_plain() (lanes.h). */
#ifndef SIM_LANE_LOOPS_H
#define SIM_LANE_LOOPS_H

#include "sim/execute/instructions.h"
#include "sim/execute/lanes.h"

#define ELEMENT(T) SIM_ELEMENT_##T
#define LANE(T, r) const SIM_TYPE_##T r = SIM_GET_##T(row_##r[lane])
/* The source row of operand `at`, read as T. */
#define ROW(T, at)                                                                                                     \
    ((const ELEMENT(T) *)(sizeof(ELEMENT(T)) == 8 ? (const void *)SIM_SOURCE_64(warp, operand + (at))                  \
                                                  : (const void *)SIM_SOURCE_32(warp, operand + (at))))
#define UNPACK(...) __VA_ARGS__
/* One blend for both, chosen by the row's element. */
#define BLEND(row, from, mask) _Generic(*(row), uint32_t: sim_blend_32, uint64_t: sim_blend_64)(row, from, mask)

/* `parameters` and `arguments` are the source rows; `lanes` reads a lane of each. */
#define LOOP(name, D, parameters, arguments, lanes, expression)                                                        \
    SIM_INSIDE void name##_inside(ELEMENT(D) * result, UNPACK parameters) {                                            \
        SIM_EACH_LANE {                                                                                                \
            lanes;                                                                                                     \
            result[lane] = SIM_PUT_##D(expression);                                                                    \
        }                                                                                                              \
    }                                                                                                                  \
    SIM_WIDE static void name##_wide(ELEMENT(D) * result, UNPACK parameters) {                                         \
        name##_inside(result, UNPACK arguments);                                                                       \
    }                                                                                                                  \
    static void name##_plain(ELEMENT(D) * result, UNPACK parameters) {                                                 \
        name##_inside(result, UNPACK arguments);                                                                       \
    }
#define RUN(name, result, rows) (sim_wide ? name##_wide(result, UNPACK rows) : name##_plain(result, UNPACK rows))

#define HANDLER_OF(name)                                                                                               \
    enum sim_next sim_lanes_##name(struct sim_warp *warp, __attribute__((unused)) struct sim_path *path,               \
                                   const struct ptx_instruction *i, uint32_t mask)

#endif
