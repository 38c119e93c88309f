/* SPDX-License-Identifier: Apache-2.0 */
/* spilling: one kernel with 255, 128, 64 and 32 registers a thread. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lab/kernels/spilling.h"
#include "lab/ladders.h"
#include "lab/residency.h"

#define LOCAL_SECTORS "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum"

enum {
    ROUNDS = 256,
    SIMULATED_ROUNDS = 4,
    WAVES = 8, /* blocks for every SM: 1, 2, 4 and 8 divide it */
    SIMULATED_BLOCKS = 2,
    REGISTERS = 0, /* quantities */
    LOCAL = 1
};

static const struct step {
    const char *kernel;
    int registers, blocks; /* at most, of a thread; on an SM */
} steps[] = {
    {"lab_spilling_255", 255, 1}, {"lab_spilling_128", 128, 2}, {"lab_spilling_64", 64, 4}, {"lab_spilling_32", 32, 8}};
enum { STEPS = sizeof steps / sizeof *steps };

struct study {
    CUlibrary library;
    CUdeviceptr in, out;
    uint32_t rounds;
    size_t threads;
};

/* ---- points --------------------------------------------------------------------------------------- */

/* What ptxas gave the kernel. The simulated GPU runs PTX, which has as many registers as it likes, so nothing spills. */
static int ask(struct lab *lab, struct lab_point *point) {
    const struct study *study = lab->data;
    CUfunction function;
    int registers, local;
    if (lab->simulated)
        return 0;
    if (residency_function(lab, study->library, point->launch.kernel, 0, &function) != 0)
        return -1;
    GPU_TRY(&lab->gpu, cuFuncGetAttribute, &registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function);
    GPU_TRY(&lab->gpu, cuFuncGetAttribute, &local, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, function);
    point->quantities[REGISTERS].counted = registers;
    point->quantities[LOCAL].counted = local;
    return 0;
}

static int add(struct lab *lab, const struct step *step) {
    const struct study *study = lab->data;
    const int without = SPILLING_SUMS > step->registers ? SPILLING_SUMS - step->registers : 0;
    char label[64], change[160];
    snprintf(label, sizeof label, "%d registers", step->registers);
    snprintf(change, sizeof change, "%d sums a thread, at least %d of them without a register; %d block%s an SM",
             SPILLING_SUMS, without, step->blocks, step->blocks == 1 ? "" : "s");
    struct lab_point *point = lab_add(lab, label, change);
    if (!point)
        return -1;
    lab_kernel(point, "spilling", step->kernel, (unsigned)(study->threads / SPILLING_THREADS), SPILLING_THREADS);
    LAB_ARGUMENT(point, study->out);
    LAB_ARGUMENT(point, study->in);
    LAB_ARGUMENT(point, study->rounds);
    point->timed = true;
    /* How many registers there are is known; how well ptxas chooses what to spill is not. */
    lab_quantity(point, "registers", NULL, without ? step->registers : NAN, 0.1);
    lab_quantity(point, "local bytes a thread", NULL, without ? NAN : 0, 0);
    lab_quantity(point, "local sectors loaded", LOCAL_SECTORS, without ? NAN : 0, 0);
    return ask(lab, point);
}

static int setup(struct lab *lab) {
    struct study *study = lab->data = calloc(1, sizeof *study);
    if (!study)
        return complain("out of host memory");
    const size_t blocks = lab->simulated ? SIMULATED_BLOCKS : (size_t)lab->gpu.device.sm_count * WAVES;
    study->rounds = lab->simulated ? SIMULATED_ROUNDS : ROUNDS;
    study->threads = blocks * SPILLING_THREADS;
    if (lab_alloc(lab, &study->in, ROUNDS * sizeof(uint32_t), 0) != 0 ||
        lab_alloc(lab, &study->out, study->threads * sizeof(uint32_t), 0xff) != 0 ||
        ladder_fill(lab, study->in, ROUNDS, ladder_hash) != 0 || residency_open(lab, "spilling", &study->library) != 0)
        return -1;
    for (int i = 0; i < STEPS; i++) {
        if (add(lab, &steps[i]) != 0)
            return -1;
    }
    return 0;
}

/* ---- results -------------------------------------------------------------------------------------- */

static int prepare(struct lab *lab, struct lab_point *point) {
    (void)point;
    const struct study *study = lab->data;
    GPU_TRY(&lab->gpu, cuMemsetD8Async, study->out, 0xff, study->threads * sizeof(uint32_t), lab->gpu.stream);
    return 0;
}

/* Every sum goes through the same x: it ends as start times their product, and i times what a sum of ones would be. */
static int check(struct lab *lab, struct lab_point *point) {
    const struct study *study = lab->data;
    uint32_t *out = malloc(study->threads * sizeof *out), product = 1, ones = 0;
    if (!out || lab_download(lab, out, study->out, study->threads * sizeof *out) != 0) {
        free(out);
        return complain("no memory, or no result");
    }
    for (uint32_t round = 0; round < study->rounds; round++) {
        product *= ladder_hash(round);
        ones = ones * ladder_hash(round) + 1;
    }
    lab_correct(point);
    for (uint32_t thread = 0; thread < study->threads && point->result == LAB_CORRECT; thread++) {
        uint32_t folded = 0;
        for (uint32_t i = 0; i < SPILLING_SUMS; i++)
            folded ^= (thread + i) * product + i * ones;
        if (out[thread] != folded)
            lab_wrong(point, "thread %u has %#x, not %#x", thread, out[thread], folded);
    }
    free(out);
    return 0;
}

/* ---- conclusions ---------------------------------------------------------------------------------- */

static int conclude(struct lab *lab) {
    const struct lab_point *most = &lab->points[0];
    for (int i = 1; i < STEPS && !lab->simulated; i++) {
        const struct lab_point *point = &lab->points[i];
        const double local = point->quantities[LOCAL].counted, least = 4.0 * (SPILLING_SUMS - steps[i].registers);
        lab_claim(lab, local >= least, false,
                  "with %d registers %.0f bytes of a thread lie in local memory, at least the %.0f of sums without a "
                  "register",
                  steps[i].registers, local, least);
        lab_claim(lab, point->us > most->us, true,
                  "and it takes %.2f times as long as with 255, with %d blocks an SM for 1", point->us / most->us,
                  steps[i].blocks);
    }
    return 0;
}

static void teardown(struct lab *lab) {
    const struct study *study = lab->data;
    if (study && study->library)
        lab->gpu.drv->cuLibraryUnload(study->library);
}

const struct lab_experiment spilling = {
    .name = "spilling",
    .title = "Registers that spill",
    .question = "What does a kernel lose that has fewer registers than it needs, and do more blocks make up for it?",
    .page = "occupancy",
    .setup = setup,
    .prepare = prepare,
    .check = check,
    .conclude = conclude,
    .teardown = teardown,
};
