/* SPDX-License-Identifier: Apache-2.0 */
/* The stand-in driver: its functions, and what it writes into a tensor map for its kernel to read. */
#ifndef STANDIN_H
#define STANDIN_H

#include "host/driver.h"

#define DRIVER(name, abi, need, params) CUresult fake_##name params;
#include "host/driver.def"
#undef DRIVER

struct fake_map {
    uint64_t address;
    uint64_t dims[2];    /* elements, innermost first */
    uint64_t strides[4]; /* bytes */
};

#endif
