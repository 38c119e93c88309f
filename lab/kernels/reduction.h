/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes that the kernels of the reduction ladder and the model of their conflicts share. */
#ifndef LAB_REDUCTION_H
#define LAB_REDUCTION_H

#define REDUCTION_THREADS     512 /* of a CTA, in every step */
#define REDUCTION_CTAS_PER_SM 4   /* the persistent grid of the last step: all of an SM's 2048 threads */
#define REDUCTION_LOADS       4   /* 16-byte loads in flight of each of its threads */

#endif
