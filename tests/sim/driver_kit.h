/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the simulated driver share: a started driver with a current context, and small kernels. */
#ifndef SIM_DRIVER_KIT_H
#define SIM_DRIVER_KIT_H

#include <check.h>

#include "sim/driver/driver_sim.h"

/* Fixture: the driver started, the primary context of device 0 current. */
void kit_start(void);
void kit_stop(void);
/* The same with the module of kit_ptx loaded. */
extern CUlibrary kit_module;
void kit_start_module(void);
void kit_stop_module(void);
/* The same with a kernel, 4 KB of zeros and a stream besides. */
extern CUfunction kit_filler;
extern CUdeviceptr kit_memory;
extern CUstream kit_stream;
void kit_start_stream(void);
CUcontext kit_context(void);

/* The driver starts once, and a fault ends its context: such tests need a process of their own, which Check gives them
 * unless CK_FORK is "no". True: leave the test. */
bool kit_shares_process(void);

#define kit_gives(call, expected)                                                                                      \
    do {                                                                                                               \
        const CUresult got_ = (call), want_ = (expected);                                                              \
        ck_assert_msg(got_ == want_, "%s: %s, expected %s", #call, sim_error_name(got_) ? sim_error_name(got_) : "?",  \
                      sim_error_name(want_));                                                                          \
    } while (0)
#define kit_ok(call) kit_gives(call, CUDA_SUCCESS)

/* Not a handle of anything. */
#define KIT_GARBAGE ((void *)(uintptr_t)0x1234560)

/* A module for sm_80 with the kernels
 *   fill(u64 to, u32 value)     to[global thread number] = value
 *   nothing()
 *   wild()                      stores to address 64
 *   torn()                      stores 4 bytes to an odd address of `cell`
 *   stale(u64 to)               to[0] = shared memory that nobody wrote
 *   bounded()                   .maxntid 64, 1 KB of static shared memory
 *   wide(u64 a, u8 b, 24 bytes c)
 * and the variables .global .u32 cell = 77, .const .u32 table[2] = {5, 6}. */
extern const char kit_ptx[];
/* The same kernels `nothing` for sm_90a only. */
extern const char kit_ptx_90a[];

CUlibrary kit_library(const char *text);
CUfunction kit_function(CUlibrary library, const char *name);
/* One CTA of `threads`. */
CUlaunchConfig kit_config(unsigned threads);
CUresult kit_fill(CUfunction fill, CUstream stream, CUdeviceptr to, uint32_t value, unsigned threads);
uint32_t kit_word(CUdeviceptr at);

#endif
