/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of the exercises on banks, padding, vectors, swizzles and cp.async, by gristmill/smem.h. */
#include "lab/exercises.h"

#include "gristmill/smem.h"

/* ---- accesses ------------------------------------------------------------------------------------------- */

/* Wavefronts of an access with lane i at `step` * i; none where it is illegal. */
static uint32_t wavefronts_of(enum gm_access_kind kind, uint32_t width, uint32_t step) {
    struct gm_access access = {.size = sizeof access, .kind = kind, .width = width};
    struct gm_bank_cost cost = {.size = sizeof cost};
    for (uint32_t lane = 0; lane < GM_LANES; lane++)
        access.address[lane] = step * lane;
    return gm_bank_cost(&access, &cost) == GM_OK ? cost.wavefronts : 0;
}

static uint32_t loads(uint32_t width, uint32_t step) {
    return wavefronts_of(GM_ACCESS_LOAD, width, step);
}

/* The smallest pad of rows of so many bytes, a multiple of `unit`, with which a column of lanes has no conflict. */
static uint32_t least_pad(uint32_t width, uint32_t row_bytes, uint32_t unit, uint32_t ideal) {
    uint32_t pad = 0;
    while (loads(width, row_bytes + pad) != ideal && pad < row_bytes)
        pad += unit;
    return pad;
}

/* Of a load of 4 bytes at any addresses; 0: they are none. */
static uint32_t loads_at(const int64_t *address) {
    struct gm_access access = {.size = sizeof access, .kind = GM_ACCESS_LOAD, .width = 4};
    struct gm_bank_cost cost = {.size = sizeof cost};
    for (int lane = 0; lane < GM_LANES; lane++) {
        if (address[lane] < 0 || address[lane] > UINT32_MAX)
            return 0;
        access.address[lane] = (uint32_t)address[lane];
    }
    return gm_bank_cost(&access, &cost) == GM_OK ? cost.wavefronts : 0;
}

/* ---- banks ---------------------------------------------------------------------------------------------- */

int64_t exercise_bank_of_a_byte(void) {
    return 1000 / 4 % GM_BANKS;
}

int64_t exercise_stride_of_12(void) {
    return loads(4, 12 * 4);
}

int64_t exercise_quarters_share(void) {
    int64_t address[GM_LANES];
    for (int lane = 0; lane < GM_LANES; lane++)
        address[lane] = lane / 4 * 4;
    return loads_at(address);
}

int64_t exercise_two_halves(void) {
    int64_t address[GM_LANES];
    for (int lane = 0; lane < GM_LANES; lane++)
        address[lane] = (lane % 16 + lane / 16 * 32) * 4;
    return loads_at(address);
}

int64_t exercise_atomics_on_one_word(void) {
    return wavefronts_of(GM_ACCESS_ATOMIC, 4, 0);
}

/* ---- padding -------------------------------------------------------------------------------------------- */

int64_t exercise_column_of_48(void) {
    return loads(4, 48 * 4);
}

int64_t exercise_pad_of_48(void) {
    return least_pad(4, 48 * 4, 4, 1) / 4;
}

int64_t exercise_pad_of_16_bits(void) {
    return least_pad(2, 64 * 2, 2, 1) / 2;
}

int64_t exercise_bytes_of_a_pad(void) {
    return 64 * 4;
}

bool exercise_padded_address(const int64_t *address) {
    for (int lane = 0; lane < GM_LANES; lane++)
        if (address[lane] != (lane * 33 + 5) * 4)
            return false;
    return true;
}

/* ---- vectors -------------------------------------------------------------------------------------------- */

int64_t exercise_ideal_of_float4(void) {
    return loads(16, 16);
}

int64_t exercise_every_other_float4(void) {
    return loads(16, 32);
}

int64_t exercise_column_of_float4(void) {
    return loads(16, 128);
}

int64_t exercise_pad_of_float4(void) {
    return least_pad(16, 128, 16, loads(16, 16));
}

int64_t exercise_ldmatrix_of_128(void) {
    return wavefronts_of(GM_ACCESS_LDMATRIX, 16, 128);
}

/* ---- swizzle -------------------------------------------------------------------------------------------- */

int64_t exercise_chunk_in_128B(void) {
    return gm_swizzle_apply(gm_swizzle_of_mode(GM_SWIZZLE_128B), 5 * 128 + 3 * 16) / 16 % 8;
}

int64_t exercise_address_in_64B(void) {
    return gm_swizzle_apply(gm_swizzle_of_mode(GM_SWIZZLE_64B), 0x1f0);
}

bool exercise_swizzled_column(const int64_t *address) {
    for (int lane = 0; lane < GM_LANES; lane++)
        if (address[lane] < 0 || address[lane] / 128 != lane)
            return false;
    return loads_at(address) == 1;
}

int64_t exercise_phase(void) {
    return gm_swizzle_apply(gm_swizzle_of_mode(GM_SWIZZLE_128B), 1152) / 16 % 8;
}

int64_t exercise_bytes_of_pattern(void) {
    return gm_swizzle_pattern_bytes(GM_SWIZZLE_128B);
}

/* ---- cp-async ------------------------------------------------------------------------------------------- */

int64_t exercise_groups_in_flight(void) {
    return 4 - 2;
}

int64_t exercise_bytes_of_a_ring(void) {
    return 3 * (128 * 64 + 64 * 128) * 2;
}

int64_t exercise_stages_on_a100(void) {
    struct gm_device device = {.size = sizeof device};
    return gm_device_model("a100", &device) == GM_OK ? (device.smem_per_block_bytes - 1024) / (32 * 1024) : 0;
}

int64_t exercise_copies_of_one_word(void) {
    return wavefronts_of(GM_ACCESS_CP_ASYNC, 4, 0);
}

int64_t exercise_column_of_copies(void) {
    return wavefronts_of(GM_ACCESS_CP_ASYNC, 16, 128);
}
