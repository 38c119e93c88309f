/* SPDX-License-Identifier: Apache-2.0 */
/* fft: signals of 1024 complex numbers in shared memory, plain, padded, XOR-swizzled, and in passes of four. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lab/fft_model.h"

enum {
    TIMED = 1 << 15, /* signals: 256 MiB in, as much out */
    COUNTED = 16,
    SIMULATED_MOST = COUNTED,
    PERIOD = 61, /* signals are the same again after so many, a prime */
    REALS = 2 * FFT_POINTS,
    GUARD = 256 /* numbers behind the result */
};

static const struct {
    const char *label, *kernel, *change;
} steps[FFT_STEPS] = {
    [FFT_STEP_PLAIN] =
        {"plain", "lab_fft_plain",
         "Ten passes of two elements. The reversed order comes in 32 to a bank, and half of the passes meet "
         "two to a bank."},
    [FFT_STEP_PADDED] =
        {"padded", "lab_fft_padded",
         "A word more after 32 lays the reversed order in 32 banks; of the passes it cures the first alone."},
    [FFT_STEP_XOR] = {"XOR", "lab_fft_xor", "Each bit of the row XORs a mask into the bank: no access has a conflict."},
    [FFT_STEP_FOUR] = {"radix 4", "lab_fft_four",
                       "Five passes of four elements: half of the trips through shared memory, and of the barriers."},
};

struct fft_data {
    CUdeviceptr from, to, twiddle;
    unsigned signals[LAB_POINTS_MAX];
    bool copied[LAB_POINTS_MAX]; /* the result is the input itself */
    float *result;               /* room for the largest, with its guard */
    double *signal, *spectrum;   /* PERIOD of each, or as many as there are */
    double error[PERIOD];
};

static int value_of(uint32_t k) {
    return (int)(ladder_hash(k % (PERIOD * REALS)) % 5) - 2;
}

static uint32_t word_of(uint32_t k) {
    return ladder_bits((float)value_of(k));
}

static size_t bytes_of(unsigned signals) {
    return ((size_t)signals * REALS + GUARD) * sizeof(float);
}

/* ---- points --------------------------------------------------------------------------------------- */

static struct lab_point *add_point(struct lab *lab, const char *step, const char *change, unsigned signals) {
    struct fft_data *data = lab->data;
    char label[64];
    snprintf(label, sizeof label, "%s, %u", step, signals);
    struct lab_point *point = lab_add(lab, label, change);
    if (!point)
        return NULL;
    data->signals[ladder_index(lab, point)] = signals;
    point->bytes = 2.0 * sizeof(float) * REALS * signals;
    return point;
}

static struct lab_point *add(struct lab *lab, enum fft_step step, unsigned signals) {
    const struct fft_data *data = lab->data;
    struct lab_point *point = add_point(lab, steps[step].label, steps[step].change, signals);
    if (!point)
        return NULL;
    lab_kernel(point, "fft", steps[step].kernel, signals, FFT_THREADS);
    LAB_ARGUMENT(point, data->from);
    LAB_ARGUMENT(point, data->to);
    LAB_ARGUMENT(point, data->twiddle);
    return point;
}

static int add_step(struct lab *lab, enum fft_step step) {
    const struct ladder_wavefronts signal = fft_wavefronts(step);
    struct lab_point *small = add(lab, step, 1), *counted = small ? add(lab, step, COUNTED) : NULL;
    struct lab_point *timed = counted ? add(lab, step, TIMED) : NULL;
    if (!timed)
        return -1;
    lab_quantity(counted, "load wavefronts", LAB_EXACT_WAVEFRONTS_LD, COUNTED * signal.load, 0);
    lab_quantity(counted, "store wavefronts", LAB_EXACT_WAVEFRONTS_ST, COUNTED * signal.store, 0);
    timed->timed = true;
    timed->too_large = lab->simulated;
    return 0;
}

static int run_copy(struct lab *lab, const struct lab_point *point) {
    const struct fft_data *data = lab->data;
    const size_t bytes = (size_t)data->signals[ladder_index(lab, point)] * REALS * sizeof(float);
    GPU_TRY(&lab->gpu, cuMemcpyDtoDAsync, data->to, data->from, bytes, lab->gpu.stream);
    return 0;
}

static int add_copy(struct lab *lab) {
    struct fft_data *data = lab->data;
    struct lab_point *point = add_point(lab, "copy", "No step: the driver's copy of as many bytes.", TIMED);
    if (!point)
        return -1;
    data->copied[ladder_index(lab, point)] = true;
    point->run = run_copy;
    point->timed = true;
    point->too_large = lab->simulated;
    return 0;
}

static int upload_twiddles(struct lab *lab) {
    const struct fft_data *data = lab->data;
    float table[REALS];
    fft_twiddles(table);
    return lab_upload(lab, data->twiddle, table, sizeof table);
}

/* The spectra of all signals that differ. */
static int work_out(struct lab *lab, unsigned signals) {
    struct fft_data *data = lab->data;
    const unsigned count = signals < PERIOD ? signals : PERIOD;
    data->result = malloc(bytes_of(signals));
    data->signal = malloc(count * REALS * sizeof *data->signal);
    data->spectrum = malloc(count * REALS * sizeof *data->spectrum);
    if (!data->result || !data->signal || !data->spectrum)
        return complain("out of host memory");
    for (uint32_t k = 0; k < count * REALS; k++)
        data->signal[k] = value_of(k);
    for (unsigned i = 0; i < count; i++) {
        fft_spectrum(&data->signal[i * REALS], &data->spectrum[i * REALS]);
        data->error[i] = fft_error(&data->signal[i * REALS]);
    }
    return 0;
}

static int setup(struct lab *lab) {
    const unsigned signals = lab->simulated ? SIMULATED_MOST : TIMED;
    struct fft_data *data = lab->data = calloc(1, sizeof *data);
    if (!data)
        return complain("out of host memory");
    if (lab_alloc(lab, &data->from, (size_t)signals * REALS * sizeof(float), 0) != 0 ||
        lab_alloc(lab, &data->to, bytes_of(signals), 0xff) != 0 ||
        lab_alloc(lab, &data->twiddle, REALS * sizeof(float), 0) != 0 || upload_twiddles(lab) != 0)
        return -1;
    if (!lab->launching_only &&
        (work_out(lab, signals) != 0 || ladder_fill(lab, data->from, (size_t)signals * REALS, word_of) != 0))
        return -1;
    for (int step = 0; step < FFT_STEPS; step++) {
        if (add_step(lab, (enum fft_step)step) != 0)
            return -1;
    }
    return add_copy(lab);
}

/* ---- results -------------------------------------------------------------------------------------- */

static int prepare(struct lab *lab, struct lab_point *point) {
    const struct fft_data *data = lab->data;
    GPU_TRY(&lab->gpu, cuMemsetD8Async, data->to, 0xff, bytes_of(data->signals[ladder_index(lab, point)]),
            lab->gpu.stream);
    return 0;
}

static bool is_right(const struct fft_data *data, bool copied, size_t k) {
    const size_t in_period = k % (PERIOD * REALS);
    if (copied)
        return (double)data->result[k] == data->signal[in_period];
    return fabs((double)data->result[k] - data->spectrum[in_period]) <= data->error[in_period / REALS];
}

/* The first number that is not as it should be; SIZE_MAX: none. */
static size_t first_wrong(const struct fft_data *data, unsigned signals, bool copied) {
    const size_t count = (size_t)signals * REALS;
    for (size_t k = 0; k < count; k++) {
        if (!is_right(data, copied, k))
            return k;
    }
    for (size_t k = count; k < count + GUARD; k++) {
        if (ladder_bits(data->result[k]) != UINT32_MAX)
            return k;
    }
    return SIZE_MAX;
}

static int check(struct lab *lab, struct lab_point *point) {
    struct fft_data *data = lab->data;
    const size_t index = ladder_index(lab, point);
    if (lab_download(lab, data->result, data->to, bytes_of(data->signals[index])) != 0)
        return -1;
    const size_t wrong = first_wrong(data, data->signals[index], data->copied[index]);
    if (wrong == SIZE_MAX)
        lab_correct(point);
    else
        lab_wrong(point, "the %s part of number %zu of signal %zu is %.9g", wrong % 2 == 0 ? "real" : "imaginary",
                  wrong % REALS / 2, wrong / REALS, (double)data->result[wrong]);
    return 0;
}

static void teardown(struct lab *lab) {
    struct fft_data *data = lab->data;
    if (!data)
        return;
    free(data->result);
    free(data->signal);
    free(data->spectrum);
}

/* ---- conclusions ---------------------------------------------------------------------------------- */

/* Of a signal, as counted. */
static double wavefronts_of(struct lab *lab, enum fft_step step) {
    char label[64];
    snprintf(label, sizeof label, "%s, %d", steps[step].label, COUNTED);
    const struct lab_point *point = lab_find(lab, label);
    return (lab_counted(point, "load wavefronts") + lab_counted(point, "store wavefronts")) / COUNTED;
}

static void conclude_counts(struct lab *lab) {
    const double plain = wavefronts_of(lab, FFT_STEP_PLAIN), padded = wavefronts_of(lab, FFT_STEP_PADDED);
    const double swizzled = wavefronts_of(lab, FFT_STEP_XOR), four = wavefronts_of(lab, FFT_STEP_FOUR);
    lab_claim(
        lab, plain > padded && padded > swizzled && swizzled == 22 * 2 * FFT_POINTS / GM_LANES, false,
        "A signal takes %.0f wavefronts, %.0f with a pad, and %.0f, the fewest that ten passes can, with the XOR.",
        plain, padded, swizzled);
    lab_claim(lab, four < swizzled, false, "Passes of four elements take %.0f.", four);
}

static double rate_of(struct lab *lab, enum fft_step step) {
    char size[16];
    snprintf(size, sizeof size, "%d", TIMED);
    return ladder_gbs(lab, steps[step].label, size);
}

static int conclude(struct lab *lab) {
    if (lab->has_counts)
        conclude_counts(lab);
    const double plain = rate_of(lab, FFT_STEP_PLAIN), padded = rate_of(lab, FFT_STEP_PADDED);
    const double swizzled = rate_of(lab, FFT_STEP_XOR), four = rate_of(lab, FFT_STEP_FOUR);
    char size[16];
    snprintf(size, sizeof size, "%d", TIMED);
    lab_claim(
        lab, padded > plain && swizzled > plain, true,
        "Without most conflicts it is %.2f times as fast by the pad, and without any %.2f by the XOR: %.0f, %.0f and "
        "%.0f GB/s.",
        padded / plain, swizzled / plain, plain, padded, swizzled);
    lab_claim(lab, four > swizzled, true,
              "Half of the passes make it %.2f times as fast again, %.0f GB/s, %.1f %% of a copy.", four / swizzled,
              four, 100 * four / ladder_gbs(lab, "copy", size));
    return 0;
}

const struct lab_experiment fft = {
    .name = "fft",
    .title = "FFT of 1024 points",
    .question = "What do a pad, an XOR and fewer passes save an FFT, all of whose strides are powers of two?",
    .page = "fft",
    .setup = setup,
    .prepare = prepare,
    .check = check,
    .conclude = conclude,
    .teardown = teardown,
};
