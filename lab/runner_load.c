/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel of a point, loaded as the library loads its own: module -> library -> function. */
#include <string.h>

#include "host/image.h"
#include "lab/runner.h"

#define SHARED_WITHOUT_ASKING (48u << 10)
#define CLUSTER_PORTABLE      8u /* a larger one has to be allowed */

static int find_library(struct runner *runner, const char *name, CUlibrary *library) {
    for (size_t i = 0; i < runner->module_count; i++) {
        if (strcmp(runner->modules[i]->name, name) == 0) {
            *library = runner->libraries[i];
            return 0;
        }
    }
    const struct lab_module *module = lab_module_find(name);
    if (!module)
        return complain("this build has no module %s; lab/modules.def lists all, GM_ARCHS picks", name);
    struct gm_image_step step = gm_image_load(runner->lab->gpu.drv, module->image, library);
    if (step.result != CUDA_SUCCESS)
        return complain("module %s does not load: %s: %s", name, step.name, gm_driver_error_name(step.result));
    runner->modules[runner->module_count] = module;
    runner->libraries[runner->module_count++] = *library;
    return 0;
}

/* The most dynamic shared memory that any point asks of the same kernel, where that has to be allowed first. */
static int shared_to_allow(const struct lab *lab, const struct lab_launch *launch) {
    unsigned most = 0;
    for (size_t i = 0; i < lab->point_count; i++) {
        const struct lab_launch *other = &lab->points[i].launch;
        bool same =
            other->kernel && strcmp(other->kernel, launch->kernel) == 0 && strcmp(other->module, launch->module) == 0;
        if (same && other->shared_bytes > most)
            most = other->shared_bytes;
    }
    return most > SHARED_WITHOUT_ASKING ? (int)most : 0;
}

/* The driver reads as many bytes behind each pointer as the kernel declares, so a mistake there is best found before the
 * launch. A driver older than 12.4 does not tell. */
static int check_arguments(const struct gpu *gpu, const struct lab_launch *launch, CUfunction function) {
    size_t offset, bytes;
    if (!gpu->drv->cuFuncGetParamInfo)
        return 0;
    for (size_t i = 0; i < launch->argument_count; i++) {
        CUresult result = gpu->drv->cuFuncGetParamInfo(function, i, &offset, &bytes);
        if (result == CUDA_ERROR_INVALID_VALUE)
            return complain("kernel %s takes %zu parameters, not %zu", launch->kernel, i, launch->argument_count);
        if (result != CUDA_SUCCESS)
            return 0;
        if (bytes != launch->argument_sizes[i])
            return complain("parameter %zu of kernel %s has %zu bytes, not %zu", i + 1, launch->kernel, bytes,
                            launch->argument_sizes[i]);
    }
    if (gpu->drv->cuFuncGetParamInfo(function, launch->argument_count, &offset, &bytes) == CUDA_SUCCESS)
        return complain("kernel %s takes more than %zu parameters", launch->kernel, launch->argument_count);
    return 0;
}

int runner_load(struct runner *runner, const struct lab_launch *launch, CUfunction *function) {
    const struct gpu *gpu = &runner->lab->gpu;
    CUlibrary library;
    if (find_library(runner, launch->module, &library) != 0)
        return -1;
    struct gm_image_step step =
        gm_image_function(gpu->drv, library, launch->kernel, shared_to_allow(runner->lab, launch), function);
    if (step.result != CUDA_SUCCESS)
        return complain("kernel %s of module %s: %s: %s", launch->kernel, launch->module, step.name,
                        gm_driver_error_name(step.result));
    if (launch->cluster[0] * launch->cluster[1] * launch->cluster[2] > CLUSTER_PORTABLE)
        GPU_TRY(gpu, cuFuncSetAttribute, *function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
    if (launch->carve_out)
        GPU_TRY(gpu, cuFuncSetAttribute, *function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
                (int)launch->carve_out - 1);
    return check_arguments(gpu, launch, *function);
}
