/* SPDX-License-Identifier: Apache-2.0 */
/* The shape of the kernels that pass tiles through a ring of stages. */
#ifndef LAB_RING_H
#define LAB_RING_H

#define RING_THREADS     256
#define RING_TILE_BYTES  (RING_THREADS * 16) /* of a stage: a vector of four words a thread */
#define RING_CTAS_PER_SM 2
#define RING_STAGES_MAX  6

#endif
