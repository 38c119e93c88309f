/* SPDX-License-Identifier: Apache-2.0 */
/* The PTX of a reader's file: read, or compiled by the CUDA toolkit of this machine, by nvcc or else by NVRTC. */
#ifndef PROGRAM_SIM_LAUNCH_COMPILE_H
#define PROGRAM_SIM_LAUNCH_COMPILE_H

#include <stdbool.h>
#include <stddef.h>

/* PTX text, to be freed; NULL with a printed sentence. A name that ends in .cu is compiled for the simulated `device`
 * ("a100"), with `flags` besides ("-DN=4 -O1", or NULL), and with line numbers. */
char *launch_ptx(const char *path, const char *device, const char *flags);

/* Whether launch_ptx() would compile the file. */
bool launch_is_compiled(const char *path);
/* Makes an empty file for PTX among the temporary ones: its name, and as the result its descriptor; -1: with a printed
 * sentence. */
int launch_temporary(char *path, size_t bytes);

/* NVRTC's way: a kernel file without host code. NULL: no NVRTC is found (`*found` 0, nothing printed), or the file does
 * not compile (its messages are printed). */
char *launch_nvrtc(const char *path, const char *architecture, char *const *flags, int *found);
/* The folder of the environment's CUDA_HOME, or NULL: then the usual places are searched. */
const char *launch_cuda_home(void);

#endif
