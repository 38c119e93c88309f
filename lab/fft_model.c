/* SPDX-License-Identifier: Apache-2.0 */
/* What an FFT in shared memory costs, and what it should leave. */
#include "lab/fft_model.h"

#include <math.h>

enum { PLANES = 2 }; /* real and imaginary parts: of words in one plane, the same access of the other */

uint32_t fft_radix(enum fft_step step) {
    return step == FFT_STEP_FOUR ? 4 : 2;
}

uint32_t fft_word(enum fft_step step, uint32_t i) {
    switch (step) {
    case FFT_STEP_PLAIN:
        return FFT_PLAIN(i);
    case FFT_STEP_PADDED:
        return FFT_PADDED(i);
    default:
        return FFT_XOR(i);
    }
}

uint32_t fft_reversed(uint32_t i, uint32_t radix) {
    uint32_t reversed = 0;
    for (uint32_t left = FFT_POINTS; left > 1; left /= radix) {
        reversed = reversed * radix + i % radix;
        i /= radix;
    }
    return reversed;
}

/* ---- wavefronts ----------------------------------------------------------------------------------- */

/* Adds an access of the elements of 32 lanes to the sum of wavefronts and to that of conflicts. */
static void add_access(enum fft_step step, enum gm_access_kind kind, const uint32_t element[GM_LANES],
                       struct ladder_wavefronts *sum) {
    struct gm_access access = {.size = sizeof access, .kind = kind, .width = 4};
    struct gm_bank_cost cost = {.size = sizeof cost};
    for (uint32_t lane = 0; lane < GM_LANES; lane++)
        access.address[lane] = 4 * fft_word(step, element[lane]);
    const bool known = gm_bank_cost(&access, &cost) == GM_OK;
    const double wavefronts = known ? PLANES * cost.wavefronts : NAN, conflicts = known ? PLANES * cost.conflicts : NAN;
    *(kind == GM_ACCESS_STORE ? &sum->store : &sum->load) += wavefronts;
    *(kind == GM_ACCESS_STORE ? &sum->store_conflicts : &sum->load_conflicts) += conflicts;
}

struct ladder_wavefronts fft_pass_wavefronts(enum fft_step step, uint32_t d) {
    const uint32_t radix = fft_radix(step);
    struct ladder_wavefronts sum = {0};
    uint32_t element[GM_LANES];
    for (uint32_t b = 0; b < FFT_POINTS / radix; b += GM_LANES) {
        for (uint32_t place = 0; place < radix; place++) {
            for (uint32_t lane = 0; lane < GM_LANES; lane++)
                element[lane] = FFT_FIRST(b + lane, d, radix) + place * d;
            add_access(step, GM_ACCESS_LOAD, element, &sum);
            add_access(step, GM_ACCESS_STORE, element, &sum);
        }
    }
    return sum;
}

/* The signal comes in reversed, and goes out in order. */
static struct ladder_wavefronts ends_wavefronts(enum fft_step step) {
    struct ladder_wavefronts sum = {0};
    uint32_t in[GM_LANES], out[GM_LANES];
    for (uint32_t i = 0; i < FFT_POINTS; i += GM_LANES) {
        for (uint32_t lane = 0; lane < GM_LANES; lane++) {
            in[lane] = fft_reversed(i + lane, fft_radix(step));
            out[lane] = i + lane;
        }
        add_access(step, GM_ACCESS_STORE, in, &sum);
        add_access(step, GM_ACCESS_LOAD, out, &sum);
    }
    return sum;
}

struct ladder_wavefronts fft_wavefronts(enum fft_step step) {
    struct ladder_wavefronts sum = ends_wavefronts(step);
    for (uint32_t d = 1; d < FFT_POINTS; d *= fft_radix(step)) {
        const struct ladder_wavefronts pass = fft_pass_wavefronts(step, d);
        sum.load += pass.load;
        sum.store += pass.store;
        sum.load_conflicts += pass.load_conflicts;
        sum.store_conflicts += pass.store_conflicts;
    }
    return sum;
}

/* ---- spectra -------------------------------------------------------------------------------------- */

/* e^(-2 pi i k / n). */
static void turn(uint32_t k, uint32_t n, double *real, double *imaginary) {
    const double angle = -2 * acos(-1.0) * k / n;
    *real = cos(angle);
    *imaginary = sin(angle);
}

void fft_twiddles(float table[2 * FFT_POINTS]) {
    double real, imaginary;
    table[0] = table[1] = 0; /* of no distance */
    for (uint32_t d = 1; d < FFT_POINTS; d *= 2) {
        for (uint32_t j = 0; j < d; j++) {
            turn(j, 2 * d, &real, &imaginary);
            table[2 * (d + j)] = (float)real;
            table[2 * (d + j) + 1] = (float)imaginary;
        }
    }
}

void fft_spectrum(const double signal[2 * FFT_POINTS], double spectrum[2 * FFT_POINTS]) {
    double turns[2 * FFT_POINTS];
    for (uint32_t k = 0; k < FFT_POINTS; k++)
        turn(k, FFT_POINTS, &turns[2 * k], &turns[2 * k + 1]);
    for (uint32_t k = 0; k < FFT_POINTS; k++) {
        double real = 0, imaginary = 0;
        for (uint32_t i = 0; i < FFT_POINTS; i++) {
            const double *x = &signal[2 * i], *w = &turns[2 * (i * k % FFT_POINTS)];
            real += x[0] * w[0] - x[1] * w[1];
            imaginary += x[0] * w[1] + x[1] * w[0];
        }
        spectrum[2 * k] = real;
        spectrum[2 * k + 1] = imaginary;
    }
}

/* A number of the spectrum comes of as many products and sums as the signal's length has bits, none of them larger than the
 * sum of all magnitudes: a product rounds by at most three times 2^-24 of that, its factor included, a sum by once. */
double fft_error(const double signal[2 * FFT_POINTS]) {
    double magnitudes = 0;
    for (uint32_t i = 0; i < 2 * FFT_POINTS; i++)
        magnitudes += fabs(signal[i]);
    return FFT_BITS * 4 * ldexp(magnitudes, -24);
}
