/* SPDX-License-Identifier: Apache-2.0 */
/* Where the lanes of a load, a store or an atomic find their bytes: shared by execute_{memory,atomic}.c. */
#ifndef SIM_TRANSFER_H
#define SIM_TRANSFER_H

#include <string.h>

#include "sim/memory/memory.h"

/* A lane's access: `count` elements of `element_bytes`, side by side. */
struct sim_transfer {
    uint32_t element_bytes, count, bytes;
    bool sign; /* loads extend by the sign */
    bool is_write, is_atomic;
    bool reads_too;      /* a write that reads as well: atomics */
    bool increment, cas; /* for the counters */
};

/* The type of choice k of the brackets SIM_TYPES in instructions.def, from 1. */
struct sim_transfer sim_transfer_of_type(uint32_t choice, uint32_t count);

enum sim_space { SIM_SPACE_GLOBAL, SIM_SPACE_SHARED, SIM_SPACE_LOCAL, SIM_SPACE_PARAM, SIM_SPACE_GENERIC };

/* Where each lane's bytes are. NULL: the access is not made (a report was written). */
struct sim_lanes {
    uint64_t address[PTX_LANES];      /* as the operand gave it */
    uint8_t *at[PTX_LANES];           /* of lanes that are off: anything */
    struct sim_cta *owner[PTX_LANES]; /* shared memory: whose, and where in it */
    uint32_t offset[PTX_LANES];
    uint32_t shared;  /* lanes for which owner and offset are set */
    uint32_t tainted; /* lanes that read tainted bytes of shared memory */
    bool contiguous;  /* all 32 lanes, at[n] = at[0] + n * bytes */
};

/* Finds the bytes of the lanes of `mask`: checks, reports, counts; writes are marked as written. False: a fault ends
 * the launch. */
bool sim_locate(struct sim_warp *warp, const struct ptx_instruction *i, const struct ptx_operand *operand,
                enum sim_space space, const struct sim_transfer *transfer, uint32_t mask, struct sim_lanes *lanes);

/* An element's bytes, extended to 64 bits. */
static inline uint64_t sim_fetch(const uint8_t *at, uint32_t bytes, bool sign) {
    uint64_t value = 0;
    switch (bytes) { /* constant sizes are single moves */
    case 1:
        value = *at;
        break;
    case 2:
        memcpy(&value, at, 2);
        break;
    case 4:
        memcpy(&value, at, 4);
        break;
    default:
        memcpy(&value, at, 8);
        return value;
    }
    return sign && value >> (8 * bytes - 1) ? value | UINT64_MAX << (8 * bytes) : value;
}
static inline void sim_put(uint8_t *at, uint32_t bytes, uint64_t value) {
    switch (bytes) {
    case 1:
        *at = (uint8_t)value;
        break;
    case 2:
        memcpy(at, &value, 2);
        break;
    case 4:
        memcpy(at, &value, 4);
        break;
    default:
        memcpy(at, &value, 8);
    }
}

/* The lanes in which some of these bytes, counted from where the lane's begin, hold a tainted value (of those in
 * lanes->tainted: the columns of a vector differ). */
uint32_t sim_taint_read(const struct sim_lanes *lanes, uint32_t first, uint32_t bytes);
/* Marks what lanes of `mask` have written to shared memory, [first, first + bytes) of their access, as tainted. */
void sim_taint_written(const struct sim_lanes *lanes, uint32_t mask, uint32_t first, uint32_t bytes);

#endif
