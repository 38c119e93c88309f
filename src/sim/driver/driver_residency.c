/* SPDX-License-Identifier: Apache-2.0 */
/* How many threads a block may have, how many registers a thread has; so, how many CTAs an SM holds, and how many
 * clusters the device. */
#include "sim/driver/driver_limits.h"

enum {
    REGISTER_FILE = 65536,
    REGISTER_UNIT = 256, /* a warp's registers come in units of so many */
    SHARED_UNIT = 128,
    SMALL_CARVEOUT = 16 << 10
};

/* ---- a kernel's threads and registers ---------------------------------------------------------------------------- */

int sim_block_limit(const struct ptx_function *code) {
    uint64_t threads = 1;
    for (int i = 0; i < 3; i++)
        threads *= code->max_threads[i] ? code->max_threads[i] : 1;
    const bool is_bounded = code->max_threads[0] && threads < SIM_BLOCK_THREADS_MAX;
    return is_bounded ? (int)threads : SIM_BLOCK_THREADS_MAX;
}

/* Of a kernel of the registry what ptxas gave it. Of others a guess, since PTX has as many registers as it likes: as
 * many as the launch bounds leave, and no more than it names. */
int sim_function_registers(const struct ptx_function *code, bool from_table) {
    enum { REGISTERS_MAX = 255, LEAST = 16, UNIT = 8, ROW_BYTES = 128 };
    const int known = from_table ? sim_table_registers(code->name) : 0;
    if (known)
        return known;
    const uint64_t threads = (uint64_t)sim_block_limit(code) * (code->min_ctas ? code->min_ctas : 1);
    const uint64_t left = REGISTER_FILE / threads / UNIT * UNIT;
    uint64_t named = code->register_bytes / ROW_BYTES;
    named = named > PTX_SPECIALS ? named - PTX_SPECIALS : 0;
    named = (named + UNIT - 1) / UNIT * UNIT;
    const uint64_t guess = named < left ? named : left;
    return guess < LEAST ? LEAST : guess > REGISTERS_MAX ? REGISTERS_MAX : (int)guess;
}

/* ---- CTAs ------------------------------------------------------------------------------------------------------- */

static int least(int a, int b) {
    return a < b ? a : b;
}

static int ctas_by_registers(int registers, int warps) {
    const int per_warp = (registers * PTX_LANES + REGISTER_UNIT - 1) / REGISTER_UNIT * REGISTER_UNIT;
    return REGISTER_FILE / (per_warp * warps);
}

int sim_ctas_per_sm(const struct CUfunc_st *function, uint32_t threads, uint64_t dynamic_shared) {
    const struct sim_device *device = sim_device_presented();
    const int warps = (int)((threads + PTX_LANES - 1) / PTX_LANES);
    const uint64_t bytes = function->code->static_shared_bytes + dynamic_shared;
    if (warps == 0 || bytes > (uint64_t)device->shared_per_block_optin)
        return 0;
    const int shared = (int)(bytes + SIM_SHARED_RESERVED + SHARED_UNIT - 1) / SHARED_UNIT * SHARED_UNIT;
    int ctas = least(device->threads_per_sm / (warps * PTX_LANES), sim_device_blocks_per_sm(device));
    ctas = least(ctas, ctas_by_registers(function->registers, warps));
    return least(ctas, device->shared_per_sm / shared);
}

/* ---- clusters -------------------------------------------------------------------------------------------------- */

/* A cluster lies in one GPC, one CTA or more an SM; but its GPC has at least as many SMs as it has CTAs. With that,
 * the GPCs of devices.c give what the driver of an H200 said for 64 combinations of size and shared memory
 * (`gristmill lab run cluster-limits`). It also took 8 CTAs of 1 KB an SM to be the most, where 32 would fit: the
 * shared memory of a kernel that asks for so little is not the whole SM's. */
int sim_clusters_resident(const struct CUfunc_st *function, const struct sim_shape *shape) {
    const struct sim_device *device = sim_device_presented();
    const int size = (int)(shape->cluster[0] * shape->cluster[1] * shape->cluster[2]);
    const int shared = (int)(function->code->static_shared_bytes + shape->dynamic_shared + SIM_SHARED_RESERVED);
    int ctas = sim_ctas_per_sm(function, shape->block[0] * shape->block[1] * shape->block[2], shape->dynamic_shared);
    if (shared * 8 <= SMALL_CARVEOUT)
        ctas = least(ctas, SMALL_CARVEOUT / shared);
    int clusters = 0;
    for (int i = 0, sms; (sms = sim_device_gpc(device, i)); i++)
        if (sms >= size)
            clusters += sms * ctas / size;
    return clusters;
}
