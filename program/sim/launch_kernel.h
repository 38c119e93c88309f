/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of a reader's PTX by the names that the reader knows, and whether arguments fit their parameters. */
#ifndef PROGRAM_SIM_LAUNCH_KERNEL_H
#define PROGRAM_SIM_LAUNCH_KERNEL_H

#include "program/sim/launch_arguments.h"

enum { LAUNCH_NAME_BYTES = 200 };

/* A kernel's name as C++ has it, without types: "transpose" of _Z9transposePfPKf, "ns::copy" of _ZN2ns4copyEv. */
void launch_plain_name(const char *mangled, char plain[LAUNCH_NAME_BYTES]);
/* The last name of a variable within a function: "tile" of _ZZ9transposePfPKfE4tile. */
void launch_variable_name(const char *mangled, char plain[LAUNCH_NAME_BYTES]);

/* The mangled name, the plain one, or the last part of that. */
bool launch_is_named(const char *mangled, const char *name);
/* The kernel of this name, mangled or plain, or the only one where `name` is NULL. 0, or -1 with a printed sentence, which
 * lists what there is. */
int launch_find_kernel(const struct simulator *simulator, const struct gm_sim_ptx *ptx, const char *file,
                       const char *name, size_t *index);
/* 0: as many arguments as parameters, each of its size and kind; or -1 with a printed sentence. */
int launch_check_arguments(const struct simulator *simulator, const struct gm_sim_ptx *ptx, size_t kernel,
                           const struct launch_arguments *arguments);

#endif
