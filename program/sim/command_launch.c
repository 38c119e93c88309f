/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill sim launch: a reader's own kernel on the simulated GPU. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/commands.h"
#include "program/sim/launch_compile.h"
#include "program/sim/launch_counters.h"
#include "program/sim/launch_kernel.h"
#include "program/sim/launch_mask.h"
#include "program/sim/launch_start.h"
#include "program/sim/launch_report.h"

enum { THREADS_MAX = 1024, PATH_BYTES = 4096 };

/* What is launched. */
struct launch {
    struct simulator simulator;
    const struct launch_options *options;
    struct launch_arguments *arguments;
    char *text;
    char folder[PATH_BYTES]; /* of the file */
    struct gm_sim_ptx *ptx;
    size_t kernel;
    char name[LAUNCH_NAME_BYTES];
    CUlibrary library;
    CUfunction function;
    struct launch_accesses accesses;
};

/* ---- the kernel -------------------------------------------------------------------------------------------------- */

static int refuse_load(const struct launch *launch, CUresult result) {
    if (result == CUDA_ERROR_NO_BINARY_FOR_GPU)
        return complain("the PTX of %s is for another GPU than a simulated %s", launch->options->file,
                        launch->options->request.device);
    return gpu_fail(result, "cuLibraryLoadData");
}

static int ask_for_shared(const struct launch *launch) {
    const struct gpu *gpu = &launch->simulator.gpu;
    const int bytes = launch->options->shared;
    struct gm_sim_kernel kernel;
    launch->simulator.ptx_kernel(launch->ptx, launch->kernel, &kernel);
    if (bytes + (int)kernel.static_shared <= LAUNCH_SHARED_WITHOUT_ASKING)
        return 0;
    const CUresult result = launch_allow_shared(gpu, launch->function, bytes);
    if (result == CUDA_SUCCESS)
        return 0;
    return complain(
        "%s is refused: %d bytes of dynamic shared memory and %u of static; a block of %s may have %d in all "
        "(cudaFuncSetAttribute returns %s)",
        launch->name, bytes, kernel.static_shared, gpu->device.name, gpu->device.smem_per_block_bytes,
        gm_driver_error_name(result));
}

static int load(struct launch *launch) {
    struct gm_sim_kernel kernel;
    launch->simulator.ptx_kernel(launch->ptx, launch->kernel, &kernel);
    const CUresult result =
        launch_load(&launch->simulator.gpu, launch->text, kernel.name, &launch->library, &launch->function);
    return result == CUDA_SUCCESS ? ask_for_shared(launch) : refuse_load(launch, result);
}

static int check_threads(const struct launch *launch) {
    const unsigned *block = launch->options->block;
    const uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    struct gm_sim_kernel kernel;
    launch->simulator.ptx_kernel(launch->ptx, launch->kernel, &kernel);
    if (threads > THREADS_MAX)
        return complain("--block %s is %" PRIu64 " threads; a block has %d at most", launch->options->block_text,
                        threads, THREADS_MAX);
    if (kernel.threads[0] && memcmp(kernel.threads, block, sizeof kernel.threads) != 0)
        return complain("%s is compiled for blocks of %u,%u,%u threads (.reqntid)", launch->name, kernel.threads[0],
                        kernel.threads[1], kernel.threads[2]);
    return 0;
}

/* ---- a run ------------------------------------------------------------------------------------------------------- */

/* With the clusters of --cluster, or those that the kernel was compiled for, as by __cluster_dims__. */
static CUresult start(struct launch *launch) {
    const struct launch_options *given = launch->options;
    struct gm_sim_kernel kernel;
    launch->simulator.ptx_kernel(launch->ptx, launch->kernel, &kernel);
    const unsigned *cluster = given->cluster_text ? given->cluster : kernel.cluster;
    return launch_start(&launch->simulator.gpu, launch->function, given, cluster, launch->arguments);
}

static void print_outcome(const struct launch *launch, uint64_t seed, CUresult result, double seconds) {
    const size_t reports = simulator_count_reports(&launch->simulator);
    printf("seed %" PRIu64 ": ", seed);
    if (result != CUDA_SUCCESS)
        printf("the launch ended with %s, ", gm_driver_error_name(result));
    if (reports || result == CUDA_SUCCESS)
        printf("%zu report%s, ", reports, reports == 1 ? "" : "s");
    printf("%.2f s\n", seconds);
}

enum verdict { RUN_CLEAN, RUN_FAULTY, RUN_ENDED, RUN_FAILED };

/* RUN_ENDED: the launch ended before its time, and the device can do no more. RUN_FAILED: printed. */
static enum verdict run_once(struct launch *launch, uint64_t seed) {
    struct simulator *simulator = &launch->simulator;
    simulator->set_seed(seed);
    simulator->reports_clear();
    launch_forget_accesses(&launch->accesses);
    simulator->set_access(launch_note_access, &launch->accesses);
    if (arguments_place(launch->arguments, &simulator->gpu) != 0)
        return RUN_FAILED;
    const double begin = gpu_seconds();
    const CUresult result = start(launch);
    simulator->set_access(NULL, NULL);
    print_outcome(launch, seed, result, gpu_seconds() - begin);
    const size_t reports = simulator_print_reports(simulator);
    if (result != CUDA_SUCCESS) {
        arguments_collect(launch->arguments, &simulator->gpu, false);
        return RUN_ENDED;
    }
    const int status = arguments_collect(launch->arguments, &simulator->gpu, true);
    const int different = status == 0 ? arguments_compare(launch->arguments) : -1;
    return different < 0 ? RUN_FAILED : reports || different ? RUN_FAULTY : RUN_CLEAN;
}

static enum verdict run_seeds(struct launch *launch) {
    const struct launch_options *given = launch->options;
    enum verdict worst = RUN_CLEAN;
    for (int i = 0; i < given->seeds && worst < RUN_ENDED; i++) {
        const enum verdict verdict = run_once(launch, given->request.seed + (uint64_t)i);
        worst = verdict > worst ? verdict : worst;
    }
    return worst;
}

static int run(struct launch *launch) {
    const struct launch_options *given = launch->options;
    struct gm_sim_kernel kernel;
    launch->simulator.ptx_kernel(launch->ptx, launch->kernel, &kernel);
    printf("%s of %s\ngrid %u,%u,%u, block %u,%u,%u, %u bytes of static and %d of dynamic shared memory, on %s\n",
           launch->name, given->file, given->grid[0], given->grid[1], given->grid[2], given->block[0], given->block[1],
           given->block[2], kernel.static_shared, given->shared, launch->simulator.gpu.device.name);
    launch->simulator.set_counting(1);
    const enum verdict verdict = run_seeds(launch);
    if (verdict == RUN_FAILED)
        return -1;
    int status = verdict == RUN_CLEAN ? 0 : -1;
    if (!given->quiet) {
        status |= launch_print_table(&launch->simulator);
        launch_print_cures(&launch->simulator, launch->ptx, launch->kernel, (uint32_t)given->shared, &launch->accesses);
    }
    if (given->counters && verdict != RUN_ENDED)
        launch_print_counters(&launch->simulator, kernel.name, stdout);
    if (given->lines && verdict != RUN_ENDED)
        status |= launch_print_lines(&launch->simulator, stdout);
    if (verdict != RUN_ENDED)
        status |= arguments_show(launch->arguments);
    return status;
}

/* ---- from the options to the launch ------------------------------------------------------------------------------ */

/* If not all of it can be read, then without the kernels that are not asked for. */
static int read_ptx(struct launch *launch) {
    char message[400] = "", where[300];
    launch->ptx = launch->simulator.ptx_read(launch->text, message, sizeof message);
    if (launch->ptx)
        return 0;
    launch_mask_others(launch->text, launch->options->kernel);
    launch->ptx = launch->simulator.ptx_read(launch->text, message, sizeof message);
    if (launch->ptx)
        return 0;
    const char *line = strstr(message, "line ");
    launch_describe_line(launch->text, line ? (uint32_t)strtoul(line + strlen("line "), NULL, 10) : 0, where,
                         sizeof where);
    return complain("the simulated GPU cannot read the PTX of %s: %s%s", launch->options->file, message, where);
}

/* An exit code; EXIT_CODE_OK: the kernel is there and its arguments fit. */
static int prepare(struct launch *launch) {
    const struct launch_options *given = launch->options;
    struct simulator *simulator = &launch->simulator;
    struct gm_sim_kernel kernel;
    launch->text = launch_ptx(given->file, given->request.device, given->flags);
    if (!launch->text)
        return EXIT_CODE_FAILURE;
    if (read_ptx(launch) != 0)
        return EXIT_CODE_FAILURE;
    if (launch_find_kernel(simulator, launch->ptx, given->file, given->kernel, &launch->kernel) != 0 ||
        launch_check_arguments(simulator, launch->ptx, launch->kernel, launch->arguments) != 0)
        return EXIT_CODE_USAGE;
    simulator->ptx_kernel(launch->ptx, launch->kernel, &kernel);
    launch_plain_name(kernel.name, launch->name);
    return check_threads(launch) == 0 ? EXIT_CODE_OK : EXIT_CODE_USAGE;
}

/* Where the file lies, sources may lie too. */
static void find_folder(struct launch *launch) {
    const char *file = launch->options->file, *slash = strrchr(file, '/');
    snprintf(launch->folder, sizeof launch->folder, "%.*s", slash ? (int)(slash - file) : 1, slash ? file : ".");
    launch->simulator.folder = launch->folder;
}

static int launch(const struct launch_options *given, struct launch_arguments *arguments) {
    struct launch launch = {.options = given, .arguments = arguments};
    if (simulator_open(&launch.simulator, &given->request) != 0)
        return EXIT_CODE_FAILURE;
    find_folder(&launch);
    int code = prepare(&launch);
    if (code == EXIT_CODE_OK && (load(&launch) != 0 || run(&launch) != 0))
        code = EXIT_CODE_FAILURE;
    if (launch.library)
        launch.simulator.gpu.drv->cuLibraryUnload(launch.library);
    launch.simulator.ptx_free(launch.ptx);
    launch_forget_accesses(&launch.accesses);
    free(launch.text);
    simulator_close(&launch.simulator);
    return code;
}

/* ---- command line ------------------------------------------------------------------------------------------------ */

static const char about[] =
    "Runs one kernel of yours on the simulated GPU, prints what is wrong with it (races, barriers, bounds, what was\n"
    "never written) and what its accesses to memory cost, by source line, and what would cure bank conflicts. Exit "
    "code\n"
    "1: something is wrong. Needs no GPU. FILE is PTX (`nvcc -ptx -lineinfo`), or a .cu, which nvcc or NVRTC "
    "compiles.\n\n"
    "A kernel may call functions, printf and assert(), and use wmma; docs/SIMULATOR.md says what there is "
    "not.\n\n" LAUNCH_ARGS_HELP
    "Behind a buffer's fill: print, print=N, save=PATH, compare=PATH (exit code 1: they differ).\n\n"
    "examples:\n"
    "  gristmill sim launch transpose.cu --grid 2,2 --block 32,32 --args out:f32:64x64 buffer:f32:64x64:iota i32:64\n"
    "  gristmill sim launch kernels.ptx reduce --grid 8 --block 256 --shared 1024 --seeds 8 --device a100 \\\n"
    "      --args buffer:f32:2048:ones out:f32:8";

int command_sim_launch(int argc, char **argv) {
    struct launch_options given = {.request.device = "h100", .seeds = 1};
    struct args_list words = {0};
    struct args_option options[LAUNCH_OPTIONS + 7] = {
        {"seeds", "N", ARGS_POSITIVE, &given.seeds, "run under N schedules, from --schedule's seed on: a race search"},
        {"schedule", "seed=N", ARGS_TEXT, &given.request.schedule, "random run lengths and latencies (default: plain)"},
        {"device", "DEVICE", ARGS_TEXT, &given.request.device, "a100, h100 (default), h200, rtx4090"},
        {"sms", "N", ARGS_POSITIVE, &given.request.sms, "SMs of the device (default: its own)"},
        {"no-table", NULL, ARGS_FLAG, &given.quiet, "only what is wrong, and the buffers"},
        {"counters", NULL, ARGS_FLAG, &given.counters, "what Nsight Compute would count, by its names"},
        {"lines", NULL, ARGS_FLAG, &given.lines, "the same by line of the source, for `gristmill lab count`"},
    };
    launch_options_list(&given, options + 7);
    const struct args_command command = {"gristmill sim launch FILE [KERNEL] --grid X,Y --block X,Y [options]", about,
                                         options, sizeof options / sizeof *options};
    argc = launch_take_args(argc, argv, &given.given);
    if (argc < 0)
        return EXIT_CODE_USAGE;
    const enum args_outcome outcome = args_parse(&command, argc, argv, &words);
    if (outcome != ARGS_GO)
        return outcome == ARGS_HELP ? EXIT_CODE_OK : EXIT_CODE_USAGE;
    struct launch_arguments arguments = {0};
    int code = EXIT_CODE_USAGE;
    if (launch_options_read(&given, &words) == 0 && arguments_read(&arguments, &given.given) == 0)
        code = launch(&given, &arguments);
    arguments_free(&arguments);
    return code;
}
