/* SPDX-License-Identifier: Apache-2.0 */
/* gristmill lab count: what the simulated GPU predicts of a reader's kernel, and what the real one counts.
 *
 * Both run in other processes: `gristmill sim launch --counters` for the first, and for the second, under ncu,
 * `gristmill lab count-launch`. */
#include "lab/command_count.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lab/lab_simulator.h"
#include "lab/profiler.h"
#include "lab/spawn.h"
#include "program/base/shared_file.h"
#include "program/base/text_table.h"
#include "program/base/whole_file.h"
#include "program/sim/launch_compile.h"
#include "program/sim/launch_counters.h"
#include "program/sim/launch_kernel.h"
#include "program/sim/launch_start.h"

#define TIMEOUT_SECONDS 240.0

enum { PATH_BYTES = 4096, KERNEL_BYTES = 1024, WORDS_MAX = ARGS_LIST_MAX + 32, NUMBER_BYTES = 16 };

struct counting {
    struct launch_options given;
    int device;
    bool verify, lines;
    double timeout_s;
    char path[PATH_BYTES]; /* of the PTX */
    bool compiled;         /* that is a file of this process */
    char kernel[KERNEL_BYTES];
    double simulated[LAUNCH_COUNTERS];
    struct launch_lines predicted, counted; /* by line of the source */
    struct profiler_report counters;
};

/* ---- the GPU and the profiler ------------------------------------------------------------------------------------- */

/* The GPU's description, and the simulated one like it unless another was asked for. */
static int find_gpu(struct counting *counting, struct gm_device *device) {
    char why[256];
    struct gpu gpu;
    if (gpu_count(why, sizeof why) == 0)
        return complain("counting needs a GPU: %s; `gristmill sim launch` needs none", why);
    if (gpu_open(&gpu, counting->device) != 0)
        return -1;
    *device = gpu.device;
    gpu_close(&gpu);
    if (!counting->given.request.device)
        counting->given.request.device = simulator_device_like(device);
    if (!counting->given.request.device)
        return complain("there is no simulated GPU like %s; --like takes one of another kind", device->name);
    if (profiler_find(&counting->counters))
        return 0;
    return complain("counting needs Nsight Compute: %s", counting->counters.why);
}

/* ---- the PTX ------------------------------------------------------------------------------------------------------- */

/* What was compiled, in a file of this process. */
static int write_ptx(struct counting *counting, const char *ptx) {
    const int descriptor = launch_temporary(counting->path, sizeof counting->path);
    counting->compiled = descriptor >= 0;
    FILE *out = descriptor < 0 ? NULL : fdopen(descriptor, "w");
    if (!out)
        return descriptor < 0 ? -1 : complain("cannot write %s: %s", counting->path, strerror(errno));
    fputs(ptx, out);
    return file_finish(out, counting->path);
}

/* Both processes take the same PTX. */
static int make_ptx(struct counting *counting) {
    const struct launch_options *given = &counting->given;
    char *ptx = launch_ptx(given->file, given->request.device, given->flags);
    if (!ptx)
        return -1;
    int status = 0;
    if (launch_is_compiled(given->file))
        status = write_ptx(counting, ptx);
    else
        snprintf(counting->path, sizeof counting->path, "%s", given->file);
    free(ptx);
    return status;
}

/* ---- the words of both processes ----------------------------------------------------------------------------------- */

struct words {
    char *each[WORDS_MAX];
    size_t count;
    char shared[NUMBER_BYTES], device[NUMBER_BYTES];
};

static void add(struct words *words, const char *word) {
    if (words->count < WORDS_MAX - 1)
        words->each[words->count++] = (char *)word;
    words->each[words->count] = NULL;
}

static void add_option(struct words *words, const char *option, const char *value) {
    if (!value)
        return;
    add(words, option);
    add(words, value);
}

/* The launch's options and arguments, as this process was given them. */
static void add_launch(struct words *words, const struct counting *counting) {
    const struct launch_options *given = &counting->given;
    snprintf(words->shared, sizeof words->shared, "%d", given->shared);
    add_option(words, "--grid", given->grid_text);
    add_option(words, "--block", given->block_text);
    add_option(words, "--cluster", given->cluster_text);
    add_option(words, "--shared", words->shared);
    if (given->given.count)
        add(words, "--args");
    for (size_t i = 0; i < given->given.count; i++)
        add(words, given->given.items[i]);
}

/* ---- the simulated GPU --------------------------------------------------------------------------------------------- */

static void note_reports(const char *output) {
    const char *found = strstr(output, "\nseed 0: ");
    size_t reports = 0;
    if (found && sscanf(found, "\nseed 0: %zu", &reports) == 1 && reports)
        note("the simulated GPU has %zu report%s of this launch; `gristmill sim launch` prints them", reports,
             reports == 1 ? "" : "s");
}

/* An exit code. */
static int simulate(struct counting *counting) {
    struct words words = {.count = 0};
    char *output = NULL;
    add(&words, "/proc/self/exe");
    add(&words, "sim");
    add(&words, "launch");
    add(&words, counting->path);
    if (counting->given.kernel)
        add(&words, counting->given.kernel);
    add_option(&words, "--device", counting->given.request.device);
    add(&words, "--no-table");
    add(&words, "--counters");
    if (counting->lines)
        add(&words, "--lines");
    add_launch(&words, counting);
    progress_show(0, 1, "simulation");
    const struct spawned child = spawn_program(words.each, counting->timeout_s, &output);
    progress_clear();
    int code = EXIT_CODE_OK;
    if (child.timed_out) {
        complain("the simulated launch took more than %g s and was stopped", counting->timeout_s);
        code = EXIT_CODE_FAILURE;
    } else if (!output ||
               !launch_read_counters(output, counting->kernel, sizeof counting->kernel, counting->simulated)) {
        fputs(output ? output : "", stderr);
        complain("the simulated launch failed, so there is nothing to compare with");
        code = child.code == EXIT_CODE_USAGE ? EXIT_CODE_USAGE : EXIT_CODE_FAILURE;
    } else {
        note_reports(output);
        code = launch_read_lines(output, &counting->predicted) == 0 ? EXIT_CODE_OK : EXIT_CODE_FAILURE;
    }
    free(output);
    return code;
}

/* ---- the profiler -------------------------------------------------------------------------------------------------- */

/* One point, with every counter that this GPU has. */
static struct lab *new_lab(const struct counting *counting, const struct gm_device *device) {
    struct lab *lab = aligned_alloc(_Alignof(struct lab), sizeof *lab);
    if (!lab) {
        complain("out of host memory");
        return NULL;
    }
    memset(lab, 0, sizeof *lab);
    struct lab_point *point = lab_add(lab, "launch", "");
    point->launch.kernel = counting->kernel;
    const bool hopper = device->cc_major == 9 && device->cc_minor == 0;
    for (size_t i = 0; i < LAUNCH_COUNTERS; i++)
        if (hopper || !launch_counters[i].hopper)
            lab_quantity(point, launch_counters[i].name, launch_counters[i].metric, counting->simulated[i], 0);
    return lab;
}

/* Fills lab's `counted`. */
static int profile(struct counting *counting, struct lab *lab) {
    struct words words = {.count = 0};
    snprintf(words.device, sizeof words.device, "%d", counting->device);
    add(&words, "lab");
    add(&words, "count-launch");
    add(&words, counting->path);
    add(&words, counting->kernel);
    add_option(&words, "--device", words.device);
    add_launch(&words, counting);
    char *const selection[] = {
        "--kernel-name-base", "mangled", "--kernel-name", counting->kernel, "--print-kernel-base", "mangled", NULL};
    const struct profiler_launches launches = {selection, words.each};
    profiler_count_launches(lab, &launches, counting->timeout_s, &counting->counters);
    if (counting->counters.counted && counting->lines)
        profiler_count_lines(&counting->counted, &launches, counting->timeout_s, &counting->counters);
    return counting->counters.counted ? 0 : complain("nothing was counted: %s", counting->counters.why);
}

/* ---- the table ----------------------------------------------------------------------------------------------------- */

enum agreement { EQUAL, DIFFERENT, UNCLAIMED, UNCOUNTED, KINDS };

static enum agreement compare(const struct lab_quantity *quantity) {
    if (!isfinite(quantity->counted))
        return UNCOUNTED;
    if (!isfinite(quantity->predicted))
        return UNCLAIMED;
    return quantity->predicted == quantity->counted ? EQUAL : DIFFERENT;
}

/* Counts the kinds; a counter that is 0 on both sides has no row. */
static void print_rows(const struct lab_point *point, size_t kinds[KINDS], size_t *zeros) {
    static const char *const signs[KINDS] = {"=", "differs", "not claimed", "not counted"};
    struct text_table table;
    text_table_start(&table, "<|predicted|counted|<|<counter");
    for (size_t i = 0; i < point->quantity_count; i++) {
        const struct lab_quantity *quantity = &point->quantities[i];
        char predicted[TEXT_TABLE_NUMBER_BYTES], counted[TEXT_TABLE_NUMBER_BYTES];
        const enum agreement agreement = compare(quantity);
        kinds[agreement]++;
        if (agreement == EQUAL && quantity->counted == 0) {
            ++*zeros;
            continue;
        }
        text_table_add(&table, "%s|%s|%s|%s|%s", quantity->name,
                       text_table_number(predicted, quantity->predicted, "%.0f"),
                       text_table_number(counted, quantity->counted, "%.0f"), signs[agreement], quantity->metric);
    }
    text_table_print(&table, stdout);
    text_table_free(&table);
}

static bool add_all(struct launch_lines *to, const struct launch_lines *from) {
    bool added = true;
    for (size_t i = 0; i < from->count; i++)
        added &= launch_lines_add(to, &from->each[i]) == 0;
    return added;
}

/* Whether the two are alike. */
static bool print_line(struct text_table *table, const char *place, const struct counting *counting) {
    static const struct launch_line none;
    const struct launch_line *predicted = launch_lines_find(&counting->predicted, place);
    const struct launch_line *counted = launch_lines_find(&counting->counted, place);
    predicted = predicted ? predicted : &none;
    counted = counted ? counted : &none;
    const bool equal = predicted->wavefronts == counted->wavefronts && predicted->ideal == counted->ideal &&
                       predicted->sectors == counted->sectors;
    text_table_add(table, "%s|%.0f|%.0f|%.0f|%.0f|%.0f|%.0f|%s|%.0f|%s", place, predicted->wavefronts,
                   counted->wavefronts, predicted->ideal, counted->ideal, predicted->sectors, counted->sectors,
                   equal ? "=" : "differs", counted->samples, counted->reason);
    return equal;
}

/* A row for each line that has anything on either side; how many differ. */
static size_t print_lines(const struct counting *counting) {
    struct launch_lines all = {.count = 0};
    struct text_table table;
    size_t different = 0;
    if (!add_all(&all, &counting->predicted) || !add_all(&all, &counting->counted))
        different++;
    launch_lines_sort(&all);
    text_table_start(&table, "<line|wavefronts|counted|ideal|counted|sectors|counted|<|samples|<mostly");
    for (size_t i = 0; i < all.count; i++)
        different += !print_line(&table, all.each[i].place, counting);
    printf("\nby line of the source: wavefronts of shared memory, the fewest possible, sectors of global memory; and "
           "how often a warp was\nseen at the line, mostly in which state\n\n");
    text_table_print(&table, stdout);
    text_table_free(&table);
    free(all.each);
    return different;
}

/* An exit code. */
static int print(const struct counting *counting, const struct lab *lab, const struct gm_device *device) {
    char plain[LAUNCH_NAME_BYTES];
    size_t kinds[KINDS] = {0}, zeros = 0;
    launch_plain_name(counting->kernel, plain);
    printf("%s of %s: predicted by the simulated %s, counted on %s by %s\n\n", plain, counting->given.file,
           counting->given.request.device, device->name, counting->counters.version);
    print_rows(&lab->points[0], kinds, &zeros);
    printf(
        "\nequal: %zu, of which 0 and not shown: %zu; different: %zu; not claimed by the simulator: %zu; not counted: "
        "%zu\n",
        kinds[EQUAL], zeros, kinds[DIFFERENT], kinds[UNCLAIMED], kinds[UNCOUNTED]);
    kinds[DIFFERENT] += counting->lines ? print_lines(counting) : 0;
    return counting->verify && kinds[DIFFERENT] ? EXIT_CODE_FAILURE : EXIT_CODE_OK;
}

static int count(struct counting *counting) {
    struct gm_device device;
    if (find_gpu(counting, &device) != 0)
        return EXIT_CODE_FAILURE;
    int code = make_ptx(counting) == 0 ? simulate(counting) : EXIT_CODE_FAILURE;
    struct lab *lab = code == EXIT_CODE_OK ? new_lab(counting, &device) : NULL;
    if (code == EXIT_CODE_OK)
        code = lab && profile(counting, lab) == 0 ? print(counting, lab, &device) : EXIT_CODE_FAILURE;
    free(lab);
    free(counting->predicted.each);
    free(counting->counted.each);
    if (counting->compiled)
        unlink(counting->path);
    return code;
}

/* ---- command line -------------------------------------------------------------------------------------------------- */

static const char about[] =
    "Counts one kernel of yours on the GPU by Nsight Compute, and beside it what the simulated GPU predicts: "
    "wavefronts\n"
    "and conflicts of shared memory, sectors and requests of global memory. FILE, KERNEL and --args are those of\n"
    "`gristmill sim launch`, whose help has the forms of arguments; buffers are printed, saved and compared by\n"
    "that command. docs/counters.md says what each counter means. Exit code 1: there is no GPU, no Nsight Compute, or\n"
    "no count.\n\n"
    "examples:\n"
    "  gristmill lab count transpose.cu --grid 2,2 --block 32,32 --args out:f32:64x64 buffer:f32:64x64:iota i32:64\n"
    "  gristmill lab count kernels.ptx reduce --grid 8 --block 256 --verify --args buffer:f32:2048:ones out:f32:8";

/* The command line but its words; an exit code, or ARGS_READ. */
enum { ARGS_READ = -1 };
static int read_line(const struct args_command *command, struct launch_options *given, int argc, char **argv) {
    struct args_list words = {0};
    argc = launch_take_args(argc, argv, &given->given);
    if (argc < 0)
        return EXIT_CODE_USAGE;
    const enum args_outcome outcome = args_parse(command, argc, argv, &words);
    if (outcome != ARGS_GO)
        return outcome == ARGS_HELP ? EXIT_CODE_OK : EXIT_CODE_USAGE;
    return launch_options_read(given, &words) == 0 ? ARGS_READ : EXIT_CODE_USAGE;
}

int lab_count(int argc, char **argv) {
    struct counting counting = {.timeout_s = TIMEOUT_SECONDS};
    struct args_option options[LAUNCH_OPTIONS + 5] = {
        {"device", "N", ARGS_COUNT, &counting.device, "device number (default: 0)"},
        {"like", "DEVICE", ARGS_TEXT, &counting.given.request.device,
         "predict for a100, h100, h200 or rtx4090 (default: the one like the GPU)"},
        {"lines", NULL, ARGS_FLAG, &counting.lines, "by line of the source, too"},
        {"verify", NULL, ARGS_FLAG, &counting.verify, "exit 1 when a number differs"},
        {"timeout", "SECONDS", ARGS_SECONDS, &counting.timeout_s, "of the simulation, and of counting (default: 240)"},
    };
    launch_options_list(&counting.given, options + 5);
    const struct args_command command = {"gristmill lab count FILE [KERNEL] --grid X,Y --block X,Y [options]", about,
                                         options, sizeof options / sizeof *options};
    const int code = read_line(&command, &counting.given, argc, argv);
    if (code != ARGS_READ)
        return code;
    struct launch_arguments arguments;
    const bool make_sense = arguments_read(&arguments, &counting.given.given) == 0;
    arguments_free(&arguments);
    return make_sense ? count(&counting) : EXIT_CODE_USAGE;
}

/* ---- the child under the profiler ---------------------------------------------------------------------------------- */

static int launch_once(const struct gpu *gpu, const struct launch_options *given, const char *ptx,
                       struct launch_arguments *arguments) {
    CUlibrary library = NULL;
    CUfunction function;
    CUresult result = launch_load(gpu, ptx, given->kernel, &library, &function);
    if (result != CUDA_SUCCESS)
        complain("%s of %s does not load on %s: %s", given->kernel, given->file, gpu->device.name,
                 gm_driver_error_name(result));
    else if (given->shared && (result = launch_allow_shared(gpu, function, given->shared)) != CUDA_SUCCESS)
        complain("%d bytes of dynamic shared memory are refused: %s", given->shared, gm_driver_error_name(result));
    int status = result == CUDA_SUCCESS ? arguments_place(arguments, gpu) : -1;
    if (status == 0 && (result = launch_start(gpu, function, given, given->cluster, arguments)) != CUDA_SUCCESS)
        status = gpu_fail(result, "the launch");
    arguments_collect(arguments, gpu, false);
    if (library)
        gpu->drv->cuLibraryUnload(library);
    return status;
}

static int launch_on(int device, const struct launch_options *given, const char *ptx,
                     struct launch_arguments *arguments) {
    struct gpu gpu;
    if (gpu_open(&gpu, device) != 0)
        return -1;
    const int status = launch_once(&gpu, given, ptx, arguments);
    gpu_close(&gpu);
    return status;
}

int lab_count_launch(int argc, char **argv) {
    struct launch_options given = {0};
    int device = 0;
    struct args_option options[LAUNCH_OPTIONS + 1] = {{"device", "N", ARGS_COUNT, &device, "device number"}};
    launch_options_list(&given, options + 1);
    const struct args_command command = {"gristmill lab count-launch FILE.ptx KERNEL",
                                         "Launches what the profiler counts of a reader's kernel, once.", options,
                                         sizeof options / sizeof *options};
    int code = read_line(&command, &given, argc, argv);
    if (code != ARGS_READ)
        return code;
    if (!given.kernel) {
        complain("`gristmill lab count-launch` takes a file and a kernel");
        return EXIT_CODE_USAGE;
    }
    struct launch_arguments arguments;
    size_t bytes;
    code = arguments_read(&arguments, &given.given) == 0 ? EXIT_CODE_OK : EXIT_CODE_USAGE;
    char *ptx = code == EXIT_CODE_OK ? file_read_or_complain(given.file, &bytes) : NULL;
    if (code == EXIT_CODE_OK && (!ptx || launch_on(device, &given, ptx, &arguments) != 0))
        code = EXIT_CODE_FAILURE;
    free(ptx);
    arguments_free(&arguments);
    return code;
}
