/* SPDX-License-Identifier: Apache-2.0 */
/* Element types by their code. */
#include "host/types.h"

#include "host/cuda_abi.h"

#include <string.h>

static const struct {
    const char *name;
    int tma;
} types[] = {
#define TYPE(name, value, bytes, exponent, mantissa, tma, ptx) [value] = {#name, CU_TENSOR_MAP_DATA_TYPE_##tma},
#include "common/types.def"
#undef TYPE
};
_Static_assert(sizeof types / sizeof *types == GM_TYPE_COUNT, "types are numbered from 0 without a gap");

const char *gm_type_name(enum gm_type type) {
    return types[type].name;
}

int gm_type_named(const char *name, size_t bytes) {
    for (int i = 0; i < GM_TYPE_COUNT; i++)
        if (strlen(types[i].name) == bytes && memcmp(types[i].name, name, bytes) == 0)
            return i;
    return -1;
}

int gm_type_tma(enum gm_type type) {
    return types[type].tma;
}
