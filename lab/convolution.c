/* SPDX-License-Identifier: Apache-2.0 */
/* convolution-1d, convolution-2d: naive, by tiles with a halo, several outputs a thread, and separable. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lab/convolution_model.h"
#include "lab/kernels/convolution.h"
#include "lab/ladders.h"

enum {
    ELEMENTS = 1 << 26 /* timed: 256 MiB in, as much out */,
    SIDE = 8192,
    GUARD = 256 /* elements behind the result */
};

static const struct {
    const char *label, *kernel, *change;
} steps[CONVOLUTION_STEPS] = {
    [LINE_NAIVE] = {"naive", "lab_convolution_line_naive",
                    "A thread an output, 17 loads from global memory: of five sectors, where lanes begin inside one."},
    [LINE_TILE] =
        {"tile", "lab_convolution_line_tile",
         "256 outputs and their halo of 16 go through shared memory, from where every output reads 17 words."},
    [LINE_REGISTERS] = {"registers", "lab_convolution_line_registers",
                        "Four outputs a thread share 20 words in five loads of 16 bytes: 5 wavefronts for 32 outputs."},
    [IMAGE_NAIVE] = {"naive", "lab_convolution_image_naive", "A thread an output, 49 loads from global memory."},
    [IMAGE_TILED] =
        {"tile", "lab_convolution_image_tile",
         "32 x 32 outputs and their halo go through shared memory, from where every output reads 49 words."},
    [IMAGE_REGISTERS] = {"registers", "lab_convolution_image_registers",
                         "Four outputs a thread share the words of ten rows: 17.5 loads an output, 49 FFMA as before."},
    [IMAGE_SEPARABLE] =
        {"separable", "lab_convolution_image_separable",
         "Rows first and columns then: 14 FFMA an output and 11 loads, for a second tile and a barrier."},
};

struct shape {
    int width, height;
    bool copied; /* the result is the input itself */
};

struct convolution_data {
    CUdeviceptr from, to;
    struct shape shapes[LAB_POINTS_MAX];
    float *result;         /* room for the largest, with its guard */
    int16_t *expected;     /* of the timed shape, worked out once */
    int *scratch, *row;    /* a row each */
    struct shape computed; /* whose result `expected` has */
    bool line;
};

static size_t elements_of(const struct shape *shape) {
    return (size_t)shape->width * (size_t)shape->height;
}

static size_t bytes_of(const struct shape *shape) {
    return (elements_of(shape) + GUARD) * sizeof(float);
}

static uint32_t word_of(uint32_t k) {
    return ladder_bits((float)convolution_value(k));
}

/* ---- points --------------------------------------------------------------------------------------- */

static void add_arguments(const struct convolution_data *data, struct lab_point *point, const struct shape *shape) {
    if (data->line) {
        struct line line = {(const float *)data->from, (float *)data->to, (uint32_t)shape->width, {0}};
        for (int k = 0; k < LINE_TAPS; k++)
            line.tap[k] = (float)convolution_line_tap(k);
        LAB_ARGUMENT(point, line);
        return;
    }
    struct image image = {
        .from = (const float *)data->from, .to = (float *)data->to, .width = shape->width, .height = shape->height};
    for (int j = 0; j < IMAGE_TAPS; j++) {
        image.row[j] = image.column[j] = (float)convolution_image_tap(j);
        for (int i = 0; i < IMAGE_TAPS; i++)
            image.tap[j][i] = (float)(convolution_image_tap(j) * convolution_image_tap(i));
    }
    LAB_ARGUMENT(point, image);
}

static struct lab_point *add_point(struct lab *lab, const char *label, const char *change, const struct shape *shape) {
    struct convolution_data *data = lab->data;
    char full[64];
    if (data->line)
        snprintf(full, sizeof full, "%s, %d", label, shape->width);
    else
        snprintf(full, sizeof full, "%s, %d x %d", label, shape->width, shape->height);
    struct lab_point *point = lab_add(lab, full, change);
    if (!point)
        return NULL;
    data->shapes[ladder_index(lab, point)] = *shape;
    point->bytes = 2.0 * sizeof(float) * (double)elements_of(shape);
    return point;
}

static unsigned pieces(int count, int piece) {
    return (unsigned)((count + piece - 1) / piece);
}

static struct lab_point *add(struct lab *lab, enum convolution_step step, struct shape shape) {
    struct lab_point *point = add_point(lab, steps[step].label, steps[step].change, &shape);
    if (!point)
        return NULL;
    lab_kernel(point, "convolution", steps[step].kernel, pieces(shape.width, convolution_cta_width(step)),
               convolution_of_line(step) ? LINE_THREADS : IMAGE_THREADS);
    point->launch.grid[1] = pieces(shape.height, convolution_cta_height(step));
    add_arguments(lab->data, point, &shape);
    return point;
}

static struct shape timed_shape(bool line) {
    return line ? (struct shape){ELEMENTS, 1, false} : (struct shape){SIDE, ELEMENTS / SIDE, false};
}

/* Ragged, and counted. */
static int add_small(struct lab *lab, enum convolution_step step) {
    static const struct shape lines[] = {{1, 1, false}, {1023, 1, false}, {1 << 16, 1, false}};
    static const struct shape images[] = {{1, 1, false}, {70, 33, false}, {256, 128, false}};
    const bool line = convolution_of_line(step);
    struct lab_point *point = NULL;
    for (int i = 0; i < 3; i++) {
        point = add(lab, step, line ? lines[i] : images[i]);
        if (!point)
            return -1;
    }
    const struct shape shape = line ? lines[2] : images[2];
    const struct convolution_counts counts = convolution_predict(step, shape.width, shape.height);
    lab_quantity(point, "load sectors", LAB_SECTORS_LD, counts.sectors, 0);
    lab_quantity(point, "load wavefronts", LAB_EXACT_WAVEFRONTS_LD, counts.load_wavefronts, 0);
    lab_quantity(point, "store wavefronts", LAB_EXACT_WAVEFRONTS_ST, counts.store_wavefronts, 0);
    return 0;
}

static int add_timed(struct lab *lab, enum convolution_step step) {
    struct lab_point *point = add(lab, step, timed_shape(convolution_of_line(step)));
    if (!point)
        return -1;
    point->timed = true;
    point->too_large = lab->simulated;
    return 0;
}

static int run_copy(struct lab *lab, const struct lab_point *point) {
    const struct convolution_data *data = lab->data;
    const size_t bytes = elements_of(&data->shapes[ladder_index(lab, point)]) * sizeof(float);
    GPU_TRY(&lab->gpu, cuMemcpyDtoDAsync, data->to, data->from, bytes, lab->gpu.stream);
    return 0;
}

static int add_copy(struct lab *lab, bool line) {
    struct shape shape = timed_shape(line);
    shape.copied = true;
    struct lab_point *point = add_point(lab, "copy", "No step: the driver's copy of as many bytes.", &shape);
    if (!point)
        return -1;
    point->run = run_copy;
    point->timed = true;
    point->too_large = lab->simulated;
    return 0;
}

static int setup(struct lab *lab, enum convolution_step first, enum convolution_step end) {
    struct convolution_data *data = lab->data = calloc(1, sizeof *data);
    if (!data)
        return complain("out of host memory");
    data->line = convolution_of_line(first);
    const size_t elements = lab->simulated ? 1 << 16 : ELEMENTS;
    const struct shape largest = {(int)elements, 1, false};
    if (lab_alloc(lab, &data->from, elements * sizeof(float), 0) != 0 ||
        lab_alloc(lab, &data->to, bytes_of(&largest), 0xff) != 0)
        return -1;
    if (!lab->launching_only) {
        data->result = malloc(bytes_of(&largest));
        data->expected = malloc(elements * sizeof *data->expected);
        data->scratch = malloc(elements * sizeof *data->scratch);
        data->row = malloc(elements * sizeof *data->row);
        if (!data->result || !data->expected || !data->scratch || !data->row)
            return complain("out of host memory");
        if (ladder_fill(lab, data->from, elements, word_of) != 0)
            return -1;
    }
    for (int step = first; step < (int)end; step++) {
        if (add_small(lab, (enum convolution_step)step) != 0)
            return -1;
    }
    for (int step = first; step < (int)end; step++) { /* one after the other: they have one result */
        if (add_timed(lab, (enum convolution_step)step) != 0)
            return -1;
    }
    return add_copy(lab, data->line);
}

static int setup_line(struct lab *lab) {
    return setup(lab, LINE_NAIVE, IMAGE_NAIVE);
}

static int setup_image(struct lab *lab) {
    return setup(lab, IMAGE_NAIVE, CONVOLUTION_STEPS);
}

/* ---- results -------------------------------------------------------------------------------------- */

static int prepare(struct lab *lab, struct lab_point *point) {
    const struct convolution_data *data = lab->data;
    GPU_TRY(&lab->gpu, cuMemsetD8Async, data->to, 0xff, bytes_of(&data->shapes[ladder_index(lab, point)]),
            lab->gpu.stream);
    return 0;
}

/* The result of a shape, unless it is the one worked out last. */
static void work_out(struct convolution_data *data, const struct shape *shape) {
    if (data->computed.width == shape->width && data->computed.height == shape->height)
        return;
    for (int y = 0; y < shape->height; y++) {
        convolution_row(data->line, shape->width, shape->height, y, data->scratch, data->row);
        for (int x = 0; x < shape->width; x++)
            data->expected[(size_t)y * (size_t)shape->width + (size_t)x] = (int16_t)data->row[x];
    }
    data->computed = *shape;
}

/* The first element that is not as it should be; their number: none. */
static size_t first_wrong(const struct convolution_data *data, const struct shape *shape) {
    const size_t count = elements_of(shape);
    for (size_t i = 0; i < count; i++) {
        if (data->result[i] != (float)(shape->copied ? convolution_value((uint32_t)i) : data->expected[i]))
            return i;
    }
    for (size_t i = count; i < count + GUARD; i++) {
        if (ladder_bits(data->result[i]) != UINT32_MAX)
            return i;
    }
    return SIZE_MAX;
}

static int check(struct lab *lab, struct lab_point *point) {
    struct convolution_data *data = lab->data;
    const struct shape *shape = &data->shapes[ladder_index(lab, point)];
    if (lab_download(lab, data->result, data->to, bytes_of(shape)) != 0)
        return -1;
    if (!shape->copied)
        work_out(data, shape);
    const size_t wrong = first_wrong(data, shape);
    if (wrong == SIZE_MAX)
        lab_correct(point);
    else
        lab_wrong(point, "element %zu of the result, of %zu, is %g", wrong, elements_of(shape),
                  (double)data->result[wrong]);
    return 0;
}

static void teardown(struct lab *lab) {
    struct convolution_data *data = lab->data;
    if (!data)
        return;
    free(data->result);
    free(data->expected);
    free(data->scratch);
    free(data->row);
}

/* ---- conclusions ---------------------------------------------------------------------------------- */

static const struct lab_point *timed_point(struct lab *lab, const char *step, bool line) {
    char label[64];
    const struct shape shape = timed_shape(line);
    if (line)
        snprintf(label, sizeof label, "%s, %d", step, shape.width);
    else
        snprintf(label, sizeof label, "%s, %d x %d", step, shape.width, shape.height);
    return lab_find(lab, label);
}

/* Each step beside the one before it, and the last one beside a copy. */
static int conclude(struct lab *lab) {
    const struct convolution_data *data = lab->data;
    const int first = data->line ? LINE_NAIVE : IMAGE_NAIVE, end = data->line ? IMAGE_NAIVE : CONVOLUTION_STEPS;
    const double copy = lab_gbs(timed_point(lab, "copy", data->line));
    for (int step = first + 1; step < end; step++) {
        const double before = lab_gbs(timed_point(lab, steps[step - 1].label, data->line));
        const double rate = lab_gbs(timed_point(lab, steps[step].label, data->line));
        lab_claim(lab, rate > before, true, "%s: %.2f times the speed of %s, %.0f GB/s, %.1f %% of a copy",
                  steps[step].label, rate / before, steps[step - 1].label, rate, 100 * rate / copy);
    }
    return 0;
}

const struct lab_experiment convolution_1d = {
    .name = "convolution-1d",
    .title = "A line convolved by 17 taps",
    .question = "What do a tile with a halo, and several outputs a thread, save a convolution that memory could feed?",
    .page = "worth-fixing",
    .setup = setup_line,
    .prepare = prepare,
    .check = check,
    .conclude = conclude,
    .teardown = teardown,
};

const struct lab_experiment convolution_2d = {
    .name = "convolution-2d",
    .title = "An image convolved by 7 x 7",
    .question = "What do a tile with a halo, several outputs a thread, and a separable filter save an image?",
    .page = "worth-fixing",
    .setup = setup_image,
    .prepare = prepare,
    .check = check,
    .conclude = conclude,
    .teardown = teardown,
};
