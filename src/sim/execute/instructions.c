/* SPDX-License-Identifier: Apache-2.0 */
/* The table of operations, as the parser and the counters see it. */
#include "sim/execute/instructions.h"

const struct sim_operation sim_operations[] = {
#define OPERATION(opcode, operands, class, handler)         {opcode, operands, SIM_CLASS_##class, sim_do_##handler},
#define LANES1(name, opcode, class, D, A, expression)       {opcode, "ds", SIM_CLASS_##class, sim_lanes_##name},
#define LANES2(name, opcode, class, D, A, B, expression)    {opcode, "dss", SIM_CLASS_##class, sim_lanes_##name},
#define LANES3(name, opcode, class, D, A, B, C, expression) {opcode, "dsss", SIM_CLASS_##class, sim_lanes_##name},
#define CONVERT(name, opcode, D, A, expression)             {opcode, "ds", SIM_CLASS_CONVERT, sim_lanes_##name},
#define COMPARE(name, opcode, T)                            {opcode, "D?Dss?P", SIM_CLASS_PREDICATE, sim_lanes_##name},
#include "sim/execute/instructions.def"
#undef OPERATION
#undef LANES1
#undef LANES2
#undef LANES3
#undef CONVERT
#undef COMPARE
};

const size_t sim_operation_count = sizeof sim_operations / sizeof *sim_operations;
