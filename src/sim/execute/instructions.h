/* SPDX-License-Identifier: Apache-2.0 */
/* Every handler of instructions.def, declared from the table itself. */
#ifndef SIM_INSTRUCTIONS_H
#define SIM_INSTRUCTIONS_H

#include "sim/machine/machine.h"

/* The shapes of wgmma with this k. */
#define SIM_WGMMA_SHAPES(k)                                                                                            \
    "{.m64n8" k "|.m64n16" k "|.m64n24" k "|.m64n32" k "|.m64n40" k "|.m64n48" k "|.m64n56" k "|.m64n64" k             \
    "|.m64n72" k "|.m64n80" k "|.m64n88" k "|.m64n96" k "|.m64n104" k "|.m64n112" k "|.m64n120" k "|.m64n128" k        \
    "|.m64n136" k "|.m64n144" k "|.m64n152" k "|.m64n160" k "|.m64n168" k "|.m64n176" k "|.m64n184" k "|.m64n192" k    \
    "|.m64n200" k "|.m64n208" k "|.m64n216" k "|.m64n224" k "|.m64n232" k "|.m64n240" k "|.m64n248" k "|.m64n256" k    \
    "}"

/* Loads and stores: what stands before the space, between the space and the type, and the type. */
#define SIM_LOAD_SEMANTICS  "[.weak|.relaxed|.acquire|.volatile][.cta|.cluster|.gpu|.sys]"
#define SIM_STORE_SEMANTICS "[.weak|.relaxed|.release|.volatile][.cta|.cluster|.gpu|.sys]"
#define SIM_CACHE_LEVELS                                                                                               \
    "[.L1::evict_normal|.L1::evict_unchanged|.L1::evict_first|.L1::evict_last|.L1::no_allocate]"                       \
    "[.L2::evict_normal|.L2::evict_first|.L2::evict_last][.L2::cache_hint]"
#define SIM_LOAD_CACHES  "[.ca|.cg|.cs|.lu|.cv][.nc]" SIM_CACHE_LEVELS "[.L2::64B|.L2::128B|.L2::256B]"
#define SIM_STORE_CACHES "[.wb|.cg|.cs|.wt]" SIM_CACHE_LEVELS
#define SIM_MEMORY_TYPES "{.u8|.s8|.b8|.u16|.s16|.b16|.u32|.s32|.b32|.f32|.u64|.s64|.b64|.f64}"

#define SIM_SHARED_SPACES "{.shared|.shared::cta|.shared::cluster}"

/* Atomics: what stands before the space, and what comes after it (execute_atomic.c has the same orders). */
#define SIM_ATOMIC_SEMANTICS "[.relaxed|.acquire|.release|.acq_rel][.cta|.cluster|.gpu|.sys]"
#define SIM_ATOMIC_OPERATIONS                                                                                          \
    "{.add|.and|.or|.xor|.inc|.dec|.min|.max|.exch}[.noftz][.L2::cache_hint]"                                          \
    "{.u32|.s32|.b32|.f32|.u64|.s64|.b64|.f64|.f16|.f16x2|.bf16|.bf16x2|.b16}"
#define SIM_CAS_TYPES      "{.b32|.u32|.s32|.b64|.u64|.s64|.b16}"
#define SIM_ADDRESS_SPACES "{.global|.const|.shared|.shared::cta|.shared::cluster|.local|.param|.param::entry}"

/* The comparisons of setp, in the order of enum sim_comparison, and how a second predicate may be joined to them. */
#define SIM_COMPARISONS "{.eq|.ne|.lt|.le|.gt|.ge|.lo|.ls|.hi|.hs|.equ|.neu|.ltu|.leu|.gtu|.geu|.num|.nan}"
#define SIM_COMBINED    "[.and|.or|.xor]"
enum sim_comparison {
    SIM_EQ = 1,
    SIM_NE,
    SIM_LT,
    SIM_LE,
    SIM_GT,
    SIM_GE,
    SIM_LO,
    SIM_LS,
    SIM_HI,
    SIM_HS,
    SIM_EQU,
    SIM_NEU,
    SIM_LTU,
    SIM_LEU,
    SIM_GTU,
    SIM_GEU,
    SIM_NUM,
    SIM_NAN
};

#define OPERATION(opcode, operands, class, handler)         sim_handler sim_do_##handler;
#define LANES1(name, opcode, class, D, A, expression)       sim_handler sim_lanes_##name;
#define LANES2(name, opcode, class, D, A, B, expression)    sim_handler sim_lanes_##name;
#define LANES3(name, opcode, class, D, A, B, C, expression) sim_handler sim_lanes_##name;
#define CONVERT(name, opcode, D, A, expression)             sim_handler sim_lanes_##name;
#define COMPARE(name, opcode, T)                            sim_handler sim_lanes_##name;
#include "sim/execute/instructions.def"
#undef OPERATION
#undef LANES1
#undef LANES2
#undef LANES3
#undef CONVERT
#undef COMPARE

#endif
