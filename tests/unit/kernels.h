/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of GEMM that a registry might have, and short questions about them: what a test expects of the planner does
 * not move with the registries. */
#ifndef GM_UNIT_KERNELS_H
#define GM_UNIT_KERNELS_H

#include "common/gemm/tokens.h"
#include "host/choose.h"
#include "host/gemm/judge.h"
#include "host/gemm_sm80/gemm_sm80.h"
#include "host/gemm_sm90/gemm_sm90.h"
#include "kernel_facts.h"
#include "unit.h"

/* ---- rows ------------------------------------------------------------------------------------------- */

/* The columns schedule, consumers, swap, cluster_k, split_k and gate of gemm_sm90, by their letters in a kernel's name. */
#define ROLES_w1    GM_SCHEDULE_cooperative, 1, GM_SWAP_no, 1, GM_SPLIT_K_no, GM_GATE_no
#define ROLES_w1s   GM_SCHEDULE_cooperative, 1, GM_SWAP_swap, 1, GM_SPLIT_K_no, GM_GATE_no
#define ROLES_w1r   GM_SCHEDULE_cooperative, 1, GM_SWAP_no, 1, GM_SPLIT_K_split, GM_GATE_no
#define ROLES_w1k3  GM_SCHEDULE_cooperative, 1, GM_SWAP_no, 3, GM_SPLIT_K_no, GM_GATE_no
#define ROLES_w2    GM_SCHEDULE_cooperative, 2, GM_SWAP_no, 1, GM_SPLIT_K_no, GM_GATE_no
#define ROLES_w2s   GM_SCHEDULE_cooperative, 2, GM_SWAP_swap, 1, GM_SPLIT_K_no, GM_GATE_no
#define ROLES_w2r   GM_SCHEDULE_cooperative, 2, GM_SWAP_no, 1, GM_SPLIT_K_split, GM_GATE_no
#define ROLES_w2k2  GM_SCHEDULE_cooperative, 2, GM_SWAP_no, 2, GM_SPLIT_K_no, GM_GATE_no
#define ROLES_w2k3  GM_SCHEDULE_cooperative, 2, GM_SWAP_no, 3, GM_SPLIT_K_no, GM_GATE_no
#define ROLES_w2k4  GM_SCHEDULE_cooperative, 2, GM_SWAP_no, 4, GM_SPLIT_K_no, GM_GATE_no
#define ROLES_w2sk2 GM_SCHEDULE_cooperative, 2, GM_SWAP_swap, 2, GM_SPLIT_K_no, GM_GATE_no
#define ROLES_w2g   GM_SCHEDULE_cooperative, 2, GM_SWAP_no, 1, GM_SPLIT_K_no, GM_GATE_gate
#define ROLES_w3s   GM_SCHEDULE_cooperative, 3, GM_SWAP_swap, 1, GM_SPLIT_K_no, GM_GATE_no
#define ROLES_p2    GM_SCHEDULE_pingpong, 2, GM_SWAP_no, 1, GM_SPLIT_K_no, GM_GATE_no
#define ROLES_p2s   GM_SCHEDULE_pingpong, 2, GM_SWAP_swap, 1, GM_SPLIT_K_no, GM_GATE_no

/* GM_SM90_ROLES() by these letters, of ordinary epilogues. */
#define SM90_ROLES(letters) SM90_ROLES_OF(ROLES_##letters)
#define SM90_ROLES_OF(...)  GM_SM90_ROLES(__VA_ARGS__, GM_EXTENDED_no, GM_SCALES_no)

/* A row whose facts come from where the table has them; columns as in the family's registry, from behind `types`. */
#define KERNEL_ROW(name_, family_, arch_, state_, type_, registers_, targets_, ...)                                    \
    {.name = name_,                                                                                                    \
     .family = &gm_family_##family_,                                                                                   \
     .arch = GM_ARCH_##arch_,                                                                                          \
     .production = state_,                                                                                             \
     .type = (enum gm_type)GM_TYPE_##type_,                                                                            \
     GM_FACTS_##family_(GM_ARCH_##arch_, GM_TYPE_##type_, __VA_ARGS__),                                                \
     .registers = registers_,                                                                                          \
     .columns = {__VA_ARGS__},                                                                                         \
     .words = "",                                                                                                      \
     .targets = targets_}
#define SM90_ROW(name, state, type, layout, tile_m, tile_n, tile_k, stages, cluster_m, cluster_n, letters, swizzle)    \
    KERNEL_ROW(name, gemm_sm90, SM90, state, type, 168, "sm_90a", GM_LAYOUT_##layout, tile_m, tile_n, tile_k, stages,  \
               cluster_m, cluster_n, ROLES_##letters, GM_BATCH_no, GM_EXTENDED_no, GM_FAST_no, GM_SCALES_no, swizzle)
#define SM80_ROW(name, state, type, layout, tile_m, tile_n, tile_k, stages, warps_m, warps_n, warp_k)                  \
    KERNEL_ROW(name, gemm_sm80, SM80, state, type, 128, "sm_80 sm_90 compute_80", GM_LAYOUT_##layout, tile_m, tile_n,  \
               tile_k, stages, warps_m, warps_n, warp_k, GM_BATCH_no, GM_EXTENDED_no, GM_SMEM_MAP_xor)
/* The same with extended epilogues, of bf16 and layout tn. */
#define SM90_EXTENDED(name, tile_m, tile_n, stages, letters)                                                           \
    KERNEL_ROW(name, gemm_sm90, SM90, 1, bf16, 168, "sm_90a", GM_LAYOUT_tn, tile_m, tile_n, 64, stages, 1, 1,          \
               ROLES_##letters, GM_BATCH_no, GM_EXTENDED_extended, GM_FAST_no, GM_SCALES_no, 128)
#define SM80_EXTENDED(name, tile_m, tile_n, stages, warps_m, warps_n)                                                  \
    KERNEL_ROW(name, gemm_sm80, SM80, 1, bf16, 128, "sm_80 sm_90 compute_80", GM_LAYOUT_tn, tile_m, tile_n, 64,        \
               stages, warps_m, warps_n, 1, GM_BATCH_no, GM_EXTENDED_extended, GM_SMEM_MAP_xor)
#define GEMV_ROW(name, arch, tile_m, tile_n, warps_k, warps_n)                                                         \
    KERNEL_ROW(name, gemv, arch, 1, bf16, 64, "sm_80", tile_m, tile_n, 256 * (warps_k), 4, warps_k, warps_n)

/* Kernels of bf16 and layout tn that may be chosen. */
#define SM90(tile_m, tile_n, stages, cluster_m, cluster_n, letters)                                                    \
    SM90_ROW("sm90_" #tile_m "x" #tile_n "_" #cluster_m "x" #cluster_n "_" #letters, 1, bf16, tn, tile_m, tile_n, 64,  \
             stages, cluster_m, cluster_n, letters, 128)
#define SM80(tile_m, tile_n, tile_k, stages, warps_m, warps_n, warp_k)                                                 \
    SM80_ROW("sm80_" #tile_m "x" #tile_n "_w" #warps_m "x" #warps_n "k" #warp_k, 1, bf16, tn, tile_m, tile_n, tile_k,  \
             stages, warps_m, warps_n, warp_k)
#define GEMV(arch, tile_m, tile_n, warps_k, warps_n)                                                                   \
    GEMV_ROW("gemv_" #arch "_" #tile_m "x" #tile_n, arch, tile_m, tile_n, warps_k, warps_n)

/* ---- questions -------------------------------------------------------------------------------------- */

/* With every default filled in. */
struct gm_gemm_problem normalized(struct gm_gemm_problem problem);

/* The planner's answers for a caller's problem, which is normalised and not simplified; `options` may be NULL. */
struct gm_verdict judge(const struct gm_kernel *kernel, const struct gm_device *device, struct gm_gemm_problem problem,
                        const struct gm_plan_options *options);
struct gm_choice choose(const struct gm_kernel *kernels, size_t count, const struct gm_device *device,
                        struct gm_gemm_problem problem, const struct gm_plan_options *options);
/* What the last judge() said. */
extern char judged[232];
#define assert_judged(words) ck_assert_msg(strstr(judged, (words)) != NULL, "\"%s\" lacks \"%s\"", judged, (words))

static inline int tile_m_of(const struct gm_kernel *kernel) {
    return gm_gemm_variant(kernel).tile_m;
}
static inline int tile_n_of(const struct gm_kernel *kernel) {
    return gm_gemm_variant(kernel).tile_n;
}
/* Microseconds that the model predicts of a normalised problem with no tile divided. */
double cost_us(const struct gm_kernel *kernel, const struct gm_gemm_problem *problem, const struct gm_device *device);

#endif
