/* SPDX-License-Identifier: Apache-2.0 */
/* A driver that counts and records calls instead of making them. */
#ifndef GM_FAKE_DRIVER_H
#define GM_FAKE_DRIVER_H

#include "common/gemm_sm80/params.h"
#include "common/gemm_sm90/params.h"
#include "gristmill/gristmill.h"
#include "host/driver.h"
#include "host/plan.h"
#include "host/tensor_map.h"

enum fake_function {
#define DRIVER(name, abi, need, params) FAKE_##name,
#include "host/driver.def"
#undef DRIVER
    FAKE_FUNCTIONS
};

#define FAKE_DEVICES        2
#define FAKE_MAPS           16
#define FAKE_FOREIGN_STREAM ((void *)0xbad0) /* a stream of another device: INVALID_HANDLE, always */

struct fake_launch {
    CUlaunchConfig config; /* attrs points nowhere any more */
    CUlaunchAttribute attributes[4];
    int kernel; /* row of the table */
    union {
        struct gm_gemm_sm90_params sm90;
        struct gm_gemm_sm80_params sm80;
        struct gm_gemm_sm90_extended_params sm90_extended;
        struct gm_gemm_sm80_extended_params sm80_extended;
        unsigned char bytes[GM_PARAMS_MAX];
    } params;
};

/* All of it may be read and set by a test between calls of the library. */
extern struct fake {
    struct gm_device devices[FAKE_DEVICES];
    int count[FAKE_FUNCTIONS];       /* calls */
    CUresult result[FAKE_FUNCTIONS]; /* what the function answers, unless CUDA_SUCCESS */
    struct fake_launch launch;       /* the last one */
    struct gm_map_desc maps[FAKE_MAPS];
    int map_count;      /* maps encoded; the last FAKE_MAPS are kept */
    int libraries;      /* loaded and not unloaded */
    int retained;       /* primary contexts */
    int smem_attribute; /* of the last cuFuncSetAttribute */
    int graphs;         /* and executable ones, not destroyed; 0 without fake_install_graphs() */
    int collisions;     /* calls that named an executable graph while another did */
    void *capturing;    /* the stream that captures */
    int capture_mode;   /* of the thread */
    int stream_device;  /* whose context cuStreamGetCtx answers */
} fake;

/* Resets the record to two H200s, installs the driver, no context current. */
void fake_install(void);
/* The same driver with graphs of one kernel node, a launch of which is recorded like any other; without `missing`, a
 * function of them, FAKE_FUNCTIONS: with all. */
void fake_install_graphs(enum fake_function missing);
/* Uninstalls it; fails the test if a library or a context is still held. */
void fake_remove(void);
/* Zeroes the counts; their sum. */
void fake_clear_counts(void);
int fake_calls(void);
/* Makes the context of a device current on this thread; -1: none. */
void fake_make_current(int device);
/* Depth of this thread's context stack; its top. */
int fake_context_depth(void);
CUcontext fake_current(void);
/* The address that a map in a recorded launch points at, and the description it was encoded with. */
uint64_t fake_map_address(const struct gm_tensor_map *map);
struct gm_map_desc fake_map_desc(const struct gm_tensor_map *map);

/* For the fake's own files: counts the call and tells what it shall answer; adds to a counter; keeps a launch. */
CUresult fake_enter(enum fake_function function);
void fake_add(int *counter, int change);
CUresult fake_record(const CUlaunchConfig *config, CUfunction function, const void *params);
extern const struct gm_driver fake_driver;
#define ENTER(name)                                                                                                    \
    do {                                                                                                               \
        CUresult result_ = fake_enter(FAKE_##name);                                                                    \
        if (result_ != CUDA_SUCCESS)                                                                                   \
            return result_;                                                                                            \
    } while (0)

#endif
