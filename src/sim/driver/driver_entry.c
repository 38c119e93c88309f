/* SPDX-License-Identifier: Apache-2.0 */
/* cuGetProcAddress: every function of the driver, and the simulator's own, by name. */
#include "sim/driver/driver_sim.h"

#include <string.h>

SIM_EXPORT CUresult cuGetProcAddress_v2(const char *name, void **address, int version, uint64_t flags, int *found);
SIM_EXPORT CUresult cuGetProcAddress(const char *name, void **address, int version, uint64_t flags);

enum { FLAGS_MAX = 3 }; /* legacy and per-thread default streams */

typedef void any_function(void);
static const struct {
    const char *name;
    int abi; /* the CUDA version that brought this prototype */
    any_function *function;
} functions[] = {
#define DRIVER(name, abi, need, params) {#name, abi, (any_function *)name},
#include "sim/driver/driver_extra.def"
#include "host/driver.def"
#undef DRIVER
    {"cuGetProcAddress", 12000, (any_function *)cuGetProcAddress_v2},
#define OWN(name) {#name, 0, (any_function *)name},
    OWN(gm_sim_report_kind_name) OWN(gm_sim_report_count) OWN(gm_sim_report_get) OWN(gm_sim_reports_clear)
        OWN(gm_sim_set_seed) OWN(gm_sim_set_counting) OWN(gm_sim_set_reports) OWN(gm_sim_metric) OWN(gm_sim_line_count)
            OWN(gm_sim_line_get) OWN(gm_sim_line_text) OWN(gm_sim_set_trace) OWN(gm_sim_set_step) OWN(gm_sim_view_line)
                OWN(gm_sim_view_text) OWN(gm_sim_view_where) OWN(gm_sim_view_register) OWN(gm_sim_view_operand)
                    OWN(gm_sim_view_shared) OWN(gm_sim_view_mbarrier)};

/* As the real driver: a name it lacks is no error, but leaves the address NULL. */
CUresult cuGetProcAddress_v2(const char *name, void **address, int version, uint64_t flags, int *found) {
    int driver_version = 0;
    if (!name || !address || flags > FLAGS_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    cuDriverGetVersion(&driver_version);
    if (version > driver_version)
        return CUDA_ERROR_INVALID_VALUE;
    *address = NULL;
    int status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (strcmp(functions[i].name, name) != 0)
            continue;
        status = version < functions[i].abi ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT : CU_GET_PROC_ADDRESS_SUCCESS;
        if (status == CU_GET_PROC_ADDRESS_SUCCESS)
            memcpy(address, &functions[i].function, sizeof *address);
    }
    if (found)
        *found = status;
    return CUDA_SUCCESS;
}

CUresult cuGetProcAddress(const char *name, void **address, int version, uint64_t flags) {
    const CUresult result = cuGetProcAddress_v2(name, address, version, flags, NULL);
    return result == CUDA_SUCCESS && !*address ? CUDA_ERROR_NOT_FOUND : result;
}
