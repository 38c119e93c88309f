/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of opening the driver, apart from dlopen, so that tests can play a broken libcuda. */
#ifndef GM_DRIVER_LOAD_H
#define GM_DRIVER_LOAD_H

#include "host/driver.h"
#include "gristmill/gristmill.h"

/* As dlsym: the address of `name` in `library`, NULL if it is not there. */
typedef void *(*gm_symbol_fn)(void *library, const char *name);

struct gm_driver_failure {
    enum gm_status status; /* GM_OK: the table is filled and cuInit has run */
    CUresult result;
    int may_pass; /* 1: the next call should try again */
    char sentence[256];
};

/* The file that a value of GM_DRIVER means: NULL, "" and "cuda" are libcuda's, "sim" is the simulated GPU's, a value
 * with a slash is a file itself. NULL: anything else. */
const char *gm_driver_file(const char *choice);

/* Fills `driver` from `library` and calls cuInit. */
struct gm_driver_failure gm_driver_load(struct gm_driver *driver, gm_symbol_fn symbol, void *library);

#endif
