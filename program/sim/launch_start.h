/* SPDX-License-Identifier: Apache-2.0 */
/* A reader's kernel on a GPU, simulated or real: loaded as the library loads its own, and launched. */
#ifndef PROGRAM_SIM_LAUNCH_START_H
#define PROGRAM_SIM_LAUNCH_START_H

#include "program/sim/launch_arguments.h"
#include "program/sim/launch_options.h"

enum { LAUNCH_SHARED_WITHOUT_ASKING = 48 << 10 }; /* above it a kernel has to ask, as by cudaFuncSetAttribute() */

/* The kernel of this mangled name, out of PTX text, whose lines of source the machine code keeps. The library is the caller's to unload, whatever comes back. */
CUresult launch_load(const struct gpu *gpu, const char *ptx, const char *kernel, CUlibrary *library,
                     CUfunction *function);
/* Asks for as much dynamic shared memory. */
CUresult launch_allow_shared(const struct gpu *gpu, CUfunction function, int bytes);
/* One launch with the arguments that were placed, and its end. `cluster` of 0: none, or what the kernel was compiled
 * for. */
CUresult launch_start(const struct gpu *gpu, CUfunction function, const struct launch_options *given,
                      const unsigned cluster[LAUNCH_DIMENSIONS], struct launch_arguments *arguments);

#endif
