/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel of which one build has too few registers for its sums, and how many threads it has. */
#ifndef LAB_SPILLING_H
#define LAB_SPILLING_H

#define SPILLING_SUMS    144
#define SPILLING_THREADS 256

#endif
