/* SPDX-License-Identifier: Apache-2.0 */
/* Tuning ledgers over a small table. */
#include "ledgers.h"

#include <stdio.h>
#include <string.h>

#define SM90(name_, type_, tm, tn, stages_, state) SM90_OF(name_, type_, tm, tn, stages_, state, GM_WARPS_w1)
#define SM90_OF(name_, type_, tm, tn, stages_, state, warps_)                                                          \
    {                                                                                                                  \
        .name = name_, .arch = GM_ARCH_SM90, .type = type_, .production = state, .tile_m = tm, .tile_n = tn,           \
        .tile_k = 64, .stages = stages_, .cluster_m = 1, .cluster_n = 1, .warps = warps_, .smem_map = GM_MAP_sw128,    \
        .threads = GM_SM90_THREADS(1), .registers = 168, .smem_bytes = GM_SM90_SMEM_BYTES(tm, tn, 64, stages_, 1),     \
        .targets = "sm_90a"                                                                                            \
    }

const struct gm_kernel ledger_rows[] = {
    SM90("a", GM_TYPE_bf16, 64, 64, 8, 1),
    SM90("b", GM_TYPE_bf16, 64, 256, 4, 1),
    {.name = "c",
     .arch = GM_ARCH_SM80,
     .production = 1,
     .tile_m = 64,
     .tile_n = 64,
     .tile_k = 32,
     .stages = 5,
     .cluster_m = 1,
     .cluster_n = 1,
     .warps = GM_WARPS_w2x2,
     .smem_map = GM_MAP_xor,
     .threads = GM_SM80_THREADS(GM_WARPS_w2x2),
     .registers = 128,
     .targets = "sm_80 sm_90 compute_80",
     .smem_bytes = GM_SM80_SMEM_BYTES(64, 64, 32, 5, GM_WARPS_w2x2, GM_LAYOUT_tn, GM_MAP_xor)},
    SM90("d", GM_TYPE_bf16, 64, 256, 4, 0),
    SM90("e", GM_TYPE_fp16, 64, 64, 8, 1),
    SM90("f", GM_TYPE_fp16, 64, 256, 4, 1),
    SM90_OF("g", GM_TYPE_bf16, 64, 64, 8, 1, GM_WARPS_w1r),
};

enum gm_status ledger_try_bytes(const char *text, size_t bytes, gm_ledger **ledger) {
    return gm_ledger_parse_with("the text", text, bytes, ledger_rows, LEDGER_ROWS, GM_STALE_REFUSED, ledger);
}

enum gm_status ledger_try(const char *text, gm_ledger **ledger) {
    return ledger_try_bytes(text, strlen(text), ledger);
}

gm_ledger *ledger_of(const char *lines) {
    char text[8192];
    gm_ledger *ledger = NULL;
    snprintf(text, sizeof text, HEAD "%s", lines);
    assert_ok(ledger_try(text, &ledger));
    return ledger;
}
