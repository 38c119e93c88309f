/* SPDX-License-Identifier: Apache-2.0 */
/* Where the fields of structures of 4 words lie in shared memory, written once for the kernels of worth.cu and for what
 * predicts their wavefronts: field f of structure s. A warp reads one field of 32 structures at a time. */
#ifndef LAB_WORTH_H
#define LAB_WORTH_H

#define WORTH_THREADS 256
#define WORTH_FIELDS  4
#define WORTH_SMALL   512 /* structures of a small tile: 8 KB */
#define WORTH_FFMAS   32  /* a value, of the kernels that multiply much */

#define WORTH_PLAIN(s, f)    (4 * (s) + (f))                   /* structures 0, 8, 16, 24 in one bank: 4-way */
#define WORTH_PADDED(s, f)   (5 * (s) + (f))                   /* a word of pad a structure */
#define WORTH_SWIZZLED(s, f) (4 * (s) + ((f) ^ ((s) / 8 % 4))) /* the structure's group of 8 picks the order */

#endif
