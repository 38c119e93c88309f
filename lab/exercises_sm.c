/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of the exercises on how much shared memory there is, the blocks of an SM, profiling, FFTs, and the gallery. */
#include "lab/exercises.h"

#include "common/arith.h"
#include "gristmill/smem.h"
#include "host/occupancy.h"
#include "lab/fft_model.h"
#include "lab/ladders.h"
#include "lab/residency.h"

enum { KB = 1 << 10 };

static struct gm_device model(const char *name) {
    struct gm_device device = {.size = sizeof device};
    (void)gm_device_model(name, &device); /* unknown: no block fits it */
    return device;
}

static int blocks_of(const char *name, int threads, int registers, size_t shared_bytes) {
    const struct gm_device device = model(name);
    const struct residency block = {threads, registers, shared_bytes};
    return residency_model(&device, &block);
}

/* ---- capacity ------------------------------------------------------------------------------------------- */

int64_t exercise_blocks_of_82_kb(void) {
    const struct gm_device device = model("a100");
    return gm_blocks_per_sm(&device, 82 * KB);
}

int64_t exercise_carve_out_of_30(void) {
    static const int capacities[] = {0, 8, 16, 32, 64, 100, 132, 164, 196, 228}; /* of 9.0, in KB */
    int i = 0;
    while (100 * capacities[i] < 30 * 228)
        i++;
    return capacities[i];
}

int64_t exercise_opt_in_beside_static(void) {
    return model("h100").smem_per_block_bytes - 4 * 4096;
}

int64_t exercise_models_that_lose(void) {
    static const char *const models[] = {"a100", "a10", "rtx4090", "h100", "h200"};
    int lose = 0;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        const struct gm_device device = model(models[i]);
        lose += gm_blocks_per_sm(&device, INT64_C(64) * 65 * 4) < gm_blocks_per_sm(&device, INT64_C(64) * 64 * 4);
    }
    return lose;
}

int64_t exercise_smallest_bound(void) {
    return blocks_of("a100", 256, 64, 20 * KB);
}

/* ---- occupancy ------------------------------------------------------------------------------------------ */

int64_t exercise_blocks_of_96(void) {
    return blocks_of("h200", 96, 32, 0);
}

int64_t exercise_a_65th_register(void) {
    return blocks_of("h200", 256, 65, 0);
}

int64_t exercise_occupancy_of_75_kb(void) {
    const int threads = 128 * blocks_of("h200", 128, 32, 75 * KB), all = model("h200").max_threads_per_sm;
    return (100 * threads + all / 2) / all;
}

int64_t exercise_launch_bounds(void) {
    int registers = 255;
    while (registers > 0 && blocks_of("h200", 256, registers, 0) < 3)
        registers--;
    return registers;
}

int64_t exercise_blocks_under_way(void) {
    return GM_CEIL_DIV(28 * KB, 256 * 8 * 4);
}

/* ---- profiler ------------------------------------------------------------------------------------------- */

int64_t exercise_wavefronts_of_xor(void) {
    return (int64_t)(4096 * transpose_wavefronts(TRANSPOSE_STEP_XOR).load);
}

int64_t exercise_busy_pipe(void) {
    const int64_t clocks = INT64_C(132) * 200 * 1980;
    return (100 * INT64_C(3000000) + clocks / 2) / clocks;
}

/* Wavefronts of a load of `width` bytes a lane, side by side. */
static int64_t ideal_of(uint32_t width) {
    struct gm_access access = {.size = sizeof access, .kind = GM_ACCESS_LOAD, .width = width};
    struct gm_bank_cost cost = {.size = sizeof cost};
    for (uint32_t lane = 0; lane < GM_LANES; lane++)
        access.address[lane] = width * lane;
    return gm_bank_cost(&access, &cost) == GM_OK ? cost.wavefronts : 0;
}

int64_t exercise_excess_of_four(void) {
    return 4 - ideal_of(16);
}

int64_t exercise_excess_of_eight(void) {
    return 8 - ideal_of(8);
}

int64_t exercise_most_to_gain(void) {
    return 40 * 3 / 4;
}

/* ---- fft ------------------------------------------------------------------------------------------------ */

int64_t exercise_reversed_order(void) {
    struct gm_access access = {.size = sizeof access, .kind = GM_ACCESS_STORE, .width = 4};
    struct gm_bank_cost cost = {.size = sizeof cost};
    for (uint32_t lane = 0; lane < GM_LANES; lane++)
        access.address[lane] = 4 * fft_reversed(lane, 2);
    return gm_bank_cost(&access, &cost) == GM_OK ? cost.wavefronts : 0;
}

/* Of one plane, an access. */
static int64_t loads_of_pass(enum fft_step step, uint32_t d) {
    return (int64_t)fft_pass_wavefronts(step, d).load / (2 * FFT_POINTS / GM_LANES);
}

int64_t exercise_pass_of_eight(void) {
    return loads_of_pass(FFT_STEP_PLAIN, 8);
}

int64_t exercise_passes_that_a_pad_cures(void) {
    int cured = 0;
    for (uint32_t d = 1; d <= 16; d *= 2)
        cured += loads_of_pass(FFT_STEP_PADDED, d) == 1;
    return cured;
}

int64_t exercise_masked_bank(void) {
    return fft_word(FFT_STEP_XOR, 44) % 32;
}

int64_t exercise_two_passes(void) {
    return 2 * (1 + 2) * (2 * FFT_POINTS / GM_LANES);
}

/* ---- gallery -------------------------------------------------------------------------------------------- */

int64_t exercise_tiles_unwaited(void) {
    enum { STAGES = 3, TILES = 5 };
    int unwaited = 0;
    for (int tile = 0; tile < TILES; tile++) /* groups: one a tile, two ahead; wait_prior(2) leaves the newest two */
        unwaited += GM_MIN(tile + STAGES, TILES) - (STAGES - 1) <= tile;
    return unwaited;
}

int64_t exercise_threads_at_the_barrier(void) {
    return 64;
}

int64_t exercise_most_of_a_4090(void) {
    return model("rtx4090").smem_per_block_bytes;
}

int64_t exercise_one_side_only(void) {
    return 3 ^ 5;
}

int64_t exercise_sectors_of_a_column(void) {
    enum { SECTOR = 32, APART = 64 * 4 };
    return GM_LANES * GM_MIN(APART, SECTOR) / SECTOR;
}
