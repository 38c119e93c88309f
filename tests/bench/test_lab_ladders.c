/* SPDX-License-Identifier: Apache-2.0 */
/* The ladders transpose, reduction, histogram, conflict-worth, convolution and fft on paper: their layouts hold every element once, do what the kernels
 * rely on, and cost the wavefronts that one can count by hand. */
#include "bench_tests.h"

#include <math.h>
#include <stdlib.h>

#include "lab/convolution_model.h"
#include "lab/fft_model.h"
#include "lab/kernels/convolution.h"
#include "lab/kernels/histogram.h"
#include "lab/kernels/transpose_tile.h"
#include "lab/kernels/worth.h"
#include "lab/ladders.h"

/* ---- transpose ------------------------------------------------------------------------------------ */

/* Row by row in, column by column out. */
START_TEST(tiles_come_out_transposed) {
    for (int step = TRANSPOSE_STEP_TILED; step < TRANSPOSE_STEP_TMA; step++) {
        uint32_t tile[TRANSPOSE_TILE * (TRANSPOSE_TILE + 1)];
        for (uint32_t row = 0; row < 32; row++)
            for (uint32_t lane = 0; lane < 32; lane++)
                tile[transpose_word(step, true, row, lane)] = row * 32 + lane;
        for (uint32_t column = 0; column < 32; column++)
            for (uint32_t lane = 0; lane < 32; lane++)
                ck_assert_uint_eq(tile[transpose_word(step, false, column, lane)], lane * 32 + column);
    }
}
END_TEST

/* TMA lays each box down by the swizzle's own rule; the kernel reads 16 bytes of a row at a time and writes columns. */
START_TEST(a_swizzled_tile_comes_out_transposed) {
    enum { SIZE = TRANSPOSE_TMA_TILE };
    const struct gm_smem_tile rule = {
        .size = sizeof rule, .rows = SIZE, .row_bytes = 128, .swizzle = gm_swizzle_of_mode(GM_SWIZZLE_128B)};
    uint32_t in[SIZE * SIZE], out[SIZE * SIZE], address;
    for (uint32_t row = 0; row < SIZE; row++) {
        for (uint32_t column = 0; column < SIZE; column++) {
            ck_assert_int_eq(gm_smem_tile_address(&rule, row, column % 32 * 4, &address), GM_OK);
            ck_assert_uint_eq(TRANSPOSE_TMA_IN(row, column), column / 32 * TRANSPOSE_BOX_WORDS + address / 4);
            in[TRANSPOSE_TMA_IN(row, column)] = row * SIZE + column;
        }
    }
    for (uint32_t row = 0; row < SIZE; row++)
        for (uint32_t column = 0; column < SIZE; column++)
            out[TRANSPOSE_TMA_OUT(column, row)] = in[TRANSPOSE_TMA_IN(row, column / 4 * 4) + column % 4];
    for (uint32_t i = 0; i < SIZE * SIZE; i++)
        ck_assert_uint_eq(out[i], i % SIZE * SIZE + i / SIZE);
}
END_TEST

/* 32 rows of 32 words each way; the plain tile's columns have 31 wavefronts more. */
START_TEST(only_the_plain_tile_conflicts) {
    for (int step = 0; step < TRANSPOSE_STEPS; step++) {
        const struct ladder_wavefronts tile = transpose_wavefronts(step);
        const double shared = step == TRANSPOSE_STEP_NAIVE ? 0 : 32;
        ck_assert_double_eq(tile.load_conflicts, step == TRANSPOSE_STEP_TILED ? 32 * 31 : 0);
        ck_assert_double_eq(tile.store_conflicts, 0);
        ck_assert_double_eq(tile.load - tile.load_conflicts, shared);
        ck_assert_double_eq(tile.store, shared);
    }
}
END_TEST

/* ---- reduction ------------------------------------------------------------------------------------ */

/* By hand, strided, 512 threads: 8 warps of 2 ways, 4 of 4, 2 of 8, one of 16, of 16, 8, 4, 2 and 1:
 * 8 x 1 + 4 x 3 + 2 x 7 + 15 + 15 + 7 + 3 + 1 = 75 for each of two loads and a store. */
START_TEST(only_strided_sums_conflict) {
    for (int step = 0; step < REDUCTION_STEPS; step++) {
        const struct ladder_wavefronts cta = reduction_wavefronts(step, 1);
        ck_assert_double_eq(cta.load_conflicts, step == REDUCTION_STEP_STRIDED ? 150 : 0);
        ck_assert_double_eq(cta.store_conflicts, step == REDUCTION_STEP_STRIDED ? 75 : 0);
    }
}
END_TEST

/* Modulo: 16 warps work in 5 rounds, then 8, 4, 2, 1: 95 rounds of a warp. The others: 8, 4, 2, 1 and 5 times 1: 20.
 * Each of two loads and a store; before them 16 stores, after them a load. */
START_TEST(wavefronts_of_sums) {
    static const struct {
        double load, store;
    } expected[REDUCTION_STEPS] = {[REDUCTION_STEP_MODULO] = {191, 111},
                                   [REDUCTION_STEP_STRIDED] = {41 + 150, 36 + 75},
                                   [REDUCTION_STEP_SEQUENTIAL] = {41, 36},
                                   [REDUCTION_STEP_SHUFFLE] = {1, 16},
                                   [REDUCTION_STEP_VECTOR] = {18, 33}};
    for (int step = 0; step < REDUCTION_STEPS; step++) {
        const struct ladder_wavefronts cta = reduction_wavefronts(step, 1), three = reduction_wavefronts(step, 3);
        const bool last = step == REDUCTION_STEP_VECTOR; /* its second exchange is one CTA's alone */
        ck_assert_double_eq(cta.load, expected[step].load);
        ck_assert_double_eq(cta.store, expected[step].store);
        ck_assert_double_eq(three.load, 3 * cta.load - (last ? 2 : 0));
        ck_assert_double_eq(three.store, 3 * cta.store - (last ? 32 : 0));
    }
}
END_TEST

/* ---- histogram ------------------------------------------------------------------------------------ */

/* 1 / 8 / 32 bins a warp: the increments of one word ride together, those of 8 words in one bank do not. */
START_TEST(wavefronts_of_counting) {
    enum { COUNT = 1024, ACCESSES = COUNT / 32 };
    uint32_t one[COUNT], bank[COUNT], spread[COUNT], random[COUNT];
    for (uint32_t k = 0; k < COUNT; k++) {
        one[k] = 0x12345678;
        bank[k] = k % 8 * 32 << 24;
        spread[k] = k % 32 << 24;
        random[k] = ladder_hash(k);
    }
    ck_assert_double_eq(histogram_wavefronts(one, COUNT, 1), ACCESSES);
    ck_assert_double_eq(histogram_wavefronts(bank, COUNT, 1), 8 * ACCESSES);
    ck_assert_double_eq(histogram_wavefronts(bank, COUNT, 4), 2 * ACCESSES); /* k % 8 is 0 or 4 of each lane */
    ck_assert_double_eq(histogram_wavefronts(spread, COUNT, 1), ACCESSES);
    ck_assert_double_gt(histogram_wavefronts(random, COUNT, 1), 2 * ACCESSES);
    ck_assert_double_lt(histogram_wavefronts(random, COUNT, 1), 5 * ACCESSES);
}
END_TEST

/* ---- structures ------------------------------------------------------------------------------------ */

static uint32_t worth_word(int layout, uint32_t s, uint32_t f) {
    return layout == 0 ? WORTH_PLAIN(s, f) : layout == 1 ? WORTH_PADDED(s, f) : WORTH_SWIZZLED(s, f);
}

/* Plain, padded, swizzled: no two fields in one word, and a field of 32 structures in so many wavefronts. */
START_TEST(cures_of_structures) {
    static const uint32_t words[] = {4, 5, 4}, wavefronts[] = {4, 1, 1};
    for (int layout = 0; layout < 3; layout++) {
        bool taken[5 * WORTH_SMALL] = {false};
        for (uint32_t s = 0; s < WORTH_SMALL; s++) {
            for (uint32_t f = 0; f < WORTH_FIELDS; f++) {
                const uint32_t word = worth_word(layout, s, f);
                ck_assert_uint_lt(word, words[layout] * WORTH_SMALL);
                ck_assert(!taken[word]);
                taken[word] = true;
            }
        }
        struct gm_access access = {.size = sizeof access, .kind = GM_ACCESS_LOAD, .width = 4};
        struct gm_bank_cost cost = {.size = sizeof cost};
        for (uint32_t lane = 0; lane < GM_LANES; lane++)
            access.address[lane] = 4 * worth_word(layout, 64 + lane, 3);
        ck_assert_int_eq(gm_bank_cost(&access, &cost), GM_OK);
        ck_assert_uint_eq(cost.wavefronts, wavefronts[layout]);
    }
}
END_TEST

/* ---- convolution ----------------------------------------------------------------------------------- */

/* Element (x, y), tap by tap. */
static int convolved(bool line, int width, int height, int x, int y) {
    const int across = line ? LINE_RADIUS : IMAGE_RADIUS, down = line ? 0 : IMAGE_RADIUS;
    int sum = 0;
    for (int j = -down; j <= down; j++) {
        for (int i = -across; i <= across; i++) {
            if (x + i < 0 || x + i >= width || y + j < 0 || y + j >= height)
                continue;
            const int tap = line ? convolution_line_tap(i + across)
                                 : convolution_image_tap(i + across) * convolution_image_tap(j + down);
            sum += tap * convolution_value((uint32_t)((y + j) * width + x + i));
        }
    }
    return sum;
}

START_TEST(convolutions_tap_by_tap) {
    static const struct {
        bool line;
        int width, height;
    } shapes[] = {{true, 1, 1}, {true, 40, 1}, {false, 1, 1}, {false, 2, 9}, {false, 13, 5}};
    int scratch[40], row[40];
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        for (int y = 0; y < shapes[i].height; y++) {
            convolution_row(shapes[i].line, shapes[i].width, shapes[i].height, y, scratch, row);
            for (int x = 0; x < shapes[i].width; x++)
                ck_assert_int_eq(row[x], convolved(shapes[i].line, shapes[i].width, shapes[i].height, x, y));
        }
    }
}
END_TEST

/* By hand, of one CTA alone: its tile has nothing outside but the halo, which is not loaded. An image's rows of 32 are 4
 * sectors each, and those in which one warp ends and the next begins are loaded by both. */
START_TEST(counts_of_convolutions) {
    ck_assert_double_eq(convolution_predict(LINE_TILE, LINE_THREADS, 1).sectors, LINE_THREADS / 8);
    ck_assert_double_eq(convolution_predict(LINE_TILE, LINE_THREADS, 1).load_wavefronts, 8 * 17);
    ck_assert_double_eq(convolution_predict(LINE_TILE, LINE_THREADS, 1).store_wavefronts, 9);
    ck_assert_double_eq(convolution_predict(LINE_REGISTERS, 1024, 1).sectors, 1024 / 8);
    ck_assert_double_eq(convolution_predict(LINE_REGISTERS, 1024, 1).load_wavefronts, 8 * 5 * 4);
    ck_assert_double_eq(convolution_predict(LINE_NAIVE, LINE_THREADS, 1).load_wavefronts, 0);
    const struct convolution_counts tile = convolution_predict(IMAGE_TILED, 32, 32);
    const struct convolution_counts registers = convolution_predict(IMAGE_REGISTERS, 32, 32);
    const struct convolution_counts separable = convolution_predict(IMAGE_SEPARABLE, 32, 32);
    int split = 0;
    for (int i = GM_LANES; i < IMAGE_SPAN * IMAGE_SPAN; i += GM_LANES) { /* word i is the first of a warp */
        const int x = i % IMAGE_SPAN - IMAGE_RADIUS, y = i / IMAGE_SPAN - IMAGE_RADIUS;
        split += y >= 0 && y < IMAGE_TILE && x > 0 && x < IMAGE_TILE && x % 8 != 0;
    }
    ck_assert_double_eq(tile.sectors, 32 * 4 + split);
    ck_assert_double_eq(tile.sectors, registers.sectors);
    ck_assert_double_eq(tile.sectors, separable.sectors);
    ck_assert_double_eq(tile.load_wavefronts, 32 * 49);
    ck_assert_double_eq(registers.load_wavefronts, 8 * 70);
    ck_assert_double_eq(separable.load_wavefronts, 38 * 7 + 8 * 10);
    ck_assert_double_eq(separable.store_wavefronts, 46 + 38);
}
END_TEST

/* ---- fft ------------------------------------------------------------------------------------------- */

/* Every element has a word of its own, and a plain or an XOR-swizzled plane no word more than elements. */
START_TEST(planes_hold_every_element) {
    for (int step = 0; step < FFT_STEPS; step++) {
        bool taken[FFT_PADDED(FFT_POINTS)] = {false};
        for (uint32_t i = 0; i < FFT_POINTS; i++) {
            const uint32_t word = fft_word(step, i);
            ck_assert_uint_lt(word, step == FFT_STEP_PADDED ? FFT_PADDED(FFT_POINTS) : FFT_POINTS);
            ck_assert(!taken[word]);
            taken[word] = true;
        }
    }
}
END_TEST

/* The table of docs/course/fft.md: of an access, in wavefronts. */
START_TEST(wavefronts_of_passes) {
    static const double passes[][FFT_BITS] = {[FFT_STEP_PLAIN] = {2, 2, 2, 2, 2, 1, 1, 1, 1, 1},
                                              [FFT_STEP_PADDED] = {1, 2, 2, 2, 2, 1, 1, 1, 1, 1},
                                              [FFT_STEP_XOR] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}};
    const double trip = 2.0 * FFT_POINTS / GM_LANES; /* accesses of both planes */
    for (int step = 0; step < FFT_STEP_FOUR; step++) {
        double sum = 0;
        for (int k = 0; k < FFT_BITS; k++) {
            const struct ladder_wavefronts pass = fft_pass_wavefronts(step, 1u << k);
            ck_assert_double_eq(pass.load, passes[step][k] * trip);
            ck_assert_double_eq(pass.store, pass.load);
            ck_assert_double_eq(pass.load_conflicts, pass.load - trip);
            sum += pass.load;
        }
        const struct ladder_wavefronts all = fft_wavefronts(step);
        ck_assert_double_eq(all.load, sum + trip);
        ck_assert_double_eq(all.store, sum + trip * (step == FFT_STEP_PLAIN ? 32 : 1));
    }
    const struct ladder_wavefronts four = fft_wavefronts(FFT_STEP_FOUR);
    ck_assert_double_eq(four.load, (5 + 1) * trip);
    ck_assert_double_eq(four.store, four.load);
    ck_assert_double_eq(four.load_conflicts + four.store_conflicts, 0);
}
END_TEST

/* e^(2 pi i n f / N) has one line, of N, at f; a lone 1 at n has e^(-2 pi i k n / N) everywhere. */
START_TEST(spectra_by_hand) {
    static double signal[2 * FFT_POINTS], spectrum[2 * FFT_POINTS];
    const double circle = 2 * acos(-1.0) / FFT_POINTS;
    for (int n = 0; n < FFT_POINTS; n++) {
        signal[2 * n] = cos(circle * (5 * n % FFT_POINTS));
        signal[2 * n + 1] = sin(circle * (5 * n % FFT_POINTS));
    }
    fft_spectrum(signal, spectrum);
    for (int k = 0; k < FFT_POINTS; k++) {
        ck_assert_double_eq_tol(spectrum[2 * k], k == 5 ? FFT_POINTS : 0, 1e-9);
        ck_assert_double_eq_tol(spectrum[2 * k + 1], 0, 1e-9);
    }
    for (int n = 0; n < 2 * FFT_POINTS; n++)
        signal[n] = n == 2 * 3;
    fft_spectrum(signal, spectrum);
    for (int k = 0; k < FFT_POINTS; k++) {
        ck_assert_double_eq_tol(spectrum[2 * k], cos(circle * (3 * k % FFT_POINTS)), 1e-12);
        ck_assert_double_eq_tol(spectrum[2 * k + 1], -sin(circle * (3 * k % FFT_POINTS)), 1e-12);
    }
    ck_assert_double_eq(fft_error(signal), 40 * ldexp(1, -24));
}
END_TEST

/* Digits to the base 4: 0123 0 becomes 0 3210. */
START_TEST(numbers_reversed) {
    ck_assert_uint_eq(fft_reversed(1, 2), 512);
    ck_assert_uint_eq(fft_reversed(0x0d, 2), 0x2c0);
    ck_assert_uint_eq(fft_reversed(1, 4), 256);
    ck_assert_uint_eq(fft_reversed(0x6c, 4), 0x0e4); /* 0 1 2 3 0 */
    for (uint32_t i = 0; i < FFT_POINTS; i++) {
        ck_assert_uint_eq(fft_reversed(fft_reversed(i, 2), 2), i);
        ck_assert_uint_eq(fft_reversed(fft_reversed(i, 4), 4), i);
    }
}
END_TEST

/* w^j of every distance, to half a unit in the last place. */
START_TEST(twiddles_by_distance) {
    static float table[2 * FFT_POINTS];
    fft_twiddles(table);
    ck_assert_float_eq(table[2 * 1], 1); /* d = 1 */
    ck_assert_float_eq_tol(table[2 * 3], 0, 1e-7f);
    ck_assert_float_eq(table[2 * 3 + 1], -1); /* d = 2, j = 1: -i */
    ck_assert_float_eq(table[2 * (512 + 128)], (float)sqrt(0.5));
    ck_assert_float_eq(table[2 * (512 + 128) + 1], (float)-sqrt(0.5));
}
END_TEST

TCase *lab_ladders_tests(void) {
    TCase *tests = tcase_create("lab ladders");
    tcase_add_test(tests, tiles_come_out_transposed);
    tcase_add_test(tests, a_swizzled_tile_comes_out_transposed);
    tcase_add_test(tests, only_the_plain_tile_conflicts);
    tcase_add_test(tests, only_strided_sums_conflict);
    tcase_add_test(tests, wavefronts_of_sums);
    tcase_add_test(tests, wavefronts_of_counting);
    tcase_add_test(tests, cures_of_structures);
    tcase_add_test(tests, convolutions_tap_by_tap);
    tcase_add_test(tests, counts_of_convolutions);
    tcase_add_test(tests, planes_hold_every_element);
    tcase_add_test(tests, wavefronts_of_passes);
    tcase_add_test(tests, spectra_by_hand);
    tcase_add_test(tests, numbers_reversed);
    tcase_add_test(tests, twiddles_by_distance);
    return tests;
}
