/* SPDX-License-Identifier: Apache-2.0 */
/* How many blocks of a kernel an SM holds at once: on paper, and as the driver says. */
#include "lab/residency.h"

#include "common/arith.h"
#include "host/image.h"
#include "host/occupancy.h"
#include "lab/modules.h"

enum {
    LANES = 32,
    QUARTERS = 4, /* of an SM, each with its own registers */
    REGISTERS_OF_QUARTER = 16384,
    REGISTER_UNIT = 256, /* of a warp */
    SHARED_WITHOUT_ASKING = 48 << 10
};

int residency_model(const struct gm_device *device, const struct residency *block) {
    const int warps = GM_CEIL_DIV(block->threads, LANES);
    if (block->threads < 1 || block->threads > 1024 || block->shared_bytes > (size_t)device->smem_per_block_bytes)
        return 0;
    const int of_warp = GM_CEIL_DIV(block->registers * LANES, REGISTER_UNIT) * REGISTER_UNIT;
    const int by_registers = of_warp ? REGISTERS_OF_QUARTER / of_warp * QUARTERS / warps : device->max_threads_per_sm;
    const int by_threads = device->max_threads_per_sm / (warps * LANES);
    const int by_shared = gm_blocks_per_sm(device, (int64_t)block->shared_bytes); /* and by the number of blocks */
    return GM_MIN(GM_MIN(by_registers, by_threads), by_shared);
}

int residency_open(struct lab *lab, const char *module, CUlibrary *library) {
    const struct lab_module *row = lab_module_find(module);
    if (!row)
        return complain("this build has no module %s", module);
    const struct gm_image_step step = gm_image_load(lab->gpu.drv, row->image, library);
    return step.result == CUDA_SUCCESS ? 0 : gpu_fail(step.result, step.name);
}

int residency_function(struct lab *lab, CUlibrary library, const char *kernel, size_t dynamic_bytes,
                       CUfunction *function) {
    const int asked = dynamic_bytes > SHARED_WITHOUT_ASKING ? (int)dynamic_bytes : 0;
    const struct gm_image_step step = gm_image_function(lab->gpu.drv, library, kernel, asked, function);
    return step.result == CUDA_SUCCESS ? 0 : gpu_fail(step.result, step.name);
}

int residency_prefer_shared(struct lab *lab, CUfunction function) {
    GPU_TRY(&lab->gpu, cuFuncSetAttribute, function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
            RESIDENCY_CARVE_OUT - 1);
    return 0;
}

int residency_of(struct lab *lab, CUfunction function, int threads, size_t dynamic_bytes, struct residency *block) {
    int fixed;
    *block = (struct residency){.threads = threads};
    GPU_TRY(&lab->gpu, cuFuncGetAttribute, &block->registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function);
    GPU_TRY(&lab->gpu, cuFuncGetAttribute, &fixed, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function);
    block->shared_bytes = (size_t)fixed + dynamic_bytes;
    return 0;
}

int residency_by_driver(struct lab *lab, CUfunction function, int threads, size_t dynamic_bytes, int *blocks) {
    GPU_TRY(&lab->gpu, cuOccupancyMaxActiveBlocksPerMultiprocessor, blocks, function, threads, dynamic_bytes);
    return 0;
}

void residency_answer(const struct lab *lab, struct lab_quantity *quantity, double value) {
    *(lab->simulated ? &quantity->simulated : &quantity->counted) = value;
}
