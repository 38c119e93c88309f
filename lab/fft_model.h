/* SPDX-License-Identifier: Apache-2.0 */
/* The FFT ladder on paper: the wavefronts of its steps, by the bank model from the kernels' own addresses, and the
 * spectra that they should leave. */
#ifndef LAB_FFT_MODEL_H
#define LAB_FFT_MODEL_H

#include "lab/kernels/fft.h"
#include "lab/ladders.h"

enum fft_step { FFT_STEP_PLAIN, FFT_STEP_PADDED, FFT_STEP_XOR, FFT_STEP_FOUR, FFT_STEPS };

uint32_t fft_radix(enum fft_step step); /* elements of a butterfly */
/* The word of its plane in which element i of a signal lies. */
uint32_t fft_word(enum fft_step step, uint32_t i);
/* i with its digits to the base `radix` in the opposite order: where element i of a signal comes in. */
uint32_t fft_reversed(uint32_t i, uint32_t radix);

/* The wavefronts of one signal; and of one pass of it, over distance d, alone. */
struct ladder_wavefronts fft_wavefronts(enum fft_step step);
struct ladder_wavefronts fft_pass_wavefronts(enum fft_step step, uint32_t d);

/* What the kernels take from a table: e^(-pi i j / d) at 2 (d + j), real and imaginary part. */
void fft_twiddles(float table[2 * FFT_POINTS]);
/* The discrete Fourier transform of FFT_POINTS complex numbers, sum by sum: real and imaginary parts in turns. */
void fft_spectrum(const double signal[2 * FFT_POINTS], double spectrum[2 * FFT_POINTS]);
/* How far a kernel's spectrum of the signal may be from that. */
double fft_error(const double signal[2 * FFT_POINTS]);

#endif
