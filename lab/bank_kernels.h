/* SPDX-License-Identifier: Apache-2.0 */
/* How the kernels of bank_access.h are launched. */
#ifndef LAB_BANK_KERNELS_H
#define LAB_BANK_KERNELS_H

#include "lab/bank_access.h"

enum {
    BANK_TRIPS = BANK_REPEATS / 4,
    /* Enough warps that accesses of two wavefronts or more keep shared memory busy; cp.async is studied with one. */
    BANK_WARPS = 25
};

#define BANK_FILL 2654435761u /* word w of memory holds w times this where there is something to be read */

#endif
