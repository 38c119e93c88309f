/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA driver, opened at run time. */
#ifndef GM_DRIVER_H
#define GM_DRIVER_H

#include "host/cuda_abi.h"

/* One member per row of driver.def, named as the driver names it: drv->cuMemAlloc(...). Members marked `speed`
 * or `tool` may be NULL in a driver that lacks them; `core` members never are. */
struct gm_driver {
    int version; /* as cuDriverGetVersion: 13000 = 13.0 */
#define DRIVER(name, abi, need, params) CUresult(*name) params;
#include "host/driver.def"
#undef DRIVER
};

/* Opens libcuda.so.1, or the driver that the environment's GM_DRIVER names, and starts it, if that has not been done.
 * NULL when that failed; then the reason is in this thread's gm_last_error(), and where it may pass (no such file, no
 * memory, a GPU that is not ready yet), the next call tries again. Thread-safe. */
const struct gm_driver *gm_driver(void);

/* For programs, before they use the library from several threads: where no driver opens and GM_DRIVER is not set, the
 * simulated GPU takes its place. 1: it now does. */
int gm_driver_fall_back(void);

/* A symbol of the opened driver beyond the table: the simulated GPU's own functions. NULL: it has none of that name. */
void *gm_driver_symbol(const char *name);
/* 1: gm_driver() is the simulated GPU. */
int gm_driver_is_simulated(void);

/* Tests: use this table instead of the driver's from now on (NULL: back to the driver). Not thread-safe. */
void gm_driver_install(const struct gm_driver *driver);

/* "CUDA_ERROR_INVALID_VALUE", or "CUresult 123" where the driver cannot say. */
const char *gm_driver_error_name(CUresult result);

#endif
