/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill sim launch: a reader's own kernel on the simulated GPU. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/commands.h"
#include "program/sim/launch_arguments.h"
#include "program/sim/launch_compile.h"
#include "program/sim/launch_kernel.h"
#include "program/sim/launch_mask.h"
#include "program/sim/launch_report.h"
#include "program/smem/numbers.h"

enum { DIMENSIONS = 3, SHARED_WITHOUT_ASKING = 48 << 10, THREADS_MAX = 1024, PATH_BYTES = 4096 };

struct launch_options {
    struct sim_request request;
    const char *grid_text, *block_text, *cluster_text, *flags;
    unsigned grid[DIMENSIONS], block[DIMENSIONS], cluster[DIMENSIONS];
    int shared, seeds;
    bool quiet; /* no tables */
    const char *file, *kernel;
    struct args_list given; /* --args */
};

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

/* Above 48 KB a kernel has to ask, as by cudaFuncSetAttribute(). */
static int ask_for_shared(const struct launch *launch) {
    const struct gpu *gpu = &launch->simulator.gpu;
    const int bytes = launch->options->shared;
    struct gm_sim_kernel kernel;
    launch->simulator.ptx_kernel(launch->ptx, launch->kernel, &kernel);
    if (bytes + (int)kernel.static_shared <= SHARED_WITHOUT_ASKING)
        return 0;
    const CUresult result =
        gpu->drv->cuFuncSetAttribute(launch->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes);
    if (result == CUDA_SUCCESS)
        return 0;
    return complain(
        "%s is refused: %d bytes of dynamic shared memory and %u of static; a block of %s may have %d in all "
        "(cudaFuncSetAttribute returns %s)",
        launch->name, bytes, kernel.static_shared, gpu->device.name, gpu->device.smem_per_block_bytes,
        gm_driver_error_name(result));
}

static int load(struct launch *launch) {
    const struct gm_driver *drv = launch->simulator.gpu.drv;
    struct gm_sim_kernel kernel;
    CUkernel handle;
    launch->simulator.ptx_kernel(launch->ptx, launch->kernel, &kernel);
    CUresult result = drv->cuLibraryLoadData(&launch->library, launch->text, NULL, NULL, 0, NULL, NULL, 0);
    if (result != CUDA_SUCCESS)
        return refuse_load(launch, result);
    result = drv->cuLibraryGetKernel(&handle, launch->library, kernel.name);
    if (result == CUDA_SUCCESS)
        result = drv->cuKernelGetFunction(&launch->function, handle);
    return result == CUDA_SUCCESS ? ask_for_shared(launch) : gpu_fail(result, "cuLibraryGetKernel");
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

/* --cluster, or what the kernel was compiled for, as by __cluster_dims__. */
static CUlaunchAttribute cluster_of(const struct launch *launch) {
    const unsigned *given = launch->options->cluster;
    struct gm_sim_kernel kernel;
    launch->simulator.ptx_kernel(launch->ptx, launch->kernel, &kernel);
    if (!launch->options->cluster_text && kernel.cluster[0])
        given = kernel.cluster;
    return (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                               .value.clusterDim = {given[0], given[1], given[2]}};
}

static CUresult start(struct launch *launch) {
    const struct launch_options *given = launch->options;
    CUlaunchAttribute cluster = cluster_of(launch);
    const CUlaunchConfig config = {.gridDimX = given->grid[0],
                                   .gridDimY = given->grid[1],
                                   .gridDimZ = given->grid[2],
                                   .blockDimX = given->block[0],
                                   .blockDimY = given->block[1],
                                   .blockDimZ = given->block[2],
                                   .sharedMemBytes = (unsigned)given->shared,
                                   .hStream = launch->simulator.gpu.stream,
                                   .attrs = &cluster,
                                   .numAttrs = cluster.value.clusterDim.x != 0};
    void *values[LAUNCH_ARGUMENTS_MAX];
    for (size_t i = 0; i < launch->arguments->count; i++) {
        struct launch_argument *argument = &launch->arguments->each[i];
        values[i] = argument->is_buffer ? (void *)&argument->address : argument->bytes;
    }
    const struct gm_driver *drv = launch->simulator.gpu.drv;
    const CUresult result = drv->cuLaunchKernelEx(&config, launch->function, values, NULL);
    return result == CUDA_SUCCESS ? drv->cuStreamSynchronize(launch->simulator.gpu.stream) : result;
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
    if (arguments_place(launch->arguments, simulator) != 0)
        return RUN_FAILED;
    const double begin = gpu_seconds();
    const CUresult result = start(launch);
    simulator->set_access(NULL, NULL);
    print_outcome(launch, seed, result, gpu_seconds() - begin);
    const size_t reports = simulator_print_reports(simulator);
    if (result != CUDA_SUCCESS) {
        arguments_collect(launch->arguments, simulator, false);
        return RUN_ENDED;
    }
    const int status = arguments_collect(launch->arguments, simulator, true);
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
    if (verdict != RUN_ENDED)
        status |= arguments_show(launch->arguments);
    return status;
}

/* ---- from the options to the launch ------------------------------------------------------------------------------ */

/* If not all of it can be read, then without the kernels that are not asked for, and without functions. */
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
    const bool calls = strstr(message, ": .param") || strstr(message, ": call");
    return complain("the simulated GPU cannot read the PTX of %s: %s%s%s", launch->options->file, message, where,
                    calls ? " (a call of a function, such as printf: there are only kernels)" : "");
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

/* "32,8": X, and Y and Z where they are not 1. */
static int read_dimensions(const char *option, const char *text, unsigned dimensions[DIMENSIONS]) {
    const char *at = text;
    uint32_t value = 0;
    for (int i = 0; i < DIMENSIONS; i++)
        dimensions[i] = 1;
    for (int i = 0; i < DIMENSIONS && number_take(&at, INT32_MAX, &value) && value; i++) {
        dimensions[i] = value;
        if (*at == '\0')
            return 0;
        if (*at++ != ',')
            break;
    }
    return complain("--%s is X, X,Y or X,Y,Z with whole numbers from 1 on, not `%.40s`", option, text);
}

static int read_launch(struct launch_options *given) {
    if (!given->grid_text || !given->block_text)
        return complain("say how many blocks and threads: --grid X,Y --block X,Y");
    if (read_dimensions("grid", given->grid_text, given->grid) != 0 ||
        read_dimensions("block", given->block_text, given->block) != 0)
        return -1;
    if (given->cluster_text && read_dimensions("cluster", given->cluster_text, given->cluster) != 0)
        return -1;
    return sim_request_read_schedule(&given->request);
}

static int read_words(struct launch_options *given, const struct args_list *words) {
    if (words->count == 0)
        return complain("say which file: a .ptx, or a .cu where there is a CUDA toolkit");
    if (words->count > 2)
        return complain("one kernel of one file, and not %s as well; arguments of the kernel stand behind --args",
                        words->items[2]);
    given->file = words->items[0];
    given->kernel = words->count > 1 ? words->items[1] : NULL;
    return 0;
}

/* Moves the words behind --args, up to the next option, to the list. Returns how many words are left; -1: too many. */
static int take_args(int argc, char **argv, struct args_list *list) {
    int left = 0;
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "--args") != 0) {
            argv[left++] = argv[i];
            continue;
        }
        for (; i + 1 < argc && strncmp(argv[i + 1], "--", 2) != 0; i++) {
            if (list->count == ARGS_LIST_MAX)
                return complain("more than %d arguments", ARGS_LIST_MAX);
            list->items[list->count++] = argv[i + 1];
        }
    }
    return left;
}

static const char about[] =
    "Runs one kernel of yours on the simulated GPU, prints what is wrong with it (races, barriers, bounds, what was\n"
    "never written) and what its accesses to memory cost, by source line, and what would cure bank conflicts. Exit "
    "code\n"
    "1: something is wrong. Needs no GPU. FILE is PTX (`nvcc -ptx -lineinfo`), or a .cu, which nvcc or NVRTC "
    "compiles.\n\n"
    "Arguments stand behind --args in the order of the kernel's parameters:\n"
    "  i32:64  f32:1.5  u64:0xff     numbers: i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64\n"
    "  buffer:f32:4096:iota          device memory: type, how many (or 64x64), how it is filled: zero, ones, iota,\n"
    "                                random, random=SEED, file=PATH, none (nothing was written)\n"
    "  out:f32:4096                  the same as buffer:f32:4096:none:print=8\n"
    "  file:PATH                     bytes, as of a struct\n"
    "Behind a buffer's fill: print, print=N, save=PATH, compare=PATH (exit code 1: they differ).\n\n"
    "examples:\n"
    "  gristmill sim launch transpose.cu --grid 2,2 --block 32,32 --args out:f32:64x64 buffer:f32:64x64:iota i32:64\n"
    "  gristmill sim launch kernels.ptx reduce --grid 8 --block 256 --shared 1024 --seeds 8 --device a100 \\\n"
    "      --args buffer:f32:2048:ones out:f32:8";

int command_sim_launch(int argc, char **argv) {
    struct launch_options given = {.request.device = "h100", .seeds = 1};
    struct args_list words = {0};
    const struct args_option options[] = {
        {"grid", "X,Y,Z", ARGS_TEXT, &given.grid_text, "blocks"},
        {"block", "X,Y,Z", ARGS_TEXT, &given.block_text, "threads of a block"},
        {"cluster", "X,Y,Z", ARGS_TEXT, &given.cluster_text, "blocks of a cluster"},
        {"shared", "BYTES", ARGS_COUNT, &given.shared, "dynamic shared memory"},
        {"args", "ARG ...", ARGS_LIST, &given.given, "the kernel's arguments, up to the next option"},
        {"seeds", "N", ARGS_POSITIVE, &given.seeds, "run under N schedules, from --schedule's seed on: a race search"},
        {"schedule", "seed=N", ARGS_TEXT, &given.request.schedule, "random run lengths and latencies (default: plain)"},
        {"device", "DEVICE", ARGS_TEXT, &given.request.device, "a100, h100 (default), h200, rtx4090"},
        {"sms", "N", ARGS_POSITIVE, &given.request.sms, "SMs of the device (default: its own)"},
        {"flags", "FLAGS", ARGS_TEXT, &given.flags, "for the compiler, e.g. '-DTILE=32 -Iinclude'"},
        {"no-table", NULL, ARGS_FLAG, &given.quiet, "only what is wrong, and the buffers"},
    };
    const struct args_command command = {"gristmill sim launch FILE [KERNEL] --grid X,Y --block X,Y [options]", about,
                                         options, sizeof options / sizeof *options};
    argc = take_args(argc, argv, &given.given);
    if (argc < 0)
        return EXIT_CODE_USAGE;
    const enum args_outcome outcome = args_parse(&command, argc, argv, &words);
    if (outcome != ARGS_GO)
        return outcome == ARGS_HELP ? EXIT_CODE_OK : EXIT_CODE_USAGE;
    struct launch_arguments arguments = {0};
    int code = EXIT_CODE_USAGE;
    if (read_words(&given, &words) == 0 && read_launch(&given) == 0 && arguments_read(&arguments, &given.given) == 0)
        code = launch(&given, &arguments);
    arguments_free(&arguments);
    return code;
}
