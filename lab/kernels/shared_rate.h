/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes that the kernels of shared_rate.cu and what predicts them share. */
#ifndef LAB_SHARED_RATE_H
#define LAB_SHARED_RATE_H

#define RATE_THREADS      1024
#define RATE_ACCESSES     16   /* of a trip: loads, stores, or one of each */
#define RATE_STEP         128  /* bytes from one load of a trip to the next: the same banks */
#define RATE_TRIP_STEP    2048 /* bytes that every second trip reads further on */
#define RATE_IMAGE_BYTES  8192 /* what is read; behind it every thread has bytes of its own to write */
#define RATE_GLOBAL_LOADS 8    /* 16-byte loads of a trip that reads global memory */

/* Word w of the image, and every word that a thread stores. */
#define RATE_WORD(w)        ((w) * 2654435761u)
#define RATE_STORED(thread) ((thread) + 1)

#endif
