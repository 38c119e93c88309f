/* SPDX-License-Identifier: Apache-2.0 */
/* gate_tile(): of gates and ups, the elements of D.
 *
 * B's rows lie in shared memory as 8 gates, 8 ups, 8 gates, ... So the accumulators of 16 columns of the N side are those
 * of 8 gates and of the 8 ups that belong to them, in the same thread and four registers apart:
 *
 *   registers 8 j .. 8 j + 3    rows r and r + 8 of gates 8 j + c and 8 j + c + 1
 *   registers 8 j + 4 .. + 7    the same of ups
 *
 * What becomes of them goes to registers 4 j .. 4 j + 3, which makes the first half of an atom's registers a fragment of D
 * that is half as wide. */
#ifndef GM_SM90_GEMM_GATE_CUH
#define GM_SM90_GEMM_GATE_CUH

#include "common/activation.cuh"
#include "common/gemm/epilogue.cuh"
#include "common/gemm_sm90/params.h"
#include "common/special.cuh"
#include "sm90/gemm/constants.cuh"
#include "sm90/gemm/walk.cuh"

static __device__ __forceinline__ float bias_element(const struct gm_epilogue_params &e, int64_t index) {
    if (e.bias_type == GM_TYPE_fp32)
        return __uint_as_float(ld_global_b32(e.bias + index * 4));
    float low, high;
    const uint32_t bits = ld_global_b16(e.bias + index * 2);
    if (e.bias_type == GM_TYPE_bf16)
        cvt_f32_bf16x2(bits, low, high);
    else
        cvt_f32_f16x2(bits, low, high);
    return low;
}

/* Adds the bias of this thread's columns to gates and ups. Columns outside D have none. */
static __device__ __forceinline__ void add_gate_bias(const struct gm_gemm_sm90_params &p,
                                                     float (&acc)[ATOMS_M][ATOM_REGISTERS], int first_column) {
#pragma unroll
    for (int j = 0; j < ATOM_REGISTERS / 8; ++j)
#pragma unroll
        for (int c = 0; c < 2; ++c) {
            const int column = first_column + j * 8 + c;
            if (column >= p.epilogue.n)
                continue;
            const int64_t at = (int64_t)p.gate.gate_step * column;
            const float gate = bias_element(p.epilogue, at), up = bias_element(p.epilogue, at + p.gate.up_first);
#pragma unroll
            for (int i = 0; i < ATOMS_M * 2; ++i) {
                acc[i / 2][8 * j + i % 2 * 2 + c] += gate;
                acc[i / 2][8 * j + i % 2 * 2 + c + 4] += up;
            }
        }
}

/* NaN stays NaN. */
static __device__ __forceinline__ void limit_gates(const struct gm_gate_params &g,
                                                   float (&acc)[ATOMS_M][ATOM_REGISTERS]) {
#pragma unroll
    for (int i = 0; i < ATOMS_M; ++i)
#pragma unroll
        for (int r = 0; r < ATOM_REGISTERS; ++r)
            acc[i][r] = r % 8 < 4 ? min_nan(acc[i][r], g.limit) : max_nan(min_nan(acc[i][r], g.limit), -g.limit);
}

/* Gates and ups that are activated at once: their chains of instructions run beside each other. All of an atom's, or
 * fewer, where the accumulators leave few registers. */
enum { GATED_AT_ONCE = FLOATS > 160 ? 16 : ATOM_REGISTERS };

template <int ACTIVATION>
static __device__ __forceinline__ void multiply_gates_as(const struct gm_gate_params &g, float *acc, int first) {
#pragma unroll
    for (int r = first / 2; r < (first + GATED_AT_ONCE) / 2; ++r) {
        const int gate = r / 4 * 8 + r % 4;
        acc[r] = act_by<ACTIVATION>(acc[gate], g.silu_exponent) * (acc[gate + 4] + g.up_offset);
    }
}

static __device__ __forceinline__ void multiply_gates(const struct gm_gate_params &g, int activation, float *acc,
                                                      int first) {
    if (activation == ACT_SILU)
        multiply_gates_as<ACT_SILU>(g, acc, first);
    else if (activation == ACT_GELU_TANH)
        multiply_gates_as<ACT_GELU_TANH>(g, acc, first);
    else if (activation == ACT_GELU_ERF)
        multiply_gates_as<ACT_GELU_ERF>(g, acc, first);
    else if (activation == ACT_RELU)
        multiply_gates_as<ACT_RELU>(g, acc, first);
    else
        multiply_gates_as<ACT_NONE>(g, acc, first);
}

/* Sums of int8 have no gate. */
static __device__ __forceinline__ void gate_tile(const struct gm_gemm_sm90_params &,
                                                 int32_t (&)[ATOMS_M][ATOM_REGISTERS], struct tile_position, uint32_t) {
}

/* Makes D's elements of the consumer's accumulators, in the first half of each atom's registers. */
static __device__ __forceinline__ void gate_tile(const struct gm_gemm_sm90_params &p,
                                                 float (&acc)[ATOMS_M][ATOM_REGISTERS], struct tile_position tile,
                                                 uint32_t thread) {
    if (p.epilogue.alpha != 1.0f)
#pragma unroll
        for (int i = 0; i < ATOMS_M * ATOM_REGISTERS; ++i)
            acc[i / ATOM_REGISTERS][i % ATOM_REGISTERS] *= p.epilogue.alpha;
    if (p.epilogue.bias_mode != 0)
        add_gate_bias(p, acc, tile.n * (TILE_N / 2) + thread % 4 * 2);
    if (p.gate.has_limit)
        limit_gates(p.gate, acc);
#pragma unroll
    for (int i = 0; i < ATOMS_M; ++i)
#pragma unroll
        for (int first = 0; first < ATOM_REGISTERS; first += GATED_AT_ONCE)
            multiply_gates(p.gate, p.epilogue.activation, acc[i], first);
}

#endif
