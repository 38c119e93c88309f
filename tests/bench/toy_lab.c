/* SPDX-License-Identifier: Apache-2.0 */
/* Experiments on the GPU that is not there. */
#include "toy_lab.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lab/lab_simulator.h"
#include "lab/modules.h"

struct toy toy;

/* ---- the kernel: lab_squares(to, clock, scale) ------------------------------------------------------ */

static CUresult kernel(const char *name, void **params) {
    CUdeviceptr to, clock;
    int scale;
    ck_assert_str_eq(name, "lab_squares");
    memcpy(&to, params[0], sizeof to);
    memcpy(&clock, params[1], sizeof clock);
    memcpy(&scale, params[2], sizeof scale);
    toy.scale = scale;
    if (toy.hangs)
        pause();
    if (toy.dies)
        raise(SIGKILL);
    for (int i = 0; i < TOY_NUMBERS; i++)
        ((int *)(uintptr_t)to)[i] = scale * i * i;
    if (toy.wrong && scale == 2)
        ((int *)(uintptr_t)to)[TOY_NUMBERS - 1]++;
    *(uint64_t *)(uintptr_t)clock = (uint64_t)toy.cycles;
    return toy.launch_result;
}

/* ---- the experiment --------------------------------------------------------------------------------- */

struct toy_data {
    CUdeviceptr numbers, clock;
};

static int baseline(struct lab *lab, const struct lab_point *point) {
    (void)point;
    fake_spend(25);
    struct toy_data *data = lab->data;
    return fake.lab_kernel("lab_squares", (void *[]){&data->numbers, &data->clock, &(int){1}}) == CUDA_SUCCESS ? 0 : -1;
}

static struct lab_point *add(struct lab *lab, const char *label, int scale) {
    struct toy_data *data = lab->data;
    struct lab_point *point = lab_add(lab, label, "Scales the squares.");
    lab_kernel(point, "toy", "lab_squares", 1, 32);
    LAB_ARGUMENT(point, data->numbers);
    LAB_ARGUMENT(point, data->clock);
    LAB_ARGUMENT(point, scale);
    return point;
}

static int setup(struct lab *lab) {
    struct toy_data *data = lab->data = calloc(1, sizeof *data);
    if (!data || lab_alloc(lab, &data->numbers, TOY_NUMBERS * sizeof(int), 0xff) != 0 ||
        lab_alloc(lab, &data->clock, sizeof(uint64_t), 0) != 0)
        return -1;
    if (toy.setup_fails)
        return complain("the toy was told to fail");
    for (int scale = 1; scale <= 2; scale++) {
        struct lab_point *point = add(lab, scale == 1 ? "a" : "b", scale);
        lab_quantity(point, "conflicts", LAB_CONFLICTS_LD, 31 * scale, 0);
        lab_quantity(point, "all wavefronts", LAB_WAVEFRONTS_LD "+" LAB_WAVEFRONTS_ST, 1980000, 0.01);
        point->clock = data->clock;
        point->cycles_predicted = TOY_CYCLES;
        point->cycles_tolerance = 0.1;
    }
    struct lab_point *timed = add(lab, "timed", 3);
    timed->timed = true;
    timed->too_large = lab->simulated && toy.leaves_out;
    timed->bytes = 1e6;
    struct lab_point *call = lab_add(lab, "a baseline", "Without a kernel of ours.");
    call->run = baseline;
    call->timed = true;
    call->flops = 1e9;
    return 0;
}

static int prepare(struct lab *lab, struct lab_point *point) {
    (void)point;
    const int poison[TOY_NUMBERS] = {-1, -1, -1, -1, -1, -1, -1, -1};
    return lab_upload(lab, ((struct toy_data *)lab->data)->numbers, poison, sizeof poison);
}

static int check(struct lab *lab, struct lab_point *point) {
    int numbers[TOY_NUMBERS], scale = 1;
    if (point->launch.kernel)
        memcpy(&scale, point->launch.arguments[2], sizeof scale);
    if (lab_download(lab, numbers, ((struct toy_data *)lab->data)->numbers, sizeof numbers) != 0)
        return -1;
    lab_correct(point);
    for (int i = 0; i < TOY_NUMBERS; i++) {
        if (numbers[i] != scale * i * i)
            lab_wrong(point, "number %d is %d instead of %d", i, numbers[i], scale * i * i);
    }
    return 0;
}

static int conclude(struct lab *lab) {
    const struct lab_point *timed = lab_find(lab, "timed"), *call = lab_find(lab, "a baseline");
    lab_claim(lab, !toy.broken_claim, false, "Squares are %s.", "squares");
    lab_claim(lab, timed->us < call->us, true, "The kernel is faster than the call: %.1f < %.1f us.", timed->us,
              call->us);
    if (lab->has_counts)
        lab_claim(lab, lab_counted(lab_find(lab, "a"), "conflicts") == 31, false, "31 conflicts were counted.");
    return 0;
}

const struct lab_experiment toy_squares = {.name = "toy-squares",
                                           .title = "Toy squares",
                                           .question = "Are squares <square> & good?",
                                           .page = "toys",
                                           .setup = setup,
                                           .prepare = prepare,
                                           .check = check,
                                           .conclude = conclude};
static const struct lab_experiment toy_hopper = {
    .name = "toy-hopper", .title = "Toy of another GPU", .question = "Is it there?", .hopper = true, .setup = setup};

/* ---- a simulated GPU -------------------------------------------------------------------------------- */

/* One metric it counts, one it does not claim. */
static int metric(const char *name, double *value) {
    *value = 31 * toy.scale + toy.simulator_errs;
    return strcmp(name, LAB_CONFLICTS_LD) == 0 ? 0 : -1;
}

void toy_simulate(void) {
    simulator_install(metric);
}

/* ---- installing ------------------------------------------------------------------------------------- */

void toy_install(void) {
    static const struct lab_experiment *const experiments[] = {&toy_squares, &toy_hopper, NULL};
    static const unsigned char image[1];
    static const struct lab_module modules[] = {{"toy", "ptx/toy.ptx", image, image + 1}, {0}};
    toy = (struct toy){.cycles = 41};
    fake_gpu_install((struct fake_gpu){.ours_us = 10, .lab_kernel = kernel});
    lab_registry_install(experiments, modules);
    toy_profiler(NULL);
}

void toy_remove(void) {
    lab_registry_install(NULL, NULL);
    unsetenv("NCU");
    simulator_install(NULL);
    fake_gpu_remove();
}

void toy_profiler(const char *output) {
    static const char script[] = "#!/bin/sh\n"
                                 "[ \"$1\" = --version ] && { echo 'Version 2025.3.1.0 (build 1)'; exit 0; }\n"
                                 "echo \"$@\" > bench-tests-out/ncu.arguments\n"
                                 "cat bench-tests-out/ncu.output\n";
    setenv("NCU", "bench-tests-out/no-such-ncu", 1);
    if (!output)
        return;
    mkdir("bench-tests-out", 0777);
    FILE *file = fopen("bench-tests-out/ncu", "w"), *text = fopen("bench-tests-out/ncu.output", "w");
    ck_assert(file && text);
    fputs(script, file);
    fputs(output, text);
    fclose(file);
    fclose(text);
    chmod("bench-tests-out/ncu", 0755);
    setenv("NCU", "bench-tests-out/ncu", 1);
}
