/* SPDX-License-Identifier: Apache-2.0 */
/* The FFT ladder: its sizes, and where element i of a signal lies in shared memory, in words of 4 bytes, at each step. One
 * definition for the kernels and for the model that predicts their wavefronts.
 *
 * Real and imaginary parts lie in a plane each. A pass over distance d takes elements d apart, so in a warp's access bit
 * log2 d of i is one and the same, and the lanes have the other bits below it and some above. Of a plain row of 32 words
 * that is half, twice. */
#ifndef LAB_FFT_H
#define LAB_FFT_H

#define FFT_BITS    10
#define FFT_POINTS  (1 << FFT_BITS)
#define FFT_THREADS 256

#define FFT_PLAIN(i)  (i)
#define FFT_PADDED(i) ((i) + (i) / 32)
/* Each bit of the row moves the words about by a mask of its own: the lowest by all five bits, since any one of them may be
 * the one that a pass leaves out; the next so that of its mask and that one any two neighbours will do, for passes of four
 * elements; and all five masks are independent, for the reversal, whose lanes have the bits of the row alone. */
#define FFT_XOR(i)    ((i) ^ FFT_MASK((i) / 32))
#define FFT_MASK(row) ((row) % 2 * 31 ^ (row) / 2 % 2 * 21 ^ (row) / 4 % 4 * 2 ^ (row) / 16 * 24)

/* The first element of butterfly b, a number without sign, in a pass over distance d; the others lie d apart behind it. */
#define FFT_FIRST(b, d, radix) (((b) & ((d) - 1)) + ((b) & ~((d) - 1)) * (radix))

#endif
