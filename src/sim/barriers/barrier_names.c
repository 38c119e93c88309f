/* SPDX-License-Identifier: Apache-2.0 */
/* What reports call an mbarrier: by the variable of shared memory that it lies in. */
#include "sim/barriers/barrier_state.h"

#include <stdio.h>

struct sim_barrier_name sim_barrier_name(const struct sim_cta *cta, uint32_t offset) {
    struct sim_barrier_name name;
    const struct ptx_function *function = cta->machine->function;
    for (uint32_t v = 0; function && v < function->variable_count; v++) {
        const struct ptx_variable *variable = &function->variables[v];
        const uint64_t from = SIM_SHARED_RESERVED + variable->offset;
        if (variable->space != PTX_SPACE_SHARED || variable->is_extern || offset < from ||
            offset - from >= variable->bytes)
            continue;
        if (offset == from)
            snprintf(name.text, sizeof name.text, "%.60s (0x%x)", variable->name, offset);
        else
            snprintf(name.text, sizeof name.text, "%.60s+%u (0x%x)", variable->name, (unsigned)(offset - from), offset);
        return name;
    }
    snprintf(name.text, sizeof name.text, "0x%x", offset);
    return name;
}
