/* SPDX-License-Identifier: Apache-2.0 */
/* A context: one device, and the kernels loaded on it so far. */
#ifndef GM_CONTEXT_H
#define GM_CONTEXT_H

#include "host/driver.h"
#include "gristmill/gristmill.h"

#include <pthread.h>

/* One kernel in one context. A failure is kept, by kernel, and reported again without another try. */
struct gm_loaded_kernel {
    enum { GM_NOT_LOADED = 0, GM_LOADED, GM_LOAD_FAILED } state;
    CUlibrary library;
    CUresult result;  /* of the step that failed */
    const char *step; /* its name */
};

struct gm_context {
    const struct gm_driver *driver;
    struct gm_device device;
    CUdevice id;
    CUcontext cuda;
    pthread_mutex_t lock;            /* of `loaded` */
    struct gm_loaded_kernel *loaded; /* one per kernel of the table */
};

/* The launchable function of a kernel, loaded at the first call. The context must be current on this thread. */
enum gm_status gm_context_load(gm_context *context, int index, CUfunction *function);

/* GM_OK while the context, which must be current on this thread, has this function; else it was reset or destroyed, and
 * that is the failure. `result` is what a launch in it came to. */
enum gm_status gm_context_check(const gm_context *context, CUfunction function, CUresult result);

/* Makes the context current on this thread, until gm_context_leave(). */
enum gm_status gm_context_enter(const gm_context *context);
void gm_context_leave(const gm_context *context);

#endif
